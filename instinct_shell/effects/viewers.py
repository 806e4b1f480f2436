"""Programs that print their files in another shape. Which letters take an argument differs from one to the next, and a wrong one would hide a
file name; a few turn into writers by a flag.
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind
from .call import Call, Program, Scene
from .roles import apply_role, file_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# (names, options with an argument, options whose argument is written)
_PLAIN = (
    ("cat gcat lolcat rev gcat zcat bzcat xzcat zstdcat lzcat gzcat zless zmore bzmore xzless xzmore lzless comm tsort catdoc antiword", "", ""),
    ("tac gtac", "-s --separator", ""),
    ("nl", "-b -d -f -h -i -l -n -s -v -w", ""),
    ("fold", "-w --width -b= -s=", ""),
    ("fmt", "-w -g -p --width --goal --prefix", ""),
    ("pr", "-D -h -l -N -o -w -W -S= -e= -i= -n= -s= --date-format --header --length --indent --width --page-width", ""),
    ("expand unexpand", "-t --tabs", ""),
    ("column", "-c -s -o -N -T -R -E -O -H -W -n -r -i -p -C --separator --output-separator --table-columns --table-name --output-width", ""),
    ("join", "-1 -2 -a -e -j -o -t -v", ""),
    ("paste", "-d --delimiters", ""),
    ("od", "-A -j -N -S= -t -w= --address-radix --skip-bytes --read-bytes --format --endian --strings= --width=", ""),
    ("hd hexdump", "-e -f -n -s -L=", ""),
    ("hexyl", "-n -s -c --length --skip --block-size --border --color --display-offset", ""),
    ("strings", "-n -t -e -T -s --bytes --radix --encoding --target --output-separator", ""),
    ("bat batcat ccat mdcat glow", "-l -r -H -m -w -s --style --theme --color --language --line-range --highlight-line --terminal-width --tabs "
     "--wrap --pager --map-syntax --file-name --paging --decorations --diff-context", ""),
    ("look", "-t", ""),
    ("ptx", "-A -b -F -g -i -M -o -S -w -W", ""),
    ("gron", "", ""),
    ("readelf", "-x -p -R -w= --hex-dump --string-dump --debug-dump=", ""),
    ("objdump", "-j -m -b -M -E --section --architecture --target --start-address --stop-address", ""),
    ("nm size addr2line", "-t -f -e -j --format --radix --target -B=", ""),
    ("c++filt ldd", "-s", ""),
    ("mediainfo ffprobe identify", "-i -v -show_entries -of -print_format -select_streams -format -f --Output= --Inform=", ""),
    ("xmllint", "--xpath --schema --output --encode --path --maxmem --dtdvalid --relaxng", "--output"),
    ("csvlook csvcut csvgrep csvstat csvsort csvjson in2csv q", "-c -C -d -e -m -r -f -q -y -t -D -O -x= --columns --delimiter "
     "--encoding --match --regex --file --sheet", ""),
    ("tomlq json_verify jsonlint json_pp", "-f -t -json_opt -i=", ""),
    ("yamllint", "-c -d -f --config-file --config-data --format", ""),
    ("cloc tokei scc", "--exclude-dir --include-lang --report-file --out -e -t -o -f --exclude --type --format --output "
     "--by-file=", "--report-file --out --output"),
    ("wdiff", "-w -x -y -z --start-delete --end-delete --start-insert --end-insert", ""),
    ("lesspipe nkf fx", "", ""),
    ("pygmentize", "-l -f -o -O -P -F -S -L= -a", "-o"),
    ("highlight source-highlight", "-i -o -O -S -d -s -t -f --input --output --syntax --out-format --style --outdir "
     "--src-lang --lang-def", "-o --output --outdir"),
)  # fmt: skip


def _rows() -> Iterator[Program]:
    for names, options, written in _PLAIN:
        roles = tuple((option, "write") for option in written.split())
        kept = tuple(dict.fromkeys(names.split()))
        yield Program(kept, options=options, roles="read", option_roles=roles, reads_stdin=True, summary="prints what it is given")


def converter(call: Call, scene: Scene) -> Iterator[Effect]:
    """pdftotext: the second operand is written; without it a file beside the first."""
    for field in call.operands[:1]:
        yield from apply_role("read", field, call, scene)
    for field in call.operands[1:2]:
        yield from apply_role("write", field, call, scene)


def recoder(call: Call, scene: Scene) -> Iterator[Effect]:
    """recode: the files named after the request are rewritten."""
    for field in call.operands[1:]:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, in_place="1")


def in_place(call: Call, scene: Scene) -> Iterator[Effect]:
    """tidy -m, mlr -I, xmlstarlet ed -L, dasel put: the files are rewritten; without the flag they are printed."""
    verb = call.operands[0].text if call.operands else ""
    words = {"mlr": call.operands[-1:], "xmlstarlet": call.operands[-1:]}.get(call.name, call.operands)
    changes = {
        "tidy": call.has("-m", "-modify"),
        "mlr": call.has("-I"),
        "xmlstarlet": verb in ("ed", "edit") and call.has("-L", "--inplace"),
        "dasel": verb in ("put", "delete") and not call.has("-o", "--out", "--stdout"),
        "toml": verb in ("set", "unset", "add"),
        "exiftool": any((word.text or "").startswith("-") and "=" in (word.text or "") for word in call.argv) or call.has("-overwrite_original"),
    }.get(call.name, False)
    files = call.operands[1:2] if call.name == "toml" else words
    for option, field in call.values:
        if option in ("-f", "--file") and call.name == "dasel":
            files = (field,)
        elif option in ("-o", "--output"):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field)
    for field in files:
        if not (field.text or "x").startswith("-"):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE if changes else EffectKind.FILE_READ, field, in_place="1" if changes else "")


def calculator(call: Call, scene: Scene) -> Iterator[Effect]:
    """bc, dc: files are read; `!command` in dc's text runs a shell."""
    from . import output

    texts = [field.text or field.prefix for option, field in call.values if option in ("-e", "--expression")]
    for option, field in call.values:
        if option in ("-f", "--file"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    for field in call.operands:
        yield from apply_role("read", field, call, scene)
    if call.name == "dc":
        given = output.stdin_text(call.invocation, scene) if not texts and not call.operands else None
        for text in (*texts, given or ""):
            for line in text.splitlines():
                _, mark, command = line.partition("!")
                if mark and command[:1] not in ("<", ">", "=", "") and command.strip():
                    yield from scene.nested_shell(command, call, via="dc !")


PROGRAMS: tuple[Program, ...] = (
    *_rows(),
    Program(("bc", "dc"), options="-e -f --expression --file", describe=calculator, summary="calculates; dc's ! runs a command"),
    Program(("pdftotext",), options="-f -l -r -x -y -W -H -enc -eol -opw -upw", style="single", describe=converter, summary="text of a PDF"),
    Program(("recode",), describe=recoder, summary="changes the encoding of files in place"),
    Program(
        ("tidy", "mlr", "xmlstarlet", "dasel", "toml", "exiftool"),
        options="-config -f -file -o -output -indent --output --file -s --selector -v --value -r -w -t -u -n --from --ifs --ofs -tagsFromFile",
        style="single",
        describe=in_place,
        summary="prints a file in another shape; a flag rewrites it",
    ),
)
