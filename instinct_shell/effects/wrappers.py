"""Programs that run another program: sudo, env, nice, timeout, watch, script, strace, systemd-run, gdb and many more.

Most are rows of one shape: options, so many operands of their own, then the inner command. The inner command is described like any other.
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from . import flow, scripts
from .call import Call, Program, Scene
from .catalog import MODULES
from .hijack import hijacks
from .roles import file_effects
from .shells import joined_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .call import Describer


LOADERS = (
    "ld-linux-x86-64.so.2", "ld-linux.so.2", "ld-linux-aarch64.so.1", "ld-linux-armhf.so.3", "ld-linux-riscv64-lp64d.so.1", "ld-musl-x86_64.so.1",
    "ld-musl-aarch64.so.1", "ld64.so.2", "ld64.so.1", "ld.so",
)  # fmt: skip


def split_assignments(words: tuple[Field, ...]) -> tuple[list[tuple[str, Field]], tuple[Field, ...]]:
    """Leading NAME=value words, and the rest."""
    pairs: list[tuple[str, Field]] = []
    for at, word in enumerate(words):
        text = word.text if word.text is not None else word.prefix
        name, equals, value = text.partition("=")
        if not equals or not name.replace("_", "a").isalnum() or "/" in name:
            return pairs, words[at:]
        pairs.append((name, word.replace(values=(value,)) if word.text is not None else word.replace(prefix=value)))
    return pairs, ()


def with_variables(call: Call, pairs: list[tuple[str, Field]]) -> Call:
    """The call with more assignments in its environment, so that nested shells see them."""
    return call.replace(invocation=call.invocation.replace(env=(*call.invocation.env, *pairs))) if pairs else call


def inner(skip: int = 0) -> Describer:
    """A describer for `program [options] OPERAND*skip command...`."""

    def describe(call: Call, scene: Scene) -> Iterator[Effect]:
        own = skip and not (call.name == "setarch" and call.operands and call.operands[0].text in MODULES)  # the architecture may be left out
        words = call.operands[skip if own else 0 :]
        if len(words) == 1 and " " in (words[0].text or ""):
            yield from scene.nested_shell(words[0].text or "", call, via=call.name)  # `entr -s 'npm test'`
        elif words:
            yield from scene.nested_argv(words, call, via=call.name)

    return describe


def environment(call: Call, scene: Scene) -> Iterator[Effect]:
    """env: sets variables, then runs; -S splits one word into a command; alone it prints the environment."""
    words = call.operands
    text = call.value("-S", "--split-string")
    if text is not None:
        if text.text is None:
            yield scripts.opaque(call, flow.source_of_field(text, scene), text.reason)
            return
        import shlex

        try:
            words = (*(literal(word, call.span) for word in shlex.split(text.text)), *words)
        except ValueError:
            yield scripts.opaque(call, "text", "env -S text cannot be split")
            return
    pairs, rest = split_assignments(words)
    folder = call.value("-C", "--chdir")
    for name, field in pairs:
        yield from hijacks(name, field, call.replace(invocation=call.invocation.replace(words=rest)) if rest else call, scene)
    if rest:
        yield from scene.nested_argv(rest, with_variables(call, pairs), via="env", cwd=folder)
    elif not call.has("-u", "--unset", "-i", "--ignore-environment", "-"):
        from .secrets import environment_dump

        yield from environment_dump(call, scene)


def privilege(call: Call, scene: Scene) -> Iterator[Effect]:
    """sudo, doas, pkexec: more rights; the inner command stands beside. -e edits a file, -s and -i start a shell, -l only lists."""
    if call.has("-l", "--list", "-v", "--validate", "-k", "-K", "--reset-timestamp", "-V") and not call.operands:
        return
    yield call.effect(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.NAME, call.name), tool=call.name)
    pairs, rest = split_assignments(call.operands)
    for name, field in pairs:
        yield from hijacks(name, field, call, scene)
    folder = call.value("-D", "--chdir")
    if call.has("-e", "--edit") or call.name == "sudoedit":
        for field in rest:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, in_place="1")
    elif call.has("-s", "-i", "--shell", "--login"):
        if rest:
            yield from joined_text(call, scene, rest, via=f"{call.name} -s")
        else:
            yield from scripts.run_stdin(call, scene, via=f"{call.name} -s")
    elif rest:
        yield from scene.nested_argv(rest, with_variables(call, pairs), via=call.name, cwd=folder)


def switch_user(call: Call, scene: Scene) -> Iterator[Effect]:
    """su, runuser, sg, newgrp: another user; -c is shell text, runuser -u runs an argument vector."""
    yield call.effect(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.NAME, call.name), tool=call.name)
    text = call.value("-c", "--command", "--session-command")
    if text is None and call.name == "sg" and len(call.operands) > 1:
        text = call.operands[1]
    if text is not None:
        yield from scripts.run_text(call, scene, text, via=f"{call.name} -c")
    elif call.name == "runuser" and call.has("-u", "--user"):
        yield from scene.nested_argv(call.operands, call, via="runuser") if call.operands else ()
    else:
        yield from scripts.run_stdin(call, scene, via=call.name)


def user_command(call: Call, scene: Scene) -> Iterator[Effect]:
    """gosu, su-exec, setpriv, chpst, capsh: another user or other rights, then a command."""
    yield call.effect(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.NAME, call.name), tool=call.name)
    words = call.operands[1:] if call.name in ("gosu", "su-exec", "setuidgid") else call.operands
    if words:
        yield from scene.nested_argv(words, call, via=call.name)


def flock(call: Call, scene: Scene) -> Iterator[Effect]:
    """flock: a lock file (or a descriptor), then a command or -c text."""
    text = call.value("-c", "--command")
    words = call.operands
    if words and not (words[0].text or "x").isdigit():
        yield from file_effects(call, scene, EffectKind.FILE_CREATE, words[0], lock="1")
    if len(words) > 2 and words[1].text in ("-c", "--command"):
        text = words[2]
    if text is not None:
        yield from scripts.run_text(call, scene, text, via="flock -c")
    elif len(words) > 1:
        yield from scene.nested_argv(words[1:], call, via="flock")


def change_root(call: Call, scene: Scene) -> Iterator[Effect]:
    """chroot, nsenter, unshare: another root or other namespaces; inside, a command or a shell."""
    if call.name != "unshare":
        yield call.effect(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.NAME, call.name), tool=call.name)
    words = call.operands[1:] if call.name == "chroot" else call.operands
    if words:
        yield from scene.nested_argv(words, call, via=call.name)
    else:
        yield from scripts.run_stdin(call, scene, via=call.name)


def lookup(call: Call, scene: Scene) -> Iterator[Effect]:
    """command, builtin: run the rest; `command -v` only looks it up."""
    if call.has("-v", "-V") and call.name == "command":
        return
    if call.operands:
        yield from scene.nested_argv(call.operands, call, via=call.name)


def _rows() -> Iterator[Program]:
    """Rows of the plain shape: (names, options, operands of their own, summary)."""
    plain: tuple[tuple[str, str, int, str], ...] = (
        ("nice", "-n --adjustment", 0, "runs a command with another priority"),
        ("ionice", "-c -n -p -P -u --class --classdata", 0, "runs a command with another I/O priority"),
        ("nohup unbuffer chronic catchsegv fakeroot eatmydata torsocks torify proxychains proxychains4 tsocks "
"arch linux32 linux64 i386 x86_64 tini dumb-init "
         "caffeinate dbus-run-session xvfb-run rlwrap ccze grc noglob nocorrect winpty tsp", "-w -o -e -n -s -a -f -t -l -p -b", 0, "runs a command"),
        ("stdbuf", "-i -o -e --input --output --error", 0, "runs a command with other buffering"),
        ("setsid", "", 0, "runs a command in a new session"),
        ("timeout gtimeout", "-k -s --kill-after --signal", 1, "runs a command for a limited time"),
        ("chrt", "-T -P -D --sched-runtime --sched-period --sched-deadline", 1, "runs a command with another scheduler"),
        ("taskset", "", 1, "runs a command on some CPUs"),
        ("numactl", "-N -m -i -C -p -l= --cpunodebind --membind --interleave --physcpubind --preferred", 0, "runs a command on some memory nodes"),
        ("setarch", "", 1, "runs a command under another personality"),
        ("prlimit", "-p --pid -n= -u= -v= --nofile= --nproc= --as= -o --output", 0, "runs a command with other limits"),
        ("choom", "-n -p --adjust --pid", 0, "runs a command with another out-of-memory score"),
        ("cgexec", "-g", 0, "runs a command in a control group"),
        ("systemd-inhibit", "--what --who --why --mode", 0, "runs a command while sleep is inhibited"),
        ("systemd-cat", "-t -p --identifier --priority --stderr-priority", 0, "runs a command with its output in the journal"),
        ("faketime libfaketime", "-f", 1, "runs a command at another time"),
        ("ssh-agent", "-a -E -P -t", 0, "runs a command with an agent"),
        ("wine wine64 mono box64 qemu-x86_64 qemu-aarch64", "", 0, "runs a foreign program"),
        ("runit chpst softlimit envuidgid", "-u -U -b -e -n -l -L -m -d -o -p -f -c -a -r -s -t", 0, "runs a command with other limits"),
        ("start-stop-daemon daemonize", "-p -n -x -a -u -c -d -e -o -l -g -N -P -I -r -k --pidfile --name --exec --startas --user --chuid "
"--chdir --nicelevel", 0, "runs a command as a daemon"),
        ("entr", "-s=", 0, "runs a command when files change"),
        ("cross-env", "", 0, "sets variables, then runs a command"),
        ("time", "-f -o --format --output", 0, "times a command"),
        ("gtime", "-f -o --format --output", 0, "times a command"),
        ("proot fakechroot schroot", "-r -b -w -m -c -u -d --rootfs --bind --cwd --chroot --user --directory", 0, "runs a command under another root"),
        ("firejail bwrap sandbox-exec", "--bind --ro-bind --dev-bind --tmpfs --proc --dev --chdir --setenv --symlink --dir --hostname --uid "
"--gid --seccomp --profile= -f -p -n -D", 0, "runs a command in a sandbox"),
    )  # fmt: skip
    for names, options, skip, summary in plain:
        roles = (("-o", "write"), ("--output", "write")) if names in ("time", "gtime") else ()
        yield Program(tuple(names.split()), options=options, option_roles=roles, style="stop", describe=inner(skip), summary=summary)


PROGRAMS: tuple[Program, ...] = (
    *_rows(),
    Program(
        LOADERS,
        options="--library-path --inhibit-rpath --audit --preload --argv0 --glibc-hwcaps-prepend --glibc-hwcaps-mask",
        style="stop",
        describe=inner(0),
        summary="the dynamic loader: runs the program it is given",
    ),
    Program(("exec",), options="-a", style="stop nohelp", describe=inner(0), summary="replaces the shell by a command"),
    Program(("command", "builtin"), style="stop nohelp", describe=lookup, summary="runs a command without functions; -v looks it up"),
    Program(
        ("env", "genv"),
        options="-u -C -S -P --unset --chdir --split-string --block-signal= --default-signal= --ignore-signal= -a --argv0",
        longs="--ignore-environment --null --debug",
        style="stop",
        describe=environment,
        summary="sets variables, then runs a command; alone it prints the environment",
    ),
    Program(
        ("sudo", "sudoedit", "sudo-rs"),
        options="-u -g -C -D -h -p -r -R -t -T -U --user --group --close-from --chdir --host --prompt --role --chroot "
        "--type --command-timeout --other-user --preserve-env=",
        longs="--login --shell --edit --list --validate --non-interactive --reset-timestamp --remove-timestamp "
        "--background --stdin --askpass --set-home",
        style="stop",
        describe=privilege,
        summary="runs a command as another user",
    ),
    Program(
        ("sshpass",),
        options="-p -d -f -P",
        option_roles=(("-f", "read"),),
        style="stop",
        describe=inner(0),
        summary="gives a command a password that it asks for",
    ),
    Program(
        ("doas", "pkexec", "run0", "please", "gksudo", "kdesudo"),
        options="-u -C --user -a",
        style="stop",
        describe=privilege,
        summary="runs a command as another user",
    ),
    Program(
        ("su", "runuser", "sg", "newgrp"),
        options="-c -g -G -s -u -w --command --group --supp-group --shell --user --session-command --whitelist-environment",
        describe=switch_user,
        summary="a shell or command as another user",
    ),
    Program(
        ("gosu", "su-exec", "setpriv", "capsh", "setuidgid"),
        options="--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig "
        "--selinux-label --apparmor-profile",
        style="stop",
        describe=user_command,
        summary="a command as another user or with other rights",
    ),
    Program(
        ("flock",),
        options="-c -E -w --command --conflict-exit-code --timeout --wait",
        style="stop",
        describe=flock,
        summary="runs a command under a lock",
    ),
    Program(
        ("chroot", "nsenter", "unshare"),
        options="-t -S -G -r= -w= -m= -u= -i= -n= -p= -C= -U= -T= -R --target --setuid --setgid --root --wd "
        "--userspec --groups --propagation --map-user --map-group --setgroups",
        style="stop",
        describe=change_root,
        summary="a command under another root or in other namespaces",
    ),
)
