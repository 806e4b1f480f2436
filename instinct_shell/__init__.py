"""Instinct Shell: judges what an AI agent asks to do, runs what is allowed in a kernel jail, records what happened.

The names below are the public API; they load by need, so that `import instinct_shell` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .engine.judgement import Judgement, Outcome
    from .errors import InstinctError
    from .frontends.api import InstinctEngine
    from .instincts.base import Instinct
    from .model.intent import Intent, IntentType
    from .model.verdict import Decision, Finding, Tier, Verdict
    from .model.version import VERSION as __version__

_WHERE = {
    "Decision": "model.verdict",
    "Finding": "model.verdict",
    "Instinct": "instincts.base",
    "InstinctEngine": "frontends.api",
    "InstinctError": "errors",
    "Intent": "model.intent",
    "IntentType": "model.intent",
    "Judgement": "engine.judgement",
    "Outcome": "engine.judgement",
    "Tier": "model.verdict",
    "Verdict": "model.verdict",
}

__all__ = [
    "Decision",
    "Finding",
    "Instinct",
    "InstinctEngine",
    "InstinctError",
    "Intent",
    "IntentType",
    "Judgement",
    "Outcome",
    "Tier",
    "Verdict",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from .model.version import VERSION

        return VERSION
    if name not in _WHERE:
        raise AttributeError(f"module `instinct_shell` has no attribute `{name}`")
    from importlib import import_module

    return getattr(import_module(f".{_WHERE[name]}", __name__), name)


def __dir__() -> list[str]:
    return list(__all__)
