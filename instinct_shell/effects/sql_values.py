"""A statement of SQL, or a command of its client, typed."""

from __future__ import annotations

from ..model.value import Value

READ, WRITE, DELETE_ALL, DROP, NEUTRAL, SHELL, FILE_READ, FILE_WRITE, SCRIPT, SWITCH, UNKNOWN = (
    "read",
    "write",
    "delete_all",
    "drop",
    "neutral",
    "shell",
    "file_read",
    "file_write",
    "script",
    "switch",
    "unknown",
)


class Statement(Value):
    """One statement or client command.

    kind: read | write | delete_all (rows of a whole table: DELETE or UPDATE without a bound, TRUNCATE) | drop | neutral (SET, BEGIN ...) |
    shell (`object` is the command text; where = client | server) | file_read | file_write (`object` is the file) | script (`object` is a
    file of more SQL) | switch (`object` is the database connected to next) | unknown. rows: "one" when a key equality bounds the rows.
    text: its first 80 characters, for messages.
    """

    kind: str
    verb: str = ""
    object: str = ""
    rows: str = ""
    text: str = ""
    where: str = ""
