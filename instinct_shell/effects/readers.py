"""Programs that only read what they are given and print it, a part of it, or a digest of it; and those that look at names alone.

A file that is named is a `file.read`; a look at names and metadata (ls, stat, test -f) is no effect at all.
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind
from ..shell.invocation import literal
from .call import Call, Program, Scene
from .roles import apply_role, file_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def sort(call: Call, scene: Scene) -> Iterator[Effect]:
    """sort: -o writes, --compress-program runs a program."""
    program = call.value("--compress-program")
    if program is not None:
        yield from scene.nested_argv((program,), call, via="sort --compress-program")


def jq(call: Call, scene: Scene) -> Iterator[Effect]:
    """jq, yq and their like: the filter comes first unless -f names it; `--arg` takes two words; -i of yq writes in place."""
    operands, filtered, at = [], False, 0
    argv = call.argv
    in_place = False
    while at < len(argv):
        text = argv[at].text or argv[at].prefix
        at += 1
        if text in ("--arg", "--argjson"):
            at += 2
        elif text in ("--rawfile", "--slurpfile", "--argfile") and at + 1 < len(argv):
            yield from file_effects(call, scene, EffectKind.FILE_READ, argv[at + 1])
            at += 2
        elif text in ("-f", "--from-file") and at < len(argv):
            filtered = True
            yield from file_effects(call, scene, EffectKind.FILE_READ, argv[at])
            at += 1
        elif text in ("--indent", "-L", "--tab-size", "-o", "--output-format", "-p", "--input-format", "--front-matter") and at < len(argv):
            at += 1
        elif text in ("--args", "--jsonargs"):
            break
        elif text.startswith("-") and len(text) > 1:
            in_place = (
                in_place
                or text in ("-i", "--inplace", "--in-place", "-yi", "-iy")
                or (call.name != "jq" and text[1] != "-" and "i" in text)
            )
        else:
            operands.append(argv[at - 1])
    verbs = ("eval", "e", "eval-all", "ea", "r", "read", "w", "write", "d", "delete", "m", "merge")
    if call.name == "yq" and operands and operands[0].text in verbs:
        operands = operands[1:]
    if not filtered and not in_place and operands and operands[0].text == "empty":
        return  # is it well formed? Nothing of it is printed
    for field in operands if filtered else operands[1:]:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
        if in_place:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, in_place="1")


def digest(call: Call, scene: Scene) -> Iterator[Effect]:
    """Checksums read everything they are given, but let no content through (`digest`)."""
    for field in call.operands:
        for effect in apply_role("read", field, call, scene):
            yield effect.replace(attributes=tuple(sorted((*effect.attributes, ("digest", "1")))))


def count(call: Call, scene: Scene) -> Iterator[Effect]:
    """wc: counts let no content through."""
    yield from digest(call, scene)
    names = call.value("--files0-from")
    if names is not None and names.text != "-":
        yield from file_effects(call, scene, EffectKind.FILE_READ, names)


def compare(call: Call, scene: Scene) -> Iterator[Effect]:
    """diff and its like: with -r whole folders are read."""
    for field in call.operands:
        yield from file_effects(call, scene, EffectKind.FILE_READ, field, recursive="1" if call.has("-r", "--recursive") else "")
    for option in ("--from-file", "--to-file", "-X", "--exclude-from"):
        file = call.value(option)
        if file is not None:
            yield from file_effects(call, scene, EffectKind.FILE_READ, file)


def convert(call: Call, scene: Scene) -> Iterator[Effect]:
    """Line-ending and format converters that rewrite the files they are given, or with -n read one and write another."""
    if call.has("-n", "--newfile"):
        for at, field in enumerate(call.operands):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE if at % 2 else EffectKind.FILE_READ, field)
        return
    for field in call.operands:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, in_place="1")


def page(call: Call, scene: Scene) -> Iterator[Effect]:
    """less, more: read; `+!command` starts with a shell command; -o logs to a file."""
    for field in call.operands:
        text = field.text or field.prefix
        if text.startswith("+"):
            if "!" in text:
                yield from scene.nested_shell(text.partition("!")[2], call, via=f"{call.name} +!")
            continue
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)


def manual(call: Call, scene: Scene) -> Iterator[Effect]:
    """man: -P and -H run a program, -l reads a file."""
    for option in ("-P", "--pager", "-H", "--html"):
        pager = call.value(option)
        if pager is not None and pager.text is not None:
            yield from scene.nested_shell(pager.text, call, via=f"man {option}")
    if call.has("-l", "--local-file"):
        for field in call.operands:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)


def tail(call: Call, scene: Scene) -> Iterator[Effect]:
    """head, tail: old `-20` counts are no operands."""
    for field in call.operands:
        if (field.text or "")[:1] != "+" or call.name == "head":
            yield from apply_role("read", field, call, scene)


# Lookers with an option whose argument they write.
_WRITING = {
    "tree": ("-o",), "info": ("-o", "--output"), "dmidecode": ("--dump-bin",), "ncdu": ("-o",), "gdu": ("-o", "--output-file"), "locate": (), "sar": ("-o",),
    "ls": (), "lsof": (), "vmstat": (), "fastfetch": ("--gen-config-force",), "dust": (), "broot": ("--outcmd", "--verb-output"), "atop": ("-w",),
}  # fmt: skip


# Lookers with an option whose file they read, and tell of line by line.
_READING = {
    "file": ("-f", "--files-from"), "du": ("--files0-from", "-X", "--exclude-from"), "tree": ("--fromfile",), "lscpu": (), "ps": (), "locate": (),
}  # fmt: skip


def looks(call: Call, scene: Scene) -> Iterator[Effect]:
    """ls, tree, ps ...: nothing, unless an option names a file to write or to read."""
    written, read = _WRITING.get(call.name, ()), _READING.get(call.name, ())
    for at, word in enumerate(call.argv if written or read else ()):
        name, equals, value = (word.text or "").partition("=")
        if name in written or name in read:
            field = literal(value) if equals else call.argv[at + 1] if at + 1 < len(call.argv) else literal("-")
            if field.text != "-":
                yield from file_effects(call, scene, EffectKind.FILE_WRITE if name in written else EffectKind.FILE_READ, field)


def strings_of_binary(call: Call, scene: Scene) -> Iterator[Effect]:
    """xxd: a second operand is written; -r turns a dump back into bytes."""
    for field in call.operands[:1] or (literal("-"),):
        yield from apply_role("read", field, call, scene)
    for field in call.operands[1:2]:
        yield from apply_role("write", field, call, scene)


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("head", "tail", "ghead", "gtail"),
        options="-n -c -s --lines --bytes --pid --sleep-interval --max-unchanged-stats --follow=",
        longs="--quiet --silent --verbose --zero-terminated --retry",
        describe=tail,
        summary="prints the beginning or the end",
    ),
    Program(
        ("sort", "gsort"),
        options="-k -o -S -t -T --key --output --buffer-size --field-separator --temporary-directory "
        "--compress-program --batch-size --parallel --files0-from --sort --random-source --check=",
        roles="read",
        option_roles=(("-o", "write"), ("--output", "write"), ("--files0-from", "read")),
        describe=sort,
        summary="sorts lines; -o writes",
    ),
    Program(
        ("uniq",),
        options="-f -s -w --skip-fields --skip-chars --check-chars --all-repeated= --group=",
        roles="read write ignore",
        summary="drops repeated lines; the second operand is written",
    ),
    Program(
        ("shuf",),
        options="-i -n -o --input-range --head-count --output --random-source",
        roles="read",
        option_roles=(("-o", "write"), ("--output", "write")),
        summary="shuffles lines",
    ),
    Program(
        ("cut", "gcut"),
        options="-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter",
        roles="read",
        summary="prints columns",
    ),
    Program(
        ("tr", "seq", "expr", "factor", "numfmt", "yes", "figlet", "toilet", "cowsay", "fortune"),
        style="raw",
        summary="works on its words or on stdin",
    ),
    Program(("wc",), options="--files0-from --total", describe=count, summary="counts lines, words, bytes"),
    Program(
        tuple(
            (
                "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum b3sum cksum sum shasum md5 xxhsum xxh64sum crc32 rhash "
                "hashdeep"
            ).split()
        ),
        options="-a --algorithm -l --length",
        describe=digest,
        summary="prints checksums",
    ),
    Program(
        ("diff", "cmp", "sdiff", "diff3", "colordiff", "icdiff", "delta", "difft", "difftastic", "dwdiff", "jsondiff", "jd"),
        options="-U -C -W -w= -I -x -X -F -S -D -L -i= -n= --unified= --context= --width --exclude --exclude-from "
        "--from-file --to-file --label --color= --ignore-matching-lines --bytes --output -o",
        option_roles=(("-o", "write"), ("--output", "write")),
        describe=compare,
        summary="compares files",
    ),
    Program(("jq", "gojq", "jaq", "yq", "xq", "tq"), style="raw", describe=jq, summary="filters JSON, YAML, XML; yq -i writes"),
    Program(
        ("base64", "base32", "basenc", "gbase64"),
        options="-w --wrap -b -i= -o",
        roles="read",
        option_roles=(("-i", "read"), ("-o", "write")),
        summary="encodes and decodes",
    ),
    Program(
        ("xxd",),
        options="-c -g -l -o -s -n -R -cols -len -seek",
        style="single",
        describe=strings_of_binary,
        summary="makes a hex dump or reads one back",
    ),
    Program(
        ("iconv", "uconv"),
        options="-f -t -o --from-code --to-code --output -x",
        roles="read",
        option_roles=(("-o", "write"), ("--output", "write")),
        summary="converts encodings",
    ),
    Program(("dos2unix", "unix2dos", "mac2unix", "fromdos", "todos"), describe=convert, summary="rewrites line endings in place"),
    Program(
        ("less", "more", "most", "pg", "moar", "ov"),
        options="-b -h -j -k -o -O -p -P -t -T -x -y -z -D --log-file --LOG-FILE --lesskey-file --lesskey-src --pattern --prompt --tag",
        option_roles=(("-o", "write"), ("-O", "write"), ("--log-file", "write"), ("--LOG-FILE", "write")),
        describe=page,
        summary="shows text page by page",
    ),
    Program(
        ("man", "gman"),
        options="-P -H= -C -L -M -m -p -r -R -S -s -e --pager --html= --config-file --locale --manpath --systems "
        "--preprocessor --prompt --recode --sections --extension",
        describe=manual,
        summary="shows a manual page; -P runs a pager",
    ),
    Program(
        tuple(
            (
                "ls dir vdir eza exa lsd tree stat file du df basename dirname realpath readlink pathchk which whereis whatis apropos "
                "info tldr cheat locate plocate mlocate namei lsattr getfacl getfattr findmnt lsblk blkid lsof cal ncal nproc uname "
                "uptime free vmstat iostat mpstat sar w who whoami id groups users last lastlog lastb finger hostid tty logname "
                "getconf locale lscpu lsmem lspci lsusb lsmod lsns lsipc lslocks lslogins lsirq dmidecode hwinfo inxi neofetch "
                "fastfetch screenfetch ps top htop btop atop glances pstree pgrep pidof pidstat pmap pwdx ipcs numastat slabtop sensors "
                "acpi upower tput clear reset stty sleep usleep ncdu dust duf gdu broot bashbug man-db zdump cksfv getcap tabs "
                "dircolors pkg-config pkgconf"
            ).split()
        ),
        style="raw",
        describe=looks,
        summary="looks at names, metadata or the state of the machine",
    ),
    Program(
        ("logger",),
        options="-f -i= -p -t -n -P -u --file --priority --tag --server --port --socket --id=",
        option_roles=(("-f", "read"), ("--file", "read")),
        summary="writes a line to the system log",
    ),
    Program(("wall", "write", "mesg"), style="raw", summary="sends a message to terminals"),
)
