"""All built-in instincts, in the order in which they run inside their tier. Explicit: nothing is found by scanning."""

from __future__ import annotations

from .assessment.environment import Environment
from .assessment.impact import Impact
from .assessment.side_effects import SideEffects
from .assessment.task_alignment import TaskAlignment
from .gate.dependency import Dependency
from .gate.file_content import FileContent
from .gate.file_syntax import FileSyntax
from .gate.lease import Lease
from .gate.linter import Linter
from .gate.scope_validation import ScopeValidation
from .gate.secret_in_content import SecretInContent, SecretInOutput
from .gate.shell_syntax import ShellSyntax
from .gate.written_dependency import WrittenDependency
from .reflex.budget import BudgetCeiling
from .reflex.command_allowed import CommandAllowed
from .reflex.destructive import DestructiveOperation
from .reflex.env_hijack import EnvHijack
from .reflex.opaque_code import OpaqueCode
from .reflex.operation_allowed import OperationAllowed
from .reflex.privilege import Privilege
from .reflex.protected_files import ProtectedFiles
from .reflex.secret_read import SecretRead
from .reflex.self_protection import SelfProtection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .base import BuiltIn

BUILTIN: tuple[BuiltIn, ...] = (
    ProtectedFiles(),
    DestructiveOperation(),
    BudgetCeiling(),
    SecretRead(),
    SelfProtection(),
    Privilege(),
    OpaqueCode(),
    EnvHijack(),
    OperationAllowed(),
    CommandAllowed(),
    ScopeValidation(),
    ShellSyntax(),
    Dependency(),
    FileContent(),
    FileSyntax(),
    SecretInContent(),
    SecretInOutput(),
    WrittenDependency(),
    Lease(),
    Linter(),
    Impact(),
    Environment(),
    TaskAlignment(),
    SideEffects(),
)
