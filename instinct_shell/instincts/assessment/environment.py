"""Environment: does this reach production?

*Stops* migrations, schema changes, imports and SQL scripts that point at production. *Asks* for every other change there (apply, rollout, a bounded
write, a remote command, a push to a remote of that name), and for handing a production address to any program: a test run that gets
`DATABASE_URL="$PROD_URL"` empties what it finds.

*Lets pass* reading in production, the same migration against a database that the profile names as a development one, and modes of a build
(`NODE_ENV=production npm run build`).

*How it was fooled before*: the address came from a variable set earlier (`export AWS_PROFILE=prod`), from the kube context or terraform
workspace that happened to be selected, from a context switch in the same line, from a name with another separator (`prod_db`, `db.prod.example.com`).

*To adjust*: `production` and `development` in `[names]`.
"""

from __future__ import annotations

from ...model.effect import Effect, EffectKind
from ...model.fact import Question, QuestionKind
from ...model.verdict import Decision, Tier
from ..base import BuiltIn, shown
from ..places import is_local, production_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.fact import Facts
    from ...model.intent import Intent
    from ...model.profile import Profile
    from ...model.situation import Situation
    from ...model.verdict import Finding

_CHANGES = frozenset(
    (
        EffectKind.DB_WRITE,
        EffectKind.DB_DROP,
        EffectKind.DB_DELETE_UNSCOPED,
        EffectKind.INFRA_APPLY,
        EffectKind.INFRA_DESTROY,
        EffectKind.NET_REMOTE_EXEC,
    )
)
_DATABASE = frozenset((EffectKind.DB_WRITE, EffectKind.DB_DROP, EffectKind.DB_DELETE_UNSCOPED))
# What the effects beside it say decides about these: a cloud's or database's own program that only reads is fine in production.
_KNOWN = (*_CHANGES, EffectKind.DB_READ, EffectKind.INFRA_READ, EffectKind.NET_UPLOAD)
# Programs that do nothing with a place but show, test or build with it.
_HARMLESS = frozenset("echo printf test [ true false : cat env printenv set ls pwd which type read sed awk grep jq envsubst".split())
_BUILD_PREFIXES = ("VITE_", "NEXT_PUBLIC_", "REACT_APP_", "NUXT_PUBLIC_", "EXPO_PUBLIC_", "PUBLIC_", "GATSBY_", "VUE_APP_")
_MODE_ENDINGS = ("_ENV", "ENVIRONMENT", "STAGE", "PROFILES_ACTIVE", "SETTINGS_MODULE")
_BOUNDED = ("insert", "update", "delete", "upsert", "merge", "replace", "select", "set", "hset", "del", "incr")
# Tool -> the question about where it points when the command does not say.
_POINTERS = {
    "kubectl": "kube",
    "helm": "kube",
    "k9s": "kube",
    "terraform": "terraform",
    "tofu": "terraform",
    "gcloud": "gcloud",
    "docker": "docker",
}


class Environment(BuiltIn):
    id = "environment"
    tier = Tier.ASSESSMENT

    def questions(self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation) -> tuple[Question, ...]:
        """Where kubectl, terraform and their like point, for changes that do not say it themselves."""
        wanted: dict[Question, None] = {}
        for effect in effects:
            if effect.kind in _CHANGES and not effect.has("context"):
                question = _pointer(effect, intent, situation)
                if question is not None:
                    wanted[question] = None
        return tuple(wanted)

    def judge(
        self, intent: Intent, effects: tuple[Effect, ...], profile: Profile, situation: Situation, facts: Facts
    ) -> tuple[Finding, ...]:
        found: list[Finding] = []
        standing: list[str] = []  # what was chosen or exported earlier in the text holds for all that follows
        for effect in effects:
            if effect.kind is EffectKind.PROCESS_SPAWN and effect.has("place"):
                finding = self._handed(effect, effects, profile)
                if effect.program in ("export", "declare", "typeset") or effect.target.text == "export":
                    standing.append(f"{effect.get('variable')}={effect.get('place')}")
            elif effect.kind is EffectKind.INFRA_READ:
                standing += [chosen] if (chosen := _switches(effect)) else []
                continue
            elif effect.kind in _CHANGES:
                standing += [chosen] if (chosen := _switches(effect)) else []
                finding = self._change(effect, " ".join(standing), intent, profile, situation, facts)
            elif effect.get("verb") == "push" and effect.kind in (EffectKind.NET_CONNECT, EffectKind.NET_UPLOAD):
                finding = self._pushed(effect, profile)
            elif effect.kind is EffectKind.CODE_SCRIPT and effect.get("language") == "sql":
                finding = self._change(effect, " ".join(standing), intent, profile, situation, facts)
            else:
                continue
            if finding is not None:
                found.append(finding)
        return tuple(found)

    def _pushed(self, effect: Effect, profile: Profile) -> Finding | None:
        """A push to a remote that is called production deploys there (heroku, dokku, a hook of one's own)."""
        name = production_name(profile, effect.target.text)
        if not name or "github.com" in effect.target.text or "gitlab.com" in effect.target.text:
            return None
        reason = f"pushes to {shown(_bare(effect.target.text))}, which means production ({shown(name)})"
        return self.finding(Decision.ASK, reason, "push to a branch of the shared repository: `git push origin HEAD`", effect=effect)

    def _handed(self, effect: Effect, effects: tuple[Effect, ...], profile: Profile) -> Finding | None:
        variable, place, program = effect.get("variable"), effect.get("place"), effect.target.text
        name = production_name(profile, place)
        if not name or program in _HARMLESS or variable.startswith(_BUILD_PREFIXES):
            return None
        if (variable.endswith(_MODE_ENDINGS) or variable in ("ENV", "MODE")) and "$" not in place:
            return None  # a mode; where a database verb follows, its own effect says so
        if program == "export":
            # Everything that follows gets it: what follows is judged with it, and scripts that nobody can look into ask.
            receivers = [other for other in effects if other.kind is EffectKind.CODE_SCRIPT and other.span.start >= effect.span.end]
            if not receivers:
                return None
            program = receivers[0].program or "a script"
        elif any(other.kind in _KNOWN and _same_command(other, effect) for other in effects):
            return None
        reason = f"hands production ({shown(name)} in {shown(f'{variable}={_bare(place)}')}) to {shown(program)}"
        return self.finding(Decision.ASK, reason, f"give {variable} the address of a development one", effect=effect)

    def _change(
        self, effect: Effect, standing: str, intent: Intent, profile: Profile, situation: Situation, facts: Facts
    ) -> Finding | None:
        place = _place(effect)
        name = production_name(profile, place)
        where = place
        if not name and not effect.has("context"):
            question = _pointer(effect, intent, situation)
            answer = facts.answer(question.kind, question.subject) if question is not None else None
            selected = str(answer.get("place") or "") if answer is not None and answer.known else ""
            for other in (standing, _inherited(effect, intent), selected):
                name, where = production_name(profile, other), other
                if name:
                    break
        if not name:
            return None
        decision = Decision.DENY if _sweeping(effect) and not is_local(where) else Decision.ASK
        what = shown(effect.get("statement") or effect.target.text or effect.get("tool") or effect.program)
        return self.finding(
            decision,
            f"changes production ({shown(name)}): {what}",
            "run it against a development database first, and let a person run it there"
            if effect.kind in _DATABASE or effect.kind is EffectKind.CODE_SCRIPT
            else "show the plan first, and let a person carry it out there",
            effect=effect,
        )


def _place(effect: Effect) -> str:
    """Every text of the effect that says where it acts."""
    texts = [effect.get(name) for name in ("target_env", "context", "database")]
    if effect.kind in (EffectKind.NET_REMOTE_EXEC, EffectKind.INFRA_APPLY):
        texts.append(effect.target.text)
    return " ".join(text for text in texts if text)


def _sweeping(effect: Effect) -> bool:
    """A change of the schema or of many rows, which nobody gives back: migrations, scripts, imports, DDL."""
    if effect.kind is EffectKind.CODE_SCRIPT:
        return True
    if effect.kind is not EffectKind.DB_WRITE or effect.get("rows") == "one":
        return False
    first = effect.get("statement").lower().split()[:1]
    return effect.get("engine") == "orm" or not first or first[0] not in _BOUNDED


def _switches(effect: Effect) -> str:
    """What this effect selects for the commands that follow: a kube context, a terraform workspace, a project."""
    verb = effect.get("verb")
    if any(word in verb for word in ("use-context", "set-context", "workspace select", "workspace new", "config set", "context use")):
        return f"{effect.target.text} {verb.split()[-1]}"
    return ""


def _pointer(effect: Effect, intent: Intent, situation: Situation) -> Question | None:
    """The question where the effect's tool points now."""
    tool = effect.get("tool") or effect.get("via") or effect.program
    kind = _POINTERS.get(tool)
    if kind is None or effect.has("remote") or effect.has("container"):
        return None
    variables = dict(intent.env)
    if kind == "terraform":
        return Question(QuestionKind.PLACE, f"terraform {intent.cwd}")
    home = situation.home
    path = {
        "kube": variables.get("KUBECONFIG", "").split(":")[0] or f"{home}/.kube/config",
        "gcloud": variables.get("CLOUDSDK_CONFIG") or f"{home}/.config/gcloud",
        "docker": (variables.get("DOCKER_CONFIG") or f"{home}/.docker") + "/config.json",
    }[kind]
    return Question(QuestionKind.PLACE, f"{kind} {path}")


# Variables of the agent's own environment that a tool follows, when the command says nothing.
_FOLLOWED = {
    "orm": "DATABASE_URL DB_URL SQLALCHEMY_DATABASE_URI MONGODB_URI RAILS_ENV RACK_ENV MIX_ENV APP_ENV DJANGO_SETTINGS_MODULE DB_HOST PGHOST PGDATABASE",
    "postgres": "PGHOST PGDATABASE PGSERVICE DATABASE_URL",
    "mysql": "MYSQL_HOST",
    "redis": "REDIS_URL",
    "terraform": "TF_WORKSPACE AWS_PROFILE AWS_DEFAULT_PROFILE",
    "tofu": "TF_WORKSPACE AWS_PROFILE",
    "aws": "AWS_PROFILE AWS_DEFAULT_PROFILE",
    "gcloud": "CLOUDSDK_CORE_PROJECT CLOUDSDK_ACTIVE_CONFIG_NAME",
    "kubectl": "KUBECONFIG",
    "helm": "KUBECONFIG HELM_KUBECONTEXT HELM_NAMESPACE",
    "pulumi": "PULUMI_STACK",
    "docker": "DOCKER_HOST DOCKER_CONTEXT",
    "heroku": "HEROKU_APP",
}


def _inherited(effect: Effect, intent: Intent) -> str:
    """The agent's own variables that this tool follows."""
    names = _FOLLOWED.get(effect.get("engine")) or _FOLLOWED.get(effect.get("tool") or effect.program) or ""
    variables = dict(intent.env)
    return " ".join(f"{name}={variables[name]}" for name in names.split() if variables.get(name))


def _same_command(one: Effect, other: Effect) -> bool:
    return one.span.start < other.span.end and other.span.start < one.span.end


def _bare(place: str) -> str:
    """The place without the password that a URL may hold."""
    head, slashes, rest = place.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{head}://{authority.rpartition('@')[2]}{slash}{path}" if slashes and "@" in authority else place
