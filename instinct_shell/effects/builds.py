"""Build tools and task runners: they run what the project's files say, so each is a `code.script` of that file for the gate to look at."""

from __future__ import annotations

import posixpath
import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..model.value import Value
from ..shell.invocation import Field, Known, literal
from .call import Call, Program, Scene
from .hijack import is_make_text
from .output import stdin_text
from .program_text import run_script
from .projects import run_tasks, task_file
from .roles import file_effects
from .scripts import opaque, printed
from .verbs import shown, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def folder_of(call: Call, folder: Field | None) -> Field | None:
    """The directory that an option names, absolute; None without the option."""
    base = call.invocation.cwd.text
    if folder is not None and folder.text is not None and (base is not None or folder.text.startswith("/")):
        return literal(posixpath.join(base or "/", folder.text))
    return folder


def make(call: Call, scene: Scene) -> Iterator[Effect]:
    """make [-C DIR] [-f FILE] [VAR=VALUE] [TARGET...]; -n, -q and --version run nothing (but `$(shell ..)` and `+` lines of the file do)."""
    words = split(
        call.argv,
        "-C --directory -f --file --makefile -I --include-dir -o --old-file -W --what-if --eval -E -j= --jobs= -l= -O= --output-sync=",
    )
    cwd = folder_of(call, words.value("-C", "--directory")) or call.invocation.cwd
    inside = call.replace(invocation=call.invocation.replace(cwd=cwd))
    named = [(name.rstrip(":?+"), value) for name, equals, value in (shown(word).partition("=") for word in words.words) if equals]
    for name, value in named:
        if name in ("SHELL", "MAKE") and value:
            yield from _other_shell(inside, scene, value, f"make {name}")
        elif name == ".SHELLFLAGS" and not re.fullmatch(r"(?:-[a-z]+ |-?o pipefail |pipefail )*-[a-z]*c", value.strip()):
            yield from scene.nested_shell(f"sh {value}", inside, via="make .SHELLFLAGS")
        elif name == "MAKEFLAGS" and is_make_text(value):
            yield call.effect(EffectKind.ENV_HIJACK, Target(TargetKind.NAME, name), variable=name, value=value[:120])
    entry = " ".join(shown(word) for word in words.words if "=" not in shown(word))
    dry = "1" if words.has("-n", "--just-print", "--dry-run", "--recon", "-q", "--question") else ""
    for field in (*words.all("--eval", "-E"), *_given_text(call)):
        yield from _make_text(inside, scene, field.text, "text", entry, named, dry)
    for field in words.all("-f", "--file", "--makefile") or (literal("Makefile"),):
        if field.text in ("-", "/dev/stdin", "/dev/fd/0"):
            yield from _make_text(inside, scene, stdin_text(call.invocation, scene), "stdin", entry, named, dry)
        elif field.known is Known.DYNAMIC and field.origins:
            yield from _make_text(inside, scene, printed(field, scene), "generated", entry, named, dry)
        else:
            yield from task_file(call, scene, shown(field), "make", entry, cwd, tuple(named), dry=dry)


def _other_shell(call: Call, scene: Scene, value: str, via: str) -> Iterator[Effect]:
    """The program that runs the recipes: a shell of the system runs them anyway, any other one is a command of its own."""
    if not re.fullmatch(r"(?:/usr/local/bin/|/usr/bin/|/bin/)?(?:[kz]?sh|bash|dash|ash|g?make)(?: -[a-z]+)*", value.strip()):
        yield from scene.nested_shell(value, call, via=via)


def _given_text(call: Call) -> Iterator[Field]:
    """Makefile text in the variables that make takes its options from: `MAKEFLAGS='--eval=..' make`."""
    for name, field in (*call.invocation.env, *call.invocation.assignments):
        if name in ("MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS") and field.text and "--eval=" in field.text:
            text = field.text.partition("--eval=")[2]
            yield literal(re.sub(r"\\(.)", r"\1", re.split(r"(?<!\\) ", text)[0]))


def _make_text(call: Call, scene: Scene, text: str | None, source: str, entry: str, named: list[tuple[str, str]], dry: str) -> Iterator[Effect]:
    """A makefile that stands in no file."""
    if text is None:
        yield opaque(call, source, "the makefile comes from elsewhere", language="make")
    else:
        yield from run_tasks(call, scene, "make", text, entry, "", tuple(named), dry=dry)


class Runner(Value):
    """A task runner: its file, options with arguments, words that only look."""

    file: str
    options: str = ""
    looks: str = ""


RUNNERS: dict[str, Runner] = {
    "just": Runner(
        "justfile",
        "-f --justfile -d --working-directory --set --shell -E --dotenv-path",
        "--list -l --show --summary --dump --evaluate -n --dry-run --fmt --choose= --variables",
    ),
    "task": Runner(
        "Taskfile.yml",
        "-t --taskfile -d --dir -o --output -c --concurrency",
        "--list -l --list-all -a --summary --dry -n --status --init -i",
    ),
    "gulp": Runner("gulpfile.js", "-f --gulpfile --cwd", "-T --tasks --tasks-simple"),
    "grunt": Runner("Gruntfile.js", "--gruntfile --base"),
    "ninja": Runner("build.ninja", "-C -f -j -k -l -d -t -w", "-n"),
    "cmake": Runner("CMakeLists.txt", "-S -B -G -D -T -A -C --preset --target -t --config --build --install --prefix -j"),
    "ctest": Runner("CTestTestfile.cmake", "-R -E -L -j -C --test-dir", "-N"),
    "meson": Runner("meson.build", "-C --prefix --buildtype", "introspect"),
    "bazel": Runner("BUILD", "--config -c", "query cquery aquery info version help"),
    "bazelisk": Runner("BUILD", "--config -c", "query info"),
    "buck2": Runner("BUCK", "", "query"),
    "pants": Runner("BUILD", "", "list help"),
    "scons": Runner("SConstruct", "-f -C -j", "-n"),
    "waf": Runner("wscript"),
    "tup": Runner("Tupfile"),
    "earthly": Runner("Earthfile", "-f"),
    "dagger": Runner("dagger.json"),
    "act": Runner(".github/workflows", "-W -e -s -j -P --secret-file", "-l --list -n --dryrun"),
    "nox": Runner("noxfile.py", "-f -s -e", "-l --list"),
    "tox": Runner("tox.ini", "-e -c --conf", "-l --listenvs list config"),
    "invoke": Runner("tasks.py", "-c -r", "-l --list"),
    "inv": Runner("tasks.py", "-c -r", "-l --list"),
    "doit": Runner("dodo.py", "-f", "list"),
    "turbo": Runner("turbo.json", "--filter -F --concurrency --cwd", "--dry --dry-run"),
    "lage": Runner("lage.config.js"),
    "wireit": Runner("package.json"),
    "moon": Runner(".moon/workspace.yml", "", "query"),
    "mage": Runner("magefile.go", "", "-l"),
    "npm-run-all": Runner("package.json"),
    "run-s": Runner("package.json"),
    "run-p": Runner("package.json"),
    "wsrun": Runner("package.json"),
    "ultra": Runner("package.json"),
    "snakemake": Runner("Snakefile", "-s -j -c --cores --configfile -d", "-n --dry-run --dryrun"),
    "nextflow": Runner("main.nf"),
    "foreman": Runner("Procfile", "-f -e"),
    "overmind": Runner("Procfile", "-f"),
    "hivemind": Runner("Procfile"),
    "honcho": Runner("Procfile", "-f -e"),
    "goreman": Runner("Procfile", "-f"),
    "autoreconf": Runner("configure.ac"),
    "qmake": Runner("."),
    "xcodebuild": Runner("."),
    "rspec": Runner("spec"),
}


def runner(call: Call, scene: Scene) -> Iterator[Effect]:
    """A task runner or build tool: its file runs."""
    row = RUNNERS[call.name]
    words = split(call.argv, row.options)
    if words.has("-h", "--help", "--version", *row.looks.split()) or words.verb() in row.looks.split():
        return
    if call.name == "cmake" and words.has("-E"):
        yield from _cmake_tool(call, scene)
        return
    if call.name == "cmake" and words.has("-P"):
        at = next((index for index, word in enumerate(call.argv) if word.text == "-P"), len(call.argv))
        for field in call.argv[at + 1 : at + 2]:
            yield from run_script(call, scene, field, "cmake", tuple(call.argv[at + 2 :]))
        return
    if call.name in ("foreman", "honcho") and words.verb() == "run":
        yield from scene.nested_argv(words.words[1:], call, via=call.name)
        return
    if call.name == "cmake" and words.value("--install") is not None:
        prefix = words.value("--prefix")
        yield from file_effects(call, scene, EffectKind.FILE_CREATE, prefix or literal("/usr/local"), recursive="1")
    file = next(
        (
            shown(field)
            for option, field in words.values
            if option in ("-f", "--file", "--justfile", "--taskfile", "-t", "--gulpfile", "-s", "-W") and shown(field)
        ),
        row.file,
    )
    folder = words.value("-C", "-d", "--working-directory", "--dir", "--cwd")
    language = "npm" if row.file == "package.json" else call.name
    yield from task_file(
        call, scene, file, language, " ".join(shown(word) for word in words.words if "=" not in shown(word))[:120], folder_of(call, folder)
    )


def _cmake_tool(call: Call, scene: Scene) -> Iterator[Effect]:
    """cmake -E rm -rf x, copy, env ...: small portable commands."""
    at = next((index for index, word in enumerate(call.argv) if word.text == "-E"), 0)
    rest = call.argv[at + 1 :]
    verb = shown(rest[0]) if rest else ""
    names: dict[str, tuple[Field, ...]] = {
        "rm": (literal("rm"), *rest[1:]),
        "remove": (literal("rm"), *rest[1:]),
        "remove_directory": (literal("rm"), literal("-r"), *rest[1:]),
        "copy": (literal("cp"), *rest[1:]),
        "copy_directory": (literal("cp"), literal("-r"), *rest[1:]),
        "rename": (literal("mv"), *rest[1:]),
        "env": (literal("env"), *rest[1:]),
        "make_directory": (literal("mkdir"), *rest[1:]),
        "touch": (literal("touch"), *rest[1:]),
        "time": rest[1:],
        "chdir": rest[2:],
        "cat": (literal("cat"), *rest[1:]),
        "create_symlink": (literal("ln"), literal("-s"), *rest[1:]),
    }
    if verb in names:
        yield from scene.nested_argv(names[verb], call, via="cmake -E")


def compiler(call: Call, scene: Scene) -> Iterator[Effect]:
    """gcc, clang, rustc, javac, tsc ...: read sources, write what -o names."""
    if call.name == "ghc" and any(word.text == "-e" for word in call.argv[:-1]):
        from .plain_code import plain_word

        at = next(index for index, word in enumerate(call.argv) if word.text == "-e")
        yield from plain_word(call, scene, call.argv[at + 1], "haskell")
        return
    words = split(
        call.argv,
        "-o --output -I -L -l -D -x -include -isystem -MF -MT -B -specs -fplugin -wrapper -d -cp -classpath --out-dir -p "
        "--project --outDir",
        long_single=True,
    )
    for option, field in words.values:
        if option in ("-o", "--output", "-MF", "--out-dir", "--outDir") or (option == "-d" and call.name in ("javac", "kotlinc", "scalac")):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field)
        elif option == "-wrapper":
            yield from scene.nested_argv(tuple(literal(word) for word in shown(field).split(",")), call, via=f"{call.name} -wrapper")
        elif option in ("-fplugin", "-specs", "-B"):
            yield from file_effects(call, scene, EffectKind.FILE_EXECUTE, field)
    if scene.files:
        from .plain_code import compiled

        yield from compiled(call, scene, words.words, call.name)


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("make", "gmake", "bmake", "remake", "nmake", "mingw32-make"), style="raw", describe=make, summary="runs the recipes of a makefile"
    ),
    Program(tuple(RUNNERS), style="raw", describe=runner, summary="runs a project's tasks"),
    Program(
        (
            "gcc",
            "g++",
            "cc",
            "c++",
            "clang",
            "clang++",
            "rustc",
            "javac",
            "kotlinc",
            "scalac",
            "tsc",
            "swiftc",
            "ghc",
            "nvcc",
            "tcc",
            "zig",
            "gfortran",
            "ld",
            "as",
            "nasm",
            "dmd",
            "ldc2",
            "nim",
            "crystal",
            "v",
        ),
        style="raw",
        describe=compiler,
        summary="compiles sources",
    ),
)
