"""Programs that run another program in a session of its own: watch, script, tmux, strace, gdb, systemd-run, at, secret managers."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from . import scripts
from .call import Call, Program, Scene
from .options import split
from .processes import whose
from .program_text import read_code, run_script
from .roles import file_effects
from .shells import joined_text
from .wrappers import split_assignments, with_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .call import Describer


def shell_text(skip: int = 0) -> Describer:
    """A describer for programs that join their operands and hand them to a shell: watch, entr -s, hyperfine."""

    def describe(call: Call, scene: Scene) -> Iterator[Effect]:
        if call.has("-x", "--exec") and call.name == "watch":
            yield from scene.nested_argv(call.operands, call, via="watch") if call.operands else ()
            return
        yield from joined_text(call, scene, call.operands[skip:], via=call.name)

    return describe


def each_text(call: Call, scene: Scene) -> Iterator[Effect]:
    """hyperfine, concurrently: every operand is a shell text of its own."""
    for field in (
        *call.operands,
        *(field for option, field in call.values if option in ("-p", "--prepare", "-s", "--setup", "-c", "--cleanup", "--conclude")),
    ):
        yield from scripts.run_text(call, scene, field, via=call.name)


def script_session(call: Call, scene: Scene) -> Iterator[Effect]:
    """script: records a session; -c runs text; the operand is the log that is written."""
    text = call.value("-c", "--command")
    for field in call.operands[:1]:
        yield from file_effects(call, scene, EffectKind.FILE_APPEND if call.has("-a", "--append") else EffectKind.FILE_WRITE, field)
    for option in ("-O", "--log-out", "-B", "--log-io", "-I", "--log-in", "-T", "--log-timing"):
        log = call.value(option)
        if log is not None:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, log)
    if text is not None:
        yield from scripts.run_text(call, scene, text, via="script -c")
    elif len(call.operands) > 1:  # the BSD form: script file command
        yield from scene.nested_argv(call.operands[1:], call, via="script")
    else:
        yield from scripts.run_stdin(call, scene, via="script")


def tracer(call: Call, scene: Scene) -> Iterator[Effect]:
    """strace, ltrace, perf, valgrind, time: a command under observation; -o writes."""
    words = call.operands
    out = call.value("-o", "--output")
    if out is not None and (out.text or "").startswith(("|", "!")):  # strace pipes its log into a command
        yield from scene.nested_shell((out.text or "")[1:], call, via=f"{call.name} -o")
    if call.name == "perf":
        runs = bool(words) and words[0].text in ("stat", "record", "trace", "bench", "mem", "lock", "sched", "top")
        words = (
            tuple(split(Program(("perf",), options="-e -o -F -g= -p -t -C -c -r -a=", style="stop"), words[1:]).operands) if runs else ()
        )
    whom = call.value("-p", "--attach")
    if whom is not None and not words:
        yield from attached(whom, call, scene)
    if words:
        yield from scene.nested_argv(words, call, via=call.name)


def attached(whom: Field, call: Call, scene: Scene) -> Iterator[Effect]:
    """A running process that another one looks into or steers; by pid, or by the name that `$(pgrep NAME)` gives."""
    for by, name in whose(whom, scene):
        if name.endswith(("-agent", "keyring-daemon", "kwalletd5", "kwalletd6")):
            yield call.effect(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, name), store="memory", prints="1")
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.PROCESS, name), attaches="1", by=by)


def core_dump(call: Call, scene: Scene) -> Iterator[Effect]:
    """gcore: the memory of a running process in a file."""
    for field in call.operands:
        yield from attached(field, call, scene)
    out = call.value("-o")
    if out is not None:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, out)


def _text(field: Field | None) -> str:
    return "" if field is None else field.text or field.prefix


def debugger(call: Call, scene: Scene) -> Iterator[Effect]:
    """gdb, lldb: -ex commands may run a shell or code; --args runs the program."""
    for option, field in call.values:
        if option in ("-ex", "-eval-command", "--eval-command", "-iex", "-o", "--one-line", "-O"):
            yield from _debugger_command((field.text if field.text is not None else field.prefix).strip(), call, scene)
        elif option in ("-x", "--command", "-command", "-ix", "-s", "--source", "-S"):
            yield from run_script(call, scene, field, "python" if (field.text or "").endswith(".py") else "gdb", ())
    whom = call.value("-p", "-pid", "--pid", "--attach-pid")
    if whom is not None:
        yield from attached(whom, call, scene)
    elif call.has("--args", "-args") and call.operands:
        yield from scene.nested_argv(call.operands, call, via=f"{call.name} --args")
    elif call.operands:
        for field in call.operands[:1]:
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)


def gdb_effects(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """Effects of a file of debugger commands; `python` up to `end` is Python."""
    code: list[str] | None = None
    for line in text.split("\n"):
        command = line.strip()
        if code is not None:
            if command == "end":
                yield from read_code("\n".join(code), call, scene, "python")
                code = None
            else:
                code.append(line)
        elif command in ("python", "py"):
            code = []
        elif command and not command.startswith("#"):
            yield from _debugger_command(command, call, scene)


_PYTHON = frozenset(("python", "py", "pi", "python-interactive", "script"))


def _debugger_command(text: str, call: Call, scene: Scene) -> Iterator[Effect]:
    """One command of gdb or lldb: shell text, code of another language, or a call of system()."""
    verb, _, rest = text.partition(" ")
    called = re.search(r"""\bsystem\s*\(\s*"((?:\\.|[^"\\])*)\"""", text)
    if verb in ("shell", "make", "pipe", "|") or text.startswith(("!", "platform shell")):
        inner = text.lstrip("!") if text.startswith("!") else rest.removeprefix("shell ")
        yield from scene.nested_shell(inner if verb not in ("pipe", "|") else inner.rpartition("|")[2], call, via=call.name)
    elif verb in _PYTHON and rest:
        yield from read_code(rest, call, scene, "python")
    elif verb in ("source", "command") and rest and call.name != "lldb":
        yield from run_script(call, scene, literal(rest.strip()), "python" if rest.strip().endswith(".py") else "gdb", ())
    elif called:
        yield from scene.nested_shell(called[1].replace('\\"', '"'), call, via=f"{call.name} system()")
    elif verb in ("expression", "expr", "source", "command") or (verb in ("call", "print", "p") and "system(" in text):
        yield scripts.opaque(call, "text", f"{call.name} runs code", language=verb)


def transient_unit(call: Call, scene: Scene) -> Iterator[Effect]:
    """systemd-run: the command runs as a unit, outside of whatever holds the caller (`detached`)."""
    yield call.effect(
        EffectKind.SYSTEM_SERVICE,
        Target(TargetKind.OBJECT, _text(call.value("--unit", "-u"))),
        action="run",
        tool="systemd-run",
        detached="1",
    )
    if call.operands:
        yield from scene.nested_argv(call.operands, call, via="systemd-run")


def multiplexer(call: Call, scene: Scene) -> Iterator[Effect]:
    """tmux, screen: a command in a session that stays; send-keys types into one."""
    words = call.argv
    texts = [word.text or "" for word in words]
    if call.name in ("screen", "dtach", "abduco"):
        at = next(
            (
                i
                for i, text in enumerate(texts)
                if text and text[0] != "-" and (i == 0 or texts[i - 1] not in ("-S", "-t", "-T", "-c", "-h", "-e", "-s", "-L", "-A", "-p"))
            ),
            None,
        )
        if "-X" in texts:
            at = texts.index("-X") + 1
            if texts[at : at + 1] == ["stuff"] and at + 1 < len(words):
                yield from scripts.run_text(call, scene, words[at + 1], via="screen stuff")
            return
        if at is not None:
            yield from scene.nested_argv(words[at:], call, via=call.name)
        return
    verbs = (
        "new-session",
        "new",
        "new-window",
        "neww",
        "split-window",
        "splitw",
        "respawn-pane",
        "respawn-window",
        "run-shell",
        "run",
        "if-shell",
        "pipe-pane",
        "display-popup",
        "popup",
    )
    at = next((i for i, text in enumerate(texts) if text in (*verbs, "send-keys", "send", "kill-server")), None)
    if at is None:
        return
    if texts[at] == "kill-server":
        yield call.effect(EffectKind.PROCESS_KILL, Target(TargetKind.PROCESS, "tmux"), by="name")
        return
    rest: list[Field] = []
    skip = False
    for word in words[at + 1 :]:
        text = word.text or word.prefix
        if skip:
            skip = False
        elif text.startswith("-") and not rest:
            skip = (
                text[-1:] in "stncexyFlpSw"
                and len(text) == 2
                and text not in ("-d", "-P", "-A", "-D", "-E", "-l", "-b", "-K", "-R", "-M", "-H")
            )
        else:
            rest.append(word)
    if texts[at] in ("send-keys", "send"):
        rest = [word for word in rest if (word.text or "") not in ("Enter", "C-m", "C-c", "C-d", "Escape", "KPEnter")]
    if rest:
        yield from joined_text(call, scene, tuple(rest), via=f"tmux {texts[at]}")


def at_time(call: Call, scene: Scene) -> Iterator[Effect]:
    """at, batch: shell text on stdin or in -f runs later, outside of whatever holds the caller."""
    if call.name == "atq" or call.has("-l", "-c", "-V"):
        return
    if call.name == "atrm" or call.has("-d", "-r"):
        yield call.effect(
            EffectKind.SYSTEM_SCHEDULE,
            Target(TargetKind.OBJECT, _text(call.operands[0] if call.operands else None)),
            action="remove",
            tool=call.name,
        )
        return
    yield call.effect(EffectKind.SYSTEM_SCHEDULE, action="add", tool=call.name, detached="1")
    file = call.value("-f")
    if file is not None:
        yield from scripts.script_file(call, scene, file)
    else:
        yield from scripts.run_stdin(call, scene, via=call.name)


_READS_FILE = frozenset("dotenv dotenvx env-cmd godotenv op".split())
_PLAIN_RUNNERS = frozenset("dotenv dotenvx env-cmd godotenv envdir".split())


def secrets_into(call: Call, scene: Scene) -> Iterator[Effect]:
    """Programs that run a command with secrets or settings in its environment (op run, doppler run, dotenv): the command counts."""
    for option in ("-f", "-e", "--env-file", "--file", "-p", "--path"):
        file = call.value(option)
        if file is not None and call.name in _READS_FILE:
            yield from file_effects(call, scene, EffectKind.FILE_READ, file)
    words = call.operands
    runs = bool(words) and words[0].text in ("run", "exec")
    if call.name == "envdir" and words:
        yield from file_effects(call, scene, EffectKind.FILE_READ, words[0], recursive="1")
        words = words[1:]
    elif runs or call.name in _PLAIN_RUNNERS:
        dashes = next((at for at, word in enumerate(call.argv) if word.text == "--"), None)
        # `chamber exec service -- command`, `aws-vault exec profile -- command`: what stands before the dashes is the tool's own.
        words = call.argv[dashes + 1 :] if dashes is not None else words[1:] if runs else words
    else:
        return
    pairs, rest = split_assignments(words)
    if rest:
        yield from scene.nested_argv(rest, with_variables(call, pairs), via=call.name)


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("watch", "gwatch", "viddy"),
        options="-n -q --interval --equexit -s --shotsdir",
        style="stop",
        describe=shell_text(),
        summary="runs a shell command again and again",
    ),
    Program(
        ("hyperfine", "concurrently", "mprocs"),
        options="-p -s -c -w -r -m -M -n -i= --prepare --setup --cleanup --conclude --warmup --runs --export-json "
        "--export-markdown --export-csv --names --shell -S -L --parameter-list -P -N=",
        option_roles=(("--export-json", "write"), ("--export-markdown", "write"), ("--export-csv", "write")),
        describe=each_text,
        summary="runs shell commands and times or joins them",
    ),
    Program(
        ("script", "typescript"),
        options="-c -E -I -O -B -T -m -o -t= --command --echo --log-in --log-out --log-io --log-timing --logging-format --output-limit",
        longs="--append --flush --force --quiet --return",
        style="",
        describe=script_session,
        summary="records a terminal session; -c runs text",
    ),
    Program(
        ("strace", "ltrace", "perf", "valgrind", "ftrace", "uftrace", "heaptrack", "rr", "xctrace", "gprofng", "kcov", "sysdig"),
        options="-a -b -e -E -I -o -O -p -P -s -S -u -U -X -F -l -n -D= --output --attach --expr --trace "
        "--string-limit --user --env --tool --log-file --event -r -C -g= -t --call-graph --delay --repeat",
        option_roles=(("-o", "write"), ("--output", "write"), ("--log-file", "write")),
        style="stop",
        describe=tracer,
        summary="watches a command while it runs",
    ),
    Program(("gcore",), options="-o -d", describe=core_dump, summary="writes a process's memory to a file"),
    Program(
        ("gdb", "lldb", "cgdb", "gdb-multiarch", "rust-gdb", "rust-lldb"),
        options="-ex -iex -eval-command --eval-command -x -command --command -p -pid -d -cd -s -o -O -S -K -n "
        "--one-line --source --attach-pid --name",
        style="single",
        describe=debugger,
        summary="a debugger; -ex and -o run commands",
    ),
    Program(
        ("systemd-run",),
        options="-u -p -H -M -d= -E -G= --unit --property --slice --uid --gid --nice --working-directory --setenv "
        "--description --service-type --on-active --on-boot --on-calendar --timer-property --host --machine "
        "--path-property --socket-property",
        style="stop",
        describe=transient_unit,
        summary="runs a command as a systemd unit, outside the caller",
    ),
    Program(
        ("tmux", "screen", "dtach", "abduco", "zellij"),
        style="raw",
        describe=multiplexer,
        summary="sessions that stay; commands run in them",
    ),
    Program(("at", "batch", "atq", "atrm"), options="-f -q -t", describe=at_time, summary="runs shell text later"),
    Program(
        ("dotenv", "dotenvx", "env-cmd", "envdir", "godotenv", "aws-vault"),
        options="-f -e -p --env-file --file --path -c --config --project --env",
        style="stop",
        describe=secrets_into,
        summary="runs a command with secrets or settings in its environment",
    ),
)
