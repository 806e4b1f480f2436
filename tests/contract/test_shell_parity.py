"""300 command lines with side effects in the drop-in shell and in the real bash: the same output, the same errors, the same status, the same files.

Differences that the jail makes on purpose are not here but in docs/integrations.md ("what differs from bash").
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from shell_harness import REAL, Shell, needs_jail

pytestmark = [pytest.mark.jail, pytest.mark.slow]

LINES = (
    "echo hello", "printf '%s\\n' a 'b c'", "echo $((6*7)) ${x:-default}", "mkdir -p a/b/c", "touch one two", "echo data > file.txt",
    "echo more >> README.md", "cat README.md", "cp README.md copy.md", "mv README.md moved.md", "rm -f README.md", "ln -s README.md link",
    "ln README.md hard", "chmod 600 README.md", "false", "exit 3", "true && false || echo rescued", "nosuchprogram --flag", "ls /nonexistent_x",
    "cd /nonexistent_x", "cat nosuch.txt", "rmdir nosuch", "sh -c 'exit 5'", "bash -c 'echo inner; exit 6'", "kill -TERM $$",
    "for i in 1 2 3; do echo $i > f$i; done", 'while read l; do echo "<$l>"; done < README.md', "case $HOME in /*) echo abs;; esac",
    "f() { local v=1; return 4; }; f", "x=(a b c); echo ${#x[@]} ${x[-1]}", "declare -A m=([k]=v); echo ${m[k]}", "echo {a,b}{1,2}", "echo *.md",
    "echo ~ | wc -c", "test -f README.md && echo there", "[[ -d .git ]] && echo repo", "git status --short", "git log --oneline | wc -l",
    "git rev-parse --abbrev-ref HEAD", "echo new > n && git add n && git status --short", "cat <<E\nheredoc $((1+1))\nE", "cat <<< here-string",
    "sort <<< $'b\\na'", "wc -c < README.md", "diff README.md /dev/null", "grep -c app README.md", "sed -i s/app/APP/ README.md",
    "awk '{print NF}' README.md", "find . -name '*.md' | sort", "head -c 3 /dev/zero | od -An -tx1", "seq 1 3 | tac", "echo err >&2",
    "exec 3> three; echo via3 >&3", "set -o pipefail; false | true", "set -e; false; echo never", "trap 'echo trapped' EXIT; echo body",
    "printf 'a\\0b' | od -An -c", "umask 077; touch private; stat -c %a private", "env -i /bin/echo bare", "python3 -c 'print(2**10)'",
)  # fmt: skip
FORMS = ("{}", "{}\necho status=$?", "( {}\n)", "{{ {}\n}} | cat", "{{ {}\n}} > captured.out 2>&1; cat captured.out")


def prepared(template: Path, folder: Path) -> Path:
    shutil.copytree(template, folder, symlinks=True)
    return folder


def tree(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Every file with mode and content; the index of git holds times, so only its presence counts."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith(".git/"):
            continue
        content: bytes | str = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
        found[name] = (path.lstat().st_mode, content)
    return found


@pytest.fixture
def shell(tmp_path: Path, workspace: Path) -> Shell:
    found = Shell(tmp_path, workspace)
    needs_jail(found)
    return found


def plain(content: bytes | str, program: str) -> bytes | str:
    """The content with the shell's own name, which stands in its messages, made the same."""
    return content.replace(program.encode(), b"bash") if isinstance(content, bytes) else content


def difference(number: int, line: str, shell: Shell, place: Path) -> str:
    """Run one line in both shells; "" when nothing differs."""
    folder = place / str(number) / "app"  # one after the other in the same place, so that paths in messages are the same
    sides = []
    for program, options in ((shell.path, ()), (REAL, ("--norc", "--noprofile"))):
        prepared(shell.workspace, folder)
        done = shell.run(*options, "-c", line, shell=program, cwd=folder)
        files = {name: (mode, plain(content, program)) for name, (mode, content) in tree(folder).items()}
        sides.append((done.returncode, plain(done.stdout, program), plain(done.stderr, program), files))
        shutil.rmtree(folder)
    return "" if sides[0] == sides[1] else f"{line!r}:\n  ours   {sides[0][:3]}\n  theirs {sides[1][:3]}"


def test_the_same_in_both_shells(shell: Shell, tmp_path: Path) -> None:
    lines = [form.format(line) for line in LINES for form in FORMS]
    assert len(lines) >= 300
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda pair: difference(*pair, shell, tmp_path / "runs"), enumerate(lines)))
    problems = [each for each in found if each]
    assert not problems, "\n".join(problems)
