"""Programs that edit files by a script or by hand, and can run commands while they do: sed, awk, ed, vim, emacs, patch."""

from __future__ import annotations

import re

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, Origin, literal
from . import output
from .call import Call, Program, Scene
from .followed import followed
from .program_text import read_code, run_script
from .roles import file_effects, path_effects, weakest
from .scripts import opaque, run_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .awk import Touch

_STREAMS = frozenset(("/dev/stdout", "/dev/stderr", "/dev/null", "-", "/dev/stdin"))


# ---------------------------------------------------------------- sed, awk


def sed(call: Call, scene: Scene) -> Iterator[Effect]:
    """sed: reads its files, with -i rewrites them; the script may write, read and run."""
    scripts = [field for option, field in call.values if option in ("-e", "--expression")]
    files = [field for option, field in call.values if option in ("-f", "--file")]
    operands = call.operands if scripts or files else call.operands[1:]
    in_place = call.has("-i", "-I", "--in-place")
    suffix = call.value("-i", "--in-place")
    for field in operands:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
        if in_place:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, in_place="1")
            if suffix is not None and suffix.text and "*" not in suffix.text:
                for effect in file_effects(call, scene, EffectKind.FILE_WRITE, field):
                    yield effect.replace(target=effect.target.replace(text=effect.target.text + suffix.text))
    for field in files:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
        text = scene.files.get(output.absolute(field.text, call.invocation)) or (
            output.stdin_text(call.invocation, scene) if field.text == "-" else None
        )
        if text:
            yield from _sed_script(text, call, scene)
    if not call.has("--sandbox"):
        for field in scripts or (() if files else call.operands[:1]):
            for text in field.values:
                yield from _sed_script(text, call, scene)


def _sed_script(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    from .sed import touches

    for touch in touches(text):
        if touch.kind == "run":
            yield from scene.nested_shell(touch.text, call, via="sed e")
        elif touch.kind == "opaque":
            lines = output.stdin_text(call.invocation, scene) if call.invocation.stdin.kind != "inherit" else None
            if lines:
                yield from scene.nested_shell(lines, call.replace(certainty=weakest(call.certainty, Certainty.POSSIBLE)), via="sed e")
            if lines is None or touch.text.startswith("s///"):
                yield opaque(call, "file", touch.text)
        elif touch.text not in _STREAMS:
            kind = EffectKind.FILE_WRITE if touch.kind == "write" else EffectKind.FILE_READ
            yield from file_effects(call, scene, kind, literal(touch.text))


def awk(call: Call, scene: Scene) -> Iterator[Effect]:
    """awk: reads its files; the program may run commands (system, pipes), write and read files."""
    given = [field for option, field in call.values if option in ("-f", "--file", "-E", "--exec", "-e", "--source")]
    files = call.operands if given else call.operands[1:]
    in_place = any(option in ("-i", "--include") and (field.text or "").startswith("inplace") for option, field in call.values)
    for field in files:
        if re.match(r"[A-Za-z_]\w*=", field.text or field.prefix):
            continue
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
        if in_place:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, in_place="1")
    for option, field in call.values:
        if option in ("-f", "--file", "-E", "--exec") and field.text != "-":
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
            text = scene.files.get(output.absolute(field.text, call.invocation))
            if text:
                yield from _awk_program(literal(text), call, scene)
        elif option in ("-e", "--source"):
            yield from _awk_program(field, call, scene)
    for field in () if given else call.operands[:1]:
        yield from _awk_program(field, call, scene)


def _awk_program(field: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    from .awk import touches

    if field.known is Known.DYNAMIC:
        # The shape of the program is not known; what is known of it is still looked at.
        field = field.replace(values=(field.prefix + field.suffix,))
    given = dict((value.text or "").partition("=")[::2] for option, value in call.values if option in ("-v", "--assign") and value.text)
    read = output.stdin_text(call.invocation, scene) if call.invocation.stdin.kind != "inherit" else None
    separator = next((value.text or "" for option, value in call.values if option in ("-F", "--field-separator")), "")
    for program in field.values:
        program = program.replace('ENVIRON["HOME"]', f'"{scene.home}"')
        if "/inet" in program and "getline" in program and ("|" in program or "system" in program):
            host = program.partition("/inet")[2].split("/")[3:4]  # /inet/tcp/0/HOST/PORT
            where = Target(TargetKind.HOST, host[0] if host else "")
            yield call.effect(EffectKind.NET_REMOTE_EXEC, where, reverse="1", via="awk")
        for touch in touches(program, given, tuple((read or "").splitlines()), separator):
            word = literal(touch.text) if touch.known else Field(Known.DYNAMIC, prefix=touch.text, reason="a value that awk computes")
            if touch.kind == "run":
                yield from _awk_run(word, touch, call, scene)
            elif touch.text not in _STREAMS:
                kind = {"write": EffectKind.FILE_WRITE, "append": EffectKind.FILE_APPEND, "read": EffectKind.FILE_READ}[touch.kind]
                yield from file_effects(call, scene, kind, word)


def _awk_run(word: Field, touch: Touch, call: Call, scene: Scene) -> Iterator[Effect]:
    """A command that awk starts: alone, or fed by `print .. | "command"`."""
    if not touch.feeds or word.text is None:
        yield from run_text(call, scene, word, via="awk system")
        return
    text = Field(Known.DYNAMIC, reason="what awk prints", origins=(Origin("command", "awk"),)) if touch.fed is None else literal(touch.fed)
    yield from scene.nested_shell(f'printf %s "$1" | {word.text}', call, positional=(literal("sh"), text), via="awk |")


# ---------------------------------------------------------------- ed, vim


def ed(call: Call, scene: Scene) -> Iterator[Effect]:
    """ed, ex -s: commands come in on stdin; `w` writes, `!` runs."""
    text = output.stdin_text(call.invocation, scene)
    for field in call.operands:
        if (field.text or "").startswith("!"):
            yield from scene.nested_shell((field.text or "")[1:], call, via="ed !")
            continue
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
        if text is None or re.search(r"^[\d,$.%]*(?:w|wq|x)q?\s*$", text, re.MULTILINE):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, in_place="1")
    for line in (text or "").split("\n"):
        yield from _ex_command(line, call, scene)


# An ex command that runs, writes, reads or sources; the rest of the line is its argument.
_EX = (
    r"[:\s]*(?:sil\w*!?\s+)?(?:[\d,$.%'<>/\\?\w+-]*?)"
    r"(!|r(?:ead)?\s*!|w(?:rite)?\s+!|e\s*!(?=\S)|w(?:rite|q)?!?\s+|sav\w*!?\s+|r(?:ead)?\s+|so(?:urce)?!?\s+|te(?:rm|rminal)\w*\s+)(.*)"
)
_CALLS = r"""(?s)(?:system(?:list)?|termopen|jobstart|job_start|term_start|os\.execute|io\.popen)\(\s*(["'])(.*?)\1"""
# Functions of vim that change files, and the first path they are given.
_CHANGES = r"""\b(delete\(|rename\(|writefile\((?=[^"']*\[))(?:\s*\[.*?\]\s*,)?\s*(?:(?:vim\.fn\.)?expand\(\s*)?(["'])(.*?)\2"""
_LANGUAGES = {**dict.fromkeys(("py", "py3", "pyx", "python", "python3", "pythonx"), "python"), "lua": "lua", "perl": "perl", "ruby": "ruby"}


# `delete($HOME, "rf")`, `delete($HOME .. "/x")`, `delete(getcwd())`: places that are no plain text.
_PLACES = r"""\bdelete\(\s*(\$HOME|\$PWD|getcwd\(\))\s*(?:\.\.?\s*(["'])(.*?)\2)?\s*[,)]"""


def _home(text: str, scene: Scene) -> str:
    """A path as vim takes it: `~` and `$HOME` are the home."""
    return re.sub(r"^(?:~|\$HOME|\$\{HOME\})(?=/|$)", lambda _: scene.home, text)


def vim_effects(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """Effects of a vim script, line by line."""
    for line in text.split("\n"):
        if not line.lstrip().startswith('"'):
            yield from _ex_command(line, call, scene)


def _ex_command(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """One line of ed, or one vim command."""
    for piece in text.split("|") if "!" not in text else [text]:
        match = re.fullmatch(_EX, piece.strip().lstrip(":"), re.DOTALL)
        if match is None:
            continue
        verb, argument = match.group(1).strip(), match.group(2).strip()
        if match.group(1).endswith("!") and verb[0] in "!rwe":  # `w !cmd` runs it, `w! file` writes
            yield from scene.nested_shell(argument, call, via=f"{call.name} !")
        elif verb.startswith("te"):
            yield from scene.nested_shell(argument, call, via=f"{call.name} :terminal")
        elif verb.startswith(("w", "sav")) and argument:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, literal(argument))
        elif verb.startswith("so") and argument:
            yield from run_script(call, scene, literal(_home(argument, scene)), "vim", ())
        elif argument:
            yield from file_effects(call, scene, EffectKind.FILE_READ, literal(argument))
    for match in re.finditer(_CALLS, text):
        yield from scene.nested_shell(match.group(2), call, via=f"{call.name} system()")
    for match in re.finditer(r"""\bexe(?:c|cute)?\s+(["'])\s*:?!(.*?)\1""", text):
        yield from scene.nested_shell(match.group(2), call, via=f"{call.name} :execute")
    for match in re.finditer(_CHANGES, text):
        place = literal(_home(match.group(3), scene))
        kind = EffectKind.FILE_WRITE if match.group(1) == "writefile(" else EffectKind.FILE_MOVE if match.group(1) == "rename(" else EffectKind.FILE_DELETE
        yield from file_effects(call, scene, kind, place, recursive="1" if kind is EffectKind.FILE_DELETE else "")
    for match in re.finditer(_PLACES, text):
        base = scene.home if match.group(1) == "$HOME" else call.invocation.cwd.text or "."
        yield from file_effects(call, scene, EffectKind.FILE_DELETE, literal(base + (match.group(3) or "")), recursive="1")
    other = re.search(r"\b(py(?:thon)?[3x]?|lua|perl|ruby)\s+(\S.*)", text, re.DOTALL)
    if other and other.group(1) in _LANGUAGES:
        yield from read_code(other.group(2), call, scene, _LANGUAGES[other.group(1)])
    elif other and not re.search(_CALLS, text):
        yield opaque(call, "text", "an editor runs code of another language", language="vim")


def vim(call: Call, scene: Scene) -> Iterator[Effect]:
    """vim and its like: reads its files; -c, --cmd and + commands may run, write and read; -S runs a script."""
    commands: list[Field] = []
    for option, field in call.values:
        if option in ("-c", "--cmd"):
            commands.append(field)
        elif option in ("-S", "-u", "-U", "-l") and field.text not in ("NONE", "NORC", "/dev/null"):
            yield from run_script(call, scene, field, "vim", ())
    writes = False
    files = []
    for field in call.operands:
        text = field.text or field.prefix
        if text.startswith("+"):
            commands.append(literal(text[1:]))
        else:
            files.append(field)
    for field in commands:
        for text in field.values or (field.prefix,):
            writes = writes or re.search(r"(?:^|\||do\s)\s*:?(?:w|wq|wqa|wa|x|xa|up|update|exit)!?\s*(?:\||$)", text) is not None
            yield from _ex_command(text, call, scene)
        if field.known is Known.DYNAMIC:
            yield opaque(call, "variable", field.reason, language="vim")
    for field in files:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
        if writes:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, in_place="1")
    if call.has("-s") and (call.name == "ex" or call.has("-e", "-E")):
        for line in (output.stdin_text(call.invocation, scene) or "").split("\n"):
            yield from _ex_command(line, call, scene)


def open_editor(call: Call, scene: Scene) -> Iterator[Effect]:
    """Editors without a script: they show what they are given."""
    for field in call.operands:
        if not (field.text or "+").startswith("+"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)


# ---------------------------------------------------------------- patch


def patch(call: Call, scene: Scene) -> Iterator[Effect]:
    """patch: rewrites the files its input names; when the input is not known, some below the folder."""
    source = call.value("-i", "--input") or (call.operands[1] if len(call.operands) > 1 else None)
    if source is not None:
        yield from file_effects(call, scene, EffectKind.FILE_READ, source)
    if call.has("--dry-run", "-C", "--check"):
        return
    into = call.value("-o", "--output") or (call.operands[0] if call.operands else None)
    if into is not None:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, into, in_place="1")
        return
    strip = call.value("-p", "--strip")
    yield from patched(call, scene, (source,) if source is not None else (), call.value("-d", "--directory"), _count(strip), call.has("-R", "--reverse"))


def _count(field: Field | None) -> int:
    text = (field.text or "") if field is not None else ""
    return int(text) if text.isdigit() else 0


def patched(
    call: Call, scene: Scene, sources: tuple[Field, ...], folder: Field | None, strip: int, reverse: bool = False
) -> Iterator[Effect]:
    """The files that patches rewrite, make and remove: those in these files, else the one on stdin. Without their text, something below the folder."""
    from .archives import _in_folder

    base = _in_folder(folder, call)
    for text, path in _patches(call, scene, sources):
        touches = patch_files(text, strip, reverse) if text is not None else []
        for kind, name in touches:
            effects = path_effects(call, kind, literal(name), base, scene, patched="1")
            yield from followed(effects, path, scene) if path else effects
        if not touches:
            yield from path_effects(call, EffectKind.FILE_WRITE, literal("."), base, scene, below="1", patched="1")


def _patches(call: Call, scene: Scene, sources: tuple[Field, ...]) -> Iterator[tuple[str | None, str]]:
    """The text of each patch, None when it is not known, and the file in which it stands on disk."""
    stdin = call.invocation.stdin.program
    if not sources and stdin.kind == "file" and stdin.field is not None:
        sources = (stdin.field,)
    if not sources:
        texts = [output.stdin_text(call.invocation, scene)]
        fed = [scene.invocations[index] for index in stdin.producers if index < len(scene.invocations)] if texts == [None] else []
        if fed and all(one.words and one.words[0].text == "cat" and len(one.words) > 1 for one in fed):
            sources = tuple(word for one in fed for word in one.words[1:])
        else:
            yield texts[0], ""
    for field in sources:
        path = output.absolute(field.text, call.invocation)
        yield scene.code_of(path) if path else None, path


def patch_files(text: str, strip: int, reverse: bool = False) -> list[tuple[EffectKind, str]]:
    """What a unified diff, of git or of diff, does to which files; renames take the old name away."""
    found: dict[tuple[EffectKind, str], None] = {}
    old = header = ""
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            match = re.fullmatch(r'diff --git "?(.+?)"? "?(\S+?)"?', line.rstrip())
            header = _stripped(match[2], strip) if match else ""
        elif line.startswith(("GIT binary patch", "Binary files ", "new mode ")) and header:
            found[EffectKind.FILE_WRITE, header] = None
        elif line.startswith(("deleted file mode", "new file mode")) and header:
            gone = line.startswith("deleted") != reverse
            found[EffectKind.FILE_DELETE if gone else EffectKind.FILE_WRITE, header] = None
        elif line.startswith(("rename from ", "rename to ", "copy to ")):
            moved = line.startswith("rename from ") != (reverse and line.startswith("rename"))
            found[EffectKind.FILE_DELETE if moved else EffectKind.FILE_WRITE, line.partition(" ")[2].partition(" ")[2].strip()] = None
        elif line.startswith("--- "):
            old = _stripped(line[4:], strip)
        elif line.startswith("+++ "):
            before, after = (_stripped(line[4:], strip), old) if reverse else (old, _stripped(line[4:], strip))
            if after:
                found[EffectKind.FILE_WRITE, after] = None
            elif before:
                found[EffectKind.FILE_DELETE, before] = None
            if before and after and not line.startswith("+++ /dev/null") and before != after and strip == 0:
                found[EffectKind.FILE_WRITE, before] = None  # patch takes whichever of the two is there
        elif line.startswith("Index: "):
            found[EffectKind.FILE_WRITE, _stripped(line[7:], 0)] = None
    return list(found)


def _stripped(name: str, strip: int) -> str:
    name = name.partition("\t")[0].strip().strip('"')
    return "" if name == "/dev/null" else "/".join(name.split("/")[strip:]) or name


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("sed", "gsed", "ssed"),
        options="-e -f -i= -I= -l --expression --file --in-place= --line-length",
        longs="--quiet --silent --regexp-extended --separate --null-data --sandbox --follow-symlinks --posix --debug --unbuffered",
        describe=sed,
        summary="edits a stream; -i rewrites files, `w` writes, `e` runs",
    ),
    Program(
        ("awk", "gawk", "mawk", "nawk", "original-awk", "goawk"),
        options="-F -v -f -e -E -i -l -W -o= -d= -p= --field-separator --assign --file --source --exec --include "
        "--load --profile= --dump-variables=",
        style="stop",
        describe=awk,
        summary="processes columns; system() and pipes run commands",
    ),
    Program(("ed", "red"), options="-p -c --prompt", describe=ed, summary="edits files by commands on stdin"),
    Program(
        ("vim", "vi", "ex", "nvim", "view", "gvim", "vimdiff", "rvim", "nvi", "vim.basic", "vim.tiny", "evim", "mvim"),
        options="-c -S -T -u -U -i -w -W -p= -o= -O= -t -l --cmd --servername --remote-send --remote-expr --listen",
        describe=vim,
        summary="an editor; -c and + run commands, `!` runs a shell",
    ),
    Program(
        (
            "nano",
            "pico",
            "micro",
            "joe",
            "jed",
            "ne",
            "tilde",
            "helix",
            "hx",
            "kak",
            "mcedit",
            "kate",
            "gedit",
            "code",
            "code-insiders",
            "cursor",
            "subl",
            "mousepad",
            "zed",
        ),
        options="-T -o -r -s -Y -C -g --goto --install-extension --uninstall-extension --command -c",
        describe=open_editor,
        summary="an editor",
    ),
    Program(
        ("patch", "gpatch"),
        options="-B -D -d -F -g -i -o -p -r -V -x -Y -z --directory --input --output --strip --reject-file --fuzz "
        "--suffix --prefix --basename-prefix",
        longs="--dry-run --reverse --forward --backup --force --batch --binary --quiet --silent",
        describe=patch,
        summary="applies a patch",
    ),
)
