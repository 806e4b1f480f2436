"""The builtins that change the shell itself, as functions on the evaluator's state. Each still yields its invocation."""

from __future__ import annotations

from . import declarations, directories, frames, nested, reading, simple, traps
from .calculate import arithmetic
from .call import Call
from .invocation import Field
from .state import State
from .values import EMPTY, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .evaluate import Evaluator

_PREFIXES = frozenset({"command", "builtin", "exec"})


def unwrapped(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """The words without `command`, `builtin` and `exec` in front, where these have no options."""
    while len(fields) > 1 and fields[0].text in _PREFIXES:
        option = fields[1].text
        if option is None or (option.startswith("-") and option not in ("-p", "--")) or fields[0].text == "exec":
            break
        fields = fields[2:] if option in ("-p", "--") else fields[1:]
    return fields


def _let(ev: Evaluator, call: Call) -> State | None:
    for field in call.args:
        if field.text is not None:
            arithmetic(ev, field.text, (), call.span)
        else:
            for value in field.values:
                ev.check_hidden(value, call.span, "let")
    call.record(ev)
    return None


def _test(ev: Evaluator, call: Call) -> State | None:
    """`test -v 'x[$(..)]'` runs code out of a string."""
    previous = ""
    for field in call.args:
        if previous == "-v" or previous == "-R":
            for value in field.values:
                ev.check_hidden(value, call.span, "test -v", subscript=True)
        previous = field.text or ""
    call.record(ev)
    return None


def _set(ev: Evaluator, call: Call) -> State | None:
    names = {
        "e": "errexit", "u": "nounset", "f": "noglob", "x": "xtrace", "C": "noclobber", "n": "noexec", "a": "allexport", "k": "keyword", "E": "errtrace",
        "T": "functrace",
    }  # fmt: skip
    at = 0
    arguments = call.args
    while at < len(arguments):
        text = arguments[at].text
        if text is None or text[:1] not in ("-", "+") or text == "+":
            break
        at += 1
        if text == "-":  # as `--`, but it keeps the arguments when none follow
            ev.state.options -= {"xtrace", "verbose"}
            break
        if text == "--":
            ev.state.positional, ev.state.open_positional = frames.arguments(arguments[at:])
            ev.state.version += 1
            call.record(ev)
            return None
        chosen = {names[c] for c in text[1:] if c in names}
        if "o" in text[1:] and at < len(arguments):
            chosen.add(arguments[at].text or "")
            at += 1
        ev.state.options = ev.state.options | chosen if text[0] == "-" else ev.state.options - chosen
        if "B" in text[1:] or "braceexpand" in chosen:  # on from the start, so that its absence is noted
            ev.state.options = ev.state.options | {"no_braces"} if text[0] == "+" else ev.state.options - {"no_braces"}
        ev.state.version += 1
    if at < len(arguments):
        ev.state.positional, ev.state.open_positional = frames.arguments(arguments[at:])
        ev.state.version += 1
    if "xtrace" in ev.state.options:
        prompt = ev.lookup("PS4")
        if isinstance(prompt, Text) and any("$(" in v or "`" in v for v in prompt.values):
            for value in prompt.values:
                ev.check_hidden(value, call.span, "PS4", subscript=True)
    call.record(ev, EMPTY if arguments else None)
    return None


def _shopt(ev: Evaluator, call: Call) -> State | None:
    texts = [f.text or "" for f in call.args]
    chosen = {t for t in texts if not t.startswith("-")}
    if "-s" in texts or any(t.startswith("-") and "s" in t for t in texts):
        ev.state.options |= chosen
        for name in sorted(chosen & {"extglob", "expand_aliases"}):
            ev.note(name, name, call.span)
    elif any(t.startswith("-") and "u" in t for t in texts):
        ev.state.options -= chosen
        if "patsub_replacement" in chosen:  # on from the start, so that only its absence is noted
            ev.state.options |= {"no_patsub_replacement"}
    ev.state.version += 1
    call.record(ev, EMPTY if chosen and any(t[:1] == "-" and not {"s", "u", "q"}.isdisjoint(t) and "p" not in t for t in texts) else None)
    return None


def _shift(ev: Evaluator, call: Call) -> State | None:
    call.record(ev)
    count = call.args[0].text if call.args else "1"
    if count is not None and count.isdigit() and int(count) <= len(ev.state.positional):
        ev.state.positional = ev.state.positional[int(count) :]
    elif count is None or ev.state.open_positional:
        ev.state.positional, ev.state.open_positional = (), True
    ev.state.version += 1
    return None


def _alias(ev: Evaluator, call: Call) -> State | None:
    for field in call.args:
        name, equals, value = (field.text or field.prefix).partition("=")
        if equals:
            ev.state.aliases = {**ev.state.aliases, name: value}
            ev.note("alias", f"{name}={value}", call.span)
    call.record(ev, EMPTY if call.args and all("=" in (f.text or f.prefix) for f in call.args) else None)
    return None


def _hash(ev: Evaluator, call: Call) -> State | None:
    if any((f.text or "").startswith("-p") for f in call.args):
        ev.note("hash", " ".join(f.text or "?" for f in call.args), call.span)
    call.record(ev, None)
    return None


def _enable(ev: Evaluator, call: Call) -> State | None:
    ev.note("enable", " ".join(f.text or "?" for f in call.args), call.span)
    call.record(ev, None)
    return None


def _compgen(ev: Evaluator, call: Call) -> State | None:
    for option, value in zip(call.args, call.args[1:], strict=False):
        if option.text == "-C":
            nested.run_text(ev, value, call.span, "compgen -C", 3)
        elif option.text == "-W":
            ev.check_hidden(value.text or "", call.span, "compgen -W", subscript=True)
    call.record(ev, None)
    return None


# ---------------------------------------------------------------- ends


def _exec(ev: Evaluator, call: Call) -> State | None:
    index = simple.record(ev, call.words, call.temporary, call.fds, call.streams, call.span)
    words = [f for f in call.args if f.text != "--"]
    if not words:
        ev.state.fds = call.fds
        ev.state.version += 1
        return None
    simple.finish(ev, index, tuple(words))
    if "execfail" in ev.state.options:
        return None
    traps.ends(ev)  # when there is no such program
    ev.state = ev.state.killed()
    return None


def _leave(ev: Evaluator, call: Call) -> State | None:
    """exit, return, break, continue: what follows is not reached; loops and calls take the state over."""
    call.record(ev)
    if call.name != "exit":
        level = call.args[0].text if call.args else "1"
        if not frames.leave(ev, call.name, int(level) if level is not None and level.isdigit() else 1):
            return _false(ev, None) if call.name == "return" else None
    else:
        traps.ends(ev)
    ev.state = ev.state.killed()
    return ev.state


def _true(ev: Evaluator, call: Call) -> State | None:
    call.record(ev)
    return ev.state.killed()


def _false(ev: Evaluator, call: Call | None) -> State | None:
    if call is not None:
        call.record(ev)
        if "errexit" in ev.state.options:
            traps.may_end(ev)
    failed = ev.state
    ev.state = failed.killed()
    return failed


TABLE: dict[str, Callable[[Evaluator, Call], State | None]] = {
    "cd": directories.change,
    "chdir": directories.change,
    "pushd": directories.push,
    "popd": directories.pop,
    "mkdir": directories.make,
    "declare": declarations.declare,
    "typeset": declarations.declare,
    "local": declarations.declare,
    "export": declarations.declare,
    "readonly": declarations.declare,
    "unset": declarations.unset,
    "read": reading.read,
    "mapfile": reading.mapfile,
    "readarray": reading.mapfile,
    "printf": reading.printf,
    "getopts": reading.getopts,
    "let": _let,
    "test": _test,
    "[": _test,
    "set": _set,
    "shopt": _shopt,
    "shift": _shift,
    "alias": _alias,
    "hash": _hash,
    "enable": _enable,
    "eval": nested.evaluate_words,
    "source": nested.source,
    ".": nested.source,
    "trap": nested.trap,
    "compgen": _compgen,
    "exec": _exec,
    "exit": _leave,
    "return": _leave,
    "break": _leave,
    "continue": _leave,
    "true": _true,
    ":": _true,
    "false": _false,
}
