"""Whom the person's git credentials are lent to, where their profile says so (`[network] credentials = ["git"]`): a command that is git and nothing else.

Every command in the text must be one of git's verbs below with plain options, or a filter that only passes text on, and every effect git's own. What could
print a password (`git credential`), name another program (`-c`, `--upload-pack`, `ext::`) or read a file by a name that is only known later gets none.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.profile import Profile
    from ..shell.invocation import Invocation
    from .judgement import Judgement

GIT = "git"
_REMOTE = frozenset(("push", "fetch", "pull", "clone", "ls-remote"))
_LONG = frozenset(
    "--all --tags --no-tags --prune --force --force-with-lease --set-upstream --delete --dry-run --rebase --no-rebase --ff-only --no-ff --ff --autostash "
    "--quiet --verbose --progress --no-progress --depth --unshallow --branch --single-branch --bare --mirror --heads --refs --symref --porcelain".split()
)
# Letters without an argument, or whose argument is a plain word of its own.
_SHORT = {"push": "qvfunud", "fetch": "qvfpnt", "pull": "qvfpntr", "clone": "qvnbo", "ls-remote": "qth"}
# Beside them: git's own work on the same tree, in its usual forms, and what only passes text on.
_LOCAL = {
    "add": frozenset(("-A", "-u", "--all", "--update")),
    "commit": frozenset(("-m", "-am", "-a", "-q", "-qm", "--message", "--all", "--quiet", "--amend", "--no-edit", "--allow-empty")),
    "status": frozenset(("-s", "-b", "-sb", "--short", "--branch", "--porcelain")),
}
_BESIDE = frozenset("cd true : echo printf head tail cat grep wc sleep".split())


def borrowed(judgement: Judgement, profile: Profile) -> tuple[str, ...]:
    """The names of the credentials that this allowed command gets; usually none."""
    evaluation = judgement.evaluation
    if GIT not in profile.network_credentials or evaluation is None or evaluation.opaque or evaluation.notes or evaluation.functions:
        return ()
    if any(effect.program != GIT or effect.target.dynamic or effect.get("script") for effect in judgement.effects):
        return ()
    if not all(_is_plain(each) for each in evaluation.invocations if each.words or each.assignments or each.env):
        return ()
    return (GIT,) if any(_verb(each) in _REMOTE for each in evaluation.invocations) else ()


def _is_plain(invocation: Invocation) -> bool:
    words = [word.text for word in invocation.words]
    if not words or invocation.env or invocation.assignments or "background" in invocation.context:
        return False
    if words[0] != GIT:
        return words[0] in _BESIDE
    verb = _verb(invocation)
    rest = words[words.index(verb) + 1 :] if verb else []
    if verb in _LOCAL:
        return all(word is None or not word.startswith("-") or word in _LOCAL[verb] for word in rest) and (verb != "commit" or _says_message(rest))
    return verb in _REMOTE and all(word is not None and _is_plain_word(verb, word) for word in rest)


def _verb(invocation: Invocation) -> str:
    """git's verb; "" behind any option but `-C FOLDER`, and for another program."""
    words = [word.text for word in invocation.words]
    if not words or words[0] != GIT:
        return ""
    place = 3 if words[1:2] == ["-C"] else 1
    return (words[place] or "") if len(words) > place else ""


def _is_plain_word(verb: str, word: str) -> bool:
    if word.startswith("--"):
        return word.partition("=")[0] in _LONG
    if word.startswith("-"):
        return set(word[1:]) <= set(_SHORT[verb])
    return "::" not in word  # a transport that is a program


def _says_message(words: list[str | None]) -> bool:
    """Whether a commit needs no editor, which would be a program of the caller's choice."""
    return any(word in ("-m", "-am", "-qm", "--message", "--no-edit") for word in words)
