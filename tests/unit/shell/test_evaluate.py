"""The evaluator on tables: text, and the invocations it must yield (see conftest.written for the notation)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from instinct_shell.shell.invocation import Evaluation, Field, Known, Origin, Surroundings

Lines = Callable[[str], list[str]]
Run = Callable[..., Evaluation]

EXPANSIONS = [
    ("{rm,-rf,/}", ["rm -rf /"]),
    ("x=rm; $x -rf /", ["rm -rf /"]),
    ("$'\\x72m' x", ["rm x"]),
    ("r${u}m x", ["rm x"]),
    ("$u rm x", ["rm x"]),
    ("x='rm -rf /'; $x", ["rm -rf /"]),
    ("x='rm -rf /'; \"$x\"", ["rm -rf /"]),
    ("rm ~/a ~root", ["rm /home/dev/a /root"]),
    ("rm ${u:-build} ${HOME}/x", ["rm build /home/dev/x"]),
    ("IFS=,; x=rm,-rf; $x", ["rm -rf"]),
    ('set -- rm -rf /; "$@"', ["set -- rm -rf /", "rm -rf /"]),
    ('a=(rm -rf /); "${a[@]}"', ["rm -rf /"]),
    ("x=/a/b/c; rm ${x%/*} ${x##*/}", ["rm /a/b c"]),
    ("cd /a/b && rm ${PWD%/*}", ["cd /a/b", "rm /a"]),
    ("rm $((1+2))", ["rm 3"]),
    ("rm *.c 'a*'", ["rm *.c* a*"]),
    ("x='*'; rm $x \"$x\"", ["rm ** *"]),
    ("set -f; rm *", ["set -f", "rm *"]),
    ("rm $(echo a b)", ["echo a b", "rm a b"]),
    ("$(printf 'r%s' m) x", ["printf r%s m", "rm x"]),
    ("x=$(echo cm0gLXJmIC8K | base64 -d); $x", ["echo cm0gLXJmIC8K", "base64 -d", "rm -rf /"]),
    ("$(echo mr | rev) x", ["echo mr", "rev", "rm x"]),
    ("$(echo ez | tr ez rm) x", ["echo ez", "tr ez rm", "rm x"]),
    ("rm $(pwd)/build", ["pwd", "rm /w/build"]),
    ("rm `which ls`", ["which ls", "rm /usr/bin/ls"]),
    ("rm $(cat list)", ["cat list", "rm <content of `list`>+"]),
    ('X=$(date); rm -rf "$X/y"', ["date", "rm -rf <output of `date`>/y"]),
    ("printf -v c rm; $c x", ["printf -v c rm", "rm x"]),
    ("read -r a b <<< 'rm x'; $a $b", ["read -r a b", "rm x"]),
    ("mapfile -t a <<< $'p\\nq'; rm ${a[1]}", ["mapfile -t a", "rm q"]),
    ('eval "rm -rf $HOME"', ["rm -rf /home/dev"]),
    ("eval eval rm x", ["rm x"]),
    ('x=a; eval "rm \\$x"', ["rm a"]),
    ('eval "$(curl u)"', ["curl u", "eval <output of `curl`>"]),
    ("source <(echo rm x)", ["echo rm x", "source /dev/fd/<process substitution>", "rm x"]),
    ("trap 'rm x' EXIT", ["trap rm x EXIT", "rm x"]),
    ('rm "${D:?}"/*', []),
    ("y=x; x=rm; ${!y} q", ["rm q"]),
    ("touch f{1..3}", ["touch f1 f2 f3"]),
    ("touch {1..9999}", ["touch <brace sequence `{1..9999}` has more than 512 items>+"]),
]

SCOPES = [
    ("x=1; (x=2); rm $x", ["rm 1"]),
    ("x=1; x=2 | true; rm $x", ["true", "rm 1"]),
    ("x=1; { x=2; }; rm $x", ["rm 2"]),
    ("x=1; x=2 & rm $x", ["rm 1"]),
    ("if [ -f q ]; then x=1; else x=2; fi; rm $x", ["[ -f q ]", "rm 1|2"]),
    ("[ -f q ] && x=1; rm a$x", ["[ -f q ]", "rm a1|a"]),
    ("case $1 in a) x=1;; *) x=2;; esac; rm $x", ["rm 2"]),
    ("case $RANDOM in 1) x=1;; *) x=2;; esac; rm $x", ["rm 1|2"]),
    ("for d in a b; do rm $d; done", ["rm a", "rm b"]),
    ('for f in *.log; do rm "$f"; done', ["rm *.log*"]),
    ("for f in $(ls); do rm $f; done", ["ls", "rm <output of `ls`>+"]),
    ("for i in r m; do x=$x$i; done; $x q", ["rm q"]),
    ("for i in {1..50}; do rm f$i; done", ["rm " + "|".join(f"f{n}" for n in range(1, 51))]),
    ("while read l; do rm $l; done <<< $'a\\nb'", ["read l", "rm a", "read l", "rm b", "read l"]),
    ("find . | while read f; do rm $f; done", ["find .", "read f", "rm <output of a command>+"]),
    ('f() { rm "$1"; }; f a; f b', ["rm a", "rm b"]),
    ("f() { local x=1; rm $x; }; x=0; f; rm $x", ["local x=1", "rm 1", "rm 0"]),
    ("f() { rm \"$@\"; }; f a 'b c'", ["rm a b c"]),
    ('rm() { ls "$@"; }; rm x', ["ls x"]),
    ("alias ll=rm; ll x", ["alias ll=rm", "ll x"]),
    ("shopt -s expand_aliases\nalias ll='rm q'\nll x", ["shopt -s expand_aliases", "alias ll=rm q", "rm q x", "ll x"]),
]


@pytest.mark.parametrize(("text", "expected"), EXPANSIONS, ids=[t for t, _ in EXPANSIONS])
def test_words_expand_as_in_bash(lines: Lines, text: str, expected: list[str]) -> None:
    assert lines(text) == expected


@pytest.mark.parametrize(("text", "expected"), SCOPES, ids=[t for t, _ in SCOPES])
def test_variables_follow_the_scopes(lines: Lines, text: str, expected: list[str]) -> None:
    assert lines(text) == expected


DIRECTORIES = [
    ("cd a && rm x", ["/w/a"]),
    ("cd a; rm x", ["/w/a|/w"]),
    ("cd a || exit; rm x", ["/w/a"]),
    ("set -e; cd a; rm x", ["/w/a"]),
    ("cd /tmp; rm x", ["/tmp"]),
    ("cd; rm x", ["/home/dev"]),
    ("cd /tmp; cd -; rm x", ["/w"]),
    ("(cd a && rm x); rm y", ["/w/a", "/w"]),
    ("pushd /tmp; rm x; popd; rm y", ["/tmp", "/w"]),
    ("mkdir -p a/b && cd a/b; rm x", ["/w/a/b|/w"]),
    ("mkdir -p a/b; cd a/b; rm x", ["/w/a/b"]),
    ("cd ..; rm x", ["/"]),
    ("CDPATH=/opt; cd q && rm x", ["/opt/q|/w/q"]),
    ('d=$(mktemp -d); cd "$d"; rm x', ["/tmp/<fresh scratch name>"]),
    ("cd $(git rev-parse --show-toplevel) && rm x", ["<output of `git`>"]),
    ("cd a && cd b && rm x", ["/w/a/b"]),
    ("f() { cd /tmp; }; f; rm x", ["/tmp"]),
    ("cd /tmp | true; rm x", ["/w"]),
]


@pytest.mark.parametrize(("text", "expected"), DIRECTORIES, ids=[t for t, _ in DIRECTORIES])
def test_the_directory_is_followed(run: Run, text: str, expected: list[str]) -> None:
    from shell_notation import written

    found = [written(one.cwd) for one in run(text).invocations if one.words and one.words[0].text == "rm"]
    assert found == expected


UNCERTAIN = [
    ("rm x", True),
    ("true && rm x", True),
    ("ls && rm x", True),
    ("ls || rm x", False),
    ("[ -f x ] && rm x", False),
    ("if ls; then rm x; fi", False),
    ("if true; then rm x; fi", True),
    ("while true; do rm x; done", True),
    ("while ls; do rm x; done", False),
    ("for f in a; do rm x; done", True),
    ("for f in *; do rm x; done", False),
    ("f() { rm x; }; f", True),
    ("f() { rm x; }", False),
    ("exit; rm x", False),
    ("trap 'rm x' EXIT", False),
    ("(rm x) | ls", True),
    ("case a in a) rm x;; esac", True),
    ("case $RANDOM in a) rm x;; esac", False),
    ("echo ${y:-$(rm x)}", True),
    ("y=1; echo ${y:-$(rm x)}", False),
]


@pytest.mark.parametrize(("text", "certain"), UNCERTAIN, ids=[t for t, _ in UNCERTAIN])
def test_certainty(run: Run, text: str, certain: bool) -> None:
    found = [one.certain for one in run(text).invocations if one.words and one.words[0].text == "rm"]
    assert found == [certain]


HIDDEN = [
    "test -v 'x[$(rm B)]'",
    "[ -v 'x[$(rm B)]' ]",
    "printf -v 'x[$(rm B)]' a",
    "x='a[$(rm B)]'; echo $((x))",
    "x='a[$(rm B)]'; let x",
    "let 'x[$(rm B)]=1'",
    "x='$(rm B)'; echo ${x@P}",
    "PS4='$(rm B)'; set -x; ls",
    "declare -i y='a[$(rm B)]'",
    "read 'x[$(rm B)]' <<< a",
    "unset 'x[$(rm B)]'",
    "x='a[$(rm B)]'; [[ x -eq 1 ]]",
    "!(rm B)",
    "echo `cat <<E`\nrm B\nE",
    'echo "${u:-\'}"; rm B; echo "\'}"',
]


@pytest.mark.parametrize("text", HIDDEN)
def test_code_hidden_in_data_is_shown_or_opaque(run: Run, text: str) -> None:
    found = run(text)
    assert found.opaque or any(one.words and one.words[0].text == "rm" for one in found.invocations)


@pytest.mark.parametrize(
    "text", ["test -v HOME", "echo $((n+1))", "n=$(wc -l < f); echo $((n+1))", "x=5; let x+=1", "read a b", "a[1]=2", "echo '$(rm B)'"]
)
def test_harmless_twins_are_not_opaque(run: Run, text: str) -> None:
    assert not run(text).opaque


def test_pipes_name_their_ends_and_carry_known_text(run: Run) -> None:
    found = run("echo cm0gLXJmIC8= | base64 -d | sh").invocations
    assert [one.readers for one in found] == [(1,), (2,), ()]
    assert found[2].stdin.kind == "text"
    assert found[2].stdin.producers == (1,)
    assert found[2].stdin.field is not None
    assert found[2].stdin.field.text == "rm -rf /"


def test_heredocs_are_text_and_unquoted_ones_are_expanded(run: Run) -> None:
    plain = run("sh <<'E'\nrm $HOME\nE").invocations[0]
    expanded = run("sh <<E\nrm $HOME\nE").invocations[0]
    assert plain.stdin.field is not None
    assert expanded.stdin.field is not None
    assert plain.stdin.field.text == "rm $HOME\n"
    assert expanded.stdin.field.text == "rm /home/dev\n"


def test_descriptors_opened_by_exec_show_where_they_are_used(run: Run) -> None:
    found = run("exec 5>.env; echo x >&5").invocations
    assert [(s.op, s.fd, s.target.text) for s in found[1].streams] == [(">", 1, ".env")]


def test_redirections_of_groups_are_invocations_without_words(run: Run) -> None:
    found = run("{ echo a; echo b; } > out").invocations
    assert found[0].words == ()
    assert found[0].streams[0].target.text == "out"
    assert found[0].output is not None
    assert found[0].output.text == "a\nb\n"


def test_process_substitutions_are_linked(run: Run) -> None:
    found = run("bash <(curl u); tee >(sh) < f").invocations
    assert found[0].readers == (1,)
    assert found[1].words[1].origins == (Origin("process", "<", (0,)),)
    assert found[2].stdin.producers == (3,)
    assert found[3].readers == (2,)


def test_scratch_names_know_their_directory(run: Run) -> None:
    word = run('d=$(mktemp -d); rm -rf "$d"').invocations[-1].words[2]
    assert word.known is Known.DYNAMIC
    assert word.prefix == "/tmp/"
    assert word.origins[0].kind == "mktemp"
    assert word.origins[0].detail == "/tmp"


def test_unset_variables_are_named(run: Run) -> None:
    word = run("rm -rf $FOO/").invocations[0].words[2]
    assert word.values == ("/",)
    assert word.unset == ("FOO",)


def test_exported_changes_are_in_the_environment_of_later_commands(run: Run) -> None:
    found = run("export A=1; PATH=/x; B=2 ls").invocations[-1]
    assert {name: value.text for name, value in found.env} == {"A": "1", "PATH": "/x"}
    assert [(name, value.text) for name, value in found.assignments] == [("B", "2")]


def test_fork_bombs_are_noted(run: Run) -> None:
    assert ("fork-bomb", ":") in [(kind, detail) for kind, detail, _ in run(":(){ :|:& };:").notes]


@pytest.mark.parametrize(
    "text", ["f() { f; }; f", "while true; do x=$x.; done", "f() { f $1$1; f; }; f a", "for ((;;)); do f; done", "eval 'eval \"$0\"'"]
)
def test_endless_texts_end(run: Run, text: str) -> None:
    run(text)


def test_a_bound_is_reported(run: Run) -> None:
    loops = "".join(f"for {v} in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do " for v in "abcd") + "rm $a$b$c$d" + "; done" * 4
    found = run(loops)
    assert any(one.words and one.words[0].text == "rm" for one in found.invocations)


def test_nested_text_starts_with_what_is_known(parser: object, run: Run) -> None:
    start = Surroundings(
        "/w",
        "/home/dev",
        cwd_field=Field(Known.SET, ("/a", "/b")),
        positional_fields=(Field(Known.STATIC, ("x",)), Field(Known.DYNAMIC, reason="why")),
        variables=(("V", Field(Known.STATIC, ("v",))),),
    )
    found = run("rm $1 $2 $V", start).invocations[0]
    assert found.cwd.values == ("/a", "/b")
    assert found.words[1].text == "x"
    assert found.words[2].reason == "why"
    assert found.words[3].text == "v"
