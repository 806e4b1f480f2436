"""A network allow-list through the whole of us: judged, run, told on stderr, recorded; cold and by a ready-made plan."""

from __future__ import annotations

import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from jail_harness import TOP, Caller, base_spec, cannot, reachable

from instinct_shell.execution.jail import probe, view
from instinct_shell.execution.refusals import Rules
from instinct_shell.model.jailspec import Connection, JailLevel, RunResult
from instinct_shell.wiring import Guard, audit_trail, open_guard

pytestmark = pytest.mark.jail
ELSEWHERE = "127.0.0.2"  # of this machine, and yet behind the proxy: NO_PROXY names 127.0.0.1


@pytest.fixture
def port() -> Iterator[int]:
    """A server of the host."""

    class Quiet(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "3")
            self.end_headers()
            self.wfile.write(b"hi\n")

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer((ELSEWHERE, 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def guard_for(workspace: Path, said: list[str], *, session: str = "", **profile: object) -> Guard:
    if probe.probe().level is not JailLevel.FULL:
        cannot(f"no full jail here: {probe.probe().obstacle}")
    if not os.access("/usr/bin/curl", os.X_OK):
        pytest.skip("curl is not installed")
    guard = open_guard(profile="staging", workspace=str(workspace), cwd=str(workspace), session=session, one_shot=not session)
    guard.profile = guard.profile.replace(**profile)
    guard.announce = said.append
    return guard


@pytest.mark.parametrize("session", ["", "network-records"])
def test_each_connection_stands_in_the_record_of_its_run(workspace: Path, port: int, session: str) -> None:
    said: list[str] = []
    guard = guard_for(workspace, said, session=session, network_allow=(f"{ELSEWHERE}:{port}",))
    text = f"curl -sS http://{ELSEWHERE}:{port}/; curl -s -o /dev/null http://127.0.0.3:81/; true"
    outcome = guard.run(guard.shell_intent(text, door="test"))
    assert outcome.result is not None, outcome.judgement.verdict.reason
    assert outcome.result.status == 0
    (finished,) = [dict(record.body) for record in audit_trail().records() if record.run == outcome.judgement.run and record.kind == "finished"]
    told = [(one["host"], one["port"], one["allowed"], one["how"]) for one in finished["connections"]]  # type: ignore[attr-defined]
    assert told == [(ELSEWHERE, port, True, "http"), ("127.0.0.3", 81, False, "http")]
    assert said == ["network: `127.0.0.3:81` was refused: it is not on the network allow-list; a person can add it to [network] allow in their own profile"]
    (started,) = [dict(record.body) for record in audit_trail().records() if record.run == outcome.judgement.run and record.kind == "started"]
    assert started["network"] == "allowlist"


def test_an_empty_list_is_no_network(workspace: Path, port: int) -> None:
    guard = guard_for(workspace, [], network_allow=())
    outcome = guard.run(guard.shell_intent(f"curl -s http://{ELSEWHERE}:{port}/ || echo none", door="test"))
    assert outcome.result is not None
    assert (outcome.result.status, outcome.result.connections) == (0, ())


def test_a_host_that_no_entry_names_is_denied_before_it_runs(workspace: Path) -> None:
    guard = guard_for(workspace, [], network_allow=("a.example", "*.b.example:8443", "10.0.0.0/8:443"))
    for url, allowed in (
        ("https://a.example/", True), ("https://x.b.example:8443/", True), ("https://10.1.2.3/", True), ("https://evil.example/", False), ("https://11.1.2.3/", False),
    ):  # fmt: skip
        judgement = guard.judge(guard.shell_intent(f"curl -sS {url}", door="test"))
        assert judgement.verdict.allow is allowed, url
        if not allowed:
            assert "[network] allow" in judgement.verdict.alternative


def test_a_plan_joins_a_session_whose_proxy_lives(caller: Caller, port: int) -> None:
    reachable(caller, "full")
    shutil.copy(TOP / "tests" / "plan_jail_driver.py", caller.code)
    (caller.code / "plan_jail_driver.py").chmod(0o644)
    workspace = caller.folder()
    fetch = f'{caller.python} -I -S -c "import urllib.request as u; print(u.urlopen(\'http://{ELSEWHERE}:{port}/\', timeout=20).read())"'
    spec = {
        **base_spec(workspace), "argv": ["/bin/bash", "--norc", "--noprofile", "-c", fetch], "network": "allowlist", "network_allow": [f"{ELSEWHERE}:{port}"],
        "env": [["PATH", os.defpath], ["http_proxy", "http://127.0.0.1:18128"]], "session": {"path": str(caller.sessions / "planned"), "name": "planned"},
    }  # fmt: skip
    try:
        first = caller.run(spec, at="session")
        assert (first.status, first.out) == (0, b"b'hi\\n'\n"), first
        words = [word.replace("jail_driver.py", "plan_jail_driver.py") for word in caller.driver(spec, at="session")]
        start = words.index("-I") - 1
        done = caller.plain([*words[start:]])
        assert (done.returncode, done.stdout, done.stderr) == (0, b"b'hi\\n'\n", b"")
        again = caller.run(spec, at="session")
        told = [one for run in (first, again) for one in run.result["connections"]]  # type: ignore[attr-defined]
        assert len([one for one in told if one["how"] == "http"]) == 3  # what the plan's run connected is told by the next one that looks
    finally:
        caller.end_session("planned")


def test_a_shell_that_stays_tells_each_commands_connections(caller: Caller, port: int) -> None:
    """One bash in one jail of its own: its proxy lives as long, and what each command connected is told with that command."""
    reachable(caller, "full")
    if not os.access("/usr/bin/curl", os.X_OK):
        pytest.skip("curl is not installed")
    workspace = caller.folder()
    program = f"""
import json, sys
sys.path.insert(0, {str(caller.code)!r})
from instinct_shell.frontends.shell_jail import SessionJail
from instinct_shell.model.jailspec import JailSpec
env = (("PATH", "/usr/bin:/bin"), ("http_proxy", "http://127.0.0.1:18128"))
spec = JailSpec({str(workspace)!r}, {str(workspace)!r}, writable=({str(workspace)!r},), network="allowlist", network_allow=("{ELSEWHERE}:{port}",), env=env,
                argv=("/bin/bash", "--norc", "--noprofile", "-s"), descriptors=(200,))
jail = SessionJail(spec, interactive=False)
jail.start("bash")
told = []
for text in ("curl -sS http://{ELSEWHERE}:{port}/", "true", "curl -s -o /dev/null http://127.0.0.3:81/"):
    jail.prepare(text)
    told.append([(one.host, one.allowed) for one in jail.run(spec).connections if one.how != "earlier"])
jail.close()
print(json.dumps(told))
"""
    done = caller.plain([caller.python, "-I", "-S", "-c", program], input=b"", cwd=workspace)
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, lines[:1]) == (0, ["hi"]), done
    assert lines[1] == '[[["127.0.0.2", true]], [], [["127.0.0.3", false]]]'


@pytest.mark.parametrize("asked", [False, True])
def test_a_program_that_does_not_ask_the_proxy_is_explained(workspace: Path, asked: bool) -> None:
    """What the list refused is said already; what never came to it is not seen by anybody else."""
    guard = guard_for(workspace, [], network_allow=("a.example",))
    judgement = guard.judge(guard.shell_intent("python3 -c 'import socket'", door="test"))
    spec = guard.confine(judgement)
    connections = (Connection("b.example", 443, False, "it is not on the network allow-list", state="refused"),) if asked else ()
    rules = Rules(spec, view.plan_for(spec), RunResult(status=1, started=True, level=JailLevel.FULL, connections=connections))
    told = [line for line in rules.all(judgement, "socket.gaierror: [Errno -3] Temporary failure in name resolution") if "HTTPS_PROXY" in line]
    assert len(told) == (0 if asked else 1)
