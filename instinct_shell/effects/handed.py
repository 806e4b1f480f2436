"""Variables that hand a place to a program: `DATABASE_URL="$PROD_URL" node --test`, `export PGHOST=prod-db`, `env AWS_PROFILE=prod ...`.

Nothing happens by the assignment itself, so the effect is a `process.spawn` that says what is handed over (`variable`, `place`); whether the
place is production is the profile's matter. Only values that could name one are told, so that ordinary settings make no effects.
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.invocation import Field
    from .call import Call

# Endings and names of variables that say where something is.
_ENDINGS = tuple("URL URI DSN HOST HOSTNAME SERVER ENDPOINT ADDR ADDRESS DATABASE DB CONNECTION CONNECTION_STRING CONTEXT CLUSTER".split())
_NAMES = frozenset(
    "AWS_PROFILE AWS_DEFAULT_PROFILE KUBECONFIG KUBE_NAMESPACE TF_WORKSPACE CLOUDSDK_CORE_PROJECT CLOUDSDK_ACTIVE_CONFIG_NAME "
    "GOOGLE_CLOUD_PROJECT GCLOUD_PROJECT PROJECT_ID AZURE_SUBSCRIPTION_ID HEROKU_APP FLY_APP RAILS_ENV RACK_ENV MIX_ENV APP_ENV DJANGO_SETTINGS_MODULE "
    "SPRING_PROFILES_ACTIVE ASPNETCORE_ENVIRONMENT DEPLOY_ENV TARGET_ENV ENVIRONMENT ENV STAGE PGDATABASE PGSERVICE PULUMI_STACK".split()
)
_LONGEST = 200


def handed(variable: str, value: Field, call: Call) -> Iterator[Effect]:
    """The effect of handing this value on, when it may name a place."""
    if not (variable in _NAMES or variable.endswith(_ENDINGS) or "://" in (value.text or value.prefix)):
        return
    place, name = _spoken(value), _receiver(call)
    if place and name:
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, name), variable=variable, place=place[:_LONGEST])


def _receiver(call: Call) -> str:
    """The program that gets the value; `export` for all that follow; "" when nobody does, or when `env` tells it again for its command."""
    words = [word.text or "" for word in call.invocation.words]
    name = words[0].rpartition("/")[2] if words else call.name
    if name in ("declare", "typeset", "local", "readonly"):
        return "export" if any(word.startswith("-") and "x" in word for word in words[1:]) else ""
    return "" if name == "env" else name


def _spoken(field: Field) -> str:
    """The value; an unknown one by the variables it is made of, so that `$PROD_URL` says prod."""
    if field.known is not Known.DYNAMIC and any(field.values):
        return field.values[0]
    names = [origin.detail for origin in field.origins if origin.kind in ("variable", "positional") and origin.detail]
    names += [name for name in field.unset if name not in names]
    return field.prefix + "".join(f"${name}" for name in names) + field.suffix


__all__ = ["handed"]
