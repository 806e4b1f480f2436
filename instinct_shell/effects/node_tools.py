"""Small programs of JavaScript projects that act on files or run other commands: rimraf, del, shx, cross-env's neighbours, nodemon, serve ..."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from .call import Call, Program, Scene
from .packages import project_script
from .roles import file_effects
from .scripts import run_text
from .verbs import shown, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def _pattern(field: Field) -> Field:
    """These tools expand globs themselves: a quoted `dist/*` is a pattern for them."""
    text = field.text
    if text is not None and any(c in text for c in "*?["):
        return Field(Known.SET, (text,), glob=True, many=True, span=field.span)
    return field


def remover(call: Call, scene: Scene) -> Iterator[Effect]:
    """rimraf, del: recursive deletes with their own globs; `**` means everything below."""
    words = split(call.argv, "--impl --max-retries --retry-delay --backoff --preserve-root= -c --cwd")
    if words.has("--dry-run", "-d", "-h", "--help", "--version"):
        return
    for field in words.words:
        text = field.text or ""
        if text.startswith("!"):
            continue
        if "**" in text:
            head, _, tail = text.partition("**")
            name = tail.rsplit("/", 1)[-1]
            folder = literal(head.rstrip("/") or ("/" if text.startswith("/") else "."))
            yield from file_effects(
                call, scene, EffectKind.FILE_DELETE, folder, recursive="1", sweep="1", filter="" if name in ("", "*") else name
            )
        else:
            yield from file_effects(call, scene, EffectKind.FILE_DELETE, _pattern(field), recursive="1")


def copier(call: Call, scene: Scene) -> Iterator[Effect]:
    """cpx, ncp, copyfiles, cpy: the last operand is the destination."""
    words = split(call.argv, "-u --up -e --exclude -t --transform -c --command --filter --limit")
    for field in words.words[:-1]:
        yield from file_effects(call, scene, EffectKind.FILE_READ, _pattern(field), source_of_copy="1", recursive="1")
    for field in words.words[-1:] if len(words.words) > 1 else ():
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, recursive="1")
        if words.has("-C", "--clean"):
            yield from file_effects(call, scene, EffectKind.FILE_DELETE, field, recursive="1", sweep="1")


def shell_words(call: Call, scene: Scene) -> Iterator[Effect]:
    """shx rm -rf x: portable shell commands."""
    yield from scene.nested_argv(call.argv, call, via=call.name)


def watcher(call: Call, scene: Scene) -> Iterator[Effect]:
    """nodemon, onchange, chokidar, watchexec: run a command again and again."""
    words = split(
        call.argv,
        "-x --exec -e --ext -w --watch -i --ignore -c --command -d --delay --signal -s -f --filter --initial= -r --restart=",
        stop=-1 if call.name == "chokidar" else 1,
    )
    if call.name == "cargo-watch":
        yield from cargo_watch(call, scene)
        return
    command = words.value("-x", "--exec", "-c", "--command")
    if command is not None:
        if command.text is not None:
            yield from scene.nested_shell(command.text, call, via=call.name)
        return
    inner = words.rest or words.words
    if call.name == "nodemon" and inner:
        yield from scene.nested_argv((literal("node"), *inner), call, via="nodemon")
    elif inner and call.name != "chokidar":
        yield from scene.nested_argv(inner, call, via=call.name)


def cargo_watch(call: Call, scene: Scene, argv: tuple[Field, ...] | None = None) -> Iterator[Effect]:
    """cargo watch: -x runs cargo verbs, -s shell text, and what stands behind `--` a command."""
    words = split(call.argv if argv is None else argv, "-x --exec -s --shell -w --watch -i --ignore -d --delay -C --workdir -F --features -E --env --use-shell")
    for field in words.all("-x", "--exec"):
        if field.text is not None:
            yield from scene.nested_shell(f"cargo {field.text}", call, via="cargo watch")
    for field in words.all("-s", "--shell"):
        yield from run_text(call, scene, field, via="cargo watch -s")
    if words.rest:
        yield from scene.nested_argv(words.rest, call, via="cargo watch")


def server(call: Call, scene: Scene) -> Iterator[Effect]:
    """Servers for development: they listen."""
    words = split(
        call.argv,
        "-p --port -l --listen --host -H --hostname -d --dir -c --config -S -C --cert -K --key -b --bind -w --workers -k "
        "--reload-dir --log-level",
    )
    if words.has("-h", "--help", "-v", "--version", "-V"):
        return
    texts = [shown(word) for word in words.words]
    if call.name in (
        "vite",
        "next",
        "nuxt",
        "astro",
        "webpack",
        "parcel",
        "remix",
        "gatsby",
        "ng",
        "vue-cli-service",
        "react-scripts",
        "expo-cli",
        "storybook",
        "hugo",
        "jekyll",
        "mkdocs",
        "docusaurus",
        "eleventy",
    ):
        if texts and texts[0] in (
            "build",
            "lint",
            "test",
            "info",
            "export",
            "generate",
            "new",
            "check",
            "preview-build",
            "sync",
            "typegen",
            "version",
            "clean",
            "telemetry",
            "optimize",
            "eject",
            "config",
        ):
            yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, f"{call.name} {texts[0]}"))
            return
        if texts[:1] == ["gh-deploy"]:
            yield call.effect(EffectKind.PACKAGE_PUBLISH, Target(TargetKind.OBJECT, "gh-pages"), tool=call.name, name="gh-deploy")
            return
        if call.name in ("hugo", "webpack", "jekyll", "mkdocs", "eleventy", "parcel") and not set(texts[:1]) & {
            "server",
            "serve",
            "s",
            "watch",
        }:
            target = words.value("-d", "--dir")
            yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, call.name))
            if target is not None and call.name in ("hugo", "jekyll", "mkdocs"):
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, target, recursive="1")
            return
    yield call.effect(
        EffectKind.NET_LISTEN,
        Target(TargetKind.HOST, ""),
        via=call.name,
        port=shown(words.value("-p", "--port", "-l", "--listen", "-b", "--bind")),
    )


def degit(call: Call, scene: Scene) -> Iterator[Effect]:
    """degit, tiged, giget: unpack a repository into a folder."""
    words = split(call.argv, "-m --mode --cache-dir")
    if words.words:
        yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.URL, shown(words.words[0])), method="GET")
        folder = words.words[1] if len(words.words) > 1 else literal(".")
        kind = EffectKind.FILE_WRITE if words.has("-f", "--force") else EffectKind.FILE_CREATE
        yield from file_effects(call, scene, kind, folder, recursive="1")


def pages(call: Call, scene: Scene) -> Iterator[Effect]:
    """gh-pages: force-pushes a folder to a branch of the remote."""
    words = split(call.argv, "-d --dist -b --branch -r --repo -o --remote -m --message -t -e --dest -x")
    if not words.has("-h", "--help", "-V", "--version", "--no-push", "-n"):
        yield call.effect(
            EffectKind.PACKAGE_PUBLISH,
            Target(TargetKind.OBJECT, shown(words.value("-b", "--branch")) or "gh-pages"),
            tool="gh-pages",
            name="gh-pages",
        )


def tester(call: Call, scene: Scene) -> Iterator[Effect]:
    """Test runners, linters and formatters: they run or read the project's own files."""
    words = split(
        call.argv,
        "-c --config -k -m -o -t --testNamePattern --reporter -p --project --rootdir -n --maxfail --cov --parser "
        "--ignore-path --ext --format -f --output-file --fix-type -x --outputFile --junitxml",
    )
    for field in words.all("-o", "--output-file", "--outputFile", "--junitxml"):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, field)
    yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, call.name))


def generator(call: Call, scene: Scene) -> Iterator[Effect]:
    """Scaffolding and code generators: create files in the project, run its templates."""
    yield from project_script(call, scene, ".", call.name, shown(call.argv[0]) if call.argv else "")


PROGRAMS: tuple[Program, ...] = (
    Program(("rimraf", "del-cli", "premove", "trash-cli", "rmrf"), style="raw", describe=remover, summary="deletes recursively"),
    Program(("cpx", "cpx2", "ncp", "copyfiles", "cpy", "cpy-cli", "cpr"), style="raw", describe=copier, summary="copies files"),
    Program(("mkdirp", "make-dir-cli", "mkdirp-cli"), "-m --mode", roles="create", summary="makes directories"),
    Program(("shx",), style="raw nohelp", describe=shell_words, summary="portable shell commands"),
    Program(
        ("nodemon", "onchange", "chokidar", "watchexec", "tsc-watch", "cargo-watch", "reflex", "air"),
        style="raw nohelp",
        describe=watcher,
        summary="runs a command on changes",
    ),
    Program(
        (
            "serve",
            "http-server",
            "live-server",
            "json-server",
            "browser-sync",
            "vite",
            "next",
            "nuxt",
            "astro-dev",
            "webpack",
            "webpack-dev-server",
            "parcel",
            "remix",
            "gatsby",
            "ng",
            "vue-cli-service",
            "react-scripts",
            "storybook",
            "hugo",
            "jekyll",
            "mkdocs",
            "docusaurus",
            "eleventy",
            "uvicorn",
            "gunicorn",
            "hypercorn",
            "streamlit",
            "jupyter",
            "jupyter-lab",
            "jupyter-notebook",
            "php-fpm",
            "caddy",
            "nginx",
            "puma",
            "unicorn",
            "rackup",
            "daphne",
            "waitress-serve",
            "tensorboard",
            "mlflow",
            "gradio",
            "wrangler-dev",
            "miniserve",
            "simple-http-server",
        ),
        style="raw",
        describe=server,
        summary="serves for development, or builds a site",
    ),
    Program(("degit", "tiged", "giget"), style="raw", describe=degit, summary="unpacks a repository"),
    Program(("gh-pages",), style="raw", describe=pages, summary="publishes a folder as a site"),
    Program(
        (
            "jest",
            "vitest",
            "mocha",
            "ava",
            "tap",
            "playwright",
            "cypress",
            "karma",
            "pytest",
            "py.test",
            "unittest",
            "nose2",
            "tape",
            "flake8",
            "pylint",
            "mypy",
            "pyright",
            "pyre",
            "bandit",
            "coverage",
            "golangci-lint",
            "staticcheck",
            "shellcheck",
            "phpunit",
            "phpstan",
            "psalm",
            "pest",
            "clang-tidy",
            "cppcheck",
            "cpplint",
            "vale",
            "cspell",
            "depcheck",
            "knip",
            "madge",
            "size-limit",
            "lint-staged",
            "commitlint",
            "tsup",
            "esbuild",
            "rollup",
            "swc",
            "babel",
            "sass",
            "postcss",
            "tailwindcss",
            "typedoc",
            "jsdoc",
            "sphinx-build",
            "pdoc",
            "doxygen",
            "api-extractor",
            "publint",
            "attw",
            "nyc",
            "c8",
            "minitest",
            "selene",
            "luacheck",
            "vulture",
            "interrogate",
            "lint-imports",
            "credo",
            "dialyzer",
            "hlint",
            "protoc",
            "swag",
            "gotestsum",
            "ginkgo",
            "cucumber",
            "behave",
            "robot",
            "locust",
            "k6",
            "lighthouse",
        ),
        style="raw",
        describe=tester,
        summary="tests, lints, formats or bundles the project",
    ),
    Program(
        (
            "plop",
            "hygen",
            "yo",
            "cookiecutter",
            "copier",
            "create-react-app",
            "create-next-app",
            "create-vite",
            "openapi-generator",
            "openapi-generator-cli",
            "graphql-codegen",
            "orval",
        ),
        style="raw",
        describe=generator,
        summary="generates files from templates",
    ),
)
