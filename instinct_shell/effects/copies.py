"""Programs that bring content or names from one place to another: cp, mv, ln, install, rsync, and mirror tools.

What stood at the destination is overwritten, so a copy or move is also a write there; a move takes the source away.
"""

from __future__ import annotations

import posixpath

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from . import flow
from .call import Call, Program, Scene, fold, path_targets
from .output import absolute
from .roles import SINKS, file_effects, is_scratch, path_effects, weakest
from .scripts import run_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class _Ends:
    """Sources and destination of a copying command."""

    __slots__ = ("folder", "into", "sources")

    def __init__(self, call: Call) -> None:
        target = call.value("-t", "--target-directory")
        operands = call.operands
        if target is not None:
            self.sources, self.into, self.folder = operands, target, True
            return
        self.sources, self.into = (operands[:-1], operands[-1]) if len(operands) > 1 else (operands, literal("."))
        single = len(self.sources) == 1 and (not self.sources[0].many or self.sources[0].quoted)
        self.folder = not call.has("-T", "--no-target-directory") and (not single or is_folder(self.into))


def is_folder(field: Field) -> bool:
    """Whether a destination surely is an existing folder: `x/`, `.`, `..`, `~`."""
    text = field.values[0] if len(field.values) == 1 else field.suffix or field.prefix
    return (
        text.endswith("/")
        or posixpath.basename(text) in (".", "..")
        or text in ("", "/", "/tmp", "/etc", "/usr/local/bin", "/usr/bin", "/bin")
    )


def destinations(call: Call, scene: Scene, ends: _Ends, source: Field) -> Iterator[tuple[Target, Certainty, str]]:
    """Where one source may land: (target, certainty, how). how: "" surely so, "if_folder" only if the destination is an existing folder,
    "below" under names that nobody can tell."""
    for target, sure in path_targets(ends.into, call.invocation.cwd, scene.home):
        folder = ends.folder or target.text in (scene.workspace, scene.home, "/", "/tmp", call.invocation.cwd.text)
        if target.text in SINKS:
            continue
        if not folder:
            yield target, sure, ""
            if "." in posixpath.basename(target.text).lstrip(".") or target.dynamic:
                continue
        name, plain = _basename(source)
        if not name:
            if folder:
                yield target, sure, "below"
            continue
        if target.dynamic:
            yield target, sure, ""
            continue
        kind = TargetKind.PATH if plain and target.kind is TargetKind.PATH else TargetKind.PATTERN
        inner = Target(kind, fold(target.text.rstrip("/") + "/" + name))
        yield inner, sure if folder and plain else weakest(sure, Certainty.POSSIBLE), "" if folder else "if_folder"


def _basename(field: Field) -> tuple[str, bool]:
    """The last component of a source's name and whether it is plain; "" when it is not known."""
    if field.known is Known.DYNAMIC:
        name = posixpath.basename(field.suffix) if "/" in field.suffix else ""
        return name, True
    name = posixpath.basename(field.values[0].rstrip("/")) if len(field.values) == 1 else ""
    return ("" if name in (".", "..") else name), not field.glob


def put(call: Call, scene: Scene, ends: _Ends, *, recursive: str = "", **attributes: str) -> Iterator[Effect]:
    """The writes at the destination, once per source; `from` names a single known source."""
    for source in ends.sources:
        origin = flow.looked_up(source, scene) or absolute(source.text, call.invocation)
        for target, sure, how in destinations(call, scene, ends, source):
            if target.text in SINKS:
                continue
            extra = {**attributes, "from": "" if origin in SINKS else origin, "dynamic": "write" if target.dynamic else ""}
            if target.dynamic and is_scratch(ends.into):
                extra["bound"] = "1"
            yield call.effect(
                EffectKind.FILE_CREATE if attributes.get("noclobber") else EffectKind.FILE_WRITE,
                target,
                extra,
                certainty=weakest(call.certainty, sure),
                recursive=recursive,
                if_folder="1" if how == "if_folder" else "",
                below="1" if how == "below" else "",
                unset=",".join(ends.into.unset),
            )


def copy(call: Call, scene: Scene) -> Iterator[Effect]:
    """cp: reads the sources, writes the destination; -l and -s make links instead."""
    ends = _Ends(call)
    recursive = "1" if call.has("-r", "-R", "-a", "--recursive", "--archive") else ""
    if call.has("-l", "-s", "--link", "--symbolic-link"):
        yield from link(call, scene)
        return
    for field in ends.sources:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1", recursive=recursive)
    if len(call.operands) > 1 or call.has("-t", "--target-directory"):
        noclobber = "1" if call.has("-n", "--no-clobber") or _update_none(call) else ""
        yield from put(call, scene, ends, recursive=recursive, noclobber=noclobber, backup="1" if call.has("-b", "--backup") else "")


def _update_none(call: Call) -> bool:
    mode = call.value("--update")
    return mode is not None and (mode.text or "").startswith("none")


def move(call: Call, scene: Scene) -> Iterator[Effect]:
    """mv: takes the sources away and overwrites the destination."""
    ends = _Ends(call)
    if len(call.operands) < 2 and not call.has("-t", "--target-directory"):
        return
    places = path_targets(ends.into, call.invocation.cwd) if ends.into.text is not None else ()
    into = places[0][0].text if places else ""  # an empty word names no place
    for field in ends.sources:
        yield from file_effects(call, scene, EffectKind.FILE_MOVE, field, to=into)
    noclobber = "1" if call.has("-n", "--no-clobber") else ""
    yield from put(call, scene, ends, noclobber=noclobber, backup="1" if call.has("-b", "--backup") else "", moved="1")


def link(call: Call, scene: Scene) -> Iterator[Effect]:
    """ln: a new name for something; with -f what bore the name is replaced. A hard link to a file is a way to its content."""
    symbolic = call.has("-s", "--symbolic", "--symbolic-link")
    ends = _Ends(call)
    for source in ends.sources:
        if not symbolic:
            yield from file_effects(call, scene, EffectKind.FILE_READ, source, source_of_copy="1")
        for target, sure, how in destinations(call, scene, ends, source):
            to = _pointed(source, target.text, call, symbolic)
            extra = {"dynamic": "write"} if target.dynamic else {}
            sure = weakest(call.certainty, sure)
            if how == "if_folder":
                continue
            if call.has("-f", "--force"):
                yield call.effect(EffectKind.FILE_WRITE, target, extra, certainty=sure, replaced="1")
            yield call.effect(
                EffectKind.FILE_LINK,
                target,
                extra,
                certainty=sure,
                to=to,
                hard="" if symbolic else "1",
                force="1" if call.has("-f", "--force") else "",
            )


def _pointed(source: Field, name: str, call: Call, symbolic: bool) -> str:
    """What a link points to, absolute: a symbolic one is relative to its own folder."""
    text = source.text
    if text is None or not name.startswith("/"):
        return text or source.prefix
    if symbolic and not call.has("-r", "--relative") and not text.startswith("/"):
        return fold(posixpath.dirname(name) + "/" + text)
    return absolute(text, call.invocation)


def install(call: Call, scene: Scene) -> Iterator[Effect]:
    """install: copies with a mode; -d makes folders."""
    if call.has("-d", "--directory"):
        for field in call.operands:
            yield from file_effects(call, scene, EffectKind.FILE_CREATE, field, folder="1")
        return
    ends = _Ends(call)
    for field in ends.sources:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1")
    yield from put(call, scene, ends)


_RSYNC_DELETES = (
    "--delete",
    "--del",
    "--delete-before",
    "--delete-during",
    "--delete-delay",
    "--delete-after",
    "--delete-excluded",
    "--delete-missing-args",
)


def remote_host(text: str) -> str:
    """The host of `user@host:path`, `host::module` or an rsync:// address, "" for a local path."""
    if text.startswith("rsync://"):
        return text[8:].partition("/")[0]
    head, colon, _ = text.partition(":")
    return head if colon and "/" not in head else ""


def rsync(call: Call, scene: Scene) -> Iterator[Effect]:
    """rsync: copies; --delete sweeps what the source lacks; -e and --rsync-path run commands; a remote end is the network."""
    for option in ("-e", "--rsh", "--rsync-path"):
        command = call.value(option)
        if command is not None:
            yield from run_text(call, scene, command, via=f"rsync {option}")
    if call.has("-n", "--dry-run", "--list-only") or not call.operands:
        return
    for option in ("--files-from", "--include-from", "--exclude-from", "--password-file"):
        file = call.value(option)
        if file is not None:
            yield from file_effects(call, scene, EffectKind.FILE_READ, file)
    log = call.value("--log-file")
    if log is not None:
        yield from file_effects(call, scene, EffectKind.FILE_APPEND, log)
    sources, into = (call.operands[:-1], call.operands[-1]) if len(call.operands) > 1 else (call.operands, None)
    sources = tuple(literal(".") if field.text == "" else field for field in sources)  # rsync takes "" for the current folder
    recursive = "1" if call.has("-r", "-a", "--recursive", "--archive") else ""
    chosen = [field.text or "" for option, field in call.values if option == "--exclude"]
    chosen += [(field.text or "")[2:] for option, field in call.values if option in ("-f", "--filter") and (field.text or "").startswith("- ")]
    excluded = ",".join(name.rstrip("/") for name in chosen if name)
    away = remote_host(into.text or into.prefix) if into is not None else ""
    for field in sources:
        host = remote_host(field.text or field.prefix)
        if host:
            yield call.effect(EffectKind.NET_CONNECT, Target(TargetKind.HOST, host.rpartition("@")[2]), tool="rsync")
            continue
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1", recursive=recursive, exclude=excluded)
        if call.has("--remove-source-files"):
            yield from file_effects(call, scene, EffectKind.FILE_DELETE, field, recursive=recursive, sweep="1")
        if away:
            for effect in file_effects(call, scene, EffectKind.FILE_READ, field):
                yield call.effect(
                    EffectKind.NET_UPLOAD,
                    Target(TargetKind.HOST, away.rpartition("@")[2]),
                    upload="file",
                    secret="1" if flow.looks_secret(effect.target.text) else "",
                    path=effect.target.text,
                    tool="rsync",
                )
    if into is None or away:
        if away and any(call.has(option) for option in _RSYNC_DELETES):
            yield call.effect(EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, away.rpartition("@")[2]), via="rsync", deletes="1")
        return
    yield from _rsync_into(call, scene, sources, into, recursive)


def _rsync_into(call: Call, scene: Scene, sources: tuple[Field, ...], into: Field, recursive: str) -> Iterator[Effect]:
    noclobber = "1" if call.has("--ignore-existing") else ""
    for source in sources:
        text = source.text or source.suffix
        name = posixpath.basename(text.rpartition(":")[2])
        if text.endswith("/") or not name or source.glob:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, into, recursive=recursive or "1", noclobber=noclobber)
        elif is_folder(into) or recursive or len(sources) > 1:
            yield from path_effects(
                call, EffectKind.FILE_WRITE, literal(name), _as_cwd(into, call), scene, recursive=recursive, noclobber=noclobber
            )
        else:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, into, noclobber=noclobber)
    if any(call.has(option) for option in _RSYNC_DELETES):
        yield from file_effects(call, scene, EffectKind.FILE_DELETE, into, sweep="1", recursive="1", mirror="1")


def _as_cwd(folder: Field, call: Call) -> Field:
    path = absolute(folder.text, call.invocation)
    return literal(path) if path else folder


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("cp", "gcp"),
        options="-t -S --target-directory --suffix --backup= --preserve= --no-preserve --sparse --reflink= --context= --update=",
        longs="--recursive --archive --force --interactive --link --symbolic-link --no-clobber --update --verbose "
        "--parents --remove-destination "
        "--no-target-directory --strip-trailing-slashes --one-file-system --dereference --no-dereference "
        "--attributes-only --preserve --backup",
        describe=copy,
        summary="copies files",
    ),
    Program(
        ("mv", "gmv"),
        options="-t -S --target-directory --suffix --backup= --update=",
        longs="--force --interactive --no-clobber --update --verbose --no-target-directory --strip-trailing-slashes --backup --exchange",
        describe=move,
        summary="moves or renames files",
    ),
    Program(
        ("ln", "link", "symlink"),
        options="-t -S --target-directory --suffix --backup=",
        longs="--symbolic --force --interactive --no-dereference --relative --verbose --no-target-directory --logical --physical --backup",
        describe=link,
        summary="makes links",
    ),
    Program(
        ("install", "ginstall"),
        options="-m -o -g -t -S --mode --owner --group --target-directory --suffix --strip-program --backup= --context=",
        longs="--directory --compare --preserve-timestamps --strip --verbose --no-target-directory",
        describe=install,
        summary="copies files with modes, or makes folders",
    ),
    Program(
        ("rsync",),
        options="-e -f -B -M -T -4= --rsh --rsync-path --exclude --include --exclude-from --include-from --files-from "
        "--filter --bwlimit --port --timeout "
        "--backup-dir --suffix --temp-dir --compare-dest --copy-dest --link-dest --partial-dir --log-file "
        "--password-file --chmod --chown --max-size "
        "--min-size --max-delete --out-format --info --debug --usermap --groupmap --iconv --block-size "
        "--modify-window --contimeout --remote-option",
        longs="--recursive --archive --verbose --dry-run --delete --del --delete-before --delete-during "
        "--delete-delay --delete-after --delete-excluded "
        "--delete-missing-args --list-only --remove-source-files --ignore-existing --existing --update "
        "--inplace --append --progress --stats --compress --human-readable --quiet --checksum",
        describe=rsync,
        summary="mirrors folders, here or on another machine",
    ),
)

__all__ = ["PROGRAMS", "remote_host"]
