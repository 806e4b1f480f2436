"""Every call that a real agent made of its shell, made again with ours: it runs as it did, its trackers are kept, harm in it is refused."""

from __future__ import annotations

import json
import time
from pathlib import Path

import hook_clients
import pytest
from shell_harness import Shell, needs_jail

from instinct_shell.frontends.instinct_exec import quote
from instinct_shell.frontends.rewriting import quote_always

pytestmark = pytest.mark.jail
CASES = Path(__file__).resolve().parent.parent / "cases" / "client-shell-calls.jsonl"
RECORDED = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
# Shortened recordings ("[...]") cannot be run; hook and server commands of the recording's own harness neither.
WHOLE = [row for row in RECORDED if "[...]" not in row["argv"][-1] and "/opt/instinct/hook.py" not in row["argv"][-1] and "/opt/other" not in row["argv"][-1]]
SIGNALS = ("sleep 2", "sleep 3")
AGENT_VALUES = {"CLAUDE_CODE_SESSION_ID": "c-1", "CODEX_THREAD_ID": "x-1", "OPENCODE_PID": "77", "QWEN_CODE_SESSION_ID": "q-1"}
AGENT_NAMES = ("CLAUDE", "CODEX", "GEMINI", "COPILOT", "OPENCODE", "QWEN")
KEYS = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_MESSAGING_SOCKET")


@pytest.fixture
def shell(tmp_path: Path, workspace: Path) -> Shell:
    found = Shell(tmp_path, workspace)
    needs_jail(found)
    return found


def environment(row: dict[str, object]) -> dict[str, str]:
    """The recorded variables that identify an agent, with values, and its keys."""
    names = [str(name) for name in row["env_names"]]  # type: ignore[union-attr]  # a list of names
    return {name: AGENT_VALUES.get(name, "x") for name in names if name.startswith(AGENT_NAMES) or name in KEYS}


def here(text: str, shell: Shell, tracker: str) -> str:
    return (
        text.replace("/home/dev", str(shell.home)).replace("/srv/work/app", str(shell.workspace)).replace("/opt/instinct/bin/bash", shell.path)
        .replace("/tmp/claude-", f"/tmp/claude-{tracker}")
    )  # fmt: skip


@pytest.mark.parametrize("row", WHOLE, ids=lambda row: row["client"].split(" ")[0])
def test_recorded_calls_run(row: dict[str, object], shell: Shell, tmp_path: Path) -> None:
    argv = [str(word) for word in row["argv"]]  # type: ignore[union-attr]  # a list of strings
    if any(word in argv[-1] for word in SIGNALS):
        pytest.skip("waits for a signal that this test does not send")
    text = here(argv[-1], shell, "0")
    bgpids = None
    if "_bgpids_file=" in text:
        bgpids = Path(text.partition("_bgpids_file=")[2].partition("\n")[0])
        bgpids.parent.mkdir(exist_ok=True)
    (shell.home / ".codex" / "shell_snapshots").mkdir(parents=True)
    for path in ("00000000-0000-4000-8000-000000000000.tmp-1795984874482705435",):
        (shell.home / ".codex" / "shell_snapshots" / path).write_text("true\n", encoding="ascii")
    options = argv[1:-1] if argv[0] != "PREFIX" and not argv[0].endswith("instinct-exec") else ["-c"]
    try:
        done = shell.run(*options, text, **environment(row))
        inner = text.rpartition("eval ")[2].partition(" < /dev/null")[0]
        assert done.stderr == b"" or done.returncode
        if "exit 3" in inner:
            assert done.returncode == 3
        elif "cat sig.txt" not in text:
            assert done.returncode == 0, done.stderr
        for key in KEYS:
            assert key.encode() not in done.stdout
        if "echo hi" in text:
            assert done.stdout.startswith(b"hi\n")
        if bgpids is not None:
            assert bgpids.exists()
    finally:
        if bgpids is not None:
            bgpids.unlink(missing_ok=True)
            bgpids.parent.rmdir()
        for left in Path("/tmp").glob("claude-0????-cwd"):
            left.unlink()


def claude(inner: str, tracker: Path, home: Path) -> str:
    snapshot = home / ".claude" / "shell-snapshots" / "snapshot-bash-1700000000000-abcdef.sh"
    snapshot.parent.mkdir(parents=True, exist_ok=True)
    snapshot.write_text("shopt -s expand_aliases\n", encoding="ascii")
    before = f"source {snapshot} 2>/dev/null || true && \\builtin shopt -u extglob 2>/dev/null || true && "
    return f"{before}eval {quote_always(inner)} < /dev/null && pwd -P >| {tracker}"


@pytest.fixture
def tracker() -> Path:
    place = Path(f"/tmp/claude-{time.monotonic_ns() & 0xFFFFFFF:08x}-cwd")
    assert not place.exists()
    return place


TRACKED = {
    "cd": ("mkdir -p sub && cd sub", "", "{workspace}/sub"),
    "a reader": ("ls >/dev/null; cat README.md >/dev/null", "", "{workspace}"),
    "failure leaves no trace": ("exit 3", "", ""),
    "denied": ("rm -rf ~", "", ""),
    "private tmp": ("ls", "staging", "{workspace}"),
    "private tmp, failure": ("false", "staging", ""),
}


@pytest.mark.parametrize(("inner", "profile", "expected"), TRACKED.values(), ids=TRACKED.keys())
def test_the_folder_is_remembered(inner: str, profile: str, expected: str, shell: Shell, tracker: Path) -> None:
    extra = {"INSTINCT_PROFILE": profile} if profile else {}
    try:
        done = shell.run("-c", claude(inner, tracker, shell.home), CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s", **extra)
        said = tracker.read_text(encoding="ascii").strip() if tracker.exists() else ""
    finally:
        tracker.unlink(missing_ok=True)
    assert said == expected.replace("{workspace}", str(shell.workspace)), done.stderr


def test_a_tracker_that_leads_elsewhere_is_not_followed(shell: Shell, tracker: Path) -> None:
    victim = shell.home / "victim"
    victim.write_text("mine", encoding="ascii")
    tracker.symlink_to(victim)
    try:
        shell.run("-c", claude("ls", tracker, shell.home), INSTINCT_PROFILE="staging")
        assert victim.read_text(encoding="ascii") == "mine"
    finally:
        tracker.unlink()


def test_the_inner_command_is_judged_and_the_agent_recorded(shell: Shell, tracker: Path) -> None:
    try:
        done = shell.run("-c", claude("git push --force origin main", tracker, shell.home), CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s-9")
    finally:
        tracker.unlink(missing_ok=True)
    assert done.returncode == 126
    assert done.stdout == b""
    assert b"instead: " in done.stderr
    record = shell.records()[-1]
    assert record["intent"]["content"] == "git push --force origin main"  # type: ignore[index]  # an encoded intent
    assert (record["agent"], record["session"], record["door"]) == ("claude", "s-9", "shell")


def test_hook_and_shell_judge_one_intent(shell: Shell, tracker: Path) -> None:
    """The same text, folder and profile: one approval serves both."""
    command = "git branch -D feature"
    call = json.dumps(hook_clients.inputs("claude", command, str(shell.workspace))).encode()
    shell.run("--agent", "claude", "--shell-held", "pre", given=call, shell=str(shell.data / "bin" / "instinct-hook"))
    shell.run("-c", claude(command, tracker, shell.home), CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s-1")
    hook, run = [record for record in shell.records() if record["kind"] == "judged"][-2:]
    assert (hook["door"], run["door"]) == ("hook", "shell")
    assert (hook["session"], hook["agent"]) == (run["session"], run["agent"])
    assert hook["intent_digest"] == run["intent_digest"]


def test_keys_stay_outside_and_the_shell_inside_is_the_real_one(shell: Shell) -> None:
    keys = dict.fromkeys(KEYS, "secret")
    path = f"{shell.data}/shell:{shell.env['PATH']}"
    done = shell.run("-c", "env; bash -c 'echo inner:$0'; command -v bash", SHELL=shell.path, PATH=path, **keys)
    assert b"secret" not in done.stdout
    assert b"inner:bash\n" in done.stdout
    assert b"/data/shell" not in done.stdout
    assert b"SHELL=/bin/bash" in done.stdout


def test_called_again_from_inside_it_is_the_pinned_shell(shell: Shell) -> None:
    done = shell.run("-c", f"{quote(shell.path)} -c 'echo $((6*7)); exit 9'")
    assert (done.stdout, done.returncode) == (b"42\n", 9)
    kinds = [record["kind"] for record in shell.records()]
    assert kinds.count("judged") == 2  # the probe of this test's fixture and this call; nothing more inside


def test_no_variable_says_that_we_are_inside(shell: Shell) -> None:
    for name in ("INSTINCT_INSIDE", "INSTINCT_JAIL", "INSTINCT_SESSION", "container"):
        assert shell.run("-c", "rm -rf ~", **{name: "1"}).returncode == 126


def test_our_own_hook_is_started_not_jailed(shell: Shell) -> None:
    hook = shell.data / "bin" / "instinct-hook"
    call = hook_clients.inputs("gemini", "rm -rf ~", str(shell.workspace))
    done = shell.run("-c", f"{hook} --agent gemini pre", given=json.dumps(call).encode())
    assert done.returncode == 2
    assert b"deletes the home directory" in done.stderr
    for other in (f"{hook} --agent gemini pre; rm -rf ~", f"{hook} $(rm -rf ~)", f"{hook} --agent gemini pre\nrm -rf ~"):
        assert b"destructive-operation" in shell.run("-c", other).stderr


@pytest.mark.parametrize("supervised", [False, True], ids=["", "execs judged"])
def test_a_snapshot_is_written_and_nothing_else(shell: Shell, supervised: bool) -> None:
    if supervised:
        (shell.workspace / ".instinct.toml").write_text("[jail]\nsupervise_execs = true\n", encoding="ascii")
    snapshots = shell.home / ".claude" / "shell-snapshots"
    snapshots.mkdir(parents=True)
    file = snapshots / "snapshot-bash-1700000000000-abcdef.sh"
    text = (
        f'SNAPSHOT_FILE={file}\n      # First, create/clear the snapshot file\n      echo "# Snapshot file" >| "$SNAPSHOT_FILE"\n'
        "      for X in a b; do python3 -c 'import os; open(os.environ[\"APP_EVIL\"], \"a\").write(\"evil\")' 2>/dev/null; done\n"
        '      if [ ! -f "$SNAPSHOT_FILE" ]; then\n        exit 1\n      fi\n    '
    )
    for victim in (snapshots / "other", shell.workspace / "README.md"):
        file.unlink(missing_ok=True)
        done = shell.run("-c", "-l", text, CLAUDECODE="1", APP_EVIL=str(victim))
        assert done.returncode == 0, done.stderr
    assert file.read_text(encoding="ascii") == "# Snapshot file\n"
    assert not (snapshots / "other").exists()
    assert "evil" not in (shell.workspace / "README.md").read_text(encoding="ascii")


def test_start_up_probes_work_from_the_home_directory(shell: Shell) -> None:
    row = next(row for row in RECORDED if "__copilot_login_env" in row["argv"][-1])
    done = shell.run(*row["argv"][1:], cwd=shell.home)
    assert done.returncode == 0, done.stderr
    assert b"HOME=" in done.stdout
