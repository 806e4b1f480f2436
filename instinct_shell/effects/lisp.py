"""emacs and its Lisp: literal calls that start programs, delete, move, write, read or load files are found by their spelling."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind
from ..shell.invocation import literal
from .call import Call, Program, Scene
from .program_text import code_word, run_script
from .roles import file_effects
from .scripts import opaque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT = r'"((?:\\.|[^"\\])*)"'
# Functions whose first literal is shell text; the names before it are a process and a buffer.
_SHELL = (
    r"\((?:shell-command(?:-to-string)?|async-shell-command|compile|call-process-shell-command|process-file-shell-command|"
    rf"start-process-shell-command\s+{_TEXT}\s+(?:nil|{_TEXT}))\s+{_TEXT}"
)
_ARGV = rf"\((?:call-process|process-file|call-process-region\s+\S+\s+\S+)\s+{_TEXT}((?:\s+(?:nil|t|\d+|'\(?[^\s()]*\)?|{_TEXT}))*)"
_START = rf"\(start-process\s+{_TEXT}\s+(?:nil|{_TEXT})\s+{_TEXT}((?:\s+{_TEXT})*)"
_MAKE = rf":command\s+(?:'\(|\(list)((?:\s*{_TEXT})+)"
_ONE = {
    "delete-file": EffectKind.FILE_DELETE,
    "delete-directory": EffectKind.FILE_DELETE,
    "move-file-to-trash": EffectKind.FILE_DELETE,
    "with-temp-file": EffectKind.FILE_WRITE,
    "write-file": EffectKind.FILE_WRITE,
    "set-file-modes": EffectKind.FILE_METADATA,
    "insert-file-contents": EffectKind.FILE_READ,
    "insert-file-contents-literally": EffectKind.FILE_READ,
    "insert-file": EffectKind.FILE_READ,
    "find-file": EffectKind.FILE_READ,
    "find-file-noselect": EffectKind.FILE_READ,
}
_TWO = {
    "rename-file": EffectKind.FILE_MOVE,
    "copy-file": EffectKind.FILE_READ,
    "copy-directory": EffectKind.FILE_READ,
    "make-symbolic-link": EffectKind.FILE_LINK,
}
_REACHES = (
    r"\((?:call-process|start-process|make-process|process-file|shell-command|delete-(?:file|directory)|rename-file|copy-(?:file|directory)|write-region|"
    r"with-temp-file|load-file)[\w-]*[\s)]"
)


def emacs(call: Call, scene: Scene) -> Iterator[Effect]:
    """emacs: --eval runs Lisp, -l and --script run a file."""
    for option, field in call.values:
        if option in ("-l", "--load", "--script", "-x"):
            yield from run_script(call, scene, field, "elisp", ())
        elif option in ("--eval", "-eval", "--execute", "-execute", "-e"):
            yield from code_word(call, scene, field, "elisp")
    for field in call.operands:
        text = field.text or ""
        if call.name == "emacsclient" and text.startswith("("):  # `emacsclient -e FORM`: -e takes no argument there
            yield from code_word(call, scene, field, "elisp")
        elif not text.startswith("+"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)


def elisp_effects(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """Effects of Emacs Lisp. A call that reaches out with words that are not literal is opaque."""
    yield call.effect(EffectKind.CODE_INLINE, language="elisp")
    text = _folded(re.sub(r"^\s*;.*$", "", text, flags=re.MULTILINE))
    rest = text
    for match in re.finditer(_SHELL, text):
        yield from scene.nested_shell(_plain(match[3]), call, via="emacs")
        rest = rest.replace(match[0], " ")
    for pattern, program, words in ((_ARGV, 1, 2), (_START, 3, 4), (_MAKE, 0, 1)):
        for match in re.finditer(pattern, text):
            argv = [_plain(one) for one in re.findall(_TEXT, match[words])]
            argv = [_plain(match[program]), *argv] if program else argv
            yield from scene.nested_argv(tuple(literal(_place(word, scene)) for word in argv), call, via="emacs")
            rest = rest.replace(match[0], " ")
    for match in re.finditer(rf"\(({'|'.join(_ONE)})\s+{_TEXT}(\s+t\b)?", text):
        place = literal(_place(_plain(match[2]), scene))
        yield from file_effects(call, scene, _ONE[match[1]], place, recursive="1" if match[1] == "delete-directory" else "")
        if match[1].startswith("find-file") and "save-buffer" in text:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, place, in_place="1")
        rest = rest.replace(match[0], " ")
    for match in re.finditer(rf"\(({'|'.join(_TWO)})\s+{_TEXT}\s+{_TEXT}", text):
        source, into = (literal(_place(_plain(one), scene)) for one in (match[2], match[3]))
        if match[1] != "make-symbolic-link":
            yield from file_effects(call, scene, _TWO[match[1]], source, source_of_copy="1")
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, into)
        rest = rest.replace(match[0], " ")
    for match in re.finditer(rf"\((?:write-region|append-to-file)\s+(?:[^\s()\"]+|{_TEXT})\s+[^\s()]+\s+{_TEXT}", text):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(_place(_plain(match[2]), scene)))
        rest = rest.replace(match[0], " ")
    for match in re.finditer(rf"\((?:load|load-file)\s+{_TEXT}", text):
        if "/" in match[1] or match[1].endswith(".el"):
            yield from run_script(call, scene, literal(_place(_plain(match[1]), scene)), "elisp", ())
        rest = rest.replace(match[0], " ")
    if re.search(_REACHES, rest):
        yield opaque(call, "text", "Lisp that starts programs or changes files", language="elisp")


def _folded(text: str) -> str:
    """The text with literal places worked out: `(expand-file-name "~/x")`, `(getenv "HOME")`, `(concat "a" "b")`."""
    text = re.sub(r'\(getenv\s+"HOME"\)', '"~"', text)
    for _ in range(4):
        text = re.sub(rf"\((?:expand-file-name|substitute-in-file-name|file-truename|file-name-as-directory)\s+{_TEXT}\s*\)", r'"\1"', text)
        text = re.sub(rf'\(expand-file-name\s+{_TEXT}\s+"(~(?:/[^"]*)?|/[^"]*)"\s*\)', r'"\2/\1"', text)
        text = re.sub(rf"\(concat((?:\s+{_TEXT})+)\s*\)", lambda match: '"' + "".join(re.findall(_TEXT, match[1])) + '"', text)
    return text.replace('"$HOME', '"~')


def _plain(text: str) -> str:
    """A Lisp string without its escapes."""
    return re.sub(r"\\(.)", r"\1", text)


def _place(text: str, scene: Scene) -> str:
    """A path with the home that emacs puts for `~`."""
    return scene.home + text[1:] if text == "~" or text.startswith("~/") else text


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("emacs", "emacsclient", "zile", "mg", "xemacs"),
        options="-l -f -e= -x --load --script --eval -eval --execute -execute --funcall -funcall -L --directory --chdir --alternate-editor -a -s --socket-name "
        "-u --user --init-directory",
        longs="--batch --quick --no-init-file --daemon",
        style="single",
        describe=emacs,
        summary="an editor; --eval runs Lisp",
    ),
)

__all__ = ["elisp_effects", "emacs"]
