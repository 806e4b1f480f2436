"""Judging over the whole pipeline in the assumed world, with a disk that holds the scripts a test names and nothing else."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from effect_tables import WORKSPACE, parser
from fakes import FakeAudit, FakeClock, FakeJail
from judging import EmptyHost

from instinct_shell.engine.judgement import Judgement
from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.fact import Answer, Question, QuestionKind
from instinct_shell.model.intent import Intent, IntentType
from instinct_shell.model.jailspec import JailSpec
from instinct_shell.model.profile import Profile
from instinct_shell.model.situation import Situation
from instinct_shell.pipeline import Pipeline
from instinct_shell.storage.profiles import ProfileStore

ENV = (("HOME", "/home/dev"), ("PATH", "/usr/bin:/bin"), ("PWD", WORKSPACE), ("USER", "dev"))


@cache
def profile(name: str = "dev") -> Profile:
    """A shipped profile."""
    return ProfileStore(home="/nonexistent", cache=False).load(name, "", {})


class Disk:
    """A FactSource: SCRIPT questions are answered from a table of texts, all others as on an empty host."""

    def __init__(self, files: dict[str, str] | None = None) -> None:
        self.files = {name if name.startswith("/") else f"{WORKSPACE}/{name}": text for name, text in (files or {}).items()}
        self.asked: list[Question] = []
        self._empty = EmptyHost()

    def answer(self, questions: list[Question]) -> dict[Question, Answer]:
        self.asked += questions
        others = [question for question in questions if question.kind is not QuestionKind.SCRIPT]
        found = dict(self._empty(others))
        for question in questions:
            if question.kind is QuestionKind.SCRIPT:
                text = self.files.get(question.subject)
                known = (("text", text), ("sha256", sha256(text.encode()).hexdigest()), ("more", False)) if text is not None else ()
                found[question] = Answer(text is not None, known, "" if text is not None else "no such file")
        return found


class World:
    """A pipeline over this disk, with a jail that runs nothing."""

    def __init__(self, files: dict[str, str] | None = None, *, under: str = "dev") -> None:
        self.disk = Disk(files)
        self.audit = FakeAudit()
        self.jail = FakeJail()
        situation = Situation(workspace=WORKSPACE, home="/home/dev", user="dev")
        self.pipeline = Pipeline(
            profile=profile(under),
            parser=parser(),
            instincts=BUILTIN,
            situation=lambda intent, effects: situation,
            facts=lambda *_: self.disk,
            audit=self.audit,
            clock=FakeClock(),
            new_id=lambda: "run1",
            confine=lambda judgement: JailSpec(WORKSPACE, WORKSPACE, argv=("/bin/bash", "-c", judgement.intent.content)),
            jail=lambda: self.jail,
        )

    def judge(self, text: str) -> Judgement:
        """The judgement over a text given in the workspace."""
        return self.pipeline.judge(intent(text))


def intent(text: str) -> Intent:
    """A shell command in the workspace."""
    return Intent(IntentType.SHELL_COMMAND, text, cwd=WORKSPACE, env=ENV)


def decision(text: str, files: dict[str, str] | None = None, *, under: str = "dev") -> str:
    """allow, ask or deny."""
    return World(files, under=under).judge(text).verdict.decision.word
