"""`instinct mcp`: the guarded tools over the Model Context Protocol, on stdin and stdout.

Two eras are spoken, told apart by the request itself: since 2026-07-28 each request carries its version and the client's abilities in `_meta` and
nothing is remembered between them; before, `initialize` says both once. Written by hand, since it is small and starts in the time of a command;
the official SDK's client is what it is tested with.

An ask is put to the person through the client (elicitation). Its "accept" opens nothing by itself: the person approves in their own terminal, with
the passphrase, and accepting means "look again". So a client that accepts everything gains nothing.
"""

from __future__ import annotations

import json
import os
import select

from ..errors import InstinctError
from ..model.value import Value
from ..model.version import VERSION
from .mcp_run import Command
from .mcp_tools import BY_NAME, RUN, TOOLS, Result, call, checked, failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..wiring import Guard

    Message = dict[str, object]

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)
META = "io.modelcontextprotocol/"
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
UNSUPPORTED_VERSION = -32022
LONGEST_LINE = 32 << 20
INSTRUCTIONS = (
    "Commands and file changes pass a guard. What it denies comes with a reason and an alternative: take the alternative, or tell the person; "
    "saying the same in other words is denied too. What needs an approval names a request that only a person can approve."
)


class Served(Value):
    """Whom and what a server serves, as on its command line; session: whose budget, leases and jail it is."""

    session: str
    profile: str = ""
    workspace: str = ""
    agent: str = ""


class Asked(Value):
    """One `tools/call` on its way. modern: the era of the request. asks: the client can put a question to the person."""

    id: object
    name: str
    arguments: dict[str, object]
    modern: bool
    asks: bool


class Server:
    """One client on two descriptors. `serve` returns when the client hangs up."""

    def __init__(self, served: Served, open_guard: Callable[[], Guard], source: int, sink: int) -> None:
        self._served = served
        self._open_guard = open_guard
        self._source, self._sink = source, sink
        self._asks = False  # what `initialize` said; later requests say it themselves
        self._running: dict[int, tuple[Asked, Command]] = {}  # a number of ours -> call
        self._waiting: dict[str, Asked] = {}  # the id of our question -> call
        self._count = 0

    # ------------------------------------------------------------ the loop

    def serve(self) -> int:
        """Answer until stdin ends; what still runs then is ended."""
        data = bytearray()
        try:
            while True:
                watched = {stream.fd: number for number, (_, command) in self._running.items() for stream in command.streams}
                readable, _, _ = select.select([self._source, *watched], [], [], 0.1 if self._running else None)
                for fd in readable:
                    if fd != self._source:
                        self._take(watched[fd], fd)
                for _, command in self._running.values():
                    command.tick()
                if self._source in readable:
                    piece = os.read(self._source, 1 << 16)
                    if not piece:
                        return 0
                    data += piece
                    while (end := data.find(b"\n")) >= 0:
                        line = bytes(data[:end])
                        del data[: end + 1]
                        if line.strip():
                            self._line(line)
                    if len(data) > LONGEST_LINE:
                        self._error(None, PARSE_ERROR, "the message is too long")
                        return 1
        except BrokenPipeError:
            return 0  # nobody reads our answers any more
        finally:
            for _, command in self._running.values():
                command.drop()

    def _take(self, number: int, fd: int) -> None:
        """Output of a running command; its result once all of it is there."""
        asked, command = self._running[number]
        stream = next((each for each in command.streams if each.fd == fd), None)
        if stream is None or stream.take():
            return
        command.streams.remove(stream)
        if not command.streams:
            del self._running[number]
            self._conclude(asked, command.finished())

    # ------------------------------------------------------------ messages

    def _line(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._error(None, PARSE_ERROR, "the message is not JSON")
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._error(None, INVALID_REQUEST, "the message is no JSON-RPC 2.0 object")
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        method = message.get("method")
        if method is None:
            self._answered(message)
        elif "id" not in message:
            self._notified(method, params)
        else:
            self._requested(message["id"], method, params)

    def _requested(self, identity: object, method: object, params: Message) -> None:
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        version = meta.get(f"{META}protocolVersion")
        if version is not None and version not in MODERN:
            self._error(
                identity,
                UNSUPPORTED_VERSION,
                f"protocol version {version} is not spoken here",
                {"supported": [*HANDSHAKE, *MODERN], "requested": version},
            )
            return
        modern = version is not None
        if method == "initialize":
            self._initialize(identity, params)
        elif method == "server/discover":
            found = {"supportedVersions": [*HANDSHAKE, *MODERN], "capabilities": {"tools": {}}, "instructions": INSTRUCTIONS}
            self._result(identity, {**found, **_CACHING}, modern=True)
        elif method == "ping":
            self._result(identity, {}, modern=modern)
        elif method == "tools/list":
            self._result(identity, {"tools": [tool.described() for tool in TOOLS], **(_CACHING if modern else {})}, modern=modern)
        elif method == "tools/call":
            asks = _can_ask(meta.get(f"{META}clientCapabilities")) if modern else self._asks
            self._call(identity, params, modern=modern, asks=asks)
        else:
            self._error(identity, METHOD_NOT_FOUND, f"method `{method}` is unknown here")

    def _initialize(self, identity: object, params: Message) -> None:
        wanted = params.get("protocolVersion")
        self._asks = _can_ask(params.get("capabilities"))
        found = {
            "protocolVersion": wanted if wanted in HANDSHAKE else HANDSHAKE[-1],
            "capabilities": {"tools": {}},
            "serverInfo": _INFO,
            "instructions": INSTRUCTIONS,
        }
        self._send({"jsonrpc": "2.0", "id": identity, "result": found})

    def _notified(self, method: object, params: Message) -> None:
        if method == "notifications/cancelled":
            for asked, command in self._running.values():
                if asked.id == params.get("requestId"):
                    command.stop()

    # ------------------------------------------------------------ calls

    def _call(self, identity: object, params: Message, *, modern: bool, asks: bool) -> None:
        name, arguments = params.get("name"), params.get("arguments") or {}
        if not isinstance(name, str) or name not in BY_NAME or not isinstance(arguments, dict):
            self._error(
                identity, INVALID_PARAMS, f"there is no tool `{name}`" if isinstance(arguments, dict) else "`arguments` is not an object"
            )
            return
        asked = Asked(identity, name, arguments, modern, asks)
        answers = params.get("inputResponses")
        if modern and isinstance(answers, dict):
            asked = asked.replace(asks=False)
        self._begin(asked)

    def _begin(self, asked: Asked) -> None:
        """Do what is asked, or start it."""
        guard: Guard | None = None
        try:
            guard = self._open_guard()
            if asked.name != RUN.name:
                self._conclude(asked, call(guard, self._served.agent, asked.name, asked.arguments))
                return
            checked(RUN, asked.arguments)
            command = Command(asked.arguments, profile=self._served.profile, workspace=guard.workspace, session=self._served.session)
            self._count += 1
            self._running[self._count] = (asked, command)
        except InstinctError as error:
            self._conclude(asked, failed(error))
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001  # a fault of ours is a refusal that the model can read, never the end of the server
            text = f"instinct: internal fault ({type(error).__name__}); nothing was done by this step"
            self._conclude(asked, Result(text, {"error": {"code": "E000", "message": text, "hint": "run `instinct doctor`"}}, error=True))
        finally:
            if guard is not None:
                guard.close()

    def _conclude(self, asked: Asked, result: Result) -> None:
        """Answer the call; when a person may approve it and the client can ask them, ask first."""
        if result.request and asked.asks:
            question = _question(result)
            if asked.modern:
                requests = {"approval": {"method": "elicitation/create", "params": question}}
                # The state says nothing that anybody has to trust: the grant alone opens.
                self._result(asked.id, {"inputRequests": requests, "requestState": result.request}, modern=True, kind="input_required")
                return
            self._count += 1
            own = f"approval-{self._count}"
            self._waiting[own] = asked
            self._send({"jsonrpc": "2.0", "id": own, "method": "elicitation/create", "params": question})
            return
        shown: Message = {"content": [{"type": "text", "text": result.text}], "structuredContent": result.data, "isError": result.error}
        self._result(asked.id, shown, modern=asked.modern)

    def _answered(self, message: Message) -> None:
        """The client's answer to a question of ours: whatever it is, the call is judged once more, and now concluded."""
        asked = self._waiting.pop(str(message.get("id")), None)
        if asked is not None:
            self._begin(asked.replace(asks=False))

    # ------------------------------------------------------------ sending

    def _result(self, identity: object, result: Mapping[str, object], *, modern: bool, kind: str = "complete") -> None:
        body = {**result, "resultType": kind, "_meta": {f"{META}serverInfo": _INFO}} if modern else dict(result)
        self._send({"jsonrpc": "2.0", "id": identity, "result": body})

    def _error(self, identity: object, code: int, message: str, data: object = None) -> None:
        error: Message = {"code": code, "message": message, **({"data": data} if data is not None else {})}
        self._send({"jsonrpc": "2.0", "id": identity, "error": error})

    def _send(self, message: Message) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(self._sink, data) :]


_INFO = {"name": "instinct-shell", "title": "Instinct Shell", "version": VERSION}
_CACHING: Message = {"ttlMs": 0, "cacheScope": "private"}


def _can_ask(capabilities: object) -> bool:
    """Whether the client puts forms to the person: it says `elicitation`, alone or with `form`."""
    found = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(found, dict) and (not found or "form" in found)


def _question(result: Result) -> Message:
    text = (
        f"{result.text}\n\nOnly you can allow this, exactly once: run `instinct approve {result.request}` in a terminal of your own, then accept here. "
        "Decline to refuse it."
    )
    schema = {
        "type": "object",
        "properties": {"approved": {"type": "boolean", "title": "I have approved it in my terminal", "default": True}},
    }
    return {"mode": "form", "message": text, "requestedSchema": schema}
