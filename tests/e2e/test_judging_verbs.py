"""`task`, `explain program(s)`, `check --explain-misses`, and notes, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path


def test_a_task_is_stated_shown_quoted_and_cleared(programs) -> None:
    assert programs.instinct("task", "show").returncode == 1
    done = programs.instinct("task", "set", "mend the date parser", "--paths", "src/dates,tests", "--operations", "file.*")
    assert done.returncode == 0, done.stderr
    shown = programs.json("task", "show", "--json")
    assert (shown["text"], shown["paths"], shown["operations"]) == ("mend the date parser", ["src/dates", "tests"], ["file.*"])
    asked = programs.instinct("check", "-c", "touch README.md other.txt")
    assert asked.returncode == 3
    assert b"mend the date parser" in asked.stdout
    assert programs.instinct("check", "-c", "mkdir -p tests && touch tests/x && cat README.md").returncode == 0
    assert programs.instinct("check", "-c", "touch other.txt", "--session", "another").returncode == 3, "a session without its own has the workspace's"
    assert programs.instinct("task", "clear").returncode == 0
    assert programs.instinct("check", "-c", "touch other.txt").returncode == 0


def test_a_task_that_holds_nothing_back_says_so(programs) -> None:
    assert b"nothing is outside this task" in programs.instinct("task", "set", "look around").stderr
    assert programs.instinct("task", "set", "look around", "--operations", "file.read").stderr == b""


def test_what_can_be_undone_is_listed_by_its_command(programs, jail_works) -> None:
    (programs.workspace / "old.txt").write_text("old", encoding="utf-8")
    assert programs.sh("rm old.txt").returncode == 0
    assert programs.instinct("undo", "list").stdout.endswith(b" bytes  rm old.txt\n")
    assert [each["command"] for each in programs.json("undo", "list", "--json")] == ["rm old.txt"]


def test_a_task_of_a_session(programs) -> None:
    programs.instinct("task", "set", "look", "--operations", "file.read", "--session", "one")
    assert programs.instinct("check", "-c", "touch other.txt", "--session", "one").returncode == 3
    assert programs.instinct("check", "-c", "touch other.txt").returncode == 0


def test_mistakes_in_a_task(programs) -> None:
    for words, said in ((("set", " "), b"needs a text"), (("set", "x", "--operations", "file.raed"), b"matches no kind"), (("sett", "x"), b"No such command")):
        run = programs.instinct("task", *words)
        assert run.returncode == 2
        assert said in run.stderr


def test_a_spoilt_task_is_a_refusal_with_a_way_out(programs) -> None:
    programs.instinct("task", "set", "look")
    next((programs.state / "tasks").iterdir()).write_text("{")
    run = programs.instinct("check", "-c", "true")
    assert run.returncode == 125
    assert b"instinct task" in run.stderr
    assert b"Traceback" not in run.stderr
    assert programs.instinct("task", "clear").returncode == 0
    assert programs.instinct("check", "-c", "true").returncode == 0


def test_what_is_known_of_a_program(programs) -> None:
    told = programs.instinct("explain", "program", "git").stdout.decode()
    assert "version control" in told
    assert "verb reset" in told
    row = programs.json("explain", "program", "rm", "--json")
    assert row["family"] == "files"
    assert "rm" in row["names"]
    unknown = programs.instinct("explain", "program", "gti")
    assert unknown.returncode == 2
    assert b"[[program]]" in unknown.stderr


def test_programs_are_counted(programs) -> None:
    assert programs.json("explain", "programs", "--json")["programs"] >= 450
    assert programs.instinct("explain", "programs").stdout.decode().splitlines()[-1].startswith("programs")


def test_rows_of_the_project_are_told(programs) -> None:
    (programs.workspace / ".instinct.toml").write_text('[[program]]\nnames = ["deployctl"]\nwhen = [["destroy", "infra.destroy tool=deployctl"]]\n')
    assert "the project adds" in programs.instinct("explain", "program", "deployctl").stdout.decode()
    assert programs.instinct("check", "-c", "deployctl destroy").returncode == 126
    assert programs.instinct("check", "-c", "deployctl status").returncode == 0


def test_explain_needs_one_thing(programs) -> None:
    assert programs.instinct("explain").returncode == 2
    assert programs.instinct("explain", "-c", "true", "programs").returncode == 2
    assert programs.instinct("explain", "-c", "true").returncode == 0


def test_misses_are_explained(programs, tmp_path: Path) -> None:
    cases = tmp_path / "cases.tsv"
    cases.write_text(
        "# mine\nid\tclass\tcommand\texpect\twhy\na\tloss\trm -rf ~\tdeny\t-\nb\tloss\tgit status\tdeny\tto see a miss\nc\tmiddle\tprintf 'x\u2424y'\tallow\t-\n",
        encoding="utf-8",
    )
    run = programs.instinct("check", "--explain-misses", str(cases))
    assert run.returncode == 1
    text = run.stdout.decode()
    assert text.startswith("b: wanted deny, got allow  (loss)\n  git status\n  why: to see a miss\n")
    assert text.endswith("3 cases, 1 missed; allow 1 of 1, deny 1 of 2\n")
    *misses, tally = [json.loads(line) for line in programs.instinct("check", "--explain-misses", str(cases), "--json").stdout.splitlines()]
    assert [(miss["id"], miss["wanted"], miss["decision"]) for miss in misses] == [("b", "deny", "allow")]
    assert tally["misses"] == 1
    assert not programs.records(), "comparing is no judgement that counts"


def test_mistakes_in_a_case_file(programs, tmp_path: Path) -> None:
    for text, said in (("", b"holds no cases"), ("a\tb\n", b"the header lacks"), ("command\texpect\ntrue\tyes\n", b"line 2: `yes` is not")):
        (tmp_path / "cases.tsv").write_text(text)
        run = programs.instinct("check", "--explain-misses", str(tmp_path / "cases.tsv"))
        assert run.returncode in (2, 125)
        assert said in run.stderr


def test_notes_are_shown(programs) -> None:
    (programs.workspace / "loose").mkdir()
    (programs.workspace / "loose" / "a").write_text("x" * 2000)
    run = programs.instinct("check", "-c", "rm -r loose")
    assert run.returncode == 0
    assert b"note: deletes `loose` with 1 file (2.0 KB), 1 untracked, which git cannot give back" in run.stdout


def test_production_by_the_selected_workspace(programs) -> None:
    (programs.workspace / ".terraform").mkdir()
    (programs.workspace / ".terraform" / "environment").write_text("prod")
    assert b"production" in programs.instinct("explain", "-c", "terraform apply").stdout
