"""The small pure parts: arithmetic, patterns, decoders, escapes, braces, the trust test, the wire format, the JSON view."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from hypothesis import given, strategies as st

from instinct_shell.execution.parsers import WorkerParser
from instinct_shell.shell import arith, decoders, escapes, patterns, show, trust, values, wire
from instinct_shell.shell.evaluate import evaluate
from instinct_shell.shell.invocation import Surroundings
from instinct_shell.shell.values import Text

ARITHMETIC = [
    "1+2*3", "(1+2)*3", "7/2", "-7/2", "-7%3", "2**10", "2**3**2", "1<<3|1", "5&3^1", "!0", "~5", "1?2:3", "0?2:3", "1,2", "0x1f", "017", "2#101", "16#ff",
    "x=3", "x=3,x+=2", "++x", "x++ + x", "1&&0||1", "0&&(x=5)", "3>2==1", "1<2", "- 3", "+4", "x", "9223372036854775807+1", "36#z",
]  # fmt: skip


def ours(text: str) -> int:
    held: dict[str, int] = {}
    return arith.evaluate(text, arith.Names(lambda name: held.get(name, 0), held.__setitem__))


@pytest.mark.parametrize("text", ARITHMETIC)
def test_arithmetic_is_that_of_bash(text: str) -> None:
    found = subprocess.run(["/bin/bash", "-c", f"echo $(({text}))"], capture_output=True, text=True, check=True, env={}).stdout
    assert ours(text) == int(found)


@pytest.mark.parametrize("text", ["1/0", "$(ls)", "a b", "1+", "(", "1?2", "37#1", "09"])
def test_arithmetic_that_is_not_known(text: str) -> None:
    with pytest.raises(arith.Unknown):
        ours(text)


PATTERNS = [
    "*",
    "a*",
    "*.c",
    "?",
    "[ab]c",
    "[!a]c",
    "[^a]c",
    "[a-c]*",
    "[[:digit:]]",
    "[]a]",
    "[a",
    "\\*",
    "a\\?",
    "*/*",
    "@(a|b)c",
    "!(a)",
    "*(ab)",
    "+(a|b)",
    "?(a)b",
    "[!]a]",
]
SUBJECTS = ["", "a", "b", "ac", "bc", "a.c", "*", "a?", "1", "]", "[a", "a/b", "abab", "aab", "b\n"]


def test_patterns_are_those_of_bash() -> None:
    script = "shopt -s extglob; while IFS= read -r -d '' p && IFS= read -r -d '' s; do [[ $s == $p ]] && echo 1 || echo 0; done"
    pairs = [(p, s) for p in PATTERNS for s in SUBJECTS]
    given_ = "".join(f"{p}\0{s}\0" for p, s in pairs)
    found = subprocess.run(
        ["/bin/bash", "-c", script], input=given_, capture_output=True, text=True, check=True, env={"LC_ALL": "C.UTF-8"}
    ).stdout.split()
    different = [(p, s) for (p, s), result in zip(pairs, found, strict=True) if patterns.matches(p, s) != (result == "1")]
    assert different == []


FILTERS = [
    ("base64 -d", "cm0gLXJmIC8="), ("base64", "rm -rf /"), ("base64 -w0", "x" * 90), ("xxd -r -p", "726d20780a"), ("rev", "abc\ndef\n"), ("tac", "a\nb\n"),
    ("tr a-z A-Z", "abc"), ("tr -d x", "axbx"), ("tr abc x", "aabbcc"), ("tr '[:lower:]' '[:upper:]'", "abc"), ("tr -s a", "aaab"), ("head -n 1", "a\nb\n"),
    ("head -c 3", "abcdef"), ("tail -n 1", "a\nb\n"), ("tail -n +2", "a\nb\nc\n"), ("tail -c 2", "abc"), ("cut -c1-2", "abcd\n"), ("cut -d: -f2", "a:b:c\n"),
    ("cut -d, -f1,3", "a,b,c\n"), ("sed s/a/b/", "aaa\n"), ("sed s/a/b/g", "aaa"), ("sort", "b\na\n"), ("sort -u", "b\na\nb\n"), ("base32 -d", "OJWSA6AK"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "given_text"), FILTERS, ids=[c for c, _ in FILTERS])
def test_filters_do_what_the_programs_do(command: str, given_text: str) -> None:
    import shlex

    name, *arguments = shlex.split(command)
    if not shutil.which(name):
        pytest.skip(f"no `{name}` here")
    expected = subprocess.run(
        [name, *arguments], input=given_text.encode(), capture_output=True, check=True, env={"LC_ALL": "C"}
    ).stdout.decode()
    assert decoders.FILTERS[name](arguments, given_text) == expected


@pytest.mark.parametrize(
    ("language", "words_", "printed"),
    [
        ("python", ["-c", "print('rm x')"], "rm x\n"),
        ("python", ["-c", "import os"], None),
        ("perl", ["-e", 'print "rm\\n"'], "rm\n"),
        ("perl", ["-e", 'print "$x"'], None),
        ("awk", ['BEGIN{print "rm"}'], "rm\n"),
        ("awk", ["{print $1}"], None),
    ],
)
def test_constants_printed_by_one_liners(language: str, words_: list[str], printed: str | None) -> None:
    assert decoders.printed_constant(language, words_) == printed


@pytest.mark.parametrize(
    "text", ["a\\tb", "\\x72m", "\\101", "\\u0041", "\\cA", "\\\\", "\\'", "\\q", "a\\0b", "\\e[0m", "\\x", "\\U1F600", "\\1012"]
)
def test_ansi_strings_are_those_of_bash(text: str) -> None:
    found = subprocess.run(["/bin/bash", "-c", f"printf %s $'{text}'"], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}).stdout
    assert escapes.decode_ansi(text).encode("utf-8", "surrogateescape") == found


@pytest.mark.parametrize(
    "text",
    [
        "git status",
        "a && b || c; d | e > f 2>&1",
        "echo \"$x\" ${z:-q} 'y'",
        "for i in a b; do c $i; done",
        "a $(b c)",
        "if a; then b; fi",
        "echo $(c) 'a b'",
        "A=1 b",
    ],
)
def test_trusted(text: str) -> None:
    assert trust.trusted(text)


@pytest.mark.parametrize(
    "text",
    [
        "cat <<'EOF'\nEOF\nrm B\n'EOF'", "echo 'a'$(rm B)'b'", "echo $(echo a\nrm B)", "echo ${y:-$(rm B)}", "cat <<EOF\n$(rm B)\nEOF", "(cat <<EOF\nEOF\nrm B\nEOF\n)",
        "true;#'\nrm B\n#'", "echo $(cat <<EOF\n)\nEOF\nrm B\n)", "x=('x'$(rm B)'y')", "${ rm B; }", "rm B`*\nrm C`", "<((a)\nrm B)", "echo a'${x'", "$'\\x72m'", "a\rb",
        "((x=1))", "[[ a ]]", "a=(b)", "{fd}>x", "a\\\nb",
    ],
)  # fmt: skip
def test_not_trusted(text: str) -> None:
    assert not trust.trusted(text)


def test_trees_survive_the_wire() -> None:
    parser = WorkerParser(deadline_ms=2_000)
    for text in ('a {b,c} ~ *.d "$x" ${y:-z} $(q) <(r) >f <<E\n$h\nE', "case a in b|c) d;; esac; f() { g; }; [[ a ]]; ((b))"):
        script = parser.parse(text).script
        assert wire.unpack(wire.pack(script)) == script


def test_the_json_view_is_json() -> None:
    parser = WorkerParser(deadline_ms=2_000)
    text = 'x=$(date); for i in a b; do rm $i $x *.c; done <f | sh; cat <<E >o\n$x\nE\neval "$x"; echo "${y@P}"\ny=$(b); : ${y@P}'
    parsed = parser.parse(text)
    shown = show.invocations(evaluate(parsed.script, Surroundings("/w", "/home/dev"), parser.parse))
    assert json.loads(json.dumps(show.tree(parsed)))["script"]["node"] == "Script"
    assert json.loads(json.dumps(shown)) == shown
    assert shown["opaque"]


TEXTS = st.one_of(
    st.lists(st.text("ab*[", max_size=3), min_size=1, max_size=3, unique=True).map(lambda v: Text(tuple(v))),
    st.tuples(st.text("ab", max_size=2), st.text("ab", max_size=2)).map(lambda t: Text((), "why", (), t[0], t[1])),
)


@given(first=TEXTS, second=TEXTS)
def test_joining_keeps_all_values(first: Text, second: Text) -> None:
    joined = values.join(first, second)
    for text in (first, second):
        for value in text.values:
            assert value in joined.values if joined.known else value.startswith(joined.prefix) and value.endswith(joined.suffix)
        assert text.prefix.startswith(joined.prefix) or joined.known or text.known


@given(first=TEXTS, second=TEXTS)
def test_concatenation_keeps_the_ends(first: Text, second: Text) -> None:
    both = values.concat(first, second)
    for left in first.values or (first.prefix + "?" + first.suffix,):
        for right in second.values or (second.prefix + "?" + second.suffix,):
            whole = left + right
            assert whole in both.values if both.known else whole.startswith(both.prefix) and whole.endswith(both.suffix)
