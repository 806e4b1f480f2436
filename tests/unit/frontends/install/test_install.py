"""Installations: shown, idempotent, and taken back byte for byte whatever stood there before."""

from __future__ import annotations

import json
import shutil
import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from instinct_shell.errors import UsageError
from instinct_shell.frontends.hooks.entry import options_from
from instinct_shell.frontends.hooks.protocol import Moment
from instinct_shell.frontends.hooks.registry import AGENTS, dialect
from instinct_shell.frontends.install import launchers
from instinct_shell.frontends.install.installer import Installations, plan
from instinct_shell.frontends.install.recipes import TIMEOUT, Place, recipe

# ---------------------------------------------------------------- what was there before

names = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | names, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)
entries = st.lists(st.fixed_dictionaries({"matcher": names, "hooks": st.just([{"type": "command", "command": "/usr/bin/mine"}])}), max_size=2)
events = st.sampled_from(["PreToolUse", "PostToolUse", "BeforeTool", "preToolUse", "Other"])
configurations = st.fixed_dictionaries({}, optional={"hooks": st.dictionaries(events, entries), "env": st.dictionaries(names, names), "theme": values})


@st.composite
def json_files(draw: st.DrawFn) -> bytes:
    """A JSON object as people and programs write it: any indentation, order, line ends and trailing space."""
    data = draw(configurations)
    text = json.dumps(data, indent=draw(st.sampled_from([None, 1, 2, 4, "\t"])), ensure_ascii=draw(st.booleans()), sort_keys=draw(st.booleans()))
    return (draw(st.sampled_from(["", "\n", " "])) + text + draw(st.sampled_from(["", "\n", "\n\n", "  "]))).encode()


TOML = (b"", b"\n", b'model = "x"\n', b'model = "x"', b"# a comment", b"[hooks.state]\na = 1\n", b'[[hooks.PreToolUse]]\nmatcher = "B"\n', b"[a]\r\nb = 1\r\n")
toml_files = st.sampled_from(TOML)


def files_of(agent: str, place: Place) -> list[str]:
    return [edit.path for edit in recipe(agent, place).edits]


def shared(agent: str, place: Place) -> str:
    """The one file of an agent that a person has entries in as well, "" when all of its files are ours alone."""
    mine = ("instinct", "PreToolUse", "PostToolUse", "TaskStart", "plugin.json")
    return next((path for path in files_of(agent, place) if not Path(path).stem.startswith(mine) and "plugins/instinct" not in path), "")


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"") for path in sorted(folder.rglob("*"))}


@pytest.mark.parametrize("project", [False, True], ids=["user", "project"])
@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_uninstall_gives_back_every_byte(agent: str, project: bool, data: st.DataObject) -> None:
    top = Path(tempfile.mkdtemp(prefix="install-"))
    try:
        base, state = top / "base", top / "state"
        base.mkdir()
        state.mkdir(mode=0o700)
        place = Place(str(base), str(top / "data"), project)
        path = shared(agent, place)
        if path and data.draw(st.booleans()):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(data.draw(toml_files if path.endswith(".toml") else json_files()))
            Path(path).chmod(data.draw(st.sampled_from([0o600, 0o644, 0o664])))
        before = tree(base)
        installed = Installations(str(state))
        for _ in range(data.draw(st.integers(1, 3))):
            installed.apply(agent, plan(recipe(agent, place).edits))
        assert tree(base) != before
        for changed in installed.paths(agent):
            installed.remove(agent, changed, place.hook)
        assert tree(base) == before
        assert installed.agents() == frozenset()
        assert [each.name for each in (state / "install").iterdir()] == ["manifest.json"]
    finally:
        shutil.rmtree(top)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "base").mkdir()
    (tmp_path / "state").mkdir(mode=0o700)
    return Place(str(tmp_path / "base"), str(tmp_path / "data"))


@pytest.mark.parametrize("agent", AGENTS)
def test_twice_is_once(agent: str, place: Place, tmp_path: Path) -> None:
    installed = Installations(str(tmp_path / "state"))
    installed.apply(agent, plan(recipe(agent, place).edits))
    again = plan(recipe(agent, place).edits)
    assert not any(change.needed for change in again)
    assert all(change.diff() == "" for change in again)


def calls_in(place: Place, agent: str) -> list[str]:
    """Every hook command that the installed files hold."""
    found = []
    for path in files_of(agent, place):
        text = Path(path).read_text(encoding="utf-8")
        if path.endswith(".toml"):
            text = json.dumps(tomllib.loads(text))
        if path.endswith((".toml", ".json")):
            todo = [json.loads(text)]
            while todo:
                each = todo.pop()
                todo += each.values() if isinstance(each, dict) else each if isinstance(each, list) else []
                if isinstance(each, str) and each.startswith(place.hook):
                    found.append(each)
        else:
            found += [line.removeprefix("exec ") for line in text.splitlines() if line.startswith("exec ")]
    return found


@pytest.mark.parametrize("agent", AGENTS)
def test_every_registered_call_is_one_that_the_hook_takes(agent: str, place: Place, tmp_path: Path) -> None:
    Installations(str(tmp_path / "state")).apply(agent, plan(recipe(agent, place).edits))
    if agent == "opencode":
        assert json.dumps(place.hook) in Path(files_of(agent, place)[0]).read_text(encoding="utf-8")
        return
    moments = set()
    for call in calls_in(place, agent):
        options = options_from(call.split(" ")[1:])
        assert options.agent == agent
        assert options.exec_path == (place.runner if "--exec" in call else "")
        moments.add(options.moment)
    assert {Moment.BEFORE, Moment.AFTER} <= moments


def test_the_watchdog_knows_the_time_that_is_registered() -> None:
    assert {dialect(agent).timeout for agent in AGENTS} == {float(TIMEOUT)}


def test_what_a_person_added_since_stays(place: Place, tmp_path: Path) -> None:
    settings_file = Path(place.base) / ".claude" / "settings.json"
    settings_file.parent.mkdir()
    settings_file.write_text('{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}]}}', encoding="utf-8")
    installed = Installations(str(tmp_path / "state"))
    installed.apply("claude", plan(recipe("claude", place).edits))
    changed = json.loads(settings_file.read_text(encoding="utf-8"))
    assert next(entry["hooks"][0]["command"] for entry in changed["hooks"]["PreToolUse"]) == "mine"
    changed["theme"] = "dark"
    settings_file.write_text(json.dumps(changed), encoding="utf-8")
    assert installed.remove("claude", str(settings_file), place.hook) == "cleaned"
    assert json.loads(settings_file.read_text(encoding="utf-8")) == {
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}]}, "theme": "dark",
    }  # fmt: skip


def test_installing_again_over_a_changed_file_keeps_that_change(place: Place, tmp_path: Path) -> None:
    settings_file = Path(place.base) / ".claude" / "settings.json"
    settings_file.parent.mkdir()
    settings_file.write_text("{}", encoding="utf-8")
    installed = Installations(str(tmp_path / "state"))
    installed.apply("claude", plan(recipe("claude", place).edits))
    changed = json.loads(settings_file.read_text(encoding="utf-8"))
    del changed["hooks"]["PostToolUse"]
    changed["theme"] = "dark"
    settings_file.write_text(json.dumps(changed), encoding="utf-8")
    installed.apply("claude", plan(recipe("claude", place).edits))
    assert installed.remove("claude", str(settings_file), place.hook) == "cleaned"
    assert json.loads(settings_file.read_text(encoding="utf-8")) == {"theme": "dark"}


REFUSED = {
    "comments": ("claude", ".claude/settings.json", b"{\n // mine\n}"),
    "a list": ("claude", ".claude/settings.json", b"[]"),
    "hooks of another shape": ("claude", ".claude/settings.json", b'{"hooks": []}'),
    "an event of another shape": ("claude", ".claude/settings.json", b'{"hooks": {"PreToolUse": {}}}'),
    "not UTF-8": ("claude", ".claude/settings.json", b'{"a": "\xff"}'),
    "broken TOML": ("codex", ".codex/config.toml", b"= ["),
    "hooks in one line": ("codex", ".codex/config.toml", b"hooks = {}\n"),
    "a hook of somebody else": ("cline", "Documents/Cline/Hooks/PreToolUse", b"#!/bin/sh\nexit 0\n"),
}


@pytest.mark.parametrize(("agent", "name", "content"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_changed_safely_is_left_alone(agent: str, name: str, content: bytes, place: Place) -> None:
    path = Path(place.base) / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(UsageError, match=name.rsplit("/", 1)[1]):
        plan(recipe(agent, place).edits)
    assert path.read_bytes() == content


def test_a_linked_configuration_stays_a_link(place: Place, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}", encoding="utf-8")
    link = Path(place.base) / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    installed = Installations(str(tmp_path / "state"))
    installed.apply("claude", plan(recipe("claude", place).edits))
    assert link.is_symlink()
    assert "instinct-hook" in real.read_text(encoding="utf-8")
    for path in installed.paths("claude"):
        installed.remove("claude", path, place.hook)
    assert real.read_text(encoding="utf-8") == "{}"


def test_the_programs_are_written_once_and_removed_whole(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    assert sorted(launchers.write(data)) == sorted(launchers.contents(data))
    assert launchers.write(data) == []
    own = tmp_path / "data" / "bin" / "mine"
    own.write_text("x", encoding="ascii")
    (tmp_path / "data" / "bin" / "instinct").write_text("somebody changed it", encoding="ascii")
    launchers.remove(data)
    assert sorted(path.name for path in (tmp_path / "data").rglob("*") if path.is_file()) == ["instinct", "mine"]


def test_programs_never_lie_where_commands_may_write(tmp_path: Path) -> None:
    launchers.check_place(str(tmp_path / "data"), (str(tmp_path / "app"),))
    with pytest.raises(UsageError, match="commands may write"):
        launchers.check_place(str(tmp_path / "data"), (str(tmp_path),))
    (tmp_path / "link").symlink_to(tmp_path / "data")
    with pytest.raises(UsageError):
        launchers.check_place(str(tmp_path / "link"), (str(tmp_path / "data"),))


def test_a_recipe_says_what_it_does_not_cover() -> None:
    place = Place("/base", "/data")
    for agent in AGENTS:
        assert recipe(agent, place).holes, agent
