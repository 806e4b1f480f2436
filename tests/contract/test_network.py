"""Network allow-lists against a real kernel: what is named is reached through the proxy, and nothing else is."""

from __future__ import annotations

import http.server
import os
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from network_harness import ELSEWHERE, Place, fetch, needs, serving, told

pytestmark = pytest.mark.jail


def test_what_is_named_is_reached_and_told(jailed: Place, elsewhere: int) -> None:
    run = jailed.run(fetch(jailed, f"http://{ELSEWHERE}:{elsewhere}/x"), [f"{ELSEWHERE}:{elsewhere}"])
    assert (run.status, run.out, run.err) == (0, f"hello {ELSEWHERE}:{elsewhere} /x\n".encode(), b"")
    assert told(run)[0][:3] == (ELSEWHERE, elsewhere, "http")
    (one,) = run.result["connections"]  # type: ignore[misc]
    assert one["allowed"]
    assert one["address"] == ELSEWHERE
    if one["state"] == "closed":  # in a session it may still be closing
        assert one["up"] > 20
        assert one["down"] > 20


def test_curl_comes_by_every_way(own: Place, elsewhere: int) -> None:
    needs("curl")
    url = f"http://{ELSEWHERE}:{elsewhere}/"
    lines = [
        f"curl -sS {url}",
        f"curl -sS -p {url}",
        f"curl -sS -x socks5h://127.0.0.1:18128 {url}",
        f"curl -sS -x socks5://127.0.0.1:18128 {url}",
    ]
    run = own.run("; ".join(lines), [f"{ELSEWHERE}:{elsewhere}"])
    assert (run.status, run.out.count(b"hello"), run.err) == (0, 4, b"")
    assert [how for *_, how, _ in told(run)] == ["http", "connect", "socks", "socks"]


def test_what_is_not_named_is_refused_with_what_to_do(jailed: Place, elsewhere: int) -> None:
    needs("curl")
    lines = [
        f"curl -sS http://{ELSEWHERE}:{elsewhere}/", "curl -sS -o /dev/null https://example.com/", "curl -sS http://169.254.169.254/latest/meta-data/",
        f"curl -sS -x socks5h://127.0.0.1:18128 http://{ELSEWHERE}:{elsewhere}/",
    ]  # fmt: skip
    run = jailed.run("; ".join(lines), ["named.example"])
    assert run.status != 0
    assert b"hello" not in run.out
    assert run.out.count(b"[network] allow") == 2
    assert b"Allowed: named.example." in run.out
    assert b"response 403" in run.err
    assert [state for *_, state in told(run)] == ["refused"] * 4


def test_no_socket_leads_around_the_proxy(jailed: Place, port: int, elsewhere: int) -> None:
    code = f"""
import socket
import subprocess
def tried(family, kind, jailed):
    try:
        with socket.socket(family, kind) as s:
            s.settimeout(5)
            s.connect(jailed)
            s.send(b"x")
            if kind == socket.SOCK_DGRAM: s.recv(1)
    except OSError as problem:
        return type(problem).__name__
    return "reached"
S, D = socket.SOCK_STREAM, socket.SOCK_DGRAM
for family, kind, jailed in ((2, S, ("127.0.0.1", {port})), (2, S, ("{ELSEWHERE}", {elsewhere})), (2, S, ("1.1.1.1", 443)), (2, D, ("1.1.1.1", 53)),
                            (10, S, ("::1", {port})), (10, S, ("2606:4700:4700::1111", 443)), (2, S, ("169.254.169.254", 80))):
    print(tried(family, kind, jailed))
"""
    script = jailed.workspace / "tries.py"
    script.write_text(code, encoding="utf-8")
    run = jailed.run(f"{jailed.caller.python} -I {script}", [f"{ELSEWHERE}:{elsewhere}"])
    assert run.status == 0, run
    assert b"reached" not in run.out
    assert len(run.out.splitlines()) == 7
    assert told(run) == []


def test_a_named_port_of_this_machine_answers_inside(own: Place, port: int) -> None:
    run = own.run(fetch(own, f"http://127.0.0.1:{port}/local"), [f"localhost:{port}"])
    assert (run.status, run.out, run.err) == (0, f"hello 127.0.0.1:{port} /local\n".encode(), b"")
    assert told(run)[0][:3] == ("127.0.0.1", port, "local")


def test_a_name_that_leads_to_this_machine_is_not_reached(own: Place, elsewhere: int) -> None:
    name = socket.gethostname().lower()
    try:
        addresses = {str(found[4][0]) for found in socket.getaddrinfo(name, elsewhere, type=socket.SOCK_STREAM)}
    except OSError:
        addresses = set()
    if not addresses or "." not in next(iter(addresses)) or name == "localhost":
        pytest.skip("this machine's name leads nowhere")
    needs("curl")
    run = own.run(f"curl -sS http://{name}:{elsewhere}/", [f"{name}:{elsewhere}"])
    if any(not one["refused"] for one in run.result["connections"]):  # type: ignore[attr-defined]
        pytest.skip("this machine's name leads to a public address")
    assert b"no public address" in run.out


def test_git_and_package_managers_go_through(own: Place, tmp_path: Path) -> None:
    """git by dumb HTTP, pip and npm from an index: with nothing but the variables that every command gets."""
    site = own.caller.folder()
    own.caller.own(site)
    subprocess.run(["git", "init", "-q", "-b", "main", str(site / "work")], check=True)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.net"]
    subprocess.run(["git", "-C", str(site / "work"), *identity, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(site / "work"), str(site / "repo.git")], check=True)
    subprocess.run(["git", "-C", str(site / "repo.git"), "update-server-info"], check=True)
    simple = site / "simple" / "tiny-thing"
    simple.mkdir(parents=True)
    _wheel(simple / "tiny_thing-1.0-py3-none-any.whl")
    (simple / "index.html").write_text('<a href="tiny_thing-1.0-py3-none-any.whl">tiny_thing-1.0-py3-none-any.whl</a>', encoding="utf-8")

    class Site(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *words: object) -> None:
            super().__init__(*words, directory=str(site))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with serving(Site, ELSEWHERE) as port:
        url = f"http://{ELSEWHERE}:{port}"
        run = own.run(f"git clone -q {url}/repo.git got && git -C got log --oneline | wc -l", [f"{ELSEWHERE}:{port}"])
        assert (run.status, run.out.strip(), run.err) == (0, b"1", b""), run
        asked = own.caller.plain([own.caller.python, "-I", "-m", "pip", "--version"])
        if asked.returncode == 0:
            pip = f"{own.caller.python} -I -m pip download -q --no-deps --disable-pip-version-check --no-cache-dir"
            words = f"{pip} --isolated -i {url}/simple --trusted-host {ELSEWHERE} tiny-thing && ls *.whl"
            run = own.run(words, [f"{ELSEWHERE}:{port}"], private_tmp=True)
            assert (run.status, run.out.strip()) == (0, b"tiny_thing-1.0-py3-none-any.whl"), run
        if shutil.which("npm", path=os.defpath):
            (site / "tiny").write_text(
                f'{{"name":"tiny","dist-tags":{{"latest":"1.0.0"}},"versions":{{"1.0.0":{{"name":"tiny","version":"1.0.0","dist":{{"tarball":"{url}/t.tgz"}}}}}}}}',
                encoding="utf-8",
            )
            run = own.run(f"npm view --registry {url}/ --cache ./npm tiny version", [f"{ELSEWHERE}:{port}"], private_tmp=True)
            assert (run.status, run.out.strip()) == (0, b"1.0.0"), run
            assert all(host == ELSEWHERE for host, *_ in told(run))


def _wheel(path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_thing.py", "")
        archive.writestr("tiny_thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
        archive.writestr("tiny_thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny_thing-1.0.dist-info/RECORD", "")


def test_bytes_pass_unchanged_in_both_directions_at_once(own: Place) -> None:
    """An echo of 8 MB, written and read at the same time."""
    with socket.create_server((ELSEWHERE, 0)) as server:

        def echo() -> None:
            connection, _ = server.accept()
            with connection:
                while piece := connection.recv(1 << 16):
                    connection.sendall(piece)

        threading.Thread(target=echo, daemon=True).start()
        port = server.getsockname()[1]
        code = f"""
import hashlib, os, socket, threading
data = os.urandom(1 << 20) * 8
s = socket.create_connection(("127.0.0.1", 18128))
s.sendall(b"CONNECT {ELSEWHERE}:{port} HTTP/1.1\\r\\n\\r\\n")
head = b""
while not head.endswith(b"\\r\\n\\r\\n"): head += s.recv(1)
def write():
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=write).start()
got = b"".join(iter(lambda: s.recv(1 << 16), b""))
print(got == data)
"""
        script = own.workspace / "echo.py"
        script.write_text(code, encoding="utf-8")
        run = own.run(f"{own.caller.python} -I {script}", [f"{ELSEWHERE}:{port}"])
    assert (run.status, run.out) == (0, b"True\n"), run


def test_many_connections_at_once(own: Place, elsewhere: int) -> None:
    code = f"""
import socket, threading
ok = []
def one():
    s = socket.create_connection(("127.0.0.1", 18128), 30)
    s.sendall(b"GET http://{ELSEWHERE}:{elsewhere}/ HTTP/1.1\\r\\n\\r\\n")
    ok.append(b"hello" in b"".join(iter(lambda: s.recv(4096), b"")))
threads = [threading.Thread(target=one) for _ in range(60)]
[t.start() for t in threads]
[t.join() for t in threads]
print(sum(ok))
"""
    script = own.workspace / "many.py"
    script.write_text(code, encoding="utf-8")
    run = own.run(f"{own.caller.python} -I {script}", [f"{ELSEWHERE}:{elsewhere}"])
    assert (run.status, run.out) == (0, b"60\n"), run
    assert len(told(run)) == 60


def test_what_is_no_request_is_answered_and_harms_nothing(own: Place, elsewhere: int) -> None:
    code = """
import socket
import subprocess
for data in (b"GET / HTTP/1.1\\r\\n\\r\\n", b"\\0" * 100 + b"\\r\\n\\r\\n", b"A" * 40000, b"\\x05\\x01\\x02", b"\\x05\\x01\\x00\\x05\\x02\\x00\\x01\\x01\\x01\\x01\\x01\\x00\\x50", b"\\x04\\x01"):
    s = socket.create_connection(("127.0.0.1", 18128), 30)
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        print(s.recv(20).split(b"\\r")[0])
    except OSError as problem:
        print(type(problem).__name__)
"""
    script = own.workspace / "odd.py"
    script.write_text(code, encoding="utf-8")
    run = own.run(f"{own.caller.python} -I {script}; {fetch(own, f'http://{ELSEWHERE}:{elsewhere}/')}", [f"{ELSEWHERE}:{elsewhere}"])
    assert run.status == 0, run
    assert run.out.splitlines()[0] == b"b'HTTP/1.1 400 Refused'"
    assert run.out.splitlines()[-1].startswith(b"hello")
