"""pip, uv, poetry, pipenv, pdm, conda and their kin."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind
from ..shell.invocation import Field, literal
from .call import Call, Program, Scene
from .infra import dry_run
from .packages import everything, install, manager_file, publish
from .roles import file_effects
from .verbs import Split, shown, split, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PIP_VALUES = (
    "-r --requirement -c --constraint -e --editable -i --index-url --extra-index-url -f --find-links -t --target "
    "--prefix --root --src --python "
    "--platform --python-version --implementation --abi -d --dest -w --wheel-dir --cache-dir --proxy --timeout "
    "--cert --client-cert --trusted-host "
    "--log --report --upgrade-strategy --no-binary --only-binary --config-settings --global-option --install-option "
    "--retries --exists-action -p "
    "--index --default-index --exclude-newer --resolution --group --extra --project --directory --with "
    "--with-requirements --from --env-file --with-editable "
    "--package -o --output-file --optional --tag --branch --rev --publish-url --token --username -u --password "
    "--bound --script --module"
)


def pip(call: Call, scene: Scene) -> Iterator[Effect]:
    """pip VERB; also `python -m pip` and `uv pip`."""
    yield from pip_words(call, scene, split(call.argv, _PIP_VALUES), call.name)


def pip_words(call: Call, scene: Scene, words: Split, manager: str) -> Iterator[Effect]:
    """The verbs of pip."""
    verb = words.verb()
    if dry_run(words) or words.has("-h", "--help"):
        return
    index = _index(call, scene, words)
    for field in words.all("--log", "--log-file", "--report"):
        if field.text != "-":
            yield from file_effects(call, scene, EffectKind.FILE_APPEND, field)
    if verb in ("install", "download", "wheel", "sync"):
        action = {"download": "download", "wheel": "download"}.get(verb, "")
        place = "1" if words.has("--break-system-packages", "--user", "--system") or words.value("--prefix", "--root") is not None else ""
        yield from _requirements(call, scene, words, manager, index, action)
        yield from install(call, scene, "pip", words.words[1:], style="python", index=index, action=action, **{"global": place})
        target = words.value("-t", "--target", "-d", "--dest", "-w", "--wheel-dir")
        if target is not None:
            yield from file_effects(call, scene, EffectKind.FILE_CREATE, target, recursive="1")
    elif verb == "uninstall":
        if words.has("--break-system-packages"):
            yield call.effect(
                EffectKind.PACKAGE_INSTALL, thing(words.verb(1)), {"global": "1"}, manager="pip", name=words.verb(1), action="remove"
            )
    elif verb == "config" and words.verb(1) in ("set", "edit", "unset"):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(f"{scene.home}/.config/pip/pip.conf"))
    elif verb == "compile":
        output = words.value("-o", "--output-file")
        if output is not None:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, output)


def _index(call: Call, scene: Scene, words: Split) -> str:
    """Every index that the call names, by option or variable."""
    given = [
        shown(field) for field in words.all("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index", "--default-index")
    ]
    for name, field in (*call.invocation.env, *call.invocation.assignments):
        if name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
            given.append(shown(field))
    return " ".join(one for one in given if one and not one.startswith((".", "/")))


def _requirements(call: Call, scene: Scene, words: Split, manager: str, index: str, action: str) -> Iterator[Effect]:
    files = words.words[1:] if words.verb() == "sync" else words.all("-r", "--requirement", "--with-requirements")
    for field in files:
        if shown(field).startswith(("http://", "https://")):
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing(field), manager="pip", name=shown(field), source="url", index=index)
        else:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
            hashes = "1" if words.has("--require-hashes") else ""
            yield everything(call, "pip", "manifest", index, file=shown(field), hashes=hashes, action=action)
    for field in words.all("-e", "--editable"):
        yield from install(call, scene, "pip", (field,), style="python", index=index)


def run_inner(call: Call, scene: Scene, words: tuple[Field, ...], via: str, cwd: Field | None = None) -> Iterator[Effect]:
    """A command that a manager runs in its environment."""
    if words:
        yield from scene.nested_argv(words, call, via=via, cwd=cwd)


def uv(call: Call, scene: Scene) -> Iterator[Effect]:
    """uv VERB."""
    words = split(call.argv, _PIP_VALUES)
    verb = words.verb()
    index = _index(call, scene, words)
    if verb == "pip":
        yield from pip_words(call, scene, words.replace(words=words.words[1:]), "uv")
        return
    if verb in ("run", "tool") and not (
        verb == "tool" and words.verb(1) in ("install", "uninstall", "list", "upgrade", "dir", "update-shell", "")
    ):
        yield from _uv_run(call, scene, verb)
        return
    if dry_run(words) or words.has("-h", "--help"):
        return
    if verb == "tool" and words.verb(1) in ("install", "upgrade"):
        yield from install(call, scene, "uv", words.words[2:], style="python", index=index, **{"global": "1"})
    elif verb == "add":
        yield from install(call, scene, "uv", words.words[1:], style="python", index=index)
        yield from _requirements(call, scene, words, "uv", index, "")
        yield from manager_file(call, scene, "uv.lock", "uv")
        yield from manager_file(call, scene, "pyproject.toml", "uv")
    elif verb in ("sync", "lock"):
        yield from manager_file(call, scene, "uv.lock", "uv")
        if verb == "sync":
            yield everything(call, "uv", "lockfile", index)
    elif verb == "remove":
        yield from manager_file(call, scene, "uv.lock", "uv")
        yield from manager_file(call, scene, "pyproject.toml", "uv")
    elif verb == "publish":
        yield publish(call, "uv")


def _uv_run(call: Call, scene: Scene, verb: str) -> Iterator[Effect]:
    """`uv run [--with PKG] CMD`, `uv tool run [--from PKG] CMD`."""
    valued = _PIP_VALUES.replace("--module", "")
    words = split(call.argv, valued, stop=2 if verb == "run" else 3)
    inner = words.words[1 if verb == "run" else 2 :] or words.rest
    for field in words.all("--with", "--with-requirements", "--with-editable"):
        yield from install(call, scene, "uv", tuple(literal(one) for one in shown(field).split(",")), style="python", run="1")
    for field in words.all("--env-file"):
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    if verb == "tool":
        yield from uvx_words(call, scene, words, inner)
    elif words.has("-m", "--module"):
        yield from run_inner(call, scene, (literal("python3"), literal("-m"), *inner), "uv run")
    elif inner and shown(inner[0]).endswith(".py"):
        yield from run_inner(call, scene, (literal("python3"), *inner), "uv run")
    else:
        yield from run_inner(call, scene, inner, "uv run")


def uvx(call: Call, scene: Scene) -> Iterator[Effect]:
    """uvx and pipx run: fetch a package and run its program."""
    words = split(call.argv, _PIP_VALUES + " --spec --pip-args", stop=1)
    inner = words.words or words.rest
    if call.name == "pipx":
        verb = words.verb()
        if verb != "run":
            every = split(call.argv, _PIP_VALUES + " --spec --pip-args")
            if verb in ("install", "inject", "upgrade", "install-all"):
                yield from install(
                    call, scene, "pipx", every.words[1:], style="python", index=_index(call, scene, every), **{"global": "1"}
                )
            return
        words = split(inner[1:], _PIP_VALUES + " --spec --pip-args", stop=1)
        inner = words.words or words.rest
    yield from uvx_words(call, scene, words, inner)


def uvx_words(call: Call, scene: Scene, words: Split, inner: tuple[Field, ...]) -> Iterator[Effect]:
    """The package fetched, then the program run."""
    package = words.value("--from", "--spec") or (inner[0] if inner else None)
    if package is not None:
        yield from install(
            call,
            scene,
            "uvx",
            (package,),
            style="python" if "@" not in shown(package) or "://" in shown(package) else "at",
            index=_index(call, scene, words),
            run="1",
        )
    if inner and inner[0].text is not None:
        yield from run_inner(call, scene, (literal(inner[0].text.split("@", 1)[0].split("[", 1)[0]), *inner[1:]), call.name)


# manager -> (lockfile, verbs that install everything, verbs that add, verbs that only lock, verbs that run a command)
_MANAGERS: dict[str, tuple[str, str, str, str, str]] = {
    "poetry": ("poetry.lock", "install sync", "add", "lock update remove", "run"),
    "pipenv": ("Pipfile.lock", "sync", "install", "lock update uninstall upgrade", "run"),
    "pdm": ("pdm.lock", "install sync", "add", "lock update remove", "run"),
    "rye": ("requirements.lock", "sync", "add", "lock remove", "run"),
    "hatch": ("", "", "", "", "run"),
    "pixi": ("pixi.lock", "install", "add", "update lock remove upgrade", "run"),
}
_MANIFESTS = {"poetry": "pyproject.toml", "pipenv": "Pipfile", "pdm": "pyproject.toml", "rye": "pyproject.toml", "pixi": "pixi.toml"}


def project_manager(call: Call, scene: Scene) -> Iterator[Effect]:
    """poetry, pipenv, pdm, rye, hatch, pixi."""
    lock, alls, adds, locks, runs = _MANAGERS[call.name]
    words = split(
        call.argv,
        "-C --directory -P --project -G --group -E --extras --source --python -p -r --requirement -i --index -c "
        "--channel --env -e --platform --build -u --username --password --repository",
        stop=1,
    )
    verb = words.verb()
    if verb in runs.split():
        inner = words.words[1:]
        if inner and inner[0].text is not None and inner[0].text.endswith(".py"):
            inner = (literal("python3"), *inner)
        yield from run_inner(
            call, scene, tuple(f for f in inner if f.text != "--") if inner[:1] and inner[0].text == "--" else inner, f"{call.name} run"
        )
        return
    words = split(
        call.argv,
        "-C --directory -P --project -G --group -E --extras --source --python -p -r --requirement -i --index -c "
        "--channel --platform --build -u --username --password --repository",
    )
    if dry_run(words) or words.has("-h", "--help"):
        return
    index = _index(call, scene, words)
    if verb == "publish" or verb == "upload":
        yield publish(call, call.name)
        return
    if verb == "self" and words.verb(1) == "add":
        yield from install(call, scene, call.name, words.words[2:], style="at" if call.name == "poetry" else "python", **{"global": "1"})
        return
    if verb in adds.split() and len(words.words) > 1:
        yield from install(
            call,
            scene,
            call.name,
            words.words[1:],
            style="at" if call.name == "poetry" and "@" in shown(words.words[1]) else "python",
            index=index,
        )
        yield from manager_file(call, scene, _MANIFESTS.get(call.name, "pyproject.toml"), call.name)
    elif verb in alls.split() or verb in adds.split():
        yield everything(call, call.name, "lockfile", index)
    elif verb not in locks.split():
        return
    if lock:
        yield from manager_file(call, scene, lock, call.name)


def conda(call: Call, scene: Scene) -> Iterator[Effect]:
    """conda, mamba, micromamba."""
    values = "-n --name -p --prefix -c --channel -f --file --solver --cwd"
    words = split(call.argv, values)
    verb = words.verb()
    if dry_run(words) or words.has("-h", "--help"):
        return
    channel = " ".join(shown(field) for field in words.all("-c", "--channel"))
    if verb == "run":
        inner = split(call.argv, values, stop=2)
        yield from run_inner(call, scene, inner.words[1:] or inner.rest, "conda run")
    elif verb in ("install", "create", "update", "upgrade"):
        for field in words.all("-f", "--file"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
            yield everything(call, "conda", "manifest", channel, file=shown(field))
        yield from install(call, scene, "conda", words.words[1:], style="colon", index=channel)
        prefix = words.value("-p", "--prefix")
        if prefix is not None and verb == "create":
            yield from file_effects(call, scene, EffectKind.FILE_CREATE, prefix, recursive="1")
    elif verb == "env" and words.verb(1) in ("create", "update"):
        yield everything(call, "conda", "manifest", channel, file=shown(words.value("-f", "--file")) or "environment.yml")
    elif (verb == "env" and words.verb(1) == "remove") or (verb == "remove" and words.has("--all")):
        prefix = words.value("-p", "--prefix")
        if prefix is not None:
            yield from file_effects(call, scene, EffectKind.FILE_DELETE, prefix, recursive="1")
        else:
            name = shown(words.value("-n", "--name"))
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing(name), {"global": "1"}, manager="conda", name=name, action="remove")
    elif verb == "config" and words.has("--add", "--set", "--append", "--prepend"):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(f"{scene.home}/.condarc"))


def uploader(call: Call, scene: Scene) -> Iterator[Effect]:
    """twine, flit and maturin: what they publish."""
    words = split(call.argv, "-r --repository --repository-url -u --username -p --password --cert -i --identity -f --ini-path -m")
    verb = words.verb()
    if verb in ("upload", "publish"):
        for field in words.words[1:]:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1")
        yield publish(call, call.name, index=shown(words.value("--repository-url", "-r", "--repository")))
    elif verb == "install":
        yield everything(call, call.name, "manifest")


PROGRAMS: tuple[Program, ...] = (
    Program(("pip", "pip3", "pip2"), style="raw", describe=pip, summary="installs Python packages"),
    Program(("uv",), style="raw nohelp", describe=uv, summary="Python packages and projects"),
    Program(("uvx", "pipx"), style="raw nohelp", describe=uvx, summary="fetches and runs Python programs"),
    Program(tuple(_MANAGERS), style="raw nohelp", describe=project_manager, summary="Python project manager"),
    Program(("conda", "mamba", "micromamba"), style="raw nohelp", describe=conda, summary="environments and packages"),
    Program(("twine", "flit", "maturin"), style="raw", describe=uploader, summary="builds and publishes Python packages"),
    Program(
        ("pip-compile", "pip-sync", "pip-audit", "pipdeptree", "pip-licenses", "safety"),
        style="raw",
        summary="looks at Python requirements",
    ),
)
