"""Files in the code reader: what JavaScript, Perl, Ruby, PHP and Lua read, write, move and delete."""

from __future__ import annotations

import re

from ..model.effect import EffectKind
from ..shell.invocation import Field, Known, literal
from .code_ground import Args, Ground
from .python_values import UNKNOWN, Either, Many, Table, Thing, Under, Unknown, each, field_of
from .roles import file_effects


class Files(Ground):
    """Effects on files."""

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

    def do_delete(self, name: str, args: Args) -> object:
        options = next((one for one in args if isinstance(one, Table)), None)
        recursive = "1" if options is not None and options.get("recursive") is not None else ""
        if self.language == "perl" and not args:
            args = (self.names.get("$_", UNKNOWN),)
        for one in args if self.language in ("perl", "ruby") else args[:1]:
            self.touch(EffectKind.FILE_DELETE, one, recursive=recursive)
        return UNKNOWN

    def do_remove(self, name: str, args: Args) -> object:
        return self.do_delete(name, args)

    def do_delete_tree(self, name: str, args: Args) -> object:
        for one in args if self.language in ("perl", "ruby") or name.startswith("shelljs") else args[:1]:
            if name.startswith("shelljs") and isinstance(one, Field) and (one.text or "").startswith("-"):
                continue
            self.touch(
                EffectKind.FILE_DELETE,
                self.globbed(one) if isinstance(one, Field) and name.startswith(("del", "rimraf")) else one,
                recursive="1",
            )
        return UNKNOWN

    def do_read(self, name: str, args: Args) -> object:
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

    def do_read_file(self, name: str, args: Args) -> object:
        return self.do_read(name, args) if name != "path" else args[0] if args else UNKNOWN

    def do_write(self, name: str, args: Args) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_WRITE, one)
        return UNKNOWN

    def do_write_file(self, name: str, args: Args) -> object:
        return self.do_write(name, args)

    def do_truncate(self, name: str, args: Args) -> object:
        return self.do_write(name, args)

    def do_append(self, name: str, args: Args) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_APPEND, one)
        return UNKNOWN

    def do_create(self, name: str, args: Args) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_CREATE, one)
        return UNKNOWN

    def do_dotenv(self, name: str, args: Args) -> object:
        """A library that hands out the values of `.env` or of the file it is given; loading them for the program itself is what it is for."""
        if name.endswith((".parse", ".read")):
            self.touch(EffectKind.FILE_READ, next((one for one in args if isinstance(one, Field)), literal(".env")))
        return Unknown("env")

    def do_move(self, name: str, args: Args) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_MOVE, one)
        for one in args[1:2]:
            self.touch(EffectKind.FILE_WRITE, one)
        return UNKNOWN

    def do_copy(self, name: str, args: Args) -> object:
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

    def do_metadata(self, name: str, args: Args) -> object:
        for one in args[:1]:
            self.touch(EffectKind.FILE_METADATA, one)
        return UNKNOWN

    def do_last_metadata(self, name: str, args: Args) -> object:
        for one in args[1 if name not in ("chown", "utime", "File.chown") else 2 :]:
            self.touch(EffectKind.FILE_METADATA, one)
        return UNKNOWN

    def do_metadata_second(self, name: str, args: Args) -> object:
        for one in args[-1:]:
            self.touch(EffectKind.FILE_METADATA, one, recursive="1" if name.endswith("_R") else "")
        return UNKNOWN

    def do_link(self, name: str, args: Args) -> object:
        if len(args) > 1:
            hard = "" if "sym" in name or name.endswith(("ln_s", "ln_sf")) else "1"
            self.touch(EffectKind.FILE_LINK, args[1], to=field_of(args[0]).text or "", hard=hard)
        return UNKNOWN

    def do_open(self, name: str, args: Args) -> object:
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

    def do_perl_open(self, name: str, args: Args) -> object:
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
                self.do_starts("open", args[2:])
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

    def do_glob(self, name: str, args: Args) -> object:
        return self.globbed(args[0]) if args else UNKNOWN

    def do_walk(self, name: str, args: Args) -> object:
        return Under(field_of(args[0]), "") if args else UNKNOWN

    def do_listing(self, name: str, args: Args) -> object:
        return Field(Known.SET, ("*",), glob=True, many=True)
