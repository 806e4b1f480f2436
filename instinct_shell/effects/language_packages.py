"""Package managers of other languages: cargo, go, gem, bundler, composer, maven, gradle, dotnet, mix, swift, dart ... and release tools."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from .call import Call, Program, Scene
from .infra import dry_run, infra
from .packages import everything, install, manager_file, project_script, publish
from .platform_packages import GLOBAL, dotnet, hook_installer, jvm, mix, releaser
from .roles import file_effects
from .verbs import shown, split, thing, variables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def cargo(call: Call, scene: Scene) -> Iterator[Effect]:
    """cargo [+toolchain] VERB."""
    words = split(
        call.argv,
        "-p --package --manifest-path --target --target-dir --features -F -j --jobs --color -Z --config -C --profile "
        "--bin --example --test --bench --git --branch --tag --rev --path --version --vers --registry --index --root "
        "--out-dir --token --message-format --rename",
    )
    if words.verb().startswith("+"):
        words = words.replace(words=words.words[1:])
    verb = words.verb()
    if dry_run(words) or words.has("-h", "--help"):
        return
    index = shown(words.value("--registry", "--index"))
    git = words.value("--git")
    if verb == "install":
        if words.value("--path") is not None:
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing(words.value("--path")), GLOBAL, manager="cargo", name=".", source="path")
        elif git is not None:
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing(git), GLOBAL, manager="cargo", name=shown(git), source="git")
        else:
            yield from install(call, scene, "cargo", words.words[1:], index=index, **GLOBAL)
    elif verb == "add":
        if git is not None:
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing(git), manager="cargo", name=shown(git), source="git")
        elif words.value("--path") is None:
            yield from install(call, scene, "cargo", words.words[1:], index=index)
        yield from manager_file(call, scene, "Cargo.toml", "cargo")
        yield from manager_file(call, scene, "Cargo.lock", "cargo")
    elif verb in ("update", "generate-lockfile", "remove", "rm", "vendor", "fetch"):
        yield from manager_file(call, scene, "Cargo.lock", "cargo")
    elif verb == "clean":
        folder = words.value("--target-dir") or literal("target")
        yield from file_effects(call, scene, EffectKind.FILE_DELETE, folder, recursive="1", build="1")
    elif verb in ("publish", "owner", "yank"):
        yield publish(call, "cargo", verb=verb)
    elif verb == "watch":
        from .node_tools import cargo_watch

        at = next((index for index, word in enumerate(call.argv) if word.text == "watch"), 0)
        yield from cargo_watch(call, scene, call.argv[at + 1 :])
    elif verb in ("run", "r", "build", "b", "test", "t", "check", "c", "bench", "clippy", "doc", "nextest", "make", "xtask"):
        yield from project_script(call, scene, "Cargo.toml", "cargo", verb)
    elif verb in ("sqlx", "diesel"):
        yield from scene.nested_argv(words.words, call, via="cargo")


def go(call: Call, scene: Scene) -> Iterator[Effect]:
    """go VERB."""
    words = split(
        call.argv,
        "-C -o -run -bench -count -timeout -tags -ldflags -gcflags -mod -modfile -p -exec -toolexec -coverprofile "
        "-cpuprofile -memprofile -fuzz -fuzztime -covermode -asmflags -overlay",
        long_single=True,
    )
    verb = words.verb()
    for option in ("-exec", "-toolexec"):
        program = words.value(option)
        if program is not None and program.text is not None:
            yield from scene.nested_shell(program.text, call, via=f"go {option}")
    output = words.value("-o")
    if output is not None:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, output)
    if verb in ("install", "get"):
        names = tuple(word for word in words.words[1:] if "." in shown(word).split("/")[0] and not shown(word).startswith("./"))
        bin_folder = variables_of(call, scene).get("GOBIN")
        own = bin_folder is not None and bin_folder.text is not None and scene.is_writable(bin_folder.text)
        place = GLOBAL if verb == "install" and not own else {}
        for word in names:
            name, _, version = shown(word).partition("@")
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing(name), place, manager="go", name=name, version=version, source="registry")
        if verb == "get":
            yield from manager_file(call, scene, "go.mod", "go")
            yield from manager_file(call, scene, "go.sum", "go")
    elif verb == "run" and len(words.words) > 1:
        what = words.words[1]
        if "@" in shown(what):
            name, _, version = shown(what).partition("@")
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing(name), manager="go", name=name, version=version, source="registry", run="1")
        else:
            yield from file_effects(call, scene, EffectKind.CODE_SCRIPT, what, language="go")
            if scene.files:
                from .plain_code import compiled

                yield from compiled(call, scene, words.words[1:], "go")
    elif verb == "mod" and words.verb(1) in ("tidy", "edit", "init", "vendor"):
        yield from manager_file(call, scene, "go.mod", "go")
        yield from manager_file(call, scene, "go.sum", "go")
    elif verb == "generate":
        yield from project_script(call, scene, ".", "go", "generate")
    elif verb == "clean":
        if words.has("-modcache", "-cache", "-testcache", "-fuzzcache"):
            yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, "go clean"))
    elif verb == "env" and words.has("-w", "-u"):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(f"{scene.home}/.config/go/env"))
    elif verb in ("test", "build", "vet", "fmt", "list", "version", "doc", "tool", "fix"):
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, f"go {verb}"))


def ruby_packages(call: Call, scene: Scene) -> Iterator[Effect]:
    """gem and bundle."""
    words = split(
        call.argv,
        "-v --version -s --source -i --install-dir -n --bindir -p --platform --path --gemfile -j --jobs --without --with "
        "-g --group --git --branch --key -k --host --otp -r --require",
    )
    verb = words.verb()
    if words.has("-h", "--help") or dry_run(words):
        return
    index = shown(words.value("-s", "--source"))
    if call.name == "gem":
        if verb in ("install", "i", "update"):
            version = shown(words.value("-v", "--version"))
            place = {} if words.has("--user-install") or words.value("-i", "--install-dir") is not None else GLOBAL
            yield from install(
                call,
                scene,
                "gem",
                words.words[1:] or (literal(""),),
                style="colon" if ":" in words.verb(1) else "plain",
                index=index,
                **place,
                **({"pinned": version} if version else {}),
            )
        elif verb in ("push", "owner", "yank", "signin"):
            yield (
                infra(call, EffectKind.INFRA_DESTROY, "gem", "yank", words.verb(1))
                if verb == "yank"
                else publish(call, "gem", words.verb(1), verb=verb)
            )
        elif verb in ("uninstall", "cleanup"):
            yield call.effect(EffectKind.PACKAGE_INSTALL, thing(words.verb(1)), GLOBAL, manager="gem", name=words.verb(1), action="remove")
        elif verb == "exec" and len(words.words) > 1:
            yield from install(call, scene, "gem", words.words[1:2], style="plain", run="1")
        return
    if verb in ("exec", "e"):
        inner = split(call.argv, "--gemfile", stop=2)
        if len(inner.words) > 1:
            yield from scene.nested_argv(inner.words[1:], call, via="bundle exec")
    elif verb == "add":
        yield from install(call, scene, "bundler", words.words[1:], style="plain", index=index)
        yield from manager_file(call, scene, "Gemfile", "bundler")
        yield from manager_file(call, scene, "Gemfile.lock", "bundler")
    elif verb in ("install", "i", "update", "lock", "remove", ""):
        yield everything(call, "bundler", "lockfile", index)
        yield from manager_file(call, scene, "Gemfile.lock", "bundler")


def composer(call: Call, scene: Scene) -> Iterator[Effect]:
    """composer VERB."""
    words = split(call.argv, "-d --working-dir --repository -W= --timeout --prefer-install --stability -s")
    if words.verb() == "global":
        words = words.replace(words=words.words[1:], flags=(*words.flags, "--global"))
    verb = words.verb()
    place = GLOBAL if words.has("--global", "-g") else {}
    if dry_run(words) or words.has("-h", "--help"):
        return
    if verb in ("require", "req", "r", "create-project"):
        names = words.words[1:2] if verb == "create-project" else words.words[1:]
        yield from install(call, scene, "composer", names, style="colon", index=shown(words.value("--repository")), **place)
    if verb in ("require", "req", "r", "update", "up", "u", "remove", "install", "i", "upgrade"):
        if verb in ("install", "i", "update", "up", "u", "upgrade"):
            yield everything(call, "composer", "lockfile", "", **place)
        if not place:
            yield from manager_file(call, scene, "composer.lock", "composer")
    elif verb in ("run-script", "run", "exec", "test"):
        yield from project_script(call, scene, "composer.json", "composer", words.verb(1))
    elif verb == "config" and len(words.words) > 2:
        yield from manager_file(call, scene, "composer.json", "composer")


def verbs_of(call: Call, scene: Scene) -> Iterator[Effect]:
    """Smaller managers: install NAME, publish, by the table below."""
    installs, adds, publishes, lock = _SMALL[call.name]
    words = split(
        call.argv,
        "-v --version --source -s --path --git --repo --server --local-tree --tree -n --name --registry --hosted --url -p --package",
    )
    texts = [word.text or "" for word in words.words]
    line = " ".join(texts[:2])
    if words.has("-h", "--help") or dry_run(words):
        return
    if line in publishes or (texts and texts[0] in publishes):
        yield publish(call, call.name, texts[-1] if len(texts) > 1 else "")
    elif line in installs or (texts and texts[0] in installs):
        depth = 2 if line in installs else 1
        names = words.words[depth:]
        yield from (
            install(call, scene, call.name, names, style="at", **({} if words.has("--local", "--path") else GLOBAL))
            if names
            else iter((everything(call, call.name, "manifest"),))
        )
    elif line in adds or (texts and texts[0] in adds):
        names = words.words[2 if line in adds else 1 :]
        yield from install(call, scene, call.name, names, style="colon") if names else iter((everything(call, call.name, "manifest"),))
        if lock:
            yield from manager_file(call, scene, lock, call.name)
    elif texts and texts[0] in ("run", "test", "build", "exec"):
        yield from project_script(call, scene, ".", call.name, texts[0])


# name -> (verbs that install for the whole user, verbs that add to the project, verbs that publish, lockfile)
_SMALL: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], str]] = {
    "luarocks": (("install", "build", "make"), (), ("upload",), ""),
    "cpan": (("install",), (), (), ""),
    "cpanm": ((), (), (), ""),
    "cpm": (("install",), (), (), ""),
    "cabal": (("install",), (), ("upload",), ""),
    "stack": (("install",), (), ("upload",), ""),
    "opam": (("install", "upgrade"), (), ("publish",), ""),
    "rebar3": ((), ("get-deps", "upgrade"), ("hex publish",), "rebar.lock"),
    "dart": (("pub global", "install"), ("pub add", "pub get", "pub upgrade"), ("pub publish",), "pubspec.lock"),
    "flutter": ((), ("pub add", "pub get", "pub upgrade"), ("pub publish",), "pubspec.lock"),
    "pod": ((), ("install", "update"), ("trunk push", "repo push"), "Podfile.lock"),
    "carthage": ((), ("update", "bootstrap"), (), "Cartfile.resolved"),
    "swift": ((), ("package update", "package resolve"), ("package-registry publish",), "Package.resolved"),
    "conan": (("install",), (), ("upload",), "conan.lock"),
    "vcpkg": (("install",), ("add",), (), ""),
    "nuget": (("install",), ("restore",), ("push",), ""),
    "julia-pkg": (("add",), (), (), ""),
    "raco": (("pkg install",), (), (), ""),
    "zef": (("install",), (), (), ""),
    "shards": ((), ("install", "update"), (), "shard.lock"),
    "nimble": (("install",), (), ("publish",), ""),
    "dub": ((), ("add", "upgrade"), (), "dub.selections.json"),
    "spack": (("install",), (), (), ""),
    "rustup": (("toolchain install", "component add", "target add", "default", "install", "update"), (), (), ""),
    "ghcup": (("install",), (), (), ""),
    "elan": (("toolchain install",), (), (), ""),
    "bower": ((), ("install", "update"), ("register",), ""),
    "jspm": ((), ("install",), (), ""),
    "tsd": ((), ("install",), (), ""),
    "jsr": ((), ("add",), ("publish",), ""),
    "vsce": ((), (), ("publish",), ""),
    "ovsx": ((), (), ("publish",), ""),
    "apm": (("install",), (), ("publish",), ""),
    "web-ext": ((), (), ("sign",), ""),
    "lerna": ((), ("bootstrap", "add"), ("publish",), ""),
    "changeset": ((), (), ("publish",), ""),
    "semantic-release": ((), (), (), ""),
    "release-it": ((), (), (), ""),
    "np": ((), (), (), ""),
    "goreleaser": ((), (), ("release",), ""),
    "standard-version": ((), (), (), ""),
    "nx": ((), (), ("release",), ""),
    "pre-commit": ((), (), (), ""),
    "husky": ((), (), (), ""),
    "lefthook": ((), (), (), ""),
    "simple-git-hooks": ((), (), (), ""),
}


def cpanm(call: Call, scene: Scene) -> Iterator[Effect]:
    """cpanm NAME..."""
    words = split(call.argv, "-l --local-lib -L --local-lib-contained -M --mirror --from")
    yield from install(
        call,
        scene,
        "cpanm",
        words.words,
        style="at",
        **({} if words.value("-l", "-L", "--local-lib", "--local-lib-contained") is not None else GLOBAL),
    )


_OWN = {
    "swift",
    "cpanm",
    "semantic-release",
    "release-it",
    "np",
    "pre-commit",
    "husky",
    "lefthook",
    "simple-git-hooks",
    "standard-version",
    "julia-pkg",
}

def swift(call: Call, scene: Scene) -> Iterator[Effect]:
    """swift VERB, and `swift -e CODE`."""
    for at, word in enumerate(call.argv[:-1]):
        if word.text == "-e":
            from .plain_code import plain_word

            yield from plain_word(call, scene, call.argv[at + 1], "swift")
            return
    yield from verbs_of(call, scene)


PROGRAMS: tuple[Program, ...] = (
    Program(("swift",), style="raw", describe=swift, summary="Swift packages and builds"),
    Program(("cargo",), style="raw", describe=cargo, summary="Rust packages and builds"),
    Program(("go",), style="raw", describe=go, summary="Go modules and builds"),
    Program(("gem", "bundle", "bundler"), style="raw nohelp", describe=ruby_packages, summary="Ruby packages"),
    Program(("composer",), style="raw", describe=composer, summary="PHP packages"),
    Program(
        ("mvn", "mvnw", "gradle", "gradlew", "sbt", "lein", "ant", "mill", "kotlinc-build"),
        style="raw",
        describe=jvm,
        summary="builds of the JVM",
    ),
    Program(("dotnet",), style="raw", describe=dotnet, summary=".NET packages and builds"),
    Program(("mix",), style="raw", describe=mix, summary="Elixir packages and tasks"),
    Program(tuple(name for name in _SMALL if name not in _OWN), style="raw", describe=verbs_of, summary="packages of a language"),
    Program(("cpanm",), style="raw", describe=cpanm, summary="Perl packages"),
    Program(("semantic-release", "release-it", "np"), style="raw", describe=releaser, summary="publishes a release"),
    Program(
        ("pre-commit", "husky", "lefthook", "simple-git-hooks"), style="raw", describe=hook_installer, summary="git hooks of a project"
    ),
    Program(("standard-version",), style="raw", summary="writes a changelog and a tag"),
)
__all__ = ["PROGRAMS", "Field"]
