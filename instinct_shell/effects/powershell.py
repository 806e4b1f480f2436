"""PowerShell: statements and pipelines by their cmdlets, anything else as a program; `-EncodedCommand` is unpacked."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind
from ..shell.invocation import Field, Known, literal
from . import flow, output, scripts
from .call import Call, Scene
from .program_text import run_script
from .roles import file_effects
from .verbs import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_WITH_VALUE = frozenset(
    "-executionpolicy -ep -ex -workingdirectory -wd -outputformat -inputformat -windowstyle -configurationname -version".split()
)  # options of the program itself, each with a word behind it
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
        fetched, listed = False, ""
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
            if action == "delete" and listed and len([word for word in words if not word.startswith("-")]) == 1:
                words = [*words, listed, "-Recurse"]
            if words[0].lower() in ("get-childitem", "gci", "ls", "dir", "get-item"):
                listed = next((word for word in words[1:] if not word.startswith("-")), ".")
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
        if word in _WITH_VALUE:
            continue
        if not word.startswith("-") and (index == 0 or not lower[index - 1].startswith("-e") or lower[index - 1] == "-noexit"):
            if index and lower[index - 1] in _WITH_VALUE:
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
