"""What the file tools do once they may: read, write, edit, delete and move below one folder, in one step each.

A path is resolved once more, compared with what was judged, and then reached from the folder's descriptor without following any link
(openat.py): whoever swaps a link in meanwhile gets a refusal, never a write elsewhere. Each tool stands in for the jail in the pipeline, so that its
act has the same records, the same undo and the same grants as a command.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager

from ..errors import FileToolError, IntentError
from ..instincts.ground import inside
from ..model.digest import sha256_hex
from ..model.effect import EffectKind, Target, TargetKind
from ..model.fact import QuestionKind
from ..model.intent import IntentType
from ..model.jailspec import JailLevel, RunResult
from ..model.value import Value
from .atomic import put
from .contents import edited
from .openat import make_folders, open_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..engine.judgement import Judgement
    from ..model.effect import Effect
    from ..model.jailspec import JailSpec
    from ..model.ports import Undo, UndoReport

LARGEST_READ = 16 << 20
LAYERS = ("openat2", "rename")


class Done(Value):
    """What a file tool did. before, after: contents, None where there was or is no file (or it was no file of text that was asked for)."""

    path: str
    before: bytes | None = None
    after: bytes | None = None
    to: str = ""
    created: bool = False
    notes: tuple[str, ...] = ()


class FileTool:
    """The Jail port for one judged file intent. writable: the real folders in which it may change anything. hidden: whether a path may not be read.

    `done` says what it did, once it ran.
    """

    def __init__(self, judgement: Judgement, writable: Sequence[str], hidden: Callable[[str], bool], *, durable: bool) -> None:
        self._judgement = judgement
        self._intent = judgement.intent
        self._writable = tuple(dict.fromkeys(os.path.realpath(folder) for folder in writable))
        self._hidden = hidden
        self._durable = durable
        self.done: Done | None = None

    def level(self) -> str:
        return JailLevel.NONE

    def run(self, spec: JailSpec) -> RunResult:  # noqa: ARG002  # the port's; what is to be done is the intent's business
        """Do it. Raises FileToolError; then nothing has changed."""
        act = {
            IntentType.FILE_READ: self._read,
            IntentType.FILE_WRITE: self._write,
            IntentType.FILE_EDIT: self._edit,
            IntentType.FILE_DELETE: self._delete,
            IntentType.FILE_MOVE: self._move,
        }[self._intent.type]
        path = self._judgement.effects[0].target.text
        try:
            self.done = act(path)
        except OSError as error:
            raise _refused(error, path) from error
        return RunResult(0, True, level=JailLevel.NONE, layers=LAYERS)

    # ------------------------------------------------------------ the acts

    def _read(self, path: str) -> Done:
        real = self._real(path)
        fd = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            # The name of what is open now, whatever was swapped on the way.
            opened = os.readlink(f"/proc/self/fd/{fd}")
            if opened != real or self._hidden(opened):
                raise OSError(errno.ESTALE, "it has changed meanwhile", path)
            _must_be_file(os.fstat(fd), path)
            data = file.read(LARGEST_READ)
            return Done(path, data, data)

    def _write(self, path: str) -> Done:
        return self._replace(
            path, lambda _: self._intent.content.encode("utf-8", "surrogateescape"), exclusive=bool(self._intent.meta("exclusive"))
        )

    def _edit(self, path: str) -> Done:
        def change(before: bytes | None) -> bytes:
            if before is None:
                before = b""
                if self._intent.meta("hunks") is not None or not _creates(self._intent.meta("edits")):
                    raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            try:
                after = edited(before.decode("utf-8", "surrogateescape"), self._intent)
            except IntentError as error:
                raise FileToolError(f"`{path}`: {error.message}", hint=error.hint) from error
            if after is None:
                raise FileToolError(
                    f"the edit of `{path}` does not say what it replaces", hint="give `edits` with `old` and `new`, or a patch"
                )
            return after.encode("utf-8", "surrogateescape")

        return self._replace(path, change)

    def _replace(self, path: str, change: Callable[[bytes | None], bytes], *, exclusive: bool = False) -> Done:
        real = self._real(path)
        with self._parent(real, make=True) as (parent, name):
            old = _open_old(parent, name)
            try:
                before = None
                notes: tuple[str, ...] = ()
                if old is not None:
                    found = os.fstat(old)
                    _must_be_file(found, path)
                    if exclusive:
                        raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), path)
                    if found.st_size <= LARGEST_READ:
                        before = _all(old)
                        self._as_judged(path, before)
                    if found.st_nlink > 1:
                        notes = (f"it had {found.st_nlink - 1} other hard link(s), which keep the old content",)
                    if not os.access(f"/proc/self/fd/{old}", os.W_OK):
                        raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
                after = change(before)
                if before != after:
                    put(parent, name, after, old, durable=self._durable)
                return Done(path, before, after, created=old is None, notes=notes)
            finally:
                if old is not None:
                    os.close(old)

    def _delete(self, path: str) -> Done:
        itself = self._itself(path)
        with self._parent(itself) as (parent, name):
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                if not self._intent.meta("recursive"):
                    os.rmdir(name, dir_fd=parent)
                else:
                    import shutil

                    shutil.rmtree(name, dir_fd=parent)  # by descriptors, links not followed
                return Done(path)
            before = None
            if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_READ:
                old = _open_old(parent, name)
                if old is not None:
                    before = _all(old)
                    os.close(old)
            os.unlink(name, dir_fd=parent)
            return Done(path, before)

    def _move(self, path: str) -> Done:
        source = self._itself(path)
        target = self._judgement.effects[1].target.text
        goal = self._itself(target)
        with self._parent(source) as (source_parent, source_name):
            found = os.stat(source_name, dir_fd=source_parent, follow_symlinks=False)
            with self._parent(goal, make=True) as (goal_parent, goal_name):
                there = _stat(goal_parent, goal_name)
                if there is not None and (stat.S_ISDIR(there.st_mode) or stat.S_ISDIR(found.st_mode)):
                    raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), target)
                try:
                    os.rename(source_name, goal_name, src_dir_fd=source_parent, dst_dir_fd=goal_parent)
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise
                    raise FileToolError(f"`{target}` is on another disk than `{path}`", hint="use `mv` in a command") from error
                if self._durable:
                    os.fsync(goal_parent)
                    os.fsync(source_parent)
        return Done(path, to=target)

    # ------------------------------------------------------------ paths

    def _real(self, path: str) -> str:
        """Where the path leads now; it must be where it led when it was judged."""
        return self._checked(path, "path", os.path.realpath(path))

    def _itself(self, path: str) -> str:
        """The entry itself, its folder resolved."""
        return self._checked(path, "parent", os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)))

    def _checked(self, path: str, key: str, now: str) -> str:
        answer = self._judgement.facts.answer(QuestionKind.RESOLVE, path)
        judged = answer.get(key) if answer.known else None
        if judged is not None and judged != now:
            raise OSError(errno.ESTALE, "it has changed meanwhile", path)
        return now

    @contextmanager
    def _parent(self, real: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """(descriptor of the folder, name) of a real path below one of the writable folders."""
        roots = [folder for folder in self._writable if inside(real, folder) and real != folder]
        if not roots:
            raise OSError(errno.EACCES, "outside every folder that file tools may change", real)
        root = max(roots, key=len)
        head, _, name = real[len(root.rstrip("/")) + 1 :].rpartition("/")
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fd = make_folders(top, head) if make else open_below(top, head, os.O_RDONLY | os.O_DIRECTORY)
        finally:
            os.close(top)
        try:
            yield fd, name
        finally:
            os.close(fd)

    def _as_judged(self, path: str, before: bytes) -> None:
        judged = self._judgement.facts.answer(QuestionKind.CONTENT, path).get("sha256")
        if judged and judged != sha256_hex(before):
            raise OSError(errno.ESTALE, "it has changed meanwhile", path)


class RealUndo:
    """The undo of what the paths really are: a write through a link changes what the link points to."""

    def __init__(self, undo: Undo) -> None:
        self._undo = undo

    def snapshot(self, run: str, effects: Sequence[Effect], workspace: str) -> UndoReport:
        """As the port."""
        real = []
        for effect in effects:
            if effect.kind is EffectKind.FILE_WRITE and effect.target.kind is TargetKind.PATH:
                effect = effect.replace(target=Target(TargetKind.PATH, os.path.realpath(effect.target.text)))
            real.append(effect)
        return self._undo.snapshot(run, tuple(real), workspace)


def _creates(edits: object) -> bool:
    """Whether an edit of a file that is not there makes it: its one old text is empty."""
    return isinstance(edits, list | tuple) and len(edits) == 1 and isinstance(edits[0], dict) and edits[0].get("old") == ""


def _open_old(parent: int, name: str) -> int | None:
    try:
        return open_below(parent, name, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None


def _stat(parent: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _all(fd: int) -> bytes:
    data = bytearray()
    while piece := os.read(fd, 1 << 20):
        data += piece
    return bytes(data)


def _must_be_file(found: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)


def _refused(error: OSError, path: str) -> FileToolError:
    """The kernel's answer in our words."""
    if error.errno in (errno.ESTALE, errno.ELOOP, errno.EXDEV):
        return FileToolError(f"`{path}` has changed since it was judged; nothing was written", hint="look at it and try again")
    why = (error.strerror or str(error)).lower()
    hints = {
        errno.ENOENT: "check the path",
        errno.EEXIST: "it is there already; choose another name",
        errno.ENOTEMPTY: "the folder is not empty; say recursive to delete what is in it",
        errno.EISDIR: "this is a folder",
        errno.ENOSPC: "free space on that disk",
        errno.EROFS: "that file system is read-only",
    }
    return FileToolError(f"`{path}`: {why}; nothing was changed", hint=hints.get(error.errno or 0, "check its permissions"))
