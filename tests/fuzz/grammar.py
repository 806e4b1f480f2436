"""Random shell text: sentences of a grammar with most of bash's constructs, sequences of fragments, and lines bent out of known ones."""

from __future__ import annotations

import random
import re

from shell_texts import FRAGMENTS

COMMANDS = ("c1", "c2", "c3", "rm", "ls", "git", "./run", "/q/tool", "\\c1", "'c2'", 'c"3"', "command c1", "builtin echo", "exec c3", "time c1", "! c2", "c1 &")
NAMES = ("x", "y", "u", "arr")
# No letters beyond ASCII: the throw-away root has no locale, so bash counts bytes there.
PLAIN = (
    "a", "-f", "b\\ c", "x=1", "--", "a.c", "/q/r", "'a b'", '"a b"', "$'a\\tb'", "$'\\x72m'", '""', "''", "*", "?.c", "[ab]*", "~", "~/q", "{a,b}", "{1..3}",
    "{a,{b,c}}", "{}", "a'b'\"c\"", "\\$x", "!", "%", "1", "007",
)  # fmt: skip
# Not drawn, since bash itself is odd there: `$!` without a job keeps its word from being split, `${!x}` of nothing ends the whole line.
PARAMETERS = (
    "$x", "${x}", '"$x"', '"${x:-d e}"', "${u:-d e}", "${u:=w}", "${x:+alt}", "${x%b}", "${x##*/}", "${x/a/q}", "${x//a}", "${#x}", "${x:1}", "${x:0:2}", "${x^^}",
    "${x,,}", "${!x*}", "${x@Q}", "$#", '"$@"', "$*", "$1", "$?", "$$", "$0", "$_", "$-", "${arr[0]}", '"${arr[@]}"', "${#arr[@]}", "${arr[@]:1}",
    "${!arr[@]}", "${arr[-1]}", "${x-}", "$y$x", "${HOME}", "$PWD", "$IFS", "${x/a/<&>}", "${m[k]}", '"${!m[@]}"', "${arr[*]}", '"${arr[*]}"', "${x@A}",
    "${FUNCNAME[0]}", "${PIPESTATUS[0]}", "${arr[@]/p/q}", '"${x[@]}"', "${arr[1]:=n}", '"${@:2}"', "${y:+$x}",
)  # fmt: skip
ARITHMETIC = ("$((1+2))", "$((y+1))", "$((x++))", "$[1+1]", "$((u?1:2))", "$((2#101))", "$((arr[0]))", "$((x=y))", "$(($x*2))", "$((y+=x++))")
BUILTINS = (
    "eval 'c1 a; x=q'", 'eval "c2 $x"', "set -- p 'q r'", "shift", "shift 2", "set -e", "set -f", "set +f", "cd d", "cd ..", "cd /tmp", "unset x", "export x=e",
    "readonly r=1", "read x y <<< 'p q r'", "IFS=: read -r x y <<< p:q", "printf -v x '%s-' a b", "mapfile -t arr <<< $'p\\nq'", "declare -a arr=(p 'q r')",
    "arr=(p q)", "arr+=(s)", "arr[2]=t", "declare -A m=([k]=v)", "IFS=,", "shopt -s nullglob", "shopt -s extglob", "alias c9=c1", "true", "false", ":", "return 0",
    "trap 'c3 bye' EXIT", "getopts ab: o -a -b z", "pushd /tmp", "popd", "let y=1+2", "((y++))", "local z=1", "wait", "x=$(echo p q)", "x=`c1 s`", "x=y; y=rm", "hash -r",
    "[[ $x == a* ]] && c1 m", "[[ $x =~ (a)(b) ]] && c2 ${BASH_REMATCH[1]}", '[ -n "$x" ] && c3 n', "test -f q || c1 z", "source ./nofile", "exec 3>f",
    "exec 3>&-", "exit 0", "declare -n nr=x; nr=c2", "${u:-c2} a", "$x a", '"$x" a', "type c1", "command -v c1", "echo $x", "set -o pipefail", "ulimit -c 0", "umask 022",
    "readonly x=2", "declare -i y=x+1", "declare -u x", "declare -l y=AB", "shopt -s nocasematch", "shopt -s lastpipe", "trap 'c3 t $x' DEBUG",
    "trap 'c2 e $x' ERR", "trap 'y=z' RETURN", "trap 'c1 $y' USR1; kill -USR1 $$", "unset 'arr[1]'", "arr[0]+=q", "local x=l", "local y", "declare -g y=g", "x[1]=e",
    "set - a b", "read -n 1 x <<< pq", "read x", "read -r y x", "mapfile -t arr", "declare -A m=([k]=v [j]=w)", "printf -v 'arr[1]' r", "x=b f q", "f $x", "break",
    "continue", "unset -f f", "let 'x=y+1'", "[[ $x -eq y ]] || c2 n", "set -u", "select x in a b; do c1 $x; break; done", "f() { local y=$1; c2 $y; x=n; }", "declare -n n=arr",
    "n+=(v)", "IFS=' x'", "unset IFS", "x=$(c2 2>&1)", "y=$(f a)", "alias c2='c1 al'; shopt -s expand_aliases",
)  # fmt: skip
STREAMS = (
    " >f", " 2>&1", " &>f", " >|f", " >>f 2>/dev/null", " <<<$x", " <<< 'a b'", " </dev/null", " 3>f", " {fd}>f", " <<E\n$x $(c3 h)\nE\n", " <<'E'\n$(c3 h)\nE\n",
    " <<-E\n\ta ${x}\n\tE\n", " <(c2 i)", " >(c2 o)", " >&2",
)  # fmt: skip


class Sentences:
    """Draws texts from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def sentence(self, depth: int = 3) -> str:
        """A script, mostly valid."""
        return self._lines(depth, self.chance.randint(1, 4))

    def fragments(self) -> str:
        """Any sequence of pieces of shell, mostly not valid."""
        return "".join(self.chance.choice(FRAGMENTS) for _ in range(self.chance.randint(2, 14)))

    def bent(self, lines: list[str]) -> str:
        """A known line with words dropped, doubled, exchanged, quoted anew, wrapped or joined to another line."""
        pick = self.chance.choice
        text = pick(lines)
        for _ in range(self.chance.randint(1, 4)):
            words = re.split(r"( +)", text)
            at = self.chance.randrange(len(words))
            kind = self.chance.randrange(9)
            if kind == 0:
                del words[at]
            elif kind == 1:
                words.insert(at, words[self.chance.randrange(len(words))])
            elif kind == 2:
                words[at] = pick(re.split(r" +", pick(lines)))
            elif kind == 3:
                words.insert(at, pick(FRAGMENTS))
            elif kind == 4:
                words[at] = pick(('"{}"', "'{}'", "$({})", "`{}`", "${{{}}}", "{{{},}}", "\\{}", "<({})")).format(words[at])
            elif kind == 5:
                words = [text, pick(("; ", " && ", " | ", "\n", " & ", " || ", " > ", " < ", " <<< ")), pick(lines)]
            elif kind == 6:
                words = [pick(("bash -c '{}'", "({})", "{{ {}; }}", "f() {{ {}; }}; f", "xargs {}", "find . -exec {} \\;", "sudo {}", "env {}", "if c1; then {}; fi")).format(text)]
            elif kind == 7:
                cut = self.chance.randrange(len(text) + 1)
                words = [text[:cut], pick(FRAGMENTS), text[cut:]]
            else:
                cut = self.chance.randrange(len(text) + 1)
                words = [text[:cut]]
            text = "".join(words)[:2_000]
            if not text:
                text = pick(lines)
        return text

    def _lines(self, depth: int, count: int) -> str:
        out = ""
        for _ in range(count):
            out += self._command(depth)
            if not out.endswith("\n"):
                out += self.chance.choice(("; ", "\n", " && ", " || ")) if not out.endswith("&") else " "
        return re.sub(r"( && | \|\| |; )$", "\n", out)

    def _block(self, depth: int) -> str:
        text = self._lines(depth - 1, self.chance.randint(1, 2))
        return text if text.endswith("\n") else text + "\n"

    def _command(self, depth: int) -> str:
        pick = self.chance.choice
        if depth <= 0 or self.chance.random() < 0.55:
            return self._simple(depth)
        kind = self.chance.randrange(17)
        block, name = self._block(depth), pick(NAMES[:3])
        if kind == 0:
            return f"(\n{block})"
        if kind == 1:
            return f"{{\n{block}}}"
        if kind == 2:
            return f"if {self._simple(0)}\nthen\n{block}else\n{self._block(depth)}fi"
        if kind == 3:
            return f"for {name} in {self._words(depth)}; do\n{block}done"
        if kind == 4:
            return f"case {self._word(depth)} in a*|p) {block};; {pick(('*', '?', '[a-c]*'))}) {self._block(depth)}{pick((';;', ';&', ';;&'))} esac"
        if kind == 5:
            return f"f() {{\n{block}}}\nf {self._words(depth)}"
        if kind == 6:
            return f"{name}=$(\n{block})"
        if kind == 7:
            return f"while read {name}; do\n{block}done <<< {self._word(depth)}"
        if kind == 8:
            return f"{self._simple(0)} | {{\n{block}}}"
        if kind == 9:
            return f"c1 <(\n{block})"
        if kind == 10:
            return f"until c2; do\n{block}break\ndone"
        if kind == 11:
            return f"for ((y=0; y<2; y++)); do\n{block}done"
        if kind == 12:
            return f"eval '{block.strip()}'" if "'" not in block else f"(\n{block})"
        if kind == 13:
            return f"function g {{\n{block}}}; g p 'q r' | c3"
        if kind == 14:
            return f"{{\nread {name}; {block}}} <<< $'p q\\nr'"
        if kind == 15:
            return f"f() {{\nlocal {name}={self._word(depth)}\n{block}}}\n{pick(('f', 'x=t f', 'f | c2', 'y=$(f a)'))} {self._words(depth)}"
        return f"bash -c '{block.strip()}' n {self._word(depth)}" if "'" not in block else f"! {{\n{block}}}"

    def _simple(self, depth: int) -> str:
        pick = self.chance.choice
        draw = self.chance.random()
        if draw < 0.25:
            return pick(BUILTINS)
        if draw < 0.35:
            return f"{pick(NAMES[:3])}{pick(('=', '+=', '='))}{self._word(depth)}"
        if draw < 0.4:
            return f"{pick(NAMES[:3])}={self._word(depth)} {pick(COMMANDS[:5])} {self._word(depth)}"
        text = f"{pick(COMMANDS[:-1])} {self._words(depth)}" if draw < 0.97 else pick(COMMANDS)
        return text + pick(STREAMS) if self.chance.random() < 0.15 else text

    def _words(self, depth: int) -> str:
        return " ".join(self._word(depth) for _ in range(self.chance.randint(1, 3)))

    def _word(self, depth: int) -> str:
        pick = self.chance.choice
        return "".join(self._piece(depth, pick) for _ in range(pick((1, 1, 1, 2, 3))))

    def _piece(self, depth: int, pick: object) -> str:
        choose = self.chance.choice
        draw = self.chance.random()
        if draw < 0.45:
            return choose(PLAIN)
        if draw < 0.8:
            return choose(PARAMETERS)
        if draw < 0.87:
            return choose(ARITHMETIC)
        inner = self._simple(depth - 1).strip() if depth > 0 else "c1 s"
        if "\n" in inner or "`" in inner:
            inner = "c3 w"
        return choose(("$({})", '"$({})"', "`{}`")).format(inner)
