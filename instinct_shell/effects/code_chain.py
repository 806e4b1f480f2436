"""Chains of members, calls and subscripts in the code reader; loops and blocks bind what they go through."""

from __future__ import annotations

import re

from ..shell.invocation import Field, literal
from .code_actions import Actions
from .code_lexer import Token
from .python_values import UNKNOWN, Either, Many, Ref, Thing, Under, Unknown, alternatives

_SEPARATORS = frozenset((".", "?.", "->", "::", ":"))


class Chains(Actions):
    """Evaluates what follows a value; the tokens and the expressions are `other_code.Reader`'s."""

    tokens: tuple[Token, ...]

    def peek(self, at: int) -> str:
        """other_code: the text of an operator or name at this index."""
        raise NotImplementedError

    def expression(self, at: int) -> tuple[object, int]:
        """other_code: one expression with its operators."""
        raise NotImplementedError

    def primary(self, at: int) -> tuple[object, int]:
        """other_code: a value with its calls, members and subscripts."""
        raise NotImplementedError

    def items(self, at: int, closer: str) -> tuple[list[object], int]:
        """other_code: comma separated values up to the closer."""
        raise NotImplementedError

    def interpolated(self, token: Token) -> object:
        """other_code: the value of a string with code in it."""
        raise NotImplementedError

    def chain(self, value: object, at: int) -> tuple[object, int]:
        """.name, [index], (arguments), and arguments without parentheses where the language has them."""
        while at < len(self.tokens):
            text = self.peek(at)
            following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
            if (
                text in _SEPARATORS
                and following is not None
                and following.kind == "name"
                and not (text == "." and self.language in ("perl", "php"))
                and not (text == ":" and self.language != "lua")
            ):
                value = self.member(value, following.text)
                at += 2
                self.bind_block(value, at)
                if isinstance(value, Ref) and self.action(value.name) == "dotenv" and (at >= len(self.tokens) or not self.given_arguments(value, at)):
                    value = self.invoke(value, ())  # `Dotenv.parse.each`: ruby calls it
            elif text in ("?.", "->") and following is not None and following.text in ("[", "(", "{"):
                at += 1
            elif text == "[" and not (self.tokens[at].spaced and self.language in ("ruby", "perl")) and not isinstance(value, (Field,)):
                items, at = self.items(at + 1, "]")
                value = self.index(value, items[0] if items else UNKNOWN)
            elif text == "(" and not (self.tokens[at].spaced and self.language == "ruby" and not isinstance(value, Ref)):
                self.bind_arrow(value, at)
                arguments, at = self.items(at + 1, ")")
                value = self.invoke(value, tuple(arguments))
                self.bind_walk(value, at)
            elif self.tokens[at].kind == "template" and isinstance(value, Ref) and self.language == "javascript":
                if value.name.rsplit(".", 1)[-1] in ("$", "sh", "execaCommand", "shell"):
                    self.shell_text(self.interpolated(self.tokens[at]))
                at += 1
            elif isinstance(value, Ref) and self.takes_bare(value, at):
                arguments, at = self.bare(at)
                value = self.invoke(value, tuple(arguments))
            elif text == "{" and self.language == "perl" and isinstance(value, (Thing,)) and value.kind == "environ":
                if following is not None and following.kind == "name" and self.peek(at + 2) == "}":
                    value, at = self.index(value, literal(following.text)), at + 3  # a bare word is a name there
                    continue
                items, at = self.items(at + 1, "}")
                value = self.index(value, items[0] if items else UNKNOWN)
            else:
                break
        if self.language == "ruby" and isinstance(value, Ref) and self.action(value.name) in ("home", "tmpdir", "cwd"):
            value = self.invoke(value, ())  # a call needs no parentheses there
        if self.language == "perl" and isinstance(value, Ref) and at >= len(self.tokens) and self.action(value.name) == "delete":
            value = self.invoke(value, ())  # `unlink` at the end: what `$_` names
        return value, at

    def given_arguments(self, value: Ref, at: int) -> bool:
        """Whether arguments of a call stand here, in parentheses or without."""
        return self.peek(at) == "(" or self.takes_bare(value, at)

    def takes_bare(self, value: Ref, at: int) -> bool:
        """Whether arguments without parentheses follow: `system "ls"`, `rm_rf x`, `unlink $f for ...`."""
        if self.language not in ("perl", "ruby", "php", "lua") or self.action(value.name) is None:
            return False
        token = self.tokens[at]
        if self.language == "perl" and self.action(value.name) == "delete" and token.text in ("if", "unless", ";", "}", "or", "and", "||", "&&"):
            return True
        if self.language == "perl" and token.text in ("for", "foreach"):
            return True  # `unlink for glob(..)`: acts on `$_`
        if token.line and self.language != "perl":
            return False
        if token.kind in ("text", "template", "command"):
            return True
        if self.language == "lua" or (
            self.language == "php"
            and value.name not in ("echo", "print", "include", "require", "include_once", "require_once", "exit", "die")
        ):
            return False
        if token.kind == "name":
            return token.text not in (
                "if",
                "unless",
                "or",
                "and",
                "for",
                "foreach",
                "while",
                "until",
                "x",
                "eq",
                "ne",
                "do",
                "then",
                "end",
                "in",
                "rescue",
                "cmp",
                "lt",
                "gt",
            )
        return (
            token.text in ("[", "\\", "{", "<")
            and (token.spaced or token.text == "\\")
            and not (self.language == "perl" and token.text == "[")
            and token.text != "{"
        ) or (token.text == "@" and self.language == "perl")

    def bare(self, at: int) -> tuple[list[object], int]:
        """Arguments up to the end of the statement."""
        found: list[object] = []
        self.bind_postfix(at)
        while at < len(self.tokens):
            if self.peek(at) in (
                ";",
                ")",
                "}",
                "]",
                "if",
                "unless",
                "for",
                "foreach",
                "or",
                "and",
                "do",
                "{",
                "while",
                "end",
                "&&",
                "||",
            ) or (found and self.tokens[at].line and self.language == "ruby"):
                break
            if self.peek(at) in (",", "=>"):
                at += 1
                continue
            value, after = self.expression(at)
            if after == at:
                break
            if isinstance(value, Many) and self.language == "perl":
                found += value.items
            else:
                found.append(value)
            at = after
        return found, at

    def bind_postfix(self, at: int) -> None:
        """Perl's `... for LIST`: `$_` is an item of the list."""
        while self.language == "perl" and at < len(self.tokens) and self.peek(at) not in (";", "}"):
            if self.peek(at) in ("for", "foreach"):
                value, _ = self.expression(at + 1) if self.peek(at + 1) != "(" else self.primary(at + 1)
                self.names["$_"] = self.item_of(value)
                return
            at += 1

    def bind_block(self, value: object, at: int) -> None:
        """`.each { |d|` and `.each do |d|`: the block's parameter is an item of the receiver."""
        if self.language != "ruby" or not (
            isinstance(value, Thing)
            and value.kind == "method"
            and str(value.more).startswith(("each", "map", "select", "collect", "reject"))
        ):
            return
        if self.peek(at) in ("{", "do") and self.peek(at + 1) == "|" and self.peek(at + 2):
            self.names[self.peek(at + 2)] = self.item_of(value.detail)

    def bind_walk(self, value: object, at: int) -> None:
        """`Find.find(dir) { |f|`: the block's parameter is something that was found."""
        if self.language == "ruby" and isinstance(value, Under) and self.peek(at) in ("{", "do") and self.peek(at + 1) == "|" and self.peek(at + 2):
            self.names[self.peek(at + 2)] = value

    def bind_arrow(self, value: object, at: int) -> None:
        """`.forEach(f => ...)`, `.map((f) => ...)`, `.forEach(function (f) {`: the parameter is an item of the receiver."""
        if self.language == "javascript" and isinstance(value, Ref) and value.name.endswith(".then"):
            value = Thing("method", Ref(value.name[: -len(".then")]), "then")
        if self.language != "javascript" or not (
            isinstance(value, Thing)
            and value.kind == "method"
            and value.more in ("forEach", "map", "filter", "flatMap", "then", "some", "every", "for")
        ):
            return
        words = [self.peek(at + offset) for offset in range(1, 8)]
        if "=>" not in words and "function" not in words[:2]:
            return
        for offset in range(1, 5):
            name = self.peek(at + offset)
            if name and re.match(r"[A-Za-z_$]", name) and name not in ("async", "function"):
                self.names[name] = self.item_of(value.detail) if value.more != "then" else value.detail
                return

    def statement(self, word: str, at: int) -> int | None:
        """Declarations with patterns, imports and for loops; the index after what was handled, None to evaluate as usual."""
        if word in ("const", "let", "var", "import", "export") and self.language == "javascript":
            from .code_modules import declaration

            return declaration(self, word, at)
        if word in ("for", "foreach"):
            return self.loop_head(at)
        if word in ("my", "our", "local") and self.language == "perl" and self.peek(at + 1) == "(":
            return None
        if word in ("sub", "function", "def") and self.peek(at + 1):
            return at + 2
        if word == "use" and self.language in ("perl", "php"):
            end = at
            while end < len(self.tokens) and self.peek(end) != ";":
                end += 1
            return end
        return None

    def loop_head(self, at: int) -> int | None:
        """`for (const x of LIST)`, `foreach my $x (LIST)`, `for x in LIST`, `foreach ($list as $x)`."""
        index = at + 1
        if self.peek(index) == "(":
            index += 1
        while self.peek(index) in ("const", "let", "var", "my", "our", "await"):
            index += 1
        name = self.peek(index)
        if self.language == "perl" and self.peek(at + 1) == "(" and self.peek(index) != "$":
            value, after = self.primary(at + 1)
            self.names["$_"] = self.item_of(value)
            return after
        if self.language == "perl" and name.startswith("$") and self.peek(index + 1) == "(":
            items, after = self.items(index + 2, ")")
            self.names[name] = self.item_of(Many(tuple(items)) if len(items) != 1 else items[0])
            return after
        if self.language == "php":
            value, after = self.primary(index)
            if self.peek(after) == "as":
                last = after + 1
                while self.peek(last + 1) == "=>" or (self.peek(last + 1).startswith("$") and self.peek(last) == "=>"):
                    last += 1
                self.names[self.peek(last)] = self.item_of(value)
                return last + 1
            return None
        if name and self.peek(index + 1) in ("of", "in"):
            value, after = self.expression(index + 2)
            self.names[name] = self.item_of(value)
            return after
        return None

    def item_of(self, value: object) -> object:
        """One value that stands for each item."""
        if isinstance(value, Either):
            return value
        if isinstance(value, Many):
            return alternatives(list(value.items)) if value.items else UNKNOWN
        if isinstance(value, (Field, Under)):
            return value
        return value if isinstance(value, Unknown) else UNKNOWN
