"""Pure text filters and decoders: what a program makes of known input, given its words. None stands for "not known"."""

from __future__ import annotations

import binascii
import re

from .escapes import decode_ansi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def _options(words: list[str], with_value: str = "") -> tuple[set[str], dict[str, str], list[str]]:
    """Letters and long names given, values of the options that take one, operands."""
    flags: set[str] = set()
    found: dict[str, str] = {}
    operands: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            operands += words[at:]
            break
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            flags.add(name)
            if equals:
                found[name] = value
        elif word.startswith("-") and len(word) > 1:
            for place, letter in enumerate(word[1:], 1):
                if letter in with_value:
                    rest = word[place + 1 :]
                    if not rest and at < len(words):
                        rest = words[at]
                        at += 1
                    found[letter] = rest
                    break
                flags.add(letter)
        else:
            operands.append(word)
    return flags, found, operands


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _base64(words: list[str], given: str) -> str | None:
    flags, found, operands = _options(words, "w")
    if operands and operands != ["-"]:
        return None
    if flags & {"d", "D", "--decode"}:
        kept = re.sub(r"[^A-Za-z0-9+/=]", "", given)
        return _text(binascii.a2b_base64(kept + "=" * (-len(kept) % 4)))
    encoded = binascii.b2a_base64(_bytes(given), newline=False).decode()
    width = int(found.get("w", found.get("--wrap", "76")))
    return encoded if width == 0 else "".join(encoded[n : n + width] + "\n" for n in range(0, len(encoded), width))


def _base32(words: list[str], given: str) -> str | None:
    from base64 import b32decode, b32encode

    flags, _, operands = _options(words, "w")
    if operands and operands != ["-"]:
        return None
    if flags & {"d", "D", "--decode"}:
        return _text(b32decode(re.sub(r"\s", "", given)))
    return b32encode(_bytes(given)).decode() + "\n"


def _openssl(words: list[str], given: str) -> str | None:
    if words[:1] == ["base64"] or (words[:1] == ["enc"] and ("-base64" in words or "-a" in words)):
        if any(w.startswith("-aes") or w in ("-in", "-k", "-pass") for w in words):
            return None
        return _base64(["-d"] if "-d" in words else [], given)
    return None


def _xxd(words: list[str], given: str) -> str | None:
    flags, _, operands = _options(words, "clgs")
    if operands and operands != ["-"]:
        return None
    joined = "".join(sorted(flags))
    if "r" in flags and ("p" in flags or "ps" in joined):
        return _text(bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", given)))
    if "r" in flags:
        lines = [re.match(r"\s*[0-9a-fA-F]+:\s*((?:[0-9a-fA-F]{2,4} ?)+)", line) for line in given.split("\n")]
        return _text(b"".join(bytes.fromhex(m[1].replace(" ", "")) for m in lines if m))
    if "p" in flags:
        return _bytes(given).hex() + "\n"
    return None


def _rev(words: list[str], given: str) -> str | None:
    return "\n".join(line[::-1] for line in given.split("\n")) if not words else None


def _tac(words: list[str], given: str) -> str | None:
    return "".join(reversed(given.splitlines(keepends=True))) if not words else None


def _tr(words: list[str], given: str) -> str | None:
    flags, _, operands = _options(words)
    sets = [_expand_set(word) for word in operands]
    if not sets or "c" in flags or "C" in flags:
        if len(sets) == 1 and "d" in flags:
            return "".join(c for c in given if c in sets[0])
        return None
    if "d" in flags:
        return "".join(c for c in given if c not in sets[0])
    if len(sets) == 1 and "s" in flags:
        return re.sub(r"(.)\1+", lambda m: m[1] if m[1] in sets[0] else m[0], given, flags=re.DOTALL)
    if len(sets) < 2 or not sets[1]:
        return None
    target = sets[1] + sets[1][-1] * max(0, len(sets[0]) - len(sets[1]))
    changed = given.translate({ord(a): b for a, b in reversed(list(zip(sets[0], target, strict=False)))})
    return re.sub(r"(.)\1+", lambda m: m[1] if m[1] in sets[1] else m[0], changed, flags=re.DOTALL) if "s" in flags else changed


_TR_CLASSES = {
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz",
    "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:digit:]": "0123456789",
    "[:space:]": " \t\n\r\f\v",
    "[:alpha:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
}


def _expand_set(text: str) -> str:
    for name, members in _TR_CLASSES.items():
        text = text.replace(name, members)
    text = decode_ansi(text, nul=True)
    out = ""
    at = 0
    while at < len(text):
        if at + 2 < len(text) and text[at + 1] == "-" and ord(text[at]) <= ord(text[at + 2]) and ord(text[at + 2]) - ord(text[at]) < 4096:
            out += "".join(map(chr, range(ord(text[at]), ord(text[at + 2]) + 1)))
            at += 3
        else:
            out += text[at]
            at += 1
    return out


def _head(words: list[str], given: str) -> str | None:
    words = [re.sub(r"^-(\d+)$", r"-n\1", word) for word in words]
    _, found, operands = _options(words, "nc")
    if operands:
        return None
    if "c" in found:
        return _text(_bytes(given)[: int(found["c"])])
    count = int(found.get("n", "10"))
    return "".join(given.splitlines(keepends=True)[:count])


def _tail(words: list[str], given: str) -> str | None:
    words = [re.sub(r"^-(\d+)$", r"-n\1", word) for word in words]
    _, found, operands = _options(words, "nc")
    if operands:
        return None
    if "c" in found:
        data = _bytes(given)
        size = found["c"]
        return _text(data[int(size) - 1 :] if size.startswith("+") else data[-int(size) :] if int(size) else b"")
    size = found.get("n", "10")
    lines = given.splitlines(keepends=True)
    return "".join(lines[int(size) - 1 :] if size.startswith("+") else lines[-int(size) :] if int(size) else [])


def _cut(words: list[str], given: str) -> str | None:
    flags, found, operands = _options(words, "dfcb")
    kind = next((k for k in "fcb" if k in found), None)
    if kind is None or operands or flags:
        return None
    out = []
    for line in given.removesuffix("\n").split("\n"):
        pieces = line.split(found.get("d", "\t")) if kind == "f" else list(line)
        chosen: list[str] = []
        for item in found[kind].split(","):
            low, dash, high = item.partition("-")
            start = int(low or "1")
            stop = (int(high) if high else len(pieces)) if dash else start
            chosen += pieces[start - 1 : stop]
        out.append((found.get("d", "\t") if kind == "f" else "").join(chosen))
    return "\n".join(out) + "\n"


def _sed(words: list[str], given: str) -> str | None:
    flags, found, operands = _options(words, "e")
    scripts = [found["e"]] if "e" in found else operands
    if len(scripts) != 1 or flags - {"E", "r"} or ("e" in found and operands):
        return None
    for command in scripts[0].split(";"):
        command = command.strip()
        match = re.fullmatch(r"s(.)(.*?)\1(.*?)\1(g?)", command, re.DOTALL)
        if not match or not re.fullmatch(r"[\w \-/:@,#%=~^]*", match[2]) or "\\" in match[3] or "&" in match[3]:
            return None
        count = 0 if match[4] else 1
        lines = given.split("\n")
        last = lines.pop() if given.endswith("\n") else None
        changed = [re.sub(match[2], lambda _, new=match[3]: new, line, count=count) for line in lines]
        given = "\n".join(changed) + ("\n" if last is not None else "")
    return given


def _sort(words: list[str], given: str) -> str | None:
    flags, found, operands = _options(words, "okt")
    if operands or found or flags - {"u", "r"}:
        return None
    lines = given.splitlines()
    return "".join(line + "\n" for line in sorted(set(lines) if "u" in flags else lines, reverse="r" in flags))


def _xargs(words: list[str], given: str) -> str | None:
    return " ".join(given.split()) + "\n" if words in ([], ["echo"]) and not re.search(r"['\"\\]", given) else None


FILTERS: dict[str, Callable[[list[str], str], str | None]] = {
    "base64": _base64,
    "base32": _base32,
    "openssl": _openssl,
    "xxd": _xxd,
    "rev": _rev,
    "tac": _tac,
    "tr": _tr,
    "head": _head,
    "tail": _tail,
    "cut": _cut,
    "sed": _sed,
    "sort": _sort,
    "xargs": _xargs,
}


def printed_constant(language: str, words: list[str]) -> str | None:
    """The text that a one-line program prints when it does nothing but print a constant."""
    if language == "awk":
        found = re.fullmatch(r'BEGIN\s*\{\s*print\s+"((?:[^"\\]|\\.)*)"\s*;?\s*\}', words[0]) if len(words) == 1 else None
        return decode_ansi(found[1]) + "\n" if found else None
    if len(words) != 2 or words[0] not in ("-c", "-e", "-E"):
        return None
    code = words[1].strip().rstrip(";")
    if language == "perl":
        found = re.fullmatch(r"""(print|say)\s*\(?\s*(?:"((?:[^"\\$@]|\\.)*)"|'([^'\\]*)')\s*\)?""", code)
        if not found:
            return None
        text = decode_ansi(found[2]) if found[2] is not None else found[3]
        return text + ("\n" if found[1] == "say" else "")
    found = re.fullmatch(r"print\((.*)\)", code, re.DOTALL)
    if not found:
        return None
    from ast import literal_eval

    try:
        value = literal_eval(found[1])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return f"{value}\n" if isinstance(value, (str, int, float)) else None
