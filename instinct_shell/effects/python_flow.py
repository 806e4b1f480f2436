"""Control flow in the Python reader: branches, loops, functions of the text, and what names are bound to."""

from __future__ import annotations

import ast

from ..model.effect import Certainty
from ..shell.invocation import Field, Known, literal
from .call import Call, Scene
from .python_calls import Calls
from .python_values import UNKNOWN, Many, Table, Thing, Under, Unknown, alternatives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

UNROLLED = 24  # items of a literal list that a loop goes through one by one
DEEPEST = 12  # calls of local functions inside each other


class Local:
    """A function of the text: its definition, and whether any call was followed."""

    __slots__ = ("called", "node")

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self.node = node
        self.called = False


class Flow(Calls):
    """Statements that choose, repeat, define and bind."""

    def __init__(self, call: Call, scene: Scene, argv: tuple[Field, ...], path: str, depth: int) -> None:
        super().__init__(call, scene, argv, path, depth)
        self.functions: list[Local] = []
        self.classes: list[ast.ClassDef] = []
        self.returned: list[object] = []
        self.nesting = 0

    def block(self, body: list[ast.stmt]) -> None:
        """python_code: statements in order."""
        raise NotImplementedError

    def branch(self, node: ast.If) -> None:
        """Both branches, then the names joined. `if __name__ == "__main__"` surely runs; a name test narrows what walks yield."""
        test = node.test
        self.value(test)
        if _is_main(test):
            self.block(node.body)
            return
        if isinstance(test, ast.Constant):
            self.block(node.body if test.value else node.orelse)
            return
        before, filters = dict(self.names), self.filter
        self.filter = name_filter(test) or self.filter
        self.maybe(node.body)
        self.filter = filters
        after = self.names
        self.names = dict(before)
        self.maybe(node.orelse)
        for name, value in after.items():
            other = self.names.get(name, value)
            self.names[name] = value if other is value else alternatives([value, other])

    def maybe(self, body: list[ast.stmt]) -> None:
        """Statements that may not run."""
        sure, self.sure = self.sure, Certainty.POSSIBLE
        try:
            self.block(body)
        finally:
            self.sure = sure

    def loop(self, target: ast.expr, iterable: object, body: list[ast.stmt] | Callable[[], object]) -> object:
        """The body once per literal item, or once for all items; returns the values of a comprehension's body."""
        results: list[object] = []
        if isinstance(iterable, Many) and not iterable.more and len(iterable.items) <= UNROLLED:
            for item in iterable.items:
                self.bind(target, item)
                results.append(self.body(body))
            return Many(tuple(results))
        self.bind(target, self.item_of(iterable))
        sure = self.sure
        if not isinstance(iterable, (Under, Many)):
            self.sure = Certainty.POSSIBLE
        results.append(self.body(body))
        self.sure = sure
        return Many(tuple(results), more=True)

    def body(self, body: list[ast.stmt] | Callable[[], object]) -> object:
        """A loop's body: statements, or the inside of a comprehension."""
        if isinstance(body, list):
            self.block(body)
            return None
        return body()

    def item_of(self, iterable: object) -> object:
        """One value that stands for each item."""
        if isinstance(iterable, Many):
            return alternatives(list(iterable.items)) if iterable.items else UNKNOWN
        if isinstance(iterable, Thing) and iterable.kind == "walk":
            names = Field(Known.SET, ("*",), glob=True, many=True)
            return Many((iterable.detail, Many((names,), more=True), Many((names,), more=True)))
        if isinstance(iterable, Thing) and iterable.kind == "environ items":
            return Many((literal("NAME"), Unknown("env")))
        if isinstance(iterable, Thing) and iterable.kind == "environ":
            return literal("NAME")
        if isinstance(iterable, Table):
            return alternatives([key for key, _ in iterable.pairs])
        if isinstance(iterable, Field) and iterable.many:
            return iterable
        if isinstance(iterable, Under):
            return iterable
        if isinstance(iterable, Thing) and iterable.kind == "file":
            return Unknown("file", iterable.detail)
        return iterable if isinstance(iterable, Unknown) else UNKNOWN

    def bind(self, target: ast.expr, value: object) -> None:
        """Assignment to a target."""
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                items = value.items if isinstance(value, Many) and not value.more else ()
                for index, element in enumerate(elements):
                    if isinstance(element, ast.Starred):
                        self.bind(element.value, Many(items[index:], more=not items))
                    else:
                        self.bind(element, items[index] if index < len(items) else self.item_of(value))
            case ast.Attribute():
                self.names[ast.unparse(target)] = value
            case ast.Subscript(value=base, slice=index):
                self.stored(self.value(base), self.value(index), value)
            case ast.Starred(value=inner):
                self.bind(inner, value)
            case _:
                return

    def leftovers(self) -> None:
        """Functions and methods that nobody called by name may run all the same (callbacks, threads, classes)."""
        self.sure = Certainty.POSSIBLE
        for _ in range(3):
            pending = [local for local in self.functions if not local.called]
            methods = [inner for cls in self.classes for inner in cls.body if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))]
            self.classes = []
            if not pending and not methods:
                return
            for local in pending:
                self.enter(local, (), {})
            for method in methods:
                self.enter(Local(method), (), {})

    def enter(self, local: object, args: tuple[object, ...], named: dict[str, object]) -> object:
        """Follows a call of a function of the text."""
        if not isinstance(local, Local):
            return UNKNOWN
        local.called = True
        if self.nesting >= DEEPEST:
            return UNKNOWN
        outer, returned = self.names, self.returned
        self.names, self.returned = dict(outer), []
        self.nesting += 1
        try:
            self.parameters(local.node.args, args, named)
            if isinstance(local.node, ast.Lambda):
                return self.value(local.node.body)
            self.block(local.node.body)
            return alternatives(self.returned) if self.returned else None
        finally:
            self.nesting -= 1
            self.names, self.returned = outer, returned

    def parameters(self, spec: ast.arguments, args: tuple[object, ...], named: dict[str, object]) -> None:
        """Binds the parameters of a function of the text."""
        names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
        defaults = dict(zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True))
        defaults.update({arg.arg: default for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if default is not None})
        for index, name in enumerate((*names, *(arg.arg for arg in spec.kwonlyargs))):
            if name in named:
                self.names[name] = named[name]
            elif index < len(args) and index < len(names):
                self.names[name] = args[index]
            else:
                self.names[name] = self.value(defaults[name]) if name in defaults else UNKNOWN
        if spec.vararg is not None:
            self.names[spec.vararg.arg] = Many(args[len(names) :], more=not args)
        if spec.kwarg is not None:
            self.names[spec.kwarg.arg] = Table(tuple((literal(name), value) for name, value in named.items() if name not in names))

    def define(self, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Local:
        """A function: remembered, followed when it is called."""
        local = Local(node)
        self.functions.append(local)
        if name:
            self.names[name] = local
            for decorator in getattr(node, "decorator_list", ()):
                self.value(decorator)
        return local


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def name_filter(test: ast.expr) -> str:
    """`*.pyc` for tests such as `f.endswith(".pyc")`, `p.suffix == ".pyc"`, `name == "x"`, fnmatch; "" for others."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return next((found for found in map(name_filter, test.values) if found), "")
    if isinstance(test, ast.Call) and test.args:
        name = test.func.attr if isinstance(test.func, ast.Attribute) else test.func.id if isinstance(test.func, ast.Name) else ""
        last = test.args[-1]
        if name == "endswith" and isinstance(last, ast.Constant) and isinstance(last.value, str):
            return "*" + last.value
        if (
            name == "endswith"
            and isinstance(last, ast.Tuple)
            and last.elts
            and len(last.elts) == 1
            and isinstance(last.elts[0], ast.Constant)
        ):
            return "*" + str(last.elts[0].value)
        if name in ("fnmatch", "match", "fnmatchcase") and isinstance(last, ast.Constant) and isinstance(last.value, str):
            return last.value
    if (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.Eq)
        and isinstance(test.comparators[0], ast.Constant)
    ):
        attribute = test.left.attr if isinstance(test.left, ast.Attribute) else ""
        value = test.comparators[0].value
        if attribute == "suffix" and isinstance(value, str):
            return "*" + value
        if attribute == "name" and isinstance(value, str):
            return value
    return ""
