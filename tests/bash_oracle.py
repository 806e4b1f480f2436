"""Runs shell text in real bash with no program but mocks, and tells which commands bash ran.

Each text runs as an ordinary user in a throw-away root of its own making (user, pid, mount and network namespaces, `unshare -R`) that holds
bash, its libraries and nothing else. PATH is empty, so every external command ends in `command_not_found_handle`, which logs its words. A
text can harm nothing but that root.

bash forks for each call of that handler, so a record has a file of its own, named by the process: commands that run at once cannot write into
each other's record (one file would mix them, since bash writes line by line), and a text may close or redirect every descriptor. A record that
its process was killed in the middle of says itself that it is cut short. Nothing is read before all processes in the background have ended.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from instinct_shell.shell.invocation import Evaluation, Field, Invocation, Known

HOME = "/home/dev"
_RUNNER = r"""
for file in /texts/*; do
  number=${file##*/}
  text=; while IFS= read -r -d '' part; do text=$part; done < "$file"
  cd "/w/$number"
  ( ulimit -t 1 -f 2048; exec -c /tools/timeout -s KILL 2 /bin/bash --norc --noprofile /launch "$text" "$number" )
done </dev/null >/dev/null 2>/dev/null
for (( tries = 0; tries < 150; tries++ )); do
  left=(/proc/[0-9]*)
  (( ${#left[@]} < 2 )) && break
  read -r -t 0.02 <>/never
done 2>/dev/null
"""
_LAUNCH = r"""
export LC_ALL=C.UTF-8 HOME=/home/dev PATH=/nowhere BASH_ENV=/prelude ORACLE_TEXT=$2
exec /bin/bash --norc --noprofile -c -- "$1" bash
"""
_PRELUDE = r"""
builtin eval "command_not_found_handle() { builtin printf '%s\\0' \"\$#\" \"\$@\" >>\"/logs/$ORACLE_TEXT/\$BASHPID\"; return STATUS; }"
unset BASH_ENV ORACLE_TEXT
trap wait EXIT
"""


def available() -> bool:
    """Whether bash and unprivileged namespaces are there."""
    if not shutil.which("unshare") or not Path("/bin/bash").exists():
        return False
    return subprocess.run(["unshare", "-Urmpfn", "true"], capture_output=True, check=False, **_ordinary()).returncode == 0


def _ordinary() -> dict[str, Any]:
    """Arguments that make a child an ordinary user, also when the tests run as root."""
    return {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


def prepare(root: Path) -> None:
    """Fills the root with bash and the libraries it needs."""
    for folder in ("bin", "texts", "logs", "w", "dev", "tmp", "nowhere", "home/dev", "etc", "proc", "tools"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "dev/null").touch()
    os.mkfifo(root / "never")
    (root / "dev/fd").symlink_to("/proc/self/fd")
    (root / "dev/stdin").symlink_to("/proc/self/fd/0")
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/bash\n")
    shutil.copy2("/bin/bash", root / "bin/bash")
    timeout = shutil.which("timeout") or "/usr/bin/timeout"
    shutil.copy2(timeout, root / "tools/timeout")
    listed = subprocess.run(["ldd", "/bin/bash", timeout], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"(/[^\s:]+)\s", listed):
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(os.path.realpath(library), target)


def run(texts: list[str], root: Path, status: int = 0, timeout: float = 120) -> list[list[tuple[str, ...]]]:
    """The commands that bash ran for each text, as word lists. status: what every mock returns."""
    for folder in ("texts", "logs", "w"):
        shutil.rmtree(root / folder, ignore_errors=True)
        (root / folder).mkdir()
    (root / "runner").write_text(_RUNNER)
    (root / "launch").write_text(_LAUNCH)
    (root / "prelude").write_text(_PRELUDE.replace("STATUS", str(status)))
    for number, text in enumerate(texts):
        (root / "texts" / f"{number:06}").write_bytes(text.encode("utf-8", "surrogateescape") + b"\0")
        (root / "w" / f"{number:06}").mkdir()
        (root / "logs" / f"{number:06}").mkdir()
    for folder, _, files in os.walk(root):
        os.chmod(folder, 0o777)
        for path in (os.path.join(folder, name) for name in files):
            if not os.path.islink(path):
                os.chmod(path, 0o777)
    argv = ["unshare", "-Urmpfn", "--kill-child", "--mount-proc", "-R", str(root), "/bin/bash", "--norc", "--noprofile", "/runner"]
    subprocess.run(argv, env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False, **_ordinary())
    return [_log(root / "logs" / f"{number:06}") for number in range(len(texts))]


def cwd_of(number: int) -> str:
    """The directory that text number N runs in."""
    return f"/w/{number:06}"


def _log(folder: Path) -> list[tuple[str, ...]]:
    """The records of one text, in the order of their processes."""
    out = []
    for path in sorted(folder.iterdir(), key=lambda path: int(path.name)):
        pieces = path.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
        while pieces and len(pieces) > (count := int(pieces[0])):  # the record of a process that was killed may be cut short
            out.append(tuple(pieces[1 : 1 + count]))
            pieces = pieces[1 + count :]
    return out


# ---------------------------------------------------------------- comparison


def missing(ran: list[tuple[str, ...]], evaluation: Evaluation) -> list[tuple[str, ...]]:
    """The commands that bash ran and that no invocation describes; none when a piece of the text is opaque, or an `eval` of unknown text."""
    if evaluation.opaque or any(one.words and one.words[0].text == "eval" for one in evaluation.invocations):
        return []
    return [words for words in ran if not any(describes(invocation, words) for invocation in evaluation.invocations)]


def describes(invocation: Invocation, words: tuple[str, ...]) -> bool:
    """Whether this invocation can be that command."""
    fields = invocation.words
    while fields and fields[0].text in ("command", "exec", "builtin") and words[:1] != (fields[0].text,):
        fields = fields[1:]
        while fields and (fields[0].text or "").startswith("-"):
            fields = fields[1:]
    return _match(fields, words)


def _match(fields: tuple[Field, ...], words: tuple[str, ...]) -> bool:
    if not fields:
        return not words
    field = fields[0]
    if field.many:
        return any(
            all(_fits(field, word, many=True) for word in words[:n]) and _match(fields[1:], words[n:]) for n in range(len(words) + 1)
        )
    return bool(words) and _fits(field, words[0]) and _match(fields[1:], words[1:])


def _fits(field: Field, word: str, many: bool = False) -> bool:
    from instinct_shell.shell.patterns import matches
    from instinct_shell.shell.words import unescape_glob

    if field.known is Known.DYNAMIC:
        return many or (word.startswith(field.prefix) and word.endswith(field.suffix))
    if field.glob:
        return any(matches(value, word) or unescape_glob(value) == word for value in field.values)
    return word in field.values
