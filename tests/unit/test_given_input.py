"""What a door says of fd 0 (`Intent.stdin`): a program that comes from there is judged, what is only read from there is not."""

from __future__ import annotations

import pytest
from scripted import World, intent

PROGRAM_READERS = [
    "bash", "sh", "env bash", "exec bash", "timeout 9 sh", "bash -s -- a", "bash -c bash", "bash -c 'exec sh'", "nice -n 5 bash", "python3", "python3 -",
    "node", "perl", "ruby", "php", "lua", "julia", "pwsh", "psql", "psql -U dev shop", "mysql shop", "sqlite3 app.db", "redis-cli", "mongosh",
    "docker exec -i web sh", "echo ready && bash", "if true; then bash; fi",
]  # fmt: skip
OTHERS = [
    "cat", "ls", "grep x", "sort | uniq -c", "wc -l", "jq .", "python3 -c 'print(1)'", "node -p 1", "bash -c 'echo hi'", "bash x.sh", "psql -c 'select 1'",
    "git status", "make test", "tee build/log", "npm test", "sqlite3 app.db .tables", "python3 main.py", "head -n 3", "xargs echo", "python3 -m pytest -q",
]  # fmt: skip


@pytest.mark.parametrize("text", PROGRAM_READERS)
def test_a_program_from_a_pipe_is_code_that_nobody_has_read(text):
    assert World({"x.sh": "echo hi\n"}).pipeline.judge(intent(text).replace(stdin="pipe")).verdict.decision.word == "ask"


@pytest.mark.parametrize("text", OTHERS)
def test_what_reads_no_program_is_not_disturbed(text):
    asked = intent(text).replace(stdin="pipe")
    assert World({"x.sh": "echo hi\n", "main.py": "print(1)\n"}).pipeline.judge(asked).verdict.decision.word == "allow"


@pytest.mark.parametrize("text", ["bash", "sh -s", "env bash", "bash -c bash"])
@pytest.mark.parametrize(("script", "wanted"), [("echo hi\n", "allow"), ("rm -rf .git\n", "deny"), ("cd build && rm -rf x\n", "allow")])
def test_a_file_on_fd_0_is_followed(text, script, wanted):
    world = World({"/srv/work/app/given.sh": script})
    assert world.pipeline.judge(intent(text).replace(stdin="/srv/work/app/given.sh")).verdict.decision.word == wanted


@pytest.mark.parametrize("text", ["bash <<'E'\necho hi\nE", "echo 'echo hi' | bash", "bash < x.sh", "bash </dev/null"])
def test_what_the_text_itself_puts_there_counts(text):
    assert World({"x.sh": "echo hi\n"}).pipeline.judge(intent(text).replace(stdin="pipe")).verdict.decision.word == "allow"


def test_nothing_said_is_a_dialogue():
    assert World().judge("bash").verdict.decision.word == "allow"
