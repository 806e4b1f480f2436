"""Registered instincts in the seeds' shape: any object with `name`, `tier` and `check(intent)`, sync or async, answering {allow, reason?, alternative?}.

They run after the built-ins of their tier, in a thread of their own under a time limit. INVARIANT: one that raises, hangs or answers with
anything else is a deny with its name; one that allows says nothing, so it cannot loosen.
"""

from __future__ import annotations

import threading

from ..errors import UsageError
from ..model.verdict import TIERS, Decision, Finding, Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..instincts.base import Instinct
    from ..model.effect import Effect
    from ..model.fact import Facts, Question
    from ..model.intent import Intent
    from ..model.profile import Profile
    from ..model.situation import Situation

SECONDS = {Tier.REFLEX: 0.05, Tier.GATE: 2.0, Tier.ASSESSMENT: 30.0}


class Asked(dict[str, object]):
    """An intent as registered objects see it: `intent["type"]`, `intent.get("target")` and `intent.type` all work."""

    def __getattr__(self, name: str) -> object:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def asked(intent: Intent) -> Asked:
    """The view of an intent that is handed out; a copy, so that nothing comes back through it."""
    return Asked(
        type=str(intent.type), content=intent.content, target=intent.target, cwd=intent.cwd, session=intent.session, agent=intent.agent,
        metadata=Asked(dict(intent.metadata)),
    )  # fmt: skip


def adapt(thing: object, seconds: float | None = None) -> Instinct:
    """The object as an Instinct. Raises UsageError when it is neither an Instinct nor of the seeds' shape."""
    tier = getattr(thing, "tier", None)
    if tier not in TIERS:
        raise UsageError(f"a registered instinct needs a tier, one of {', '.join(TIERS)}; `{tier}` is none", hint='set tier = "gate"')
    if (
        isinstance(getattr(thing, "id", None), str)
        and callable(getattr(thing, "judge", None))
        and callable(getattr(thing, "questions", None))
    ):
        return thing  # type: ignore[return-value]  # it has the protocol's members
    name = getattr(thing, "name", None)
    if not isinstance(name, str) or not name or not callable(getattr(thing, "check", None)):
        raise UsageError(
            "a registered instinct needs a name and check(intent), or id, questions and judge",
            hint="see ARCHITECTURE.md, adding an instinct",
        )
    return Registered(thing, name, Tier(tier), SECONDS[Tier(tier)] if seconds is None else seconds)


def bounded(instinct: Instinct) -> Instinct:
    """The instinct under the time limit of its tier: one that hangs or raises is a deny with its name."""
    return instinct if isinstance(instinct, Registered) else Bounded(instinct)


class Bounded:
    """An instinct of somebody else's, run in a thread under a time limit."""

    def __init__(self, instinct: Instinct, seconds: float | None = None) -> None:
        self.id = instinct.id
        self.tier = Tier(instinct.tier)
        self._instinct = instinct
        self._seconds = SECONDS[self.tier] if seconds is None else seconds

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        """What the instinct asks of the host."""
        return self._instinct.questions(intent, effects, profile, situation)

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        """What the instinct says, or a deny when it fails or says nothing in time."""
        box: list[object] = []

        def work() -> None:
            try:
                box.append(self._instinct.judge(intent, effects, profile, situation, facts))
            except BaseException as error:  # noqa: BLE001  # whatever it raises is a refusal
                box.append(error)

        thread = threading.Thread(target=work, name=f"instinct-{self.id}", daemon=True)
        thread.start()
        thread.join(self._seconds)
        if not box:
            return (Finding(self.id, Decision.DENY, f"the instinct gave no answer within {self._seconds:g} s"),)
        if isinstance(box[0], BaseException):
            words = " ".join(str(box[0]).split()).replace("`", "'")[:120]
            return (Finding(self.id, Decision.DENY, f"the instinct failed: {type(box[0]).__name__}: {words}"),)
        return box[0]  # type: ignore[return-value]  # the judge looks at what it is


class Registered:
    """An object of the seeds' shape, run with a time limit."""

    def __init__(self, thing: object, name: str, tier: Tier, seconds: float) -> None:
        self.id = name
        self.tier = tier
        self._thing = thing
        self._seconds = seconds

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        """None: such objects look for themselves."""
        return ()

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        """Nothing when it allows; a deny with its reason, or with what went wrong."""
        box: list[object] = []

        def work() -> None:
            try:
                box.append(self._answer(intent))
            except BaseException as error:  # noqa: BLE001  # whatever it raises, SystemExit included, is a refusal
                box.append(error)

        thread = threading.Thread(target=work, name=f"instinct-{self.id}", daemon=True)
        thread.start()
        thread.join(self._seconds)
        if not box:
            return (self._deny(f"the instinct gave no answer within {self._seconds:g} s"),)
        answer = box[0]
        if isinstance(answer, BaseException):
            words = " ".join(str(answer).split()).replace("`", "'")[:120]
            return (self._deny(f"the instinct failed: {type(answer).__name__}" + (f": {words}" if words else "")),)
        return self._read(answer)

    def _answer(self, intent: Intent) -> object:
        answer = self._thing.check(asked(intent))  # type: ignore[attr-defined]  # adapt() looked
        if hasattr(answer, "__await__"):
            import asyncio

            async def wait() -> object:
                return await answer

            return asyncio.run(wait())
        return answer

    def _read(self, answer: object) -> tuple[Finding, ...]:
        def field(name: str) -> object:
            return answer.get(name) if isinstance(answer, dict) else getattr(answer, name, None)

        allow = field("allow")
        if allow is True:
            return ()
        if allow is not False:
            return (self._deny("the instinct answered without a clear allow"),)
        reason, alternative = field("reason"), field("alternative")
        return (self._deny(str(reason) if reason else "refused", str(alternative) if alternative else ""),)

    def _deny(self, reason: str, alternative: str = "") -> Finding:
        return Finding(self.id, Decision.DENY, reason, alternative)
