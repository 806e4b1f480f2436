"""The ports: what the pipeline needs from the outside, as Protocols. Fakes stand in tests/fakes.py, real ones in execution and storage.

Imported for types only on the hot path (`typing.Protocol` costs 5 ms).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .effect import Effect
from .execs import ExecAnswer, ExecRequest
from .fact import Answer, Question
from .jailspec import JailSpec, RunResult
from .profile import Profile
from .record import AuditRecord, Hold, NearMiss
from .situation import Grant, Spend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..shell.syntax import Parsed
    from .overlay import ChangeSet, Kept

    Seen = Any  # the observer's own memory of how things looked; nobody else opens it


class Parser(Protocol):
    """Text to tree, within a deadline. Raises LimitError and ParserFault only; what cannot be read comes back as Opaque nodes."""

    def parse(self, text: str) -> Parsed: ...


class FactSource(Protocol):
    """Answers questions about the host within a time limit; never raises: "no answer" is an answer."""

    def answer(self, questions: Sequence[Question]) -> dict[Question, Answer]: ...


class Jail(Protocol):
    """Carries out a JailSpec as the command's parent. Raises JailError when the demanded level cannot be made; then nothing ran."""

    def level(self) -> str: ...

    def run(self, spec: JailSpec) -> RunResult: ...


class AuditLog(Protocol):
    """Appends to the chain, all of these records or none. `durable`: on disk before it returns. Raises StorageError."""

    def append(self, *records: AuditRecord, durable: bool) -> None: ...


class Ledger(Protocol):
    """Integer micro-dollars. Raises BudgetError when a ceiling would be crossed, StorageError when the books cannot be trusted."""

    def spends(self, session: str) -> tuple[Spend, ...]: ...

    def reserve(self, session: str, amount: int, ceilings: dict[str, int], *, key: str = "") -> Hold: ...

    def commit(self, hold: str, amount: int | None = None) -> None: ...

    def release(self, hold: str) -> None: ...


class GrantStore(Protocol):
    """Approvals by a person; consuming one is atomic and happens once."""

    def live(self, now: float) -> tuple[Grant, ...]: ...

    def consume(self, grant_id: str) -> bool: ...

    def request(self, intent_digest: str, summary: str, now: float) -> str: ...

    def passphrase_is_set(self) -> bool: ...


class UndoReport(Protocol):
    """What was kept before a run, and in `notes` what will not be given back."""

    @property
    def notes(self) -> tuple[str, ...]: ...


class Undo(Protocol):
    """Keeps what the effects of a run would destroy. Raises StorageError; then nothing runs."""

    def snapshot(self, run: str, effects: Sequence[Effect], workspace: str) -> UndoReport: ...


class Changes(Protocol):
    """What was seen after a run; `surprises` are changes that nobody had predicted, `set_aside` what was moved away, in words. A value."""

    @property
    def surprises(self) -> tuple[str, ...]: ...

    @property
    def set_aside(self) -> tuple[str, ...]: ...


class Observer(Protocol):
    """Looks at predicted targets and at files that matter later, before and after a run. Never raises."""

    def before(self, effects: Sequence[Effect], workspace: str) -> Seen: ...

    def after(self, seen: Seen, workspace: str) -> Changes: ...


class Overlays(Protocol):
    """Copy-on-write views of a workspace, by the run that each is for. Raises OverlayError and StorageError; the workspace changes by `commit` alone."""

    def possible(self) -> bool: ...

    def begin(self, run: str, spec: JailSpec) -> JailSpec: ...

    def changes(self, run: str, workspace: str) -> ChangeSet: ...

    def diff(self, run: str, change: ChangeSet) -> tuple[str, ...]: ...

    def keep(self, kept: Kept) -> None: ...

    def commit(self, kept: Kept) -> int: ...

    def drop(self, run: str) -> None: ...


class NearMissLog(Protocol):
    """Keeps what was refused or turned out differently than predicted. Raises StorageError."""

    def append(self, near_miss: NearMiss) -> None: ...


class ProfileSource(Protocol):
    """Loads and resolves profiles. Raises ProfileError."""

    def load(self, name: str, workspace: str, overrides: dict[str, str]) -> Profile: ...


class Clock(Protocol):
    def now(self) -> float: ...

    def monotonic_us(self) -> int: ...


class ExecJudge(Protocol):
    """Judges what programs inside a jail start. `watches` is asked once for each name, `own_step` once for each pair of a watched
    one and its caller's, the others about what is left.

    `unjudged` is the answer where `judge` gave none, by fault or in time. `afresh`: another thread goes on from here, or (alone) another process, after
    the first one.
    """

    def watches(self, name: str) -> bool: ...

    def own_step(self, name: str, caller: str) -> bool: ...

    def judge(self, request: ExecRequest) -> ExecAnswer: ...

    def unjudged(self, request: ExecRequest, why: str) -> ExecAnswer: ...

    def afresh(self, *, alone: bool = False) -> None: ...
