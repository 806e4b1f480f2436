"""Agents' wrappers: the inner command is found exactly, and nothing that differs by a byte is taken for a wrapper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from instinct_shell.execution.agents import identify
from instinct_shell.frontends.rewriting import quote_always
from instinct_shell.frontends.shell_args import read_call
from instinct_shell.frontends.shell_templates import Probe, Wrapped, probe, unwrap

CASES = Path(__file__).resolve().parents[3] / "cases" / "client-shell-calls.jsonl"
RECORDED = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
HOME = "/home/dev"
SHELL = "/opt/instinct/bin/bash"
SNAPSHOT = f"{HOME}/.claude/shell-snapshots/snapshot-bash-1700000000000-abcdef.sh"
CODEX_BEFORE = f"""\
__CODEX_SNAPSHOT_OVERRIDE_SET_0="${{CODEX_THREAD_ID+x}}"
__CODEX_SNAPSHOT_OVERRIDE_0="${{CODEX_THREAD_ID-}}"

if . '{HOME}/.codex/shell_snapshots/0000.sh' >/dev/null 2>&1; then :; fi

if [ -n "${{__CODEX_SNAPSHOT_OVERRIDE_SET_0}}" ]; then export CODEX_THREAD_ID="${{__CODEX_SNAPSHOT_OVERRIDE_0}}"; else unset CODEX_THREAD_ID; fi
builtin unset __CODEX_SNAPSHOT_OVERRIDE_SET_0 2>/dev/null || command unset __CODEX_SNAPSHOT_OVERRIDE_SET_0
if [ -n "${{PATH:-}}" ]; then export PATH='/opt/other':"$PATH"; else export PATH='/opt/other'; fi

"""
WRAPPERS = {
    "claude": lambda inner: (
        f"source {SNAPSHOT} 2>/dev/null || true && \\builtin shopt -u extglob 2>/dev/null || true && "
        "{ \\builtin unalias -- 'which'; \\builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && "
        f"eval {quote_always(inner)} < /dev/null && pwd -P >| /tmp/claude-6d03-cwd"
    ),
    "gemini": lambda inner: (
        "shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=/tmp/gemini-shell-ja3HSy/bgpids.tmp\n(\n  trap 'jobs -p > "
        f"\"$_bgpids_file\"' EXIT\n{inner}\n)\n__code=$?\nexit $__code"
    ),
    "codex": lambda inner: f"{CODEX_BEFORE}exec '/opt/instinct/bin/bash' -c {quote_always(inner)}",
}


def kind_of(row: dict[str, object]) -> str:
    """What the recorded call is, told by other means than the templates."""
    argv = [str(word) for word in row["argv"]]  # type: ignore[union-attr]  # a list of strings
    text = argv[-1]
    if "[...]" in text:
        return "probe" if "-l" in argv or "-lc" in argv else "shortened"
    if "__copilot_login_env_snapshot" in text or text.startswith('set -e; . "'):
        return "probe"
    return "wrapped" if "pwd -P >| /tmp/claude" in text or "_bgpids_file" in text else "plain"


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row['client'].split(' ')[0]}-{kind_of(row)}")
def test_every_recorded_call(row: dict[str, object]) -> None:
    argv = [str(word) for word in row["argv"]]  # type: ignore[union-attr]  # a list of strings
    call = read_call(argv[0], argv[1:])
    text = call.text if call.mode == "text" else call.script  # the prefix form hands over one word
    agent, session = identify(dict.fromkeys(row["env_names"], "id"))  # type: ignore[call-overload]  # a list of names
    found = unwrap(text, HOME, SHELL), probe(call, agent, session, HOME)
    kind = kind_of(row)
    assert (found[0] is not None, found[1] is not None) == (kind == "wrapped", kind == "probe")
    if found[0] is not None:
        marked = text.rpartition("eval ")[2] if found[0].agent == "claude" else text
        assert found[0].inner.split("'")[0] in marked


def test_agents_are_known_by_their_variables() -> None:
    clients = {"claude-code": "claude", "codex": "codex", "gemini-cli": "gemini", "copilot": "copilot", "opencode": "opencode", "qwen-code": "qwen"}
    for row in RECORDED:
        names = set(row["env_names"])
        if not names & {"CLAUDE_PROJECT_DIR"} and len(names) > 12:
            agent, _ = identify(dict.fromkeys(names, "7"))
            assert agent in {clients[row["client"].split(" ")[0]], ""}
    assert identify({"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}) == ("claude", "s")
    assert identify({"OPENCODE": "1", "OPENCODE_PID": "77"}) == ("opencode", "opencode-77")
    assert identify({}) == ("", "")


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=60))
@settings(max_examples=200)
@pytest.mark.parametrize("agent", WRAPPERS)
def test_the_inner_command_comes_back_exactly(agent: str, inner: str) -> None:
    found = unwrap(WRAPPERS[agent](inner), HOME, SHELL)
    assert found is not None
    assert (found.agent, found.inner) == (agent, inner)


@pytest.mark.parametrize("agent", WRAPPERS)
@pytest.mark.parametrize("extra", ["; rm -rf ~", " && rm -rf ~", "\nrm -rf ~", " rm", "'"])
def test_text_after_or_before_a_wrapper_is_no_wrapper(agent: str, extra: str) -> None:
    text = WRAPPERS[agent]("ls")
    for other in (text + extra, extra + text, extra.strip("; &\n") + "; " + text):
        found = unwrap(other, HOME, SHELL)
        assert found is None or "rm" in found.inner or found.inner != "ls"


@given(st.data())
@settings(max_examples=400)
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_wrapper_with_another_command_slipped_in_is_judged_whole(agent: str, data: st.DataObject) -> None:
    text = WRAPPERS[agent]("ls -la")
    place = data.draw(st.integers(0, len(text)))
    slipped = data.draw(st.sampled_from(["rm x;", ";rm x;", "\nrm x\n", "$(rm x)", "`rm x`", " && rm x && ", "|rm x|"]))
    found = unwrap(text[:place] + slipped + text[place:], HOME, SHELL)
    assert found is None or "rm x" in found.inner.replace("\\", "")


OTHER_PLACES = {
    "another home": WRAPPERS["claude"]("ls").replace(HOME, "/home/evil"),
    "out of the snapshots": WRAPPERS["claude"]("ls").replace("/.claude/", "/.claude/../../evil/.claude/"),
    "tracker elsewhere": WRAPPERS["claude"]("ls").replace("/tmp/claude-6d03-cwd", f"{HOME}/.bashrc"),
    "tracker with steps": WRAPPERS["gemini"]("ls").replace("gemini-shell-ja3HSy", "gemini-shell-../../e"),
    "another alias name": WRAPPERS["claude"]("ls").replace("unset -f -- 'which'", "unset -f -- 'cd'"),
    "exec of another shell": WRAPPERS["codex"]("ls").replace(SHELL, "/srv/work/app/bash"),
    "exec of another program": WRAPPERS["codex"]("ls").replace("/opt/instinct/bin/bash", "/opt/instinct/bin/rm"),
}


@pytest.mark.parametrize("text", OTHER_PLACES.values(), ids=OTHER_PLACES.keys())
def test_look_alikes_are_judged_whole(text: str) -> None:
    assert unwrap(text, HOME, SHELL) is None


def test_a_probe_is_no_model_command() -> None:
    call = read_call("bash", ["-c", "-l", next(row["argv"][-1] for row in RECORDED if row["argv"][-1].startswith("SNAPSHOT_FILE="))])
    assert probe(call, "claude", "", HOME) == Probe("claude", SNAPSHOT)
    assert probe(call, "claude", "session", HOME) is None, "once a session has begun, it comes from the model"
    assert probe(call, "", "", HOME) is None
    assert probe(call.replace(login=False), "claude", "", HOME) is None
    assert probe(call, "claude", "", "/home/other") is None


def test_wrapped_is_a_value() -> None:
    assert Wrapped("claude", "ls") == Wrapped("claude", "ls", "")
