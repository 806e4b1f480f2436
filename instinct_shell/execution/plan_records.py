"""The letters of a plan's records (docs/protocol/plan.md)."""

from __future__ import annotations

VERSION, CWD, WORD, VARIABLE, NETWORK, SESSION, GROUP = b"Vcaenjo"
TAKE, PIN, LAYER, MAKE, CLOSE, PROCESSES, KNOB = b"tpldzxk"
LIMIT, RULES, ON_FILES, ON_TERMINALS, GRANT, FILTER, WALL = b"rGmygsw"
PASS, CLOSED, RELAY, REOPEN = b"pcro"
