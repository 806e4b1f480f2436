"""Facts: what instincts ask the host, and what it answered. "No answer" is an answer."""

from __future__ import annotations

from enum import StrEnum

from .value import Value


class QuestionKind(StrEnum):
    """Each kind says what `subject` is and what the answer's `value` holds (plain JSON-able data)."""

    RESOLVE = "resolve"  # path -> {"path": realpath of the deepest existing part + rest, "exists": bool, "type": file|dir|link|other|missing,
    #                               "links": st_nlink, "size": bytes, "uid": int, "final_link": bool (the last name itself is a link), "parent": realpath of the
    #                               parent + last name, "case_twin": the name on disk when it differs in case only, else "",
    #                               "same_as": a protected or secret path that is the same file by another name (hard link), else ""}
    GLOB = "glob"  # absolute pattern -> {"paths": [at most 200 absolute paths, sorted], "more": bool}
    GIT_STATE = "git_state"  # path -> {"top": str|"", "branch": str, "tracked": int, "modified": int, "untracked": int, "ignored": int, "default_branch": str}
    TREE = "tree"  # path -> {"files": int, "bytes": int, "more": bool, "untracked": int, "modified": int, "links_out": int,
    #                               "protected": [at most 5 protected paths below, build output left out]}
    SYNTAX = "syntax"  # shell text -> {"ok": bool, "message": str}   (bash -n)
    PACKAGE = "package"  # "manager name folder" -> {"known": bool, "near": a well-known name one edit away or "", "declared": bool (in a manifest there)}
    PLACE = "place"  # "kube PATH" | "terraform FOLDER" | "gcloud FOLDER" | "docker PATH" -> {"place": the selected context, workspace, project, server}
    SCRIPT = "script"  # path of a file that runs as code -> as READ; what is kept of the answer is {"sha256": str}
    READ = "read"  # path -> {"text": str, "sha256": str, "more": bool}   opened only if the jail would let the command read it
    # What a file tool is about to write; subject: the path ("" for an output intent). The intent holds the rest; no answer holds any text of a file.
    CONTENT = "content"  # -> {"was": absent|text|binary|large|other, "was_bytes": int, "bytes": int, "binary": bool, "misfit": why an edit does not fit, or "",
    #                               "sha256": of the text that is there, "" when it cannot be told}
    FILE_SYNTAX = "file_syntax"  # -> {"language": str|"", "new": [at most 3 messages], "line": int}
    LINT = "lint"  # -> {"tool": name|"", "new": [at most 5 "line 3: F821 message"], "more": int}
    SECRETS = "secrets"  # -> {"found": [at most 5 {"line": int, "what": str}], "more": int}
    IMPORTS = "imports"  # -> {"strange": [at most 5 {"name": str, "manager": str, "near": str, "manifest": bool}]}
    LEASE = "lease"  # path -> {"holder": another session's id or "", "agent": str, "minutes": int until it ends}

OF_CONTENTS = frozenset(
    (QuestionKind.CONTENT, QuestionKind.FILE_SYNTAX, QuestionKind.LINT, QuestionKind.SECRETS, QuestionKind.IMPORTS, QuestionKind.LEASE)
)


class Question(Value):
    """One question to the host."""

    kind: QuestionKind
    subject: str


class Answer(Value):
    """`known` is False when there was no answer (time-out, error, refused); then `why` says why and `value` is empty."""

    known: bool
    value: tuple[tuple[str, object], ...] = ()
    why: str = ""

    def get(self, name: str, default: object = None) -> object:
        """One entry of the answer, or the default."""
        for key, value in self.value:
            if key == name:
                return value
        return default


NO_ANSWER = Answer(False, (), "not asked")


class Facts:
    """The answers gathered for one judgement: a read-only mapping from question to answer."""

    __slots__ = ("_answers",)

    def __init__(self, answers: dict[Question, Answer] | None = None) -> None:
        self._answers = dict(answers or {})

    def answer(self, kind: QuestionKind, subject: str) -> Answer:
        """What the host said; `NO_ANSWER` when it was not asked."""
        return self._answers.get(Question(kind, subject), NO_ANSWER)

    def items(self) -> list[tuple[Question, Answer]]:
        """All questions with their answers, in the order asked."""
        return list(self._answers.items())

    def with_answers(self, answers: dict[Question, Answer]) -> Facts:
        """These facts and some more."""
        return Facts({**self._answers, **answers})
