"""Qwen Code: Claude's events and answers, Gemini's tools. Seen with 0.24.4: `updatedInput` has no effect, so it never rewrites; "ask" is untested."""

from __future__ import annotations

from .claude import Claude
from .gemini import TOOLS


class Qwen(Claude):
    """Qwen Code."""

    name = "qwen"
    replaces = False
    can_ask = False
    rewrites = False
    tools = TOOLS


DIALECT = Qwen()
