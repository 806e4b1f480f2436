"""bash arithmetic on known values. What it cannot work out is None, and every variable the expression may change is then unknown."""

from __future__ import annotations

import operator
import re
from functools import cache, lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_BINARY = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<=", ">=", "<", ">"),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
    ("**",),
)
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: bool(a) or bool(b),
    "&&": lambda a, b: bool(a) and bool(b),
    "|": operator.or_,
    "^": operator.xor,
    "&": operator.and_,
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "<<": lambda a, b: a << (b & 63),
    ">>": lambda a, b: a >> (b & 63),
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "**": operator.pow,
}
_ASSIGN = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="})
_BITS = 1 << 64
_LONGEST = 1_000  # characters of a text that are looked at to tell whether it is an expression


class Unknown(Exception):
    """The expression depends on something that is not known, or is none."""


class NotKnown(Unknown):
    """It depends on something that is not known, and may well be in order."""


@cache
def _token() -> re.Pattern[str]:
    return re.compile(
        r"\s*(0[xX][0-9a-fA-F]+|\d+#[0-9a-zA-Z@_]+|\d+|\$?[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*\}|\$[0-9#?]"
        r"|<<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^!~<>=?:,()])"
    )


class Names:
    """What an expression may read and change: `get` yields an integer or raises Unknown, `set` takes the new value."""

    def __init__(self, get: Callable[[str], int], set_: Callable[[str, int], None]) -> None:
        self.get = get
        self.set = set_


def evaluate(text: str, names: Names) -> int:
    """The value of an expression, as a signed 64-bit integer. Raises Unknown."""
    parser = _Parser(_tokens(text), names)
    found = parser.comma()
    if parser.at != len(parser.tokens):
        raise Unknown
    return found


@lru_cache(maxsize=512)
def is_none(text: str) -> bool:
    """Whether the text is surely no expression, whatever its names hold."""
    try:
        evaluate(text[:_LONGEST].strip(), Names(lambda _: 1, lambda _, __: None))
    except (Unknown, RecursionError):
        return True
    return False


def assigned_names(text: str) -> tuple[str, ...]:
    """The variables that an expression may change, whether or not it could be worked out."""
    found = re.findall(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^]]*\])?\s*(?:\+\+|--|(?:<<|>>|[-+*/%&|^])?=(?!=))", text)
    found += re.findall(r"(?:\+\+|--)\s*([A-Za-z_][A-Za-z0-9_]*)", text)
    return tuple(dict.fromkeys(found))


def names(text: str) -> tuple[str, ...]:
    """The names that stand in an expression."""
    return tuple(dict.fromkeys(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text)))


def _tokens(text: str) -> list[str]:
    out = []
    at = 0
    pattern = _token()
    text = text.rstrip()
    while at < len(text):
        found = pattern.match(text, at)
        if not found:
            raise Unknown
        out.append(found[1])
        at = found.end()
    return out


def _wrap(number: int) -> int:
    number %= _BITS
    return number - _BITS if number >= _BITS // 2 else number


class _Parser:
    def __init__(self, tokens: list[str], names: Names) -> None:
        self.tokens = tokens
        self.names = names
        self.at = 0
        self.quiet = 0  # inside a part that is not evaluated (short circuit)
        self.depth = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        found = self.peek()
        self.at += 1
        return found

    def comma(self) -> int:
        if not self.tokens:
            return 0
        found = self.assignment()
        while self.peek() == ",":
            self.take()
            found = self.assignment()
        return found

    def assignment(self) -> int:
        self.depth += 1
        if self.depth > 60:
            raise Unknown
        start = self.at
        name = self.peek()
        if name[:1].isalpha() or name[:1] == "_":
            self.take()
            op = self.peek()
            if op in _ASSIGN:
                self.take()
                old = 0 if self.quiet or op == "=" else self.names.get(name)  # before what stands on the right changes it
                right = self.assignment()
                value = right if op == "=" else self.apply(op[:-1], old, right)
                if not self.quiet:
                    self.names.set(name, value)
                self.depth -= 1
                return value
            self.at = start
        found = self.conditional()
        self.depth -= 1
        return found

    def conditional(self) -> int:
        test = self.binary(0)
        if self.peek() != "?":
            return test
        self.take()
        self.quiet += not test
        yes = self.assignment()
        self.quiet -= not test
        if self.take() != ":":
            raise Unknown
        self.quiet += bool(test)
        no = self.assignment()
        self.quiet -= bool(test)
        return yes if test else no

    def binary(self, level: int) -> int:
        if level == len(_BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in _BINARY[level]:
            op = self.take()
            skip = (op == "&&" and not left) or (op == "||" and bool(left))
            self.quiet += skip
            right = self.binary(level if op == "**" else level + 1)
            self.quiet -= skip
            left = int(bool(left)) if skip else self.apply(op, left, right)
        return left

    def unary(self) -> int:
        token = self.take()
        if token in ("+", "-", "!", "~"):
            value = self.unary()
            return {"+": value, "-": _wrap(-value), "!": int(not value), "~": ~value}[token]
        if token in ("++", "--"):
            if not (self.peek()[:1].isalpha() or self.peek()[:1] in ("_", "$")):
                return self.unary()  # `--1` is minus minus one
            name = self.take()
            return self.step(name, 1 if token == "++" else -1, after=True)
        if token == "(":
            found = self.comma()
            if self.take() != ")":
                raise Unknown
            return found
        if not token:
            raise Unknown
        if token[0].isdigit():
            return _number(token)
        if token[0].isalpha() or token[0] in "_$":
            name = token.strip("${}") if token[0] == "$" else token
            if self.peek() in ("++", "--"):
                return self.step(name, 1 if self.take() == "++" else -1, after=False)
            return 0 if self.quiet else self.names.get(name)
        raise Unknown

    def step(self, name: str, by: int, *, after: bool) -> int:
        if self.quiet:
            return 0
        old = self.names.get(name)
        self.names.set(name, _wrap(old + by))
        return _wrap(old + by) if after else old

    def apply(self, op: str, left: int, right: int) -> int:
        if self.quiet:
            return 0
        if op in ("/", "%"):
            if right == 0:
                raise Unknown
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return _wrap(quotient if op == "/" else left - quotient * right)
        if op == "**" and (right < 0 or (right > 64 and abs(left) > 1)):
            raise Unknown
        return _wrap(int(_OPERATIONS[op](left, right)))


def _number(token: str) -> int:
    try:
        if "#" in token:
            base, _, digits = token.partition("#")
            if not 2 <= int(base) <= 36:
                raise Unknown
            return _wrap(int(digits, int(base)))
        if token[:2] in ("0x", "0X"):
            return _wrap(int(token, 16))
        return _wrap(int(token, 8) if token[0] == "0" and len(token) > 1 else int(token))
    except ValueError:
        raise Unknown from None
