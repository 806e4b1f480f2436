"""Values in the code reader: decoded literals, strings and lists that are computed, the environment."""

from __future__ import annotations

import posixpath

from ..model.effect import EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, Origin, literal
from .code_ground import Args, Ground
from .databases import Server
from .decoders import decode
from .hosts import host_of
from .python_values import UNKNOWN, Either, Many, Table, Thing, Under, Unknown, alternatives, each, field_of, join_path, taint
from .secrets import is_secret_name
from .verbs import variables_of


class Values(Ground):
    """Functions and methods that compute."""

    def decoded(self, how: str, field: Field) -> object:
        """A literal unpacked."""
        if field.known is Known.DYNAMIC:
            return Field(Known.DYNAMIC, reason="decoded by the program", origins=field.origins or (Origin("generated"),))
        found = [decode(how, text) for text in field.values]
        return alternatives([literal(text) for text in found if text is not None]) if None not in found else Unknown("generated")

    def do_buffer(self, name: str, args: Args) -> object:
        coding = field_of(args[1]).text if len(args) > 1 else "utf8"
        if coding in ("base64", "hex", "base64url") and args:
            return self.decoded({"base64url": "urlsafe"}.get(coding, coding), field_of(args[0]))
        if args and isinstance(args[0], Many) and all(type(item) is int for item in args[0].items):
            return literal(bytes(item & 255 for item in args[0].items if isinstance(item, int)).decode("utf-8", "surrogateescape"))
        return args[0] if args else UNKNOWN

    def do_charcode(self, name: str, args: Args) -> object:
        items = args[0].items if len(args) == 1 and isinstance(args[0], Many) else args
        return (
            literal("".join(chr(item) for item in items if type(item) is int and 0 <= item < 0x110000))
            if items and all(type(item) is int for item in items)
            else UNKNOWN
        )

    def do_quotemeta(self, name: str, args: Args) -> object:
        return args[0] if args else UNKNOWN

    def do_concat(self, name: str, args: Args) -> object:
        return self.text_method(args[0], "join", args[1:] or (literal(""),)) if args else UNKNOWN

    def do_join(self, name: str, args: Args) -> object:
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

    def do_dirname(self, name: str, args: Args) -> object:
        return each(args[0], posixpath.dirname) if args else UNKNOWN

    def do_basename(self, name: str, args: Args) -> object:
        return each(args[0], posixpath.basename) if args else UNKNOWN

    def do_home(self, name: str, args: Args) -> object:
        return literal(self.scene.home)

    def do_tmpdir(self, name: str, args: Args) -> object:
        return literal("/tmp")  # what the function says, not a file of ours

    def do_cwd(self, name: str, args: Args) -> object:
        return self.call.invocation.cwd

    def do_chdir(self, name: str, args: Args) -> object:
        if args:
            moved = join_path(self.call.invocation.cwd, args[0])
            self.call = self.call.replace(invocation=self.call.invocation.replace(cwd=field_of(moved)))
        return UNKNOWN

    def do_scratch(self, name: str, args: Args) -> object:
        return Field(Known.DYNAMIC, reason="a fresh scratch name", origins=(Origin("mktemp", "/tmp"),))

    def do_getenv(self, name: str, args: Args) -> object:
        return self.environment(field_of(args[0]).text) if args else Unknown("env")

    def do_stdin(self, name: str, args: Args) -> object:
        from .output import stdin_text

        text = stdin_text(self.call.invocation, self.scene) if getattr(self, "stdin_is_data", True) else None
        return literal(text) if text is not None else Unknown("stdin")

    def do_print(self, name: str, args: Args) -> object:
        if any("env" in taint(one) for one in args):
            self.add(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, "environment"), store="env", prints="1")
        return UNKNOWN

    def do_dumps(self, name: str, args: Args) -> object:
        if name.startswith("ENV") or any("env" in taint(one) for one in args):
            return Unknown("env")
        from .python_attributes import spelled

        return spelled(args[0]) if args and isinstance(args[0], (Table, Many)) else args[0] if args else UNKNOWN

    def do_names(self, name: str, args: Args) -> object:
        return UNKNOWN

    def text_method(self, base: object, name: str, args: Args) -> object:
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
        if name == "join" and isinstance(base, Many):
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
        if name == "pack" and isinstance(base, Many):
            how = field_of(args[0]).text if args else ""
            if (how or "").startswith("H") and base.items:
                return self.decoded("hex", field_of(base.items[0]))
            if (how or "").lower().startswith(("c", "u")) and all(type(item) is int for item in base.items):
                return literal("".join(chr(item) for item in base.items if isinstance(item, int)))
        if name in ("unpack", "unpack1") and isinstance(base, Field) and args and (field_of(args[0]).text or "").startswith("m"):
            return self.decoded("base64", base)
        return base if isinstance(base, (Unknown, Thing)) else UNKNOWN

    def do_database(self, name: str, args: Args) -> object:
        place = field_of(args[0]).text or "" if args and isinstance(args[0], Field) else ""
        engine = "sqlite" if "sqlite" in name.lower() else "mysql" if "mysql" in name.lower() else "postgres"
        return Thing("database", Server(engine, place.rsplit("/", 1)[-1][:60], place, host_of(place) if "://" in place else ""))

    def environment(self, name: str | None) -> object:
        """The value of a variable."""
        if name is None or is_secret_name(name):
            return Unknown("env")
        known = variables_of(self.call, self.scene).get(name)
        if known is None and name == "HOME":
            return literal(self.scene.home)
        return known if known is not None else UNKNOWN
