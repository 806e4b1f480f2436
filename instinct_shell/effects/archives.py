"""Archivers and compressors: tar, zip, 7z, cpio, ar, gzip and their like.

Packing reads what it packs (`source_of_copy`); unpacking writes unknown names below a folder (`below`). Several of them run commands.
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind
from ..shell.invocation import Field, Known, literal
from .call import Call, Program, Scene
from .listing import listing_of
from .roles import file_effects, path_effects
from .scripts import run_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_RUNS = ("--to-command", "-I", "--use-compress-program", "--info-script", "-F", "--new-volume-script", "--rsh-command", "--rmt-command")


def _in_folder(folder: Field | None, call: Call) -> Field:
    """The directory that a `-C folder` makes current."""
    from .output import absolute

    if folder is None:
        return call.invocation.cwd
    path = absolute(folder.text, call.invocation)
    if path:
        return literal(path)
    if folder.known is Known.DYNAMIC and not folder.prefix.startswith("/") and call.invocation.cwd.text:
        return folder.replace(prefix=call.invocation.cwd.text.rstrip("/") + "/" + folder.prefix) if folder.prefix else folder
    return folder


def tar(call: Call, scene: Scene) -> Iterator[Effect]:
    """tar: the mode decides; --to-command, --checkpoint-action=exec and -I run commands; --remove-files deletes what was packed."""
    for option in _RUNS:
        command = call.value(option)
        if command is not None:
            yield from run_text(call, scene, command, via=f"tar {option}")
    for option, field in call.values:
        if option == "--checkpoint-action" and (field.text or field.prefix).startswith("exec="):
            text = field.text
            part = field.replace(values=(text[5:],)) if text is not None else field.replace(prefix=field.prefix[5:])
            yield from run_text(call, scene, part, via="tar --checkpoint-action")
        elif option in ("-T", "--files-from", "-X", "--exclude-from") and field.text != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    archive = call.value("-f", "--file")
    if archive is not None and archive.text == "-":
        archive = None
    folder = _in_folder(call.value("-C", "--directory", "--cd"), call)
    if call.has("-c", "--create", "-r", "--append", "-u", "--update", "-A", "--concatenate", "--catenate"):
        yield from _pack(call, scene, archive, folder)
    elif call.has("-x", "--extract", "--get"):
        if archive is not None:
            yield from file_effects(call, scene, EffectKind.FILE_READ, archive)
        if not call.has("-O", "--to-stdout", "--to-command"):
            yield from _unpack(call, scene, folder)
    elif archive is not None:
        kind = EffectKind.FILE_WRITE if call.has("--delete") else EffectKind.FILE_READ
        yield from file_effects(call, scene, kind, archive)


def _pack(call: Call, scene: Scene, archive: Field | None, folder: Field) -> Iterator[Effect]:
    """Packing: the operands are read, the archive is written."""
    excluded = ",".join(field.text or "" for option, field in call.values if option in ("--exclude", "-x") and field.text)
    operands = list(call.operands)
    members: Iterator[Effect]
    if call.value("-T", "--files-from") is not None and not operands:
        found = listing_of(call.invocation.stdin.producers, scene) or ()
        for one in found:
            for target in one.targets:
                yield call.effect(EffectKind.FILE_READ, target, source_of_copy="1", recursive="1", filter=one.filter, sweep="1")
    for field in operands:
        members = path_effects(call, EffectKind.FILE_READ, field, folder, scene, source_of_copy="1", recursive="1", exclude=excluded)
        yield from members
        if call.has("--remove-files"):
            yield from path_effects(call, EffectKind.FILE_DELETE, field, folder, scene, recursive="1")
    if archive is not None:
        kind = EffectKind.FILE_WRITE if call.has("-c", "--create") else EffectKind.FILE_APPEND
        yield from file_effects(call, scene, kind, archive)


def _unpack(call: Call, scene: Scene, folder: Field) -> Iterator[Effect]:
    """Unpacking: unknown names below the folder, or the members that were named."""
    keep = "1" if call.has("-k", "--keep-old-files", "--skip-old-files") else ""
    absolute = "1" if call.has("-P", "--absolute-names") else ""
    top = call.value("--one-top-level")
    yield from path_effects(call, EffectKind.FILE_WRITE, top or literal("."), folder, scene, below="1", noclobber=keep, absolute=absolute)
    if not call.has("--strip-components", "--transform", "--xform", "--wildcards"):
        for field in call.operands:
            yield from path_effects(call, EffectKind.FILE_WRITE, field, folder, scene, recursive="1", noclobber=keep)


def zip_(call: Call, scene: Scene) -> Iterator[Effect]:
    """zip: the first operand is the archive, the rest is packed; -m deletes it afterwards; -TT runs a command."""
    commands = [call.argv[at + 1] for at, word in enumerate(call.argv[:-1]) if word.text in ("-TT", "--unzip-command")]
    commands += [field for option, field in call.values if option == "--unzip-command"]
    for command in commands:
        yield from run_text(call, scene, command, via="zip -TT")
    call = call.replace(operands=tuple(field for field in call.operands if field not in commands))
    if not call.operands:
        return
    name = call.operands[0]
    if name.text and "." not in name.text.rpartition("/")[2]:
        name = name.replace(values=(name.text + ".zip",))
    if name.text != "-":
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, name)
    if call.has("-d", "--delete"):
        return
    left_out = _left_out(call)
    call = call.replace(operands=tuple(field for field in call.operands if field not in left_out))
    names = [field.text or (field.values[0] if len(field.values) == 1 else "") for field in left_out]
    names += [field.text or "" for option, field in call.values if option in ("-x", "--exclude")]
    excluded = ",".join(name.removesuffix("/*") for name in names if name)
    recursive = "1" if call.has("-r", "-R", "--recurse-paths") else ""
    for field in call.operands[1:]:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1", recursive=recursive, exclude=excluded)
        if call.has("-m", "--move"):
            yield from file_effects(call, scene, EffectKind.FILE_DELETE, field, recursive=recursive)


def _left_out(call: Call) -> tuple[Field, ...]:
    """The names after each -x, up to the next option or `@`."""
    found: list[Field] = []
    for at, word in enumerate(call.argv):
        if word.text in ("-x", "--exclude"):
            rest = call.argv[at + 1 :]
            end = next((i for i, one in enumerate(rest) if (one.text or one.prefix).startswith(("-", "@"))), len(rest))
            found += rest[:end]
    return tuple(found)


def unzip(call: Call, scene: Scene) -> Iterator[Effect]:
    """unzip, unrar, unar: reads the archive, writes below -d (or here)."""
    if not call.operands:
        return
    yield from file_effects(call, scene, EffectKind.FILE_READ, call.operands[0])
    if call.has("-l", "-t", "-p", "-v", "-Z", "-z", "-c"):
        return
    folder = _in_folder(call.value("-d", "-o-dir"), call)
    keep = "1" if call.has("-n") else ""
    yield from path_effects(call, EffectKind.FILE_WRITE, literal("."), folder, scene, below="1", noclobber=keep)
    for field in call.operands[1:]:
        yield from path_effects(call, EffectKind.FILE_WRITE, field, folder, scene, noclobber=keep)


def seven_zip(call: Call, scene: Scene) -> Iterator[Effect]:
    """7z, rar, arj: the first operand is the command: a adds, x and e extract, d deletes from the archive, l lists."""
    words = [field for field in call.argv if not (field.text or "").startswith("-")]
    if len(words) < 2:
        return
    verb = (words[0].text or "")[:1]
    folder = next((field.text or "" for field in call.argv if (field.text or "").startswith("-o")), "")
    if verb in ("a", "u", "m", "d", "f"):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, words[1])
        for field in words[2:] if verb != "d" else ():
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1", recursive="1")
            if "-sdel" in [word.text for word in call.argv] or verb == "m":
                yield from file_effects(call, scene, EffectKind.FILE_DELETE, field, recursive="1")
    else:
        yield from file_effects(call, scene, EffectKind.FILE_READ, words[1])
        if verb in ("x", "e"):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(folder[2:] or "."), below="1")


_SUFFIXES = {
    "gzip": ".gz", "pigz": ".gz", "bzip2": ".bz2", "pbzip2": ".bz2", "xz": ".xz", "lzma": ".lzma", "zstd": ".zst", "lz4": ".lz4",
    "lzop": ".lzo", "brotli": ".br", "compress": ".Z", "lzip": ".lz", "pixz": ".xz", "zopfli": ".gz",
}  # fmt: skip
_KEEP_BY_DEFAULT = frozenset(["zstd", "unzstd", "lz4", "unlz4", "lzop", "brotli", "zopfli"])


def compress(call: Call, scene: Scene) -> Iterator[Effect]:
    """gzip and its like: each file is replaced by its compressed (or unpacked) form, unless -c or -k."""
    to_stdout = call.has("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test")
    unpack = call.has("-d", "--decompress", "--uncompress") or call.name.startswith("un") or call.name.startswith("gun")
    suffix = _SUFFIXES.get(call.name, "")
    keep = call.has("-k", "--keep") or (call.name in _KEEP_BY_DEFAULT and not call.has("--rm"))
    for field in call.operands:
        if field.text == "-":
            continue
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1")
        if to_stdout:
            continue
        for effect in file_effects(call, scene, EffectKind.FILE_CREATE, field):
            text = effect.target.text
            made = text.rpartition(".")[0] if unpack and "." in text.rpartition("/")[2] else text + suffix
            kind = EffectKind.FILE_WRITE if call.has("-f", "--force") else EffectKind.FILE_CREATE
            yield effect.replace(kind=kind, target=effect.target.replace(text=made))
        if not keep:
            yield from file_effects(call, scene, EffectKind.FILE_DELETE, field, replaced="1")


def cpio(call: Call, scene: Scene) -> Iterator[Effect]:
    """cpio, pax: -o packs names that come in on stdin, -i unpacks here, -p copies them to a folder."""
    archive = call.value("-F", "--file", "-O", "-I", "-f")
    found = listing_of(call.invocation.stdin.producers, scene) or ()
    if call.has("-o", "--create", "-p", "--pass-through", "-w"):
        for one in found:
            for target in one.targets:
                yield call.effect(EffectKind.FILE_READ, target, source_of_copy="1", recursive="1", filter=one.filter)
        if archive is not None:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, archive)
    if call.has("-p", "--pass-through"):
        for field in call.operands[-1:]:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, below="1")
    elif call.has("-i", "--extract", "-r") and not call.has("-t", "--list", "--to-stdout"):
        folder = _in_folder(call.value("-D", "--directory"), call)
        yield from path_effects(call, EffectKind.FILE_WRITE, literal("."), folder, scene, below="1")
    command = call.value("--rsh-command")
    if command is not None:
        yield from run_text(call, scene, command, via="cpio --rsh-command")


def ar(call: Call, scene: Scene) -> Iterator[Effect]:
    """ar: the first operand is the operation, the second the archive, the rest members."""
    words = [field for field in call.argv if not (field.text or "").startswith("--")]
    if len(words) < 2:
        return
    operation = (words[0].text or "").lstrip("-")
    if any(letter in operation for letter in "rqdms"):
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, words[1])
        for field in words[2:] if "d" not in operation else ():
            yield from file_effects(call, scene, EffectKind.FILE_READ, field, source_of_copy="1")
    else:
        yield from file_effects(call, scene, EffectKind.FILE_READ, words[1])
        if "x" in operation:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal("."), below="1")


def jar(call: Call, scene: Scene) -> Iterator[Effect]:
    """jar: tar's letters."""
    if call.has("-c", "--create"):
        yield from _pack(call, scene, call.value("-f", "--file"), _in_folder(call.value("-C"), call))
    elif call.has("-x", "--extract"):
        yield from _unpack(call, scene, call.invocation.cwd)


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("tar", "gtar", "bsdtar", "star"),
        options="-f -C -T -X -I -F -b -H -g -K -L -N -V --file --directory --cd --files-from --exclude-from --exclude "
        "--use-compress-program --to-command "
        "--checkpoint-action --checkpoint= --info-script --new-volume-script --rsh-command --rmt-command "
        "--transform --xform --strip-components --owner --group "
        "--mode --mtime --one-top-level= --warning --format --sort --starting-file --blocking-factor "
        "--listed-incremental --label --newer --after-date --exclude-ignore",
        longs="--create --extract --get --list --append --update --delete --diff --compare --concatenate --catenate "
        "--remove-files --to-stdout --verbose "
        "--absolute-names --keep-old-files --skip-old-files --overwrite --gzip --bzip2 --xz --zstd "
        "--auto-compress --dereference --wildcards --recursive-unlink --unlink-first",
        style="bundle",
        describe=tar,
        summary="packs and unpacks archives",
    ),
    Program(
        ("zip",),
        options="-b -n -P -t -x= -i= -s -Z --exclude --include --password --temp-path --suffixes",
        longs="--recurse-paths --move --delete --test --quiet --update --freshen --junk-paths --encrypt",
        describe=zip_,
        summary="packs zip archives; -TT runs a command",
    ),
    Program(
        ("unzip", "unrar", "unar", "lsar", "zipinfo", "funzip"),
        options="-d -P -x -i -o-dir -e -p=",
        describe=unzip,
        summary="unpacks archives",
    ),
    Program(
        ("7z", "7za", "7zr", "7zz", "p7zip", "rar", "arj", "lha", "zpaq"),
        style="raw",
        describe=seven_zip,
        summary="packs and unpacks archives",
    ),
    Program(
        tuple(
            (
                "gzip gunzip pigz unpigz bzip2 bunzip2 pbzip2 xz unxz lzma unlzma zstd unzstd lz4 unlz4 lzop brotli unbrotli compress "
                "uncompress lzip pixz zopfli"
            ).split()
        ),
        options="-S -b -T -M -o -D -C= --suffix --threads --memlimit --format --output --block-size",
        longs="--stdout --to-stdout --decompress --uncompress --keep --force --list --test --recursive --quiet "
        "--verbose --fast --best --rm",
        option_roles=(("-o", "write"), ("--output", "write")),
        describe=compress,
        summary="compresses files in place, or to stdout with -c",
    ),
    Program(
        ("cpio", "pax"),
        options="-F -O -I -D -E -H -R -C -M -f -s -x --file --directory --pattern-file --format --owner --rsh-command",
        describe=cpio,
        summary="packs and unpacks lists of files",
    ),
    Program(("ar", "gcc-ar", "llvm-ar", "ranlib"), style="raw", describe=ar, summary="packs object files"),
    Program(("jar",), options="-f -C -e -m --file --manifest --main-class", style="bundle", describe=jar, summary="packs Java archives"),
)
