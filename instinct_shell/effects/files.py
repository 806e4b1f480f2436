"""Programs that delete, make, empty or change files in place: rm, shred, truncate, dd, tee, touch, mkdir, chmod, chown and their like."""

from __future__ import annotations

import re

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Known, literal
from .call import Call, Program, Scene, fold
from .flow import holds_secret
from .output import absolute, stdin_text
from .roles import file_effects, path_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def remove(call: Call, scene: Scene) -> Iterator[Effect]:
    """rm: every operand is deleted; a trailing slash follows a link made before in the same text."""
    recursive = "1" if call.has("-r", "-R", "--recursive", "-rf", "-Recurse") else ""
    force = "1" if call.has("-f", "--force") else ""
    for field in call.operands:
        text = field.text
        if text and text.startswith("~") and text.partition("/")[0] == "~" and not field.quoted:
            # A `~` that an expansion brought in names a file, but whoever wrote it meant the home directory.
            meant = Target(TargetKind.PATH, fold(scene.home + text[1:]))
            yield call.effect(EffectKind.FILE_DELETE, meant, certainty=Certainty.POSSIBLE, recursive=recursive, force=force)
        if text and text.endswith("/") and scene.links:
            linked = scene.links.get(absolute(text, call.invocation))
            if linked:
                yield call.effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, linked), recursive="1", through=text, via_symlink="1")
                continue
        yield from file_effects(call, scene, EffectKind.FILE_DELETE, field, recursive=recursive, force=force)


def shred(call: Call, scene: Scene) -> Iterator[Effect]:
    """shred, wipe, srm: overwrites for good; with -u it deletes as well. Nothing gives the old bytes back (`shred`)."""
    kind = EffectKind.FILE_DELETE if call.has("-u", "--remove") or call.name in ("srm", "wipe", "sfill") else EffectKind.FILE_WRITE
    for field in call.operands:
        yield from file_effects(call, scene, kind, field, shred="1", recursive="1" if call.has("-r", "-R") else "")


def tee(call: Call, scene: Scene) -> Iterator[Effect]:
    """tee: every operand is overwritten, or appended to with -a."""
    kind = EffectKind.FILE_APPEND if call.has("-a", "--append") else EffectKind.FILE_WRITE
    told = "secret" if holds_secret(stdin_text(call.invocation, scene) or "") else ""
    for field in call.operands:
        yield from file_effects(call, scene, kind, field, content=told)


def dd(call: Call, scene: Scene) -> Iterator[Effect]:
    """dd: if= is read, of= is overwritten."""
    for field in call.argv:
        text = field.text if field.text is not None else field.prefix
        name, equals, value = text.partition("=")
        if not equals or name not in ("if", "of"):
            continue
        part = (
            field.replace(prefix=value)
            if field.known is Known.DYNAMIC
            else field.replace(values=tuple(v.partition("=")[2] for v in field.values))
        )
        if name == "if":
            yield from file_effects(call, scene, EffectKind.FILE_READ, part, source_of_copy="1")
        else:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, part)


_MODE = r"[-+=ugoarwxXst0-7,]+"


def change_mode(call: Call, scene: Scene) -> Iterator[Effect]:
    """chmod: the mode may look like an option (`chmod -x f`); setuid and setgid are a matter of privilege too."""
    mode, files, recursive, reference, ended = "", [], "", False, False
    for field in call.argv:
        text = field.text
        if not ended and text == "--":
            ended = True
        elif not ended and text and text.startswith("--"):
            recursive = "1" if "--recursive".startswith(text) and len(text) > 4 else recursive
            reference = reference or text.startswith("--ref")
        elif not ended and text and text[0] == "-" and len(text) > 1 and not re.fullmatch(_MODE, text):
            recursive = "1" if "R" in text else recursive
        elif not mode and not reference:
            mode = text if text is not None else field.prefix or "?"
        else:
            files.append(field)
    for field in files:
        yield from file_effects(call, scene, EffectKind.FILE_METADATA, field, recursive=recursive, mode=mode)
        if re.fullmatch(r"0*[2467]\d{3}", mode) or re.search(r"(?:^|,)[ugoa]*[+=][rwxXt]*s", mode):
            yield call.effect(
                EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.PATH, absolute(field.text, call.invocation)), tool="setuid", mode=mode
            )


def change_owner(call: Call, scene: Scene) -> Iterator[Effect]:
    """chown, chgrp: the first operand is the owner unless --reference gives it."""
    files = call.operands if call.has("--reference") else call.operands[1:]
    owner = "" if call.has("--reference") or not call.operands else call.operands[0].text or call.operands[0].prefix
    for field in files:
        yield from file_effects(
            call, scene, EffectKind.FILE_METADATA, field, recursive="1" if call.has("-R", "--recursive") else "", owner=owner
        )


def change_attributes(call: Call, scene: Scene) -> Iterator[Effect]:
    """chattr: modes begin with +, - or =; the rest are files."""
    recursive, modes = "", []
    for field in call.argv:
        text = field.text or ""
        if text == "-R":
            recursive = "1"
        elif text[:1] in ("+", "=") or re.fullmatch(r"-[aAcCdDeFijmPsStTuxE]+", text):
            modes.append(text)
        elif text[:1] != "-":
            yield from file_effects(call, scene, EffectKind.FILE_METADATA, field, recursive=recursive, mode=" ".join(modes))


def access_list(call: Call, scene: Scene) -> Iterator[Effect]:
    """setfacl and its like: the operands' metadata; files named by -M, -X or --restore are read."""
    for field in call.operands:
        yield from file_effects(call, scene, EffectKind.FILE_METADATA, field, recursive="1" if call.has("-R", "--recursive") else "")


def temporary(call: Call, scene: Scene) -> Iterator[Effect]:
    """mktemp: a fresh name, so nothing is overwritten; outside /tmp the folder counts."""
    folder = call.value("-p", "--tmpdir")
    for template in call.operands:
        if template.text is None or (folder is None and "/" not in template.text and not call.has("-t", "--tmpdir")):
            base = call.invocation.cwd
        elif folder is not None:
            base = folder
        elif "/" in template.text:
            base = call.invocation.cwd
        else:
            return
        if not call.has("-u", "--dry-run"):
            yield from path_effects(call, EffectKind.FILE_CREATE, template, base, scene, fresh="1")


def split_file(call: Call, scene: Scene) -> Iterator[Effect]:
    """split, csplit: reads one file, makes many that begin with a prefix; `--filter` runs a shell."""
    if call.operands and call.operands[0].text != "-":
        yield from file_effects(call, scene, EffectKind.FILE_READ, call.operands[0], source_of_copy="1")
    prefix = call.value("-f", "--prefix") or (call.operands[1] if len(call.operands) > 1 and call.name == "split" else literal("x"))
    for effect in file_effects(call, scene, EffectKind.FILE_CREATE, prefix):
        yield effect.replace(target=effect.target.replace(kind=TargetKind.PATTERN, text=effect.target.text + "*"))
    command = call.value("--filter")
    if command is not None:
        from .scripts import run_text

        yield from run_text(call, scene, command, via="split --filter")


def make_folder(call: Call, scene: Scene) -> Iterator[Effect]:
    """mkdir: never destroys."""
    for field in call.operands:
        yield from file_effects(call, scene, EffectKind.FILE_CREATE, field, folder="1")


def remove_folder(call: Call, scene: Scene) -> Iterator[Effect]:
    """rmdir: only ever deletes what is empty."""
    for field in call.operands:
        yield from file_effects(call, scene, EffectKind.FILE_DELETE, field, empty="1")


def touch(call: Call, scene: Scene) -> Iterator[Effect]:
    """touch: makes a file or changes its times, never its content."""
    kind = (
        EffectKind.FILE_METADATA
        if call.has("-c", "--no-create", "-h", "-t", "-d", "--date", "-r", "--reference")
        else EffectKind.FILE_CREATE
    )
    for field in call.operands:
        yield from file_effects(call, scene, kind, field, touch="1")


def trash(call: Call, scene: Scene) -> Iterator[Effect]:
    """Trash tools: gone from its place, kept elsewhere; emptying the trash deletes it for good."""
    if call.name == "trash-empty" or (call.name == "gio" and call.has("--empty")):
        yield call.effect(EffectKind.FILE_DELETE, Target(TargetKind.PATH, f"{scene.home}/.local/share/Trash"), recursive="1", sweep="1")
        return
    words = call.operands[1:] if call.name == "gio" else call.operands
    if call.name == "gio" and (not call.operands or call.operands[0].text not in ("trash", "remove")):
        return
    for field in words:
        yield from file_effects(
            call,
            scene,
            EffectKind.FILE_DELETE,
            field,
            recursive="1",
            kept="trash" if call.name != "gio" or "trash" in str(call.operands[0].text) else "",
        )


def rename_pattern(call: Call, scene: Scene) -> Iterator[Effect]:
    """rename, prename, mmv: the operands after the pattern get other names; perl's form runs a Perl expression."""
    skip = 1 if call.name in ("prename", "file-rename") or (call.operands and "/" in (call.operands[0].text or "")) else 2
    if call.has("-n", "--no-act", "--nono"):
        return
    for field in call.operands[skip:]:
        yield from file_effects(call, scene, EffectKind.FILE_MOVE, field)


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("rm", "grm", "del"),
        longs="--recursive --force --interactive --one-file-system --no-preserve-root --preserve-root --verbose --dir",
        options="--interactive= --preserve-root=",
        describe=remove,
        summary="deletes files, and folders with -r",
    ),
    Program(("unlink",), roles="delete", summary="deletes one name"),
    Program(("rmdir",), longs="--ignore-fail-on-non-empty --parents --verbose", describe=remove_folder, summary="deletes empty folders"),
    Program(
        ("shred", "srm", "wipe", "scrub"),
        options="-n -s --iterations --size --random-source --remove=",
        longs="--force --remove --verbose --exact --zero",
        describe=shred,
        summary="overwrites files so that nothing gives them back",
    ),
    Program(
        ("truncate",),
        options="-s -r --size --reference",
        roles="write",
        summary="empties, shortens or extends files",
    ),
    Program(
        ("tee", "sponge", "pee"),
        longs="--append --ignore-interrupts --output-error",
        options="--output-error=",
        describe=tee,
        summary="copies stdin to files",
    ),
    Program(("dd", "dcfldd", "dc3dd"), style="raw", describe=dd, summary="copies blocks: if= is read, of= overwritten"),
    Program(("chmod",), style="raw", describe=change_mode, summary="changes modes"),
    Program(
        ("chown", "chgrp"),
        options="--from --reference",
        longs="--changes --quiet --silent --verbose --dereference --no-dereference --preserve-root --no-preserve-root --recursive",
        describe=change_owner,
        summary="changes owners",
    ),
    Program(("chattr", "chflags"), style="raw", describe=change_attributes, summary="changes file attributes such as +i"),
    Program(
        ("setfacl", "setfattr", "chcon", "restorecon", "chacl"),
        options="-m -M -x -X -n -v -u -r -t -l --set --set-file --modify --modify-file --remove --remove-file "
        "--restore --name --value --user --role --type --range",
        option_roles=(("-M", "read"), ("-X", "read"), ("--modify-file", "read"), ("--restore", "read")),
        describe=access_list,
        summary="changes access lists, extended attributes or labels",
    ),
    Program(("mkdir",), options="-m --mode --context= -Z=", longs="--parents --verbose", describe=make_folder, summary="makes folders"),
    Program(
        ("touch",),
        options="-d -r -t --date --reference --time",
        longs="--no-create --no-dereference",
        describe=touch,
        summary="makes empty files or sets times",
    ),
    Program(
        ("mktemp", "tempfile"),
        options="-p --tmpdir= --suffix -d=",
        longs="--directory --dry-run --quiet",
        describe=temporary,
        summary="makes a fresh temporary file or folder",
    ),
    Program(("mkfifo", "mknod"), options="-m --mode", roles="create ignore", summary="makes a pipe or a device node"),
    Program(("fallocate",), options="-l -o --length --offset", roles="write", summary="reserves or punches space in a file"),
    Program(
        ("split",),
        options="-a -b -C -l -n -t --additional-suffix --bytes --line-bytes --lines --number --filter --suffix-length",
        describe=split_file,
        summary="splits a file into pieces",
    ),
    Program(("csplit",), options="-b -f -n --prefix --suffix-format --digits", describe=split_file, summary="splits a file at patterns"),
    Program(
        ("trash", "trash-put", "trash-empty", "gio", "rmtrash", "gvfs-trash"),
        describe=trash,
        summary="moves files to the trash, or empties it",
    ),
    Program(
        ("rename", "prename", "file-rename", "mmv"),
        options="-e",
        longs="--no-act --nono --verbose --force",
        describe=rename_pattern,
        summary="renames files by a pattern",
    ),
    Program(("sync", "fsync"), style="raw", summary="flushes to disk"),
)
