"""Intents that are no shell text: file tools, charged calls, other tools."""

from __future__ import annotations

import pytest

from instinct_shell.effects.writes import dollars_to_micros, effects_of_intent
from instinct_shell.model.effect import EffectKind
from instinct_shell.model.intent import Intent, IntentType


def intent(kind: str, target: str, **metadata: object) -> Intent:
    return Intent(IntentType(kind), "text", target, cwd="/w", metadata=tuple(metadata.items()))


@pytest.mark.parametrize(
    ("kind", "target", "wanted"),
    [
        ("file_read", ".env", [("file.read", "/w/.env")]),
        ("file_read", "~/.ssh/id_rsa", [("file.read", "/home/dev/.ssh/id_rsa")]),
        ("file_write", "a/../b", [("file.write", "/w/b")]),
        ("file_write", "file:///etc/x", [("file.write", "/etc/x")]),
        ("file_edit", "/etc/x", [("file.write", "/etc/x")]),
        ("file_delete", "../x", [("file.delete", "/x")]),
        ("output", "", []),
    ],
)
def test_file_tools(kind: str, target: str, wanted: list[tuple[str, str]]) -> None:
    found = effects_of_intent(intent(kind, target), home="/home/dev")
    assert [(effect.kind.value, effect.target.text) for effect in found] == wanted


def test_a_move_deletes_what_stood_at_its_destination() -> None:
    found = effects_of_intent(intent("file_move", "a", destination=".env"))
    assert [(effect.kind.value, effect.target.text) for effect in found] == [("file.move", "/w/a"), ("file.write", "/w/.env")]


def test_a_move_without_destination_is_not_silent() -> None:
    assert effects_of_intent(intent("file_move", "a"))[1].target.dynamic


@pytest.mark.parametrize(
    ("cost", "micros"),
    [
        (1, 1_000_000), (0, 0), (0.5, 500_000), ("12.34", 12_340_000), (0.0000001, 1), ("1e-9", 1), (-1, None), ("abc", None), (float("nan"), None),
        (float("inf"), None), (None, None), (True, None), ("", None),
    ],
)  # fmt: skip
def test_dollars_round_up(cost: object, micros: int | None) -> None:
    assert dollars_to_micros(cost) == micros


def test_an_unreadable_cost_is_unknown_and_not_free() -> None:
    (effect,) = effects_of_intent(intent("api_call", "https://api.x.net", estimatedCost="lots"))
    assert effect.kind is EffectKind.API_CALL
    assert effect.get("unknown") == "1"


def test_a_tool_call_with_a_price_is_charged() -> None:
    assert [effect.kind.value for effect in effects_of_intent(intent("tool_call", "image", estimatedCost=0.04))] == ["unknown", "api.call"]
