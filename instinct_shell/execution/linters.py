"""The project's own linters, asked about a text that is not written yet. Only findings that it brings count.

A linter's configuration may be a program (eslint), and the linter itself lies in the workspace: so it runs as a stranger, in a jail of level
full that can write nothing, has no network and sees neither secrets nor `.env` files. Where no such jail can be made no linter runs.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import time
from collections import Counter

from ..errors import Exit
from ..instincts.ground import inside
from ..model.jailspec import JailLevel, JailSpec, Limits
from ..model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Message = tuple[int, str]  # line from 1 (0: of the whole file), what it says

SECONDS = 3.0  # both runs together; hooks answer within half of ten seconds
MOST_OUTPUT = 1 << 20
LIMITS = Limits(wall_seconds=SECONDS, cpu_seconds=6, processes=64, output_bytes=MOST_OUTPUT)
_FOLDERS = (".venv/bin", "venv/bin", "env/bin", "node_modules/.bin", "vendor/bin")
_PATH = "/usr/local/bin:/usr/bin:/bin"


class Linter(Value):
    """One linter. arguments: `{path}` is the file's path; the text comes on stdin. configured: names of files that make it the project's own, or
    `file:text` when the file must hold a text; () when it needs none. statuses: exit statuses that mean it has looked."""

    name: str
    endings: tuple[str, ...]
    arguments: tuple[str, ...]
    configured: tuple[str, ...]
    statuses: tuple[int, ...] = (0, 1)
    output: str = "lines"  # lines | json (eslint's shape)


_JS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
LINTERS = (
    Linter(
        "ruff", (".py", ".pyi"), ("check", "--no-cache", "--no-fix", "--quiet", "--output-format=concise", "--stdin-filename={path}", "-"),
        ("ruff.toml", ".ruff.toml", "pyproject.toml:[tool.ruff"),
    ),
    Linter("flake8", (".py",), ("--stdin-display-name={path}", "-"), (".flake8", "setup.cfg:[flake8", "tox.ini:[flake8")),
    Linter(
        "pylint", (".py",), ("--from-stdin", "--output-format=parseable", "--score=n", "--persistent=n", "{path}"),
        (".pylintrc", "pylintrc", "pyproject.toml:[tool.pylint"), tuple(range(32)),
    ),
    Linter(
        "eslint", _JS, ("--stdin", "--stdin-filename={path}", "--format=json"),
        (
            "eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", ".eslintrc", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json",
            ".eslintrc.yml", ".eslintrc.yaml", 'package.json:"eslintConfig"',
        ), output="json",
    ),
    Linter("shellcheck", (".sh", ".bash"), ("--format=gcc", "--severity=warning", "-"), ()),
    Linter("yamllint", (".yml", ".yaml"), ("--format=parsable", "-"), (".yamllint", ".yamllint.yml", ".yamllint.yaml")),
)  # fmt: skip
_LINE = re.compile(r"^[^\n]*?:(\d+):(?:\d+:)?\s*(.+)$")


def new_findings(
    path: str, before: str | None, after: str, workspace: str, readable: Callable[[str], bool], masked: Callable[[], tuple[str, ...]]
) -> tuple[str, list[str], str]:
    """(linter or "", what it finds that it did not find before, why there is no answer or "").

    readable: whether a configuration file may be looked at. masked: paths that a jail must not show, asked for when a linter will run.
    """
    if before is None or not inside(path, workspace):
        return "", [], ""
    for linter in LINTERS:
        program = _program(linter, path, workspace, readable)
        if not program:
            continue
        hidden, until = (*masked(), *_sockets(workspace)), time.monotonic() + SECONDS
        now = _run(linter, program, path, after, workspace, hidden, until)
        if isinstance(now, str):
            return linter.name, [], now
        if not now:
            return linter.name, [], ""
        then: list[Message] | str = _run(linter, program, path, before, workspace, hidden, until) if before else []
        if isinstance(then, str):
            return linter.name, [], then
        known = Counter(words for _, words in then)
        new = []
        for line, words in now:
            if known[words]:
                known[words] -= 1
            else:
                new.append(f"line {line}: {words}" if line else words)
        return linter.name, new, ""
    return "", [], ""


# ---------------------------------------------------------------- which one


def _program(linter: Linter, path: str, workspace: str, readable: Callable[[str], bool]) -> str:
    """The linter's program when the project uses it for this file, else ""."""
    if not path.endswith(linter.endings):
        return ""
    folders = _upwards(os.path.dirname(path), workspace)
    own = next(
        (place for folder in folders for place in (f"{folder}/{each}/{linter.name}" for each in _FOLDERS) if os.access(place, os.X_OK)), ""
    )
    if linter.configured and not any(_holds(folder, name, readable) for folder in folders for name in linter.configured):
        return ""
    return own or next((place for place in (f"{folder}/{linter.name}" for folder in _PATH.split(":")) if os.access(place, os.X_OK)), "")


def _sockets(workspace: str) -> list[str]:
    """Sockets of programs that listen inside the workspace: those outside are hidden from every jail."""
    found = []
    with open("/proc/self/net/unix", "rb") as table:
        for line in table:
            name = os.fsdecode(line.rstrip(b"\n").partition(b" /")[2])
            if name and inside(f"/{name}", workspace) and os.path.exists(f"/{name}"):
                found.append(f"/{name}")
    return found


def _upwards(folder: str, workspace: str) -> list[str]:
    """The folder and those above it, the workspace last."""
    found = [folder]
    while folder != workspace and inside(folder, workspace):
        folder = os.path.dirname(folder)
        found.append(folder)
    return found


def _holds(folder: str, wanted: str, readable: Callable[[str], bool]) -> bool:
    name, _, text = wanted.partition(":")
    path = f"{folder}/{name}"
    if not text:
        return os.path.isfile(path)
    if not os.path.isfile(path) or not readable(path):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        return text in file.read(1 << 18)


# ---------------------------------------------------------------- running one


def _run(linter: Linter, program: str, path: str, text: str, workspace: str, masked: tuple[str, ...], until: float) -> list[Message] | str:
    """What it finds, or why it gave no answer."""
    spec = JailSpec(
        workspace, workspace, masked=masked, network="none", private_tmp=True, read_only=True, least_level=JailLevel.FULL,
        limits=LIMITS.replace(wall_seconds=max(0.1, until - time.monotonic())),
        env=(
            ("HOME", "/nonexistent"),
            ("LC_ALL", "C.UTF-8"),
            ("NO_COLOR", "1"),
            ("PATH", f"{os.path.dirname(program)}:{_PATH}"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
        ),
        argv=(program, *(word.replace("{path}", path) for word in linter.arguments)),
    )  # fmt: skip
    status, output = in_jail(spec, text.encode("utf-8", "surrogateescape"), until)
    if status in (None, Exit.TIMEOUT):
        return "time is up"
    if status not in linter.statuses:
        return f"{linter.name} ended with status {status}"
    return _json_messages(output) if linter.output == "json" else _line_messages(output)


def in_jail(spec: JailSpec, given: bytes, until: float) -> tuple[int | None, bytes]:
    """(exit status, output) of a program in its jail, fed on stdin; status None when it took too long. stderr is dropped."""
    from .jail import privileges
    from .launcher import Launcher

    source, feed = os.pipe()
    result, sink = os.pipe()
    asker = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            privileges.die_with_parent(signal.SIGKILL)
            if os.getppid() != asker:
                os._exit(125)
            os.setpgid(0, 0)
            null = os.open("/dev/null", os.O_RDWR)
            for fd, number in ((source, 0), (sink, 1), (null, 2)):
                os.dup2(fd, number)
            for fd in (source, feed, result, sink, null):
                if fd > 2:
                    os.close(fd)
            os._exit(Launcher(dedicated=True).run(spec).status)
        finally:
            os._exit(125)  # no jail, no linter
    os.close(source)
    os.close(sink)
    output = _exchange(feed, result, given, until)
    if output is None:
        try:
            os.kill(child, signal.SIGKILL)  # everything in the jail ends with its launcher
        except ProcessLookupError:
            pass
    _, status = os.waitpid(child, 0)
    if output is None:
        return None, b""
    return os.waitstatus_to_exitcode(status), output


def _exchange(feed: int, result: int, given: bytes, until: float) -> bytes | None:
    """Give it all, take all it says; None when time is up. Closes both ends."""
    os.set_blocking(feed, False)
    output = bytearray()
    writing = True
    try:
        while True:
            left = until + 0.2 - time.monotonic()
            if left <= 0:
                return None
            readable, writable, _ = select.select([result], [feed] if writing else [], [], left)
            if writable:
                try:
                    given = given[os.write(feed, given[:65536]) :] if given else b""
                except BrokenPipeError:
                    given = b""
                if not given:
                    os.close(feed)
                    writing = False
            if readable:
                piece = os.read(result, 65536)
                if not piece:
                    return bytes(output)
                output += piece[: MOST_OUTPUT - len(output)]
    finally:
        if writing:
            os.close(feed)
        os.close(result)


def _line_messages(output: bytes) -> list[Message]:
    found = []
    for line in output.decode("utf-8", "replace").splitlines():
        match = _LINE.match(line)
        if match:
            found.append((int(match[1]), _clean(match[2])))
    return found


def _json_messages(output: bytes) -> list[Message] | str:
    try:
        files = json.loads(output)
        found = []
        for message in files[0]["messages"]:
            line, rule = message.get("line"), message.get("ruleId")
            found.append((line if isinstance(line, int) else 0, _clean(f"{rule or 'error'} {message['message']}")))
        return found
    except (ValueError, LookupError, TypeError, AttributeError):
        return "its answer cannot be read"


def _clean(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:160]
