"""Command allowed: in an allow-list profile, a program that is not on the list changes nothing.

*Stops*, where `[programs] allow` is not empty, every effect of a program (with its subcommand) that the list lacks, and unknown programs.

*Lets pass* everything where the list is empty, programs on the list (their effects are still judged), and commands without any effect.

*How it was fooled before*: `git status; git push`, an allowed name glued to a path, an alias, a wrapper, `find -exec`, `awk 'system(..)'`: each
nested command is an effect of its own program and is looked up on its own.

*To adjust*: `allow` in `[programs]`.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..patterns import matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding


_WRAPPERS = frozenset(("env", "timeout", "time", "watch", "xargs", "command"))


class CommandAllowed(BuiltIn):
    id = "command-allowed"
    tier = Tier.REFLEX

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        if not profile.allow_programs:
            return ()
        found: dict[str, Finding] = {}
        for effect in effects:
            name = effect.program.rpartition("/")[2] or (effect.target.text if effect.kind is EffectKind.PROCESS_SPAWN else "")
            if not name:
                continue
            # Commands come with their words; an effect found deeper inside has its program and whatever the text at its place says.
            words = (
                effect.get("words").split()[1:]
                if effect.has("words")
                else _words(intent.content[effect.span.start : effect.span.end], name)
            )
            for said, rest in ((name, words), *_wrapped(name, words)):
                if said not in found and not any(_fits(entry.split(), said, rest) for entry in profile.allow_programs):
                    shown_words = " ".join([said, *rest[:1]])
                    reason = f"{shown(shown_words)} is not on this profile's list of programs"
                    found[said] = self.finding(
                        Decision.DENY, reason, "use a program that only shows, such as `git status` or `ls -la`", effect=effect
                    )
        return tuple(found.values())


def on_list(profile: Profile, command: str) -> bool:
    """Whether a plain command line is on the profile's list of programs."""
    name, *words = command.split() or [""]
    return any(_fits(entry.split(), name, words) for entry in profile.allow_programs)


def _wrapped(name: str, words: list[str]) -> list[tuple[str, list[str]]]:
    """The command behind a wrapper that stands on the list (`timeout 5 git push`): the first word that can be a program."""
    if name not in _WRAPPERS:
        return []
    for number, word in enumerate(words):
        if word.startswith("-") or "=" in word or word[:1].isdigit() or word in ("{}", "?"):
            continue
        inner = word.rpartition("/")[2]
        rest = words[number + 1 :]
        return [(inner, rest), *_wrapped(inner, rest)]
    return []


def _words(text: str, name: str) -> list[str]:
    """The subcommand words after the program's name in its source text: options left out, one word after an option may be its argument."""
    pieces = text.replace("'", " ").replace('"', " ").split()
    start = next((number for number, piece in enumerate(pieces) if piece.rpartition("/")[2] == name), -1)
    return pieces[start + 1 :] if start >= 0 else []


def _fits(entry: list[str], name: str, words: list[str]) -> bool:
    if not entry or not matches(entry[0], name):
        return False
    wanted = entry[1:]
    after_option = False
    for word in words:
        if not wanted:
            return True
        if matches(wanted[0], word):
            wanted = wanted[1:]
            after_option = False
        elif word.startswith("-"):
            after_option = "=" not in word
        elif after_option:
            after_option = False  # the argument of an option in front of the subcommand
        else:
            return False
    return not wanted
