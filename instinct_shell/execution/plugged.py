"""Instincts of installed packages: `[[instinct]]` of a person's profile names `package.module:name` and the sha256 of the module's file.

The file is found without importing anything, read once, compared with its digest, and exactly these bytes are executed under a name of their
own. What the module imports in turn is the person's choice with it. Such an instinct runs after the built-in ones, under a time limit, and can
only restrict (execution/registered.py); a model that judges task alignment comes in this way.
"""

from __future__ import annotations

from ..errors import ProfileError
from ..model.digest import sha256_hex
from .registered import adapt, bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..instincts.base import Instinct
    from ..model.profile import Plugged

LARGEST = 1024 * 1024
_PREFIX = "instinct_shell_plugged_"


def load(plugged: Plugged, path: Sequence[str] | None = None) -> Instinct:
    """The instinct that this entry names. path: where packages are looked for, default this interpreter's. Raises ProfileError and UsageError."""
    import sys
    import types

    module, _, attribute = plugged.entry.partition(":")
    file = _find(module, path)
    try:
        with open(file, "rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise ProfileError(
            f"instinct `{plugged.entry}`: cannot read `{file}`: {error.strerror}", hint="install its package again"
        ) from error
    if len(data) > LARGEST or sha256_hex(data) != plugged.sha256:
        raise ProfileError(
            f"instinct `{plugged.entry}`: `{file}` is not what the profile names (its sha256 differs)",
            hint="look at what changed, then write its new digest into your profile: sha256sum " + file,
        )
    name = _PREFIX + plugged.sha256[:16]
    made = types.ModuleType(name)
    made.__file__ = file
    sys.modules[name] = made
    try:
        exec(compile(data, file, "exec"), made.__dict__)  # noqa: S102  # the bytes that the person named by their digest
        thing = getattr(made, attribute)
    except Exception as error:  # whatever the module raises while loading, nothing is judged without it
        del sys.modules[name]
        words = " ".join(str(error).split())[:160]
        raise ProfileError(
            f"instinct `{plugged.entry}` cannot be loaded: {type(error).__name__}: {words}", hint="mend it, or take it out of your profile"
        ) from error
    return bounded(adapt(thing() if isinstance(thing, type) else thing))


def _find(module: str, path: Sequence[str] | None) -> str:
    """The file of a module, found part by part so that no parent package is executed."""
    from importlib.machinery import PathFinder

    where = path
    spec = None
    parts = module.split(".")
    for number in range(len(parts)):
        spec = PathFinder.find_spec(".".join(parts[: number + 1]), where)
        if spec is None:
            break
        where = spec.submodule_search_locations
        if where is None and number < len(parts) - 1:
            spec = None
            break
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise ProfileError(
            f"instinct `{module}`: no such module is installed for this interpreter",
            hint="install its package, or take it out of your profile",
        )
    return spec.origin
