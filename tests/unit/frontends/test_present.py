"""Denial texts: at most five lines and 400 characters, ASCII off a terminal, nothing that a terminal would obey."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, strategies as st

from instinct_shell.engine.judgement import Judgement
from instinct_shell.frontends.present import Style, clip, denial, failure, judgement_object, style_of
from instinct_shell.model.effect import Certainty, Effect, EffectKind, Span, Target, TargetKind
from instinct_shell.model.intent import Intent, IntentType
from instinct_shell.model.situation import Situation
from instinct_shell.model.verdict import Decision, Finding, Tier, Verdict

PLAIN = Style()
INTENT = Intent(IntentType.SHELL_COMMAND, "rm -rf ~")


def judged(decision: Decision, reason: str, alternative: str = "", tier: Tier = Tier.REFLEX) -> Judgement:
    finding = Finding("destructive-operation", decision, reason, alternative)
    return Judgement(INTENT, "r1", Verdict(decision, (finding,), tier), Situation())


def test_a_denial_says_who_why_and_what_instead() -> None:
    text = denial(
        judged(Decision.DENY, "`rm -rf ~` deletes the home directory", "name a path inside the workspace, such as `rm -rf ./build`"), PLAIN
    )
    assert text == (
        "instinct: denied by destructive-operation (reflex): `rm -rf ~` deletes the home directory\n"
        "  instead: name a path inside the workspace, such as `rm -rf ./build`\n"
    )


def test_an_ask_names_the_request_only_when_there_is_one() -> None:
    asked = judged(Decision.ASK, "drops the stash")
    assert "approve: a person can allow exactly this once: instinct approve 7KQ4 (15 minutes)" in denial(asked, PLAIN, request="7KQ4")
    assert "instinct approve" not in denial(asked, PLAIN)
    assert "no passphrase is set" in denial(asked, PLAIN)


@given(st.sampled_from([Decision.ASK, Decision.DENY]), st.text(min_size=1), st.text(), st.sampled_from(["", "7KQ4"]))
def test_denials_keep_their_limits(decision: Decision, reason: str, alternative: str, request: str) -> None:
    text = denial(judged(decision, reason * 9, alternative * 9), PLAIN, request=request)
    assert text.isascii()
    assert len(text) <= 400
    assert len(text.splitlines()) <= 5
    assert not [character for character in text if ord(character) < 32 and character != "\n"]


def test_text_from_a_command_cannot_steer_the_terminal() -> None:
    style = Style(colour=True, ascii_only=False)
    text = denial(judged(Decision.DENY, "deletes `\x1b]0;gotcha\x07\u202e`\ninstinct: allowed", "see \x9b31m"), style)
    assert "\x1b]" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "\x9b" not in text
    assert len(text.splitlines()) == 2


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environ", "colour", "ascii_only"),
    [
        (Terminal(), {"TERM": "xterm"}, True, False),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": "1"}, False, False),
        (Terminal(), {"TERM": "dumb"}, False, False),
        (io.StringIO(), {"TERM": "xterm"}, False, True),
    ],
)
def test_colours_only_on_a_terminal(stream: io.StringIO, environ: dict[str, str], colour: bool, ascii_only: bool) -> None:
    style = style_of(stream, environ)
    assert (style.colour, style.ascii_only) == (colour, ascii_only)


def test_a_failure_says_how_to_mend_it() -> None:
    assert failure("no space left", "free some", PLAIN) == "instinct: no space left\n  mend: free some\n"
    assert failure("no space left", "", PLAIN) == "instinct: no space left\n"


def test_clip_keeps_the_length() -> None:
    assert clip("abcdef", 5) == "ab..."
    assert clip("abcde", 5) == "abcde"


def test_the_json_of_a_judgement_is_the_contract() -> None:
    effect = Effect(
        EffectKind.FILE_DELETE, Target(TargetKind.PATH, "/home/dev"), Certainty.CERTAIN, Span(0, 8), "rm", (("recursive", "1"),)
    )
    finding = Finding("destructive-operation", Decision.DENY, "deletes the home", "name a path", Span(0, 8), effect)
    verdict = Verdict(Decision.DENY, (finding,), Tier.REFLEX, 420)
    shown = judgement_object(Judgement(INTENT, "r1", verdict, Situation(), (effect,), parser="shfmt", elapsed_us=512), 7)
    assert json.loads(json.dumps(shown)) == {
        "id": 7,
        "decision": "deny",
        "tier": "reflex",
        "instinct": "destructive-operation",
        "reason": "[destructive-operation] deletes the home",
        "alternative": "name a path",
        "findings": [
            {
                "instinct": "destructive-operation",
                "decision": "deny",
                "reason": "deletes the home",
                "alternative": "name a path",
                "span": [0, 8],
                "effect": "file.delete",
            }
        ],
        "effects": [
            {
                "kind": "file.delete",
                "target": "/home/dev",
                "certainty": "certain",
                "span": [0, 8],
                "program": "rm",
                "attributes": {"recursive": "1"},
            }
        ],
        "parser": "shfmt",
        "elapsed_us": 512,
    }
