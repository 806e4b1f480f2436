"""Privilege: nothing becomes root, or another user, without a person.

*Stops or asks* (as `"system.privilege"` says: ask in dev, deny above) for `sudo`, `doas`, `su`, `pkexec`, `runuser`, `nsenter`, privileged
containers, the host's container socket handed to a container, and set-uid bits. What runs inside is judged beside it, so `sudo rm -rf /etc`
is denied for what it deletes.

*Lets pass* `sudo --version`, `sudo -l`, and running as the same user.

*How it was fooled before*: `sudo -E bash -c`, `busybox su`, `docker run --privileged --pid=host`, `-v /var/run/docker.sock`, `chmod u+s`.

*To adjust*: `"system.privilege"` in `[effects]`.
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

# Ways to the host's own rights that no question makes safe.
_ALWAYS = {
    "setuid": "gives a file the rights of its owner",
    "docker-socket": "hands the host's container socket to a container",
    "docker": "gives a container the rights of the host",
    "nsenter": "enters the namespaces of the host",
    "security-off": "switches off what watches over the machine",
    "module-file": "loads code of any origin into the kernel, or takes a driver away",
    "open-to-all": "lets everyone write",
    "kernel": "changes a setting of the kernel, for every program of the machine",
    "setcap": "gives a file capabilities of root",
}


class Privilege(BuiltIn):
    id = "privilege"
    tier = Tier.REFLEX

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found: list[Finding] = []
        for effect in effects:
            if effect.kind is not EffectKind.SYSTEM_PRIVILEGE:
                continue
            tool = effect.get("tool") or effect.program
            if tool == "setuid" and effect.get("type") == "d" and effect.get("mode").lstrip("0")[:1] not in ("4", "6", "7"):
                continue  # a folder with setgid only hands its group on to what is made in it
            always = _ALWAYS.get(tool)
            if always:
                what = effect.get("action") or effect.target.text
                where = f" ({shown(what)})" if what else ""
                found.append(
                    self.finding(Decision.DENY, always + where, "do it without the extra rights, inside the workspace", effect=effect)
                )
                continue
            decision = profile.effect_decision(EffectKind.SYSTEM_PRIVILEGE)
            if decision is not Decision.ALLOW:
                found.append(
                    self.finding(
                        decision,
                        f"runs with the rights of root or another user ({shown(tool or 'sudo')})",
                        "do it as yourself inside the workspace, or tell the person the command to run",
                        effect=effect,
                    )
                )
        return tuple(found)
