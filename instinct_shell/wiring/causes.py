"""Why a command failed, or left something undone, when it was the jail: what has to be remembered from before the run for that."""

from __future__ import annotations

from ..execution.last_words import LastWords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.judgement import Judgement
    from ..model.jailspec import JailSpec, RunResult


class Causes:
    """For one guard: of the command that runs now."""

    def __init__(self) -> None:
        self._stderr: LastWords | None = None
        self._held_back: frozenset[str] | None = None

    def confined(self, spec: JailSpec, *, moves: bool) -> None:
        """Before a run. moves: git takes the working tree to another state, and may leave what is held as it was."""
        from ..execution.refusals import held_back

        self._held_back = held_back(spec) if moves else None

    def starting(self) -> None:
        """Right before the command has our stderr."""
        self._stderr = LastWords(2)

    def last_words(self) -> str | None:
        """The end of what the command wrote to stderr; None where that cannot be read again."""
        return self._stderr.read() if self._stderr is not None else None

    def tell(self, judgement: Judgement, spec: JailSpec, result: RunResult, said: str | None) -> str:
        """One line, or "" when there is nothing to tell, or nothing can be looked at now: it has run, and its status is its own."""
        from ..execution.refusals import explain, held_back, told_held_back

        if result.execs_denied:
            return ""  # it was the judge, and that was said where it happened
        try:
            if words := explain(judgement, spec, result, said):
                return words
            return told_held_back(held_back(spec) - self._held_back) if self._held_back is not None else ""
        except OSError:
            return ""
