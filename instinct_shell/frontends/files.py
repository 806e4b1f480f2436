"""The file tools as front doors use them: one call, one intent (a patch: one a file), judged, done, and told what became of it."""

from __future__ import annotations

import os

from ..effects.edits import hunk_data, replacement_data
from ..effects.patch import changes
from ..errors import FileToolError, InstinctError
from ..model.value import Value
from ..model.verdict import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..effects.edits import Replacement
    from ..effects.patch import Change
    from ..engine.judgement import Judgement, Outcome
    from ..execution.filetools import Done
    from ..model.intent import Intent
    from ..wiring import Guard

DIFF_LINES = 400


class Report(Value):
    """What became of one file intent. done: None when nothing was done."""

    outcome: Outcome
    done: Done | None = None

    @property
    def allowed(self) -> bool:
        """Whether it was done."""
        return self.done is not None


class Files:
    """The file tools of one guard. Every method raises InstinctError for what could not be judged or, once allowed, not be done."""

    def __init__(self, guard: Guard, *, door: str, agent: str = "") -> None:
        self._guard = guard
        self._door = door
        self._agent = agent

    def read(self, path: str) -> Report:
        """A file's content, in `done.before`."""
        return self._one(self._intent("file_read", path))

    def write(self, path: str, content: str, *, exclusive: bool = False) -> Report:
        """Make or replace a file; exclusive: only make it."""
        extra = {"exclusive": True} if exclusive else {}
        return self._one(self._intent("file_write", path, content, extra))

    def edit(self, path: str, edits: Sequence[Replacement]) -> Report:
        """Replace exact texts, each at its only place or at all of them."""
        return self._one(self._intent("file_edit", path, "\n".join(edit.new for edit in edits), {"edits": replacement_data(edits)}))

    def delete(self, path: str, *, recursive: bool = False) -> Report:
        """Delete a file, an empty folder, or with `recursive` a whole one."""
        return self._one(self._intent("file_delete", path, "", {"recursive": True} if recursive else {}))

    def move(self, path: str, destination: str) -> Report:
        """Move a file or a folder."""
        return self._one(self._intent("file_move", path, "", {"destination": destination}))

    def patch(self, text: str) -> tuple[Report, ...]:
        """All files of a patch, or none: every change is judged before the first is made."""
        intents = [intent for change in changes(text) for intent in self._of_change(change)]
        judgements = [self._guard.judge(intent) for intent in intents]
        if any(judgement.verdict.decision is Decision.DENY for judgement in judgements) or not self._all_granted(judgements):
            return tuple(self._refused(judgement) for judgement in judgements)
        done: list[Report] = []
        for number, intent in enumerate(intents):
            try:
                # A later change may stand on an earlier one (edit, then move): its facts are taken when its turn comes.
                done.append(self._one(intent) if number else self._act(judgements[0]))
            except InstinctError as error:
                if not done:
                    raise
                runs = ", ".join(report.outcome.judgement.run for report in done)
                what = f"{number} of {len(intents)} changes were made before this one failed: {error.message}"
                raise FileToolError(what, hint=f"give them back with `instinct undo restore RUN`: {runs}") from error
        return tuple(done)

    # ------------------------------------------------------------ parts

    def _intent(self, kind: str, path: str, content: str = "", metadata: Mapping[str, object] | None = None) -> Intent:
        line = {"type": kind, "target": path, "content": content, "metadata": metadata or {}, "agent": self._agent}
        return self._guard.intent_from(line, door=self._door)

    def _of_change(self, change: Change) -> list[Intent]:
        if change.kind == "add":
            return [self._intent("file_write", change.path, change.content)]
        if change.kind == "delete":
            return [self._intent("file_delete", change.path)]
        found = [self._intent("file_edit", change.path, change.added, {"hunks": hunk_data(change.hunks)})] if change.hunks else []
        return [*found, self._intent("file_move", change.path, "", {"destination": change.to})] if change.to else found

    def _one(self, intent: Intent) -> Report:
        return self._act(self._guard.judge(intent))

    def _act(self, judgement: Judgement) -> Report:
        from ..wiring.files import act

        return Report(*act(self._guard, judgement))

    def _all_granted(self, judgements: Sequence[Judgement]) -> bool:
        """Whether a person has approved every change that is asked about."""
        asked = [judgement for judgement in judgements if judgement.verdict.decision is Decision.ASK]
        if not asked:
            return True
        import time

        from ..engine.records import intent_digest
        from ..storage.grants import GrantBook

        live = {grant.intent_digest for grant in GrantBook(self._guard.state).live(time.time())}
        return all(intent_digest(judgement.intent, self._guard.profile) in live for judgement in asked)

    def _refused(self, judgement: Judgement) -> Report:
        """One change of a patch that is not made, because of itself or of another: written down, asked for when a person may approve it."""
        from ..engine.judgement import Outcome
        from ..engine.records import intent_digest
        from ..storage.grants import GrantBook

        self._guard.check(judgement.intent)
        request = ""
        if judgement.verdict.decision is Decision.ASK:
            digest = intent_digest(judgement.intent, self._guard.profile)
            book = GrantBook(self._guard.state)
            if all(grant.intent_digest != digest for grant in book.live(judgement.situation.now)):
                request = book.request(digest, judgement.verdict.reason, judgement.situation.now)
        return Report(Outcome(judgement, None, request))


# ---------------------------------------------------------------- words and shapes


def diff_of(done: Done, workspace: str) -> str:
    """The change as a unified diff, at most DIFF_LINES lines; "" where there is none to show."""
    if done.to or done.before == done.after or b"\0" in (done.before or b"") + (done.after or b""):
        return ""
    if done.before is None and done.after is None:
        return ""
    import difflib

    name = os.path.relpath(done.path, workspace) if done.path.startswith(workspace.rstrip("/") + "/") else done.path
    before, after = (_lines(data) for data in (done.before, done.after))
    old, new = f"a/{name}" if done.before is not None else "/dev/null", f"b/{name}" if done.after is not None else "/dev/null"
    lines: list[str] = []
    for line in difflib.unified_diff(before, after, old, new):
        if len(lines) == DIFF_LINES:
            lines.append("... (more lines)\n")
            break
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace")
    return [f"{line}\n" for line in text.split("\n")[:-1]] + ([text.rpartition("\n")[2]] if not text.endswith("\n") and text else [])


def report_object(report: Report, workspace: str) -> dict[str, object]:
    """A report as one JSON-able object: the answer of `check`, what may approve it, and what was done (docs/protocol/report.md)."""
    from .present import judgement_object

    shown = judgement_object(report.outcome.judgement, report.outcome.judgement.run)
    shown["request"] = report.outcome.request or None
    done = report.done
    shown["done"] = (
        None
        if done is None
        else {
            "path": done.path,
            "to": done.to or None,
            "created": done.created,
            "changed": done.before != done.after or bool(done.to),
            "bytes": len(done.after) if done.after is not None else None,
            "diff": diff_of(done, workspace),
            "notes": list(done.notes),
        }
    )
    return shown


def refusal(report: Report) -> str:
    """Why it was not done, in the words of every other denial; for a change that stands in a refused patch, that."""
    from .present import Style, denial

    words = denial(report.outcome.judgement, Style(), request=report.outcome.request)
    return words or f"instinct: not done: `{report.outcome.judgement.intent.target}` is part of a patch that was refused\n"
