"""Four APIs by which agents reach their model, just enough of each to hand out tool calls and to read what came back.

The shapes were taken from what the clients accept (docs/integrations.md has their versions): Anthropic messages, OpenAI responses and chat
completions, Gemini generateContent; each streamed or whole.
"""

from __future__ import annotations

import json

from ...model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Object = dict[str, object]

CLOSING = "done"


class ToolCall(Value):
    """One call that the model makes. given: the tool's input; a string where the tool takes free text (Codex's `apply_patch`)."""

    name: str
    given: Object | str


class Reply(Value):
    """One HTTP answer."""

    kind: str
    body: bytes
    status: int = 200


class Wire:
    """One API. Everything is worked out from the request, so that repeated and parallel requests do no harm."""

    def results(self, body: Object) -> list[str]:
        """What the tools answered so far, oldest first."""
        raise NotImplementedError

    def reply(self, body: Object, call: ToolCall | None, number: int, *, stream: bool) -> Reply:
        """The next tool call, or the closing words when it is None. number: how many tool results there are."""
        raise NotImplementedError


def whole(body: object, status: int = 200) -> Reply:
    """One JSON object."""
    return Reply("application/json", json.dumps(body).encode(), status)


def streamed(events: list[Object], *, named: bool, ended: bool = False) -> Reply:
    """Server-sent events."""
    lines = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
    return Reply("text/event-stream", "".join([*lines, "data: [DONE]\n\n" if ended else ""]).encode())


def objects(value: object) -> Iterator[Object]:
    """The objects in a list; nothing for any other value."""
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


def texts(value: object) -> str:
    """All text in a piece of JSON, one string a line: tool results are strings, lists of blocks or objects, by agent."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = list(value.values())
    return "\n".join(texts(each) for each in value if isinstance(each, str | dict | list)) if isinstance(value, list) else ""


class Messages(Wire):
    """Anthropic: POST .../messages."""

    def results(self, body: Object) -> list[str]:
        blocks = (block for message in objects(body.get("messages")) for block in objects(message.get("content")))
        return [texts(block.get("content")) for block in blocks if block.get("type") == "tool_result"]

    def reply(self, body: Object, call: ToolCall | None, number: int, *, stream: bool) -> Reply:
        usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        stop = "tool_use" if call else "end_turn"
        head: Object = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "usage": usage,
        }
        if call:
            block: Object = {"type": "tool_use", "id": f"toolu_{number:04}", "name": call.name, "input": call.given}
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(call.given)}
        else:
            block = {"type": "text", "text": CLOSING}
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": CLOSING}
        if not stream:
            return whole({**head, "content": [block], "stop_reason": stop, "stop_sequence": None})
        events: list[Object] = [
            {"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "stop_sequence": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        return streamed(events, named=True)


class Responses(Wire):
    """OpenAI: POST .../responses."""

    OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "local_shell_call_output"))

    def results(self, body: Object) -> list[str]:
        return [texts(item.get("output")) for item in objects(body.get("input")) if item.get("type") in self.OUTPUTS]

    def reply(self, body: Object, call: ToolCall | None, number: int, *, stream: bool) -> Reply:
        if call is None:
            words = {"type": "output_text", "text": CLOSING, "annotations": []}
            item: Object = {"type": "message", "id": "message_1", "role": "assistant", "status": "completed", "content": [words]}
        elif isinstance(call.given, str):
            item = {
                "type": "custom_tool_call",
                "id": f"ctc_{number}",
                "call_id": f"call_{number}",
                "name": call.name,
                "input": call.given,
                "status": "completed",
            }
        else:
            given = json.dumps(call.given)
            item = {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": f"call_{number}",
                "name": call.name,
                "arguments": given,
                "status": "completed",
            }
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, **details}
        made: Object = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item], "usage": usage}
        if not stream:
            return whole(made)
        events: list[Object] = [
            {"type": "response.created", "response": {**made, "status": "in_progress", "output": [], "usage": None}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": made},
        ]
        return streamed(events, named=True)


class Chat(Wire):
    """OpenAI: POST .../chat/completions."""

    def results(self, body: Object) -> list[str]:
        return [texts(message.get("content")) for message in objects(body.get("messages")) if message.get("role") == "tool"]

    def reply(self, body: Object, call: ToolCall | None, number: int, *, stream: bool) -> Reply:
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        said: Object = {"role": "assistant", "content": None if call else CLOSING}
        if call:
            function = {"name": call.name, "arguments": json.dumps(call.given)}
            said["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
        why = "tool_calls" if call else "stop"
        head: Object = {"id": f"chat_{number}", "created": 1, "model": body.get("model", "scripted")}
        if not stream:
            choice = {"index": 0, "message": said, "finish_reason": why}
            return whole({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
        head["object"] = "chat.completion.chunk"
        events: list[Object] = [
            {**head, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": why}], "usage": usage},
        ]
        return streamed(events, named=False, ended=True)


class Generate(Wire):
    """Gemini: POST ...:generateContent and :streamGenerateContent."""

    # Its side questions (which model, who speaks next) want JSON; these answers let the work go on.
    ASIDE = '{"reasoning": "x", "complexity_reasoning": "x", "complexity_score": 1, "model_choice": "flash", "next_speaker": "user"}'

    def results(self, body: Object) -> list[str]:
        parts = (part for content in objects(body.get("contents")) for part in objects(content.get("parts")))
        found = (part.get("functionResponse") for part in parts)
        return [texts(each.get("response")) for each in found if isinstance(each, dict)]

    def reply(self, body: Object, call: ToolCall | None, number: int, *, stream: bool) -> Reply:
        settings = body.get("generationConfig")
        if call:
            part: Object = {"functionCall": {"name": call.name, "args": call.given}}
        elif isinstance(settings, dict) and settings.get("responseMimeType") == "application/json":
            part = {"text": self.ASIDE}
        else:
            part = {"text": CLOSING}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        made: Object = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
        return streamed([made], named=False) if stream else whole(made)


def wire_of(path: str) -> Wire | None:
    """The API that a request's path belongs to; None for paths of no model."""
    if path.endswith("/messages"):
        return Messages()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith("/chat/completions"):
        return Chat()
    return Generate() if path.endswith((":generateContent", ":streamGenerateContent")) else None
