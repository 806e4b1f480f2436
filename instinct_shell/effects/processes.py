"""Programs that send signals: kill, pkill, killall, fuser -k. One's own child is told apart from everybody else's process."""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known
from . import flow, output
from .call import Call, Program, Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SIGNAL = r"-(?:SIG)?[A-Z][A-Z0-9+]*|-\d+"
CHILD = ("!", "$!")  # names under which the evaluator knows the last background command


def kill(call: Call, scene: Scene) -> Iterator[Effect]:
    """kill: by process id; 0 asks only, -1 is everybody, a job or `$!` is one's own child."""
    signal, ended = "TERM", False
    operands: list[Field] = []
    argv = list(call.argv)
    while argv:
        field = argv.pop(0)
        text = field.text or field.prefix
        if not ended and text == "--":
            ended = True
        elif not ended and text in ("-l", "-L", "--list", "--table"):
            return
        elif not ended and text in ("-s", "-n", "--signal", "-q", "--queue", "--timeout") and argv:
            value = argv.pop(0)
            signal = value.text or value.prefix if text in ("-s", "-n", "--signal") else signal
        elif not ended and text.startswith("--signal="):
            signal = text[9:]
        elif (
            not ended
            and not operands
            and signal == "TERM"
            and field.text is not None
            and re.fullmatch(_SIGNAL, text, re.IGNORECASE)
            and argv
        ):
            signal = text[1:]
        else:
            operands.append(field)
    signal = signal.upper().removeprefix("SIG")
    for field in operands:
        for by, name in whose(field, scene):
            yield call.effect(
                EffectKind.PROCESS_KILL, Target(TargetKind.PROCESS, name), by="signal0" if signal == "0" else by, signal=signal
            )


def whose(field: Field, scene: Scene) -> Iterator[tuple[str, str]]:
    """(by, name) of one operand."""
    if field.known is Known.DYNAMIC:
        if field.origins and all(
            (origin.kind == "variable" and origin.detail in CHILD) or origin.kind == "child" for origin in field.origins
        ):
            yield "child", "$!"
            return
        kept = [_pid_file(origin.detail, origin.producers, scene) for origin in field.origins]
        if kept and all(kept):
            yield ("parent", "$PPID") if "parent" in kept else ("child", "$!")
            return
        if field.origins and all(_lists_jobs(origin.producers, scene) for origin in field.origins):
            yield "child", "jobs"
            return
        if any(_lists_everything(origin.producers, scene) for origin in field.origins):
            yield "all", "every process"
            return
        names = _found_by_name(field, scene)
        if names:
            yield from (("name", name) for name in names)
        elif field.origins and all(origin.detail in ("$", "BASHPID") for origin in field.origins):
            yield "child", "$$"  # the shell that runs this very text
        elif any(origin.detail in ("PPID", "$PPID") for origin in field.origins):
            yield "parent", "$PPID"
        else:
            yield "pid", field.prefix
        return
    for text in field.values:
        if text.startswith("%"):
            yield "child", text
        elif text in ("-1", "0"):
            # INVARIANT: `kill -1` style targets reach every process of the user, or of the own group.
            yield "all", text
        else:
            yield "pid", text


def _pid_file(detail: str, producers: tuple[int, ...], scene: Scene) -> str:
    """Whose number stands in a file that is read: "child" or "parent" when the same text wrote `$!` or `$PPID` into it, "" when nobody knows."""
    for index in producers[:1]:
        reader = scene.invocations[index] if index < len(scene.invocations) else None
        words = [word.text or "" for word in reader.words] if reader is not None else []
        detail = output.absolute(words[1], reader) if len(words) == 2 and words[0] == "cat" and reader is not None else ""
    path = detail if detail.startswith("/") else ""
    if not path and detail and scene.invocations:
        path = output.absolute(detail, scene.invocations[-1])
    return _number_in(path, scene)


def _number_in(path: str, scene: Scene) -> str:
    """What kind of number the same text wrote into a file."""
    found = ""
    for writer in scene.invocations if path else ():
        if not any(stream.op in (">", ">|") and output.absolute(stream.target.text, writer) == path for stream in writer.streams):
            continue
        held = {origin.detail for word in writer.words[1:] for origin in word.origins}
        found = "child" if held and held <= {*CHILD} else "parent" if held & {"PPID", "$PPID"} else ""
        if not found:
            return ""
    return found


def _lists_jobs(producers: tuple[int, ...], scene: Scene) -> bool:
    """Whether all that these invocations print is `jobs -p`: children of this very shell."""
    before = [scene.invocations[index].words for index in flow.upstream(producers, scene)]
    return bool(before) and all(words and words[0].text == "jobs" for words in before)


def _lists_everything(producers: tuple[int, ...], scene: Scene) -> bool:
    """Whether the numbers come from a list of all processes through nothing that chooses among them (`ps -eo pid=`, `ps aux | awk '{print $2}'`)."""
    before = [[word.text or "" for word in scene.invocations[index].words] for index in flow.upstream(producers, scene)]
    if not any(words[:1] == ["ps"] and any(re.fullmatch(r"-?[a-z]*(?:e|A|ax|aux|u|U)[a-z]*", word) for word in words[1:2]) for words in before):
        return False
    before = [words for words in before if not (words[:1] in (["grep"], ["egrep"]) and any(re.fullmatch(r"-[a-zA-Z]*v[a-zA-Z]*", word) for word in words))]
    plain = (["ps"], ["tail"], ["sort"], ["tr"], ["cut"], ["sed"])
    return all(words[:1] in plain or (words[:1] == ["awk"] and not re.search(r"/|==|~", words[-1])) for words in before)


def _found_by_name(field: Field, scene: Scene) -> list[str]:
    """Names in `kill $(pgrep node)`, `kill $(pidof nginx)`, `kill $(lsof -t -i:3000)`."""
    found = []
    for origin in field.origins:
        for index in flow.upstream(origin.producers, scene):
            words = [word.text or word.prefix for word in scene.invocations[index].words]
            if words[:1] in (["pgrep"], ["pidof"]):
                found += [word for word in words[1:] if not word.startswith("-")]
            elif words[:1] in (["lsof"], ["fuser"], ["ss"]):
                ports = [re.sub(r"^.*?:", ":", word) for word in words[1:] if ":" in word or word.isdigit()]
                found += ports[:1]
    return found


def by_name(call: Call, scene: Scene) -> Iterator[Effect]:
    """pkill, killall: by name; by user alone, or with a pattern that fits everything, it is everybody."""
    signal, names, users, own = "TERM", [], [], False
    argv = list(call.argv)
    takes = (
        "-u -U -g -G -s -t -P -F -r -n -N -y -o -Z -e"
        if call.name in ("killall", "killall5")
        else "-u -U -g -G -s -t -P -F -r --ns --nslist"
    )
    while argv:
        field = argv.pop(0)
        text = field.text or field.prefix
        if text in ("-l", "--list", "-V", "--version"):
            return
        if text in ("-s", "--signal") and argv:
            value = argv.pop(0)
            signal = value.text or value.prefix
        elif text.startswith("--signal="):
            signal = text[9:]
        elif text in ("-u", "-U", "--user", "--uid", "--euid") and argv:
            value = argv.pop(0)
            users.append(value.text or value.prefix)
        elif (
            field.text is not None
            and re.fullmatch(_SIGNAL, text, re.IGNORECASE)
            and (text[1:].isdigit() or text[1:].upper().removeprefix("SIG") in _NAMES)
        ):
            signal = text[1:]
        elif text in takes.split() and argv:
            value = argv.pop(0)
            own = own or (text == "-F" and value.text is not None and _number_in(output.absolute(value.text, call.invocation), scene) == "child")
            # `pkill -P $$`: children of this very shell, and nobody else's
            own = own or (text == "-P" and bool(value.origins) and all(origin.detail in ("$", "BASHPID", *CHILD) for origin in value.origins))
        elif not text.startswith("-") or field.known is Known.DYNAMIC:
            names.append(text)
    signal = signal.upper().removeprefix("SIG")
    everybody = call.name == "killall5" or (users and not names) or any(name in ("", ".", ".*", "*") for name in names)
    for name in names or users or [""]:
        by = "signal0" if signal == "0" else "child" if own else "all" if everybody else "name"
        yield call.effect(EffectKind.PROCESS_KILL, Target(TargetKind.PROCESS, name), by=by, signal=signal)


_NAMES = frozenset(
    (
        "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU "
        "XFSZ VTALRM PROF WINCH IO PWR SYS"
    ).split()
)


def fuser(call: Call, scene: Scene) -> Iterator[Effect]:
    """fuser -k, kill-port, fkill: kill whoever uses a file or port."""
    if call.name == "fuser" and not call.has("-k", "--kill"):
        return
    for field in call.operands:
        yield call.effect(EffectKind.PROCESS_KILL, Target(TargetKind.PROCESS, field.text or field.prefix), by="name", signal="KILL")


PROGRAMS: tuple[Program, ...] = (
    Program(("kill", "skill", "tgkill"), style="raw", describe=kill, summary="sends signals to processes"),
    Program(
        ("pkill", "killall", "killall5", "pskill", "taskkill"), style="raw", describe=by_name, summary="sends signals to processes by name"
    ),
    Program(
        ("fuser", "kill-port", "fkill", "xkill", "killport"),
        options="-n -M= --namespace",
        describe=fuser,
        summary="kills whoever uses a file or port",
    ),
    Program(("renice",), options="-n -p= -g= -u= --priority", summary="changes priorities"),
)
