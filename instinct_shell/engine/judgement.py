"""One judged intent as a value: what a front door shows, a record keeps and a replay judges again."""

from __future__ import annotations

from ..model.effect import Effect
from ..model.fact import Facts
from ..model.intent import Intent
from ..model.situation import Situation
from ..model.value import Value
from ..model.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.jailspec import RunResult
    from ..model.overlay import Apart
    from ..shell.invocation import Evaluation
    from ..shell.syntax import Parsed


class Judgement(Value):
    """All that is known about one judged intent.

    run: the id that ties its records together. parser: which parser read it (bashlex | shfmt | both | none). elapsed_us: from text to verdict,
    facts included. refused: the input was no runnable intent (limits, encoding), so there are no effects and nothing to replay.
    """

    intent: Intent
    run: str
    verdict: Verdict
    situation: Situation
    effects: tuple[Effect, ...] = ()
    facts: Facts = Facts()
    evaluation: Evaluation | None = None
    parsed: Parsed | None = None
    parser: str = "none"
    elapsed_us: int = 0
    refused: bool = False


class Outcome(Value):
    """What became of an intent. result: None when nothing ran. request: the id a person may approve. note: something for stderr.

    cause: why the command failed, when it was the jail.
    apart: of a command that ran on a copy-on-write view; then result None says that nothing of it reached the workspace unasked.
    """

    judgement: Judgement
    result: RunResult | None = None
    request: str = ""
    note: str = ""
    cause: str = ""
    apart: Apart | None = None
