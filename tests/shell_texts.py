"""Hypothesis strategies for shell text: well-formed scripts from a grammar, and arbitrary sequences of shell fragments."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = ["c1", "c2", "c3", "rm", "ls"]
VARIABLES = ["x", "y", "u"]
REDIRECTIONS = [" >f", " 2>&1", " <<<$x", " >>f 2>/dev/null", " <<E\n$x $(c3 h)\nE\n", " <<'E'\n$(c3 h)\nE\n"]


def words() -> st.SearchStrategy[str]:
    """One word with quotes, parameters, braces, substitutions."""
    plain = st.sampled_from(["a", "b c".replace(" ", "\\ "), "-f", "x=1", "é", "1", "--", "a.c", "/q/r"])
    pieces = st.one_of(
        plain,
        st.sampled_from(
            ["$x", "${x}", '"$x"', '"${x:-d e}"', "${u:-d e}", "${x%b}", "${x#a}", "${x/a/q}", "${#x}", "$#", '"$@"', "$*", "${x^^}"]
        ),
        st.sampled_from(["'a b'", '"a b"', "$'a\\tb'", '""', "''", "\\$x", '"\\$x"', "'$x'", "a'b'\"c\""]),
        st.sampled_from(["{a,b}", "{1..3}", "{a,{b,c}}", "{a", "b}", "{}", "~", "~/q", "$((1+2))", "$((y+1))"]),
        st.sampled_from(["$(echo p q)", '"$(echo p q)"', "$(c1 s)", "`c2 t`", "$(printf '%s' z)", '"${u:-$(c3 w)}"']),
    )
    return st.lists(pieces, min_size=1, max_size=3).map("".join)


def simple() -> st.SearchStrategy[str]:
    """A simple command or an assignment."""
    command = st.tuples(st.sampled_from(NAMES), st.lists(words(), max_size=3)).map(lambda t: " ".join([t[0], *t[1]]))
    assignment = st.tuples(st.sampled_from(VARIABLES), st.sampled_from(["=", "+="]), words()).map("".join)
    variable_command = st.sampled_from(
        ["$x a", '"$x" a', "$u c1 a", "${y:-c2} a", "eval 'c1 a; x=q'", 'eval "c2 $x"', "set -- p 'q r'", "shift"]
    )
    redirected = st.tuples(
        command, st.sampled_from(REDIRECTIONS)
    ).map("".join)
    return st.one_of(command, command, assignment, variable_command, redirected)


def scripts() -> st.SearchStrategy[str]:
    """A script of a few commands, nested a few levels."""
    return st.recursive(simple(), _compound, max_leaves=6)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = inner.map(lambda text: text if text.endswith("\n") else text + "\n")
    name = st.sampled_from(VARIABLES)
    return st.one_of(
        st.tuples(body, body).map("".join),
        st.tuples(
            inner.filter(lambda t: "<<E" not in t and "<<'" not in t), st.sampled_from([" && ", " || ", " | ", "; ", " & "]), body
        ).map("".join),
        body.map(lambda b: f"(\n{b})\n"),
        body.map(lambda b: f"{{\n{b}}}\n"),
        st.tuples(body, body, body).map(lambda t: f"if\n{t[0]}then\n{t[1]}else\n{t[2]}fi\n"),
        st.tuples(name, st.lists(words(), min_size=1, max_size=3), body).map(lambda t: f"for {t[0]} in {' '.join(t[1])}; do\n{t[2]}done\n"),
        st.tuples(words(), body, body).map(lambda t: f"case {t[0]} in a*) {t[1]};; *) {t[2]};; esac\n"),
        body.map(lambda b: f"f() {{\n{b}}}\nf p 'q r'\n"),
        st.tuples(name, body).map(lambda t: f"{t[0]}=$(\n{t[1]})\n"),
        body.map(lambda b: f"while read x; do\n{b}done <<< $'p q\\nr'\n"),
        body.map(lambda b: f"c1 <(\n{b})\n"),
        body.map(lambda b: f"trap '{b.strip()}' EXIT\n" if "'" not in b else b),
        body.map(lambda b: f"until c2; do\n{b}break\ndone\n"),
    )


FRAGMENTS = [
    "rm A", "rm B", "c1", "c2 x", " ", ";", "&", "&&", "||", "|", "\n", "(", ")", "{ ", "; }", "$(", ")", "`", '"', "'", "\\", "$x", "${x:-", "${x", "}",
    "${", "<<E\n", "\nE\n", "<<'E'\n", "<<-E\n", "<(", ">(", "<<<", ">f", "<f", ">&2", "2>&1", "$'", '$"', "#", " #", "if ", "; then ", "; fi", "for i in ", "; do ",
    "; done", "while ", "case x in ", "esac", "x) ", ";;", "f() ", "x=", "x+=", "a=(", "[[ ", "]]", "((", "))", "$((", "!", "! ", "*", "?", "[a", "]", "~",
    "{a,b}", "{", ",", "=", "a", "echo ", "true", "false", "\r", "\t", "$", "@", "$@", "eval ", "'rm C'", "local ", "declare ", "export ", "é", "${x#", "${x/", "time ",
    "function ", "$[", "1+1", "%", "^", "-", "--", "cd /tmp", "return", "break", "exit", "set -- ", "read x", "{fd}>", "1", "in ", "do ", "then ",
]  # fmt: skip


def fragments() -> st.SearchStrategy[str]:
    """Any sequence of pieces of shell, mostly not valid."""
    return st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=14).map("".join)
