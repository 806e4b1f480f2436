"""Values in the Python reader that functions compute: decoded literals, paths, characters."""

from __future__ import annotations

import posixpath
import re

from ..shell.invocation import Field, Known, Origin, literal
from .decoders import decode
from .python_ground import Args, Ground, Named
from .python_values import UNKNOWN, Many, Thing, Unknown, each, field_of, join_path


class Decoding(Ground):
    """Functions that only compute."""

    def decoded(self, how: str, args: Args) -> object:
        """A literal unpacked."""
        field = field_of(args[0]) if args else field_of(UNKNOWN)
        if field.known is Known.DYNAMIC:
            return Field(Known.DYNAMIC, reason="decoded by the program", origins=field.origins or (Origin("generated"),))
        texts = [decode(how, text) for text in field.values]
        known = tuple(text for text in texts if text is not None)
        return Field(Known.STATIC if len(known) == 1 else Known.SET, known) if known and None not in texts else Unknown("generated")

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
