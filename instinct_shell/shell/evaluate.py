"""Walks a tree as bash would and yields every command that would run, with its words expanded and its surroundings known.

Promise: each command that bash can run for this text is among the invocations, or the text it stands in is reported as opaque. Nothing is
executed and nothing is read from disk. The work is bounded; where a bound is reached, the rest is opaque.
"""

from __future__ import annotations

from ..errors import InstinctError
from ..model.effect import Span
from . import control, frames, hidden, loops, parameters, record, simple, syntax, traps, values
from .expand import Expander
from .invocation import Evaluation, Field, Origin, Surroundings
from .record import Record, first_stdin
from .state import Channel, State, merge
from .syntax import AndOr, CommandSub, Node, Opaque, Parsed, Pipeline, ProcessSub, Script
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .recursion import Entry
    from .state import Trap

MAX_STEPS = 2_500  # simple commands evaluated, loops and calls counted each time
MAX_TEXTS = 80  # texts that eval, trap and source read again; a long one counts for each kilobyte
MAX_DEPTH = 60  # nested evaluations: calls, substitutions, eval
MAX_LEFT = 8  # places of one text from which bash may go on with the next line, told apart


class BoundReached(Exception):
    """The evaluation went over one of its bounds."""


def evaluate(script: Script, surroundings: Surroundings, parse: Callable[[str], Parsed]) -> Evaluation:
    """The invocations of a script, in execution order. Raises nothing: what goes over a bound or cannot be read is in `opaque`."""
    return Evaluator(surroundings, parse).run(script)


class Evaluator:
    """One evaluation. `state` is the current one; running a node returns the state after its failure, None when it is the same."""

    def __init__(self, surroundings: Surroundings, parse: Callable[[str], Parsed]) -> None:
        self.surroundings = surroundings
        self.parse = parse
        self.expander = Expander(self)
        self.records: list[Record] = []
        self.opaques: list[Opaque] = []
        self.notes: list[tuple[str, str, Span]] = []
        self.function_names: dict[str, None] = {}
        self.bodies: dict[int, tuple[str, Node, Span | None]] = {}  # function bodies seen, by identity
        self.called: set[int] = set()
        self.calls: list[str] = []
        self.entries: list[Entry] = []  # what stood when they began
        self.outer_traps: tuple[Trap, ...] = ()  # those of the shell around a subshell
        self.trapped = traps.Runs()
        self.environment: dict[str, Text] = {name: Text((value,)) for name, value in surroundings.env}
        for name, field in surroundings.variables:
            self.environment[name] = values.from_field(field)
        cwd = values.from_field(surroundings.cwd_field) if surroundings.cwd_field else Text((surroundings.cwd,))
        self.argv0 = values.from_field(surroundings.argv0_field) if surroundings.argv0_field else Text((surroundings.argv0,))
        self.sink = self.terminal = Channel("sink")  # terminal: what this text prints, rather than hands on
        self.state = State(cwd, {0: first_stdin(surroundings.stdin), 1: self.sink, 2: Channel("inherit")})
        positional = surroundings.positional_fields
        self.state.positional = tuple(values.from_field(f) for f in positional) or tuple(Text((p,)) for p in surroundings.positional)
        self.out = values.EMPTY  # what went to the current sink
        self.producers: list[int] = []  # who wrote to the current sink
        self.certain = True
        self.captured = False
        self.defined = False
        self.context: tuple[str, ...] = ()
        self.aborts = False
        self.frames: list[frames.Frame] = []  # the loops and calls that break, continue and return leave
        self.nested_span: Span | None = None
        self.process_texts: dict[tuple[int, ...], Text] = {}
        self.pending: list[tuple[Channel, tuple[int, ...]]] = []  # `>(..)` bodies whose writing command is not recorded yet
        self.late: list[tuple[int, int]] = []  # who reads what a later record writes: in a loop's next pass
        self.hidden = 0  # values whose substitutions were run
        self.steps = 0
        self.texts = 0
        self.unrolled = 0
        self.assigning: dict[str, tuple[str, ...]] = {}  # by variable: the ones that a text it was given would assign as an expression
        self.depth = 0
        self.left: list[State] = []  # what stood where an expression may have gone wrong
        self.line_depth = self.line_left = 0  # where the text that is read now begins: its depth, and how many of these were there
        self._cwd_cache: tuple[Text, Field] | None = None
        self._env_cache: tuple[int, tuple[tuple[str, Field], ...]] | None = None

    # ------------------------------------------------------------ the whole

    def run(self, script: Script) -> Evaluation:
        """Evaluates the script, its traps and the functions it never calls."""
        try:
            self.script(script)
            traps.run_all(self, ())
            frames.run_uncalled(self)
        except (BoundReached, RecursionError) as error:
            reason = str(error) or "the text is nested too deeply"
            self.notes.append(("limit", reason, script.span))
            self.opaques.append(Opaque(script.span, reason, ""))
        for producer, reader in self.late:
            if producer < len(self.records):
                self.records[producer].readers.append(reader)
        built = tuple(record.built(each, len(self.records)) for each in self.records)
        return Evaluation(built, tuple(self.opaques), tuple(self.function_names), tuple(self.notes))

    def script(self, script: Script) -> State | None:
        """Runs the commands of a list; the state after a failing last command is returned."""
        failed: State | None = None
        before: Node | None = None
        stood: State | None = None
        for number, item in enumerate(script.items, 1):
            if failed is not None:
                # `set -e` lets the failures of `a && b` and `! a` pass
                if "errexit" not in self.state.options or isinstance(before, AndOr) or (isinstance(before, Pipeline) and before.negated):
                    self.state = merge(self.state, failed)
                elif self.state.dead:
                    self.state = failed
            start = self.state.copy() if number in script.glued else None
            failed = self.node(item)
            if before is not None and stood is not None:
                from . import glued  # rare: not for every start

                glued.run(self, before, item, stood)
            before, stood = item, start
            if self.depth == self.line_depth:
                for left in self.left[self.line_left :]:  # for the rest of the text: where its lines end is not known here
                    self.state = merge(self.state, left.copy())
        return failed

    def may_leave_line(self) -> None:
        """An expression may be wrong here: then bash goes on with the next line, and with whatever stood at this point."""
        if not self.state.dead:
            full = len(self.left) - self.line_left >= MAX_LEFT
            self.left.append(merge(self.left.pop(), self.state) if full else self.state.copy())

    def node(self, node: Node) -> State | None:
        """Runs one node; the state after success is in `state`."""
        self.enter()
        if self.state.traps:
            traps.between(self)
        try:
            failed = _RUN[type(node)](self, node)
        finally:
            self.depth -= 1
        if self.state.traps:
            traps.between(self)
        return failed

    def step(self) -> None:
        """Counts one command."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise BoundReached(f"more than {MAX_STEPS:,} commands would run: the rest is not followed")

    # ------------------------------------------------------------ knowledge

    def span(self, span: Span) -> Span:
        """The span in the outermost text."""
        return self.nested_span or span

    def lookup(self, name: str) -> Text | Array | None:
        """What a variable holds now."""
        return parameters.lookup(self, name)

    def ifs(self) -> str:
        """The field separators in force."""
        if "IFS" not in self.state.variables and "IFS" not in self.environment:
            return " \t\n"
        found = self.lookup("IFS")
        if found is None:
            return " \t\n"
        return found.text if isinstance(found, Text) and found.text is not None and not found.unset else " \t\n"

    def all_ifs(self) -> tuple[str, ...]:
        """Every set of field separators that may be in force; () when they are not known."""
        found = self.state.variables.get("IFS")
        if found is None:
            return (self.ifs(),)
        if not isinstance(found, Text) or not found.known:
            return ()
        return (*found.values, *((" \t\n",) if found.unset else ()))

    def ifs_is_known(self) -> bool:
        """Whether `ifs` is what it surely is."""
        found = self.state.variables.get("IFS")
        return found is None or (isinstance(found, Text) and found.text is not None and not found.unset)

    def note(self, kind: str, detail: str, span: Span) -> None:
        """Something that the caller must judge."""
        note = (kind, detail, self.span(span))
        if note not in self.notes:
            self.notes.append(note)

    def opaque(self, span: Span, reason: str, text: str) -> None:
        """A piece that runs and cannot be read."""
        found = Opaque(self.span(span), reason, text)
        if found not in self.opaques:
            self.opaques.append(found)

    def check_hidden(self, text: str, span: Span, where: str, *, subscript: bool = False) -> None:
        """Runs what bash runs out of a value (shell/hidden.py)."""
        if ("$(" in text or "`" in text) and (subscript or "[" in text or "$(" in text):
            hidden.run(self, text, span, where)

    def forget(self, names: tuple[str, ...], reason: str) -> None:
        """These variables may have changed to anything."""
        for name in names:
            held, value = self.lookup(name), values.unknown(reason, "arithmetic", name)
            self.state.assign(name, Array({}, held.keyed, value) if isinstance(held, Array) else value)

    def cwd_field(self) -> Field:
        """The current directory as a field."""
        if self._cwd_cache is None or self._cwd_cache[0] is not self.state.cwd:
            self._cwd_cache = (self.state.cwd, values.to_field(self.state.cwd))
        return self._cwd_cache[1]

    def env_fields(self) -> tuple[tuple[str, Field], ...]:
        """Exported variables that this text has changed."""
        exported = self.state.exported
        if not exported:
            return ()
        found = []
        for name in sorted(exported):
            value = self.state.variables.get(name)
            if isinstance(value, Text):
                found.append((name, values.to_field(value)))
        return tuple(found)

    # ------------------------------------------------------------ scopes

    def uncertain(self, action: Callable[[], object], *context: str) -> None:
        """Runs an action whose commands may or may not run."""
        certain, held = self.certain, self.context
        self.certain = False
        self.context = held + context
        try:
            action()
        finally:
            self.certain, self.context = certain, held

    def within(self, action: Callable[[], object], *context: str) -> None:
        """Runs an action with more context."""
        held = self.context
        self.context = held + context
        try:
            action()
        finally:
            self.context = held

    def apart(self, action: Callable[[], object], *context: str) -> None:
        """Runs an action in a subshell: what it changes does not escape."""
        state, outer, held = self.state, self.frames, self.outer_traps
        self.state = state.copy()
        self.frames = []
        self.outer_traps = state.traps

        def inside() -> None:
            action()
            traps.run_all(self, state.traps)

        try:
            self.within(inside, *context)
        finally:
            state.read_in(self.state, at_once="background" in context)
            self.state, self.frames, self.outer_traps = state, outer, held

    def gather(self, action: Callable[[], object]) -> tuple[Text, tuple[int, ...]]:
        """What an action writes to stdout, and which invocations do."""
        out, producers, sink = self.out, self.producers, self.sink
        self.out, self.producers, self.sink = values.EMPTY, [], Channel("sink")
        held, left = self.state.fds, self.left[-1:]
        self.state.fds = {**held, 1: self.sink}
        try:
            action()
            whole = self.left[-1:] == left  # else bash may have left off in the middle
            return self.out if whole else Text((), self.out.reason, self.out.origins), tuple(self.producers)
        finally:
            self.out, self.producers, self.sink = out, producers, sink
            self.state.fds = held

    def emit(self, index: int, text: Text | None) -> None:
        """Notes that an invocation writes this to the current sink; None when unknown."""
        self.producers.append(index)
        if text is None:
            text = Text((), "output of a command")
        self.out = values.concat(self.out, text)

    # ------------------------------------------------------------ nested commands

    def substitute(self, part: CommandSub) -> Text:
        """`$(..)`: its commands are evaluated, its value is known when their output is."""
        self.enter()
        held, self.captured = self.captured, True
        aborts = self.aborts
        try:
            if (name := simple.read_file(part.body)) is not None:
                field = self.expander.fields(name)
                simple.run_redirect_only(self, part.body)
                detail = field[0].text if field and field[0].text else ""
                return values.unknown(f"content of `{detail or name.raw}`", "file", detail)
            first = len(self.records)
            text, producers = self.gather(lambda: self.apart(lambda: self.script(part.body), "substitution"))
        finally:
            self.captured = held
            self.depth -= 1
            self.aborts = aborts
        if text.known:
            return values.chomped(text)
        if text.origins:
            return Text((), text.reason, text.origins, text.prefix, text.suffix.rstrip("\n"), unset=text.unset)
        if not producers:
            producers = tuple(range(first, len(self.records)))
        what = self.records[producers[-1]].words if producers else ()
        name_text = what[0].text if what else None
        reason = f"output of `{name_text}`" if name_text else "output of a command"
        return Text((), reason, (Origin("command", name_text or "", producers),), text.prefix)

    def process(self, part: ProcessSub) -> Text:
        """`<(..)` or `>(..)`: its commands are evaluated; the value is the name of a pipe, or nothing for an empty one."""
        if not part.body.items:
            return values.EMPTY
        self.enter()
        held, self.captured = self.captured, part.direction == "<"
        try:
            if part.direction == "<":
                text, producers = self.gather(lambda: self.apart(lambda: self.script(part.body), "substitution"))
                self.process_texts[producers] = text
            else:
                channel = Channel("pipe")
                channel.feeds = True
                first = len(self.records)

                def reading() -> None:
                    self.state.fds[0] = channel
                    self.script(part.body)

                self.apart(reading, "substitution")
                producers = tuple(range(first, len(self.records)))
                self.pending.append((channel, producers))
        finally:
            self.captured = held
            self.depth -= 1
        origin = Origin("process", part.direction, producers)
        return Text((), "process substitution", (origin,), "/dev/fd/")

    def enter(self) -> None:
        """Counts one level of nested evaluation; the caller takes it back."""
        self.depth += 1
        if self.depth > MAX_DEPTH * 4:
            raise BoundReached("commands are nested too deeply to be followed")

    def nested(self, text: str, span: Span) -> State | None:
        """Runs text that the shell itself reads again (eval, trap, source of known text) in the current state."""
        self.enter()
        self.texts += 1 + len(text) // 1024
        if self.texts > MAX_TEXTS:
            raise BoundReached("the shell would read more text again (eval, trap, source) than is followed")
        held = self.nested_span
        outer = self.span(span)
        try:
            parsed = self.parse(text)
        except InstinctError as error:
            self.opaque(span, str(error), text)
            self.depth -= 1
            return None
        self.nested_span = outer
        line, self.line_depth, self.line_left = (self.line_depth, self.line_left), self.depth, len(self.left)
        try:
            return self.script(parsed.script)
        finally:
            self.nested_span = held
            self.line_depth, self.line_left = line
            self.depth -= 1


def _run_opaque(ev: Evaluator, node: Node) -> None:
    assert isinstance(node, Opaque)
    ev.opaque(node.span, node.reason, node.text)


_RUN: dict[type[Node], Callable[[Evaluator, Node], State | None]] = {
    syntax.Command: simple.run_command,
    syntax.Pipeline: simple.run_pipeline,
    syntax.AndOr: control.run_and_or,
    syntax.Background: control.run_background,
    syntax.Subshell: control.run_subshell,
    syntax.Group: control.run_group,
    syntax.If: control.run_if,
    syntax.Loop: loops.run_loop,
    syntax.For: loops.run_for,
    syntax.ArithFor: loops.run_arith_for,
    syntax.Case: control.run_case,
    syntax.Function: frames.run_function,
    syntax.Test: simple.run_test,
    syntax.Arithmetic: simple.run_arithmetic,
    syntax.Coproc: control.run_coproc,
    syntax.Opaque: _run_opaque,
}
