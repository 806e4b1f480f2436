"""Alternatives that work: whatever a refusal suggests in backticks is itself allowed by the same profile, for every case file there is."""

from __future__ import annotations

import re

import pytest
import score
from judging import EmptyHost, Still, intent, judge_text, situation

from instinct_shell.effects.catalog import Catalog
from instinct_shell.effects.writes import effects_of_intent
from instinct_shell.engine.judge import judge
from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.intent import IntentType
from instinct_shell.model.verdict import Decision

# What a host may hold that the case files do not say, so that findings drawn from facts are printed too.
HOSTS = (
    EmptyHost(),
    EmptyHost(
        trees={"/srv/work/app/src": ["/srv/work/app/src/.env"], "/srv/work/app/config": ["/srv/work/app/config/secrets.yml"]},
        globs={"/srv/work/app/*": ["/srv/work/app/.env"], "/srv/work/app/config/*": ["/srv/work/app/config/credentials.json"]},
        leads={"/srv/work/app/link": "/etc"},
        places={"kube": "acme-prod", "terraform": "acme-prod"},
        sizes={"/srv/work/app/src": {"files": 9_000, "bytes": 10**9, "untracked": 9_000, "more": True}},
    ),
)


def verdicts(profile, host):
    """(text, verdict) of every case."""
    for name in score.floors():
        for row in score.read_rows(score.CASES / f"{name}.tsv"):
            line = score.intent_of(row)
            if line is None:
                continue
            if line["type"] == "shell_command":
                yield line["content"], judge_text(line["content"], profile, host)
            else:
                asked = intent(line["content"], type=IntentType(line["type"]), target=line["target"])
                effects = effects_of_intent(asked, home="/home/dev")
                yield line["target"], judge(asked, effects, profile, situation(), host, Still(), BUILTIN)[0]


def suggestions(found) -> set[str]:
    """The commands in the alternatives of all restrictive findings."""
    return {
        command
        for finding in found.findings
        if finding.decision is not Decision.ALLOW
        for command in re.findall(r"`([^`]+)`", finding.alternative)
    }


@pytest.mark.parametrize("host", HOSTS, ids=["nothing there", "much there"])
@pytest.mark.parametrize("name", ["dev", "staging", "prod"])
def test_every_suggested_command_is_allowed(request, name, host):
    profile = request.getfixturevalue(name)
    offered: dict[str, str] = {}
    silent = []
    for text, found in verdicts(profile, host):
        for command in suggestions(found):
            offered.setdefault(command, text)
        if found.finding is not None and not found.finding.alternative:
            silent.append((text, found.reason))
    refused = {
        command: (reason, text)
        for command, text in offered.items()
        if not (said := judge_text(command, profile)).allow and (reason := said.reason)
    }
    assert refused == {}
    assert len(offered) > 15
    assert silent == []


def test_what_is_suggested_is_a_command_line(dev):
    offered = {command for _, found in verdicts(dev, HOSTS[0]) for command in suggestions(found)}
    catalog = Catalog()
    assert {command for command in offered if catalog.row(command.split()[0]) is None} == set()
