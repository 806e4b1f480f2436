"""Bad input and broken surroundings: a named refusal, bounded in time and memory, nothing run, no traceback, nothing left behind."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import time

import pytest

from instinct_shell.frontends.failure import guarded

BAD_TEXT = {
    "an open quote": ("echo 'a", "unexpected EOF"),
    "an open substitution": ("echo $(", ""),
    "a stray parenthesis": ("echo a)", "syntax error"),
    "a broken if": ("if true; then", "syntax error"),
    "100 KB of text": ("echo " + "a" * 100_000, "64 KB"),
    "300 nested substitutions": ("echo " + "$(" * 300 + "true" + ")" * 300, "nest"),
    "2,001 words": ("echo " + "a " * 2_001, "2,000 words"),
    "the hang of bashlex": ("echo a'${x'", ""),
}
HARMLESS_WHEN_READ = {"the hang of bashlex"}


@pytest.mark.parametrize(
    ("text", "names"), [pytest.param(*row, id=name) for name, row in BAD_TEXT.items() if name not in HARMLESS_WHEN_READ]
)
def test_unreadable_text_is_a_named_refusal(programs, text: str, names: str) -> None:
    (programs.workspace / "in.sh").write_text(text, encoding="utf-8")
    run = programs.instinct("check", "in.sh")
    said = (run.stdout + run.stderr).decode()
    assert run.returncode == 126, said
    assert names in said
    assert "Traceback" not in said


def test_a_text_that_hangs_a_parser_is_answered(programs) -> None:
    """bash accepts `echo a'${x'`: it is a literal. bashlex never returns from it."""
    start = time.monotonic()
    run = programs.instinct("check", "-c", "echo a'${x'")
    assert run.returncode in {0, 126}
    assert time.monotonic() - start < 5


def test_a_nul_byte_is_refused(programs) -> None:
    (programs.workspace / "in.sh").write_bytes(b"echo a\0b\n")
    run = programs.instinct("check", "in.sh")
    assert run.returncode == 126
    assert b"NUL" in run.stdout + run.stderr


def test_text_that_is_not_utf_8_is_refused(programs) -> None:
    argv = [os.fsencode(word) for word in programs.argv("instinct-exec", "--")] + [b"echo caf\xe9 > out"]
    run = subprocess.run(argv, cwd=programs.workspace, env=programs.env, capture_output=True, check=False)
    assert run.returncode == 126
    assert b"not UTF-8" in run.stderr
    assert run.stderr.isascii()
    assert not (programs.workspace / "out").exists()


def test_data_may_be_any_bytes(programs, jail_works) -> None:
    assert programs.sh("cat", stdin=b"caf\xe9\0\xff").stdout == b"caf\xe9\0\xff"


def test_memory_stays_bounded(programs) -> None:
    """300 nested substitutions and 64 KB of brackets, under an address space limit far below what runaway parsing takes."""
    for text in ("echo " + "$(" * 300 + ")" * 300, "echo " + "{a,b}" * 12_000, "echo " + "[" * 60_000):
        (programs.workspace / "in.sh").write_text(text, encoding="utf-8")
        run = subprocess.run(
            programs.argv("instinct", "check", "in.sh"),
            cwd=programs.workspace,
            env=programs.env,
            capture_output=True,
            check=False,
            timeout=30,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20)),
        )
        assert run.returncode in {0, 3, 126}, run.stderr
        assert b"Traceback" not in run.stderr


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        "{}",
        '{"id": 1}',
        '{"id": 1, "type": "no_such"}',
        '{"id": 1, "type": "shell_command"}',
        '{"id": 1, "type": "shell_command", "content": 7}',
        '{"id": 1, "type": "shell_command", "content": "x", "cwd": "relative"}',
        '{"id": 1, "type": "shell_command", "content": "a\\u0000b"}',
        '{"id": 1, "type": "shell_command", "content": "x", "env": []}',
        '{"id": 1, "type": "shell_command", "content": "x", "env": {"A": 1}}',
        '{"id": 1, "type": "file_write"}',
        "[" * 20_000,
    ],
)
def test_a_bad_line_gets_an_error_and_the_batch_goes_on(programs, line: str) -> None:
    good = json.dumps({"id": "good", "type": "shell_command", "content": "ls"})
    run = programs.instinct("check", "--batch", stdin=f"{line}\n\n{good}\n".encode())
    answers = [json.loads(answer) for answer in run.stdout.splitlines()]
    assert run.returncode == 0, run.stderr
    assert answers[0]["error"]
    assert "decision" not in answers[0]
    assert (answers[1]["id"], answers[1]["decision"]) == ("good", "allow")
    assert len(answers) == 2


# ---------------------------------------------------------------- broken surroundings


def refused(run: subprocess.CompletedProcess[bytes], *names: str) -> None:
    """Nothing ran, exit status 125, one message with a way to mend it."""
    said = run.stderr.decode()
    assert run.returncode == 125, said
    assert said.startswith("instinct: ")
    assert "\n  mend: " in said
    assert len(said.splitlines()) <= 2
    assert "Traceback" not in said
    for name in names:
        assert name in said


def test_an_unknown_profile(programs) -> None:
    refused(programs.exec("--profile", "prdo", "--", "touch ran"), "`prdo`", "prod")
    assert not (programs.workspace / "ran").exists()


def test_an_unknown_key_in_the_project_file(programs) -> None:
    (programs.workspace / ".instinct.toml").write_text("[paths]\nwritabel = []\n", encoding="utf-8")
    refused(programs.sh("touch ran"), "paths.writabel", "writable")
    assert not (programs.workspace / "ran").exists()


def test_a_project_file_that_loosens(programs) -> None:
    (programs.workspace / ".instinct.toml").write_text('[effects]\n"git.force_push" = "allow"\n', encoding="utf-8")
    refused(programs.sh("touch ran"), "git.force_push")


def test_a_project_file_that_is_no_toml(programs) -> None:
    (programs.workspace / ".instinct.toml").write_text("[paths\n", encoding="utf-8")
    refused(programs.sh("touch ran"), "TOML")


def test_a_read_only_state_directory(programs) -> None:
    if os.getuid() == 0:
        pytest.skip("root writes everywhere; the case of an ordinary user")
    programs.state.parent.chmod(0o500)
    refused(programs.sh("touch ran"), str(programs.state.parent))


def test_a_state_directory_that_is_a_file(programs) -> None:
    programs.state.write_text("", encoding="utf-8")
    refused(programs.sh("touch ran"), str(programs.state))
    assert not (programs.workspace / "ran").exists()


def test_a_state_directory_that_others_can_write(programs) -> None:
    programs.state.mkdir()
    programs.state.chmod(0o777)
    refused(programs.sh("touch ran"), "written by others")


def test_a_full_disk(programs) -> None:
    """No record can be written, so nothing runs. A file size limit of nothing stands in for the disk."""
    run = subprocess.run(
        programs.argv("instinct-exec", "--", "touch ran"),
        cwd=programs.workspace,
        env=programs.env,
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )
    refused(run)
    assert not (programs.workspace / "ran").exists()


def test_a_corrupt_audit_trail(programs, jail_works) -> None:
    assert programs.sh("true").returncode == 0
    (segment,) = (programs.state / "audit").glob("*.jsonl")
    data = segment.read_bytes()
    segment.write_bytes(data[:-40] + b"x" * 39 + b"\n")
    refused(programs.sh("touch ran"), "audit")
    assert not (programs.workspace / "ran").exists()


def test_a_torn_audit_tail_is_recovered(programs, jail_works) -> None:
    assert programs.sh("true").returncode == 0
    (segment,) = (programs.state / "audit").glob("*.jsonl")
    with segment.open("ab") as stream:
        stream.write(b'{"torn": ')
    assert programs.sh("true").returncode == 0
    assert programs.instinct("audit", "verify").returncode == 0


def test_a_corrupt_ledger(programs) -> None:
    assert programs.instinct("budget", "reserve", "0.20").returncode == 0
    for path in programs.state.glob("*ledger*"):
        path.write_bytes(b"this is no database, " * 400)
    call = json.dumps({"id": 1, "type": "api_call", "target": "llm", "metadata": {"estimatedCost": 0.1}})
    run = programs.instinct("check", "--batch", stdin=call.encode())
    answer = json.loads(run.stdout)
    assert "decision" not in answer or answer["decision"] == "deny"
    assert "Traceback" not in run.stderr.decode()


def test_a_folder_that_is_gone(programs) -> None:
    gone = programs.workspace / "gone"
    gone.mkdir()
    run = subprocess.run(
        ["sh", "-c", f"rmdir ../gone; exec '{programs.argv('instinct-exec')[0]}' -- true"],
        cwd=gone,
        env=programs.env,
        capture_output=True,
        check=False,
    )
    refused(subprocess.CompletedProcess(run.args, run.returncode, run.stdout, run.stderr[run.stderr.find(b"instinct:") :]), "directory")


def test_the_machine_as_a_workspace(programs) -> None:
    refused(programs.exec("--workspace", "/", "--", "true"), "`/`", "--workspace DIR")
    refused(programs.exec("--workspace", str(programs.home), "--", "true"), "home directory")


def test_a_checkout_that_is_not_set_up(programs, tmp_path) -> None:
    shutil.copytree(os.path.dirname(programs.argv("x")[0]), tmp_path / "checkout/bin")
    run = subprocess.run([str(tmp_path / "checkout/bin/instinct-exec"), "--", "true"], capture_output=True, text=True, check=False)
    assert run.returncode == 125
    assert "bin/setup" in run.stderr


def test_nothing_of_the_callers_python_reaches_us(programs, tmp_path) -> None:
    evil = tmp_path / "evil"
    evil.mkdir()
    for name in ("os.py", "sitecustomize.py", "instinct_shell.py", "json.py", "usercustomize.py"):
        (evil / name).write_text("raise SystemExit(99)\n", encoding="utf-8")
    env = {"PYTHONPATH": str(evil), "PYTHONSTARTUP": str(evil / "os.py"), "PYTHONHOME": str(evil), "PYTHONUSERBASE": str(evil)}
    run = programs.instinct("check", "-c", "python3 -V", env=env)
    assert run.stdout.startswith(b"ask [env-hijack]"), "a home for Python where any command writes is worth a question"
    assert programs.instinct("check", "-c", "ls", env=env).stdout == b"allow\n", "to what starts no interpreter it is nothing"
    assert run.returncode == 3
    assert programs.instinct("check", "-c", "ls", env={name: value for name, value in env.items() if name != "PYTHONHOME"}).returncode == 0


def test_a_fault_of_ours_is_a_refusal_with_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> int:
        raise ZeroDivisionError("secret text")

    assert guarded(broken) == 125
    said = capsys.readouterr().err
    assert "internal fault (ZeroDivisionError)" in said
    assert "secret text" not in said
    assert "Traceback" not in said
    report = said.split("this file: ")[1].strip()
    with open(report, encoding="utf-8") as file:
        text = file.read()
    assert "in broken" in text
    assert "secret text" not in text


@pytest.mark.parametrize("program", ["instinct", "instinct-exec"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_folder_as_a_standard_descriptor_is_a_named_refusal(programs, program: str, number: int) -> None:
    """No interpreter starts with one; our own words, and our own status, not the interpreter's."""
    words = programs.argv(program, *(("--", "touch ran") if program == "instinct-exec" else ("check", "-c", "true")))
    folder = os.open("/usr", os.O_RDONLY | os.O_DIRECTORY)
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, ("stdin", "stdout", "stderr")[number]: folder}
    run = subprocess.run(words, cwd=programs.workspace, env=programs.env, check=False, **streams)
    os.close(folder)
    assert run.returncode == 125
    if number != 2:
        assert b"is a folder" in run.stderr
        assert b"Fatal" not in run.stderr
    assert not (programs.workspace / "ran").exists()
