"""`[[program]]` and `[[instinct]]` tables: strict, and a project file's rows only add."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from judging import EmptyHost, Still, intent, parse, situation

from instinct_shell.effects.derive import derive
from instinct_shell.effects.own_rows import rows_of
from instinct_shell.engine.judge import judge
from instinct_shell.errors import ProfileError
from instinct_shell.instincts.registry import BUILTIN
from instinct_shell.model.verdict import Decision
from instinct_shell.shell.invocation import Surroundings
from instinct_shell.storage.profiles import ProfileStore

ROW = """
[[program]]
names = ["deployctl", "dctl"]
summary = "deploys the shop"
options = "-e --env -o --output"
longs = "--force"
option_roles = [["-o", "write"]]
when = [["destroy", "infra.destroy tool=deployctl"], ["rollout+now", "infra.apply tool=deployctl"]]
harmless = "--dry-run status"
"""
DIGEST = "0" * 64


class Person:
    """A home with profiles, and a workspace."""

    def __init__(self, folder: Path) -> None:
        self.home, self.workspace = folder / "home", folder / "w"
        (self.home / ".config/instinct-shell").mkdir(parents=True, mode=0o700)
        self.workspace.mkdir()

    def own(self, text: str, name: str = "own.toml") -> None:
        path = self.home / ".config/instinct-shell" / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)

    def choose(self, text: str) -> None:
        self.own(f'extends = "dev"\n{text}')
        self.own('profile = "own"\n', "config.toml")

    def project(self, text: str) -> None:
        (self.workspace / ".instinct.toml").write_text(text, encoding="utf-8")

    def load(self, name: str = "", *, cache: bool = False, **overrides: str):
        return ProfileStore(home=str(self.home), cache=cache).load(name, str(self.workspace), overrides)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def said(text: str, profile) -> Decision:
    derived = derive(parse(text), Surroundings("/srv/work/app", "/home/dev"), parse, workspace="/srv/work/app", profile_programs=rows_of(profile.programs))
    return judge(intent(text), derived.effects, profile, situation(), EmptyHost(), Still(), BUILTIN)[0].decision


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("deployctl destroy --env prod", Decision.DENY),
        ("dctl -e prod destroy", Decision.DENY),
        ("deployctl rollout now", Decision.ASK),
        ("deployctl rollout later", Decision.ALLOW),
        ("deployctl status destroy", Decision.ALLOW),
        ("deployctl --dry-run destroy", Decision.ALLOW),
        ("deployctl -o .env report", Decision.DENY),
        ("timeout 5 deployctl destroy", Decision.DENY),
        ("otherctl destroy", Decision.ALLOW),
    ],
)
def test_a_program_of_ones_own(person, text, decision):
    person.choose(ROW)
    assert said(text, person.load()) is decision


def test_a_persons_row_takes_the_place_of_the_built_in_one(person):
    person.choose('[[program]]\nnames = ["shutdown"]\nsummary = "a script of ours"\n')
    assert said("shutdown now", person.load()) is Decision.ALLOW


def test_a_project_cannot_explain_a_danger_away(person):
    person.project('[[program]]\nnames = ["shutdown", "rm", "git"]\nsummary = "harmless"\nharmless = "now -rf --hard"\n')
    profile = person.load()
    assert [row.adds for row in profile.programs] == [True]
    assert said("shutdown now", profile) is Decision.DENY
    assert said("rm -rf ~", profile) is Decision.DENY
    assert said("git reset --hard", profile) is Decision.DENY


def test_a_projects_row_adds(person):
    person.project(ROW + '\n[[program]]\nnames = ["make"]\nwhen = [["deploy", "infra.apply tool=make"]]\n')
    profile = person.load()
    assert said("deployctl destroy", profile) is Decision.DENY
    assert said("make deploy", profile) is Decision.ASK
    assert said("make test", profile) is Decision.ALLOW


@pytest.mark.parametrize(
    ("table", "said_of_it"),
    [
        ("[[program]]\nname = ['x']", "name: unknown key (did you mean `names`?)"),
        ("[[program]]\nsummary = 'x'", "names: missing"),
        ("[[program]]\nnames = []", "names: missing"),
        ("[[program]]\nnames = ['bin/x']", "`bin/x` is not a program's bare name"),
        ("[[program]]\nnames = ['x']\noptions = 'o'", "options: `o` is not an option"),
        ("[[program]]\nnames = ['x']\nroles = 'eat'", "roles: `eat` is not a role"),
        ("[[program]]\nnames = ['x']\noption_roles = [['-o', 'eat']]", "option_roles: `eat`"),
        ("[[program]]\nnames = ['x']\noption_roles = ['-o']", "option_roles: not a list of pairs"),
        ("[[program]]\nnames = ['x']\nwhen = [['destroy', 'infra.destory']]", "`infra.destory` does not start with a kind"),
        ("[[program]]\nnames = ['x']\nwhen = [['destroy', 'infra.destroy now']]", "`now` is not an attribute"),
        ("[[program]]\nnames = ['x']\nstyle = 'odd'", "style: `odd`"),
        ("[[program]]\nnames = ['x']\nreads_stdin = 'yes'", "reads_stdin: not true or false"),
        ("[program]\nnames = ['x']", "must be an array of tables"),
        ("[[instinct]]\nentry = 'x'\nsha256 = '" + DIGEST + "'", "`x` is not package.module:name"),
        ("[[instinct]]\nentry = 'a.b:c'\nsha256 = 'abc'", "not 64 hexadecimal digits"),
        ("[[instinct]]\nentry = 'a.b:c'\ndigest = 'abc'", "digest: unknown key"),
    ],
)
def test_strict(person, table, said_of_it):
    person.choose(table)
    with pytest.raises(ProfileError, match=r"own\.toml") as caught:
        person.load()
    assert said_of_it in caught.value.message


def test_instincts_are_the_persons_alone(person):
    table = f"[[instinct]]\nentry = 'a.b:c'\nsha256 = '{DIGEST}'\n"
    person.project(table)
    with pytest.raises(ProfileError, match="may not be set here"):
        person.load()
    (person.workspace / ".instinct.toml").unlink()
    person.choose(table)
    assert [(each.entry, each.sha256) for each in person.load().plugged] == [("a.b:c", DIGEST)]


def test_digest_cache_and_round_trip(person):
    plain = person.load()
    person.choose(ROW + f"[[instinct]]\nentry = 'a.b:c'\nsha256 = '{DIGEST}'\n")
    rich = person.load(cache=True)
    assert rich.digest != plain.digest
    assert person.load(cache=True) == rich
    shown = ProfileStore(home=str(person.home), cache=False).effective("", "", {})
    again = tomllib.loads("\n".join(shown.lines()))
    assert again["program"][0]["names"] == ["deployctl", "dctl"]
    assert again["program"][0]["when"][0] == ["destroy", "infra.destroy tool=deployctl"]
    assert again["instinct"] == [{"entry": "a.b:c", "sha256": DIGEST}]


def test_choosing_a_profile_without_the_rows_is_looser(person):
    person.choose(ROW)
    with pytest.raises(ProfileError, match=r"looser .* program `deployctl`"):
        person.load("staging")
