"""Attributes, subscripts, formatting and the environment in the Python reader."""

from __future__ import annotations

import ast
import re

from ..model.effect import EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from .python_ground import Args, Ground, Named
from .python_values import UNKNOWN, Many, Ref, Table, Thing, Under, Unknown, concat, field_of, taint
from .secrets import is_secret_name
from .verbs import variables_of


class Attributes(Ground):
    """Values that stand behind names, members and keys."""

    def constant(self, name: str) -> object:
        """A dotted name that is a value, else the reference itself."""
        if name in ("os.environ", "os.environb"):
            return Thing("environ")
        if name == "sys.argv":
            return Many(self.argv, more=not self.argv)
        if name in ("os.sep", "os.path.sep"):
            return literal("/")
        if name in ("os.curdir", "os.pardir"):
            return literal("." if name.endswith("curdir") else "..")
        if name == "sys.executable":
            return literal("python3")
        if name == "sys.modules":
            return Thing("modules")
        if name in ("os.__dict__", "builtins.__dict__", "subprocess.__dict__", "shutil.__dict__") or name.endswith(".__dict__"):
            return Thing("module dict", name[: -len(".__dict__")])
        if name in ("sys.stdin", "sys.stdin.buffer"):
            return Thing("stdin")
        if name in ("string.ascii_lowercase", "string.ascii_letters"):
            letters = "abcdefghijklmnopqrstuvwxyz"
            return literal(letters if name.endswith("lowercase") else letters + letters.upper())
        return Ref(name)

    def property(self, base: object, name: str) -> object:
        """An attribute of a value that is no module."""
        if isinstance(base, (Field, Under)):
            import posixpath

            from .python_values import each

            if name == "parent":
                return each(base, posixpath.dirname) if isinstance(base, Field) else base
            if name == "parents":
                return Thing("parents", base)
            if name == "path":
                return base
            if name in ("name", "stem", "suffix"):
                if isinstance(base, Under):
                    return Field(Known.SET, ("*",), glob=True, many=True)
                if name == "name":
                    return each(base, posixpath.basename)
                return each(base, lambda p: posixpath.splitext(posixpath.basename(p))[0 if name == "stem" else 1])
            return Thing("method", base, name)
        if isinstance(base, Thing):
            if base.kind in ("file", "scratch file") and name == "name":
                return base.detail
            if base.kind == "process" and name == "pid":
                return Thing("child pid")
            if base.kind == "response" and name in ("text", "content", "body", "data", "raw"):
                return Unknown("network")
            if base.kind in ("mongo", "client", "repo", "database", "kube", "library"):
                return Thing("method", base, name)
            return Thing("method", base, name)
        if isinstance(base, Unknown):
            return base if base.source else Thing("method", base, name)
        return Thing("method", base, name)

    def subscript(self, base: object, index: ast.expr) -> object:
        """base[index]"""
        if isinstance(index, ast.Slice):
            return self._sliced(base, index)
        key = self.value(index)
        if isinstance(base, Thing):
            if base.kind == "environ":
                return self.environment_value(field_of(key).text)
            if base.kind in ("modules", "namespace"):
                text = field_of(key).text
                found = self.names.get(text) if text else None
                return (
                    found
                    if found is not None
                    else Ref(text if base.kind == "modules" else f"builtins.{text}")
                    if text
                    else Unknown("computed")
                )
            if base.kind == "module dict":
                text = field_of(key).text
                return Ref(f"{base.detail}.{text}") if text else Unknown("computed")
            if base.kind == "parents" and isinstance(base.detail, Field) and type(key) is int:
                import posixpath

                found_text = base.detail
                for _ in range(key + 1):
                    from .python_values import each

                    next_text = each(found_text, posixpath.dirname)
                    found_text = next_text if isinstance(next_text, Field) else found_text
                return found_text
            if base.kind in ("mongo", "client", "method"):
                return base
        if isinstance(base, Ref) and base.name == "builtins.globals":
            return UNKNOWN
        if isinstance(base, Many) and type(key) is int and not base.more:
            return base.items[key] if -len(base.items) <= key < len(base.items) else UNKNOWN
        if isinstance(base, Many):
            return self.item_of(base)
        if isinstance(base, Table):
            return base.get(field_of(key).text or "") or UNKNOWN
        if isinstance(base, Field) and base.text is not None and type(key) is int and -len(base.text) <= key < len(base.text):
            return literal(base.text[key])
        return base if isinstance(base, Unknown) else Unknown(next(iter(sorted(taint(base))), ""))

    def _sliced(self, base: object, index: ast.Slice) -> object:
        bounds = [self.value(part) if part is not None else None for part in (index.lower, index.upper, index.step)]
        if not all(bound is None or type(bound) is int for bound in bounds):
            return base
        cut = slice(*(bound if type(bound) is int else None for bound in bounds))
        if cut.step == 0:
            return UNKNOWN
        if isinstance(base, Many) and not base.more:
            return Many(base.items[cut])
        if isinstance(base, Field) and base.known is not Known.DYNAMIC and not base.glob:
            from .python_values import each

            return each(base, lambda text: text[cut])
        return base

    def stored(self, base: object, key: object, value: object) -> None:
        """base[key] = value"""
        if isinstance(base, Thing) and base.kind == "environ":
            name = field_of(key).text or ""
            if name in ("LD_PRELOAD", "PATH", "BASH_ENV", "LD_LIBRARY_PATH", "PYTHONSTARTUP") or name.startswith(("INSTINCT_", "GIT_")):
                self.add(EffectKind.ENV_HIJACK, Target(TargetKind.NAME, name), variable=name, value=(field_of(value).text or "")[:120])

    def formatted(self, base: Field, value: object) -> object:
        """base % value"""
        items = value.items if isinstance(value, Many) else (value,)
        pieces = re.split(r"%[-+ #0]*\d*(?:\.\d+)?[sdrif]", base.text) if base.text is not None else None
        if pieces is None or len(pieces) != len(items) + 1:
            return Unknown(next(iter(sorted(taint(value))), ""))
        found: object = literal(pieces[0].replace("%%", "%"))
        for item, piece in zip(items, pieces[1:], strict=True):
            found = concat(concat(found, item if isinstance(item, (Field, Under)) else field_of(item)), literal(piece.replace("%%", "%")))
        return found

    def formatted_braces(self, base: Field, args: Args) -> object:
        """base.format(*args)"""
        if base.text is None:
            return base
        found: object = literal("")
        for index, piece in enumerate(re.split(r"(\{[^{}]*\})", base.text)):
            if index % 2:
                name = piece[1:-1].split(":")[0].split("!")[0]
                place = int(name) if name.isdigit() else (index - 1) // 2
                item = args[place] if place < len(args) else UNKNOWN
                found = concat(found, item if isinstance(item, (Field, Under)) else field_of(item))
            else:
                found = concat(found, literal(piece.replace("{{", "{").replace("}}", "}")))
        return found

    def environment_value(self, name: str | None) -> object:
        """The value of a variable: known ones as text, secrets and unknown ones not."""
        if name is None:
            return Unknown("env")
        known = variables_of(self.call, self.scene).get(name)
        if known is None and name == "HOME":
            return literal(self.scene.home)
        if known is not None and not is_secret_name(name):
            return known
        return Unknown("env") if is_secret_name(name) else Unknown("variable")

    def do_getenv(self, name: str, args: Args, named: Named) -> object:
        key = field_of(args[0]).text if args else None
        found = self.environment_value(key)
        default = args[1] if len(args) > 1 else named.get("default")
        if isinstance(found, Unknown) and default is not None and key is not None and key not in variables_of(self.call, self.scene):
            return default
        return found

    def do_environ_whole(self, name: str, args: Args, named: Named) -> object:
        return Unknown("env")

    def do_print_(self, name: str, args: Args, named: Named) -> object:
        if any("env" in taint(one) for one in (*args, *named.values())):
            self.add(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, "environment"), store="env", prints="1")
        if name == "builtins.input":
            return Unknown("stdin")
        return None

    def do_dumps(self, name: str, args: Args, named: Named) -> object:
        if name == "builtins.vars" and args and isinstance(args[0], Ref):
            return Thing("module dict", args[0].name)
        sources = sorted(frozenset().union(*(taint(one) for one in args))) if args else []
        if args and isinstance(args[0], (Table, Many)) and not sources:
            return spelled(args[0])
        return Unknown(sources[0]) if sources else args[0] if args and isinstance(args[0], Thing) else UNKNOWN

    def do_stdin(self, name: str, args: Args, named: Named) -> object:
        from .output import stdin_text

        if self.call.invocation.stdin.kind in ("text", "pipe", "file") and getattr(self, "stdin_is_data", True):
            text = stdin_text(self.call.invocation, self.scene)
            if text is not None:
                return literal(text)
        return Unknown("stdin")

    def on_environ(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in ("get", "pop", "setdefault", "__getitem__"):
            return self.do_getenv("os.environ.get", args, named)
        if name == "items":
            return Thing("environ items")
        if name in ("update", "__setitem__"):
            for one in args:
                for key, value in one.pairs if isinstance(one, Table) else ():
                    self.stored(base, key, value)
            if name == "__setitem__" and len(args) > 1:
                self.stored(base, args[0], args[1])
            return None
        return Unknown("env") if name in ("copy", "values", "__str__", "__repr__") else UNKNOWN

    def on_stdin(self, base: Thing, name: str, args: Args, named: Named) -> object:
        return self.do_stdin(name, args, named)


def spelled(value: object) -> object:
    """A table or list as JSON-like text, as far as it is known."""
    if isinstance(value, Table):
        found: object = literal("{")
        for key, item in value.pairs:
            found = concat(found, concat(concat(literal('"'), field_of(key)), concat(literal('": '), field_of(spelled(item)))))
            found = concat(found, literal(", "))
        return concat(found, literal("}"))
    if isinstance(value, Many):
        found = literal("[")
        for item in value.items:
            found = concat(found, concat(field_of(spelled(item)), literal(", ")))
        return concat(found, literal("]"))
    return value if isinstance(value, (Field, Unknown)) else field_of(value)
