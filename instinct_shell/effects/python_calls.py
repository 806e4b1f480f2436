"""Calls in the Python reader: what is called, with which arguments, and which part says what that does."""

from __future__ import annotations

import ast

from ..shell.invocation import Field, literal
from .python_attributes import Attributes
from .python_decode import Decoding
from .python_files import Files
from .python_ground import Args, Named
from .python_names import FUNCTIONS, PATH_METHODS
from .python_network import Network
from .python_processes import Processes
from .python_texts import text_method
from .python_things import Things
from .python_values import UNKNOWN, Either, Many, Ref, Table, Thing, Under, Unknown, alternatives, field_of


class Calls(Files, Processes, Decoding, Attributes, Network, Things):
    """Evaluates calls; `python_code.Reader` evaluates expressions."""

    def call_of(self, node: ast.Call) -> object:
        """One call: its arguments, then what is called."""
        args: list[object] = []
        for argument in node.args:
            found = self.value(argument)
            if isinstance(argument, ast.Starred) and isinstance(found, Many):
                args += found.items
            else:
                args.append(found)
        named = {keyword.arg: self.value(keyword.value) for keyword in node.keywords if keyword.arg}
        spread = [self.value(keyword.value) for keyword in node.keywords if keyword.arg is None]
        for one in spread:
            if isinstance(one, Table):
                named.update({k.text: v for k, v in one.pairs if isinstance(k, Field) and k.text})
        if isinstance(node.func, ast.Attribute):
            bound = self.value(node.func)
            if isinstance(bound, Thing) and bound.kind == "method":
                return self.method(bound.detail, str(bound.more), tuple(args), named, node)
            if (
                isinstance(bound, Ref)
                or type(bound).__name__ == "Local"
                or (isinstance(bound, Thing) and bound.kind in ("class", "partial", "method"))
            ):
                return self.invoke(bound, tuple(args), named)
            return self.method(self.value(node.func.value), node.func.attr, tuple(args), named, node)
        return self.invoke(self.value(node.func), tuple(args), named)

    def invoke(self, function: object, args: Args, named: Named) -> object:
        """Calls a value."""
        if isinstance(function, Ref):
            return self.known_call(function.name, args, named)
        if type(function).__name__ == "Local":
            return self.enter(function, args, named)
        if isinstance(function, Thing):
            if function.kind == "partial" and isinstance(function.detail, Many):
                return self.invoke(function.detail.items[0], (*function.detail.items[1:], *args), named)
            if function.kind == "method":
                return self.method(function.detail, str(function.more), args, named, None)
            if function.kind == "class":
                return Thing("instance", function.detail)
            if function.kind == "attrgetter" and args:
                return self.attribute_of(args[0], function.detail)
        if isinstance(function, Unknown) and function.source == "computed":
            self.opaque("generated", "calls a computed function")
        return UNKNOWN

    def known_call(self, name: str, args: Args, named: Named) -> object:
        """A call of a function by its dotted name."""
        action = FUNCTIONS.get(name)
        if action is None and name.startswith("sh.") and name.count(".") == 1:
            self.process((literal(name[3:]), *map(field_of, args)), named)
            return UNKNOWN
        if action is None:
            return self.unknown_call(name, args, named)
        if action.startswith("decode "):
            return self.decoded(action.removeprefix("decode "), args)
        found: object = getattr(self, "do_" + action)(name, args, named)
        return found

    def method(self, base: object, name: str, args: Args, named: Named, node: ast.Call | None) -> object:
        """A method of a value."""
        if isinstance(base, Either):
            return alternatives([self.method(one, name, args, named, node) for one in base.values])
        if isinstance(base, (Field, Under)) and name in PATH_METHODS:
            return self.path_method(base, name, args, named)
        if isinstance(base, (Field, Under)):
            found = text_method(self, base, name, args)
            if found is not None:
                return found
        return self.thing_method(base, name, args, named, node)
