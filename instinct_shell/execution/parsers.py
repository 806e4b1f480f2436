"""Text to tree: the parser every front door uses.

bashlex reads the texts of its trusted subset, in a forked worker that can be killed; mvdan/sh (a process of its own) reads everything else
and is the reference. A process that judges one text never waits for bashlex: its import costs more than a whole mvdan/sh run, so the worker
is started at the second text, or by `start()`, and until it has said that it is ready mvdan/sh answers. Both give the same tree on the
trusted subset (tests/contract/test_parser_agreement.py), so the verdict does not depend on which of them was faster.
"""

from __future__ import annotations

from ..errors import InstinctError, LimitError
from ..model.effect import Span
from ..shell import compare, trust
from ..shell.syntax import Opaque, Parsed, Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .shfmt import Run
    from .worker import Worker

_CACHE_ENTRIES = 512
_MOST_COMMENTS = 16  # comments ending in a backslash that are told apart in one text
_SLOW_START_MS = 250  # how long a reference process may take before its text is opaque, when the machine is busy


class WorkerParser:
    """Implements the Parser port. Raises LimitError, IntentError (NUL) and ParserFault only; unreadable text comes back as `Opaque`.

    deadline_ms: for each parser and text. both: run both parsers on trusted texts and flag differences (prod, CI). Call `close()` before
    the process is replaced by exec, so that no worker is left to the new program.
    """

    def __init__(self, deadline_ms: int = 100, *, both: bool = False) -> None:
        self.deadline_ms = deadline_ms
        self.both = both
        self._worker: Worker | None = None
        self._begun: Run | None = None
        self._asked = 0
        self._cache: dict[str, Parsed] = {}

    def start(self) -> None:
        """Starts bashlex's worker in the background; cheap, and needless for a process that judges a single text."""
        if self._worker is None:
            from .worker import Worker

            self._worker = Worker()

    def begin(self, text: str) -> None:
        """Starts the reference parser on the text that will be asked for first, so that it works while this process imports the rest."""
        from ..shell.shfmt_words import prepared
        from .shfmt import Run

        try:
            trust.check_limits(text)
            self._begun = Run(prepared(text))
        except InstinctError:
            self._begun = None  # `parse` meets the same and says it in its place

    def close(self) -> None:
        """Ends the worker. The parser may be used again."""
        self._take_begun("")
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def parse(self, text: str) -> Parsed:
        """The tree of this text."""
        found = self._cache.get(text)
        if found is None:
            trust.check_limits(text)
            found = self._parse(text)
            if len(self._cache) >= _CACHE_ENTRIES:
                self._cache.clear()
            self._cache[text] = found
        return found

    def _take_begun(self, text: str) -> Run | None:
        """The run that `begin` started, when it reads this text; any other is dropped."""
        run, self._begun = self._begun, None
        if run is not None and run.text != text:
            run.drop()
            return None
        return run

    # ------------------------------------------------------------ the two parsers

    def _parse(self, text: str) -> Parsed:
        bare = text.strip(" \t\n")
        if not bare or (bare[0] == "#" and "\n" not in bare):
            self._take_begun("")
            return Parsed(Script(Span(0, len(text)), ()), "none")
        self._asked += 1
        first = None
        if (self.both or self._asked > 1) and trust.trusted(text):
            first = self._by_bashlex(text)
            if first is not None and not self.both:
                return Parsed(first, "bashlex")
        second = self._by_shfmt(text)
        if second.syntax_error and first is None and trust.trusted(text):
            # mvdan/sh rejects a few texts that bash accepts, such as `a[b "c"`
            self.start()
            first = self._by_bashlex(text, _SLOW_START_MS)
            if first is not None:
                return Parsed(first, "bashlex")
        if first is None or second.syntax_error:
            return second
        if second.parser == "none":
            return Parsed(first, "bashlex")
        if compare.agree(first, second.script):
            return Parsed(second.script, "both")
        return Parsed(compare.union(second.script, first), "both", disagreement=True)

    def _by_bashlex(self, text: str, wait_ms: int = 0) -> Script | None:
        self.start()
        worker = self._worker
        if worker is None or not worker.ready(_SLOW_START_MS if self.both else wait_ms):
            return None
        found = worker.parse(text, self.deadline_ms)
        if worker.dead:
            self.close()
        return found

    def _by_shfmt(self, text: str) -> Parsed:
        from . import shfmt

        try:
            script = self._reference(text)
        except shfmt.SyntaxFault as fault:
            return Parsed(_opaque(text, f"not valid shell: {fault}"), "shfmt", syntax_error=str(fault))
        except shfmt.OutOfTime:
            return Parsed(_opaque(text, "the parser ran out of time"), "none")
        except LimitError:
            raise
        except RecursionError:
            raise LimitError(
                f"the command is nested deeper than {trust.MAX_NESTING} levels", hint="split the command into simpler ones"
            ) from None
        except InstinctError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            # a tree of an unknown shape: refuse to guess
            return Parsed(_opaque(text, f"the parser's tree was not understood ({type(error).__name__})"), "none")
        if not script.items and any(line and not line.startswith("#") for line in map(_bare, text.split("\n"))):
            return Parsed(_opaque(text, "the parser found no command in it"), "none")
        if compare.has_heredoc_in_backquotes(script):
            # bash ends such a heredoc elsewhere than the parser does, so the commands after it cannot be told from its body
            script = script.replace(items=(*script.items, *_opaque(text, "heredoc inside backquotes").items))
        return Parsed(script, "shfmt")

    def _reference(self, text: str) -> Script:
        """mvdan/sh's tree; parsed again for each comment whose last backslash it takes for a continuation."""
        from ..shell.shfmt_adapter import to_script
        from ..shell.shfmt_words import hidden_outside_comments, parted, prepared
        from . import shfmt

        given = prepared(text)
        fault: shfmt.SyntaxFault | None = None
        for _ in range(_MOST_COMMENTS):
            tree: dict[str, Any] | None = None
            try:
                tree = (self._take_begun(given) or shfmt.Run(given)).tree(max(self.deadline_ms, _SLOW_START_MS))
            except shfmt.SyntaxFault as error:
                fault = fault or error
            again = parted(tree, given)
            if again == given:
                break
            given = again
        else:
            raise shfmt.OutOfTime
        if tree is None or (fault is not None and hidden_outside_comments(tree, given)):
            raise fault or shfmt.OutOfTime
        return to_script(tree, text, given)


def _bare(line: str) -> str:
    """A line without blanks and continuation: empty when bash finds nothing in it."""
    return line.strip(" \t\r\\")


def _opaque(text: str, reason: str) -> Script:
    span = Span(0, len(text))
    return Script(span, (Opaque(span, reason, text),))
