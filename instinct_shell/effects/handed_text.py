"""Shell text that a program is handed as one word and may run: `--pager 'rm -rf ~'`, `tsc-watch --onSuccess '..'`, `rpm --eval '%(..)'`.

Only words that plainly are such a command count: its first word is a program that changes something, more follow, and the place says that it runs
(an option of such a name, a leading `!`, a macro). A message or a pattern that merely mentions a command is neither.
"""

from __future__ import annotations

import re

from ..model.effect import Certainty
from ..shell.invocation import Known
from .call import Call, Scene
from .roles import weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model.effect import Effect

# Families whose rows say little of the options that run something; the others read their own.
FAMILIES = frozenset(
    (
        "viewers devices schedules system_packages node_tools media vcs network system language_packages builds remote python_packages provision "
        "formatters uploads"
    ).split()
)
_STARTS = frozenset(
    (
        "rm shred dd mv truncate chmod chown find xargs git sh bash zsh dash ksh env sudo doas nohup timeout curl wget nc ncat python python3 perl ruby node "
        "docker podman kubectl helm terraform tofu aws gcloud az psql mysql dropdb redis-cli kill pkill killall shutdown reboot poweroff systemctl mkfs "
        "crontab tee cp ln scp ssh rsync tar cat base64 eval exec"
    ).split()
)
_RUNS = (
    r"--?(?:[\w-]*[-_])?(?:exec|execute|cmd|command|shell|hook|pager|editor|speller|browser|eval|handler|helper|askpass|invoke|server|pipe|diff-cmd|"
    r"up|down|run|script|on[-_A-Z][\w-]*|pre[-_][\w-]*|post[-_][\w-]*)"
)
_SHORT = frozenset(("-c", "-e", "-x", "-z", "-P", "-s", "-r"))
_MACROS = (
    r"%\((?P<a>[^()]+)\)",  # rpm
    r"\\write18\s*\{(?P<a>[^{}]+)\}",  # TeX
    r"(?:Pre|Post)-Invoke[\w:-]*=(?P<a>.+)",  # apt
    r"^(?:hooks|alias)\.[\w.-]+=!?(?P<a>.+)",  # hg
    r"\b(?:os\.execute|posix\.exec|system|popen|exec|spawn)\s*\(?\s*\"(?P<a>[^\"]+)\"",  # a language nobody reads
)


def handed_texts(call: Call, scene: Scene, *, known: bool) -> Iterator[Effect]:
    """What the commands among the words would do, were they run. known: the program has a row, so that its short options mean what that says."""
    for index, field in enumerate(call.argv):
        if field.known is Known.DYNAMIC:
            continue
        for value in field.values:
            if " " not in value or len(value) > 2000:
                continue
            before = (call.argv[index - 1].text or "") if index else ""
            for text in _texts(value, before, known):
                if _is_command(text):
                    yield from scene.nested_shell(text, call.replace(certainty=weakest(call.certainty, Certainty.POSSIBLE)), via=call.name)


def _texts(value: str, before: str, known: bool) -> Iterator[str]:
    option, equals, rest = value.partition("=")
    if equals and option.startswith("-") and re.fullmatch(_RUNS, option):
        yield rest
    elif before.startswith("-") and (re.fullmatch(_RUNS, before) or (before in _SHORT and not known)):
        yield value
    elif value.startswith("!") and not known:
        yield value[1:]
    elif before in ("call", "exec", "run", "shell") and not known:
        yield value
    for pattern in _MACROS:
        for match in re.finditer(pattern, value):
            yield match["a"]


def _is_command(text: str) -> bool:
    words = text.strip().strip("'\"").split()
    return len(words) > 1 and words[0].rpartition("/")[2] in _STARTS


__all__ = ["FAMILIES", "handed_texts"]
