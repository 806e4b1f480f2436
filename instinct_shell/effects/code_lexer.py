"""Tokens of C-like languages (JavaScript, Perl, Ruby, PHP, Lua), enough to tell code from text, comments and regular expressions.

Not a parser: it never guesses inside strings. Kinds: name, text, template (a list of text and code pieces), command (backticks, qx, %x),
regex, number, op.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.value import Value

PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
# After these words a slash starts a regular expression.
_BEFORE_REGEX = frozenset(
    "return typeof case in of do else void delete throw new if unless and or not while until split grep map push x "
    "lt gt le ge eq ne cmp when print say puts yield await match".split()
)


class Token(Value):
    """kind and text; parts of a template or command: (is_code, text) pairs."""

    kind: str
    text: str
    parts: tuple[tuple[bool, str], ...] = ()
    spaced: bool = False  # blank before it
    line: bool = False  # first on its line


@cache
def _pattern(language: str) -> re.Pattern[str]:
    sigil = {"javascript": "", "perl": r"[$@%&]?", "ruby": r"[@$:]{0,2}", "php": r"\$?", "lua": ""}[language]
    tail = (
        r"[\w$]*"
        if language == "javascript"
        else r"\w*(?:(?:::|')\w+)*[?!]?"
        if language in ("perl", "ruby")
        else r"\w*(?:\\\w+)*"
        if language == "php"
        else r"\w*"
    )
    first = r"[A-Za-z_$]" if language == "javascript" else r"[A-Za-z_\\]" if language == "php" else r"[A-Za-z_]"
    return re.compile(
        rf"(?P<blank>\s+)|(?P<number>\d[\w.]*)|(?P<name>{sigil}{first}{tail}|[$@]\{{\w+\}}|[$][&_0-9!@/\\,;.])|(?P<op>=>|->|\?\.|\.\.\.|\.\.|::|&&|\|\||=~|!~|==+|!=+|<=|>=|\+=|\.=|<<|.)",
        re.DOTALL,
    )


def tokens(text: str, language: str) -> tuple[Token, ...]:
    """The tokens of a program. language: javascript | perl | ruby | php | lua."""
    return _Lexer(text, language).run()


class _Lexer:
    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        self.at = 0
        self.out: list[Token] = []
        self.spaced = False
        self.fresh = True
        self.heredocs: list[tuple[str, bool, bool]] = []

    def run(self) -> tuple[Token, ...]:
        pattern = _pattern(self.language)
        while self.at < len(self.text):
            if self.skipped() or self.quoted():
                continue
            match = pattern.match(self.text, self.at)
            if match is None:
                self.at += 1
                continue
            self.at = match.end()
            if match.lastgroup == "blank":
                self.spaced = True
                if "\n" in match[0]:
                    self.fresh = True
                    if self.heredocs:
                        self.heredoc_bodies(match)
                continue
            self.push(match.lastgroup or "op", match[0])
        return tuple(self.out)

    def push(self, kind: str, text: str, parts: tuple[tuple[bool, str], ...] = ()) -> None:
        self.out.append(Token(kind, text, parts, self.spaced, self.fresh))
        self.spaced = self.fresh = False

    # ------------------------------------------------------------ comments

    def skipped(self) -> bool:
        """Skips a comment here."""
        text, at, language = self.text, self.at, self.language
        ends = ""
        if (
            (text.startswith("//", at) and language in ("javascript", "php"))
            or (
                text[at] == "#"
                and language in ("perl", "ruby", "php")
                and (at == 0 or text[at - 1] in " \t\n;{}()")
                and not text.startswith("#[", at)
            )
            or (text.startswith("#!", at) and at == 0)
        ):
            ends = "\n"
        elif text.startswith("--", at) and language == "lua":
            long = re.compile(r"--\[(=*)\[").match(text, at)
            ends = f"]{long[1]}]" if long else "\n"
        elif text.startswith("/*", at) and language in ("javascript", "php"):
            ends = "*/"
        elif (
            language in ("perl", "ruby")
            and self.fresh
            and re.compile(r"=(?:begin|pod|head\d|cut|item|over)\b").match(text, at)
            and (at == 0 or text[at - 1] == "\n")
        ):
            ends = "\n=cut" if language == "perl" else "\n=end"
        elif language == "perl" and re.compile(r"__(?:END|DATA)__\b").match(text, at):
            self.at = len(text)
            return True
        if not ends:
            return False
        end = text.find(ends, at + 2 if ends != "\n" else at)
        self.at = len(text) if end < 0 else end + (0 if ends == "\n" else len(ends))
        self.spaced = True
        return True

    # ------------------------------------------------------------ quotes

    def quoted(self) -> bool:
        """Takes a string, template, command, regex or heredoc here."""
        char, language = self.text[self.at], self.language
        if char in "'\"":
            self.string(char, char, interpolates=char == '"' and language in ("perl", "ruby", "php"), escapes=True)
            return True
        if char == "`":
            if language == "javascript":
                self.string("`", "`", interpolates=True, kind="template")
            elif language == "lua":
                return False
            else:
                self.string("`", "`", interpolates=True, kind="command")
            return True
        if char == "[" and language == "lua":
            match = re.compile(r"\[(=*)\[").match(self.text, self.at)
            if match:
                self.delimited(match.end(), f"]{match[1]}]")
                return True
        if char == "/" and language in ("javascript", "perl", "ruby") and self.regex_may_start():
            return self.regex()
        if language == "perl" and self.quote_like():
            return True
        if language == "ruby" and char == "%" and self.percent():
            return True
        return char == "<" and self.text.startswith("<<", self.at) and self.heredoc()

    def string(
        self, opener: str, closer: str, *, interpolates: bool, escapes: bool = True, kind: str = "text", at: int | None = None
    ) -> None:
        """A quoted piece up to its closer, with nesting when the two differ."""
        text = self.text
        start = self.at + 1 if at is None else at
        end, depth = start, 0
        while end < len(text):
            if text[end] == "\\":
                end += 2
                continue
            if text[end] == opener and opener != closer:
                depth += 1
            elif text[end] == closer:
                if not depth:
                    break
                depth -= 1
            elif interpolates and opener == "`" and self.language == "javascript" and text.startswith("${", end):
                end = _close(text, end + 2, "{", "}")
            end += 1
        body = text[start:end]
        self.at = min(end + 1, len(text))
        if interpolates:
            parts = self.pieces(body)
            if kind == "text" and all(not code for code, _ in parts):
                self.push("text", "".join(piece for _, piece in parts))
            else:
                self.push("template" if kind == "text" else kind, body, parts)
        else:
            self.push(kind, unescape(body, self.language, single=opener == "'"))

    def pieces(self, body: str) -> tuple[tuple[bool, str], ...]:
        """Text and code of an interpolating string."""
        if self.language == "javascript":
            opener = re.compile(r"\$\{")
        elif self.language == "ruby":
            opener = re.compile(r"#\{")
        else:
            found: list[tuple[bool, str]] = []
            last = 0
            for match in re.finditer(
                r"\\.|(?P<v>\{?\$\{?\w+(?:(?:->)?[\[{][^\]}]*[\]}])?\}?|@\{?\w+\}?|@\{\[.*?\]\})"
                if self.language == "perl"
                else r"\\.|(?P<v>\{\$[^}]*\}|\$\w+(?:\[\w*\]|->\w+)?)",
                body,
                re.DOTALL,
            ):
                if match["v"] is not None:
                    found.append((False, unescape(body[last : match.start()], self.language)))
                    found.append(
                        (
                            True,
                            match["v"].strip("{}").replace("${", "$").replace("{", "", 1)
                            if match["v"].startswith(("${", "{$"))
                            else match["v"],
                        )
                    )
                    last = match.end()
            found.append((False, unescape(body[last:], self.language)))
            return tuple(piece for piece in found if piece[1] or piece[0])
        found, last = [], 0
        at = 0
        while opened := opener.search(body, at):
            if opened.start() and body[opened.start() - 1] == "\\":
                at = opened.end()
                continue
            end = _close(body, opened.end(), "{", "}")
            found.append((False, unescape(body[last : opened.start()], self.language)))
            found.append((True, body[opened.end() : end]))
            last = at = end + 1
        found.append((False, unescape(body[last:], self.language)))
        return tuple(piece for piece in found if piece[1] or piece[0])

    def delimited(self, start: int, closer: str) -> None:
        end = self.text.find(closer, start)
        self.push("text", self.text[start : end if end >= 0 else len(self.text)].removeprefix("\n"))
        self.at = end + len(closer) if end >= 0 else len(self.text)

    def regex_may_start(self) -> bool:
        """Whether a slash here starts a regular expression: not after a value."""
        if not self.out:
            return True
        last = self.out[-1]
        if last.kind == "name":
            return last.text in _BEFORE_REGEX or (
                self.language == "ruby" and self.spaced and not self.text[self.at + 1 : self.at + 2].isspace()
            )
        if last.kind in ("text", "template", "number", "regex", "command"):
            return False
        return last.text not in (")", "]", "}")

    def regex(self) -> bool:
        """A /regex/ on this line."""
        match = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*").match(self.text, self.at)
        if match is None:
            return False
        self.push("regex", match[0])
        self.at = match.end()
        return True

    def quote_like(self) -> bool:
        """Perl's q qq qw qx m s tr y qr with any delimiter."""
        match = re.compile(r"(qq|qx|qw|qr|q|m|s|tr|y)\s*([^\w\s,;=)]|(?<=\s)[^\w\s,;=)])").match(self.text, self.at)
        if (
            match is None
            or (self.at and (self.text[self.at - 1].isalnum() or self.text[self.at - 1] in "_$@%&>{-"))
            or self.text.startswith("=>", match.end() - 1)
        ):
            return False
        if self.out and self.out[-1].text in ("->", "sub"):
            return False
        word, opener = match[1], match[2]
        closer = PAIRS.get(opener, opener)
        kind = {"qx": "command", "q": "text", "qq": "text", "qw": "text"}.get(word, "regex")
        self.string(opener, closer, interpolates=word in ("qq", "qx"), kind=kind, at=match.end())
        if word in ("s", "tr", "y"):
            token = self.out.pop()
            start = self.at
            if opener != closer:
                skip = re.compile(r"\s*([^\w\s])").match(self.text, self.at)
                opener, closer, start = (skip[1], PAIRS.get(skip[1], skip[1]), skip.end()) if skip else (opener, closer, self.at)
            self.string(opener, closer, interpolates=False, kind="text", at=start)
            replacement = self.out.pop()
            flags = re.compile(r"[a-z]*").match(self.text, self.at)
            self.at = flags.end() if flags else self.at
            # s///e runs its replacement as code.
            runs = word == "s" and flags is not None and "e" in flags[0]
            self.push("regex", token.text, ((True, replacement.text),) if runs else ())
        elif word in ("m", "qr"):
            flags = re.compile(r"[a-z]*").match(self.text, self.at)
            self.at = flags.end() if flags else self.at
        elif word == "qw":
            token = self.out.pop()
            words = token.text.split()
            self.push("op", "(")
            for index, one in enumerate(words):
                if index:
                    self.push("op", ",")
                self.push("text", one)
            self.push("op", ")")
        return True

    def percent(self) -> bool:
        """Ruby's %w %q %x and plain %(...)."""
        match = re.compile(r"%([wWiIqQxrs]?)([(\[{<|!/])").match(self.text, self.at)
        if (
            match is None
            or (self.out and self.out[-1].kind in ("number", "name", "text") and not match[1])
            or (self.out and self.out[-1].text in (")", "]"))
        ):
            return False
        self.at = match.end()
        kind = {"x": "command", "r": "regex"}.get(match[1], "text")
        self.string(match[2], PAIRS.get(match[2], match[2]), interpolates=match[1] not in ("w", "q", "i", "s"), kind=kind, at=self.at)
        if match[1] in ("w", "W", "i", "I"):
            token = self.out.pop()
            self.push("op", "[")
            for index, one in enumerate(token.text.split()):
                if index:
                    self.push("op", ",")
                self.push("text", one)
            self.push("op", "]")
        return True

    def heredoc(self) -> bool:
        """<<EOF, <<~EOF, <<'EOF', <<<EOF (PHP)."""
        if self.language not in ("perl", "ruby", "php"):
            return False
        match = re.compile(r"<<(<?)([~-]?)\s?(['\"`]?)([A-Z_]\w*)\3").match(self.text, self.at)
        if match is None or (self.language == "php") != bool(match[1]):
            return False
        self.at = match.end()
        self.heredocs.append((match[4], match[3] != "'", match[3] == "`"))
        self.push("heredoc", "")
        return True

    def heredoc_bodies(self, blank: re.Match[str]) -> None:
        """The bodies that start on this line."""
        self.at = blank.start() + blank[0].index("\n") + 1
        pending = [index for index, token in enumerate(self.out) if token.kind == "heredoc"]
        for name, interpolates, runs in self.heredocs:
            end = re.compile(rf"^[ \t]*{re.escape(name)}\b", re.MULTILINE).search(self.text, self.at)
            body = self.text[self.at : end.start() if end else len(self.text)]
            self.at = end.end() if end else len(self.text)
            parts = self.pieces(body) if interpolates else ((False, body),)
            index = pending.pop(0)
            dynamic = any(code for code, _ in parts)
            self.out[index] = Token("command" if runs else "template" if dynamic else "text", body, parts if dynamic or runs else ())
        self.heredocs.clear()
        self.fresh = True


def _close(text: str, at: int, opener: str, closer: str) -> int:
    """Index of the closer that belongs to an opener before `at`; quotes inside are skipped."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char in "'\"`":
            end = text.find(char, at + 1)
            at = end if end >= 0 else len(text)
        elif char == opener:
            depth += 1
        elif char == closer:
            if not depth:
                return at
            depth -= 1
        at += 1
    return len(text)


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "s": " "}


def unescape(body: str, language: str, single: bool = False) -> str:
    """Escapes of a string literal."""
    if "\\" not in body:
        return body
    if single and language in ("perl", "ruby", "php"):
        return re.sub(r"\\([\\'])", r"\1", body)

    def one(match: re.Match[str]) -> str:
        text = match[1]
        if text[0] in "xuU" and len(text) > 1:
            digits = text[1:].strip("{}")
            return chr(int(digits, 16)) if int(digits, 16) < 0x110000 else ""
        if (text[0].isdigit() and language != "javascript") or (text[0] in "01234567" and len(text) > 1):
            return (
                chr(int(text, 10 if language == "lua" else 8) & 0xFF)
                if text.isdigit() and (language == "lua" or set(text) <= set("01234567"))
                else text
            )
        return "" if text == "\n" else _ESCAPES.get(text, text)

    return re.sub(
        r"\\(x\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{1,2}|u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|\d{1,3}|.)", one, body, flags=re.DOTALL
    )
