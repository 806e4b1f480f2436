"""Network allow-lists and published ports against a real kernel: what is named is reached through the proxy, nothing else is, nothing is left behind."""

from __future__ import annotations

import contextlib
import http.server
import os
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jail_harness import Caller, Run, base_spec, reachable

pytestmark = pytest.mark.jail
PROXY = "http://127.0.0.1:18128"
VARIABLES = [[name, PROXY] for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")] + [["no_proxy", "localhost,127.0.0.1"]]
# An address of this machine that neither NO_PROXY nor a forwarded port stands for: what is reached there is reached through the proxy.
ELSEWHERE = "127.0.0.2"


class Answers(http.server.BaseHTTPRequestHandler):
    """Says where the request came to."""

    def do_GET(self) -> None:
        body = f"hello {self.headers['Host']} {self.path}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextlib.contextmanager
def serving(handler: Callable[..., http.server.BaseHTTPRequestHandler], address: str = "127.0.0.1") -> Iterator[int]:
    """A server of the host; its port."""
    with http.server.ThreadingHTTPServer((address, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server at 127.0.0.1."""
    with serving(Answers) as found:
        yield found


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """A server at 127.0.0.2."""
    with serving(Answers, ELSEWHERE) as found:
        yield found


class Place:
    """A caller, a workspace, a kind of jail and, for sessions, one session of its own."""

    def __init__(self, caller: Caller, level: str) -> None:
        self.caller = caller
        self.level = level
        self.workspace = caller.folder()
        self.name = f"net{time.monotonic_ns()}"

    def spec(self, text: str, allow: list[str], **more: object) -> dict[str, object]:
        whole = {
            **base_spec(self.workspace), "argv": ["/bin/bash", "--norc", "--noprofile", "-c", text], "network": "allowlist", "network_allow": allow,
            "env": [["PATH", os.defpath], ["HOME", str(self.workspace)], ["LC_ALL", "C.UTF-8"], *VARIABLES], **more,
        }  # fmt: skip
        if self.level == "session":
            whole["session"] = {"path": str(self.caller.sessions / self.name), "name": self.name}
        return whole

    def run(self, text: str, allow: list[str], **more: object) -> Run:
        return self.caller.run(self.spec(text, allow, **more), at=self.level)

    def start(self, text: str, allow: list[str], **more: object) -> subprocess.Popen[bytes]:
        argv = self.caller.driver(self.spec(text, allow, **more), at=self.level)
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def proxies(self) -> list[int]:
        """The processes of this caller that serve a network."""
        marker = str(self.caller.code / "instinct_shell" / "execution" / "jail" / "proxy.py").encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if marker in (entry / "cmdline").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
        return found

    def close(self) -> None:
        self.caller.end_session(self.name)


@pytest.fixture(params=["full", "session", "bubblewrap"])
def place(request: pytest.FixtureRequest, caller: Caller) -> Iterator[Place]:
    """Each way in which a jail with a network of its own is made."""
    reachable(caller, request.param)
    made = Place(caller, request.param)
    yield made
    made.close()
    wait_until(lambda: not made.proxies())


@pytest.fixture(params=["full", "session"])
def own(request: pytest.FixtureRequest, caller: Caller) -> Iterator[Place]:
    """The two ways of our own."""
    reachable(caller, request.param)
    made = Place(caller, request.param)
    yield made
    made.close()
    wait_until(lambda: not made.proxies())


def wait_until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    """Until it is so; the test fails when it does not become so."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        select.select([], [], [], 0.02)


def needs(program: str) -> None:
    if not any(os.access(f"{folder}/{program}", os.X_OK) for folder in os.defpath.split(":")):
        pytest.skip(f"{program} is not installed where every user may start it")


def told(run: Run) -> list[tuple[str, int, str, str]]:
    """What the record says: where to, how, what came of it."""
    return [(one["host"], one["port"], one["how"], one["state"]) for one in run.result["connections"]]  # type: ignore[attr-defined]


FETCH = 'python3 -I -S -c "import urllib.request as u; print(u.urlopen({url!r}, timeout=20).read().decode().strip())"'


def fetch(place: Place, url: str) -> str:
    return FETCH.replace("python3", place.caller.python).format(url=url).replace("'", "\\'").replace("\\'", "'")


def test_what_is_named_is_reached_and_told(place: Place, elsewhere: int) -> None:
    run = place.run(fetch(place, f"http://{ELSEWHERE}:{elsewhere}/x"), [f"{ELSEWHERE}:{elsewhere}"])
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
    lines = [f"curl -sS {url}", f"curl -sS -p {url}", f"curl -sS -x socks5h://127.0.0.1:18128 {url}", f"curl -sS -x socks5://127.0.0.1:18128 {url}"]
    run = own.run("; ".join(lines), [f"{ELSEWHERE}:{elsewhere}"])
    assert (run.status, run.out.count(b"hello"), run.err) == (0, 4, b"")
    assert [how for *_, how, _ in told(run)] == ["http", "connect", "socks", "socks"]


def test_what_is_not_named_is_refused_with_what_to_do(place: Place, elsewhere: int) -> None:
    needs("curl")
    lines = [
        f"curl -sS http://{ELSEWHERE}:{elsewhere}/", "curl -sS -o /dev/null https://example.com/", "curl -sS http://169.254.169.254/latest/meta-data/",
        f"curl -sS -x socks5h://127.0.0.1:18128 http://{ELSEWHERE}:{elsewhere}/",
    ]  # fmt: skip
    run = place.run("; ".join(lines), ["named.example"])
    assert run.status != 0
    assert b"hello" not in run.out
    assert run.out.count(b"[network] allow") == 2
    assert b"Allowed: named.example." in run.out
    assert b"response 403" in run.err
    assert [state for *_, state in told(run)] == ["refused"] * 4


def test_no_socket_leads_around_the_proxy(place: Place, port: int, elsewhere: int) -> None:
    code = f"""
import socket
def tried(family, kind, place):
    try:
        with socket.socket(family, kind) as s:
            s.settimeout(5)
            s.connect(place)
            s.send(b"x")
            if kind == socket.SOCK_DGRAM: s.recv(1)
    except OSError as problem:
        return type(problem).__name__
    return "reached"
S, D = socket.SOCK_STREAM, socket.SOCK_DGRAM
for family, kind, place in ((2, S, ("127.0.0.1", {port})), (2, S, ("{ELSEWHERE}", {elsewhere})), (2, S, ("1.1.1.1", 443)), (2, D, ("1.1.1.1", 53)),
                            (10, S, ("::1", {port})), (10, S, ("2606:4700:4700::1111", 443)), (2, S, ("169.254.169.254", 80))):
    print(tried(family, kind, place))
"""
    script = place.workspace / "tries.py"
    script.write_text(code, encoding="utf-8")
    run = place.run(f"{place.caller.python} -I {script}", [f"{ELSEWHERE}:{elsewhere}"])
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


# --- published ports


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


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


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


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


def test_a_killed_launcher_leaves_nothing(place: Place) -> None:
    port = free_port()
    process = place.start("echo up; exec sleep 1000", ["named.example"], publish=[port])
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
    place.close()  # a session goes on without its command, and its network with it
    wait_until(lambda: not place.proxies() and not listens(port))


def descendants(top: int) -> list[int]:
    """The process itself and what is below it, the nearest first."""
    found, todo = [], [top]
    while todo:
        pid = todo.pop(0)
        found.append(pid)
        with contextlib.suppress(OSError):
            todo += [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    return found


def test_a_session_has_one_proxy_and_tells_each_connection_once(caller: Caller, elsewhere: int) -> None:
    reachable(caller, "full")
    place = Place(caller, "session")
    allow = [f"{ELSEWHERE}:{elsewhere}"]
    try:
        runs = [place.run(fetch(place, f"http://{ELSEWHERE}:{elsewhere}/{turn}"), allow) for turn in range(3)]
        assert [run.status for run in runs] == [0, 0, 0]
        begun = [one for run in runs for one in run.result["connections"] if one["how"] == "http"]  # type: ignore[attr-defined]
        assert len(begun) == 3
        assert len(place.proxies()) == 1
        assert place.run("sleep 0.1", allow).status == 0
    finally:
        place.close()
    wait_until(lambda: not place.proxies())


def test_without_namespaces_a_list_is_refused(caller: Caller, elsewhere: int) -> None:
    reachable(caller, "partial")
    place = Place(caller, "partial")
    run = place.run("echo ran", [f"{ELSEWHERE}:{elsewhere}"])
    assert (run.status, run.out) == (125, b"")
    assert b"allow-list" in run.err
    assert b"nothing ran" in run.err


def test_a_session_of_the_hosts_network_is_not_joined(caller: Caller) -> None:
    reachable(caller, "full")
    place = Place(caller, "session")
    try:
        assert place.run("true", [], network="host").status == 0
        run = place.run("echo ran", ["named.example"])
        assert (run.status, run.out) == (125, b"")
    finally:
        place.close()
