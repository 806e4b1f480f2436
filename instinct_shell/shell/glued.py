"""`;` that bash loses: it writes the commands of `$(..)` and `<(..)` anew, and drops one `;` behind a heredoc (5.2: print_cmd.c).

`x=$(cat <<E` .. `E`, then `rm -rf; /srv)` runs `rm -rf /srv`. Which `;` it is depends on how the version of bash writes each construct, so
each one behind which a command goes on may be lost.
"""

from __future__ import annotations

from . import simple
from .state import State, merge
from .syntax import AndOr, Command, Node, OpaquePart, Pipeline, Word
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator


def run(ev: Evaluator, first: Node, second: Node, before: State) -> None:
    """Runs, as possible only, what the two commands are without the `;` between them; before: the state that the first ran in."""
    left = _end(first)
    if left is None:
        return  # `fi word` is no command: bash then runs nothing of this text
    right = _beginning(second)
    if right is None or right.assignments or right.assignments_in_words:
        rest = (Word(second.span, "", (OpaquePart(second.span, "a command without the `;` in front of it"),)),)
        joined = left.replace(words=(*left.words, *rest))
    else:
        joined = left.replace(words=(*left.words, *right.words), redirects=(*left.redirects, *right.redirects))
    after, ev.state = ev.state, before
    ev.uncertain(lambda: simple.run_command(ev, joined), "branch")
    ev.state = merge(after, ev.state)
    ev.out = Text((), "output of commands of which bash may lose a `;`")


def _end(node: Node) -> Command | None:
    """The simple command that a command ends with."""
    while isinstance(node, (AndOr, Pipeline)):
        node = node.right if isinstance(node, AndOr) else node.commands[-1]
    return node if isinstance(node, Command) else None


def _beginning(node: Node) -> Command | None:
    """The simple command that a command begins with."""
    while isinstance(node, AndOr) or (isinstance(node, Pipeline) and not node.negated and not node.timed):
        node = node.left if isinstance(node, AndOr) else node.commands[0]
    return node if isinstance(node, Command) else None
