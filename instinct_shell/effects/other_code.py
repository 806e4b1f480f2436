"""JavaScript, Perl, Ruby, PHP and Lua source text -> effects, by what can be proven from their tokens.

An expression evaluator over tokens, blind to control flow (every branch counts): literals, concatenations, known variables, module aliases,
arrays, calls. What the code does to files, processes, the network is in code_actions.py.
"""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind
from ..shell.invocation import Field, literal
from . import spend
from .call import Call, Scene
from .code_chain import Chains
from .code_lexer import Token, tokens
from .python_values import UNKNOWN, Either, Many, Ref, Table, Thing, Under, Unknown, alternatives, concat

LONGEST = 256 << 10
MOST_STEPS = 60_000
_DECLARES = frozenset("const let var my our local global".split())
_SKIPPED = frozenset(
    "async await return throw typeof void new delete not yield if unless while until else elsif elseif do then and "
    "or begin ensure rescue case switch print_".split()
)
_STOPS = frozenset((",", ")", "]", "}", ";"))
_BINARY = frozenset("+ - * / % . .. == === != !== < > <= >= && || ?? ? : = += .= =~ !~ & | ^ << =>".split())


class TooLong(Exception):
    """The text is longer than the reader's patience; the rest is opaque."""


def code_effects(
    text: str, call: Call, scene: Scene, language: str, argv: tuple[Field, ...] = (), path: str = "", depth: int = 0
) -> tuple[Effect, ...]:
    """Effects of a program text in one of the languages."""
    if language == "php" and "<?" in text:
        text = "\n".join(re.findall(r"<\?(?:php|=)?(.*?)(?:\?>|\Z)", text, re.DOTALL))
    if language == "perl" and "{" in text:
        # `exec {"rm"} "ls", "-rf", $d` runs rm; the first word of the list is only its name
        text = re.sub(r"""\b(exec|system)\s*\{\s*(["'])([^"'{}]+)\2\s*\}\s*(?:(["'])[^"']*\4\s*,)?""", r'\1 "\3", ', text)
    if language == "perl" and "pack" in text:
        text = re.sub(_PACKED, _unpacked, text)
    if language in ("perl", "ruby") and len(text) <= LONGEST:
        text = _with_parentheses(text)
    if len(text) > LONGEST:
        return (
            call.effect(
                EffectKind.CODE_OPAQUE, language=language, reason="the code is too long to read", source="generated", dynamic="interpreter"
            ),
        )
    reader = Reader(call, scene, language, argv, path, depth)
    if language == "perl" and re.search(r"\bfind(?:depth)?\b", text):
        found_below(reader, text)
    try:
        reader.run(tokens(text, language))
    except (TooLong, RecursionError):
        reader.effects.append(
            call.effect(
                EffectKind.CODE_OPAQUE,
                language=language,
                reason="the code is too long to follow",
                source="generated",
                dynamic="interpreter",
            )
        )
    if spend.is_ads(text):
        reader.effects.extend(spend.ads_effects(call, "client", text, dynamic=True))
    return (call.effect(EffectKind.CODE_INLINE, language=language), *dict.fromkeys(reader.effects))


# `pack("H*", "726d")` is a literal, with its parentheses or without.
_PACKED = r"""\bpack\s*(?:\(\s*(?:"H\*"|'H\*')\s*,\s*["']([0-9A-Fa-f]+)["']\s*\)|(?:"H\*"|'H\*')\s*,\s*["']([0-9A-Fa-f]+)["'])"""


def _unpacked(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    plain = bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("utf-8", "replace")
    return "'" + plain.replace("\\", "\\\\").replace("'", "\\'") + "'"


# A call without parentheses as the first argument of one that starts a program: `system(join "", @x)`, `exec lc "..."`.
_NO_NAME = r"(?!(?:if|unless|or|and|not|do|sub|my|our|q|qq|qw|x)\b)"
_STATEMENT = r"""(?:^|[;{}(=\n!&|,]|\b(?:and|or|if|unless|return|do|then|else|not|puts|print)\b)\s*"""  # where no string is read by chance
_BARE_CALLS = (
    re.compile(rf"""{_STATEMENT}(?:system|exec|spawn|popen|qx)\s*\(?\s*{_NO_NAME}([a-z_]\w*[!?]?)[ \t]+(?=["'$@%\w\[])"""),
    re.compile(rf"""{_STATEMENT}(system|exec|spawn)[ \t]+(?=["'$@%]|[a-z_]\w*\()"""),  # `system "make" or die`
)
_ARGUMENTS_END = re.compile(r"""["'](?:\\.|[^"'\\])*["']|[()\[\]{}]|;|\n|\b(?:if|unless|or|and|for|foreach|while)\b""")


def _with_parentheses(text: str) -> str:
    """The text with such calls written out, so that what they give is a value that is not known, and no program of that name."""
    for pattern in _BARE_CALLS:
        at = 0
        while match := pattern.search(text, at):
            start, end, depth = match.end(), len(text), 0
            for piece in _ARGUMENTS_END.finditer(text, start):
                mark = piece[0]
                depth += (mark in ("(", "[", "{")) - (mark in (")", "]", "}"))
                if depth < 0 or (depth == 0 and mark in (";", "\n", "if", "unless", "or", "and", "for", "foreach", "while")):
                    end = piece.start()
                    break
            text = f"{text[: match.end(1)]}({text[start:end]}){text[end:]}"
            at = match.end(1)
    return text


_PLACE = r"""(?:"[^"]*"|'[^']*'|\$ENV\{\w+\}|[$@]\w+)"""
_FIND = rf"\bfind(?:depth)?\s*\(?\s*(?:sub\b|\\\s*&|\{{|\\?&?\$?\w).*,\s*({_PLACE}(?:\s*,\s*{_PLACE})*)\s*(?:\)|;|$)"


def found_below(reader: Reader, text: str) -> None:
    """Perl's File::Find: `$_` is each file below the folders that stand behind the sub; a test of its ending narrows that."""
    match = re.search(_FIND, text, re.DOTALL)
    if match is None:
        return
    ending = re.search(r"/\\\.(\w+)\$/", text)
    folders: list[object] = []
    for word in re.findall(_PLACE, match[1]):
        value = reader.environment(word[5:-1]) if word.startswith("$ENV") else literal(word[1:-1]) if word[0] in "\"'" else UNKNOWN
        if isinstance(value, Field):
            folders.append(Under(value, f"*.{ending[1]}" if ending else ""))
    if folders:
        for name in ("$_", "$File::Find::name", "$File.Find.name"):
            reader.names[name] = alternatives(folders)


class Reader(Chains):
    """Evaluates a token sequence."""

    def __init__(self, call: Call, scene: Scene, language: str, argv: tuple[Field, ...], path: str, depth: int) -> None:
        super().__init__(call, scene, language, argv, path, depth)
        self.steps = 0
        self.tokens: tuple[Token, ...] = ()

    def run(self, sequence: tuple[Token, ...]) -> object:
        """Evaluates everything; the value of the last expression."""
        outer, self.tokens = self.tokens, sequence
        at = 0
        last: object = UNKNOWN
        while at < len(sequence):
            value, after = self.expression(at)
            last = value if after > at else last
            at = max(after, at + 1)
        self.tokens = outer
        return last

    def peek(self, at: int) -> str:
        """The text of an operator or name at this index, "" for anything else."""
        token = self.tokens[at] if 0 <= at < len(self.tokens) else None
        return token.text if token is not None and token.kind in ("op", "name") else ""

    # ------------------------------------------------------------ expressions

    def expression(self, at: int) -> tuple[object, int]:
        """One expression with its operators; stops before , ) ] } ; and at a new statement."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong
        start = at
        text = self.peek(at)
        if text in _DECLARES or text in ("import", "export", "use", "for", "foreach", "function", "sub", "def", "class", "from"):
            handled = self.statement(text, at)
            if handled is not None:
                return UNKNOWN, handled
        while self.peek(at) in _DECLARES and at + 1 < len(self.tokens):
            at += 1
        target = self.target(at)
        before = at
        value, at = self.primary(at)
        if at == before:
            return UNKNOWN, max(start, at)
        while at < len(self.tokens):
            operator = self.peek(at)
            token = self.tokens[at]
            if token.kind != "op" and operator not in ("or", "and", "if", "unless", "for", "foreach", "x", "as", "in"):
                break
            if operator in _STOPS or (operator not in _BINARY and operator not in ("or", "and")):
                break
            if operator == "=" and target:
                right, at = self.expression(at + 1)
                self.assign(target, right)
                value = right
                continue
            if operator in ("+=", ".=") and target:
                right, at = self.expression(at + 1)
                value = concat(value, right)
                self.assign(target, value)
                continue
            right, after = self.primary(at + 1)
            value = self.binary(value, operator, right)
            at = max(after, at + 1)
        return value, at

    def binary(self, left: object, operator: str, right: object) -> object:
        """left operator right."""
        joins = {"javascript": "+", "ruby": "+", "lua": "..", "perl": ".", "php": "."}[self.language]
        if operator == joins or (operator == "+" and self.language == "ruby"):
            if isinstance(left, Many) and isinstance(right, Many):
                return Many((*left.items, *right.items), left.more or right.more)
            if isinstance(left, int) and isinstance(right, int) and operator == "+":
                return left + right
            return concat(left, right)
        if operator in ("||", "??", "or", ":"):
            return alternatives([left, right])
        if operator in ("&&", "?", "and", "=>"):
            return right
        if operator == "/" and self.language == "ruby" and isinstance(left, Field):
            from .python_values import join_path

            return join_path(left, right)
        if operator == "=":
            return right
        return UNKNOWN

    def target(self, at: int) -> str:
        """The name that an assignment here would set, "" when it is no simple name (or `a.b`)."""
        if at >= len(self.tokens) or self.tokens[at].kind != "name":
            return ""
        name = self.tokens[at].text
        return name if self.peek(at + 1) in ("=", "+=", ".=") else ""

    def assign(self, name: str, value: object) -> None:
        """name = value; the reader is blind to branches, so an earlier known value may still stand."""
        before = self.names.get(name)
        self.names[name] = alternatives([value, before]) if isinstance(before, (Field, Either)) else value

    def primary(self, at: int) -> tuple[object, int]:
        """A value with its calls, members and subscripts."""
        if at >= len(self.tokens):
            return UNKNOWN, at
        token = self.tokens[at]
        if token.kind in ("text", "number"):
            value: object = literal(token.text) if token.kind == "text" else int(token.text) if token.text.isdigit() else UNKNOWN
            return self.chain(value, at + 1)
        if token.kind == "template":
            return self.chain(self.interpolated(token), at + 1)
        if token.kind == "command":
            self.shell_text(self.interpolated(token) if token.parts else literal(token.text))
            return self.chain(Unknown("command"), at + 1)
        if token.kind == "regex":
            for _, code in token.parts:
                self.run(tokens(code, self.language))
            return self.chain(UNKNOWN, at + 1)
        if token.kind == "op":
            return self.operator(token, at)
        return self.named(token, at)

    def operator(self, token: Token, at: int) -> tuple[object, int]:
        """A value that starts with a bracket or a sign."""
        text = token.text
        if text == "(":
            items, after = self.items(at + 1, ")")
            value: object = items[0] if len(items) == 1 else Many(tuple(items))
            return self.chain(value, after)
        if text == "[":
            items, after = self.items(at + 1, "]")
            return self.chain(Many(tuple(items)), after)
        if text == "{":
            return self.braces(at)
        if text == "<" and self.language == "perl":
            match = self.angle(at)
            if match is not None:
                return match
        if text in ("!", "-", "+", "~", "\\", "&", "*", "@", "..."):
            value, after = self.primary(at + 1)
            return (value if text in ("...", "\\", "&", "*", "@") else UNKNOWN), max(after, at + 1)
        return UNKNOWN, at

    def angle(self, at: int) -> tuple[object, int] | None:
        """Perl's <*.o> and <STDIN>."""
        end = next((i for i in range(at + 1, min(at + 12, len(self.tokens))) if self.peek(i) == ">"), 0)
        if not end:
            return None
        text = "".join(token.text for token in self.tokens[at + 1 : end])
        if "$" in text:
            value = self.inner('"' + text.replace('"', "") + '"')
            return (self.globbed(value) if isinstance(value, Field) and value.text and any(c in value.text for c in "*?[/") else Unknown("file")), end + 1
        if text in ("STDIN", ""):
            return Unknown("stdin"), end + 1
        if any(c in text for c in "*?"):
            return self.globbed(literal(text)), end + 1
        return Unknown("file"), end + 1

    def braces(self, at: int) -> tuple[object, int]:
        """An object literal, or the start of a block (which is looked through)."""
        first = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        second = self.peek(at + 2)
        if first is not None and (
            first.text == "}" or (first.kind in ("name", "text") and second in (":", "=>", ",", "}", "=")) or first.text == "..."
        ):
            pairs: list[tuple[object, object]] = []
            at += 1
            while at < len(self.tokens) and self.peek(at) != "}":
                key = self.tokens[at]
                if key.kind in ("name", "text") and self.peek(at + 1) in (":", "=>", "="):
                    value, after = self.expression(at + 2)
                    pairs.append((literal(key.text.lstrip(":")), value))
                    at = max(after, at + 2)
                elif key.kind == "name" and self.peek(at + 1) in (",", "}"):
                    pairs.append((literal(key.text), self.lookup(key.text)))
                    at += 1
                else:
                    value, after = self.expression(at)
                    if isinstance(value, Thing) and value.kind == "environ":
                        pairs.append((literal("..."), Unknown("env")))
                    at = max(after, at + 1)
                if self.peek(at) == ",":
                    at += 1
            return self.chain(Table(tuple(pairs)), at + 1)
        return UNKNOWN, at + 1

    def items(self, at: int, closer: str) -> tuple[list[object], int]:
        """Comma separated values up to the closer."""
        found: list[object] = []
        while at < len(self.tokens):
            text = self.peek(at)
            if text == closer:
                return found, at + 1
            if text in (",", ";", "=>"):
                at += 1
                continue
            value, after = self.expression(at)
            if after == at:
                at += 1
                continue
            spread = self.tokens[at].text == "..." or (self.language == "perl" and self.tokens[at].text.startswith("@"))
            if spread and isinstance(value, Many):
                found += value.items
            else:
                found.append(value)
            at = after
        return found, at

    def interpolated(self, token: Token) -> object:
        """The value of a string with code in it."""
        found: object = literal("")
        for is_code, text in token.parts:
            found = concat(found, self.inner(text) if is_code else literal(text))
        return found

    def inner(self, code: str) -> object:
        """The value of code inside a string."""
        return self.run(tokens(code, self.language))

    # ------------------------------------------------------------ names and chains

    def named(self, token: Token, at: int) -> tuple[object, int]:
        """A name: a keyword, a variable, a function, a module."""
        text = token.text
        if text in _SKIPPED or text in _DECLARES:
            value, after = self.primary(at + 1)
            return value, max(after, at + 1)
        if text == "__DIR__" or text == "__dirname":
            return self.chain(self.call.invocation.cwd, at + 1)
        if self.language == "ruby" and text.startswith(":") and len(text) > 1:
            return self.chain(literal(text.lstrip(":")), at + 1)
        if self.language == "perl" and self.peek(at + 1) == "{" and text in ("eval", "do", "map", "grep", "sort"):
            return UNKNOWN, at + 1
        if self.language == "perl" and self.peek(at + 1) == "{" and text in ("exec", "system", "print", "say", "printf"):
            end = next((i for i in range(at + 2, len(self.tokens)) if self.peek(i) == "}"), at + 1)
            arguments, after = self.bare(end + 1)
            return self.invoke(Ref(text), tuple(arguments)), after
        return self.chain(self.lookup(text), at + 1)

    def lookup(self, name: str) -> object:
        """What a name stands for."""
        if name in self.names:
            return self.names[name]
        if self.language == "perl" and name[:1] in "$@" and "@" + name[1:] in self.names:
            return self.names["@" + name[1:]]
        return self.constant(name)
