"""A model that follows a script: loopback only, for driving a real agent without a real model.

It hands out one tool call a turn, and then says that it is done. What the tools answered is kept: that is what "the model" has read.
"""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .wires import Reply, ToolCall, whole, wire_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

MOST_REQUEST = 64 * 1024 * 1024
MODELS = {
    "object": "list",
    "data": [{"id": "scripted", "object": "model", "created": 1, "owned_by": "instinct", "type": "model", "display_name": "scripted"}],
    "models": [],
    "has_more": False,
}


class ScriptedModel:
    """The server, as a context manager. `results` holds what reached the model, one text a tool call; `closed` is set when it has said its last."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self.calls = tuple(calls)
        self.results: list[str] = []
        self.closed = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ScriptedModel:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, body: dict[str, object]) -> Reply:
        """The answer to one POST."""
        if path.endswith(("/count_tokens", ":countTokens")):
            return whole({"input_tokens": 100, "totalTokens": 100})
        wire = wire_of(path)
        if wire is None:
            return whole({"error": {"type": "not_found", "message": "no such path"}}, 404)
        stream = ":stream" in path or body.get("stream") is True
        if not body.get("tools"):
            return wire.reply(body, None, 0, stream=stream)  # a question beside the work: a title, a summary
        found = wire.results(body)
        number = len(found)
        with self._lock:
            if number >= len(self.results):
                self.results = found
        call = self.calls[number] if number < len(self.calls) else None
        if call is None:
            self.closed.set()
        return wire.reply(body, call, number, stream=stream)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ScriptedModel


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  # the name is the base class's
        """Nothing: what matters is in `results`."""

    def do_HEAD(self) -> None:  # named by http.server
        self._send(Reply("application/json", b""))

    def do_GET(self) -> None:  # the same
        self._send(whole(MODELS) if "models" in self.path else whole({}, 404))

    def do_POST(self) -> None:  # the same
        try:
            body = json.loads(self._body())
        except (ValueError, OSError, EOFError):
            self._send(whole({"error": {"type": "invalid_request_error", "message": "the body cannot be read"}}, 400))
            return
        self._send(self.server.model.answer(self.path.partition("?")[0], body if isinstance(body, dict) else {}))

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b"".join(self._chunks())
        else:
            raw = self.rfile.read(min(int(self.headers.get("content-length") or 0), MOST_REQUEST))
        return gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw

    def _chunks(self) -> list[bytes]:
        found: list[bytes] = []
        while size := int(self.rfile.readline(100).partition(b";")[0].strip() or b"0", 16):
            found.append(self.rfile.read(min(size, MOST_REQUEST)))
            self.rfile.readline(100)
        self.rfile.readline(100)
        return found

    def _send(self, reply: Reply) -> None:
        try:
            self.send_response(reply.status)
            self.send_header("content-type", reply.kind)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
        except OSError:
            self.close_connection = True  # the agent has hung up


__all__ = ["ScriptedModel", "ToolCall"]
