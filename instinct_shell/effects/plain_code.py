"""Languages without a reader of their own (PowerShell, R, Julia, Elixir, Tcl, AppleScript ...): literal calls of shells and file functions are
found by their spelling; code that names something dangerous and cannot be read is `code.opaque`, the rest is `code.inline`.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.effect import Certainty, Effect, EffectKind
from ..shell.invocation import Field, Known, literal
from . import flow, output, scripts
from .call import Call, Program, Scene
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
        r"(?P<q>[\"'])(?P<t>(?:\\.|(?!(?P=q)).)*)(?P=q)|\brun\(`(?P<j>[^`]*)`|(?P<q2>[\"'])(?P<g>(?:\\.|(?!(?P=q2)).)*)(?P=q2)\s*\.(?:execute|!!?)\b",
        re.DOTALL,
    )


@cache
def _argv_call() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:System\.cmd|Port\.open|system2|processx::run|run-program|start-process|shell/sh|java\.shell/sh|process/shell|call-process)\s*\(?"
        r"\s*[\"']([^\"']+)[\"']\s*,?\s*(?:args\s*=\s*)?(?:c\(|\[|'\()?((?:\s*,?\s*[\"'][^\"']*[\"'])*)"
    )


@cache
def _delete_call() -> re.Pattern[str]:
    return re.compile(
        r"\b(unlink|file\.remove|file_delete|dir_delete|rm|File\.rm_rf!?|File\.rm!?|File\.rmdir!?|deleteFile|removeDirectoryRecursive|removeFile|"
        r"delete-file|delete-directory|file delete(?: -force)?|deleteDir|"
        r"os\.remove\.all|os\.remove|FileUtils\.deleteDirectory|Files\.delete|Sys\.remove)\s*\(?\s*(?:--\s*)?[\"'{]?([~./\w][^\"'){}\s,;]*)"
    )


# Where a language asks for the person's home.
_HOME = (
    r"""\bhomedir\(\)|\bSystem\.user_home!?(?:\(\))?|\bpath\.expand\(\s*["']~["']\s*\)|\bNSHomeDirectory\(\)|\bgetHomeDirectory\b|"""
    r"""\b(?:Sys\.getenv|System\.get_env|os\.getenv|getenv|System\.getenv|Unix\.getenv|Sys\.getenv|uiop:getenv|posix-getenv)[\s(]+["']HOME["']\s*\)?|"""
    r"""\bENV\[\s*["']HOME["']\s*\]|ProcessInfo\.processInfo\.environment\[\s*["']HOME["']\s*\]!?|\(user-homedir-pathname\)|\(System/getProperty "user\.home"\)"""
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
    for match in _delete_call().finditer(rest):
        found = True
        if match[1] == "rm" and language == "r":
            continue  # it removes variables
        recursive = (
            "1" if "recursive" in rest or "rf" in match[1] or "irectory" in match[1] or "Dir" in match[1] or "-force" in match[1] else ""
        )
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
    stripped = re.sub(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", '""', text)
    if not found and _suspicious().search(stripped):
        yield call.effect(
            EffectKind.CODE_OPAQUE,
            certainty=Certainty.POSSIBLE,
            language=language,
            reason=f"{language} code that cannot be read",
            source="text",
            dynamic="interpreter",
        )


def plain_word(call: Call, scene: Scene, field: Field, language: str) -> Iterator[Effect]:
    """Code given as a word."""
    if field.known is Known.DYNAMIC:
        yield scripts.opaque(call, flow.source_of_field(field, scene), field.reason, language=language)
        return
    for value in field.values:
        yield from plain_effects(value, call, scene, language)


# ---------------------------------------------------------------- powershell

_CMDLETS = {
    "delete": "remove-item ri rm del erase rd rmdir clear-recyclebin",
    "read": "get-content gc cat type",
    "write": "set-content sc out-file clear-content clc export-csv tee-object",
    "append": "add-content ac",
    "create": "new-item ni mkdir md",
    "move": "move-item mi mv move rename-item rni ren",
    "copy": "copy-item copy cp cpi",
    "web": "invoke-webrequest iwr curl wget invoke-restmethod irm start-bitstransfer",
    "eval": "invoke-expression iex",
    "kill": "stop-process spps kill",
    "power": "stop-computer restart-computer",
    "service": "stop-service restart-service set-service remove-service",
    "start": "start-process saps start",
}
_CMDLET = {name: action for action, names in _CMDLETS.items() for name in names.split()}


def powershell(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """Statements and pipelines of PowerShell: cmdlets by table, anything else as a program."""
    yield call.effect(EffectKind.CODE_INLINE, language="powershell")
    for statement in re.split(r"[;\n]|&&|\|\|", text):
        fetched = False
        for stage in re.split(r"\|(?!\|)", statement):
            words = [a or b or c for a, b, c in re.findall(r"'((?:[^']|'')*)'|\"((?:[^\"`]|`.)*)\"|([^\s\"'()]+)", stage)]
            words = [word for word in words if word not in ("&", ".", "{", "}")]
            if not words or words[0].startswith(("$", "#", "if", "foreach", "[", "-")):
                if "invoke-expression" in stage.lower() or re.search(r"\biex\b", stage, re.IGNORECASE):
                    yield scripts.opaque(call, "variable", "PowerShell runs computed text", language="powershell")
                continue
            action = _CMDLET.get(words[0].lower(), "")
            fetched = fetched or action == "web" or "net.webclient" in stage.lower()
            if "net.webclient" in stage.lower() and re.search(r"\biex\b|invoke-expression", stage, re.IGNORECASE):
                yield scripts.opaque(call, "network", "PowerShell runs what it downloads", language="powershell")
                continue
            inner = {_CMDLET.get(word.lower(), "") for word in words[1:]}
            yield from _cmdlet(action, words, call, scene, fetched or (action == "eval" and ("web" in inner or "://" in stage)))


def _cmdlet(action: str, words: list[str], call: Call, scene: Scene, fetched: bool) -> Iterator[Effect]:
    flags = {word.lower() for word in words[1:] if word.startswith("-")}
    names: list[Field] = []
    skip = False
    for word in words[1:]:
        if skip and not word.startswith("-"):
            skip = False
            continue
        skip = word.lower() in (
            "-filter",
            "-include",
            "-exclude",
            "-encoding",
            "-itemtype",
            "-value",
            "-erroraction",
            "-method",
            "-headers",
            "-body",
            "-uri",
            "-outfile",
            "-name",
            "-id",
            "-confirm:$false",
        )
        if not word.startswith("-") and word != ",":
            path = word.rstrip(",").replace("\\", "/")
            path = re.sub(r"^(?:\$HOME|\$env:HOME|\$env:USERPROFILE|~)(?=/|$)", scene.home, path, flags=re.IGNORECASE)
            glob = any(c in path for c in "*?[")
            names.append(Field(Known.SET, (path,), glob=True, many=True) if glob else literal(path))
    kinds = {
        "delete": EffectKind.FILE_DELETE,
        "read": EffectKind.FILE_READ,
        "write": EffectKind.FILE_WRITE,
        "append": EffectKind.FILE_APPEND,
        "create": EffectKind.FILE_CREATE,
    }
    if "-whatif" in flags:
        return
    if action in kinds:
        recursive = "1" if any(flag.startswith("-r") for flag in flags) else ""
        for name in names if action != "write" else names[:1]:
            yield from file_effects(call, scene, kinds[action], name, recursive=recursive)
    elif action in ("move", "copy") and names:
        yield from file_effects(
            call,
            scene,
            EffectKind.FILE_MOVE if action == "move" else EffectKind.FILE_READ,
            names[0],
            source_of_copy="" if action == "move" else "1",
        )
        for name in names[1:2]:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, name)
    elif action == "web":
        yield from _web(words, flags, call, scene)
    elif action == "eval":
        if fetched:
            yield scripts.opaque(call, "network", "PowerShell runs what it downloads", language="powershell")
        elif names and names[0].text and "$" not in names[0].text:
            yield from powershell(names[0].text, call, scene)
        else:
            yield scripts.opaque(call, "variable", "PowerShell runs computed text", language="powershell")
    elif action in ("kill", "power", "service"):
        kind = {"kill": EffectKind.PROCESS_KILL, "power": EffectKind.SYSTEM_POWER, "service": EffectKind.SYSTEM_SERVICE}[action]
        yield call.effect(kind, action=words[0].lower(), by="name" if action == "kill" else "")
    elif action == "start":
        yield from scene.nested_argv(tuple(names), call, via="powershell")
    elif re.match(r"[a-z]+-[a-z]+$", words[0], re.IGNORECASE) is None or words[0].islower():
        yield from scene.nested_argv(tuple(literal(word) for word in words), call, via="powershell")


def _web(words: list[str], flags: set[str], call: Call, scene: Scene) -> Iterator[Effect]:
    from .http_request import Request

    request = Request()
    lower = [word.lower() for word in words]
    given = {
        name: words[lower.index(name) + 1]
        for name in ("-uri", "-method", "-body", "-outfile", "-infile")
        if name in lower and lower.index(name) + 1 < len(words)
    }
    url = given.get("-uri") or next((word for word in words[1:] if "://" in word), "")
    request.urls = [literal(url)]
    request.method = given.get("-method", "")
    if "-body" in given:
        request.text(literal(given["-body"]))
    if "-infile" in given:
        yield from request.file(call, scene, literal(given["-infile"]))
    if "-outfile" in given:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(given["-outfile"].replace("\\", "/")))
    yield from request.effects(call, scene)


def pwsh(call: Call, scene: Scene) -> Iterator[Effect]:
    """pwsh [-Command TEXT | -File F | -EncodedCommand B64]."""
    lower = [shown(word).lower() for word in call.argv]
    for index, word in enumerate(lower):
        if word in ("-version", "--version", "-help", "-h", "-?"):
            return
        following = call.argv[index + 1 :]
        if word in ("-c", "-command", "/c", "/command"):
            if any(field.text is None for field in following):
                yield scripts.opaque(call, "variable", "part of the command is not known", language="powershell")
            else:
                yield from powershell(" ".join(field.text or "" for field in following), call, scene)
            return
        if word in ("-encodedcommand", "-enc", "-e", "-ec", "-encodedc") and following:
            yield from _encoded(following[0], call, scene)
            return
        if word in ("-file", "-f") and following:
            yield from run_script(call, scene, following[0], "powershell", tuple(following[1:]))
            return
        if word in (
            "-executionpolicy",
            "-ep",
            "-ex",
            "-workingdirectory",
            "-wd",
            "-outputformat",
            "-inputformat",
            "-windowstyle",
            "-configurationname",
            "-version",
        ):
            continue
        if not word.startswith("-") and (index == 0 or not lower[index - 1].startswith("-e") or lower[index - 1] == "-noexit"):
            if index and lower[index - 1] in (
                "-executionpolicy",
                "-ep",
                "-ex",
                "-workingdirectory",
                "-wd",
                "-outputformat",
                "-inputformat",
                "-windowstyle",
            ):
                continue
            if word.endswith(".ps1"):
                yield from run_script(call, scene, call.argv[index], "powershell", tuple(following))
            else:
                yield from powershell(" ".join(shown(field) for field in call.argv[index:]), call, scene)
            return
    call = output.as_program(call)
    text = output.stdin_text(call.invocation, scene)
    if text is not None and call.invocation.stdin.kind in ("text", "pipe", "file"):
        yield from powershell(text, call, scene)
    elif call.invocation.stdin.kind in ("pipe", "file"):
        yield scripts.opaque(
            call, flow.source_of(call.invocation.stdin.producers, scene), "the code comes through a pipe", language="powershell"
        )


def _encoded(field: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    from .decoders import decode
    from .python_values import to_bytes

    text = decode("base64", field.text) if field.text is not None else None
    if text is None:
        yield scripts.opaque(call, "generated", "an encoded command that cannot be decoded", language="powershell")
        return
    yield from powershell(to_bytes(text).decode("utf-16-le", "replace"), call, scene)


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
