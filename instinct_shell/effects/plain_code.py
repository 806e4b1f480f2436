"""Languages without a reader of their own (R, Julia, Elixir, Tcl, AppleScript ...): literal calls of shells and file functions are
found by their spelling; code that names something dangerous and cannot be read is `code.opaque`, the rest is `code.inline`.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.effect import Certainty, Effect, EffectKind
from ..shell.invocation import Field, Known, literal
from . import flow, output, scripts
from .call import Call, Program, Scene, path_targets
from .powershell import powershell, pwsh
from .program_text import run_script
from .roles import file_effects
from .verbs import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@cache
def _shell_call() -> re.Pattern[str]:
    return re.compile(
        r"(?:\b(?:system2?|shell|exec|popen|Sys\.command|do shell script|executeQuietly|syscmd|esyscmd|run-shell-command|"
        r"process_run|shell-command-to-string|call-process-shell-command|"
        r"os[.:]cmd|:os\.cmd|Unix\.system|Runtime\.getRuntime\(\)\.exec|sys\.process\.Process|os\.proc\.call|qx|readProcess|callCommand|system\*)\b\s*\(?\s*(?:~?c)?)"
        r"(?P<q>[\"'])(?P<t>(?:\\.|(?!(?P=q)).)*)(?P=q)|\brun\(`(?P<j>[^`]*)`|(?P<q2>[\"'])(?P<g>(?:\\.|(?!(?P=q2)).)*)(?P=q2)\s*\.(?:execute\b|!!?)",
        re.DOTALL,
    )


@cache
def _argv_call() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:exec\.Command|Command::new|ProcessBuilder|exec[lv]p?e?|exec\(new String\[\]|"
        r"System\.cmd|Port\.open|system2|processx::run|run-program|start-process|shell/sh|java\.shell/sh|process/shell|call-process)\s*[({]?"
        r"\s*[\"']([^\"']+)[\"']\s*\)?\s*(?:\.args?\(\s*&?\[?)?,?\s*(?:args\s*=\s*)?(?:c\(|\[|'\()?((?:\s*,?\s*(?:\)\s*\.arg\(\s*)?[\"'][^\"']*[\"'])*)"
    )


@cache
def _delete_call() -> re.Pattern[str]:
    return re.compile(
        r"\b(unlink|file\.remove|file_delete|dir_delete|rm|File\.rm_rf!?|File\.rm!?|File\.rmdir!?|deleteFile|removeDirectoryRecursive|removeFile|"
        r"delete-file|delete-directory|file delete(?: -force)?|deleteDir|file:del_dir_r|file:del_dir|file:delete|"
        r"os\.remove\.all|os\.remove|os\.RemoveAll|os\.Remove|remove_dir_all|remove_file|FileUtils\.deleteDirectory|Files\.delete|Sys\.remove)\s*\(?\s*(?:--\s*)?[\"'{]?([~./\w][^\"'){}\s,;]*)"
    )


# Where a language asks for the person's home.
_HOME = (
    r"""\bhomedir\(\)|\bSystem\.user_home!?(?:\(\))?|\bpath\.expand\(\s*["']~["']\s*\)|\bNSHomeDirectory\(\)|\bgetHomeDirectory\b|"""
    r"""\b(?:Sys\.getenv|System\.get_env|os\.getenv|getenv|System\.getenv|Unix\.getenv|Sys\.getenv|uiop:getenv|posix-getenv)[\s(]+["']HOME["']\s*\)?|"""
    r"""(?:std::)?env::var(?:_os)?\(\s*"HOME"\s*\)(?:\.(?:unwrap|expect)\([^)]*\)|\?)?|(?:std::env|env|dirs)::home_dir\(\)(?:\.unwrap\(\))?|"""
    r"""\bSystem\.getProperty\(\s*"user\.home"\s*\)|Environment\.GetFolderPath\(\s*Environment\.SpecialFolder\.UserProfile\s*\)|"""
    r"""\bENV\[\s*["']HOME["']\s*\]|"""
    r"""ProcessInfo\.processInfo\.environment\[\s*["']HOME["']\s*\]!?|\(user-homedir-pathname\)|\(System/getProperty "user\.home"\)"""
)
# A file of the same language that is taken in.
_SOURCES = r"""\b(?:source|include|sys\.source|run|load|use|Code\.require_file|Code\.eval_file|apply\s+from:)\s*\(?\s*["']([^"'\s]+\.\w+)["']"""
# How a language starts a program in its own way.
_OWN_SHELL = {
    "gnuplot": r"(?:^|[;\n])\s*(?:!|shell\s+)([^\n]+)|`([^`\n]+)`|<\s*([^'\"\n]+)(?=['\"])",
    "maxima": r"""\bsystem\s*\(\s*"([^"]*)\"""",
    "raku": r"""\b(?:run|Proc::Async\.new\(?)\s*\(?\s*(?:["'][^"']*["']\s*,?\s*)+""",
}
# Names that only ask a language about itself or the time.
_HARMLESS_NAMES = (
    r"\b(?:system_info|system_version|system_time|monotonic_time|system\.file|system\.time|[sS]ystem\.(?:version|otp_release|build_info|monotonic_time|system_time|os_time|"
    r"schedulers_online|currentTimeMillis|nanoTime|identityHashCode|lineSeparator|out\.print\w*|err\.print\w*)|Sys\.(?:time|Date|info|WORD_SIZE|CPU_THREADS|MACHINE|KERNEL|ARCH|"
    r"isunix|islinux|ocaml_version|word_size|argv)|parse_(?:float|integer)|Integer\.parse\w*|Float\.parse|parse\(Int\w*)"
)
_SHELL_LIKE = frozenset(("nu", "xonsh"))


def _expanded(path: str, scene: Scene) -> str:
    """A leading `~` as the languages take it that know it."""
    return scene.home + path[1:] if path == "~" or path.startswith("~/") else path


@cache
def _delete_method() -> re.Pattern[str]:
    """Deletes that name the path first, as a labelled argument, or as what a listing of a folder gives."""
    return re.compile(
        r"""\b(?:File|Path|Paths\.get|io/file|Path\.of)[\s(]*["'](?P<a>[^"']+)["']\s*\)*\s*\.\s*(?:deleteRecursively|deleteDir|delete|deleteIfExists|deleteOnExit)\b|"""
        r"""\b(?:removeItem|trashItem)\s*\(\s*at(?:Path|URL)?:\s*(?:URL\(\s*fileURLWithPath:\s*)?["'](?P<b>[^"']+)["']|"""
        r"""\b(?:delete-tree|delete-directory-tree|delete-directory-and-files|delete-file|deleteRecursively|deleteDirectory|rmdir|rm-tree)[\s(#p]*["'](?P<c>[^"']+)["']|"""
        r"""\b(?:unlink|file\.remove|rm|file_delete|dir_delete|delete)\s*\(\s*(?:list\.files|list\.dirs|dir_ls|readdir|joinpath\.\(|Path\.wildcard|dir)\s*\(\s*["'](?P<d>[^"']+)["']"""
    )


@cache
def _suspicious() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:system|shell|exec|popen|unlink|remove|delete|rmdir|rm|spawn|run|command|eval|parse|download|url|socket|open|write|source|Process|Runtime|cmd|Sys|Unix|curl|fetch|invoke|load)\w*\b",
        re.IGNORECASE,
    )


def plain_effects(text: str, call: Call, scene: Scene, language: str) -> Iterator[Effect]:
    """Effects of code in such a language."""
    if language == "powershell":
        yield from powershell(text, call, scene)
        return
    yield call.effect(EffectKind.CODE_INLINE, language=language)
    if language in _SHELL_LIKE:
        yield from scene.nested_shell(text, call, via=language)
        return
    found = False
    rest = text = re.sub(_HOME, lambda _: f'"{scene.home}"', text)
    for match in _argv_call().finditer(text):
        found = True
        words = [literal(match[1]), *(literal(word) for word in re.findall(r"[\"']([^\"']*)[\"']", match[2]))]
        if len(words) == 1 and " " in match[1]:
            yield from scene.nested_shell(match[1], call, via=language)
        else:
            yield from scene.nested_argv(tuple(words), call, via=language)
        rest = rest.replace(match[0], " ")
    for match in _shell_call().finditer(rest):
        found = True
        inner = match["t"] or match["j"] or match["g"] or ""
        yield from scene.nested_shell(re.sub(r"\\(.)", r"\1", inner), call, via=language)
        rest = rest.replace(match[0], " ")
    for match in re.finditer(r"""\[((?:\s*["'][^"']*["']\s*,?)+)\](?:\s*as\s+String\[\])?\s*\.execute\(""", rest):
        found = True
        yield from scene.nested_argv(tuple(literal(word) for word in re.findall(r"""["']([^"']*)["']""", match[1])), call, via=language)
    for match in _delete_call().finditer(rest):
        found = True
        if match[1] == "rm" and language == "r":
            continue  # it removes variables
        whole = match[1].endswith(("All", "_all")) or any(part in match[1] for part in ("rf", "irectory", "Dir", "-force", "dir_r"))
        recursive = "1" if whole or "recursive" in rest else ""
        yield from file_effects(call, scene, EffectKind.FILE_DELETE, literal(_expanded(match[2], scene)), recursive=recursive)
    for match in _delete_method().finditer(rest):
        found = True
        path = match["a"] or match["b"] or match["c"] or match["d"]
        everything = "1" if match["d"] or match["c"] or "ecursive" in match[0] or "Dir" in match[0] else ""
        yield from file_effects(call, scene, EffectKind.FILE_DELETE, literal(_expanded(path, scene)), recursive=everything, sweep="1" if match["d"] else "")
    if language == "tcl":
        for match in re.finditer(r"(?:^|[;\[\n]|\b)(?:exec|spawn|open \|)\s+([^\]\n;]+)", text):
            found = True
            yield from scene.nested_shell(match[1].strip('"{}'), call, via=language)
    for match in re.finditer(_SOURCES, text) if scene.files else ():
        if any(target.text in scene.files for target, _ in path_targets(literal(match[1]), call.invocation.cwd)):
            found = True
            yield from run_script(call, scene, literal(match[1]), language, ())
    if language in ("gnuplot", "maxima", "raku"):
        for match in re.finditer(_OWN_SHELL[language], text):
            found = True
            pieces = re.findall(r"""["']([^"']*)["']""", match[0]) if language == "raku" else []
            if pieces:
                yield from scene.nested_argv(tuple(literal(piece) for piece in pieces), call, via=language)
            else:
                yield from scene.nested_shell(next((group for group in match.groups() if group), ""), call, via=language)
    stripped = re.sub(_HARMLESS_NAMES, "", text)
    stripped = re.sub(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", '""', stripped)
    if not found and _suspicious().search(stripped):
        yield call.effect(
            EffectKind.CODE_OPAQUE,
            certainty=Certainty.POSSIBLE,
            language=language,
            reason=f"{language} code that cannot be read",
            source="text",
            dynamic="interpreter",
        )


def compiled(call: Call, scene: Scene, sources: tuple[Field, ...], language: str) -> Iterator[Effect]:
    """What programs do whose source the same text wrote and compiles: their literal calls, as far as these can be read."""
    for field in sources if scene.files else ():
        for target, _ in path_targets(field, call.invocation.cwd):
            text = scene.files.get(target.text)
            if scene.sources.get(target.text) == "network":
                yield scripts.opaque(call, "network", "the program is fetched by the same line", language=language, target=target)
            for effect in plain_effects(text, call, scene, language) if text else ():
                if effect.kind not in (EffectKind.CODE_OPAQUE, EffectKind.CODE_INLINE):
                    yield effect


def plain_word(call: Call, scene: Scene, field: Field, language: str) -> Iterator[Effect]:
    """Code given as a word."""
    if field.known is Known.DYNAMIC:
        yield scripts.opaque(call, flow.source_of_field(field, scene), field.reason, language=language)
        return
    for value in field.values:
        yield from plain_effects(value, call, scene, language)


# ---------------------------------------------------------------- the rest

_EVAL = {
    "Rscript": ("-e", "r"),
    "R": ("-e", "r"),
    "littler": ("-e", "r"),
    "julia": ("-e --eval -E --print", "julia"),
    "elixir": ("-e --eval", "elixir"),
    "iex": ("-e --eval", "elixir"),
    "erl": ("-eval", "erlang"),
    "osascript": ("-e", "applescript"),
    "groovy": ("-e", "groovy"),
    "scala": ("-e", "scala"),
    "kotlin": ("-e -expression", "kotlin"),
    "jshell": ("", "java"),
    "expect": ("-c", "tcl"),
    "runghc": ("", "haskell"),
    "ocaml": ("-e", "ocaml"),
    "guile": ("-c -e", "scheme"),
    "racket": ("-e --eval", "scheme"),
    "sbcl": ("--eval", "lisp"),
    "clisp": ("-x", "lisp"),
    "octave": ("--eval", "octave"),
    "octave-cli": ("--eval", "octave"),
    "elvish": ("-c", "nu"),
    "sash": ("-c", "nu"),
    "jrunscript": ("-e", "javascript"),
    "slsh": ("-e", "slang"),
    "matlab": ("-r -batch", "octave"),
    "clojure": ("-e --eval -M -e", "clojure"),
    "clj": ("-e", "clojure"),
    "bb": ("-e", "clojure"),
    "raku": ("-e", "raku"),
    "tclsh": ("", "tcl"),
    "wish": ("", "tcl"),
    "gnuplot": ("-e", "gnuplot"),
    "maxima": ("--batch-string", "maxima"),
    "nu": ("-c --commands", "nu"),
    "xonsh": ("-c", "xonsh"),
    "newlisp": ("-e", "lisp"),
    "picolisp": ("-e", "lisp"),
    "java": ("", "java"),
    "csi": ("-e", "csharp"),
    "dotnet-script": ("eval", "csharp"),
    "coffee": ("-e --eval", "coffee"),
    "janet": ("-e", "lisp"),
    "awka": ("", "awk"),
    "io": ("-e", "io"),
    "gst": ("", "smalltalk"),
}
_FLAGGED = frozenset("-cp -classpath -jar -D -I -l -L -m --module -p --module-path --project -P -pa -name -sname -s -J -C -H".split())


def other_language(call: Call, scene: Scene) -> Iterator[Effect]:
    """Interpreters whose code is judged by its spelling: evaluated words, else a script file, else stdin."""
    options, language = _EVAL[call.name]
    evaluates = options.split()
    words, at, spoke = call.argv, 0, False
    while at < len(words):
        text = shown(words[at])
        if text in evaluates and at + 1 < len(words):
            spoke = True
            yield from plain_word(call, scene, words[at + 1], language)
            at += 2
            continue
        if not text.startswith("-"):
            break
        if text.partition("=")[0] in evaluates and "=" in text:
            spoke = True
            yield from plain_word(call, scene, literal(text.partition("=")[2]), language)
        if text == "-jar" and at + 1 < len(words):
            yield from file_effects(call, scene, EffectKind.CODE_SCRIPT, words[at + 1], language="java")
            return
        at += 2 if text in _FLAGGED and "=" not in text else 1
    if spoke or any(shown(word) in ("--version", "-version", "--help", "-h", "-v", "-V") for word in words[:1]):
        return
    if at < len(words) and shown(words[at]) != "-":
        if call.name != "java" or shown(words[at]).endswith(".java"):
            yield from run_script(call, scene, words[at], language, tuple(words[at + 1 :]))
        return
    call = output.as_program(call)
    text_in = output.stdin_text(call.invocation, scene)
    if text_in is not None and call.invocation.stdin.kind in ("text", "pipe", "file"):
        yield from plain_effects(text_in, call, scene, language)
    elif call.invocation.stdin.kind in ("pipe", "file"):
        yield scripts.opaque(
            call, flow.source_of(call.invocation.stdin.producers, scene), "the code comes through a pipe", language=language
        )


PROGRAMS: tuple[Program, ...] = (
    Program(("pwsh", "powershell", "pwsh-preview"), style="raw nohelp", describe=pwsh, summary="PowerShell"),
    Program(tuple(_EVAL), style="raw nohelp", describe=other_language, summary="interpreter of another language"),
)
