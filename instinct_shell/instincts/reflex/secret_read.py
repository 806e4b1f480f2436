"""Secret reads: keys and tokens of the person and of the system stay unread.

*Stops* reading, copying, packing or linking a home or system secret by name (`~/.ssh/id_ed25519`, `~/.aws/credentials`, keyrings, browser
profiles, `/etc/shadow`, `/proc/*/environ`), printing the values of a secret store (`kubectl get secret -o yaml`, `aws secretsmanager
get-secret-value`, `gpg --export-secret-keys`, `railway variables`), and sending a secret or the environment to the network.

*Lets pass* public keys, `known_hosts`, `ssh` and `git` using a key themselves, names without values (`env | cut -d= -f1`, `kubectl get
secrets`), and in dev a plain `env`, since the jail's environment holds no secret.

*How it was fooled before*: `cat ~/.ssh/*`, `/e*/sh*w`, `tar c ~/.ssh | nc`, `ssh-keygen -y`, `env | curl`, `$(cat .env)` inside a URL,
`/proc/self/environ`, `/proc/self/root/etc/shadow`.

*To adjust*: `secrets` and `protected_exceptions` in `[paths]`, `dump` in `[environment]`, `"secret.read"` in `[effects]`.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind, TargetKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..ground import WRITES, Ground, ground_of, is_pattern, path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

_FILES = (EffectKind.FILE_READ, EffectKind.FILE_LINK, EffectKind.FILE_MOVE)

# Store -> (what is printed, what to do instead; commands in backticks are allowed in dev).
_STORES = {
    "variable": ("the value of", 'see whether it is set: `test -n "$NAME"`'),
    "env": ("the whole environment", "print one harmless variable: `printenv PATH`"),
    "kubectl": ("the values of a Kubernetes secret", "list the names: `kubectl get secrets`"),
    "keyring": ("entries of a keyring", "let the program that needs the entry read it"),
    "gpg": ("private keys", "list them: `gpg --list-secret-keys`"),
}


class SecretRead(BuiltIn):
    id = "secret-read"
    tier = Tier.REFLEX

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found: list[Finding] = []
        for effect in effects:
            if effect.kind in _FILES:
                path = _secret_path(effect, ground_of(intent, profile, situation))
                if path:
                    words = ground_of(intent, profile, situation).shown(path)
                    found.append(
                        self.finding(
                            Decision.DENY,
                            f"reads the secret {words}",
                            "let the program that needs it (ssh, git, a cloud tool) read it itself",
                            effect=effect,
                        )
                    )
            elif effect.kind is EffectKind.SECRET_READ:
                finding = self._store(effect, profile)
                if finding is not None:
                    found.append(finding)
            elif effect.kind is EffectKind.NET_UPLOAD and (
                effect.has("secret") or effect.get("upload") in ("secret", "env") or effect.get("content") == "secret"
            ):
                what = "the environment" if effect.get("upload") == "env" else "a secret"
                where = f" to {shown(effect.target.text)}" if effect.target.text else ""
                found.append(self.finding(Decision.DENY, f"sends {what}{where}", "let a person hand over credentials", effect=effect))
        return (*found, *self._staged(effects, ground_of(intent, profile, situation)))

    def _staged(self, effects: tuple[Effect, ...], ground: Ground) -> list[Finding]:
        """A key written into an ordinary file that the same line commits: from then on it is in the history."""
        keys = {
            path: effect for effect in effects if effect.kind in WRITES and effect.get("content") == "secret" and (path := path_of(effect))
        }
        found = []
        for effect in effects:
            if effect.kind is EffectKind.FILE_READ and effect.has("staged") and path_of(effect) in keys:
                reason = f"commits {ground.shown(path_of(effect))}, into which it writes what looks like a key"
                found.append(self.finding(Decision.ASK, reason, "read the key from the environment when the program runs", effect=effect))
        return found

    def _store(self, effect: Effect, profile: Profile) -> Finding | None:
        store = effect.get("store")
        decision = profile.effect_decision(EffectKind.SECRET_READ)
        if store == "env" and not effect.has("sent") and effect.target.kind is not TargetKind.NAME:  # one that is named is meant
            decision = profile.environment_dump
        if decision is Decision.ALLOW:
            return None
        known = _STORES["variable" if store == "env" and effect.target.kind is TargetKind.NAME else store] if store in _STORES else None
        what = known[0] if known else f"values of a secret store ({store or effect.program or 'unknown'})"
        name = f" {shown(effect.target.text)}" if effect.target.text and effect.target.kind is not TargetKind.NONE else ""
        return self.finding(decision, f"prints {what}{name}", known[1] if known else "list the names instead of the values", effect=effect)


def _secret_path(effect: Effect, ground: Ground) -> str:
    path = path_of(effect)
    if path:
        if ground.secret(path):
            return path
        # A whole folder of secrets, copied or searched by recursion: `tar c ~/.ssh`, `cp -r ~ /tmp/x`.
        if (effect.has("recursive") or effect.has("sweep")) and path in ground.homes and effect.has("source_of_copy"):
            return path
        if (effect.has("recursive") or effect.has("sweep") or effect.has("source_of_copy")) and ground.secret(path + "/id"):
            return path
        to = effect.get("to")
        return to if effect.kind is EffectKind.FILE_LINK and to and ground.secret(to) else ""
    text = effect.target.text
    if is_pattern(effect):
        return text if ground.glob_reaches(text, "secret") else ""
    if effect.target.dynamic and effect.target.kind is TargetKind.PATH:
        tail = effect.get("suffix")
        if not text and not tail:
            return ""
        # What the unknown middle may plainly be: nothing, some name, the person's name, or (with nothing before it) a home.
        middles = ["x", *(home.rpartition("/")[2] for home in ground.homes), *(ground.homes if not text else ())]
        return next(
            (text + middle + tail for middle in middles if (text or middle.startswith("/")) and ground.secret(text + middle + tail)), ""
        )
    return ""
