"""Judges texts twice, in this process and by the engine, and prints both answers of `instinct check --json`. Used by the engine's tests.

usage: engine_driver.py TOP WORKSPACE      stdin: JSON strings, one a line; stdout: [cold, warm, trouble], one a line
"""

import json
import sys

top, workspace = sys.argv[1:]
sys.path.insert(0, top)

from instinct_shell.frontends.cli.check import CheckOptions, run
from instinct_shell.frontends.failure import guarded
from instinct_shell.resident import client, protocol

VARYING = ("id", "elapsed_us", "parser")  # the two ways may take different parsers, which give the same tree


class Kept:
    """A stream that keeps what is written."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return False

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def cold(text: str) -> str:
    out, err = Kept(), Kept()
    keep = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        status = guarded(lambda: run(CheckOptions(workspace=workspace, cwd=workspace, json=True, text=text)), usage_status=125)
    finally:
        sys.stdout, sys.stderr = keep
    return told(out.text, err.text, status)


def warm(text: str) -> str | None:
    client.trouble = ""
    connection = client.call()
    if connection is None:
        return None
    answer = client.ask(connection, client.request(b"check", ["--json", "--workspace", workspace, "--cwd", workspace, "-c", text]))
    connection.close()
    if answer is None:
        return None
    return told(answer[protocol.TO_STDOUT].decode(), answer[protocol.TO_STDERR].decode(), int(answer[protocol.STATUS]))


def told(out: str, err: str, status: int) -> str:
    said = json.loads(out) if out else {}
    return json.dumps([status, err, {name: value for name, value in said.items() if name not in VARYING}], sort_keys=True)


for line in sys.stdin:
    text = json.loads(line)
    first, second = cold(text), warm(text)
    print(json.dumps([first, second, client.trouble]), flush=True)
