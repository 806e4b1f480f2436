"""Published ports, and the ends of a jail's network, against a real kernel: what was opened is reached until the end, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from pathlib import Path

import pytest
from jail_harness import Caller, reachable
from network_harness import ELSEWHERE, Place, descendants, fetch, free_port, listens, told, wait_until

pytestmark = pytest.mark.jail


@pytest.mark.parametrize("network", ["allowlist", "none"])
def test_a_published_port_is_reached_from_the_host_until_the_end(own: Place, network: str) -> None:
    port = free_port()
    serve = f"import http.server as h; s = h.HTTPServer(('127.0.0.1', {port}), h.SimpleHTTPRequestHandler); print('up', flush=True); s.serve_forever()"
    process = own.start(f'exec {own.caller.python} -I -c "{serve}" 2>/dev/null', ["named.example"], publish=[port], network=network)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        answered: list[bytes] = []

        def answers() -> bool:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as asked:
                asked.sendall(b"GET / HTTP/1.0\r\n\r\n")
                answered.append(asked.recv(15))
            return bool(answered and answered[-1])

        wait_until(answers)
        assert answered[-1] == b"HTTP/1.0 200 OK"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        process.communicate()
    own.close()
    wait_until(lambda: not listens(port))


def test_a_port_that_is_taken_is_told(own: Place, port: int) -> None:
    asked = "exec 3<>/dev/tcp/127.0.0.1/18128; printf 'CONNECT x:1 HTTP/1.1\\r\\n\\r\\n' >&3; read -r line <&3"  # until the proxy serves
    run = own.run(asked, ["named.example"], publish=[port])
    assert run.status == 0
    if own.level == "full":  # a session's proxy says it when it has started, for the next command at the latest
        assert ("127.0.0.1", port, "publish", "refused") in told(run)


# --- ends


def test_a_killed_proxy_closes_the_way_out(own: Place, elsewhere: int) -> None:
    asked = fetch(own, f"http://{ELSEWHERE}:{elsewhere}/")
    waiting = f"{asked} && echo first && while [ ! -e go ]; do sleep 0.05; done; {asked} 2>/dev/null; echo second $?"
    process = own.start(waiting, [f"{ELSEWHERE}:{elsewhere}"])
    assert process.stdout is not None
    lines = [process.stdout.readline(), process.stdout.readline()]
    assert lines[1] == b"first\n", process.communicate()
    killed = own.proxies()
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not own.proxies())
    (own.workspace / "go").touch()
    out, _ = process.communicate(timeout=60)
    assert killed
    assert out == b"second 1\n"
    if own.level == "session":  # the next command has one again
        run = own.run(asked, [f"{ELSEWHERE}:{elsewhere}"])
        assert (run.status, run.out[:5]) == (0, b"hello")


def test_a_killed_launcher_leaves_nothing(jailed: Place) -> None:
    port = free_port()
    process = jailed.start("echo up; exec sleep 1000", ["named.example"], publish=[port])
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    wait_until(lambda: listens(port))
    for pid in descendants(process.pid):
        if b"jail_driver.py" in Path(f"/proc/{pid}/cmdline").read_bytes() and os.path.exists(f"/proc/{pid}/exe"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            break
    process.kill()
    process.communicate()
    jailed.close()  # a session goes on without its command, and its network with it
    wait_until(lambda: not jailed.proxies() and not listens(port))


def test_a_session_has_one_proxy_and_tells_each_connection_once(caller: Caller, elsewhere: int) -> None:
    reachable(caller, "full")
    jailed = Place(caller, "session")
    allow = [f"{ELSEWHERE}:{elsewhere}"]
    try:
        runs = [jailed.run(fetch(jailed, f"http://{ELSEWHERE}:{elsewhere}/{turn}"), allow) for turn in range(3)]
        assert [run.status for run in runs] == [0, 0, 0]
        begun = [one for run in runs for one in run.result["connections"] if one["how"] == "http"]  # type: ignore[attr-defined]
        assert len(begun) == 3
        assert len(jailed.proxies()) == 1
        assert jailed.run("sleep 0.1", allow).status == 0
    finally:
        jailed.close()
    wait_until(lambda: not jailed.proxies())


def test_without_namespaces_a_list_is_refused(caller: Caller, elsewhere: int) -> None:
    reachable(caller, "partial")
    jailed = Place(caller, "partial")
    run = jailed.run("echo ran", [f"{ELSEWHERE}:{elsewhere}"])
    assert (run.status, run.out) == (125, b"")
    assert b"allow-list" in run.err
    assert b"nothing ran" in run.err


def test_a_session_of_the_hosts_network_is_not_joined(caller: Caller) -> None:
    reachable(caller, "full")
    jailed = Place(caller, "session")
    try:
        assert jailed.run("true", [], network="host").status == 0
        run = jailed.run("echo ran", ["named.example"])
        assert (run.status, run.out) == (125, b"")
    finally:
        jailed.close()
