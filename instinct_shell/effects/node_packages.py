"""npm, npx, pnpm, yarn, bun: install, run, publish; each writes its own lockfile (`by_manager`)."""

from __future__ import annotations

import posixpath

from ..model.effect import Effect, EffectKind
from ..shell.invocation import Field, literal
from .call import Call, Program, Scene
from .infra import dry_run, infra
from .packages import everything, install, manager_file, project_script, publish
from .projects import lifecycle, set_scripts
from .roles import file_effects
from .verbs import Split, shown, split, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUES = (
    "--prefix -C --registry --workspace -w --tag --omit --include --only --loglevel --cache --userconfig --otp "
    "--access --cwd --dir --filter -F "
    "--modules-folder --network-timeout --mutex --depth --location --config --install-strategy --script-shell "
    "--lockfile-dir --store-dir --reporter "
    "--globalconfig --node-options --cpu --os --libc --backend --network-concurrency --since --from --env-file "
    "--jobs -j --conditions --shell --target --production="
)
_INSTALL = frozenset(
    "install i in ins inst insta instal isnt isnta isntal add ci clean-install ic install-test it install-clean "
    "update up upgrade upgrade-interactive dedupe import".split()
)
_REMOVE = frozenset("uninstall remove rm r un unlink prune".split())
_RUN = frozenset("run run-script rum urn".split())
_LIFECYCLE = frozenset("test t tst start stop restart".split())
_LOCKFILES = {"npm": "package-lock.json", "pnpm": "pnpm-lock.yaml", "yarn": "yarn.lock", "bun": "bun.lock"}
_PUBLISH = frozenset("publish deprecate dist-tag dist-tags access owner star team org undeprecate stage".split())
_QUIET = frozenset(
    "ls list la ll view info show v outdated audit fund why explain ping whoami doctor root prefix bin help search s "
    "se find docs home repo bugs version-check "
    "completion query sbom licenses diff stars profile -v config get set c pack why licenses bin node pm patch store "
    "env setup cache dlx-cache policies check autoclean "
    "versions workspaces workspace rebuild link ln init create set-script exec x edit explore hook login logout "
    "adduser add-user token shrinkwrap pkg version".split()
)


def manager(call: Call, scene: Scene) -> Iterator[Effect]:
    """npm, pnpm, yarn and bun by verb."""
    name = {"npm": "npm", "pnpm": "pnpm", "yarn": "yarn", "bun": "bun", "yarnpkg": "yarn", "cnpm": "npm", "tnpm": "npm"}[call.name]
    words = split(call.argv, _VALUES)
    verb = words.verb()
    cwd = _folder(call, words)
    if (words.has("-h", "--help") and verb not in _RUN) or (not verb and words.has("-v", "--version")):
        return
    while name in ("yarn", "pnpm", "npm") and verb in ("workspace", "workspaces", "recursive", "multi", "m"):
        skip = 2 if verb == "workspace" else 2 if words.verb(1) in ("foreach", "run") and verb == "workspaces" else 1
        words = words.replace(words=words.words[skip:])
        verb = words.verb()
    if name == "yarn" and verb in ("global", "npm"):
        words = (
            words.replace(words=words.words[1:], flags=(*words.flags, "-g")) if verb == "global" else words.replace(words=words.words[1:])
        )
        verb = words.verb()
    index = shown(words.value("--registry"))
    shell = words.value("--script-shell")
    if shell is not None:
        yield from scene.nested_argv((shell,), call, via=f"{name} --script-shell", cwd=cwd)
    if verb in _INSTALL or (not verb and name == "yarn"):
        yield from _install(call, scene, name, verb, words, index, cwd)
    elif verb in _REMOVE:
        if not dry_run(words) and not words.has("-g", "--global"):
            yield from manager_file(call, scene, _LOCKFILES[name], name, cwd)
            yield from manager_file(call, scene, "package.json", name, cwd)
        elif words.has("-g", "--global"):
            yield call.effect(
                EffectKind.PACKAGE_INSTALL, thing(words.verb(1)), {"global": "1"}, manager=name, name=words.verb(1), action="remove"
            )
    elif verb in _RUN or verb in _LIFECYCLE:
        entry = words.verb(1) if verb in _RUN else {"t": "test", "tst": "test"}.get(verb, verb)
        if name == "bun" and verb == "test":
            yield from project_script(call, scene, "package.json", "bun", "test", cwd)
        elif entry and ("." in entry or "/" in entry) and name == "bun":
            yield from _script_file(call, scene, words.words[1], words.words[2:])
        elif entry:
            yield from project_script(call, scene, "package.json", "npm", entry, cwd)
    elif verb in ("exec", "x", "dlx"):
        yield from _exec(call, scene, name, verb)
    elif verb in _PUBLISH:
        if not dry_run(words) and not (verb in ("access", "owner", "dist-tag", "team", "org") and words.verb(1) in ("ls", "list", "")):
            yield publish(call, name, words.words[1] if len(words.words) > 1 else None, index=index, verb=verb)
    elif verb == "unpublish":
        yield infra(call, EffectKind.INFRA_DESTROY, name, "unpublish", words.words[1] if len(words.words) > 1 else None)
    else:
        yield from _other(call, scene, name, verb, words, cwd)


def _folder(call: Call, words: Split) -> Field | None:
    """The directory a call works in: --prefix, -C, --cwd, --dir."""
    field = words.value("--prefix", "-C", "--cwd", "--dir")
    base = call.invocation.cwd.text
    if field is None:
        return None
    if field.text is not None and (base is not None or field.text.startswith("/")):
        return literal(posixpath.join(base or "/", field.text))
    return field


def _install(call: Call, scene: Scene, name: str, verb: str, words: Split, index: str, cwd: Field | None) -> Iterator[Effect]:
    if dry_run(words):
        return
    names = words.words[1:]
    everywhere = words.has("-g", "--global") or shown(words.value("--location")) == "global"
    place = {"global": "1"} if everywhere else {}
    if names and verb not in ("update", "up", "upgrade", "upgrade-interactive", "ci", "dedupe"):
        yield from install(call, scene, name, names, index=index, **place)
    else:
        source = (
            "lockfile"
            if verb in ("ci", "clean-install", "ic", "install-clean") or words.has("--frozen-lockfile", "--immutable")
            else "manifest"
        )
        yield everything(call, name, source, index, **place)
        if not everywhere and not words.has("--ignore-scripts"):
            yield from lifecycle(call, scene, cwd)
    if everywhere or (words.has("--no-save", "--no-package-lock", "--no-lockfile", "--pure-lockfile") and not names):
        return
    if source_writes(verb, words):
        yield from manager_file(call, scene, _LOCKFILES[name], name, cwd)
    if names:
        yield from manager_file(call, scene, "package.json", name, cwd)


def source_writes(verb: str, words: Split) -> bool:
    """Whether the lockfile may change: not by `ci` and frozen installs."""
    return verb not in ("ci", "clean-install", "ic", "install-clean") and not words.has(
        "--frozen-lockfile", "--immutable", "--no-package-lock"
    )


def _other(call: Call, scene: Scene, name: str, verb: str, words: Split, cwd: Field | None) -> Iterator[Effect]:
    if verb in ("init", "create", "innit") and len(words.words) > 1:
        what = words.words[1]
        text = what.text or ""
        if name == "npm" or verb == "create":
            scope, slash, rest = text.partition("/") if text.startswith("@") else ("", "", text)
            target = f"{scope}{slash}create-{rest}" if rest else f"{scope}/create"
            yield from install(call, scene, name, (literal(target),) if text else (what,), run="1")
    elif verb == "audit" and words.verb(1) == "fix":
        yield everything(call, name, "manifest")
        yield from manager_file(call, scene, _LOCKFILES[name], name, cwd)
    elif verb in ("shrinkwrap", "rebuild", "link", "ln"):
        if verb in ("link", "ln") and len(words.words) < 2:
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing("."), {"global": "1"}, manager=name, name=".", source="path")
        elif verb == "shrinkwrap":
            yield from manager_file(call, scene, "npm-shrinkwrap.json", name, cwd)
    elif (verb in ("config", "c") and words.verb(1) in ("set", "delete", "edit", "fix")) or verb == "set":
        project = shown(words.value("--location")) == "project" or name == "yarn"
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(".npmrc" if project else f"{scene.home}/.npmrc"))
    elif verb in ("config", "c", "get") and any("_auth" in shown(word) or "token" in shown(word).lower() for word in words.words[1:]):
        yield call.effect(EffectKind.SECRET_READ, thing(words.words[-1]), store="npm", prints="1")
    elif verb == "token" and words.verb(1) not in ("list", "ls", ""):
        yield call.effect(EffectKind.SECRET_READ, thing("npm token"), store="npm", prints="1")
    elif verb == "pkg" and words.verb(1) == "set":
        yield from manager_file(call, scene, "package.json", name, cwd)
        set_scripts(call, scene, words.words[2:], cwd)
    elif (verb == "pkg" and words.verb(1) in ("delete", "fix")) or (verb == "version" and len(words.words) > 1):
        yield from manager_file(call, scene, "package.json", name, cwd)
    elif name == "bun" and verb == "build":
        out = words.value("--outdir", "--outfile")
        if out is not None:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, out)
    elif name == "bun" and words.has("-e", "--eval", "-p", "--print"):
        from .interpreters import bun_eval

        yield from bun_eval(call, scene)
    elif verb and verb not in _QUIET:
        if "." in verb and name == "bun":
            yield from _script_file(call, scene, words.words[0], words.words[1:])
        elif name in ("yarn", "pnpm", "bun"):  # yarn build: the script, else the program of that name
            yield from project_script(call, scene, "package.json", "npm", verb, cwd)
            yield from scene.nested_argv((*words.words, *(literal(flag) for flag in words.flags)), call, via=name, cwd=cwd)


def _script_file(call: Call, scene: Scene, file: Field, argv: tuple[Field, ...]) -> Iterator[Effect]:
    yield from scene.nested_argv((literal("node"), file, *argv), call, via=call.name)


# ---------------------------------------------------------------- running packages


def npx(call: Call, scene: Scene) -> Iterator[Effect]:
    """npx, pnpx, bunx: fetch a package when it is not installed, and run its program."""
    yield from run_package(call, scene, call.argv, call.name)


def _exec(call: Call, scene: Scene, name: str, verb: str) -> Iterator[Effect]:
    """`npm exec -- CMD`, `pnpm dlx PKG`, `yarn dlx PKG`, `pnpm exec CMD`."""
    top = split(call.argv, _VALUES, stop=1)
    at = next((i for i, word in enumerate(call.argv) if word.text == verb), len(top.flags))
    yield from run_package(call, scene, call.argv[at + 1 :], f"{name} {verb}")


def run_package(call: Call, scene: Scene, argv: tuple[Field, ...], via: str) -> Iterator[Effect]:
    """The package fetched (run=1), then its program with its words."""
    words = split(argv, "-p --package -c --call --prefix -w --workspace --cache --registry --filter -F --shell", stop=1)
    inner = words.words or words.rest
    packages = words.all("-p", "--package")
    if words.has("--help", "-h", "--version", "-v") and not inner:
        return
    command = words.value("-c", "--call")
    if not words.has("--no-install", "--no", "--offline") and not (via.startswith(("pnpm exec",))):
        fetched = packages or inner[:1]
        if fetched and not shown(fetched[0]).startswith((".", "/")):
            yield from install(call, scene, "npx", tuple(fetched), index=shown(words.value("--registry")), run="1")
    if command is not None:
        if command.text is not None:
            yield from scene.nested_shell(command.text, call, via=f"{via} -c")
        else:
            yield call.effect(EffectKind.CODE_OPAQUE, reason=command.reason, source="variable", dynamic="interpreter")
    elif inner:
        head = inner[0]
        text = head.text
        if text is not None and not packages:
            bare = text if text.startswith("@") and text.count("@") == 1 else text.rsplit("@", 1)[0] if "@" in text[1:] else text
            head = literal(bare.rsplit("/", 1)[-1] if bare.startswith("@") else bare, head.span)
        if head.text not in _NAMESAKES:
            yield from scene.nested_argv((head, *inner[1:]), call, via=via)


# Packages whose program bears the name of one of the system's, and does something else.
_NAMESAKES = frozenset("sv n ip at watch link install look service split expand kill-port column test".split())

PROGRAMS: tuple[Program, ...] = (
    Program(
        ("npm", "pnpm", "yarn", "bun", "yarnpkg", "cnpm", "tnpm"),
        style="raw nohelp",
        describe=manager,
        summary="JavaScript packages and scripts",
    ),
    Program(("npx", "pnpx", "bunx", "pnpm-exec"), style="raw nohelp", describe=npx, summary="fetches and runs JavaScript programs"),
    Program(("corepack", "nvm", "fnm", "volta", "n"), style="raw", summary="versions of node and its managers"),
)
