"""The parts of a hook: patches, tool calls, the watchdog, the command line."""

from __future__ import annotations

import os
import signal
import time

import pytest
from hypothesis import given, strategies as st

from instinct_shell.effects.patch import changes
from instinct_shell.errors import IntentError, UsageError
from instinct_shell.frontends.hooks import tools
from instinct_shell.frontends.hooks.entry import emit, options_from
from instinct_shell.frontends.hooks.protocol import Answer, Moment
from instinct_shell.frontends.hooks.watchdog import Deadline, in_time, read_all
from instinct_shell.frontends.rewriting import original, quote_always, rewritten, unquote

PATCH = """\
*** Begin Patch
*** Add File: a.txt
+one
+two
*** Delete File: old/b.txt
*** Update File: c.py
*** Move to: d.py
@@ def f():
 kept
-gone
+new
*** End of File
*** End Patch
"""
BAD_PATCHES = {
    "nothing": "",
    "no begin": "*** Add File: a\n+x\n*** End Patch",
    "no end": "*** Begin Patch\n*** Add File: a\n+x",
    "no file": "*** Begin Patch\n*** End Patch",
    "lines before a file": "*** Begin Patch\n+x\n*** End Patch",
    "no name": "*** Begin Patch\n*** Delete File: \n*** End Patch",
    "content for a deleted file": "*** Begin Patch\n*** Delete File: a\n+x\n*** End Patch",
    "shell instead": "*** Begin Patch\n*** Add File: a\nrm -rf ~\n*** End Patch",
}


def test_a_patch_names_every_file() -> None:
    found = [(change.kind, change.path, change.to, change.added) for change in changes(PATCH)]
    assert found == [("add", "a.txt", "", "one\ntwo"), ("delete", "old/b.txt", "", ""), ("update", "c.py", "d.py", "new")]


@pytest.mark.parametrize("text", BAD_PATCHES.values(), ids=BAD_PATCHES.keys())
def test_half_a_patch_is_none(text: str) -> None:
    with pytest.raises(IntentError):
        changes(text)


TABLE = {"bash": tools.SHELL, "write": tools.WRITE, "edit": tools.EDIT, "read": tools.READ, "patch": tools.PATCH, "editor": tools.EDITOR, "rm": tools.DELETE}
CALLS = {
    "shell": ("Bash", {"command": "ls"}, [("shell_command", None, "ls")]),
    "shell elsewhere": ("bash", {"command": "ls", "workdir": "sub"}, [("shell_command", None, "ls")]),
    "a list of words": ("bash", {"command": ["rm", "-rf", "a b"]}, [("shell_command", None, "rm -rf 'a b'")]),
    "write": ("write", {"file_path": "a", "content": "x"}, [("file_write", "a", "x")]),
    "edits": ("edit", {"path": "a", "edits": [{"new_string": "x"}, {"new_string": "y"}]}, [("file_edit", "a", "x\ny")]),
    "files": ("edit", {"files": ["a", "b"]}, [("file_edit", "a", ""), ("file_edit", "b", "")]),
    "read": ("read", {"absolute_path": "/a"}, [("file_read", "/a", None)]),
    "search": ("read", {"pattern": "x"}, [("file_read", "/w", None)]),
    "search by name": ("read", {"pattern": "x", "path": "src", "glob": ".env*"}, [("file_read", "src/.env*", None)]),
    "delete": ("rm", {"path": "a"}, [("file_delete", "a", None)]),
    "patch": (
        "patch", {"input": PATCH},
        [("file_write", "a.txt", "one\ntwo"), ("file_delete", "old/b.txt", None), ("file_edit", "c.py", "new"), ("file_move", "c.py", None)],
    ),
    "editor view": ("editor", {"command": "view", "path": "a"}, [("file_read", "a", None)]),
    "editor replace": ("editor", {"command": "str_replace", "path": "a", "new_str": "x"}, [("file_edit", "a", "x")]),
    "books": ("TodoWrite", {"todos": []}, []),
    "other": ("mcp__x__y", {"b": 1, "a": 2}, [("tool_call", "mcp__x__y", '{"a": 2, "b": 1}')]),
}
MISSING = {
    "no command": ("bash", {}),
    "command of another type": ("bash", {"command": 7}),
    "list with a number": ("bash", {"command": ["ls", 7]}),
    "no path": ("write", {"content": "x"}),
    "unknown editor command": ("editor", {"command": "explode", "path": "a"}),
    "nothing to read": ("read", {}),
    "a path that is none": ("read", {"paths": [7]}),
}


@pytest.mark.parametrize(("name", "given_input", "expected"), CALLS.values(), ids=CALLS.keys())
def test_tool_calls_become_intents(name: str, given_input: dict[str, object], expected: list[tuple[object, ...]]) -> None:
    lines = tools.lines_for(TABLE, name, given_input, "/w")
    assert [(line["type"], line.get("target"), line.get("content")) for line in lines] == expected


@pytest.mark.parametrize(("name", "given_input"), MISSING.values(), ids=MISSING.keys())
def test_a_call_that_lacks_something_is_refused(name: str, given_input: dict[str, object]) -> None:
    with pytest.raises(IntentError):
        tools.lines_for(TABLE, name, given_input, "/w")


def refused(why: str) -> Answer:
    return Answer(stderr=why, status=2)


def test_the_watchdog_hands_the_answer_through() -> None:
    said = Answer("out\n", "err é", 2)
    assert in_time(lambda: said, refused, Deadline(20)) == said


def test_the_watchdog_speaks_for_a_process_that_is_late() -> None:
    began = time.monotonic()
    said = in_time(lambda: time.sleep(60) or Answer(), refused, Deadline(0.3))  # type: ignore[func-returns-value]  # it never returns
    assert said == refused("no verdict in time")
    assert time.monotonic() - began < 20


ENDS = {"killed": lambda: os.kill(os.getpid(), signal.SIGKILL), "gone": lambda: os._exit(0), "failed": lambda: os._exit(1), "raised": lambda: 1 / 0}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_the_watchdog_speaks_for_a_process_that_died(end: object) -> None:
    assert in_time(lambda: end() or Answer(), refused, Deadline(20)).status == 2  # type: ignore[operator]  # each of them ends the process


def test_input_that_does_not_end_is_not_waited_for() -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, b"{")
        assert read_all(reader, Deadline(0.2)) is None
    finally:
        os.close(reader)
        os.close(writer)


def test_a_block_is_never_silent(capfd: pytest.CaptureFixture[str]) -> None:
    assert emit(Answer(status=2)) == 2
    assert capfd.readouterr().err.strip()


def test_the_command_line() -> None:
    options = options_from(["--agent", "codex", "--exec=/x", "--shell-held", "--timeout", "30", "pre"])
    assert (options.agent, options.exec_path, options.shell_held, options.timeout, options.moment) == ("codex", "/x", True, 30.0, Moment.BEFORE)
    for words in ("pre", "--agent x", "--agent x pre post", "--agent", "--agent x --timeout nan pre", "--agent x -z pre"):
        with pytest.raises(UsageError):
            options_from(words.split())


PATHS, SESSIONS = st.sampled_from(["/opt/x/instinct-exec", "/with space/e"]), st.sampled_from(["", "s-1", "it's", "a -c b"])


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), PATHS, SESSIONS)
def test_a_rewritten_call_gives_its_text_back(command: str, path: str, session: str) -> None:
    assert original(rewritten(command, path, session), path) == command
    assert unquote(quote_always(command)) == command


def test_other_text_is_no_rewritten_call() -> None:
    for text in ("ls", "/x -c ls; rm", "/x -c 'a' b", "/x --session s", "/y -c 'ls'", "/x --session 'a b -c 'ls'"):
        assert original(text, "/x") == text
