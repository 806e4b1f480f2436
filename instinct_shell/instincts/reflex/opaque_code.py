"""Opaque code: what cannot be read is not waved through.

*Stops* code that comes from the network and goes straight into an interpreter (`curl ... | sh`, `eval "$(curl ...)"`, also through `tee`), and
shell text that could not be parsed at all. *Asks* (denies above dev) for interpreter input and command names that only exist when the command
runs: read from a file, decoded from one, or taken from a variable that nobody set.

*Lets pass* code whose text stands in the line (it is read and its effects are judged, also behind `base64 -d`), project scripts, and
dynamic arguments of ordinary programs.

*How it was fooled before*: `echo cm0g... | base64 -d | sh`, `bash <(curl ...)`, `xxd -r -p | bash`, `$(which rm)`, `printf '\\162\\155'`,
`bash -c "$(cat x)"`, the same through a variable, a heredoc or `env -S`.

*To adjust*: `command` and `interpreter` in `[dynamic]`, `"code.opaque"` in `[effects]`.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

_LOOK = "write it to a file first and read it, such as with `cat build/script.sh`; then run the file"
_NETWORK = "download it to a file below build, read it, and run the file then"
_UNREAD = ("not valid shell", "syntax", "limit", "parse", "deadline", "nesting", "time-out", "timeout")


class OpaqueCode(BuiltIn):
    id = "opaque-code"
    tier = Tier.REFLEX

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found = []
        for effect in effects:
            if effect.kind is EffectKind.CODE_OPAQUE:
                finding = self._code(effect, profile, situation)
            elif effect.kind is EffectKind.CODE_SCRIPT and effect.get("source") == "network":
                finding = self._fetched(effect, profile, situation)
            elif effect.kind is EffectKind.CODE_SCRIPT and effect.has("container") and effect.target.dynamic.startswith("relative to"):
                continue  # a script of the container's own, named in full: that something runs there is judged as such
            elif effect.get("dynamic") in ("command", "interpreter"):
                finding = self._dynamic(effect, effect.get("dynamic"), profile, situation)
            elif effect.get("dynamic") == "reader" and effect.kind is EffectKind.FILE_READ:
                decision = profile.dynamic_decision("reader", situation.jail_level)
                words = "reads a path that is only known when it runs"
                finding = (
                    self.finding(decision, words, "write the path out, such as `cat README.md`", effect=effect)
                    if decision is not Decision.ALLOW
                    else None
                )
            else:
                continue
            if finding is not None:
                found.append(finding)
        return tuple(found)

    def _code(self, effect: Effect, profile: Profile, situation: Situation) -> Finding | None:
        source = effect.get("source")
        reason = effect.get("reason") or effect.target.dynamic or effect.target.text
        language = effect.get("language")
        what = f"{language} code" if language else "code"
        detail = f" ({shown(reason)})" if reason else ""
        if source == "network":
            return self.finding(Decision.DENY, f"runs {what} that comes from the network unread{detail}", _NETWORK, effect=effect)
        if effect.has("reverse"):
            return self.finding(Decision.DENY, f"hands a shell to another machine{detail}", "leave that to a person", effect=effect)
        if any(word in reason for word in _UNREAD) and source in ("", "text"):
            return self.finding(
                Decision.DENY, f"holds text that could not be read{detail}", "write it more plainly, one command a line", effect=effect
            )
        decision = max(
            profile.effect_decision(EffectKind.CODE_OPAQUE),
            profile.dynamic_decision(effect.get("dynamic") or "interpreter", situation.jail_level),
        )
        if effect.get("dynamic") == "command":
            decision = profile.dynamic_decision("command", situation.jail_level)
        if decision is Decision.ALLOW:
            return None
        return self.finding(decision, f"runs {what} that cannot be read beforehand{detail}", _LOOK, effect=effect)

    def _fetched(self, effect: Effect, profile: Profile, situation: Situation) -> Finding | None:
        decision = profile.dynamic_decision("interpreter", situation.jail_level)
        if decision is Decision.ALLOW:
            return None
        return self.finding(decision, f"runs {shown(effect.target.text)}, which the same line has fetched", _NETWORK, effect=effect)

    def _dynamic(self, effect: Effect, kind: str, profile: Profile, situation: Situation) -> Finding | None:
        decision = profile.dynamic_decision(kind, situation.jail_level)
        if decision is Decision.ALLOW:
            return None
        why = effect.target.dynamic or effect.get("reason")
        words = "runs a command whose name" if kind == "command" else "feeds an interpreter text that"
        detail = f" ({shown(why)})" if why else ""
        return self.finding(decision, f"{words} is only known when it runs{detail}", _LOOK, effect=effect)
