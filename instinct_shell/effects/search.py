"""Programs that search and act on what they find: find, xargs."""

from __future__ import annotations

import re

from ..model.effect import Certainty, Effect, EffectKind, Target
from ..shell.invocation import Field, Known, Origin, literal
from . import output
from .call import Call, Program, Scene, path_targets
from .holes import Holes
from .listing import Found, listing_of
from .roles import below_scratch, file_effects, is_scratch, weakest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ONE = frozenset(
    (
        "-amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename "
        "-links -lname -maxdepth -mindepth -mmin -mtime -name -newer -path -perm -regex -regextype -samefile -size -type -uid "
        "-used -user -wholename -xtype -files0-from -fprint -fprint0 -fls -newermt -newerat -newerct -newermm -newerca -D "
        "-printf"
    ).split()
)
_EXEC = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_NAMES = frozenset(["-name", "-iname"])
_PATHS = frozenset(["-path", "-ipath", "-wholename", "-iwholename"])
_OR = frozenset(("-o", "-or", ","))


class Expression:
    """A find command line: start paths, and the actions with the name patterns under which each happens."""

    def __init__(self, argv: tuple[Field, ...], cwd: Field) -> None:
        self.cwd = cwd
        self.depth = ""
        # (action, its words, name patterns: "" = any name, folder patterns of -path)
        self.actions: list[tuple[str, tuple[Field, ...], tuple[str, ...], tuple[str, ...]]] = []
        self.empty = False
        at = 0
        while at < len(argv) and (argv[at].text or "") in ("-H", "-L", "-P", "-O1", "-O2", "-O3", "-D"):
            at += 2 if argv[at].text == "-D" else 1
        first = at
        while at < len(argv) and (argv[at].text is None or not _starts_expression(argv[at].text or "")):
            at += 1
        self.starts = argv[first:at] or (literal("."),)
        self.words = argv
        self.at = at
        self.narrow: list[str] = []
        self.one = self.folders = self.spares_git = False
        names = self.alternatives()
        if not self.actions:
            self.default = names
        else:
            self.default = next((filters for action, _, filters, _ in self.actions if action.startswith("-print")), ())

    # The grammar: alternatives separated by -o, each a row of tests and actions; parentheses nest; ! negates the next test.
    def alternatives(self) -> tuple[str, ...]:
        """Parses until the closing parenthesis or the end; returns the name patterns under which the whole holds."""
        found: list[str] = []
        while True:
            found += [name for name in self.row() if name not in found]
            if self.at < len(self.words) and self.words[self.at].text in _OR:
                self.at += 1
                continue
            return tuple(found)

    def row(self) -> tuple[str, ...]:
        """One row of tests joined by and; actions get the patterns that hold at their place."""
        names: tuple[str, ...] = ("",)
        outer, self.narrow = self.narrow, list(self.narrow)
        negated = False
        while self.at < len(self.words):
            text = self.words[self.at].text or ""
            if text in _OR or text == ")":
                break
            self.at += 1
            if text in ("!", "-not"):
                negated = not negated
                continue
            if text in ("-a", "-and"):
                continue
            if text == "(":
                inner = self.alternatives()
                self.at += 1
                names = names if negated else _both(names, inner)
            elif (
                text in _EXEC
                or text in ("-delete", "-print", "-print0", "-ls", "-quit", "-prune")
                or text in ("-fprint", "-fprint0", "-fls", "-fprintf", "-printf")
            ):
                if text != "-prune":
                    self.action(text, names)
            elif text in _ONE:
                names = self.test(text, names, negated)
            elif text == "-empty":
                self.empty = not negated
            negated = False
        self.narrow = outer
        return names

    def test(self, text: str, names: tuple[str, ...], negated: bool) -> tuple[str, ...]:
        """A test with one argument; name and path tests narrow the patterns."""
        field = self.words[self.at] if self.at < len(self.words) else literal("")
        self.at += 1
        value = field.text if field.text is not None else field.prefix + "*" + field.suffix
        if field.glob and len(field.values) == 1:
            value = field.values[0]  # an unquoted pattern that matches nothing here reaches find as it stands
        if text == "-maxdepth":
            self.depth = value
        if ".git" in value and (negated or text in (*_NAMES, *_PATHS)):
            self.spares_git = True  # `! -path './.git/*'`, `-name .git -prune -o ..`
        if negated:
            return names
        if text in ("-inum", "-samefile"):
            self.one = True
        elif text == "-size" and value.rstrip("bcwkMG") == "0":
            self.empty = True
        elif text == "-type":
            self.folders = value == "d"
        if text in ("-regex", "-iregex") and (named := _regex_names(value)):
            return _both(names, named)
        if text in _NAMES:
            return _both(names, (value,))
        if text in _PATHS:
            narrowed = _path_name(value)
            if narrowed:
                return _both(names, (narrowed,))
            if not value.startswith("*"):
                self.narrow.append(value)
        return names

    def action(self, text: str, names: tuple[str, ...]) -> None:
        """An action with its words."""
        first = self.at
        if text in _EXEC:
            while self.at < len(self.words) and not self.ends_exec():
                self.at += 1
            self.actions.append((text, self.words[first : self.at], names, tuple(self.narrow)))
            self.at += 1
            return
        if text in ("-fprint", "-fprint0", "-fls", "-printf"):
            self.at += 1
        elif text == "-fprintf":
            self.at += 2
        self.actions.append((text, self.words[first : self.at], names, tuple(self.narrow)))

    def ends_exec(self) -> bool:
        """Whether the words of an -exec end here: `;`, or `+` after `{}`."""
        text = self.words[self.at].text
        return text == ";" or (text == "+" and self.words[self.at - 1].text == "{}")

    def found(self, names: tuple[str, ...], narrow: tuple[str, ...] = ()) -> tuple[Found, ...]:
        """The listing of an action that happens under these patterns."""
        targets: list[Target] = []
        for field in self.starts:
            for target, _ in path_targets(field, self.cwd):
                targets.append(narrowed(target, field, narrow))
        extra = [("empty", "1")] if self.empty else []
        if self.folders:
            extra.append(("type", "d"))
        if self.one:
            extra.append(("one", "1"))
        if self.depth in ("0", "1"):
            extra.append(("level", self.depth))
        chosen = self.folders or self.one or self.empty or self.spares_git or self.depth in ("0", "1")
        return tuple(
            Found(tuple(targets), name, self.depth != "0", tuple(sorted((*extra, *(() if name.strip("*") or chosen else (("whole", "1"),))))))
            for name in names or ("",)
        )

    def listed(self) -> tuple[Found, ...] | None:
        """What the command prints, or None when it only acts."""
        return self.found(self.default) if self.default or not self.actions else None


def narrowed(target: Target, start: Field, patterns: tuple[str, ...]) -> Target:
    """The folder below the start path that every match of a `-path './build/*'` lies in."""
    base = (start.text or "").rstrip("/")
    for pattern in patterns[:1]:
        head = pattern
        for special in "*?[":
            head = head.partition(special)[0]
        head = head.rpartition("/")[0] if head != pattern else head
        if base and head.startswith(base + "/") and not target.dynamic:
            return target.replace(text=target.text.rstrip("/") + head[len(base) :])
    return target


def _starts_expression(text: str) -> bool:
    return text in ("(", "!", ")", ",") or (len(text) > 1 and text[0] == "-")


def _both(names: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns of two tests that must both hold; of two patterns the later is kept, which is never narrower than both together."""
    if names == ("",):
        return more
    return names if more == ("",) else more


def _path_name(pattern: str) -> str:
    """The name in `*/NAME/*`, `*/a/NAME` or `*/NAME`, the ending of `*.ext`, "" for other path patterns."""
    if pattern.startswith("*") and len(pattern) > 2 and not any(c in pattern[1:] for c in "/*?["):
        return pattern
    parts = pattern.removeprefix("*/").removesuffix("/*").split("/")
    if not pattern.startswith("*/") or not all(parts) or any(c in part for part in parts for c in "*?["):
        return ""
    return parts[0] if pattern.endswith("/*") else parts[-1]  # what holds the match, or its own name


def _regex_names(pattern: str) -> tuple[str, ...]:
    """The names in `.*/NAME` and `.*/\\(a\\|b\\)`; () for other expressions."""
    match = re.fullmatch(r"\^?(?:\./)?\.\*/(?:\\?\((.+?)\\?\)|((?:[\w-]|\\\.)+))\$?", pattern)
    if match is None:
        return ()
    names = tuple(name.replace("\\.", ".") for name in re.split(r"\\?\|", match[1] or match[2]))
    return names if all(re.fullmatch(r"[\w.-]+", name) and "." not in name.replace(".", "", 1) for name in names) else ()


def find(call: Call, scene: Scene) -> Iterator[Effect]:
    """find: -delete, -exec and its like act on every match; -fprint and its like write; the rest only lists."""
    expression = Expression(call.argv, call.invocation.cwd)
    for action, words, names, narrow in expression.actions:
        if action == "-delete":
            fresh = all(below_scratch(start, call.invocation.cwd) or is_scratch(start) for start in expression.starts)
            for found in expression.found(names, narrow):
                for target in found.targets:
                    yield call.effect(
                        EffectKind.FILE_DELETE,
                        target,
                        dict(found.attributes),
                        certainty=weakest(call.certainty, Certainty.UNKNOWN) if target.dynamic else None,
                        sweep="1",
                        recursive="1",
                        filter=found.filter,
                        dynamic="delete" if target.dynamic else "",
                        bound="1" if target.dynamic and fresh else "",
                    )
        elif action in _EXEC and words:
            yield from on_found(call, scene, words, expression.found(names, narrow), via=f"find {action}")
        elif action in ("-fprint", "-fprint0", "-fls", "-fprintf") and words:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, words[0])


def on_found(
    call: Call, scene: Scene, words: tuple[Field, ...], found: tuple[Found, ...], *, via: str, mark: str = "{}"
) -> Iterator[Effect]:
    """A command run on every name of a listing: `{}` in its words stands for the name."""
    for one in found:
        holes = Holes(f"f{len(call.origin)}_")  # no dot: programs cut endings off
        hole = holes.new(one.hole())
        filled = tuple(replaced(word, mark, hole) for word in words)
        for effect in scene.nested_argv(filled, call, via=via):
            yield from holes.fill(effect)


def replaced(word: Field, mark: str, text: str) -> Field:
    """The word with a mark replaced in all its values."""
    if word.known is Known.DYNAMIC:
        return word.replace(prefix=word.prefix.replace(mark, text), suffix=word.suffix.replace(mark, text))
    return word.replace(values=tuple(value.replace(mark, text) for value in word.values)) if any(mark in v for v in word.values) else word


# ---------------------------------------------------------------- xargs


def xargs(call: Call, scene: Scene) -> Iterator[Effect]:
    """xargs: the command with the names that come in; known text gives known names, a listing gives every match, the rest is unknown."""
    file = call.value("-a", "--arg-file")
    if file is not None:
        yield from file_effects(call, scene, EffectKind.FILE_READ, file)
    words = call.operands or (literal("echo"),)
    mark = _mark(call)
    text = scene.files.get(output.absolute(file.text, call.invocation)) if file is not None else output.stdin_text(call.invocation, scene)
    text = output.yes_line(call.invocation, scene) if text is None and file is None else text
    if text is not None and len(text) < 4000:
        names = _names(text, call, mark)
        if names or call.has("-r", "--no-run-if-empty"):
            for group in ([(name,) for name in names] if mark or call.has("-n", "-L") else [tuple(names)])[:64]:
                yield from _run_with(call, scene, words, mark, group)
            return
    found = listing_of(call.invocation.stdin.producers, scene) if file is None and call.invocation.stdin.kind == "pipe" else None
    if found is not None:
        with_mark = words if mark else (*words, literal("{}"))
        yield from on_found(call, scene, with_mark, found, via="xargs", mark=mark or "{}")
        return
    origin = (
        Origin("command", "", call.invocation.stdin.producers) if file is None and call.invocation.stdin.producers else Origin("file", "")
    )
    unknown = Field(
        Known.DYNAMIC, reason="names that come in on stdin" if file is None else "names read from a file", origins=(origin,), many=not mark
    )
    if not mark:
        yield from scene.nested_argv((*words, unknown), call, via="xargs")
        return
    yield from scene.nested_argv(tuple(spliced(word, mark, unknown) for word in words), call, via="xargs")


def _mark(call: Call) -> str:
    field = call.value("-I", "-i", "--replace", "-J")
    if field is not None:
        return field.text or "{}"
    return "{}" if call.has("-i", "--replace") else ""


def _names(text: str, call: Call, mark: str) -> list[str]:
    if call.has("-0", "--null"):
        return [name for name in text.split("\0") if name]
    if call.has("-d", "--delimiter") or mark:
        return [line.strip() if mark else line for line in text.split("\n") if line.strip()]
    import shlex

    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _run_with(call: Call, scene: Scene, words: tuple[Field, ...], mark: str, names: tuple[str, ...]) -> Iterator[Effect]:
    if mark:
        yield from scene.nested_argv(tuple(replaced(word, mark, names[0]) for word in words), call, via="xargs")
    else:
        yield from scene.nested_argv((*words, *(literal(name) for name in names)), call, via="xargs")


def spliced(word: Field, mark: str, unknown: Field) -> Field:
    """A word in which the mark stands for something unknown."""
    text = word.text
    if text is None or mark not in text:
        return word
    before, _, after = text.partition(mark)
    return unknown.replace(prefix=before, suffix=after.rpartition(mark)[2], many=False)


PROGRAMS: tuple[Program, ...] = (
    Program(("find", "gfind", "bfs"), style="raw", describe=find, summary="searches folders; -delete and -exec act on what is found"),
    Program(
        ("xargs", "gxargs"),
        options="-a -d -E -e= -I -i= -J -L -l= -n -P -s --arg-file --delimiter --eof= --replace= --max-lines= "
        "--max-args --max-procs --max-chars --process-slot-var",
        longs="--null --no-run-if-empty --verbose --interactive --open-tty --exit --show-limits",
        style="stop",
        describe=xargs,
        summary="runs a command with arguments that come in on stdin",
    ),
)
