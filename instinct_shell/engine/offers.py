"""Alternatives that this profile allows: under an allow-list, a suggested command that is not on the list is no help."""

from __future__ import annotations

from ..instincts.reflex.command_allowed import on_list
from ..model.verdict import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..model.profile import Profile
    from ..model.verdict import Finding

ELSE = "show the person the command and what it is for; this profile only lets look"


def offered(findings: tuple[Finding, ...], profile: Profile) -> tuple[Finding, ...]:
    """The findings, with alternatives whose commands (in backticks) the profile's list of programs lacks put in words instead."""
    if not profile.allow_programs:
        return findings
    return tuple(
        finding
        if finding.decision is Decision.ALLOW or all(on_list(profile, command) for command in finding.alternative.split("`")[1::2])
        else finding.replace(alternative=ELSE)
        for finding in findings
    )
