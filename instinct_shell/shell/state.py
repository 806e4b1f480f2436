"""The shell's state while a text is evaluated: variables, directory, functions, options, descriptors. Copied for subshells and branches."""

from __future__ import annotations

from ..model.effect import NOWHERE, Span
from . import values
from .invocation import Field
from .syntax import Node
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    Variable = Text | Array | None  # None: surely unset
    Trap = tuple[str, Span, frozenset[str]]  # text, where it was set, for which signals
    Hidden = tuple[Variable, str, bool]  # the value, its attributes, and whether it is surely hidden


class Channel:
    """What a file descriptor is connected to.

    kind: "inherit" | "file" | "pipe" | "text" | "null" | "closed" | "sink" (the output that the evaluator is gathering).
    outer: what an inherited one is (Stdin.outer). rest: the known text before
    anything is read; State.rest tells what is left of it. producers: filled in when the writing command is known.
    """

    __slots__ = ("feeds", "field", "kind", "op", "outer", "producers", "rest", "span", "text")

    def __init__(self, kind: str, *, op: str = "", field: Field | None = None, span: Span = NOWHERE, text: Text | None = None) -> None:
        self.kind = kind
        self.op = op
        self.field = field
        self.span = span
        self.text = text
        self.rest = text.text if text is not None else None  # before anything is read; see State.rest
        self.producers: tuple[int, ...] = ()
        self.outer = ""
        self.feeds = False  # a pipe to a command that was met before its writers are: `exec 3> >(..)`, `coproc`


class State:
    """All that bash keeps between commands, as far as it decides what later commands do."""

    __slots__ = (
        "aliases",
        "attributes",
        "cwd",
        "dead",
        "doubtful",
        "exported",
        "fds",
        "functions",
        "last",
        "locals",
        "made",
        "oldpwd",
        "open_positional",
        "options",
        "positional",
        "references",
        "stack",
        "traps",
        "unread",
        "variables",
        "version",
    )

    def __init__(self, cwd: Text, channels: dict[int, Channel]) -> None:
        self.variables: dict[str, Variable] = {}
        self.exported: frozenset[str] = frozenset()
        self.cwd = cwd
        self.oldpwd: Text | None = None
        self.stack: tuple[Text, ...] = ()
        self.functions: dict[str, tuple[tuple[Node, ...], bool]] = {}  # name -> (the body, or any of these; surely defined)
        self.attributes: dict[str, str] = {}  # name -> letters of declare (i, u, l, n, A ...); replaced, never changed in place
        self.references: dict[
            str, str
        ] = {}  # name of a `declare -n` -> the variable it stands for, "" before it has one; replaced, never changed in place
        self.doubtful: frozenset[str] = frozenset()  # references that only some ways to this point made
        self.aliases: dict[str, str] = {}
        self.options: frozenset[str] = frozenset()
        self.positional: tuple[Text, ...] = ()
        self.open_positional = False  # the number of positional parameters is unknown
        self.fds = channels
        self.traps: tuple[Trap, ...] = ()
        self.locals: tuple[dict[str, Hidden], ...] = ()  # per function call: what `local` has hidden
        self.unread: dict[Channel, str | None] = {}  # what `read` left of known text, None when that is not known; replaced, never changed in place
        self.made: frozenset[str] = frozenset()  # directories that this text made, so that cd into them succeeds
        self.last: Text | None = None  # `$_`: the last word of the last command, None when it is not known
        self.dead = False  # this point is not reached (after exit, return, break)
        self.version = 0

    def copy(self) -> State:
        """The same state, free to change apart."""
        new = State.__new__(State)
        for slot in State.__slots__:
            setattr(new, slot, getattr(self, slot))
        new.variables = dict(self.variables)
        new.functions = dict(self.functions)
        new.fds = dict(self.fds)
        if self.locals:
            new.locals = tuple(dict(frame) for frame in self.locals)
        return new

    def killed(self) -> State:
        """A copy that stands for "not reached"."""
        new = self.copy()
        new.dead = True
        return new

    def assign(self, name: str, value: Variable) -> None:
        """Sets or unsets a variable, or the one that it refers to; a reference without one gets its variable by the first value."""
        self.version += 1
        if self.references:
            last = self.last_reference(name)
            if last and not self.references[last] and isinstance(value, Text):
                self.refer(last, value.text)
                return
            alone, name = name, self.stands_for(name)
            if alone in self.doubtful:
                self.variables[alone] = value
                value = _merge_variables(name, self.variables.get(name, MISSING), value)
        held = self.variables.get(name)
        if "[" in name:  # a reference to an element
            name = name.partition("[")[0]
            held = self.variables.get(name)
            value = Array({}, isinstance(held, Array) and held.keyed, values.unknown("set by a reference to an element", "variable", name))
        elif isinstance(held, Array) and isinstance(value, Text):  # the first element is set
            held = held.copy()
            held.items = {"0": value} | held.items | {"0": value}
            held.maybe = None
            value = held
        self.variables[name] = value

    def letters(self, name: str) -> str:
        """The attributes of a variable, as letters of declare."""
        return self.attributes.get(self.stands_for(name) if self.references else name, "") if self.attributes else ""

    def rest(self, channel: Channel) -> str | None:
        """What is left to read of a channel with known text; None when that is not known."""
        return self.unread.get(channel, channel.rest)

    def read_in(self, inner: State, at_once: bool) -> None:
        """What a subshell reads is read for all; at_once: nobody knows when."""
        if inner.unread is not self.unread:
            found = {c: None for c in inner.unread if inner.rest(c) != self.rest(c)} if at_once else inner.unread
            self.unread = {**self.unread, **found}

    def restore(self, name: str, hidden: Hidden) -> None:
        """What a local variable has hidden comes back."""
        value, letters, sure = hidden
        if not sure:
            value = _merge_variables(name, value, self.variables.get(name, MISSING))
            letters = _merge_letters(letters, self.attributes.get(name, ""))
        if value is MISSING:
            self.variables.pop(name, None)
        else:
            self.variables[name] = value
        if letters != self.attributes.get(name, ""):
            self.attributes = {**self.attributes, name: letters}

    def refer(self, name: str, target: str | None) -> None:
        """`declare -n name=target`. A target that is not known makes the value unknown."""
        self.references = {other: to for other, to in self.references.items() if other != name}
        self.doubtful -= {name}
        self.variables.pop(name, None)
        self.version += 1
        if target is not None and (not target or target.partition("[")[0].isidentifier()) and target != name:
            self.references[name] = target
        else:
            self.variables[name] = values.unknown(f"`{name}` refers to another variable", "variable", name)

    def last_reference(self, name: str) -> str:
        """The last reference on the way from this name; "" when it is none."""
        found = ""
        for _ in range(_MOST_REFERENCES):
            if name not in self.references:
                break
            found, name = name, self.references[name]
        return found

    def stands_for(self, name: str) -> str:
        """The variable that is read and written under this name."""
        last = self.last_reference(name)
        return self.references[last] if last else name


def same(first: State, second: State) -> bool:
    """Whether two states say the same, but for how often they were changed."""
    return first is second or all(getattr(first, slot) == getattr(second, slot) for slot in _COMPARED)


def merge(first: State, second: State) -> State:
    """The state after either: values become sets, the directory one of both. A state that is not reached does not count."""
    if first is second or second.dead:
        return first
    if first.dead:
        return second
    last = first.last if first.last is second.last else None
    if same(first, second):
        if last is first.last:
            return first
        new = first.copy()
        new.last = last
        return new
    new = first.copy()
    new.last = last
    for name in {**first.variables, **second.variables}:
        a = first.variables.get(name, MISSING)
        b = second.variables.get(name, MISSING)
        if a is not b:
            new.variables[name] = _merge_variables(name, a, b)
    new.cwd = values.join(first.cwd, second.cwd)
    if first.oldpwd is not second.oldpwd:
        both = first.oldpwd is not None and second.oldpwd is not None
        new.oldpwd = values.join(first.oldpwd, second.oldpwd) if both and first.oldpwd and second.oldpwd else first.oldpwd or second.oldpwd
    if first.stack != second.stack:
        new.stack = ()
    for name in {**first.functions, **second.functions}:
        here, there = first.functions.get(name), second.functions.get(name)
        if here is not there:
            (one, surely), (other, too) = here or ((), False), there or ((), False)
            bodies = (*one, *(body for body in other if all(body is not known for known in one)))
            new.functions[name] = (bodies[:_MOST_BODIES], surely and too)
    new.doubtful = first.doubtful | second.doubtful
    if first.references != second.references:
        for name in {**first.references, **second.references}:
            if first.references.get(name) != second.references.get(name):
                target = first.references.get(name) or second.references.get(name)
                new.refer(name, target or None)
                new.doubtful |= {name}
    new.aliases = {**second.aliases, **first.aliases}
    if first.attributes != second.attributes:
        given = {**first.attributes, **second.attributes}
        new.attributes = {name: _merge_letters(first.attributes.get(name, ""), second.attributes.get(name, "")) for name in given}
    if first.locals != second.locals:
        new.locals = tuple(_merge_hidden(one, other) for one, other in zip(first.locals, second.locals, strict=False))
    if first.unread != second.unread:
        new.unread = {c: first.rest(c) if first.rest(c) == second.rest(c) else None for c in {**first.unread, **second.unread}}
    new.exported = first.exported | second.exported
    new.options = (first.options & second.options) | ((first.options | second.options) & _RISKY_OPTIONS)
    new.made = first.made & second.made
    new.traps = first.traps + tuple(t for t in second.traps if t not in first.traps)
    new.open_positional = first.open_positional or second.open_positional
    if len(first.positional) == len(second.positional):
        new.positional = tuple(values.join(a, b) for a, b in zip(first.positional, second.positional, strict=True))
    else:
        new.open_positional = True
        new.positional = ()
    for fd in {**first.fds, **second.fds}:
        if fd not in first.fds:
            new.fds[fd] = second.fds[fd]
    new.version = max(first.version, second.version) + 1
    return new


_MOST_REFERENCES = 8
_MOST_MAYBE = 8  # elements of a list that may be missing
_MOST_BODIES = 8  # that one name may stand for; each is evaluated where it is called
_RISKY_OPTIONS = frozenset(
    "no_braces posix no_patsub_replacement xpg_echo lastpipe keyword extglob expand_aliases xtrace dotglob nocaseglob nocasematch execfail".split()
)
MISSING = Text(("",), unset=("?",))


def _merge_variables(name: str, a: Variable, b: Variable) -> Variable:
    if a is None or a is MISSING:
        a = Text(("",), unset=(name,))
    if b is None or b is MISSING:
        b = Text(("",), unset=(name,))
    if isinstance(a, Text) and isinstance(b, Text):
        return values.join(a, b)
    if isinstance(a, Array) and isinstance(b, Array) and a.items.keys() == b.items.keys() and a.maybe is b.maybe:
        open_ = values.join(a.open_, b.open_) if a.open_ is not None and b.open_ is not None else a.open_ or b.open_
        return Array({k: values.join(a.items[k], b.items[k]) for k in a.items}, a.keyed or b.keyed, open_, a.maybe)
    first, second = _as_array(a), _as_array(b)
    if first is None or second is None:
        return Array({}, False, Text((), f"array `{name}` differs between branches"))
    return _merge_lists(name, first, second)


def _as_array(value: Variable) -> Array | None:
    """A plain list without gaps; None for anything else. A variable that is not set has no elements."""
    if isinstance(value, Text):
        return Array({}) if value.unset and value.values == ("",) else None
    return value if isinstance(value, Array) and not value.keyed and list(value.items) == [str(n) for n in range(len(value.items))] else None


def _merge_lists(name: str, a: Array, b: Array) -> Array:
    """Two lists: what both have is joined place by place; what follows in one of them may be missing."""
    both = min(len(a.items), len(b.items))
    items = {key: values.join(a.items[key], b.items[key]) for key in list(a.items)[:both]}
    rests = [[*list(one.items.values())[both:], *(one.maybe or ())] for one in (a, b)]
    open_: Text | None = None
    for text in (*rests[0], *rests[1], *(one.open_ for one in (a, b) if one.open_ is not None)):
        open_ = text if open_ is None else values.join(open_, text)
    maybe = tuple(
        values.join(*(rest[at] if at < len(rest) else values.EMPTY for rest in rests)) for at in range(max(map(len, rests)))
    )
    listed = len(maybe) <= _MOST_MAYBE and all(text.known and not text.glob for text in maybe)
    if not listed or any(one.open_ is not None and one.maybe is None for one in (a, b)):
        reason = f"array `{name}` differs between branches"
        return Array(items, False, Text((), reason, open_.origins if open_ is not None else (), open_.prefix if open_ is not None else ""))
    return Array(items, False, open_, maybe)


def _merge_letters(first: str, second: str) -> str:
    """Attributes that only one way to this point has are in doubt."""
    return first if first == second else "".join(sorted({*first, *second, "?"}))


def _merge_hidden(first: dict[str, Hidden], second: dict[str, Hidden]) -> dict[str, Hidden]:
    out = {}
    for name in {**first, **second}:
        one, other = first.get(name), second.get(name)
        if one is not None and other is not None:
            out[name] = (_merge_variables(name, one[0], other[0]), _merge_letters(one[1], other[1]), one[2] and other[2])
        else:
            value, letters, _ = one or other  # type: ignore[misc]  # one of both has it
            out[name] = (value, letters, False)
    return out


_COMPARED = tuple(slot for slot in State.__slots__ if slot not in ("version", "last"))
