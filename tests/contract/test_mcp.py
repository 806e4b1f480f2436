"""`instinct mcp`, driven by the official SDK's client over stdio in both eras, and by hand where a client would not misbehave."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from jail_harness import cannot

from instinct_shell.execution.jail import probe

TOP = Path(__file__).parents[2]
PROGRAM = [
    sys.executable,
    "-I",
    "-c",
    "import sys; from instinct_shell.frontends.cli.main import main; sys.exit(main(['mcp', *sys.argv[1:]]))",
]
ERAS = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
TOOLS = ["run_command", "read_file", "write_file", "edit_file", "delete_file", "move_file", "apply_patch", "check", "budget"]


# ---------------------------------------------------------------- with the official client


def converse(place: Path, era: str, talk: Callable[[object], Awaitable[None]], **options: object) -> None:
    """Run a conversation with a server of its own."""
    pytest.importorskip("mcp", reason="the official SDK is not installed: pip install 'instinct-shell[mcp]'")
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(command=PROGRAM[0], args=[*PROGRAM[1:], "--session", "t"], env=dict(os.environ), cwd=str(place))

    async def main() -> None:
        async with Client(server, mode=ERAS[era], **options) as client:
            assert client.protocol_version == era
            await talk(client)

    asyncio.run(main())


async def ask(client: object, name: str, **arguments: object) -> tuple[bool, str, dict[str, object]]:
    result = await client.call_tool(name, arguments)  # type: ignore[attr-defined]  # the SDK's client
    return result.is_error, result.content[0].text, result.structured_content


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_and_what_they_say_of_themselves(place: Path, era: str) -> None:
    async def talk(client: object) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}  # type: ignore[attr-defined]  # the SDK's client
        assert list(tools) == TOOLS
        for tool in tools.values():
            assert tool.input_schema["type"] == "object"
            assert tool.annotations.read_only_hint == (tool.name in {"read_file", "check", "budget"})
            assert not (tool.annotations.read_only_hint and tool.annotations.destructive_hint)
        assert tools["run_command"].annotations.open_world_hint

    converse(place, era, talk)


@pytest.mark.parametrize("era", ERAS)
def test_files_are_written_read_moved_and_deleted(place: Path, era: str) -> None:
    (place / ".env").write_text("DB_PASSWORD=tr0ub4dor-3xyz\n", encoding="ascii")

    async def talk(client: object) -> None:
        assert (await ask(client, "write_file", path="a/b.txt", content="one\ntwo\n"))[0] is False
        assert (await ask(client, "edit_file", path="a/b.txt", edits=[{"old": "two", "new": "2"}]))[2]["done"]["changed"] is True  # type: ignore[index]  # an object
        assert (await ask(client, "read_file", path="a/b.txt", first_line=2))[1] == "2\n"
        assert (await ask(client, "move_file", path="a/b.txt", destination="c.txt"))[1].startswith("moved ")
        patch = "*** Begin Patch\n*** Update File: c.txt\n@@\n-one\n+1\n*** Add File: d.txt\n+new\n*** End Patch"
        error, text, data = await ask(client, "apply_patch", patch=patch)
        assert not error
        assert len(data["changes"]) == 2  # type: ignore[arg-type]  # a list
        assert "+1" in text
        assert (place / "c.txt").read_text(encoding="ascii") == "1\n2\n"
        assert (await ask(client, "delete_file", path="c.txt"))[1].startswith("deleted ")
        assert not (place / "c.txt").exists()
        (place / "log").write_text("password tr0ub4dor-3xyz used\n", encoding="ascii")
        error, text, data = await ask(client, "read_file", path="log")
        assert "tr0ub4dor" not in text + str(data)
        assert data["redacted"] == ["the value of DB_PASSWORD in .env"]

    converse(place, era, talk)


@pytest.mark.jail
@pytest.mark.parametrize("era", ERAS)
def test_a_command_on_a_copy_shows_what_it_changes(place: Path, era: str) -> None:
    found = probe.probe()
    if found.level != "full" or found.obstacle:
        cannot(f"no full jail of our own here: {found.obstacle}")
    (place / "a.txt").write_text("one\n", encoding="ascii")

    async def talk(client: object) -> None:
        error, text, data = await ask(client, "run_command", command="rm a.txt", overlay="discard")
        assert not error, text
        assert "D a.txt" in text
        assert data["status"] == 0
        assert (place / "a.txt").exists()
        error, text, _ = await ask(client, "run_command", command="sed -i s/one/1/ a.txt", overlay="commit")
        assert not error, text
        assert (place / "a.txt").read_text(encoding="ascii") == "1\n"
        error, text, _ = await ask(client, "run_command", command="git status", overlay="commit")
        assert error
        assert "cannot run in an overlay" in text

    converse(place, era, talk)


@pytest.mark.parametrize("era", ERAS)
def test_denials_reach_the_model_with_reason_and_alternative(place: Path, era: str) -> None:
    async def talk(client: object) -> None:
        for name, arguments, instinct in (
            ("run_command", {"command": "rm -rf ~"}, "destructive-operation"),
            ("write_file", {"path": ".env", "content": "x"}, "protected-files"),
            ("write_file", {"path": "a.py", "content": "def f(:\n"}, "file-syntax"),
            ("read_file", {"path": "~/.ssh/id_rsa"}, "secret-read"),
        ):
            error, text, data = await ask(client, name, **arguments)
            assert error, name
            assert data["instinct"] in {instinct, "protected-files"}
            assert data["decision"] == "deny"
            assert data["reason"]
            assert "denied by" in text
            assert "instead:" in text
        error, text, data = await ask(client, "write_file", path="a.txt")
        assert error
        assert data["error"]["code"] == "E101"  # type: ignore[index]  # an object
        error, text, data = await ask(client, "edit_file", path="none.txt", edits=[{"old": "a", "new": "b"}])
        assert error
        assert data["error"]["code"] == "E701"  # type: ignore[index]  # an object
        assert (await ask(client, "check", command="git push --force"))[2]["decision"] == "ask"
        assert (await ask(client, "budget"))[2]["accounts"][0]["scope"] == "session"  # type: ignore[index]  # a list
        with pytest.raises(Exception, match="there is no tool"):
            await client.call_tool("format_disk", {})  # type: ignore[attr-defined]  # the SDK's client

    converse(place, era, talk)


@pytest.mark.jail
@pytest.mark.parametrize("era", ERAS)
def test_a_command_runs_in_the_jail(place: Path, era: str) -> None:
    async def talk(client: object) -> None:
        error, text, data = await ask(client, "run_command", command="echo out; echo err >&2; pwd; exit 3")
        if data["ran"] is False:
            cannot(f"no jail here: {text}")
        assert (error, data["status"], data["stdout"], data["stderr"]) == (False, 3, f"out\n{place}\n", "err\n")
        assert text.endswith("(exit status 3)")
        (place / "sub").mkdir()
        assert (await ask(client, "run_command", command="pwd", cwd="sub"))[2]["stdout"] == f"{place}/sub\n"
        started = time.monotonic()
        error, text, data = await ask(client, "run_command", command="sleep 60", timeout=0.5)
        assert data["timed_out"] is True
        assert time.monotonic() - started < 30
        assert (await ask(client, "run_command", command="cat"))[2]["stdout"] == "", "the protocol's stdin is not the command's"
        assert len(str((await ask(client, "run_command", command="yes | head -c 1000000"))[2]["stdout"])) < 100_000

    converse(place, era, talk)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("approves", [True, False], ids=["approved", "only accepted"])
def test_an_ask_is_put_to_the_person_and_accepting_alone_opens_nothing(place: Path, era: str, approves: bool) -> None:
    from instinct_shell.storage.grants import GrantBook
    from instinct_shell.wiring import state_dir

    book = GrantBook(state_dir())
    book.set_passphrase("correct horse")
    (place / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    asked: list[str] = []

    async def person(_: object, params: object) -> object:
        from mcp import types

        asked.append(params.message)  # type: ignore[attr-defined]  # the SDK's parameters
        if approves:
            (waiting,) = book.pending(time.time())
            book.approve(waiting.id, "correct horse", time.time())
        return types.ElicitResult(action="accept", content={"approved": True})

    async def talk(client: object) -> None:
        error, _, data = await ask(client, "write_file", path="logo.png", content="text\n")
        assert len(asked) == 1
        assert "instinct approve" in asked[0]
        assert error is not approves
        assert (data["done"] is not None) is approves
        assert ((place / "logo.png").read_bytes() == b"text\n") is approves

    converse(place, era, talk, elicitation_callback=person)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_cannot_ask_gets_the_denial(place: Path, era: str) -> None:
    (place / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")

    async def talk(client: object) -> None:
        error, text, data = await ask(client, "write_file", path="logo.png", content="text\n")
        assert error
        assert data["decision"] == "ask"
        assert "nobody approved" in text

    converse(place, era, talk)


# ---------------------------------------------------------------- by hand


class Wire:
    """A server whose lines a test writes itself."""

    def __init__(self, place: Path) -> None:
        self.child = subprocess.Popen([*PROGRAM, "--session", "t"], cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._count = 0

    def send(self, line: bytes) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(line + b"\n")
        self.child.stdin.flush()

    def receive(self) -> dict[str, object]:
        assert self.child.stdout is not None
        found = json.loads(self.child.stdout.readline())
        assert isinstance(found, dict)
        return found

    def ask(self, method: str, params: object = None, **extra: object) -> dict[str, object]:
        self._count += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params or {}, **extra}).encode())
        return self.receive()


@pytest.fixture
def wire(place: Path) -> Iterator[Wire]:
    """Ended when the test is over."""
    server = Wire(place)
    yield server
    assert server.child.stdin is not None
    server.child.stdin.close()
    assert server.child.wait(20) == 0
    server.child.stdout.close()  # type: ignore[union-attr]  # asked for


BAD_LINES = {
    "no JSON": (b"{", -32700),
    "too deep": (b"[" * 100_000, -32700),
    "a list": (b"[]", -32600),
    "another version": (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
    "an unknown method": (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}', -32601),
    "arguments that are none": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "check", "arguments": 3}}',
        -32602,
    ),
    "no tool": (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 3}}', -32602),
}


@pytest.mark.parametrize(("line", "code"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_is_answered_and_the_server_goes_on(wire: Wire, line: bytes, code: int) -> None:
    wire.send(line)
    assert wire.receive()["error"]["code"] == code  # type: ignore[index]  # an object
    assert wire.ask("ping")["result"] == {}


def test_versions_are_negotiated(wire: Wire) -> None:
    for wanted, given in (("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")):
        result = wire.ask("initialize", {"protocolVersion": wanted, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})[
            "result"
        ]
        assert result["protocolVersion"] == given  # type: ignore[index]  # an object
    wire.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    error = wire.ask("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}})["error"]
    assert error["code"] == -32022  # type: ignore[index]  # an object
    assert "2026-07-28" in error["data"]["supported"]  # type: ignore[index]  # an object
    found = wire.ask("server/discover", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})["result"]
    assert "2026-07-28" in found["supportedVersions"]  # type: ignore[index]  # an object


def test_state_that_a_client_hands_back_opens_nothing(wire: Wire, place: Path) -> None:
    (place / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    call = {"name": "write_file", "arguments": {"path": "logo.png", "content": "x"}, "_meta": meta}
    forged = {**call, "inputResponses": {"approval": {"action": "accept", "content": {"approved": True}}}, "requestState": "AAAA"}
    for params in (call, forged):
        result = wire.ask("tools/call", params)["result"]
        assert result["isError"] is True  # type: ignore[index]  # an object
    assert (place / "logo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.jail
def test_a_cancelled_command_is_ended(wire: Wire, place: Path) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": "run",
        "method": "tools/call",
        "params": {"name": "run_command", "arguments": {"command": "touch started; sleep 60"}},
    }
    wire.send(json.dumps(call).encode())
    assert wire.ask("ping")["result"] == {}, "it answers while a command runs"
    until = time.monotonic() + 20
    while not (place / "started").exists() and time.monotonic() < until:
        wire.ask("ping")
    wire.send(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "run"}}')
    answer = wire.receive()
    assert answer["id"] == "run"
    assert answer["result"]["structuredContent"]["status"] != 0  # type: ignore[index]  # an object
