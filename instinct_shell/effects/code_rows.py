"""What inline code does to whole tables and to the machine's processes, by the spelling of the libraries that everybody uses.

Only for code that stands in the command itself (`node -e`, `rails runner`, `artisan tinker`): a seed or a test that empties its tables is an
ordinary file of a project, and what it reaches is the environment's matter.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.effect import Effect, EffectKind, Target, TargetKind
from .call import Call, Scene
from .scripts import opaque
from .verbs import environment_text, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@cache
def _drops() -> re.Pattern[str]:
    return re.compile(
        r"\.(?:dropDatabase|dropCollection|dropSchema|dropAllSchemas|dropTable|drop_table|drop_database)\s*\(|\bSchema::drop\w*\s*\(|"
        r"\.sync\s*\(\s*\{\s*force\s*:\s*true|\btruncate\s*:\s*true|::truncate\s*\(\s*\)|\.truncate_tables?\b"
    )


@cache
def _unscoped() -> re.Pattern[str]:
    return re.compile(
        r"\b[A-Z]\w*(?:::[A-Z]\w*)*\.(?:(?:all|unscoped)\.)*(?:destroy_all|delete_all)\b|\.deleteMany\s*\(\s*(?:\{\s*\}\s*)?\)|"
        r"\.destroy\s*\(\s*\{\s*where\s*:\s*\{\s*\}|::query\(\)->delete\(\)|\b[A-Z]\w*::all\(\)->each->delete\(\)"
    )


# A process that starts itself again without end.
_FORKS = re.compile(
    r"\bfork\s+while\s+(?:1|true|fork)\b|\bloop\s*(?:\{|do)\s*fork\b|"
    r"\bwhile\s*\(?\s*(?:1|True|true|fork(?:\(\))?)\s*\)?\s*(?:[:{;]|do\b)?\s*(?:os\.)?fork\b"
)


# In one statement: code is evaluated, and it comes from an address.
_FETCHED = re.compile(
    r"\b(?:eval|instance_eval|class_eval|load|loadstring|dofile|source|include|eval_string)\b(?!\s*[=:])[^;\n]*(?:https?://|\bNet::HTTP\b|\bURI\.open\b|\bhttp\.request\b)"
)
_EVALUATING = frozenset("ruby lua r julia elixir groovy tcl scheme".split())


def fetched_code(text: str, call: Call, language: str) -> Iterator[Effect]:
    """Code out of the network that the same statement evaluates, in languages whose calls are not all followed."""
    if language in _EVALUATING and _FETCHED.search(text):
        yield opaque(call, "network", "what an address gives is evaluated", language=language)


def whole_tables(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """Every row, or the table itself, by an object mapper."""
    for kind, pattern in ((EffectKind.DB_DROP, _drops()), (EffectKind.DB_DELETE_UNSCOPED, _unscoped())):
        match = pattern.search(text)
        if match:
            yield call.effect(kind, thing(""), engine="orm", statement=match[0][:80], target_env=environment_text(call, scene))


def endless_forks(text: str, call: Call) -> Iterator[Effect]:
    """A fork bomb in a language other than the shell's."""
    if "fork" in text and _FORKS.search(text):
        yield call.effect(EffectKind.PROCESS_BACKGROUND, Target(TargetKind.NAME, "fork"), endless="1")
