"""What the functions of code_names.py do: files, processes, code, network; one method an action."""

from __future__ import annotations

import posixpath
import re

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import INHERIT, Field, Known, Origin, literal
from .call import Call, Scene
from .code_modules import module_name
from .code_names import ACTIONS, METHODS
from .databases import Server, statement_effects
from .decoders import decode
from .hosts import address_attributes, host_of
from .network import Request
from .python_values import UNKNOWN, Either, Many, Ref, Table, Thing, Under, Unknown, alternatives, each, field_of, join_path, taint
from .roles import file_effects
from .secrets import is_secret_name
from .verbs import shown, variables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .code_lexer import Token

_SHELLS = re.compile(r"^(?:\S*/)?(?:sh|bash|zsh|dash|ksh|cmd(?:\.exe)?|powershell)(?:\s+-i)?(?:\s*[<>&\d]+.*)?$")
_SQL = re.compile(
    r"\s*(?:select|insert|update|delete|drop|truncate|alter|create|replace|with|pragma|grant|revoke|merge)\s+\S", re.IGNORECASE
)


class Actions:
    """Effects of calls in one program text."""

    def __init__(self, call: Call, scene: Scene, language: str, argv: tuple[Field, ...], path: str, depth: int) -> None:
        self.call = call
        self.scene = scene
        self.language = language
        self.argv = argv
        self.path = path
        self.depth = depth
        self.names: dict[str, object] = {}
        self.effects: list[Effect] = []
        self.connected = ""
        self.spawned_shell = False

    def run(self, sequence: tuple[Token, ...]) -> object:
        """Evaluates tokens."""
        raise NotImplementedError

    def add(self, kind: EffectKind, target: Target | None = None, extra: dict[str, str] | None = None, /, **attributes: str) -> None:
        """An effect of the program."""
        self.effects.append(self.call.effect(kind, target, {**attributes, **(extra or {})}))

    # ------------------------------------------------------------ names

    def action(self, name: str) -> str | None:
        """What a function of this name does, or None."""
        table = ACTIONS[self.language]
        return table.get(name) or (
            table.get(name.split(".", 1)[1])
            if name.startswith(("globalThis.", "global.", "window.", "Kernel.", "self.", "this."))
            else None
        )

    def constant(self, name: str) -> object:
        """A dotted name that is a value, else a reference."""
        plain = name.replace("globalThis.", "").replace("fs.promises.", "fs.")
        if plain in ("process.env", "ENV", "%ENV", "$ENV", "$_ENV", "Deno.env", "Bun.env", "import.meta.env"):
            return Thing("environ")
        if plain in ("process.argv", "ARGV", "@ARGV", "$argv", "arg", "Deno.args", "$*", "Bun.argv"):
            return Many(
                self.argv if plain not in ("process.argv", "Bun.argv") else (literal("node"), literal(self.path), *self.argv),
                more=not self.argv,
            )
        if plain in ("__filename", "__FILE__", "$0", "$PROGRAM_NAME"):
            return literal(self.path) if self.path else UNKNOWN
        if plain in ("fs.constants", "process.stdin", "$stdin", "STDIN"):
            return Thing("stdin") if "std" in plain.lower() else UNKNOWN
        return Ref(plain)

    def member(self, value: object, name: str) -> object:
        """value.name"""
        if isinstance(value, Ref):
            return self.constant(f"{value.name}.{name}")
        if isinstance(value, Thing) and value.kind == "environ":
            return (
                Thing("method", value, name)
                if name in ("to_h", "to_hash", "get", "toObject", "each", "map", "fetch", "inspect", "values")
                else self.environment(name)
            )
        if isinstance(value, Table):
            return value.get(name) or Thing("method", value, name)
        return Thing("method", value, name)

    def index(self, value: object, key: object) -> object:
        """value[key]"""
        text = field_of(key).text
        if isinstance(value, Thing) and value.kind == "environ":
            return self.environment(text)
        if isinstance(value, Ref):
            if value.name == "Dir" and self.language == "ruby":
                return self.globbed(field_of(key))
            if text is None:
                return (
                    Unknown("computed")
                    if value.name.split(".")[0] in ("global", "globalThis", "process", "child_process", "fs", "window", "Object", "Kernel")
                    else UNKNOWN
                )
            return self.constant(f"{value.name}.{text}")
        if isinstance(value, Many):
            if type(key) is int and not value.more and 0 <= key < len(value.items):
                return value.items[key]
            return alternatives(list(value.items)) if value.items else UNKNOWN
        if isinstance(value, Table) and text is not None:
            return value.get(text) or UNKNOWN
        return value if isinstance(value, Unknown) else UNKNOWN

    def environment(self, name: str | None) -> object:
        """The value of a variable."""
        if name is None or is_secret_name(name):
            return Unknown("env")
        known = variables_of(self.call, self.scene).get(name)
        if known is None and name == "HOME":
            return literal(self.scene.home)
        return known if known is not None else UNKNOWN

    # ------------------------------------------------------------ calls

    def invoke(self, function: object, args: tuple[object, ...]) -> object:
        """Calls a value."""
        if isinstance(function, Ref):
            name = function.name.replace(".promises.", ".")
            action = self.action(name)
            if action is not None:
                return getattr(self, "do_" + action)(name, args)
            if name.endswith((".then", ".catch", ".finally", ".pipe", ".on", ".once", ".bind", ".call", ".apply", ".new")):
                base = name.rsplit(".", 1)[0]
                if name.endswith((".call", ".apply")) and self.action(base):
                    rest = args[1].items if name.endswith(".apply") and len(args) > 1 and isinstance(args[1], Many) else args[1:]
                    return self.invoke(Ref(base), tuple(rest))
                return Ref(base) if name.endswith((".bind", ".new")) else UNKNOWN
            if name.rsplit(".", 1)[-1] in METHODS[self.language]:
                return self.method(Ref(name.rsplit(".", 1)[0]), name.rsplit(".", 1)[-1], args)
            return UNKNOWN
        if isinstance(function, Thing) and function.kind == "method":
            return self.method(function.detail, str(function.more), args)
        if self.language == "php" and isinstance(function, Field) and function.text is not None:
            return self.invoke(Ref(function.text), args)
        if isinstance(function, Unknown) and function.source == "computed":
            self.opaque("generated", "calls a computed function")
        return UNKNOWN

    def method(self, base: object, name: str, args: tuple[object, ...]) -> object:
        """A method of a value."""
        if isinstance(base, Thing) and base.kind == "environ":
            if name in ("get", "fetch"):
                return self.environment(field_of(args[0]).text if args else None)
            return Unknown("env")
        if name in ("then", "forEach", "map", "each") and args and isinstance(args[0], Ref) and self.action(args[0].name):
            return self.invoke(args[0], (Unknown("network") if isinstance(base, Thing) and base.kind == "response" else base,))
        if isinstance(base, Thing) and base.kind == "response":
            return base if name == "then" else Unknown("network")
        if isinstance(base, Thing) and base.kind == "socket":
            return self.on_socket(base, name, args)
        if (
            isinstance(base, Unknown)
            and base.source
            and name in ("toString", "text", "json", "read", "body", "decode", "to_s", "chomp", "strip", "trim", "then", "data")
        ):
            return base
        action = METHODS[self.language].get(name)
        if action == "query":
            if args and isinstance(args[0], Field) and _SQL.match(args[0].text or args[0].prefix):
                server = base.detail if isinstance(base, Thing) and base.kind == "database" else Server("sql")
                self.effects.extend(
                    statement_effects(
                        self.call,
                        self.scene,
                        args[0].text or args[0].prefix,
                        server if isinstance(server, Server) else Server("sql"),
                        "postgres",
                    )
                )
            return base
        if action == "send" and args:
            text = field_of(args[0]).text
            if text is None:
                self.opaque("generated", "calls a computed method")
                return UNKNOWN
            if isinstance(base, Ref):
                return self.invoke(self.constant(f"{base.name}.{text}" if self.action(f"{base.name}.{text}") else text), args[1:])
            return self.invoke(Ref(text), args[1:])
        if action in ("delete_self", "tree_self", "read_self", "write_self") and isinstance(base, (Field, Under)):
            kind = {"read_self": EffectKind.FILE_READ, "write_self": EffectKind.FILE_WRITE}.get(action, EffectKind.FILE_DELETE)
            self.touch(kind, base, recursive="1" if action == "tree_self" else "")
            return UNKNOWN
        return self.text_method(base, name, args)

    def text_method(self, base: object, name: str, args: tuple[object, ...]) -> object:
        """String and list methods that compute."""
        if name in (
            "toString",
            "to_s",
            "trim",
            "strip",
            "chomp",
            "valueOf",
            "freeze",
            "dup",
            "concat",
            "flat",
            "decode",
            "slice",
            "sort",
            "uniq",
            "compact",
            "to_a",
            "filter",
            "reject",
            "select",
            "toUpperCase_",
            "each",
            "map",
            "forEach",
            "first",
            "last",
            "lazy",
            "values",
            "children",
            "entries",
        ):
            if name == "concat" and isinstance(base, Field):
                from .python_values import concat

                return concat(base, args[0]) if args else base
            if name in ("toString", "decode") and isinstance(base, Thing):
                return base
            return base if isinstance(base, (Field, Under, Many, Either, Unknown)) else UNKNOWN
        if name in ("join",) and isinstance(base, Many):
            separator = field_of(args[0]).text if args else "," if self.language == "javascript" else ""
            from .python_texts import joined

            return joined(literal(separator or ""), base)
        if name == "join" and isinstance(base, (Field, Under)):
            return self.do_join("join", (base, *args))
        if name == "reverse" and isinstance(base, Field):
            return each(base, lambda text: text[::-1])
        if name == "reverse" and isinstance(base, Many):
            return Many(tuple(reversed(base.items)), base.more)
        if name == "split" and isinstance(base, Field) and base.text is not None:
            separator = field_of(args[0]).text if args else None
            return Many(
                tuple(map(literal, base.text.split(separator) if separator else base.text if separator == "" else base.text.split()))
            )
        if name in ("replace", "gsub", "sub", "replaceAll", "tr", "delete") and isinstance(base, Field) and len(args) > 1:
            old, new = field_of(args[0]).text, field_of(args[1]).text
            return each(base, lambda text: text.replace(old, new)) if old is not None and new is not None else UNKNOWN
        if name in ("toLowerCase", "downcase", "toUpperCase", "upcase"):
            return each(base, str.lower if "own" in name or "Lower" in name else str.upper)
        if name in ("pack",) and isinstance(base, Many):
            how = field_of(args[0]).text if args else ""
            if (how or "").startswith("H") and base.items:
                return self.decoded("hex", field_of(base.items[0]))
            if (how or "").lower().startswith(("c", "u")) and all(type(item) is int for item in base.items):
                return literal("".join(chr(item) for item in base.items if isinstance(item, int)))
        if name in ("unpack", "unpack1") and isinstance(base, Field) and args and (field_of(args[0]).text or "").startswith("m"):
            return self.decoded("base64", base)
        return base if isinstance(base, (Unknown, Thing)) else UNKNOWN

    # ------------------------------------------------------------ files

    def touch(self, kind: EffectKind, value: object, **attributes: str) -> None:
        """This effect on the path that a value names."""
        if isinstance(value, (Many, Either)):
            for item in value.items if isinstance(value, Many) else value.values:
                self.touch(kind, item, **attributes)
            return
        if value is None or isinstance(value, (int, Table)):
            return
        if isinstance(value, Under):
            attributes = {**attributes, "recursive": "1", "filter": value.filter, "sweep": "1" if kind is EffectKind.FILE_DELETE else ""}
            field = value.root
        else:
            field = field_of(value)
        self.effects.extend(file_effects(self.call, self.scene, kind, field, **attributes))

    def do_delete(self, name: str, args: tuple[object, ...]) -> object:
        options = next((one for one in args if isinstance(one, Table)), None)
        recursive = "1" if options is not None and options.get("recursive") is not None else ""
        if self.language == "perl" and not args:
            args = (self.names.get("$_", UNKNOWN),)
        for one in args if self.language in ("perl", "ruby") else args[:1]:
            self.touch(EffectKind.FILE_DELETE, one, recursive=recursive)
        return UNKNOWN

    def do_remove(self, name: str, args: tuple[object, ...]) -> object:
        return self.do_delete(name, args)

    def do_delete_tree(self, name: str, args: tuple[object, ...]) -> object:
        for one in args if self.language in ("perl", "ruby") or name.startswith("shelljs") else args[:1]:
            if name.startswith("shelljs") and isinstance(one, Field) and (one.text or "").startswith("-"):
                continue
            self.touch(
                EffectKind.FILE_DELETE,
                self.globbed(one) if isinstance(one, Field) and name.startswith(("del", "rimraf")) else one,
                recursive="1",
            )
        return UNKNOWN

    def do_read(self, name: str, args: tuple[object, ...]) -> object:
        if not args or isinstance(args[0], int) or (isinstance(args[0], Thing) and args[0].kind == "stdin"):
            return self.do_stdin(name, args)
        one = args[0]
        if isinstance(one, Field):
            text = one.text or one.prefix
            if text == "/dev/stdin" or text == "php://stdin":
                return self.do_stdin(name, args)
            if text.startswith(("http://", "https://", "ftp://")):
                return self.do_http_get(name, args)
        self.touch(EffectKind.FILE_READ, one)
        return self.content(one)

    def content(self, path: object) -> object:
        """What a file holds, when the same line wrote it."""
        from .call import path_targets

        field = field_of(path)
        if field.text is not None:
            for target, _ in path_targets(field, self.call.invocation.cwd):
                text = self.scene.files.get(target.text)
                if text is not None:
                    return literal(text)
        return Unknown("file", field)

    def do_read_file(self, name: str, args: tuple[object, ...]) -> object:
        return self.do_read(name, args) if name != "path" else args[0] if args else UNKNOWN

    def do_write(self, name: str, args: tuple[object, ...]) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_WRITE, one)
        return UNKNOWN

    def do_write_file(self, name: str, args: tuple[object, ...]) -> object:
        return self.do_write(name, args)

    def do_truncate(self, name: str, args: tuple[object, ...]) -> object:
        return self.do_write(name, args)

    def do_append(self, name: str, args: tuple[object, ...]) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_APPEND, one)
        return UNKNOWN

    def do_create(self, name: str, args: tuple[object, ...]) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_CREATE, one)
        return UNKNOWN

    def do_move(self, name: str, args: tuple[object, ...]) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_MOVE, one)
        for one in args[1:2]:
            self.touch(EffectKind.FILE_WRITE, one)
        return UNKNOWN

    def do_copy(self, name: str, args: tuple[object, ...]) -> object:
        for one in args[:1]:
            self.touch(
                EffectKind.FILE_READ,
                one,
                source_of_copy="1",
                recursive="1" if name.endswith(("cp_r", "cp", "copy", "cpSync", "rcopy")) else "",
            )
        for one in args[1:2]:
            self.touch(EffectKind.FILE_WRITE, one)
        return UNKNOWN

    def do_metadata(self, name: str, args: tuple[object, ...]) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_METADATA, one)
        return UNKNOWN

    def do_last_metadata(self, name: str, args: tuple[object, ...]) -> object:
        for one in args[1 if name not in ("chown", "utime", "File.chown") else 2 :]:
            self.touch(EffectKind.FILE_METADATA, one)
        return UNKNOWN

    def do_metadata_second(self, name: str, args: tuple[object, ...]) -> object:
        for one in args[-1:]:
            self.touch(EffectKind.FILE_METADATA, one, recursive="1" if name.endswith("_R") else "")
        return UNKNOWN

    def do_link(self, name: str, args: tuple[object, ...]) -> object:
        if len(args) > 1:
            hard = "" if "sym" in name or name.endswith(("ln_s", "ln_sf")) else "1"
            self.touch(EffectKind.FILE_LINK, args[1], to=field_of(args[0]).text or "", hard=hard)
        return UNKNOWN

    def do_open(self, name: str, args: tuple[object, ...]) -> object:
        if not args:
            return UNKNOWN
        first = field_of(args[0])
        if self.language == "ruby" and (first.text or first.prefix).startswith("|"):
            self.shell_text(each(first, lambda text: text[1:]))
            return Unknown("command")
        if (first.text or first.prefix).startswith(("http://", "https://")):
            return self.do_http_get(name, args)
        mode = field_of(args[1]).text if len(args) > 1 and not isinstance(args[1], (Table, int)) else "r"
        if mode is None or any(letter in mode for letter in "wax+"):
            self.touch(EffectKind.FILE_APPEND if mode and mode.startswith("a") else EffectKind.FILE_WRITE, args[0])
            return Thing("file", args[0], "w")
        self.touch(EffectKind.FILE_READ, args[0])
        return Thing("file", args[0])

    def do_perl_open(self, name: str, args: tuple[object, ...]) -> object:
        """open(FH, MODE, PATH), open(FH, "MODE PATH"), open(FH, "-|", COMMAND)."""
        if len(args) < 2:
            return UNKNOWN
        spec = field_of(args[1])
        text = (spec.text if spec.text is not None else spec.prefix).strip()
        if re.match(r"\+?[<>]+&", text):
            if self.connected:
                self.reverse_shell()
            self.connected = self.connected or "socket"
            return UNKNOWN
        if len(args) > 2:
            mode, place = text.split(":")[0].strip(), args[2]
            if "|" in mode:
                self.do_shell("open", args[2:])
                return Unknown("command")
        else:
            if text.startswith("|") or text.endswith("|"):
                self.shell_text(each(spec, lambda one: one.strip().strip("|")))
                return Unknown("command")
            match = re.match(r"(\+?>>?|\+?<|)\s*(.*)", text, re.DOTALL)
            mode = match[1] if match else ""
            place = (
                each(spec, lambda one: re.sub(r"^\s*(?:\+?>>?|\+?<)?\s*", "", one))
                if spec.known is not Known.DYNAMIC
                else spec.replace(prefix=re.sub(r"^\s*(?:\+?>>?|\+?<)\s*", "", spec.prefix))
            )
        kind = EffectKind.FILE_APPEND if ">>" in mode else EffectKind.FILE_WRITE if ">" in mode or "+" in mode else EffectKind.FILE_READ
        self.touch(kind, place)
        return UNKNOWN

    def globbed(self, pattern: object) -> object:
        """The matches of a pattern."""
        field = field_of(pattern)
        text = field.text
        if text is None:
            return pattern
        if "**" in text:
            head, _, tail = text.partition("**")
            last = tail.rsplit("/", 1)[-1]
            return Under(literal(head.rstrip("/") or ("/" if head.startswith("/") else ".")), "" if last in ("*", "") else last)
        if any(c in text for c in "*?["):
            return Field(Known.SET, (text,), glob=True, many=True)
        return Many(tuple(map(literal, text.split()))) if self.language == "perl" else field

    def do_glob(self, name: str, args: tuple[object, ...]) -> object:
        return self.globbed(args[0]) if args else UNKNOWN

    def do_listing(self, name: str, args: tuple[object, ...]) -> object:
        return Field(Known.SET, ("*",), glob=True, many=True)

    # ------------------------------------------------------------ processes and code

    def nested_call(self) -> Call:
        """The call without the streams that belong to the program itself."""
        return self.call.replace(invocation=self.call.invocation.replace(stdin=INHERIT, streams=(), readers=()))

    def shell_text(self, value: object) -> None:
        """Shell text runs."""
        if isinstance(value, Either):
            for one in value.values:
                self.shell_text(one)
            return
        from .scripts import run_text

        field = field_of(value)
        if field.text is not None and _SHELLS.match(field.text.strip()):
            self.spawned_shell = True
            if self.connected:
                self.reverse_shell()
        self.effects.extend(
            run_text(
                self.nested_call(), self.scene, field.replace(origins=tuple(o for o in field.origins if not o.producers)), via=self.language
            )
        )

    def process(self, words: list[Field]) -> None:
        """An argument vector runs."""
        if (
            words
            and words[0].text is not None
            and _SHELLS.match(words[0].text)
            and not any((word.text or "").startswith("-c") for word in words[1:])
        ):
            self.spawned_shell = True
            if self.connected:
                self.reverse_shell()
        if words and words[0].known is Known.DYNAMIC and not words[0].prefix:
            self.opaque("variable", "runs a program whose name is computed")
        elif words:
            self.effects.extend(self.scene.nested_argv(tuple(words), self.nested_call(), via=self.language))

    def reverse_shell(self) -> None:
        """A socket tied to a process."""
        self.add(
            EffectKind.NET_REMOTE_EXEC,
            Target(TargetKind.HOST, "" if self.connected == "socket" else self.connected),
            reverse="1",
            via=self.language,
        )

    def do_shell(self, name: str, args: tuple[object, ...]) -> object:
        words = [one for one in args if not isinstance(one, (Table, Thing)) and not (isinstance(one, Ref) and not one.name.isupper())]
        if self.language in ("javascript", "php", "lua"):
            words = words[:1]
        if words and isinstance(words[0], Table):
            words = words[1:]
        if words and isinstance(words[0], Many) and len(words) == 1:
            words = list(words[0].items)
            self.process([field_of(one) for one in words])
        elif len(words) > 1 and name not in ("IO.popen", "popen"):
            self.process([field_of(one) for one in words])
        elif words:
            self.shell_text(words[0])
        return Unknown("command")

    def do_argv(self, name: str, args: tuple[object, ...]) -> object:
        """(file, [arguments], options)"""
        first = args[0] if args else UNKNOWN
        options = next((one for one in args if isinstance(one, Table)), None)
        if isinstance(first, Table):
            options, first = first, first.get("cmd") or UNKNOWN
        given = args[1] if len(args) > 1 and isinstance(args[1], Many) else options.get("args") if options is not None else None
        words = [field_of(one) for one in first.items] if isinstance(first, Many) else [field_of(first)]
        if isinstance(given, Many):
            words += [field_of(one) for one in given.items]
            if given.more:
                words.append(Field(Known.DYNAMIC, reason="computed by the program", many=True))
        if options is not None and options.get("shell") is not None and all(word.text is not None for word in words):
            self.shell_text(literal(" ".join(word.text or "" for word in words)))
        else:
            self.process(words)
        return Thing("process")

    def do_fork(self, name: str, args: tuple[object, ...]) -> object:
        self.process([literal("node"), *(field_of(one) for one in args[:1])])
        return Thing("process")

    def do_eval(self, name: str, args: tuple[object, ...]) -> object:
        """Code in a value runs."""
        for one in args[-1:] if name.endswith("Function") else args[:1]:
            self.run_code(one)
        return UNKNOWN

    def run_code(self, value: object) -> None:
        """Known text is read, the rest is opaque."""
        if isinstance(value, Either):
            for one in value.values:
                self.run_code(one)
            return
        if isinstance(value, (Thing, Ref, int)):
            return
        field = field_of(value)
        if isinstance(value, Unknown) and value.source == "file" and isinstance(value.detail, Field):
            self.do_do_file("eval", (value.detail,))
        elif field.known is Known.DYNAMIC:
            sources = taint(value)
            self.opaque(next((one for one in ("network", "file", "stdin") if one in sources), "variable"), "runs code that is computed")
        elif self.depth < 6:
            from .other_code import code_effects

            for text in field.values:
                found = code_effects(text, self.call, self.scene, self.language, self.argv, self.path, self.depth + 1)
                self.effects.extend(effect for effect in found if effect.kind is not EffectKind.CODE_INLINE)

    def do_do_file(self, name: str, args: tuple[object, ...]) -> object:
        """A file of code runs: followed when the same line wrote it."""
        for one in args[:1]:
            field = field_of(one)
            text = field.text or ""
            if (
                name in ("require", "require_relative", "use")
                and "/" not in text
                and not text.endswith((".rb", ".pl", ".php", ".lua", ".pm"))
            ):
                continue
            for effect in file_effects(self.call, self.scene, EffectKind.CODE_SCRIPT, field, language=self.language):
                self.effects.append(effect)
                written = self.scene.files.get(effect.target.text)
                if written is not None:
                    self.run_code(literal(written))
        return UNKNOWN

    def do_module(self, name: str, args: tuple[object, ...]) -> object:
        text = field_of(args[0]).text if args else None
        if name == "createRequire":
            return Ref("require")
        if text is None:
            return Unknown("computed")
        if text.startswith((".", "/")):
            return self.do_do_file("import", args)
        return Ref(module_name(text))

    def do_opaque(self, name: str, args: tuple[object, ...]) -> object:
        self.opaque("generated", f"reaches for `{name}`")
        return UNKNOWN

    def opaque(self, source: str, reason: str) -> None:
        """Code that runs and cannot be read."""
        self.effects.append(
            self.call.effect(
                EffectKind.CODE_OPAQUE,
                certainty=Certainty.POSSIBLE,
                language=self.language,
                reason=reason,
                source=source,
                dynamic="interpreter",
            )
        )

    def do_invoke(self, name: str, args: tuple[object, ...]) -> object:
        text = field_of(args[0]).text if args else None
        if text is None:
            self.opaque("generated", "calls a computed function")
            return UNKNOWN
        rest = args[1].items if name.endswith("array") and len(args) > 1 and isinstance(args[1], Many) else args[1:]
        return self.invoke(Ref(text), tuple(rest))

    def do_each_of(self, name: str, args: tuple[object, ...]) -> object:
        """array_map('f', list): f on each item."""
        if len(args) > 1:
            items = args[1].items if isinstance(args[1], Many) else (args[1],)
            for item in items[:64]:
                self.do_invoke(name, (args[0], item))
        return UNKNOWN

    def do_send(self, name: str, args: tuple[object, ...]) -> object:
        return self.do_invoke(name, args)

    # ------------------------------------------------------------ network

    def request(self, url: object, method: str, body: object = None) -> object:
        """One HTTP request."""
        request = Request()
        request.urls = [field_of(url)]
        request.method = method
        if body is not None:
            request.text(field_of(body))
        found = list(request.effects(self.call, self.scene))
        if body is not None and "env" in taint(body):
            found = [
                e.replace(
                    kind=EffectKind.NET_UPLOAD, attributes=tuple(sorted({**dict(e.attributes), "upload": "env", "secret": "1"}.items()))
                )
                for e in found
            ]
        self.effects.extend(found)
        return Thing("response")

    def do_fetch(self, name: str, args: tuple[object, ...]) -> object:
        options = next((one for one in args if isinstance(one, Table)), None)
        url = args[0] if args and not isinstance(args[0], Table) else options.get("url") if options is not None else UNKNOWN
        method = field_of(options.get("method")).text if options is not None and options.get("method") is not None else "GET"
        body = (options.get("body") or options.get("data") or options.get("json")) if options is not None else None
        return self.request(url, (method or "POST").upper(), body)

    def do_http_get(self, name: str, args: tuple[object, ...]) -> object:
        if name.endswith("request") and any(isinstance(one, Table) for one in args):
            return self.do_fetch(name, args)
        if name.endswith("getstore") and len(args) > 1:
            self.touch(EffectKind.FILE_WRITE, args[1])
        if (
            self.language == "perl"
            and name == "get"
            and not (isinstance(args[0], Field) and "://" in (args[0].text or args[0].prefix) if args else False)
        ):
            return UNKNOWN
        if args:
            self.request(args[0], "GET")
        return Unknown("network")

    def do_http_post(self, name: str, args: tuple[object, ...]) -> object:
        method = name.rsplit(".", 1)[-1].upper()
        return self.request(
            args[0] if args else UNKNOWN, method if method in ("PUT", "PATCH") else "POST", args[1] if len(args) > 1 else literal("")
        )

    def do_http_delete(self, name: str, args: tuple[object, ...]) -> object:
        return self.request(args[0] if args else UNKNOWN, "DELETE")

    def do_connect(self, name: str, args: tuple[object, ...]) -> object:
        texts = [field_of(one) for one in args if isinstance(one, Field)]
        table = next((one for one in args if isinstance(one, Table)), None)
        if table is not None:
            host = table.get("host") or table.get("PeerAddr") or table.get("hostname")
            texts = [field_of(host)] if host is not None else texts
        pairs = {shown(key): value for key, value in zip(texts, texts[1:], strict=False)}
        name_of = pairs.get("PeerAddr") or pairs.get("PeerHost") or next((t for t in texts if not (t.text or "").isdigit()), literal(""))
        text = host_of(name_of.text or name_of.prefix)
        self.connected = text or "socket"
        self.add(EffectKind.NET_CONNECT, Target(TargetKind.HOST, text), address_attributes(text), via=name)
        if self.spawned_shell:
            self.reverse_shell()
        return Thing("socket")

    def on_socket(self, base: Thing, name: str, args: tuple[object, ...]) -> object:
        """A method of a socket."""
        if name == "connect" and args:
            return self.do_connect("connect", args)
        if name in ("write", "end", "send", "print", "puts", "syswrite") and args:
            secret = "1" if any("env" in taint(one) for one in args) else ""
            self.add(
                EffectKind.NET_UPLOAD,
                Target(TargetKind.HOST, self.connected),
                upload="env" if secret else "text",
                secret=secret,
                via=self.language,
            )
        return Unknown("network") if name in ("read", "gets", "recv") else base

    def do_listen(self, name: str, args: tuple[object, ...]) -> object:
        if name != "express":
            self.add(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via=name)
        return UNKNOWN

    def do_mail(self, name: str, args: tuple[object, ...]) -> object:
        self.add(EffectKind.NET_UPLOAD, Target(TargetKind.HOST, ""), upload="text", via="mail")
        return UNKNOWN

    # ------------------------------------------------------------ values

    def decoded(self, how: str, field: Field) -> object:
        """A literal unpacked."""
        if field.known is Known.DYNAMIC:
            return Field(Known.DYNAMIC, reason="decoded by the program", origins=field.origins or (Origin("generated"),))
        found = [decode(how, text) for text in field.values]
        return alternatives([literal(text) for text in found if text is not None]) if None not in found else Unknown("generated")

    def do_base64(self, name: str, args: tuple[object, ...]) -> object:
        return self.decoded("urlsafe" if "urlsafe" in name else "base64", field_of(args[0])) if args else UNKNOWN

    def do_atob(self, name: str, args: tuple[object, ...]) -> object:
        return self.do_base64(name, args)

    def do_hex(self, name: str, args: tuple[object, ...]) -> object:
        return self.decoded("hex", field_of(args[0])) if args else UNKNOWN

    def do_rot13(self, name: str, args: tuple[object, ...]) -> object:
        return self.decoded("rot13", field_of(args[0])) if args else UNKNOWN

    def do_zlib(self, name: str, args: tuple[object, ...]) -> object:
        return self.decoded("zlib", field_of(args[0])) if args else UNKNOWN

    def do_unescape(self, name: str, args: tuple[object, ...]) -> object:
        return self.decoded("url", field_of(args[0])) if args else UNKNOWN

    def do_buffer(self, name: str, args: tuple[object, ...]) -> object:
        coding = field_of(args[1]).text if len(args) > 1 else "utf8"
        if coding in ("base64", "hex", "base64url") and args:
            return self.decoded({"base64url": "urlsafe"}.get(coding, coding), field_of(args[0]))
        if args and isinstance(args[0], Many) and all(type(item) is int for item in args[0].items):
            return literal(bytes(item & 255 for item in args[0].items if isinstance(item, int)).decode("utf-8", "surrogateescape"))
        return args[0] if args else UNKNOWN

    def do_charcode(self, name: str, args: tuple[object, ...]) -> object:
        items = args[0].items if len(args) == 1 and isinstance(args[0], Many) else args
        return (
            literal("".join(chr(item) for item in items if type(item) is int and 0 <= item < 0x110000))
            if items and all(type(item) is int for item in items)
            else UNKNOWN
        )

    def do_quotemeta(self, name: str, args: tuple[object, ...]) -> object:
        return args[0] if args else UNKNOWN

    def do_concat(self, name: str, args: tuple[object, ...]) -> object:
        return self.text_method(args[0], "join", args[1:] or (literal(""),)) if args else UNKNOWN

    def do_join(self, name: str, args: tuple[object, ...]) -> object:
        found: object = args[0] if args else literal("")
        if name.startswith(("URI",)):
            return found
        if name.endswith(("expand_path", "absolute_path", "realpath")):
            home = self.scene.home
            found = each(found, lambda text: home + text[1:] if text == "~" or text.startswith("~/") else text)
            return join_path(args[1], found) if len(args) > 1 else found
        for one in args[1:]:
            found = join_path(found, one)
        return found

    def do_dirname(self, name: str, args: tuple[object, ...]) -> object:
        return each(args[0], posixpath.dirname) if args else UNKNOWN

    def do_basename(self, name: str, args: tuple[object, ...]) -> object:
        return each(args[0], posixpath.basename) if args else UNKNOWN

    def do_home(self, name: str, args: tuple[object, ...]) -> object:
        return literal(self.scene.home)

    def do_tmpdir(self, name: str, args: tuple[object, ...]) -> object:
        return literal("/tmp")  # what the function says, not a file of ours

    def do_cwd(self, name: str, args: tuple[object, ...]) -> object:
        return self.call.invocation.cwd

    def do_chdir(self, name: str, args: tuple[object, ...]) -> object:
        if args:
            moved = join_path(self.call.invocation.cwd, args[0])
            self.call = self.call.replace(invocation=self.call.invocation.replace(cwd=field_of(moved)))
        return UNKNOWN

    def do_scratch(self, name: str, args: tuple[object, ...]) -> object:
        return Field(Known.DYNAMIC, reason="a fresh scratch name", origins=(Origin("mktemp", "/tmp"),))

    def do_getenv(self, name: str, args: tuple[object, ...]) -> object:
        return self.environment(field_of(args[0]).text) if args else Unknown("env")

    def do_stdin(self, name: str, args: tuple[object, ...]) -> object:
        from .output import stdin_text

        text = stdin_text(self.call.invocation, self.scene) if getattr(self, "stdin_is_data", True) else None
        return literal(text) if text is not None else Unknown("stdin")

    def do_print(self, name: str, args: tuple[object, ...]) -> object:
        if any("env" in taint(one) for one in args):
            self.add(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, "environment"), store="env", prints="1")
        return UNKNOWN

    def do_dumps(self, name: str, args: tuple[object, ...]) -> object:
        if name.startswith("ENV") or any("env" in taint(one) for one in args):
            return Unknown("env")
        from .python_outside import spelled

        return spelled(args[0]) if args and isinstance(args[0], (Table, Many)) else args[0] if args else UNKNOWN

    def do_names(self, name: str, args: tuple[object, ...]) -> object:
        return UNKNOWN

    def do_kill(self, name: str, args: tuple[object, ...]) -> object:
        order = args if self.language in ("javascript", "php") else (*args[1:2], *args[:1])
        pid = order[0] if order else UNKNOWN
        signal = field_of(order[1]).text or "" if len(order) > 1 else ""
        by = "all" if pid == -1 else "signal0" if signal == "0" else "pid"
        text = str(pid) if isinstance(pid, int) else "parent" if isinstance(pid, Ref) and pid.name.endswith("ppid") else ""
        self.add(EffectKind.PROCESS_KILL, Target(TargetKind.PROCESS, text, "" if text else "computed by the program"), by=by, signal=signal)
        return UNKNOWN

    def do_database(self, name: str, args: tuple[object, ...]) -> object:
        place = field_of(args[0]).text or "" if args and isinstance(args[0], Field) else ""
        engine = "sqlite" if "sqlite" in name.lower() else "mysql" if "mysql" in name.lower() else "postgres"
        return Thing("database", Server(engine, place.rsplit("/", 1)[-1][:60], place, host_of(place) if "://" in place else ""))

    def do_query(self, name: str, args: tuple[object, ...]) -> object:
        return self.method(UNKNOWN, "query", args[-1:])
