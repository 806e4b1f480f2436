"""What package managers share: how a requirement is spelled, and the effects of installing, running and publishing.

`package.install` once per package: name ("" = everything in the manifest or lockfile), version, index, source = registry | lockfile | manifest |
url | git | path, global=1 when it lands outside the project, run=1 when it is fetched to be run once, action=remove | download.
Whether a name is well known is for the dependency instinct.
"""

from __future__ import annotations

import re

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from .call import Call, Scene
from .roles import file_effects
from .verbs import shown, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_URL = re.compile(r"^(?:https?|ftp)://", re.IGNORECASE)
_GIT = re.compile(r"^(?:git\+|git:|git@|ssh://|github:|gitlab:|bitbucket:|gist:|hg\+|svn\+|bzr\+)|\.git(?:#.*|@.*)?$", re.IGNORECASE)
_PATH = re.compile(r"^(?:\.{1,2}(?:/|\[|$)|/|~/|file:|link:|portal:|workspace:)")
_ARCHIVE = re.compile(r"\.(?:whl|tar\.gz|tgz|zip|tar\.bz2|gem|deb|rpm|apk|crate|egg|jar|nupkg)$", re.IGNORECASE)


def source_of(text: str) -> str:
    """registry | url | git | path, by the spelling of a requirement."""
    bare = text.split(" @ ", 1)[-1].strip()
    if _GIT.search(bare):
        return "git"
    if _URL.match(bare):
        return "url"
    if _PATH.match(bare) or (_ARCHIVE.search(bare) and "@" not in bare):
        return "path"
    return "registry"


def python_name(text: str) -> tuple[str, str]:
    """(name, version) of a Python requirement: `pkg[extra]==1.2; marker`, `pkg @ url`."""
    match = re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(.*)", text.split(";", 1)[0])
    if match is None:
        return text, ""
    rest = match[2].strip()
    return match[1], "" if rest.startswith("@") and "://" in rest else rest.lstrip("=@ ") if rest.startswith(("==", "@")) else rest


def at_name(text: str) -> tuple[str, str]:
    """(name, version) of `name@version`, `@scope/name@version`, `alias@npm:name@version`."""
    if "@npm:" in text:
        text = text.split("@npm:", 1)[1]
    at = text.rfind("@")
    return (text[:at], text[at + 1 :]) if at > 0 else (text, "")


def colon_name(text: str) -> tuple[str, str]:
    """(name, version) of `vendor/name:^1.0` and `name=1.0`."""
    name, _, version = re.sub(r"[:=]", "\0", text, count=1).partition("\0")
    return name, version


def install(
    call: Call, scene: Scene, manager: str, fields: tuple[Field, ...], *, style: str = "at", index: str = "", **attributes: str
) -> Iterator[Effect]:
    """package.install for each requirement. style: python | at | colon | plain (how name and version are written)."""
    for field in fields:
        if field.known is Known.DYNAMIC:
            yield call.effect(
                EffectKind.PACKAGE_INSTALL,
                thing(field),
                attributes,
                certainty=Certainty.UNKNOWN,
                manager=manager,
                name=field.prefix,
                source="registry",
                index=index,
                dynamic="command",
            )
            continue
        for value in field.values:
            source = source_of(value)
            if (
                manager in ("npm", "pnpm", "yarn", "bun", "npx")
                and source == "registry"
                and re.fullmatch(r"[\w.-]+/[\w.-]+(?:#.*)?", value)
            ):
                source = "git"  # npm's short form of a repository
            name, version = (
                (value, "")
                if source != "registry" or style == "plain"
                else python_name(value)
                if style == "python"
                else colon_name(value)
                if style == "colon"
                else at_name(value)
            )
            if source in ("git", "url") and " @ " in value:
                name = value.split(" @ ", 1)[1].strip()
            if source == "path":
                yield from file_effects(
                    call,
                    scene,
                    EffectKind.FILE_READ,
                    literal(re.sub(r"^(?:file|link|portal|workspace):", "", value).split("[", 1)[0] or "."),
                )
                from .projects import build_script

                yield from build_script(call, scene, manager, value.split("[", 1)[0])
            yield call.effect(
                EffectKind.PACKAGE_INSTALL,
                thing(name),
                attributes,
                manager=manager,
                name=name,
                version=version,
                source=source,
                index=index,
            )


def everything(call: Call, manager: str, source: str, index: str = "", **attributes: str) -> Effect:
    """package.install of all that a manifest or lockfile names."""
    return call.effect(EffectKind.PACKAGE_INSTALL, thing(""), attributes, manager=manager, name="", source=source, index=index)


def manager_file(call: Call, scene: Scene, name: str, manager: str, cwd: Field | None = None) -> Iterator[Effect]:
    """The manager's own write to its lockfile or manifest."""
    from .roles import path_effects

    yield from path_effects(call, EffectKind.FILE_WRITE, literal(name), cwd or call.invocation.cwd, scene, by_manager=manager)


def publish(call: Call, manager: str, what: Field | str | None = None, **attributes: str) -> Effect:
    """package.publish: cannot be taken back."""
    return call.effect(
        EffectKind.PACKAGE_PUBLISH, thing(what), attributes, tool=manager, name=shown(what) if isinstance(what, Field) else what or ""
    )


def project_script(call: Call, scene: Scene, file: str, language: str, entry: str = "", cwd: Field | None = None) -> Iterator[Effect]:
    """A script that the project defines: followed when the file's text is known, else for a gate to look at. "." = no one file."""
    if file == ".":
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, f"{call.name} {entry}".strip()))
        return
    from .projects import task_file

    yield from task_file(call, scene, file, language, entry, cwd)
