"""Simple commands, redirections, pipelines, tests: what one line of a script does in the evaluator's state."""

from __future__ import annotations

from functools import partial

from ..model.effect import Span
from . import assignments, builtins, frames, hidden, outputs, traps, values
from .calculate import arithmetic, touched
from .call import Call
from .invocation import Field, Known, Stream
from .record import Record
from .redirections import apply_redirects, certain_text
from .state import MISSING, Channel, State, merge
from .syntax import Arithmetic, Assignment, Command, Literal, Node, Param, Pipeline, Script, Test, Word
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator
    from .state import Hidden

_NUMERIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_DECLARING = frozenset({"declare", "typeset", "local", "export", "readonly"})
_SPECIAL = frozenset(". : break continue eval exec exit export readonly return set shift source times trap unset".split())
_QUIET = frozenset({"echo", "printf", "true", ":", "false", "pwd", "test", "["})  # they print no messages
_MOST_NAMES = 8  # values of a command name that are followed one by one


def run_command(ev: Evaluator, node: Node) -> State | None:
    """A simple command: words, redirections, assignments, then the command itself."""
    assert isinstance(node, Command)
    ev.step()
    if ev.state.aliases and "expand_aliases" in ev.state.options and node.words:
        first = node.words[0].parts
        alias = ev.state.aliases.get(first[0].text) if len(first) == 1 and isinstance(first[0], Literal) and not first[0].quoted else None
        if alias is not None and ev.depth < 40:
            rest = [word.raw for word in node.words[1:]]
            if rest and alias[-1:] in (" ", "\t"):  # then the next word may be an alias, too
                rest[0] = ev.state.aliases.get(rest[0], rest[0])
            before, out = ev.state.copy(), ev.out
            ev.uncertain(lambda: ev.nested(" ".join([alias, *rest]), node.span), "branch")
            aliased, ev.state, printed, ev.out = ev.state, before, ev.out, out
            failed = _run_words(ev, node)
            ev.state, ev.out = merge(ev.state, aliased), values.join(ev.out, printed)
            return merge(failed, aliased) if failed is not None else None
    return _run_words(ev, node)


def _run_words(ev: Evaluator, node: Command) -> State | None:
    """The command as its words stand, whatever aliases there are."""
    fields = ev.expander.all_fields(node.words)
    if "keyword" in ev.state.options and len(fields) > 1:  # words that assign are then no arguments, wherever they stand
        fields = [f.replace(many=True, known=Known.DYNAMIC, values=(), reason="it may be an assignment") if _assigns(f) else f for f in fields]
    span = ev.span(node.span)
    if ev.aborts:
        # `${x:?}` of an unset variable: bash prints the message and stops before the command
        ev.aborts = False
        traps.ends(ev)
        ev.state = ev.state.killed()
        return None
    redirects = node.redirects
    fds, streams = apply_redirects(ev, redirects) if redirects else (ev.state.fds, ())
    if not node.words and not node.assignments_in_words:
        _assignments_only(ev, node, fds, streams, span)
        return None
    if fields and fields[0].text in ("echo", "printf", "print") and fds.get(1) is ev.terminal:
        _note_printed(ev, node)
    temporary = tuple(assignments.temporary_assignment(ev, a) for a in node.assignments)
    declared = node.assignments_in_words
    if not fields:  # all words expanded to nothing: the assignments then stay, as bash has it
        _assignments_only(ev, node, fds, streams, span)
        return None
    failed = _each_name(ev, tuple(fields), temporary, declared, fds, streams, span)
    # `alias name=value` and `unset a[1]` leave the name alone of their last word
    unsure = declared or fields[-1].many or fields[0].text == "alias" or "[" in (fields[-1].text or "")
    last = None if unsure else values.from_field(fields[-1])
    for after in (ev.state, failed):
        if after is not None:
            after.last = last
    return failed


def _assigns(field: Field) -> bool:
    return any(value.partition("=")[0].isidentifier() and "=" in value for value in field.values)


def _note_printed(ev: Evaluator, node: Command) -> None:
    """Variables of the surroundings whose value is shown, whole or in part."""
    for word in node.words[1:]:
        for part in word.parts:
            if isinstance(part, Param) and part.op not in ("length", ":+", "+", "names", "@a") and part.name not in ev.state.variables:
                ev.note("printed", part.name, part.span)


def _assignments_only(ev: Evaluator, node: Command, fds: dict[int, Channel], streams: tuple[Stream, ...], span: Span) -> None:
    pairs = []
    for assignment in node.assignments:
        text = assignments.assign(ev, assignment)
        pairs.append((assignment.name, values.to_field(text, ev.span(assignment.span))))
    ev.state.last = None
    record(ev, (), tuple(pairs), fds, streams, span)


def _each_name(
    ev: Evaluator,
    fields: tuple[Field, ...],
    temporary: tuple[tuple[str, Field], ...],
    declared: tuple[Assignment, ...],
    fds: dict[int, Channel],
    streams: tuple[Stream, ...],
    span: Span,
) -> State | None:
    """One run for a known name; one run for each possible name, none of them certain."""
    first = fields[0]
    if first.known is not Known.SET or first.glob or len(first.values) > _MOST_NAMES:
        return invoke(ev, fields, temporary, declared, fds, streams, span)
    before = ev.state
    after: State | None = None
    for value in first.values:
        named = (first.replace(known=Known.STATIC, values=(value,)), *fields[1:])
        # No name: the command of an empty name (`''$x`), or none, and the next word is the name (`$x rm`); of `''$@` both.
        ways = [named] * (bool(value) or first.quoted) + [fields[1:]] * (not value and (first.many or not first.quoted))
        for chosen in ways:
            ev.state = before.copy()
            if chosen:
                ev.uncertain(partial(invoke, ev, chosen, temporary, declared, fds, streams, span), "branch")
            after = ev.state if after is None else merge(after, ev.state)
    ev.state = after or before
    return None


def invoke(
    ev: Evaluator,
    fields: tuple[Field, ...],
    temporary: tuple[tuple[str, Field], ...],
    declared: tuple[Assignment, ...],
    fds: dict[int, Channel],
    streams: tuple[Stream, ...],
    span: Span,
) -> State | None:
    """Runs a command whose words are expanded: a function of this text, a builtin that changes the shell, or a program."""
    name = fields[0].text
    if not temporary or name in _DECLARING:
        return _invoke(ev, fields, temporary, declared, fds, streams, span)
    held = _set_temporarily(ev, temporary)  # their words are expanded before it counts
    failed: State | None = None
    try:
        failed = _invoke(ev, fields, temporary, declared, fds, streams, span)
        return failed
    finally:
        for after in (ev.state, *((failed,) if failed is not None and failed is not ev.state else ())):
            for variable, hidden in held:
                after.restore(variable, hidden)
            if "posix" in after.options and name in _SPECIAL:  # there the assignment stays
                for variable, field in temporary:
                    after.assign(variable, values.from_field(field))


def _invoke(
    ev: Evaluator,
    fields: tuple[Field, ...],
    temporary: tuple[tuple[str, Field], ...],
    declared: tuple[Assignment, ...],
    fds: dict[int, Channel],
    streams: tuple[Stream, ...],
    span: Span,
) -> State | None:
    name = fields[0].text
    state = ev.state
    if name is not None and name in state.functions:
        bodies, sure = state.functions[name]
        given = tuple(variable for variable, _ in temporary)
        if sure and len(bodies) == 1:
            return frames.call(ev, name, bodies[0], fields, fds, streams, span, given)
        before, after = state.copy(), None if sure else state
        for body in bodies:
            ev.state = before.copy()
            ev.uncertain(partial(frames.call, ev, name, body, fields, fds, streams, span, given), "branch")
            after = ev.state if after is None else merge(after, ev.state)
        ev.state = after or before
        if sure:
            return None
    words = builtins.unwrapped(fields)
    inner = words[0].text if words else None
    handler = builtins.TABLE.get(inner) if inner is not None else None
    if handler is None:
        index = record(ev, fields, temporary, fds, streams, span)
        finish(ev, index, words)
        if inner == "kill":
            traps.signal(ev)
        if "errexit" in state.options:
            traps.may_end(ev)
        return None
    return handler(ev, Call(inner or "", words[1:], fields, declared, fds, streams, temporary, span))


def _set_temporarily(ev: Evaluator, temporary: tuple[tuple[str, Field], ...]) -> list[tuple[str, Hidden]]:
    held: list[tuple[str, Hidden]] = []
    for given, field in temporary:
        name, value = ev.state.stands_for(given) or given, values.from_field(field)
        before = ev.state.variables.get(name, MISSING)
        letters = ev.state.attributes.get(name, "")
        held.append((name, (before, letters, True)))
        if "r" not in letters:
            ev.state.attributes = {**ev.state.attributes, name: ""} if letters else ev.state.attributes
        else:  # bash complains, and runs the command with the old value
            value = values.join(value, before) if isinstance(before, Text) else values.unknown("a read-only variable", "variable", name)
        ev.state.variables[name] = value
    return held


def record(
    ev: Evaluator,
    fields: tuple[Field, ...],
    pairs: tuple[tuple[str, Field], ...],
    fds: dict[int, Channel],
    streams: tuple[Stream, ...],
    span: Span,
) -> int:
    """Writes the invocation down; its index is returned."""
    index = len(ev.records)
    made = Record(ev, fields, pairs, span)
    made.stdin = fds.get(0, made.stdin)
    made.stdout = fds.get(1, made.stdout)
    made.stderr = fds.get(2)
    made.streams = streams
    if len(fds) > 3:
        made.fds = tuple((fd, channel) for fd, channel in fds.items() if fd > 2 and channel.kind in ("text", "file", "pipe"))
    if made.stdout.feeds:
        made.stdout.producers += (index,)
    ev.records.append(made)
    feeds = [made.stdin.producers, *(o.producers for field in fields for o in field.origins if o.kind == "process" and o.detail == "<")]
    for producers in feeds:
        for producer in producers:
            if producer < index:
                ev.records[producer].readers.append(index)
            else:
                ev.late.append((producer, index))
    if ev.pending:
        for channel, readers in ev.pending:
            if channel is fds.get(2) or channel not in fds.values():  # `tee >(..)`; one that is kept open is fed by who writes to it
                channel.producers = (index,)
            made.readers += readers
        ev.pending = []
    return index


def finish(ev: Evaluator, index: int, words: tuple[Field, ...]) -> None:
    """Works out what the command writes, and where that goes."""
    made = ev.records[index]
    output = outputs.output(ev, words, made.stdin) if not complains_into_value(ev, made) else None
    made.output = output
    if made.stdout is ev.sink:
        ev.emit(index, output)


def complains_into_value(ev: Evaluator, made: Record) -> bool:
    """Whether messages of the command belong to the value that is gathered: `x=$(rm f 2>&1)`."""
    return made.stderr is ev.sink and (not made.words or made.words[0].text not in _QUIET)


def read_file(body: Script) -> Word | None:
    """The word of `$(<file)`, None for any other body."""
    if len(body.items) != 1:
        return None
    item = body.items[0]
    if isinstance(item, Command) and not item.words and not item.assignments and not item.assignments_in_words and len(item.redirects) == 1:
        redirect = item.redirects[0]
        if redirect.op == "<" and redirect.fd in (None, 0):
            return redirect.target
    return None


def run_redirect_only(ev: Evaluator, body: Script) -> int:
    """The invocation of `$(<file)`: no words, one stream."""
    item = body.items[0]
    assert isinstance(item, Command)
    fds, streams = apply_redirects(ev, item.redirects)
    return record(ev, (), (), fds, streams, ev.span(item.span))


# ---------------------------------------------------------------- pipelines


def run_pipeline(ev: Evaluator, node: Node) -> State | None:
    """Stages in subshells, each reading what the one before writes; a single command runs in place."""
    assert isinstance(node, Pipeline)
    if len(node.commands) == 1:
        failed = ev.node(node.commands[0])
        if node.negated and failed is not None:
            ev.state, failed = failed, ev.state
        return failed
    channel: Channel | None = None
    last = len(node.commands) - 1
    for number, stage in enumerate(node.commands):
        feed = channel

        def run(stage: Node = stage, feed: Channel | None = feed) -> None:
            if feed is not None:
                ev.state.fds[0] = feed
            ev.node(stage)

        if number < last:
            held, ev.captured = ev.captured, False
            text, producers = ev.gather(lambda run=run: ev.apart(run, "pipeline"))  # type: ignore[misc]
            ev.captured = held
            channel = Channel("pipe", text=certain_text(text))
            channel.producers = producers
        elif "lastpipe" in ev.state.options:  # then it may run in this shell
            before = ev.state.copy()
            ev.within(run, "pipeline")
            ev.state.fds = before.fds
            ev.state = merge(before, ev.state)
        else:
            ev.apart(run, "pipeline")
    return None


# ---------------------------------------------------------------- tests and arithmetic


def run_test(ev: Evaluator, node: Node) -> None:
    """`[[ .. ]]`: expanded for what runs inside; its result is not worked out."""
    assert isinstance(node, Test)
    ev.step()
    words: list[Field] = [Field(Known.STATIC, ("[[",))]
    raws = ["", *(word.raw for word in node.words), ""]
    for number, word in enumerate(node.words):
        text = ev.expander.single(word)
        words.append(values.to_field(text, ev.span(word.span)))
        before, after = raws[number], raws[number + 2]
        if after == "=~":
            found = Text((), "what `=~` matched", text.origins)
            ev.state.assign("BASH_REMATCH", values.Array({}, False, found))
        if before == "-v":
            for value in text.values:
                ev.check_hidden(value, word.span, "test", subscript=True)
        elif before in _NUMERIC or after in _NUMERIC:
            for value in text.values:
                hidden.run_number(ev, value, word.span)
                ev.forget(touched(ev, value), "arithmetic")
    words.append(Field(Known.STATIC, ("]]",)))
    fds, streams = apply_redirects(ev, node.redirects) if node.redirects else (ev.state.fds, ())
    index = record(ev, tuple(words), (), fds, streams, ev.span(node.span))
    ev.records[index].output = values.EMPTY


def run_arithmetic(ev: Evaluator, node: Node) -> None:
    """`(( .. ))` and `let`."""
    assert isinstance(node, Arithmetic)
    ev.step()
    arithmetic(ev, node.text, node.nested, node.span)
    ev.state.last = None  # `let` leaves its last word
    if node.redirects:
        fds, streams = apply_redirects(ev, node.redirects)
        record(ev, (), (), fds, streams, ev.span(node.span))
