"""Scripts that a command runs: asked for, read and followed, before the gate tier judges what they do.

Bounded: so many files, so many rounds of scripts that run scripts. What stays unread is a script that nobody read, and the profile says what
that weighs. The answers that go into the record hold digests, no text.
"""

from __future__ import annotations

from ..effects.followed import is_unread
from ..model.effect import EffectKind
from ..model.fact import Answer, Question, QuestionKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..effects.derive import Derivation
    from ..model.effect import Effect
    from ..model.fact import Facts

    Ask = Callable[[Sequence[Question]], dict[Question, Answer]]
    Again = Callable[[tuple[tuple[str, str], ...]], Derivation]

MOST_FILES = 40
MOST_ROUNDS = 4


def follow(first: Derivation, again: Again, ask: Ask) -> tuple[tuple[Effect, ...], dict[Question, Answer]]:
    """The effects that come out of scripts on disk (each bears `script`), and what was read, by digest.

    again: derives the same text with the texts of these files known. ask: the host.
    """
    texts: dict[str, str] = {}
    asked: set[str] = set()
    known: dict[Question, Answer] = {}
    last = first
    for _ in range(MOST_ROUNDS):
        new = [path for path in last.wanted if path not in asked][: MOST_FILES - len(asked)]
        asked.update(new)
        before = len(texts)
        for question, answer in ask([Question(QuestionKind.SCRIPT, path) for path in new]).items() if new else ():
            text = answer.get("text")
            if not answer.known or not isinstance(text, str):
                continue
            known[question] = digest_alone(answer)
            if "\0" not in text and not answer.get("more"):
                texts[question.subject] = text
        if len(texts) == before:
            break
        last = again(tuple(texts.items()))
    return tuple(dict.fromkeys(_out_of_files(first, last, texts))), known


def _out_of_files(first: Derivation, last: Derivation, texts: dict[str, str]) -> Iterator[Effect]:
    """The effects that the texts of the files brought: those that bear `script`, and those that came by way of stdin (`psql < x.sql`)."""
    before = set(first.effects)
    for effect in last.effects:
        if effect.has("script"):
            yield effect
        elif texts and effect not in before and effect.kind is not EffectKind.CODE_SCRIPT and not is_unread(effect):
            yield effect.replace(attributes=tuple(sorted((*effect.attributes, ("script", next(iter(texts)))))))


def digest_alone(answer: Answer) -> Answer:
    """The answer without the text: what was in a file is nobody's business later, that it was this file is."""
    return Answer(True, (("sha256", answer.get("sha256", "")),))


def changed(facts: Facts, ask: Ask) -> str:
    """The first script whose content is no longer what was judged, or ""."""
    judged = {question: answer for question, answer in facts.items() if question.kind is QuestionKind.SCRIPT and answer.known}
    if not judged:
        return ""
    now = ask(list(judged))
    return next((question.subject for question, answer in judged.items() if now[question].get("sha256") != answer.get("sha256")), "")
