"""Builds and packages of the JVM, .NET and Elixir; release tools and installers of git hooks."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind
from ..shell.invocation import literal
from .call import Call, Scene
from .infra import infra
from .packages import everything, install, manager_file, project_script, publish
from .roles import file_effects
from .verbs import shown, split, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def jvm(call: Call, scene: Scene) -> Iterator[Effect]:
    """mvn, gradle, sbt, lein: the project's build; deploy and publish leave the machine."""
    words = split(
        call.argv,
        "-f --file -p --project-dir -b --build-file -P --project-prop -D -pl -s --settings -I --init-script -c "
        "--settings-file -x --exclude-task -t --threads -T --tests --console",
    )
    texts = [word.text or "" for word in words.words]
    if words.has("-h", "--help", "-v", "--version", "-m", "--dry-run") or (words.has("-n") and call.name == "ant"):
        return
    for text in texts:
        last = text.rsplit(":", 1)[-1]
        if last in (
            "deploy",
            "publish",
            "publishToMavenCentral",
            "release:perform",
            "publishPlugins",
            "bintrayUpload",
            "uploadArchives",
            "publishAllPublicationsToMavenRepository",
        ) or text in ("release:perform", "deploy:deploy-file"):
            yield publish(call, call.name, text)
        elif (
            text.startswith("exec:")
            or last in ("flywayClean", "dropAll", "liquibaseDropAll")
            or text in ("flyway:clean", "liquibase:dropAll")
        ):
            if "lean" in text or "rop" in text:
                yield call.effect(EffectKind.DB_DROP, thing(text), engine="orm", tool=call.name, statement=text)
    file = {
        "mvn": "pom.xml",
        "mvnw": "pom.xml",
        "gradle": "build.gradle",
        "gradlew": "build.gradle",
        "sbt": "build.sbt",
        "lein": "project.clj",
        "ant": "build.xml",
    }.get(call.name, "build")
    yield from project_script(
        call, scene, shown(words.value("-f", "--file", "-b", "--build-file")) or file, call.name, " ".join(texts)[:60]
    )


def dotnet(call: Call, scene: Scene) -> Iterator[Effect]:
    """dotnet VERB."""
    words = split(
        call.argv,
        "-c --configuration -f --framework -o --output -p --project -r --runtime -v --verbosity -s --source --version "
        "--api-key -k --package-directory --connection --context",
    )
    texts = [word.text or "" for word in words.words]
    line = " ".join(texts[:2])
    index = shown(words.value("-s", "--source"))
    if line == "nuget push":
        yield publish(call, "dotnet", texts[2] if len(texts) > 2 else "", index=index)
    elif line == "nuget delete":
        yield infra(call, EffectKind.INFRA_DESTROY, "dotnet", "nuget delete", texts[-1])
    elif "add" in texts[:3] and "package" in texts:
        at = texts.index("package")
        yield from install(call, scene, "nuget", words.words[at + 1 : at + 2], style="plain", index=index)
    elif line == "tool install":
        yield from install(
            call, scene, "nuget", words.words[2:3], style="plain", index=index, **(GLOBAL if words.has("-g", "--global") else {})
        )
    elif texts[:1] == ["ef"]:
        from .orms import apply_tool

        yield from apply_tool(call, scene, "dotnet-ef", words.words[1:])
    elif texts[:1] in (["run"], ["build"], ["test"], ["publish"], ["restore"], ["watch"], ["msbuild"]):
        yield from project_script(call, scene, shown(words.value("-p", "--project")) or ".", "dotnet", texts[0])
    elif texts[:1] == ["user-secrets"] and "list" in texts:
        yield call.effect(EffectKind.SECRET_READ, thing("user-secrets"), store="dotnet", prints="1")


def mix(call: Call, scene: Scene) -> Iterator[Effect]:
    """mix TASK: hex packages and ecto's verbs."""
    from .orms import apply_tool

    yield from apply_tool(call, scene, "mix")
    verb = shown(call.argv[0]) if call.argv else ""
    if verb in ("hex.publish", "hex.retire", "hex.owner"):
        yield publish(call, "hex", verb=verb)
    elif verb in ("deps.get", "deps.update", "deps.compile"):
        yield everything(call, "hex", "lockfile")
        yield from manager_file(call, scene, "mix.lock", "mix")
    elif verb in ("archive.install", "escript.install"):
        yield from install(
            call, scene, "hex", tuple(word for word in call.argv[1:] if not shown(word).startswith("-"))[-1:], style="plain", **GLOBAL
        )
    elif (verb in ("run", "eval") and any(word.text in ("-e", "--eval") for word in call.argv)) or verb == "eval":
        from .plain_code import plain_word

        yield from plain_word(call, scene, call.argv[-1], "elixir")
    elif verb:
        yield from project_script(call, scene, "mix.exs", "mix", verb)


def releaser(call: Call, scene: Scene) -> Iterator[Effect]:
    """Tools whose bare call publishes a release."""
    words = split(call.argv, "-b --branches -c --config -e --extends -p --plugins")
    if not words.has("-d", "--dry-run", "-h", "--help", "--preview", "--version", "--ci=false"):
        yield publish(call, call.name, "release")


def hook_installer(call: Call, scene: Scene) -> Iterator[Effect]:
    """pre-commit install, husky, lefthook install: write git hooks that the host runs later."""
    words = split(call.argv, "-t --hook-type -c --config -f")
    verb = words.verb()
    if (call.name in ("pre-commit", "lefthook") and verb in ("install", "uninstall", "init-templatedir", "add")) or call.name in (
        "husky",
        "simple-git-hooks",
    ):
        if call.name == "husky" and verb not in ("", "install", "init", "add", "set"):
            return
        folder = ".husky" if call.name == "husky" else ".git/hooks"
        for effect in file_effects(
            call,
            scene,
            EffectKind.FILE_WRITE,
            literal(f"{folder}/{shown(words.value('-t', '--hook-type')) or 'pre-commit'}"),
            by_manager=call.name,
        ):
            yield effect.replace(kind=EffectKind.GIT_HOOK)
    elif verb in ("run", "try-repo", "autoupdate"):
        if verb == "try-repo":
            yield call.effect(
                EffectKind.PACKAGE_INSTALL, thing(words.verb(1)), manager="pre-commit", name=words.verb(1), source="git", run="1"
            )
        else:
            yield from project_script(call, scene, ".pre-commit-config.yaml", call.name, verb)
            if call.name == "pre-commit" and call.invocation.cwd.text:
                from .projects import pre_commit

                yield from pre_commit(call, scene, call.invocation.cwd.text)


GLOBAL = {"global": "1"}
