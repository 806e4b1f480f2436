"""Processes and code in the Python reader: programs started, shell text, code made from text, functions handed on."""

from __future__ import annotations

from ..model.effect import Certainty, EffectKind
from ..shell.invocation import INHERIT, Field, Known, Origin, Stdin, literal
from .python_ground import Args, Ground, Named
from .python_values import UNKNOWN, Either, Many, Ref, Table, Thing, Under, Unknown, field_of, join_path, taint
from .roles import file_effects, weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Processes(Ground):
    """Effects of running things."""

    def process(self, words: Iterable[Field], named: Named) -> None:
        """An argument vector runs, with its own directory and input."""
        fields = tuple(words)
        if not fields:
            return
        stdin = INHERIT
        given = named.get("input")
        if given is not None:
            stdin = Stdin("text", field_of(given))
        invocation = self.call.invocation.replace(stdin=stdin, streams=(), readers=())
        cwd = named.get("cwd")
        folder = None
        if isinstance(cwd, (Field, Under)):
            place = join_path(self.call.invocation.cwd, cwd)
            folder = place if isinstance(place, Field) else field_of(place)
        call = self.call.replace(invocation=invocation, certainty=weakest(self.call.certainty, self.sure))
        if fields[0].known is Known.DYNAMIC and not fields[0].prefix:
            self.opaque(self.source(fields[0]), "runs a program whose name is computed")
            return
        self.effects.extend(self.scene.nested_argv(fields, call, via="python", cwd=folder))

    def shell_text(self, value: object, named: Named | None = None) -> None:
        """Shell text runs."""
        if isinstance(value, Either):
            for one in value.values:
                self.shell_text(one, named)
            return
        field = field_of(value)
        call = self.call.replace(
            invocation=self.call.invocation.replace(stdin=INHERIT, streams=(), readers=()),
            certainty=weakest(self.call.certainty, self.sure),
        )
        cwd = (named or {}).get("cwd")
        folder = None
        if isinstance(cwd, Field):
            place = join_path(self.call.invocation.cwd, cwd)
            folder = place if isinstance(place, Field) else None
        from .scripts import run_text

        self.effects.extend(
            run_text(call, self.scene, field.replace(origins=tuple(o for o in field.origins if not o.producers)), via="python", cwd=folder)
        )

    def do_shell(self, name: str, args: Args, named: Named) -> object:
        for one in args[:1] or tuple(named.values())[:1]:
            self.shell_text(one, named)
            for extra in args[1:2]:
                if name.startswith("pexpect") and isinstance(extra, Many):
                    self.process((field_of(one), *map(field_of, extra.items)), named)
        return Thing("process")

    def do_process(self, name: str, args: Args, named: Named) -> object:
        first = args[0] if args else named.get("args", named.get("argv", UNKNOWN))
        if name.endswith("create_subprocess_exec"):
            first = Many(args)
        if isinstance(first, Many):
            fields = [field_of(item) for item in first.items]
            if first.more:
                fields.append(Field(Known.DYNAMIC, reason="computed by the program", many=True, origins=(Origin("variable"),)))
            program = named.get("executable")
            if isinstance(program, Field) and fields:
                fields[0] = program
            if named.get("shell") is True and fields and len(fields) >= 1:
                self.shell_text(first.items[0], named)
            else:
                self.process(fields, named)
        else:
            self.shell_text(first, named)
        if isinstance(named.get("stdin"), Thing) and getattr(named["stdin"], "kind", "") == "socket":
            self.reverse_shell()
        return Thing("process")

    def do_exec(self, name: str, args: Args, named: Named) -> object:
        vector = args[1] if len(args) > 1 else named.get("args", UNKNOWN)
        words = (
            [field_of(item) for item in vector.items] if isinstance(vector, Many) else [field_of(args[0]) if args else field_of(UNKNOWN)]
        )
        if args:
            words[:1] = [field_of(args[0])]
        self.process(words, {})
        return None

    def do_exec_list(self, name: str, args: Args, named: Named) -> object:
        words = [field_of(one) for one in args if not isinstance(one, (Table, Thing))]
        self.process((*words[:1], *words[2:]), {})
        return None

    def do_spawn(self, name: str, args: Args, named: Named) -> object:
        return self.do_exec(name, args[1:], named)

    def do_spawn_list(self, name: str, args: Args, named: Named) -> object:
        return self.do_exec_list(name, args[1:], named)

    def do_pip(self, name: str, args: Args, named: Named) -> object:
        items = args[0].items if args and isinstance(args[0], Many) else ()
        self.process((literal("pip"), *map(field_of, items)), {})
        return None

    def run_code(self, value: object) -> None:
        """Code in a value runs: known text is read, a file's is a script, the rest is opaque."""
        if isinstance(value, Either):
            for one in value.values:
                self.run_code(one)
            return
        if isinstance(value, Unknown) and value.source == "file" and isinstance(value.detail, Field):
            self.run_path(value.detail)
            return
        field = field_of(value)
        if field.known is Known.DYNAMIC:
            self.opaque(self.source(field), "runs code that is computed")
            return
        from .python_code import python_effects

        if self.depth > 6:
            self.opaque("generated", "nested too deeply to follow")
            return
        for text in field.values:
            reader_call = self.call.replace(
                certainty=weakest(self.call.certainty, self.sure if len(field.values) == 1 else Certainty.POSSIBLE)
            )
            found = python_effects(text, reader_call, self.scene, self.argv, self.path, self.depth + 1)
            self.effects.extend(effect for effect in found if effect.kind is not EffectKind.CODE_INLINE)

    def run_path(self, field: Field) -> None:
        """A Python file runs."""
        for effect in file_effects(self.call, self.scene, EffectKind.CODE_SCRIPT, field, language="python"):
            self.effects.append(effect)
            text = self.scene.files.get(effect.target.text)
            if text is not None:
                self.run_code(literal(text))

    def imported(self, module: str) -> None:
        """A module that the same line wrote runs when it is imported."""
        cwd = self.call.invocation.cwd.text
        if cwd is None or not self.scene.files or self.depth > 4:
            return
        for path in (f"{cwd.rstrip('/')}/{module.replace('.', '/')}.py", f"{cwd.rstrip('/')}/{module.replace('.', '/')}/__init__.py"):
            text = self.scene.files.get(path)
            if text is not None:
                self.run_code(literal(text))

    def do_run_code(self, name: str, args: Args, named: Named) -> object:
        if name == "builtins.compile":
            return args[0] if args else UNKNOWN
        for one in args[:1]:
            if isinstance(one, Thing) and one.kind == "class":
                continue
            self.run_code(one)
        return Unknown("computed" if name == "builtins.eval" and args and field_of(args[0]).known is Known.DYNAMIC else "")

    def do_run_file(self, name: str, args: Args, named: Named) -> object:
        for one in args[:1]:
            self.run_path(field_of(one))
        return UNKNOWN

    def do_run_module(self, name: str, args: Args, named: Named) -> object:
        for one in args[:1]:
            self.process((literal("python3"), literal("-m"), field_of(one)), {})
        return UNKNOWN

    def do_import_(self, name: str, args: Args, named: Named) -> object:
        field = field_of(args[0]) if args else field_of(UNKNOWN)
        if field.text is not None:
            self.imported(field.text)
            return Ref(field.text if name != "builtins.__import__" or len(args) > 3 else field.text.split(".")[0])
        return UNKNOWN

    def do_getattr_(self, name: str, args: Args, named: Named) -> object:
        if name.endswith("attrgetter"):
            return Thing("attrgetter", args[0] if args else UNKNOWN)
        return self.attribute_of(args[0], args[1]) if len(args) > 1 else UNKNOWN

    def attribute_of(self, base: object, name: object) -> object:
        """getattr(base, name)."""
        field = field_of(name)
        if field.text is None:
            return Unknown("computed") if isinstance(base, Ref) else UNKNOWN
        if isinstance(base, Ref):
            return self.constant(f"{base.name}.{field.text}")
        return Thing("method", base, field.text)

    def do_partial(self, name: str, args: Args, named: Named) -> object:
        return Thing("partial", Many(args)) if args else UNKNOWN

    def do_thread(self, name: str, args: Args, named: Named) -> object:
        function = named.get("target", named.get("function", args[0] if args else None))
        if name == "signal.signal" and len(args) > 1:
            function = args[1]
        given = named.get("args")
        items = given.items if isinstance(given, Many) else args[1:] if name.startswith("atexit") else ()
        if isinstance(function, (Ref, Thing)) or type(function).__name__ == "Local":
            self.invoke(function, items, {})
        return UNKNOWN

    def do_map_(self, name: str, args: Args, named: Named) -> object:
        if len(args) < 2:
            return UNKNOWN
        function, items = args[0], args[1]
        if isinstance(items, Many) and len(items.items) <= 4096:
            if name.endswith("filter"):
                return items
            return Many(tuple(self.invoke(function, (item,), {}) for item in items.items), items.more)
        return Many((self.invoke(function, (self.item_of(items),), {}),), more=True)

    def do_globals_(self, name: str, args: Args, named: Named) -> object:
        return Thing("namespace")

    def do_unpickle(self, name: str, args: Args, named: Named) -> object:
        if name.startswith("marshal") or (args and taint(args[0]) & {"network", "stdin"}):
            return Unknown("generated")
        return UNKNOWN
