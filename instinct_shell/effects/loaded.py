"""Code that a program loads without being told: conftest.py, vite.config.ts, build.rs, Rakefile, CMakeLists.txt.

Only files that the same text wrote are read here: what stood in the project before is the project's own. Of what they do, harm to things whose
names are known counts; a test file is full of calls that only a test makes (requests to a fake server, a scratch database, folders of a fixture).
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

from ..model.effect import Certainty, Effect, EffectKind
from ..shell.invocation import Field, Known, Origin, literal
from .call import Call, Scene, inside
from .followed import GIVEN
from .output import absolute
from .roles import weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# (programs, first words that load, "" = all; file patterns: of the name, or of the end of the path; language)
_ROWS: tuple[tuple[str, str, str, str], ...] = (
    (
        "pytest py.test nose2 unittest tox nox behave robot locust coverage",
        "",
        "conftest.py test_*.py *_test.py noxfile.py steps/*.py locustfile.py",
        "python",
    ),
    (
        "pylint mypy sphinx-build pdoc mkdocs gunicorn uvicorn hypercorn flask celery",
        "",
        "conf.py gunicorn.conf.py app.py wsgi.py asgi.py main.py celery.py",
        "python",
    ),
    ("pip pip3 uv pipx poetry pdm hatch build", "install sync run add build wheel develop", "setup.py hatch_build.py build.py", "python"),
    ("invoke inv fab doit scons waf snakemake", "", "tasks.py fabfile.py dodo.py SConstruct SConscript wscript Snakefile", "python"),
    ("python python3 python2 ipython pypy pypy3", "", "sitecustomize.py usercustomize.py", "python"),
    (
        "jest vitest mocha ava tap karma cypress playwright c8 nyc node tape",
        "",
        "jest.config.* vitest.config.* vite.config.* .mocharc.* karma.conf.* cypress.config.* playwright.config.* babel.config.* ava.config.* *.test.* "
        "*.spec.* *.setup.* setup.js setup.ts setup.mjs __tests__/*",
        "javascript",
    ),
    (
        "vite next nuxt astro webpack webpack-dev-server remix gatsby ng vue-cli-service react-scripts storybook svelte-kit parcel eleventy",
        "",
        "vite.config.* next.config.* nuxt.config.* astro.config.* webpack.config.* remix.config.* gatsby-config.* gatsby-node.* vue.config.* svelte.config.* "
        "postcss.config.* tailwind.config.* babel.config.* .storybook/main.* .eleventy.*",
        "javascript",
    ),
    (
        "tsup rollup esbuild babel postcss tailwindcss swc sass typedoc",
        "",
        "tsup.config.* rollup.config.* babel.config.* postcss.config.* tailwind.config.* .babelrc.*",
        "javascript",
    ),
    (
        "eslint prettier stylelint commitlint lint-staged semantic-release release-it xo standard knip",
        "",
        "eslint.config.* .eslintrc.* prettier.config.* .prettierrc.* stylelint.config.* .stylelintrc.* commitlint.config.* lint-staged.config.* "
        ".lintstagedrc.* release.config.*",
        "javascript",
    ),
    (
        "gulp grunt drizzle-kit prisma knex cdk sst",
        "",
        "gulpfile.* Gruntfile.* drizzle.config.* prisma.config.* knexfile.* sst.config.*",
        "javascript",
    ),
    ("cargo", "build b run r test t check c clippy bench doc install nextest", "build.rs", "rust"),
    ("cargo", "run r test t bench nextest", "main.rs lib.rs tests/*.rs src/bin/*.rs", "rust"),
    ("go", "test run", "*_test.go main.go", "go"),
    ("ginkgo gotestsum", "", "*_test.go", "go"),
    ("mage", "", "magefile.go magefiles/*.go", "go"),
    ("gradle gradlew", "", "build.gradle settings.gradle build.gradle.kts settings.gradle.kts init.gradle", "groovy"),
    ("sbt mill", "", "build.sbt plugins.sbt build.sc build.mill", "scala"),
    ("lein", "", "project.clj", "clojure"),
    (
        "rake bundle rspec rails cucumber minitest gem jekyll fastlane vagrant pod guard cap thor",
        "",
        "Rakefile *.rake Gemfile *_spec.rb spec_helper.rb rails_helper.rb *_test.rb *.gemspec _plugins/*.rb Fastfile Vagrantfile Podfile Guardfile Capfile "
        "*.thor config/*.rb",
        "ruby",
    ),
    ("mix iex", "", "mix.exs *_test.exs test_helper.exs config/*.exs", "elixir"),
    (
        "phpunit pest phpstan psalm composer php-cs-fixer",
        "",
        "*Test.php bootstrap.php Pest.php .php-cs-fixer.php .php-cs-fixer.dist.php",
        "php",
    ),
    ("prove", "", "*.t", "perl"),
    ("pnpm npm yarn bun", "install i add update ci up dedupe import fetch", ".pnpmfile.cjs .pnpmfile.mjs pnpmfile.js yarn.config.cjs", "javascript"),
    ("ninja samu", "", "build.ninja", "ninja"),
    ("tox", "", "tox.ini", "tox"),
    ("foreman overmind hivemind honcho goreman heroku", "", "Procfile Procfile.*", "procfile"),
    ("lefthook", "", "lefthook.yml .lefthook.yml lefthook.yaml lefthook-local.yml", "yaml-run"),
    ("mise rtx", "run r exec x tasks", "mise.toml .mise.toml", "toml-run"),
    ("cargo", "build b run r test t check c clippy bench doc install nextest", ".cargo/config.toml .cargo/config", "cargo-config"),
    ("npm npx pnpm yarn", "", ".npmrc", "npmrc"),
    ("tilt", "up ci", "Tiltfile", "tiltfile"),
    ("nodemon lint-staged deno", "", "nodemon.json .lintstagedrc .lintstagedrc.json deno.json deno.jsonc", "json-run"),
    ("direnv", "exec allow reload", ".envrc", "envrc"),
    ("ant", "", "build.xml", "ant"),
    ("jake", "", "Jakefile Jakefile.js", "javascript"),
    ("dotnet msbuild", "", "*.csproj *.fsproj Directory.Build.props Directory.Build.targets *.targets", "msbuild"),
    ("cmake ctest", "", "CMakeLists.txt *.cmake", "cmake"),
    ("Rscript R littler", "", ".Rprofile", "r"),
    ("ghci stack cabal", "", ".ghci Setup.hs", "haskell"),
    ("swift", "build run test", "Package.swift main.swift", "swift"),
    ("dart flutter", "run test", "build.dart *_test.dart main.dart", "dart"),
    ("octave octave-cli", "", ".octaverc startup.m", "octave"),
    ("gdb rust-gdb cgdb", "", ".gdbinit", "gdb"),
    ("vim nvim vi", "", ".exrc .nvimrc .vimrc", "vim"),
    ("emacs", "", ".dir-locals.el init.el", "elisp"),
)
# What counts of a file that is loaded: loss and leaks, not what only a test or a build does to its own things.
_COUNTS = frozenset(
    {
        EffectKind.FILE_DELETE,
        EffectKind.FILE_MOVE,
        EffectKind.FILE_WRITE,
        EffectKind.FILE_APPEND,
        EffectKind.FILE_METADATA,
        EffectKind.FILE_LINK,
        EffectKind.FILE_READ,
        EffectKind.GIT_DISCARD,
        EffectKind.GIT_FORCE_PUSH,
        EffectKind.GIT_DELETE_REF,
        EffectKind.GIT_REWRITE,
        EffectKind.SYSTEM_POWER,
        EffectKind.SYSTEM_MOUNT,
        EffectKind.SYSTEM_SERVICE,
        EffectKind.SYSTEM_USER,
        EffectKind.SYSTEM_PRIVILEGE,
        EffectKind.SYSTEM_FIREWALL,
        EffectKind.SYSTEM_SCHEDULE,
        EffectKind.INFRA_DESTROY,
        EffectKind.PROCESS_KILL,
        EffectKind.NET_REMOTE_EXEC,
        EffectKind.NET_UPLOAD,
    }
)
_LANGUAGES = {
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"), "javascript"),
    **dict.fromkeys((".gradle", ".kts", ".groovy"), "groovy"),
    ".py": "python", ".rb": "ruby", ".rake": "ruby", ".php": "php", ".cmake": "cmake", ".ninja": "ninja", ".ini": "tox", ".R": "r", ".exs": "elixir",
}
# Programs that load modules by name, and the endings of these.
_MODULES = {
    **dict.fromkeys("node tsx ts-node bun deno mocha jest vitest nodemon".split(), (".js", ".cjs", ".mjs", ".ts")),
    **dict.fromkeys("ruby rake rspec bundle rails irb".split(), (".rb",)),
    **dict.fromkeys("lua luajit".split(), (".lua",)),
    **dict.fromkeys("perl prove".split(), (".pm", ".pl")),
    **dict.fromkeys("Rscript R".split(), (".R", ".r")),
    **dict.fromkeys(
        "pytest py.test gunicorn uvicorn hypercorn daphne flask celery airflow locust scrapy dagster prefect streamlit django-admin invoke".split(),
        (".py",),
    ),
}
_OF_MODULES = {**dict.fromkeys((".pm", ".pl"), "perl"), ".lua": "lua", ".R": "r", ".r": "r"}
_LOADS: dict[str, list[tuple[frozenset[str], tuple[str, ...], str]]] = {}


def loads(name: str) -> list[tuple[frozenset[str], tuple[str, ...], str]]:
    """What a program loads by itself: (first words that do, file patterns, language)."""
    if not _LOADS:
        for programs, verbs, patterns, language in _ROWS:
            for program in programs.split():
                _LOADS.setdefault(program, []).append((frozenset(verbs.split()), tuple(patterns.split()), language))
    return _LOADS.get(name, [])


def loaded(call: Call, scene: Scene) -> Iterator[Effect]:
    """Effects of the files of these names that the same text wrote, when this call loads them."""
    written = [path for path, text in scene.files.items() if scene.sources.get(path) != GIVEN and (text or scene.sources.get(path) == "network")]
    yield from _settings(call, scene) if written else ()
    if written and call.name in _MODULES:
        yield from _modules(call, scene, written)
    rows = loads(call.name) if written else []
    if not rows:
        return
    verb = next((word.text or "" for word in call.argv if not (word.text or "-").startswith("-")), "")
    here = call.invocation.cwd.text or scene.workspace
    named = {absolute((word.text or "").rpartition("=")[2].removeprefix("@"), call.invocation) for word in call.argv}  # `-c FILE`, `--config=FILE`
    for verbs, patterns, language in rows:
        if verbs and verb not in verbs:
            continue
        for path in written:
            found = _fits(path, patterns) and (inside(path, here) or inside(path, scene.workspace))
            if found or (path in named and _LANGUAGES.get(posixpath.splitext(path)[1]) == language):
                yield from _read(path, call, scene, language)


_SSH = frozenset("ssh scp sftp autossh mosh sshfs ssh-copy-id".split())


def _settings(call: Call, scene: Scene) -> Iterator[Effect]:
    """Configuration files that a call names and that name commands: `ssh -F FILE`, `--kubeconfig FILE`."""
    from .pointed import kube_login, ssh_settings, written

    texts = [word.text or "" for word in call.argv]
    for at, text in enumerate(texts):
        name, equals, value = text.partition("=")
        value = value if equals else texts[at + 1] if at + 1 < len(texts) else ""
        if name == "--kubeconfig":
            yield from kube_login(written(value, call, scene) or "", call, scene)
        elif call.name in _SSH and text.startswith("-F"):
            yield from ssh_settings(written(text[2:] or value, call, scene) or "", call, scene)


def _modules(call: Call, scene: Scene, written: list[str]) -> Iterator[Effect]:
    """Modules that a call names: `require("./evil")`, `-r./evil`, `evil:app`, `FLASK_APP=evil`."""
    values = [field.text or "" for name, field in (*call.invocation.env, *call.invocation.assignments) if name not in ("PATH", "HOME", "PWD", "USER")]
    texts = [*(re.sub(r"^-[Mmr]", "", word.text or "") for word in call.argv), *values]
    for path in written:
        stem, ending = posixpath.splitext(posixpath.basename(path))
        if ending in _MODULES[call.name] and stem and any(re.search(rf"(?<!\w){re.escape(stem)}(?!\w)", text) for text in texts):
            yield from _read(path, call, scene, _OF_MODULES.get(ending) or _LANGUAGES[ending])


def _fits(path: str, patterns: tuple[str, ...]) -> bool:
    name = posixpath.basename(path)
    return any(fnmatchcase(path, f"*/{pattern}") if "/" in pattern else fnmatchcase(name, pattern) for pattern in patterns)


def _read(path: str, call: Call, scene: Scene, language: str) -> Iterator[Effect]:
    from .program_text import read_code
    from .scripts import opaque

    text = scene.files[path]
    if posixpath.basename(path) in call.origin:
        return  # a test that runs the tests
    if scene.sources.get(path) == "network":
        yield opaque(call, "network", f"{posixpath.basename(path)} is fetched by the same line and loaded", language=language)
    elif text is not None and len(call.origin) < 12:
        inner = call.replace(certainty=weakest(call.certainty, Certainty.POSSIBLE), origin=(*call.origin, posixpath.basename(path)))
        for effect in read_code(text, inner, scene, language, (), path):
            if effect.kind in _COUNTS and not effect.target.dynamic and _counts(effect):
                yield effect


def _counts(effect: Effect) -> bool:
    """Requests count when they carry a secret away: a test talks to whatever it likes."""
    if effect.kind is EffectKind.NET_UPLOAD:
        return effect.has("secret") or effect.get("upload") in ("secret", "env")
    return not (effect.kind is EffectKind.INFRA_DESTROY and effect.get("tool") in ("http", "graphql"))


def tox_effects(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """The commands of a tox.ini; what tox puts for `{..}` is not known."""
    unknown = Field(Known.DYNAMIC, reason="set by tox", origins=(Origin("variable", "tox"),))
    for match in re.finditer(r"(?m)^commands(?:_pre|_post)?\s*=((?:.*)(?:\n[ \t]+.*)*)", text):
        for line in match[1].replace("\\\n", " ").split("\n"):
            command = re.sub(r"\{[^}]*\}", "${1}", line.strip().lstrip("-! "))
            if command and not command.startswith("#"):
                yield from scene.nested_shell(command, call, positional=(literal("sh"), unknown), via="tox")


def ninja_effects(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """The commands of the rules of a ninja file; what ninja puts for `$in` and other names is not known."""
    unknown = Field(Known.DYNAMIC, reason="set by ninja", origins=(Origin("variable", "ninja"),))
    for match in re.finditer(r"(?m)^[ \t]+command[ \t]*=[ \t]*((?:.*\$\n)*.*)$", text):
        command = re.sub(r"\$(?:\{\w+\}|\w+)", "${1}", match[1].replace("$\n", " ").replace("$$", "\\$"))
        yield from scene.nested_shell(command, call, positional=(literal("sh"), unknown), via="ninja")


def msbuild_effects(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """The commands that a project file of .NET runs while it builds."""
    unknown = Field(Known.DYNAMIC, reason="set by msbuild", origins=(Origin("variable", "msbuild"),))
    for match in re.finditer(r"""<Exec\s[^>]*\bCommand\s*=\s*(?:"([^"]*)"|'([^']*)')""", text):
        command = (match[1] or match[2] or "").replace("&quot;", '"').replace("&apos;", "'").replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
        yield from scene.nested_shell(re.sub(r"[$@%]\([^)]*\)", "${1}", command), call, positional=(literal("sh"), unknown), via="msbuild")


__all__ = ["loaded", "loads", "msbuild_effects", "ninja_effects", "tox_effects"]
