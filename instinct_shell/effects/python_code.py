"""Python source text -> effects, by the ast module. Nothing is run.

Follows constants, f-strings, aliases, `getattr`, `__import__`, loops over literals, walks and globs, local functions, and shell or SQL text handed
on. Code that does nothing of interest yields one `code.inline`; computed code that runs (`exec` of what is not known) yields `code.opaque`.
"""

from __future__ import annotations

import ast
import re
from functools import cache

from ..model.effect import Certainty, Effect, EffectKind
from ..shell.invocation import Field, literal
from . import spend
from .call import Call, Scene
from .followed import at_line
from .python_flow import Flow, name_filter
from .python_values import UNKNOWN, Many, Ref, Table, Thing, Under, Unknown, alternatives, concat, each, field_of, join_path

MOST_STEPS = 60_000  # expressions and statements looked at in one text
LONGEST = 1 << 20
_SNEAKY = frozenset(
    "__subclasses__ __globals__ __builtins__ __code__ __closure__ f_globals f_builtins gi_frame cr_frame tb_frame "
    "__mro__ __base__ __bases__".split()
)


@cache
def _acts() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:os|sys\.modules|subprocess|shutil|socket|urllib2?|requests|pathlib|commands|popen2?|pty|ctypes|open|file|exec|execfile|eval|compile|"
        r"__import__|getattr|importlib|system|remove|unlink|rmtree|rmdir|input)\b"
    )


def _tree(text: str) -> ast.Module:
    """The syntax tree, of Python 2 as well; raises what ast raises. Warnings about the text are none of ours."""
    import warnings

    if "\0" in text:
        raise ValueError("a NUL in the text")  # as ast says it before 3.11.4; later ones call it an error of syntax
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except SyntaxError:
            older = _as_python_3(text)
            if older == text:
                raise
            return ast.parse(older)


def _as_python_3(text: str) -> str:
    """Python 2 text with its print and exec statements as calls."""
    found = re.sub(r"(^|[;:\n])([ \t]*)(print|exec)[ \t]+(?![=(.\[])([^;\n]+)", r"\1\2\3(\4)", text)
    found = re.sub(r"(^|[;:\n])([ \t]*)print[ \t]*(\([^;\n]*\)[ \t]*[%+,][^;\n]*)", r"\1\2print(\3)", found)
    return re.sub(r"\bexcept\s+([\w.]+)\s*,\s*(\w+)\s*:", r"except \1 as \2:", found)


class TooLong(Exception):
    """The text is longer than the reader's patience; the rest is opaque."""


def python_effects(text: str, call: Call, scene: Scene, argv: tuple[Field, ...] = (), path: str = "", depth: int = 0) -> tuple[Effect, ...]:
    """Effects of a Python text. argv: sys.argv; path: the script's file when it is one."""
    if len(text) > LONGEST:
        return (
            call.effect(
                EffectKind.CODE_OPAQUE, language="python", reason="the code is too long to read", source="generated", dynamic="interpreter"
            ),
        )
    try:
        tree = _tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, SyntaxError) and not _acts().search(text):
            return (call.effect(EffectKind.CODE_INLINE, language="python"),)  # whatever is wrong with it, it names nothing that acts
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


class Reader(Flow):
    """Walks one module. `names` is its (flat) namespace; functions get a copy."""

    def __init__(self, call: Call, scene: Scene, argv: tuple[Field, ...], path: str, depth: int) -> None:
        super().__init__(call, scene, argv, path, depth)
        self.steps = 0

    # ------------------------------------------------------------ statements

    def block(self, body: list[ast.stmt]) -> None:
        """Statements in order."""
        for statement in body:
            before = len(self.effects)
            self.statement(statement)
            if self.path and self.depth == 0:
                self.effects[before:] = [
                    effect if effect.has("line") or effect.has("script") else at_line(effect, statement.lineno)
                    for effect in self.effects[before:]
                ]

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
            self.filter = name_filter(test) or self.filter
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


__all__ = ["Reader", "python_effects"]
