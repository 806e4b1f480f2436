"""Files in the Python reader: what is read, written, moved, listed and deleted, and what files hold."""

from __future__ import annotations

from ..model.effect import EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, Origin, literal
from .python_ground import Args, Ground, Named
from .python_names import PATH_METHODS
from .python_values import UNKNOWN, Either, Many, Ref, Thing, Under, Unknown, concat, field_of, join_path, taint
from .roles import file_effects, weakest


class Files(Ground):
    """Effects on files."""

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

    def on_file(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in ("read", "readline", "readlines", "read1"):
            return self.content(base.detail) if isinstance(base.detail, (Field, Under)) else Unknown("file")
        if name in ("add", "write") and base.more == "w" and args and isinstance(args[0], (Field, Under)) and name == "add":
            self.touch(EffectKind.FILE_READ, args[0], source_of_copy="1", recursive="1")
        if name in ("write", "writelines") and args and "env" in taint(args[0]):
            self.add(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, "environment"), store="env")
        if name == "write" and isinstance(base.detail, Field) and args and isinstance(args[0], Field) and args[0].text is not None:
            self._remember(base.detail, args[0].text)
        if name in ("extractall", "extract"):
            place = args[-1] if args and name == "extractall" else named.get("path", literal("."))
            self.touch(EffectKind.FILE_CREATE, place, recursive="1")
        return base if name == "__enter__" else UNKNOWN

    def _remember(self, path: Field, text: str) -> None:
        """Text written to a file, for code that reads or runs it later."""
        from .call import path_targets

        for target, _ in path_targets(path, self.call.invocation.cwd):
            if target.kind is TargetKind.PATH and not target.dynamic:
                self.scene.files[target.text] = (self.scene.files.get(target.text) or "") + text
