"""What calls do in the Python reader: files, processes, code; python_outside.py has network, databases, clouds."""

from __future__ import annotations

import ast
import posixpath

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import INHERIT, Field, Known, Origin, Stdin, literal
from .call import Call, Scene
from .decoders import decode
from .python_names import FUNCTIONS, PATH_METHODS
from .python_outside import Outside
from .python_texts import text_method
from .python_values import UNKNOWN, Either, Many, Ref, Table, Thing, Under, Unknown, alternatives, concat, each, field_of, join_path, taint
from .roles import file_effects, weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

Args = tuple[object, ...]
Named = dict[str, object]


class Calls(Outside):
    """Evaluates calls; subclasses evaluate expressions."""

    def __init__(self, call: Call, scene: Scene, argv: tuple[Field, ...], path: str, depth: int) -> None:
        super().__init__(call, scene)
        self.argv = argv
        self.path = path
        self.depth = depth
        self.names: dict[str, object] = {}
        self.stars: list[str] = []
        self.filter = ""

    def knows(self, name: str) -> bool:
        """Whether a dotted name is in the table."""
        return name in FUNCTIONS

    # ------------------------------------------------------------ calls

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

    def enter(self, local: object, args: Args, named: Named) -> object:
        """Follows a function of the text."""
        raise NotImplementedError

    def value(self, node: ast.expr) -> object:
        """The value of an expression."""
        raise NotImplementedError

    def known_call(self, name: str, args: Args, named: Named) -> object:
        """A call of a function by its dotted name."""
        action = FUNCTIONS.get(name)
        if action is None and name.startswith("sh.") and name.count(".") == 1:
            self.process((literal(name[3:]), *map(field_of, args)), named)
            return UNKNOWN
        if action is None:
            return self.unknown_call(name, args, named)
        handler = getattr(self, "do_" + action)
        return handler(name, args, named)

    # ------------------------------------------------------------ files

    def touch(self, kind: EffectKind, value: object, **attributes: str) -> None:
        """This effect on the path that a value names; on everything below a folder for what a walk found there."""
        call = self.call.replace(certainty=weakest(self.call.certainty, self.sure))
        if isinstance(value, (Many, Either)):
            for item in value.items if isinstance(value, Many) else value.values:
                self.touch(kind, item, **attributes)
            return
        if isinstance(value, Thing) and value.kind in ("file", "scratch file"):
            value = value.detail
        if isinstance(value, (int, float)) or value is None:
            return
        if isinstance(value, Under):
            name = value.filter or self.filter
            field = value.root
            if kind is EffectKind.FILE_DELETE and not field.origins and field.known is not Known.DYNAMIC:
                attributes = {**attributes, "recursive": "1", "sweep": "1", "filter": name}
            else:
                attributes = {**attributes, "recursive": "1", "filter": name}
        else:
            field = field_of(value)
        self.effects.extend(file_effects(call, self.scene, kind, field, **attributes))

    def do_delete(self, name: str, args: Args, named: Named) -> object:
        for one in args[:1] or tuple(named.values())[:1]:
            self.touch(EffectKind.FILE_DELETE, one, directory="1" if name.endswith(("rmdir", "removedirs")) else "")
        return None

    def do_delete_tree(self, name: str, args: Args, named: Named) -> object:
        for one in args[:1] or (named.get("path", UNKNOWN),):
            self.touch(EffectKind.FILE_DELETE, one, recursive="1")
        return None

    def do_read(self, name: str, args: Args, named: Named) -> object:
        for one in args[:1] or tuple(named.values())[:1]:
            if isinstance(one, Field) and (one.text or one.prefix).startswith(("http://", "https://", "s3://", "gs://")):
                return self.do_http_get(name, args, named)
            self.touch(EffectKind.FILE_READ, one)
        return UNKNOWN

    def do_dotenv(self, name: str, args: Args, named: Named) -> object:
        path = next(
            (
                one
                for one in (*args[:1], named.get("dotenv_path"), named.get("path"), named.get("env_file"))
                if isinstance(one, (Field, Unknown)) and "config" not in name.rsplit(".", 1)[-1]
            ),
            None,
        )
        self.touch(EffectKind.FILE_READ, path or literal(".env"))
        return Unknown("env") if name.endswith(("values", "get_key")) else UNKNOWN

    def do_write(self, name: str, args: Args, named: Named) -> object:
        for one in (args[1:2] if name in ("torch.save", "joblib.dump") else args[:1]) or tuple(named.values())[:1]:
            self.touch(EffectKind.FILE_WRITE, one)
        return UNKNOWN

    def do_create(self, name: str, args: Args, named: Named) -> object:
        for one in args[:1] or tuple(named.values())[:1]:
            self.touch(EffectKind.FILE_CREATE, one)
        return None

    def do_move(self, name: str, args: Args, named: Named) -> object:
        pair = (*args, named.get("src"), named.get("dst"))
        known = [one for one in pair if one is not None][:2]
        if known:
            self.touch(EffectKind.FILE_MOVE, known[0])
        if len(known) > 1:
            self.touch(EffectKind.FILE_WRITE, known[1])
            return known[1]
        return UNKNOWN

    def do_copy(self, name: str, args: Args, named: Named) -> object:
        recursive = "1" if name.endswith("tree") else ""
        known = [one for one in (*args[:2], named.get("src"), named.get("dst")) if one is not None]
        for one in known[:1]:
            self.touch(EffectKind.FILE_READ, one, source_of_copy="1", recursive=recursive)
        for one in known[1:2]:
            self.touch(EffectKind.FILE_WRITE, one, recursive=recursive)
        return known[1] if len(known) > 1 else UNKNOWN

    def do_metadata(self, name: str, args: Args, named: Named) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_METADATA, one)
        return None

    def do_link(self, name: str, args: Args, named: Named) -> object:
        if len(args) > 1:
            self.touch(EffectKind.FILE_LINK, args[1], to=field_of(args[0]).text or "", hard="1" if name == "os.link" else "")
        return None

    def do_open(self, name: str, args: Args, named: Named) -> object:
        path = args[0] if args else named.get("file", named.get("name", UNKNOWN))
        mode = args[1] if len(args) > 1 else named.get("mode")
        return self.opened(path, mode)

    def opened(self, path: object, mode: object) -> object:
        """A file opened in a mode; an unknown mode may write."""
        text = mode.text if isinstance(mode, Field) else "r" if mode is None else None
        if isinstance(path, Thing) and path.kind in ("file", "scratch file", "response"):
            return path
        if isinstance(path, int):
            return Thing("file", UNKNOWN)
        if text is None or any(letter in text for letter in "wax+"):
            kind = (
                EffectKind.FILE_APPEND
                if text and "a" in text
                else EffectKind.FILE_CREATE
                if text and "x" in text
                else EffectKind.FILE_WRITE
            )
            self.touch(kind, path)
            if text and "+" in text:
                self.touch(EffectKind.FILE_READ, path)
            return Thing("file", path, "w")
        self.touch(EffectKind.FILE_READ, path)
        return Thing("file", path, "r")

    def do_os_open(self, name: str, args: Args, named: Named) -> object:
        flags = args[1] if len(args) > 1 else None
        if (isinstance(flags, Ref) and flags.name.endswith("O_RDONLY")) or flags == 0:
            self.touch(EffectKind.FILE_READ, args[0])
        elif args:
            self.touch(EffectKind.FILE_WRITE, args[0])
        return Thing("file", args[0] if args else UNKNOWN, "w")

    def do_archive(self, name: str, args: Args, named: Named) -> object:
        form = field_of(args[1]).text if len(args) > 1 else "tar"
        suffix = {"gztar": ".tar.gz", "bztar": ".tar.bz2", "zip": ".zip", "xztar": ".tar.xz"}.get(form or "", ".tar")
        self.touch(
            EffectKind.FILE_READ, args[2] if len(args) > 2 else named.get("root_dir", literal(".")), source_of_copy="1", recursive="1"
        )
        if args:
            self.touch(EffectKind.FILE_WRITE, concat(args[0], literal(suffix)))
        return UNKNOWN

    def do_unpack(self, name: str, args: Args, named: Named) -> object:
        self.touch(EffectKind.FILE_CREATE, args[1] if len(args) > 1 else named.get("extract_dir", literal(".")), recursive="1")
        return None

    def do_fileinput(self, name: str, args: Args, named: Named) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_WRITE if named.get("inplace") else EffectKind.FILE_READ, one)
        return UNKNOWN

    def do_chdir(self, name: str, args: Args, named: Named) -> object:
        if args and isinstance(args[0], Field):
            base = self.call.invocation.cwd
            moved = join_path(base, args[0])
            cwd = moved if isinstance(moved, Field) else field_of(moved)
            self.call = self.call.replace(invocation=self.call.invocation.replace(cwd=cwd))
        elif args:
            self.call = self.call.replace(invocation=self.call.invocation.replace(cwd=field_of(args[0])))
        return None

    # ------------------------------------------------------------ processes

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

    # ------------------------------------------------------------ code

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

    def item_of(self, iterable: object) -> object:
        """One value that stands for each item."""
        raise NotImplementedError

    def do_globals_(self, name: str, args: Args, named: Named) -> object:
        return Thing("namespace")

    def do_unpickle(self, name: str, args: Args, named: Named) -> object:
        if name.startswith("marshal") or (args and taint(args[0]) & {"network", "stdin"}):
            return Unknown("generated")
        return UNKNOWN

    # ------------------------------------------------------------ values

    def decoded(self, how: str, args: Args) -> object:
        """A literal unpacked."""
        field = field_of(args[0]) if args else field_of(UNKNOWN)
        if field.known is Known.DYNAMIC:
            return Field(Known.DYNAMIC, reason="decoded by the program", origins=field.origins or (Origin("generated"),))
        texts = [decode(how, text) for text in field.values]
        known = tuple(text for text in texts if text is not None)
        return Field(Known.STATIC if len(known) == 1 else Known.SET, known) if known and None not in texts else Unknown("generated")

    def do_base64(self, name: str, args: Args, named: Named) -> object:
        return self.decoded("base64", args)

    def do_urlsafe(self, name: str, args: Args, named: Named) -> object:
        return self.decoded("urlsafe", args)

    def do_b32(self, name: str, args: Args, named: Named) -> object:
        return self.decoded("b32", args)

    def do_hex(self, name: str, args: Args, named: Named) -> object:
        return self.decoded("hex", args)

    def do_b85(self, name: str, args: Args, named: Named) -> object:
        return self.decoded("b85", args)

    def do_a85(self, name: str, args: Args, named: Named) -> object:
        return self.decoded("a85", args)

    def do_zlib(self, name: str, args: Args, named: Named) -> object:
        return self.decoded("zlib", args)

    def do_url(self, name: str, args: Args, named: Named) -> object:
        return self.decoded("url", args)

    def do_codec(self, name: str, args: Args, named: Named) -> object:
        coding = (field_of(args[1]).text if len(args) > 1 else "utf-8") or ""
        how = {
            "rot13": "rot13",
            "rot_13": "rot13",
            "rot-13": "rot13",
            "hex": "hex",
            "hex_codec": "hex",
            "base64": "base64",
            "base64_codec": "base64",
            "zlib": "zlib",
            "zip": "zlib",
        }.get(coding)
        return self.decoded(how, args) if how else args[0] if args else UNKNOWN

    def do_chr_(self, name: str, args: Args, named: Named) -> object:
        return literal(chr(args[0])) if args and type(args[0]) is int and 0 <= args[0] < 0x110000 else UNKNOWN

    def do_ord_(self, name: str, args: Args, named: Named) -> object:
        text = field_of(args[0]).text if args else None
        return ord(text) if text is not None and len(text) == 1 else UNKNOWN

    def do_shlex(self, name: str, args: Args, named: Named) -> object:
        import shlex

        text = field_of(args[0]).text if args else None
        if text is None:
            return Many((args[0],) if args else (UNKNOWN,), more=True)
        try:
            return Many(tuple(literal(word) for word in shlex.split(text)))
        except ValueError:
            return UNKNOWN

    def do_join(self, name: str, args: Args, named: Named) -> object:
        found: object = args[0] if args else literal("")
        for one in args[1:]:
            found = join_path(found, one)
        return found

    def do_path(self, name: str, args: Args, named: Named) -> object:
        return self.do_join(name, args, named) if args else literal(".")

    def do_same(self, name: str, args: Args, named: Named) -> object:
        if name == "itertools.chain":
            return Many(
                tuple(item for one in args if isinstance(one, Many) for item in one.items),
                more=any(not isinstance(one, Many) or one.more for one in args),
            )
        if not args:
            return literal("") if name.endswith(("str", "bytes")) else Many(())
        if (
            name in ("builtins.bytes", "builtins.bytearray")
            and isinstance(args[0], Many)
            and all(type(i) is int and 0 <= i < 256 for i in args[0].items)
            and not args[0].more
        ):
            return literal(bytes(i for i in args[0].items if isinstance(i, int)).decode("utf-8", "surrogateescape"))
        if isinstance(args[0], Thing) and args[0].kind == "environ" and name not in ("builtins.str", "builtins.repr"):
            return Many((literal("NAME"),), more=True)  # iterating over the environment yields names alone
        if isinstance(args[0], Many) and name == "builtins.next":
            return self.item_of(args[0])
        if name in ("builtins.str", "builtins.repr") and isinstance(args[0], (int, float)) and not isinstance(args[0], bool):
            return literal(str(args[0]))
        if name == "os.path.expandvars" and isinstance(args[0], Field) and args[0].text and "$" in args[0].text:
            return self.expanded(args[0].text)
        return args[0]

    def expanded(self, text: str) -> object:
        """$NAME and ${NAME} replaced by what the environment holds."""
        import re

        missing = False

        def one(match: re.Match[str]) -> str:
            nonlocal missing
            found = self.environment_value(match[1] or match[2])
            missing = missing or not isinstance(found, Field)
            return found.text or "" if isinstance(found, Field) else match[0]

        result = re.sub(r"\$(?:(\w+)|\{(\w+)\})", one, text)
        return Unknown("variable") if missing else literal(result)

    def do_expanduser(self, name: str, args: Args, named: Named) -> object:
        home = self.scene.home
        return each(args[0], lambda text: home + text[1:] if text == "~" or text.startswith("~/") else text) if args else UNKNOWN

    def do_dirname(self, name: str, args: Args, named: Named) -> object:
        return each(args[0], posixpath.dirname) if args else UNKNOWN

    def do_basename(self, name: str, args: Args, named: Named) -> object:
        return each(args[0], posixpath.basename) if args else UNKNOWN

    def do_home(self, name: str, args: Args, named: Named) -> object:
        return literal(self.scene.home)

    def do_cwd(self, name: str, args: Args, named: Named) -> object:
        return self.call.invocation.cwd

    def do_tempdir(self, name: str, args: Args, named: Named) -> object:
        return literal("/tmp")  # what gettempdir says, not a file of ours

    def do_scratch(self, name: str, args: Args, named: Named) -> object:
        place = Field(Known.DYNAMIC, prefix="", reason="a fresh scratch name", origins=(Origin("mktemp", "/tmp"),))
        folder = named.get("dir")
        if isinstance(folder, Field):
            self.touch(EffectKind.FILE_CREATE, folder)
        if name.endswith(("mkstemp",)):
            return Many((Thing("file", place, "w"), place))
        return Thing("scratch file", place) if name.endswith("File") else place

    def do_listing(self, name: str, args: Args, named: Named) -> object:
        names = Field(Known.SET, ("*",), glob=True, many=True)
        if name == "os.scandir":
            return Many((join_path(args[0] if args else literal("."), names),), more=True)
        return Many((names,), more=True)

    def do_walk(self, name: str, args: Args, named: Named) -> object:
        top = args[0] if args else named.get("top", UNKNOWN)
        return Thing("walk", top if isinstance(top, Under) else Under(field_of(top)))

    def do_glob(self, name: str, args: Args, named: Named) -> object:
        pattern = field_of(args[0] if args else named.get("pathname", UNKNOWN))
        folder = named.get("root_dir")
        if isinstance(folder, Field):
            joined = join_path(folder, pattern)
            pattern = joined if isinstance(joined, Field) else pattern
        return self.globbed(pattern)

    def globbed(self, pattern: Field) -> object:
        """The matches of a pattern: below a folder for `**`, else a glob word."""
        text = pattern.text
        if text is None:
            return Many((UNKNOWN if pattern.known is Known.DYNAMIC and not pattern.prefix else pattern,), more=True)
        if "**" in text:
            head, _, tail = text.partition("**")
            name = tail.lstrip("/").rsplit("/", 1)[-1]
            return Under(literal(head.rstrip("/") or ("/" if head.startswith("/") else ".")), "" if name in ("*", "") else name)
        if not any(c in text for c in "*?["):
            return Many((pattern,))
        return Many((Field(Known.SET, (text,), glob=True, many=True),), more=True)

    # ------------------------------------------------------------ methods

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

    def path_method(self, base: Field | Under, name: str, args: Args, named: Named) -> object:
        """Methods of pathlib paths that act."""
        action = PATH_METHODS[name]
        if action in ("delete", "delete_tree", "create", "metadata"):
            return getattr(self, "do_" + action)(name, (base,), {})
        if action == "touch":
            self.touch(EffectKind.FILE_CREATE, base)
        elif action == "write_self":
            self.touch(EffectKind.FILE_WRITE, base)
        elif action == "read_self":
            self.touch(EffectKind.FILE_READ, base)
            return self.content(base)
        elif action == "open_self":
            return self.opened(base, args[0] if args else named.get("mode"))
        elif action == "move_to":
            self.do_move(name, (base, *args[:1]), {})
        elif action == "link_to":
            self.do_link("os.link" if name == "hardlink_to" else "os.symlink", (args[0] if args else UNKNOWN, base), {})
        return args[0] if action == "move_to" and args else None

    def content(self, path: object) -> object:
        """What a file holds: known when the same line wrote it."""
        field = field_of(path)
        if field.text is not None:
            from .call import path_targets

            for target, _ in path_targets(field, self.call.invocation.cwd):
                text = self.scene.files.get(target.text)
                if text is not None:
                    return literal(text)
        return Unknown("file", field)

    def opaque(self, source: str, reason: str) -> None:
        """Code that runs and cannot be read."""
        self.effects.append(
            self.call.effect(
                EffectKind.CODE_OPAQUE,
                Target(TargetKind.NONE, ""),
                certainty=weakest(self.call.certainty, Certainty.POSSIBLE),
                language="python",
                reason=reason,
                source=source,
                dynamic="interpreter",
            )
        )

    def source(self, field: Field) -> str:
        """Where unknown text comes from, for `code.opaque`."""
        kinds = {origin.kind for origin in field.origins}
        return next((kind for kind in ("network", "file", "stdin", "generated", "env") if kind in kinds), "variable")


__all__ = ["Args", "Calls", "Effect", "Named"]
