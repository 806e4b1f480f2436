"""What a command surely prints, when all that it prints stands in the text: echo, printf, cat of a heredoc, and the decoders.

A payload that stands in the line in another dress (`echo cm0= | base64 -d | sh`) is judged as what it becomes. None means: not known.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.effect import Effect, EffectKind
from ..shell.invocation import Invocation
from .call import Scene, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 65536
DEEPEST = 12  # stages of a pipeline that are computed


def stdout_of(index: int, scene: Scene, depth: int = 0) -> str | None:
    """The exact text an invocation prints on stdout, or None."""
    if depth > DEEPEST or not 0 <= index < len(scene.invocations):
        return None
    invocation = scene.invocations[index]
    words = [word.text for word in invocation.words]
    while words and words[0] in ("command", "builtin", "\\"):
        words = words[1:]
    if not words or any(word is None for word in words):
        return None
    known = [word for word in words if word is not None]
    name = known[0].rsplit("/", 1)[-1]
    if name in _PRINTERS:
        return _PRINTERS[name](known[1:])
    if name == "cat":
        return _cat(known[1:], invocation, scene, depth)
    filter_ = _FILTERS.get(name)
    if filter_ is None:
        return None
    text = stdin_text(invocation, scene, depth + 1)
    if text is None or len(text) > LONGEST:
        return None
    try:
        return filter_(known[1:], text)
    except (ValueError, IndexError):
        return None


def stdin_text(invocation: Invocation, scene: Scene, depth: int = 0) -> str | None:
    """The exact text that comes in on fd 0, or None: a heredoc, a here-string, known output by pipe, a file written earlier."""
    stdin = invocation.stdin
    if stdin.kind in ("null", "closed"):
        return ""
    if stdin.kind == "text" and stdin.field is not None:
        return stdin.field.text
    if stdin.kind == "file" and stdin.field is not None:
        path = absolute(stdin.field.text, invocation)
        return scene.files.get(path) if path else None
    if stdin.kind == "pipe" and stdin.producers:
        pieces = [stdout_of(producer, scene, depth + 1) for producer in stdin.producers]
        return None if None in pieces else "".join(piece or "" for piece in pieces)
    return None


def absolute(name: str | None, invocation: Invocation) -> str:
    """The absolute path of a name in the invocation's directory, "" when it is not known."""
    if name is None:
        return ""
    if name.startswith("/"):
        return fold(name)
    return fold(f"{invocation.cwd.text}/{name}") if invocation.cwd.text is not None else ""


def written_text(index: int, invocation: Invocation, effect: Effect, scene: Scene) -> str | None:
    """The text that an invocation puts into a file it writes: by redirect what it prints, by tee what it reads."""
    if effect.program in ("tee", "sponge") or (effect.program == "dd" and effect.kind is EffectKind.FILE_WRITE):
        return stdin_text(invocation, scene)
    if not effect.get("stream"):
        return None
    if not invocation.words:
        return ""  # `> file` alone empties it
    return stdout_of(index, scene)


# ---------------------------------------------------------------- printers


def _echo(words: list[str]) -> str | None:
    newline, escapes = "\n", False
    while words and re.fullmatch(r"-[neE]+", words[0]):
        if "n" in words[0]:
            newline = ""
        escapes = "e" in words[0] or (escapes and "E" not in words[0])
        words = words[1:]
    text = " ".join(words)
    if escapes:
        text, _, cut = unescape(text).partition("\0stop")
        return text + ("" if cut else newline)
    return text + newline


@cache
def _escape() -> re.Pattern[str]:
    return re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|0[0-7]{0,3}|[1-7][0-7]{0,2}|.)", re.DOTALL)


_SIMPLE = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"', "'": "'"}


def unescape(text: str) -> str:
    """Backslash escapes as printf and `echo -e` read them."""

    def one(match: re.Match[str]) -> str:
        body = match.group(1)
        if body[0] in "xuU" and len(body) > 1:
            return chr(int(body[1:], 16))
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        return "\0stop" if body == "c" else _SIMPLE.get(body, match.group(0))

    return _escape().sub(one, text)


def _printf(words: list[str]) -> str | None:
    if words and words[0] == "--":
        words = words[1:]
    if not words or words[0].startswith("-v"):
        return ""
    template, arguments = words[0], words[1:]
    out: list[str] = []
    while True:
        rest = list(arguments)
        out.append(_format_once(template, rest))
        if len(rest) == len(arguments) or not rest:
            return "".join(out)
        arguments = rest


def _format_once(template: str, arguments: list[str]) -> str:
    def one(match: re.Match[str]) -> str:
        kind = match.group(2)
        if kind == "%":
            return "%"
        value = arguments.pop(0) if arguments else ""
        if kind == "b":
            return unescape(value)
        if kind == "c":
            return value[:1]
        if kind in "diouxX":
            number = int(value or "0", 0) if re.fullmatch(r"[-+]?(0[xX][0-9a-fA-F]+|\d+)", value or "0") and not re.fullmatch(r"0\d+", value) else 0
            return ("%" + match.group(1) + ("d" if kind in "iu" else kind)) % number
        return ("%" + match.group(1) + "s") % value if not match.group(1).count("*") else value

    # A format's own escapes are read first; arguments keep theirs (they are data but for %b).
    pieces = re.split(r"(%[-+ #0]*[\d]*(?:\.\d+)?[a-zA-Z%])", template)
    return "".join(
        re.sub(r"%([-+ #0]*[\d]*(?:\.\d+)?)([a-zA-Z%])", one, piece) if at % 2 else unescape(piece) for at, piece in enumerate(pieces)
    )


def _cat(words: list[str], invocation: Invocation, scene: Scene, depth: int) -> str | None:
    names = [word for word in words if word == "-" or not word.startswith("-")]
    if len(names) < len(words) and any(word not in ("-u", "--") for word in words if word not in names):
        return None
    out: list[str] = []
    for name in names or ["-"]:
        text = stdin_text(invocation, scene, depth + 1) if name in ("-", "/dev/stdin") else scene.files.get(absolute(name, invocation))
        if text is None:
            return None
        out.append(text)
    return "".join(out)


_PRINTERS: dict[str, Callable[[list[str]], str | None]] = {
    "echo": _echo,
    "printf": _printf,
    ":": lambda words: "",
    "true": lambda words: "",
}


# ---------------------------------------------------------------- filters


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _base64(words: list[str], text: str) -> str | None:
    import base64
    import binascii

    data = "".join(text.split())
    if any(word in ("-d", "-D", "--decode", "-di", "-id") or "--decode".startswith(word) and len(word) > 3 for word in words):
        try:
            return _text(base64.b64decode(data + "=" * (-len(data) % 4)))
        except binascii.Error:
            return None
    return base64.encodebytes(_bytes(text)).decode() if not words else None


def _base32(words: list[str], text: str) -> str | None:
    import base64

    return _text(base64.b32decode("".join(text.split()))) if {"-d", "--decode"} & set(words) else None


def _xxd(words: list[str], text: str) -> str | None:
    flags = "".join(word.lstrip("-") for word in words)
    return _text(bytes.fromhex("".join(text.split()))) if "r" in flags and "p" in flags else None


def _openssl(words: list[str], text: str) -> str | None:
    if words[:1] in (["base64"], ["enc"]) and "-d" in words and ("-base64" in words or "-a" in words or words[0] == "base64"):
        return _base64(["-d"], text)
    return None


def _gunzip(words: list[str], text: str) -> str | None:
    import zlib

    try:
        return _text(zlib.decompress(_bytes(text), 47))
    except zlib.error:
        return None


def _gzip(words: list[str], text: str) -> str | None:
    return _gunzip(words, text) if any(word.startswith("-") and "d" in word for word in words) else None


def _rev(words: list[str], text: str) -> str | None:
    return None if words else "\n".join(line[::-1] for line in text.split("\n"))


def _tac(words: list[str], text: str) -> str | None:
    return None if words else "".join(reversed(text.splitlines(keepends=True)))


def _head(words: list[str], text: str) -> str | None:
    lines = text.splitlines(keepends=True)
    match = re.fullmatch(r"-n ?(\d+)|-(\d+)|--lines=(\d+)|", " ".join(words))
    if match is None:
        return None
    return "".join(lines[: int(match.group(1) or match.group(2) or match.group(3) or 10)])


def _tail(words: list[str], text: str) -> str | None:
    lines = text.splitlines(keepends=True)
    match = re.fullmatch(r"-n ?(\+?)(\d+)|-()(\d+)|", " ".join(words))
    if match is None:
        return None
    count = int(match.group(2) or match.group(4) or 10)
    return "".join(lines[count - 1 :] if match.group(1) else lines[-count:])


def _tr(words: list[str], text: str) -> str | None:
    if words[:1] == ["-d"] and len(words) == 2:
        gone = _set(words[1])
        return "".join(c for c in text if c not in gone)
    if len(words) != 2 or words[0].startswith("-"):
        return None
    first, second = _set(words[0]), _set(words[1])
    if not second:
        return None
    table = {a: second[min(at, len(second) - 1)] for at, a in enumerate(first)}
    return "".join(table.get(c, c) for c in text)


_CLASSES = {
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz",
    "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:digit:]": "0123456789",
    "[:space:]": " \t\n\v\f\r",
    "[:blank:]": " \t",
}


def _set(spec: str) -> str:
    for name, members in _CLASSES.items():
        spec = spec.replace(name, members)
    spec = unescape(spec)
    return re.sub(r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m.group(1)), ord(m.group(2)) + 1))), spec, flags=re.DOTALL)


def _sed(words: list[str], text: str) -> str | None:
    scripts = [word for word in words if word not in ("-e", "-E", "-r")]
    if len(scripts) != 1:
        return None
    match = re.fullmatch(r"s(.)([\w @#%,:;=-]*)\1([\w @#%,:;=/~.-]*)\1(g?)", scripts[0])
    if match is None:
        return None
    old, new, every = match.group(2), match.group(3), match.group(4)
    return "\n".join(line.replace(old, new, -1 if every else 1) for line in text.split("\n")) if old else None


def _same(words: list[str], text: str) -> str | None:
    return text


_FILTERS: dict[str, Callable[[list[str], str], str | None]] = {
    "base64": _base64,
    "base32": _base32,
    "xxd": _xxd,
    "openssl": _openssl,
    "gunzip": _gunzip,
    "zcat": _gunzip,
    "gzip": _gzip,
    "rev": _rev,
    "tac": _tac,
    "head": _head,
    "tail": _tail,
    "tr": _tr,
    "sed": _sed,
    "tee": _same,
}
