"""A function that calls itself: the last pass that is followed stands for all further ones, so what changes from pass to pass is unknown."""

from __future__ import annotations

from . import values
from .state import MISSING, State
from .values import Array, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .state import Variable

_REASON = "changed in each call"


class Entry:
    """What stood when a call began."""

    __slots__ = ("cwd", "name", "positional", "variables")

    def __init__(self, name: str, state: State) -> None:
        self.name = name
        self.variables = dict(state.variables)
        self.positional = state.positional
        self.cwd = state.cwd


def widen(state: State, earlier: Entry) -> None:
    """Makes unknown what differs from the call before: arguments, variables, the directory."""
    for name, value in list(state.variables.items()):
        old = earlier.variables.get(name, MISSING)
        if old is not value:
            state.variables[name] = _open(old, value)
    if len(state.positional) == len(earlier.positional):
        state.positional = tuple(_beginning(old, new) for old, new in zip(earlier.positional, state.positional, strict=True))
    else:
        state.positional, state.open_positional = (), True
    state.cwd = _beginning(earlier.cwd, state.cwd)
    state.version += 1


def forget_changes(state: State, entry: Entry) -> None:
    """Makes unknown what the last followed call has changed: the calls inside it may have changed it any number of times."""
    for name, value in list(state.variables.items()):
        old = entry.variables.get(name, MISSING)
        if old is not value:
            state.variables[name] = _open(old, value)
    state.cwd = _beginning(entry.cwd, state.cwd)
    state.version += 1


def _open(old: Variable, new: Variable) -> Variable:
    if isinstance(old, Text) and isinstance(new, Text):
        return _beginning(old, new)
    if isinstance(old, Array) or isinstance(new, Array):
        return Array({}, False, values.unknown(_REASON, "variable"))
    return values.unknown(_REASON, "variable")


def _beginning(old: Text, new: Text) -> Text:
    """The same text when it did not change; else only that it begins as before, when each pass adds to its end."""
    if old.same(new):
        return new
    if old.glob and new.glob and len(old.values) == len(new.values) == 1 and new.values[0].startswith(old.values[0]):
        if ".." not in new.values[0].split("/"):
            return new  # `walk "$1"/*`: further down, and never out of where the pattern begins
    before = old.text or old.prefix
    after = values.literal_head(new.values[0]) if new.glob and len(new.values) == 1 else new.text or new.prefix
    grows = after.startswith(before) and not before.isdigit()
    return Text((), _REASON, new.origins, before if grows else "")
