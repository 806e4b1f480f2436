"""One error family. Every failure inside Instinct Shell is one of these, carries what to do next, and ends in a refusal.

Imports nothing, so that any module can raise.
"""

from __future__ import annotations


class Exit:
    """Exit statuses of `instinct-exec` and the shell (design section 10). The child's own status passes through untouched."""

    OK = 0
    ASK = 3  # `instinct check` only
    USAGE = 2
    TIMEOUT = 124  # wall-clock limit
    FAILED = 125  # we failed, nothing ran
    DENIED = 126  # denied, or asked and not granted


class InstinctError(Exception):
    """Root of the family. `code` is stable for ever, `exit_status` is the process's, `hint` is the next step (may be empty)."""

    code = "E000"
    exit_status = Exit.FAILED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class IntentError(InstinctError):
    """The input is not a well-formed intent (bad JSON, NUL byte, unknown type)."""

    code = "E101"
    exit_status = Exit.DENIED


class LimitError(IntentError):
    """The command text is over a parsing limit: 64 KB, 2,000 words, nesting 50."""

    code = "E102"


class ShellSyntaxError(IntentError):
    """bash itself would reject the text; `message` holds bash's own words."""

    code = "E103"


class ProfileError(InstinctError):
    """A profile cannot be used: unknown name, unknown key, wrong type, a loosening project file."""

    code = "E201"


class InstinctFault(InstinctError):
    """A registered instinct raised or ran over its time limit; counts as a deny by that instinct."""

    code = "E301"
    exit_status = Exit.DENIED


class ParserFault(InstinctError):
    """The parser worker could not be started or answered rubbish. A time-out is not a fault: the text is opaque then."""

    code = "E302"


class DescribeFault(InstinctError):
    """A command could not be described because of a fault of ours. Nothing unjudged runs, so it is refused."""

    code = "E303"


class JailError(InstinctError):
    """The jail that the profile demands cannot be made, or a step of making it failed. Nothing ran."""

    code = "E401"


class StorageError(InstinctError):
    """Audit trail, ledger or state directory cannot be read or written safely."""

    code = "E501"


class BudgetError(InstinctError):
    """A reservation would go over a ceiling, or names an unknown scope or hold."""

    code = "E502"
    exit_status = Exit.DENIED


class ApprovalError(InstinctError):
    """An approval cannot be given: no passphrase is set, it is wrong, or there is no such request."""

    code = "E503"
    exit_status = Exit.DENIED


class UsageError(InstinctError):
    """The command line of one of our own programs is wrong."""

    code = "E601"
    exit_status = Exit.USAGE


class WorkspaceError(InstinctError):
    """The folder to work in cannot be one: missing, the whole machine, a home directory, or not the session's."""

    code = "E602"


class GuardExposedError(InstinctError):
    """Interpreter, package or profile of the guard lies where a judged command may write and the kernel cannot hold it."""

    code = "E402"


class OverlayError(InstinctError):
    """A command cannot run on a copy-on-write view of the workspace, or what it changed there cannot be committed."""

    code = "E403"
    exit_status = Exit.DENIED


class FileToolError(InstinctError):
    """A file tool was allowed to act and could not: the path changed under it, the edit does not fit, the disk refused. Nothing was changed."""

    code = "E701"
