"""Instincts of installed packages: found without importing, loaded by digest, bounded, and never loosening."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from judging import EmptyHost, Still, intent, situation

from instinct_shell.engine.judge import judge
from instinct_shell.errors import ProfileError, UsageError
from instinct_shell.execution.plugged import load
from instinct_shell.execution.registered import Bounded
from instinct_shell.model.digest import sha256_hex
from instinct_shell.model.profile import Plugged
from instinct_shell.model.verdict import Decision, Finding, Tier

SEED = """
class Judge:
    name = "acme-task"
    tier = "assessment"
    def check(self, intent):
        if "docs" in intent.content:
            return {"allow": True}
        return {"allow": False, "reason": "not what the task says"}
judge = Judge()
"""


@pytest.fixture
def package(tmp_path: Path):
    """Writes `acme.judge` and gives the entry with its digest."""
    folder = tmp_path / "site" / "acme"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise SystemExit('the parent package must not run')\n")

    def write(text: str, name: str = "judge", digest: str = "") -> tuple[Plugged, list[str]]:
        (folder / "judge.py").write_text(text)
        return Plugged(f"acme.judge:{name}", digest or sha256_hex(text.encode())), [str(tmp_path / "site")]

    yield write
    for name in [name for name in sys.modules if name.startswith("instinct_shell_plugged_")]:
        del sys.modules[name]


def said(instinct, text, dev):
    return judge(intent(text), (), dev, situation(), EmptyHost(), Still(), (instinct,))[0]


@pytest.fixture
def dev():
    from instinct_shell.storage.profiles import ProfileStore

    return ProfileStore(home="/nonexistent", cache=False).load("dev", "", {})


def test_it_judges(package, dev):
    instinct = load(*package(SEED))
    assert (instinct.id, instinct.tier) == ("acme-task", Tier.ASSESSMENT)
    assert said(instinct, "cat docs/x", dev).allow
    found = said(instinct, "cat src/x", dev)
    assert (found.decision, found.reason) == (Decision.DENY, "[acme-task] not what the task says")


def test_a_changed_file_is_not_loaded(package):
    entry, path = package("raise SystemExit('never')\n", digest="0" * 64)
    with pytest.raises(ProfileError, match="its sha256 differs"):
        load(entry, path)


@pytest.mark.parametrize(
    ("text", "name"), [("x = 1/0\n", "judge"), ("import no_such_module_here\n", "judge"), (SEED, "another"), ("judge = (\n", "judge")]
)
def test_what_cannot_be_loaded_is_a_refusal(package, text, name):
    with pytest.raises(ProfileError, match="cannot be loaded"):
        load(*package(text, name))


def test_what_is_no_instinct_is_a_refusal(package):
    with pytest.raises(UsageError, match="needs a tier"):
        load(*package("judge = 3\n"))


def test_an_absent_module_is_a_refusal(tmp_path):
    for entry in ("acme:x", "acme.judge:x", "os.path.deep:x", "sys:x"):
        with pytest.raises(ProfileError, match="no such module"):
            load(Plugged(entry, "0" * 64), [str(tmp_path)])


def test_one_that_hangs_is_a_deny(dev):
    import threading

    never = threading.Event()

    class Hangs:
        id, tier = "hangs", Tier.GATE

        def questions(self, *_):
            return ()

        def judge(self, *_):
            never.wait(20)
            return (Finding("hangs", Decision.ALLOW),)

    try:
        assert "no answer within" in said(Bounded(Hangs(), 0.05), "true", dev).reason
    finally:
        never.set()


def test_one_that_raises_is_a_deny(dev):
    class Raises:
        id, tier = "raises", Tier.GATE

        def questions(self, *_):
            return ()

        def judge(self, *_):
            raise SystemExit(3)

    assert "SystemExit: 3" in said(Bounded(Raises()), "true", dev).reason
