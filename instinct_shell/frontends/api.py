"""The Python front door: `InstinctEngine` judges intents and runs commands inside a Python program.

from instinct_shell import InstinctEngine

engine = InstinctEngine.from_profile("dev", workspace=".")  # any folder that exists
verdict = engine.judge({"type": "shell_command", "content": "rm -rf ~"})
verdict.allow, verdict.reason, verdict.alternative
"""

from __future__ import annotations

import os

from ..model.intent import Intent
from ..model.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..engine.judgement import Judgement, Outcome
    from ..wiring import Guard


class InstinctEngine:
    """Judges intents of one workspace under one profile. Not thread-safe; make one for each thread."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    @classmethod
    def from_profile(cls, name: str = "", *, workspace: str = "", session: str = "", cwd: str = "") -> InstinctEngine:
        """An engine for this process's surroundings. "" takes what the person's configuration and the current folder say.

        Raises ProfileError (unknown or looser than the person's own), WorkspaceError and StorageError.
        """
        from ..wiring import open_guard

        workspace = os.path.abspath(workspace) if workspace else ""
        return cls(open_guard(profile=name, workspace=workspace, session=session, cwd=os.path.abspath(cwd) if cwd else workspace))

    def intent(self, asked: Intent | Mapping[str, object]) -> Intent:
        """The intent itself, or the one that a mapping describes: {"type", "content" | "target", "metadata"?, "cwd"?, "env"?}."""
        return asked if isinstance(asked, Intent) else self._guard.intent_from(asked, door="api")

    def inspect(self, asked: Intent | Mapping[str, object]) -> Judgement:
        """The judgement with everything it rests on: effects, facts, situation. Recorded, as every judged intent is."""
        return self._guard.check(self.intent(asked))

    def judge(self, asked: Intent | Mapping[str, object]) -> Verdict:
        """The verdict. Input that is no intent raises IntentError; a fault of ours raises InstinctError: treat both as a denial."""
        return self.inspect(asked).verdict

    async def evaluate(self, asked: Intent | Mapping[str, object]) -> Verdict:
        """`judge` for asynchronous programs; the work is done in a thread, so the loop goes on."""
        import asyncio

        return await asyncio.to_thread(self.judge, asked)

    def register(self, instinct: object) -> None:
        """Add an instinct: an `Instinct`, or any object with `name`, `tier` and `check(intent)` answering {allow, reason?, alternative?}.

        It runs after the built-in ones of its tier, under a time limit, and can only restrict. One that raises or hangs is a denial that
        names it. Raises UsageError for an object that is neither.
        """
        self._guard.register(instinct)

    def close(self) -> None:
        """End what judging keeps running beside this process (a parser worker). The engine may be used again; `with` closes it too."""
        self._guard.close()

    def __enter__(self) -> InstinctEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, asked: Intent | Mapping[str, object]) -> Outcome:
        """Judge a shell command and run it in the jail when it is allowed; it uses this process's stdin, stdout and stderr."""
        return self._guard.run(self.intent(asked))
