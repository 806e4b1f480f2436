"""Calls of other programs' tools (MCP): judged by what their arguments would do in the shell or in a file tool."""

from __future__ import annotations

import json

import judging
import pytest

from instinct_shell.effects.tool_calls import told
from instinct_shell.effects.writes import effects_of_intent, place_of, placed, read_as
from instinct_shell.model.intent import Intent, IntentType


def call(tool: str, given: object, **changes: object) -> Intent:
    content = given if isinstance(given, str) else json.dumps(given, sort_keys=True)
    return Intent(IntentType.TOOL_CALL, content, tool, cwd=judging.WORKSPACE).replace(**changes)


def texts(tool: str, given: object) -> str:
    return told(call(tool, given), judging.HOME).text


def files(tool: str, given: object) -> list[tuple[str, str]]:
    return [(effect.kind.value, effect.target.text) for effect in told(call(tool, given), judging.HOME).effects]


@pytest.mark.parametrize(
    ("tool", "given", "text"),
    [
        ("mcp__shell__run", {"command": "rm -rf ~"}, "rm -rf ~"),
        ("mcp__shell__run", {"cmd": ["rm", "-rf", "/a b"]}, "'rm' '-rf' '/a b'"),
        ("mcp__shell__run", {"command": "rm", "args": ["-rf", "/a b"]}, "rm '-rf' '/a b'"),
        ("mcp__shell__run", {"command": "rm", "args": "-rf ~"}, "rm -rf ~"),
        ("mcp__shell__run", {"argv": ["rm", "x"]}, "'rm' 'x'"),
        ("mcp__shell__run", {"argv": ["A=1", "x"]}, "'A=1' 'x'"),  # a program of that name, no assignment
        ("mcp__shell__run", {"shellCommand": "ls"}, "ls"),
        ("mcp__shell__batch", {"calls": [{"command": "exit"}, {"command": "rm x"}]}, "bash -c 'exit'\nbash -c 'rm x'"),
        ("mcp__bash__execute", {"code": "rm x"}, "rm x"),
        ("mcp__python__run", {"code": "print('a')"}, "python3 -c 'print('\\''a'\\'')'"),
        ("mcp__postgres__query", {"sql": "DROP TABLE users;"}, "psql -c 'DROP TABLE users;'"),
        ("mcp__mysql__query", {"query": "DELETE FROM users"}, "mysql -e 'DELETE FROM users'"),
        ("mcp__db__run", {"statements": ["SELECT 1", "TRUNCATE users"]}, "psql -c 'SELECT 1;\nTRUNCATE users'"),
        ("mcp__db__run", {"command": "SELECT count(*) FROM t"}, "psql -c 'SELECT count(*) FROM t'"),
        ("mcp__web__fetch", {"url": "https://example.org/x"}, "curl -sS -- 'https://example.org/x'"),
        # a tool that is one program's leaves its name out
        ("mcp__kubernetes__kubectl", {"command": "delete ns prod"}, "bash -c 'delete ns prod'\nbash -c 'kubectl delete ns prod'"),
        ("mcp__kubernetes__kubectl", {"command": "kubectl get pods"}, "kubectl get pods"),
        ("mcp__kubernetes__run", {"args": "delete ns prod"}, "kubectl delete ns prod"),
        ("mcp__helm__helm", {"subcommand": "uninstall", "args": ["web"]}, "helm uninstall 'web'"),
        ("mcp__terraform__ExecuteTerraformCommand", {"command": "destroy"}, "bash -c 'destroy'\nbash -c 'terraform destroy'"),
        ("mcp__aws__call_aws", {"cli_command": "aws s3 ls"}, "aws s3 ls"),
        ("mcp__redis__execute", {"command": "FLUSHALL"}, "bash -c 'FLUSHALL'\nbash -c 'redis-cli FLUSHALL'"),
        (
            "mcp__mongodb__drop-collection",
            {"database": "shop", "collection": "orders"},
            "mongosh --eval 'db.getCollection(\"orders\").drop()'",
        ),
        ("mcp__mongodb__drop-database", {"database": "shop"}, "mongosh --eval 'db.dropDatabase()'"),
        (
            "mcp__mongodb__delete-many",
            {"collection": "orders", "filter": {}},
            "mongosh --eval 'db.getCollection(\"orders\").deleteMany({})'",
        ),
        ("mcp__mongodb__delete-many", {"collection": "orders", "filter": {"id": 1}}, ""),
        ("mcp__mongodb__find", {"collection": "orders", "filter": {}}, ""),
        ("mcp__postgres__drop_table", {"table": "orders"}, "psql -c 'DROP TABLE \"orders\"'"),
        ("mcp__notes__drop_table", {"table": "orders"}, ""),  # no database's tool
        # what says nothing stays an unknown call, as it was
        ("mcp__web__search", {"query": "delete from users"}, ""),
        ("mcp__memory__recall", {"query": "delete the old users"}, ""),
        ("mcp__graph__run", {"query": "mutation { deleteUser(id: 1) }"}, ""),
        ("mcp__linear__create_issue", {"title": "rm -rf ~", "description": "DROP TABLE users"}, ""),
        ("mcp__puppeteer__puppeteer_evaluate", {"script": "document.querySelector('a').click()"}, ""),
        ("str_replace_editor", {"command": "view", "path": "a"}, ""),
        ("mcp__instinct__run_command", {"command": "rm -rf ~"}, ""),
        ("mcp__a__b", "no JSON", ""),
        ("mcp__a__b", "[" * 100_000, ""),
        ("mcp__a__b", "{" + '"a":{' * 100_000, ""),
        ("mcp__a__b", ["rm -rf ~"], ""),
        ("mcp__a__b", {"command": 3, "path": None, "sql": {}}, ""),
    ],
)
def test_the_shell_text_that_the_arguments_are_equal_to(tool: str, given: object, text: str) -> None:
    assert texts(tool, given) == text


HOME_FILE = f"{judging.HOME}/.bashrc"
HERE = judging.WORKSPACE


@pytest.mark.parametrize(
    ("tool", "given", "wanted"),
    [
        ("mcp__filesystem__write_file", {"path": HOME_FILE, "content": "x"}, [("file.write", HOME_FILE)]),
        ("mcp__filesystem__edit_file", {"path": "~/.bashrc", "edits": [{"oldText": "a"}]}, [("file.write", HOME_FILE)]),
        ("mcp__filesystem__read_file", {"path": ".env"}, [("file.read", f"{HERE}/.env")]),
        ("mcp__filesystem__readMultipleFiles", {"paths": ["a", ".env"]}, [("file.read", f"{HERE}/a"), ("file.read", f"{HERE}/.env")]),
        ("mcp__filesystem__delete_file", {"file_path": "a"}, [("file.delete", f"{HERE}/a")]),
        (
            "mcp__filesystem__move_file",
            {"source": "a", "destination": "~/.bashrc"},
            [("file.move", f"{HERE}/a"), ("file.write", HOME_FILE)],
        ),
        (
            "mcp__filesystem__copy_file",
            {"source": ".env", "destination": "b"},
            [("file.read", f"{HERE}/.env"), ("file.write", f"{HERE}/b")],
        ),
        ("mcp__shots__take", {"savePath": "~/.bashrc"}, [("file.write", HOME_FILE)]),
        ("mcp__images__describe", {"path": ".env"}, [("file.read", f"{HERE}/.env")]),
        ("str_replace_editor", {"command": "create", "path": "a"}, [("file.write", f"{HERE}/a")]),
        ("mcp__filesystem__batch", {"files": [{"path": ".env"}]}, [("file.read", f"{HERE}/.env")]),
        ("mcp__filesystem__list_directory", {"path": "~"}, []),
        ("mcp__github__get_file_contents", {"owner": "o", "repo": "r", "path": ".env"}, []),
        ("mcp__web__fetch", {"uri": "https://example.org/x"}, []),
    ],
)
def test_the_file_tools_that_the_arguments_are_equal_to(tool: str, given: object, wanted: list[tuple[str, str]]) -> None:
    assert files(tool, given) == wanted


def test_a_removed_folder_goes_with_all_that_is_in_it() -> None:
    (effect,) = told(call("mcp__fs__delete_directory", {"path": "a"}), judging.HOME).effects
    assert effect.get("recursive") == "1"


def test_the_folder_is_the_one_that_the_arguments_name() -> None:
    assert place_of(call("mcp__shell__run", {"command": "ls", "workingDirectory": "~"}), judging.HOME) == judging.HOME
    assert place_of(call("mcp__shell__run", {"params": {"cwd": "../b"}}), judging.HOME) == "/srv/work/b"
    assert place_of(call("mcp__shell__run", {"command": "ls"}), judging.HOME) == judging.WORKSPACE


def test_the_call_stays_an_unknown_one_besides_and_all_spans_are_its_own() -> None:
    asked = call("mcp__filesystem__read_file", {"path": ".env"})
    _, effects = read_as(asked, judging.HOME)
    assert effects[:1] == effects_of_intent(asked, judging.HOME)
    assert {(each.span.start, each.span.end) for each in placed(asked, effects)} == {(0, len(asked.content))}
