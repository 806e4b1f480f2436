"""Code hidden in values: bash expands substitutions in subscripts, in arithmetic and in prompts, when the value is used as one.

`let 'x[$(cmd)]=1'`, `test -v 'x[$(cmd)]'`, `echo $((a))` with such an `a`, `${x@P}`. Known text is run as bash would, like a heredoc body.
"""

from __future__ import annotations

from ..model.effect import Span
from .values import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluate import Evaluator

MOST = 20  # values whose substitutions are run in one text
_END = "HIDDEN_CODE"


def run(ev: Evaluator, text: str, span: Span, where: str) -> None:
    """Runs the substitutions of the value in the current state; past the bound the value is opaque."""
    if _END in text or ev.hidden > MOST:
        ev.opaque(span, f"code hidden in a value ({where})", text)
        return
    ev.hidden += 1
    ev.within(lambda: ev.nested(f": <<{_END}\n{text}\n{_END}\n", span), "substitution")


def run_number(ev: Evaluator, text: str, span: Span) -> None:
    """The same for a value that bash takes for arithmetic, and for the variable that it names."""
    ev.check_hidden(text, span, "test", subscript=True)
    held = ev.lookup(text) if text.isidentifier() else None
    for value in held.values if isinstance(held, Text) else ():
        ev.check_hidden(value, span, f"arithmetic on `{text}`")
