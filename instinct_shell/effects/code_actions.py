"""Names, calls and methods in the code reader: which function is meant, and which part says what it does."""

from __future__ import annotations

import re

from ..model.effect import EffectKind
from ..shell.invocation import Field, literal
from .code_files import Files
from .code_ground import Args
from .code_names import METHODS
from .code_network import Network
from .code_processes import Processes
from .code_values import Values
from .databases import Server, statement_effects
from .python_values import UNKNOWN, Many, Ref, Table, Thing, Under, Unknown, alternatives, field_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .code_lexer import Token

_SQL = re.compile(
    r"\s*(?:select|insert|update|delete|drop|truncate|alter|create|replace|with|pragma|grant|revoke|merge)\s+\S", re.IGNORECASE
)


class Actions(Files, Processes, Network, Values):
    """Evaluates calls; `other_code.Reader` evaluates expressions."""

    def run(self, sequence: tuple[Token, ...]) -> object:
        """Evaluates tokens."""
        raise NotImplementedError

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

    def invoke(self, function: object, args: Args) -> object:
        """Calls a value."""
        if isinstance(function, Ref):
            name = function.name.replace(".promises.", ".")
            action = self.action(name)
            if action is not None:
                if action.startswith("decode "):
                    return self.decoded(action.removeprefix("decode "), field_of(args[0])) if args else UNKNOWN
                found: object = getattr(self, "do_" + action)(name, args)
                return found
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

    def method(self, base: object, name: str, args: Args) -> object:
        """A method of a value."""
        if isinstance(base, Thing) and base.kind == "environ":
            if name in ("get", "fetch"):
                return self.environment(field_of(args[0]).text if args else None)
            return Unknown("env")
        if isinstance(base, Thing) and base.kind == "spawn_binding" and name == "spawn" and args and isinstance(args[0], Table):
            given = args[0].get("args")  # its first word is only the name that the program is given
            self.process([field_of(args[0].get("file")), *(field_of(one) for one in (given.items[1:] if isinstance(given, Many) else ()))])
            return Thing("process")
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

    def do_query(self, name: str, args: Args) -> object:
        return self.method(UNKNOWN, "query", args[-1:])
