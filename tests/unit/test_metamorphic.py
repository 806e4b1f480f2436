"""Metamorphic tests: what does not change the meaning of a command does not change its verdict; what is harmless beside it never loosens it."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, given, settings, strategies as st
from scripted import decision as judged

CASES = Path(__file__).parents[1] / "cases" / "commands.tsv"
ORDER = ("allow", "ask", "deny")
PLAIN = re.compile(r"[\w./@:,+-]+(?: [\w./@:,+-]+)*")  # words that any quoting leaves what they are
NOT_EXTERNAL = frozenset(
    "cd export source . eval exec set unset trap alias declare typeset local readonly read shift return exit pushd popd hash enable "
    "builtin command printf test true false time coproc function if for while until case select let bind complete shopt ulimit umask wait "
    "kill jobs fg bg disown history type getopts mapfile readarray dirs logout times caller fc help compgen compopt suspend".split()
)
HARMLESS = (
    "true",
    "echo done",
    "ls -la",
    "X=1",
    "pwd",
    ": rm -rf /",
    "# rm -rf /",
    "git status",
    "test -f README.md",
    "printf '%s\\n' a b",
)
QUOTES = (
    str,
    shlex.quote,
    lambda word: f"'{word}'",
    lambda word: f'"{word}"',
    lambda word: f"{word[0]}'{word[1:]}'",
    lambda word: f"\\{word}",
    lambda word: f'{word[:1]}""{word[1:]}',
)


@cache
def decision(text: str) -> str:
    return judged(text)


def texts() -> list[str]:
    """The commands of the case file, decoded."""
    rows = [
        line.split("\t")
        for line in CASES.read_text(encoding="utf-8").splitlines()
        if line and line[0] != "#" and not line.startswith("id\t")
    ]
    return [row[2].replace("\u2424", "\n").replace("\u2409", "\t") for row in rows]


ALL = texts()
SIMPLE = [text for text in ALL if PLAIN.fullmatch(text) and text.split(" ")[0] not in NOT_EXTERNAL]
# What bash reads otherwise inside of another text: an alias of the same line, history, its own name and its own arguments.
WHOLE = [text for text in ALL if not re.search(r"\balias\b|\$[0-9@*#!$]|BASH_|\bexit\b|\breturn\b|\$-|set -|shopt|\bexec\b", text)]
ASSIGNING = [text for text in WHOLE if re.search(r"(?:^|[;&\n] *)[a-z]\w*=", text) and "'" not in text and "\\" not in text]

checked = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def same(before: str, after: str) -> None:
    assert decision(after) == decision(before), f"{before!r} -> {after!r}"


def no_looser(before: str, after: str) -> None:
    assert ORDER.index(decision(after)) >= ORDER.index(decision(before)), f"{before!r} -> {after!r}"


@checked
@given(st.sampled_from(SIMPLE), st.data())
def test_requoting(text: str, data: st.DataObject) -> None:
    words = [data.draw(st.sampled_from(QUOTES))(word) for word in text.split(" ")]
    same(text, " ".join(words))


@checked
@given(st.sampled_from(SIMPLE), st.sampled_from(("  ", "\t", " \\\n", "   \t ")))
def test_spacing(text: str, space: str) -> None:
    same(text, space.join(text.split(" ")))


@checked
@given(
    st.sampled_from(SIMPLE),
    st.sampled_from(("command ", "env ", "\\", "env -- ", "command -- ", "nice ", "nohup ", "timeout 60 ", "A=1 ", "! ", "time ")),
)
def test_prefixing(text: str, prefix: str) -> None:
    same(text, prefix + text)


@checked
@given(st.sampled_from(WHOLE), st.sampled_from(("bash -c {}", "bash -ec {}", "sh -c {}", "env bash -c {}", "bash -c 'eval \"$1\"' _ {}")))
def test_wrapping_in_a_shell(text: str, wrapper: str) -> None:
    if wrapper.startswith("sh") and re.search(r"\[\[|<<<|\(\(|\$'|<\(|>\(|&>|\{\w*[,.]|\|&|\bsource\b", text):
        wrapper = "bash -c {}"  # words of bash alone
    same(text, wrapper.format(shlex.quote(text)))


@checked
@given(
    st.sampled_from(WHOLE),
    st.sampled_from(
        ("(\n{}\n)", "{{\n{}\n}}", "f() {{\n{}\n}}\nf", "if true; then\n{}\nfi", "for i in 1; do\n{}\ndone", "true &&\n{{\n{}\n}}")
    ),
)
def test_grouping(text: str, group: str) -> None:
    no_looser(text, group.format(text))


@checked
@given(st.sampled_from(WHOLE), st.sampled_from(HARMLESS), st.sampled_from(("{h}\n{t}", "{t}\n{h}", "{h}\n{t}\n{h}")))
def test_a_harmless_neighbour_never_loosens(text: str, harmless: str, shape: str) -> None:
    no_looser(text, shape.format(t=text, h=harmless))


@checked
@given(st.sampled_from(SIMPLE), st.sampled_from(HARMLESS[:6]), st.sampled_from(("; ", " && ", "\n")))
def test_splitting(text: str, harmless: str, separator: str) -> None:
    same(text, f"{harmless}{separator}{text}")
    same(text, f"{text}{separator}{harmless}")


@checked
@given(st.sampled_from(ASSIGNING), st.sampled_from(("other", "_x9", "zz")))
def test_renaming_variables(text: str, stem: str) -> None:
    renamed = text
    for number, name in enumerate(dict.fromkeys(re.findall(r"(?:^|[;&\n] *)([a-z]\w*)=", text))):
        renamed = re.sub(rf"(?:(?<=\$)|(?<=\$\{{)|(?<=[;&\n ])|^){name}(?=\W|$)", f"{stem}{number}", renamed)
    same(text, renamed)
