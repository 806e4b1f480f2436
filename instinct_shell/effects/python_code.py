"""Python source text -> effects, by the ast module. Nothing is run.

Follows constants, f-strings, aliases, `getattr`, `__import__`, loops over literals, walks and globs, local functions, and shell or SQL text handed
on. Code that does nothing of interest yields one `code.inline`; computed code that runs (`exec` of what is not known) yields `code.opaque`.
"""

from __future__ import annotations

import ast

from ..model.effect import Certainty, Effect, EffectKind
from ..shell.invocation import Field, Known, literal
from . import spend
from .call import Call, Scene
from .python_calls import Calls
from .python_values import UNKNOWN, Many, Ref, Table, Thing, Under, Unknown, alternatives, concat, each, field_of, join_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_STEPS = 60_000  # expressions and statements looked at in one text
LONGEST = 1 << 20
UNROLLED = 24  # items of a literal list that a loop goes through one by one
DEEPEST = 12  # calls of local functions inside each other
_SNEAKY = frozenset(
    "__subclasses__ __globals__ __builtins__ __code__ __closure__ f_globals f_builtins gi_frame cr_frame tb_frame "
    "__mro__ __base__ __bases__".split()
)


class TooLong(Exception):
    """The text is longer than the reader's patience; the rest is opaque."""


class Local:
    """A function of the text: its definition, and whether any call was followed."""

    __slots__ = ("called", "node")

    def __init__(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self.node = node
        self.called = False


def python_effects(text: str, call: Call, scene: Scene, argv: tuple[Field, ...] = (), path: str = "", depth: int = 0) -> tuple[Effect, ...]:
    """Effects of a Python text. argv: sys.argv; path: the script's file when it is one."""
    if len(text) > LONGEST:
        return (
            call.effect(
                EffectKind.CODE_OPAQUE, language="python", reason="the code is too long to read", source="generated", dynamic="interpreter"
            ),
        )
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = f"the code cannot be read: {type(error).__name__.lower()}"
        return (call.effect(EffectKind.CODE_OPAQUE, certainty=Certainty.POSSIBLE, language="python", reason=reason, source="text"),)
    reader = Reader(call, scene, argv, path, depth)
    try:
        reader.block(tree.body)
        reader.leftovers()
    except (TooLong, RecursionError):
        reader.effects.append(
            call.effect(
                EffectKind.CODE_OPAQUE,
                language="python",
                reason="the code is too long to follow",
                source="generated",
                dynamic="interpreter",
            )
        )
    if spend.is_ads(text):
        reader.effects.extend(spend.ads_effects(call, "client", text, dynamic=True))
    return (call.effect(EffectKind.CODE_INLINE, language="python"), *dict.fromkeys(reader.effects))


class Reader(Calls):
    """Walks one module. `names` is its (flat) namespace; functions get a copy."""

    def __init__(self, call: Call, scene: Scene, argv: tuple[Field, ...], path: str, depth: int) -> None:
        super().__init__(call, scene, argv, path, depth)
        self.steps = 0
        self.functions: list[Local] = []
        self.classes: list[ast.ClassDef] = []
        self.returned: list[object] = []
        self.nesting = 0

    # ------------------------------------------------------------ statements

    def block(self, body: list[ast.stmt]) -> None:
        """Statements in order."""
        for statement in body:
            self.statement(statement)

    def step(self) -> None:
        """Counts one node."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong

    def statement(self, node: ast.stmt) -> None:
        """One statement."""
        self.step()
        match node:
            case ast.Expr(value=value):
                self.value(value)
            case ast.Assign(targets=targets, value=value):
                found = self.value(value)
                for target in targets:
                    self.bind(target, found)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.bind(target, self.value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                before, more = self.value(_load(target)), self.value(value)
                self.bind(target, self.binary(before, op, more))
            case ast.Import(names=names):
                for alias in names:
                    self.imported(alias.name)
                    self.names[alias.asname or alias.name.split(".")[0]] = Ref(alias.name if alias.asname else alias.name.split(".")[0])
            case ast.ImportFrom(module=module, names=names):
                self.imported(module or "")
                for alias in names:
                    if alias.name == "*":
                        self.stars.append(module or "")
                    else:
                        self.names[alias.asname or alias.name] = Ref(f"{module}.{alias.name}" if module else alias.name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self.define(name, node)
            case ast.ClassDef():
                self.classes.append(node)
                self.names[node.name] = Thing("class", node)
                for inner in node.body:
                    if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        self.statement(inner)
            case ast.Return(value=value):
                if value is not None:
                    self.returned.append(self.value(value))
            case ast.If():
                self.branch(node)
            case ast.For() | ast.AsyncFor():
                self.loop(node.target, self.value(node.iter), node.body)
                self.block(node.orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                self.value(test)
                self.maybe(body)
                self.maybe(orelse)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    entered = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, entered)
                self.block(body)
            case ast.Try() | ast.TryStar():
                self.block(node.body)
                for handler in node.handlers:
                    self.maybe(handler.body)
                self.block(node.orelse)
                self.block(node.finalbody)
            case ast.Match(subject=subject, cases=cases):
                self.value(subject)
                for one in cases:
                    self.maybe(one.body)
            case ast.Delete() | ast.Raise() | ast.Assert():
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.value(child)
            case _:
                return

    def define(self, name: str, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Local:
        """A function: remembered, followed when it is called."""
        local = Local(node)
        self.functions.append(local)
        if name:
            self.names[name] = local
            for decorator in getattr(node, "decorator_list", ()):
                self.value(decorator)
        return local

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
        self.filter = _name_filter(test) or self.filter
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

    def enter(self, local: Local, args: tuple[object, ...], named: dict[str, object]) -> object:
        """Follows a call of a function of the text."""
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

    # ------------------------------------------------------------ expressions

    def value(self, node: ast.expr) -> object:
        """The value of an expression; its calls have their effects on the way."""
        self.step()
        match node:
            case ast.Constant(value=constant):
                if isinstance(constant, str):
                    return literal(constant)
                return literal(constant.decode("utf-8", "surrogateescape")) if isinstance(constant, bytes) else constant
            case ast.Name(id=name):
                return self.named(name)
            case ast.Attribute(value=base, attr=attribute):
                return self.attribute(node, self.value(base), attribute)
            case ast.Call():
                return self.call_of(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(self.value(left), op, self.value(right))
            case ast.JoinedStr(values=values):
                found: object = literal("")
                for part in values:
                    found = concat(found, self.value(part.value if isinstance(part, ast.FormattedValue) else part))
                return found
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return self.sequence(elements)
            case ast.Dict(keys=keys, values=values):
                pairs = [(self.value(key), self.value(value)) for key, value in zip(keys, values, strict=True) if key is not None]
                spread = [self.value(value) for key, value in zip(keys, values, strict=True) if key is None]
                return (
                    Unknown("env")
                    if any(isinstance(one, Thing) and one.kind == "environ" for one in spread) and not pairs
                    else Table(tuple(pairs))
                )
            case ast.Subscript(value=base, slice=index):
                return self.subscript(self.value(base), index)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.value(test)
                return alternatives([self.value(body), self.value(orelse)])
            case ast.BoolOp(values=values):
                return self.either(values)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self.value(operand)
                return -number if type(number) is int else UNKNOWN
            case ast.NamedExpr(target=target, value=value):
                bound = self.value(value)
                self.bind(target, bound)
                return bound
            case ast.Lambda():
                return self.define("", node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self.comprehension(node.elt, node.generators, 0)
            case ast.DictComp(key=key, value=value, generators=generators):
                return self.comprehension(ast.Tuple([key, value], ast.Load()), generators, 0)
            case ast.Starred(value=inner) | ast.Await(value=inner) | ast.YieldFrom(value=inner):
                return self.value(inner)
            case ast.FormattedValue(value=inner):
                return self.value(inner)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.value(child)
                return UNKNOWN

    def named(self, name: str) -> object:
        """What a name stands for: a binding, a star import, or a builtin."""
        if name in self.names:
            return self.names[name]
        for module in self.stars:
            if self.knows(f"{module}.{name}"):
                return Ref(f"{module}.{name}")
        if name == "__file__" and self.path:
            return literal(self.path)
        if name == "__name__":
            return literal("__main__")
        return Ref("builtins" if name == "__builtins__" else f"builtins.{name}")

    def attribute(self, node: ast.Attribute, base: object, attribute: str) -> object:
        """base.attribute"""
        text = ast.unparse(node) if isinstance(node.value, (ast.Name, ast.Attribute)) else ""
        if text and text in self.names:
            return self.names[text]
        if attribute in _SNEAKY and not (isinstance(base, Ref) and base.name.startswith("sys.")):
            if attribute in ("__builtins__", "__globals__", "f_globals", "f_builtins", "__subclasses__"):
                self.effects.append(
                    self.call.effect(
                        EffectKind.CODE_OPAQUE,
                        language="python",
                        reason=f"reaches for `{attribute}`",
                        source="generated",
                        dynamic="interpreter",
                    )
                )
            return UNKNOWN
        if isinstance(base, Ref):
            return self.constant(f"{base.name}.{attribute}")
        return self.property(base, attribute)

    def sequence(self, elements: list[ast.expr]) -> Many:
        items: list[object] = []
        more = False
        for element in elements:
            found = self.value(element)
            if isinstance(element, ast.Starred):
                if isinstance(found, Many):
                    items += found.items
                    more = more or found.more
                else:
                    items.append(found if isinstance(found, Field) else field_of(found).replace(many=True))
            else:
                items.append(found)
        return Many(tuple(items), more)

    def comprehension(self, element: ast.expr, generators: list[ast.comprehension], index: int) -> object:
        """[element for ... in ...]"""
        if index >= len(generators):
            return self.value(element)
        generator = generators[index]
        filters = self.filter
        for test in generator.ifs:
            self.filter = _name_filter(test) or self.filter
        found = self.loop(generator.target, self.value(generator.iter), lambda: self.comprehension(element, generators, index + 1))
        self.filter = filters
        return found

    def either(self, values: list[ast.expr]) -> object:
        """`a or b`, `a and b`: the first part surely runs, the others may."""
        found = [self.value(values[0])]
        sure, self.sure = self.sure, Certainty.POSSIBLE
        found += [self.value(value) for value in values[1:]]
        self.sure = sure
        return alternatives([value for value in found if value is not None])

    def binary(self, left: object, op: ast.operator, right: object) -> object:
        """left op right, for texts, paths, lists and numbers."""
        if isinstance(op, ast.Add):
            if isinstance(left, Many) and isinstance(right, Many):
                return Many((*left.items, *right.items), left.more or right.more)
            if isinstance(left, (int, float)) and isinstance(right, (int, float)):
                return left + right
            if isinstance(left, Many) or isinstance(right, Many):
                known = left if isinstance(left, Many) else right
                return known.replace(more=True) if isinstance(known, Many) else UNKNOWN
            return concat(left, right)
        if isinstance(op, ast.Div) and (isinstance(left, (Field, Under)) or isinstance(right, (Field, Under))):
            return join_path(left, right)
        if isinstance(op, ast.Mod) and isinstance(left, Field):
            return self.formatted(left, right)
        if isinstance(op, ast.Mult) and isinstance(left, Field) and isinstance(right, int) and 0 <= right <= 64:
            return each(left, lambda text: text * right)
        if isinstance(op, (ast.Sub, ast.BitXor, ast.BitOr)) and type(left) is int and type(right) is int:
            return left - right if isinstance(op, ast.Sub) else left ^ right if isinstance(op, ast.BitXor) else left | right
        return UNKNOWN


def _load(target: ast.expr) -> ast.expr:
    """The target of an augmented assignment, to be read."""
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _name_filter(test: ast.expr) -> str:
    """`*.pyc` for tests such as `f.endswith(".pyc")`, `p.suffix == ".pyc"`, `name == "x"`, fnmatch; "" for others."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return next((found for found in map(_name_filter, test.values) if found), "")
    if isinstance(test, ast.Call) and test.args:
        name = test.func.attr if isinstance(test.func, ast.Attribute) else test.func.id if isinstance(test.func, ast.Name) else ""
        last = test.args[-1]
        if name == "endswith" and isinstance(last, ast.Constant) and isinstance(last.value, str):
            return "*" + last.value
        if name == "endswith" and isinstance(last, ast.Tuple) and last.elts and all(isinstance(e, ast.Constant) for e in last.elts):
            return "*" + str(last.elts[0].value) if len(last.elts) == 1 else ""
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


__all__ = ["Reader", "python_effects"]
