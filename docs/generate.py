"""Writes the pages that are made from the code, so that they cannot drift: `bin/docs [FOLDER]`. A test compares them with what is committed."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP))

from instinct_shell.effects.own_rows import KEYS as PROGRAM_KEYS  # noqa: E402  # after the path
from instinct_shell.execution.doctor import claims  # noqa: E402  # after the path
from instinct_shell.execution.jail.hosts import table  # noqa: E402  # after the path
from instinct_shell.instincts.registry import BUILTIN  # noqa: E402  # after the path
from instinct_shell.model.effect import EffectKind  # noqa: E402  # after the path
from instinct_shell.storage.profile_schema import DYNAMIC, KEYS, RULE_KEYS, direction  # noqa: E402  # after the path
from instinct_shell.storage.profiles import ProfileStore, Resolved  # noqa: E402  # after the path

NOTE = "<!-- written by bin/docs; change the code instead -->\n"
NAMES = ("dev", "staging", "prod")


def instinct_page(instinct: object) -> str:
    """One instinct's page: its docstring under its id."""
    module = sys.modules[type(instinct).__module__]
    first, _, rest = (module.__doc__ or "").strip().partition("\n\n")
    return f"{NOTE}# {instinct.id}\n\nTier {instinct.tier}, version {instinct.version}.\n\n**{first}**\n\n{rest}\n"  # type: ignore[attr-defined]  # a BuiltIn


def index_page() -> str:
    """All instincts in the order in which they run."""
    rows = []
    for instinct in BUILTIN:
        doc = (sys.modules[type(instinct).__module__].__doc__ or "").strip().partition("\n")[0]
        rows.append(f"| [{instinct.id}]({instinct.id}.md) | {instinct.tier} | {doc.partition(': ')[2]} |")
    return (
        NOTE
        + "# Instincts\n\nIn the order in which they run inside their tier.\n\n| id | tier | |\n|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )


def value(resolved: Resolved, key: str) -> str:
    """A profile's value of one key, as a table cell."""
    found = resolved.values.get(key, resolved.values["effects.default"] if key.startswith("effects.") else "")
    if isinstance(found, tuple):
        return f"{len(found)} entries" if found else "none"
    if KEYS[key].kind == "money" and isinstance(found, int):
        return f"{found / 1_000_000:.2f}" if found else "no limit"
    if KEYS[key].order == "limit" and not found:
        return "no limit"
    return str(found).lower() if isinstance(found, bool) else str(found)


def profiles_page() -> str:
    """Every key, what it means in each shipped profile, and which way it may be tightened."""
    store = ProfileStore(home="/nonexistent", cache=False)
    shipped = {name: store.resolve(name) for name in NAMES}
    head = f"| | {' | '.join(NAMES)} |\n|---|{'---|' * len(NAMES)}\n"

    def table(keys: list[str], shown: str = "{}") -> str:
        return head + "".join(f"| {shown.format(key)} | {' | '.join(value(shipped[name], key) for name in NAMES)} |\n" for key in keys)

    dynamic = "".join(
        f"| {kind} | {' | '.join(value(shipped[name], f'dynamic.{kind}') + ' / ' + value(shipped[name], f'dynamic_partial.{kind}') for name in NAMES)} |\n"
        for kind in DYNAMIC
    )
    effects = [f"effects.{kind.value}" for kind in EffectKind]
    others = [key for key in KEYS if not key.startswith(("effects.", "dynamic", "version", "description"))]
    orders = "".join(f"| `{key}` | {KEYS[key].kind} | {direction(key)} |\n" for key in KEYS if not key.startswith("effects."))
    return f"""{NOTE}# Profiles

A profile says what may happen, where, in which jail, for how much. `dev`, `staging` and `prod` are shipped (`profiles/`, commented); your own go to
`~/.config/instinct-shell/NAME.toml` and start with `extends = "dev"`. `profile = "NAME"` in `~/.config/instinct-shell/config.toml` chooses the one to use.
A project file `.instinct.toml`, `INSTINCT_PROFILE` and flags may only tighten; each key declares below which way that is. Unknown keys are errors.

```
instinct profile show dev        # resolved, with its digest
instinct profile diff dev prod
instinct profile validate .instinct.toml
```

## What each kind of effect means where no instinct says more
{table(effects)}
## What a dynamic word means (at jail level full / partial)
Dynamic is a certainty, not a verdict: the word is only known when the command runs.

{head}{dynamic}
## The other keys
{table(others, "`{}`")}
## Which way is tighter
| key | kind | tighter |
|---|---|---|
{orders}
`effects.*` go from allow over ask to deny. `[[rule]]` tables ({", ".join(f"`{key}`" for key in RULE_KEYS)}) add reflexes and gates of your own; in a project file they may only ask
or deny. `[caches]` maps the tools' cache variables to folders of this workspace and is set in a person's profile alone.

## The network
`network.mode` is `open` (the host's network), `allowlist` or `none`. With the last two a command has a network of its own, in which local servers work; `publish` lets the
host reach ports of it. An allow-list is held by the kernel and a proxy outside the jail; the usual variables (`HTTPS_PROXY` and its like) point programs to it.

| an entry of `network.allow` | lets through |
|---|---|
| `"example.com"`, `"example.com:22"`, `"example.com:*"` | this name; without a port 80 and 443 |
| `"*.example.com"` | every name below it |
| `"*"` | every name; public addresses only |
| `"10.0.0.5:5432"`, `"10.0.0.0/8:443"`, `"[fd00::5]:80"` | an address, a network; the only way to a private one, also for a name that leads there |
| `"127.0.0.1:5432"` | a server of this machine: it answers at that very port inside, for every program |
| `"@package-registries"` | the package indexes of this machine, by the files of pip, uv, npm, pnpm, yarn, cargo and go in the account's home and in `/etc`. A project's file or a variable adds nothing, and a tool's built-in default is added by its name |

Set inside: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` in both spellings, `NO_PROXY` for the jail's own loopback, `NODE_USE_ENV_PROXY`, `YARN_HTTP(S)_PROXY`, `MAVEN_OPTS`, `GRADLE_OPTS`;
`PIP_PROXY`, `CARGO_HTTP_PROXY`, `npm_config_(https_)proxy` where the caller has them. A proxy in a tool's own file (git's `http.proxy`) still counts before those, and other Java programs
need `-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=18128`. Bounds: 256 connections at once, 30 seconds and 16 KB to say where to, 15 minutes without a byte.

What is refused is said on stderr, in the answer of the proxy, and in the audit record (`connections` of `finished`). SECURITY.md says what a list does not hold.

`credentials = ["git"]` lends the person's ssh agent (its socket, never a key) and the files of git's `store` helper to a command that is git and nothing else: `push`,
`fetch`, `pull`, `clone`, `ls-remote` in their plain forms, beside `add`, `commit -m`, `status` and filters such as `tail`. All other commands see neither. git must be the
system's and read the person's own configuration. With an allow-list ssh goes through the proxy too: name the server with its port, `"git.example.com:22"`.

```toml
extends = "staging"
[network]
allow = {{ add = ["git.example.com:443", "127.0.0.1:5432"] }}
publish = [3000]
credentials = ["git"]
```

## Programs of your own
`[[program]]` tables describe programs with the keys of the catalog's own rows ({", ".join(f"`{key}`" for key in PROGRAM_KEYS)}; `profiles/base.toml` shows each).
`instinct explain program NAME` prints what is known, `instinct explain programs` counts it. A row in your profile takes the place of the built-in one; a row in a
project file only adds effects, so that a repository cannot explain a danger away.

```toml
[[program]]
names = ["deployctl"]
summary = "deploys the shop"
options = "-e --env"
when = [["destroy", "infra.destroy tool=deployctl"], ["rollout", "infra.apply tool=deployctl"]]
harmless = "--dry-run status"
```

## Instincts of installed packages
`[[instinct]]` in your own profile names `entry = "package.module:name"` and the `sha256` of that module's file; nothing else is loaded, and nothing when the file
changed. It runs after the built-in ones of its tier, under a time limit, and can only restrict. So a model may judge whether a command serves the task that
`instinct task set` states (`situation.task`); none is needed.
"""


def jail_page() -> str:
    """What each level stops, from the hostile programs that the tests run, and what else a level means."""
    programs = tomllib.loads((TOP / "tests" / "cases" / "hostile.toml").read_text(encoding="utf-8"))["program"]
    rows = "".join(f"| {row['act']} | {row.get('full', 'stopped')} | {_session(row)} | {_bubblewrap(row)} | {_partial(row)} | {row.get('why', '')} |\n" for row in programs)
    acts = "".join(f"| {act} | stopped | {'stopped' if partial else 'not claimed'} |\n" for act, partial in claims())
    return f"""{NOTE}# The jail: what each level stops

Level **full**: user, mount, pid and ipc namespaces, Landlock, seccomp, limits. Level **partial**: Landlock, seccomp, limits; it is used where the machine
gives no namespaces, and dynamic changes are denied there, since the kernel could not hold them. Where neither works, nothing runs.

**Sessions.** At full the commands of one agent share pid, ipc and, without a network, network namespaces: a server that one command leaves in the
background can be reached and killed by the next, and nothing that runs there can see or signal the agent. Each command still has its own mounts,
Landlock domain and filter. A session is the user's, the workspace's, the profile's and the agent's: `--session ID`, else the agent's own variable, else
its nearest process. It ends with the agent, by `instinct session end`, or after 30 minutes without a command (while its agent is known to live, a
background process keeps it). When a launcher is killed, everything its command started ends, wherever it went; what earlier commands left
stays. `--one-shot`, prod (`jail.one_shot`) and a call that no agent stands behind get a jail of their own, in which nothing outlives the command.

**bubblewrap.** Where only that program may make namespaces, it makes them, from the same view, and our own first process inside puts on Landlock and the
filter: level full, one-shot. Paths are resolved by name there, so a process that runs in the workspace at the same time may race the mounts; a
protected symbolic link can be replaced; for root the number of processes is not limited.

**Programs that a command starts.** Where the profile says so (`[jail] supervise_execs`: staging and prod), each program is judged at the moment it
starts, whatever starts it: a git hook, a Makefile, an npm script, subprocess, xargs, find. A last system call filter has execve and execveat wait for
the launcher. A program whose catalog row can come to nothing that is judged there (and any that has no row) goes on at once; the rest is judged as a
command of its own, nested `bash -c TEXT` as text and a script by its lines. Only denials of destructive-operation, protected-files, self-protection and
privilege act: the exec gets EACCES, the usual lines go to that program's stderr, and a record of its own names the command. An ask is a near-miss.
What the whole command was judged and allowed to do covers what it starts: the same kind of effect, for paths there or below. Git's own steps go on too
(`git stash` starts `git reset --hard`), the assembler and linker of a compiler, and a git call on a repository in scratch. What is only known at run time waits until it is: it comes by as an
exec of its own. What could not be judged (a fault, no verdict within 3 seconds, memory that cannot be read) is refused, except where the profile lets
unknown programs run (`"unknown" = "allow"` in `[effects]`): then it goes on and is a near-miss. When the launcher is lost, every exec fails. In a
session a process stays behind for what a command left in the background, and ends with it.
It guards meaning and is not the boundary: the kernel reads path and words again after they were judged, so a program that changes them in between, that
needs no exec for its harm, or that is a copy of another one under a new name, is held by the jail alone.

**Network.** With `allowlist` or `none` a command has a network of its own with nothing but loopback. For a list the jail's first process makes a listener inside and hands it
out to a proxy, a process outside that ends with the jail, or with the session that shares the network. A killed proxy leaves no way out; the next command of a
session starts another. Published ports are served by a process that has moved into that network and has no place among the jail's processes and files.

**Overlays.** `instinct-exec --overlay -- CMD` runs CMD on a copy-on-write view of the workspace, an overlay whose upper folder lies in the state directory:
no network, a private /tmp, nothing else writable, no session, at most two minutes, 5,000 changed files and 200 MiB. What it changed is listed (A created,
M modified, D deleted, R moved, m mode or time, with the differences of texts) and judged again, path by path, as if the command had named each: a denied
change is thrown away (126), whatever its text had looked like. Else it is kept for a day (`instinct overlay list | show | commit | discard`), or with
`--overlay=commit` made at once when the command ended well and nothing about it is asked, or with `--overlay=discard` only shown. A commit first compares
every path with what was there when the command ended (device, inode, time, size, mode, content) and changes nothing on a difference; it keeps what it
replaces for `instinct undo`, opens every folder beneath the workspace's own descriptor through no link, names each new file by one rename, and goes on by
itself after a kill, at the next overlay or approval. Where the profile says `[ask] becomes = "overlay"`, a command that is asked about runs so when nobody has
answered, provided that all questions are about changing files in the workspace and a passphrase is set: it ends with 126, and `instinct approve ID` commits its
change (one that has changed nothing has simply run). A deny stays one, and so does an ask about anything else (network, databases, infrastructure, packages, processes, git): that never runs.
Refused with the reason: what does more than change files, git and other programs with a history, builds, package managers, servers, databases, containers; changes
in a git store, hard links (of what is there too), set-id bits, sockets, pipes and devices; a workspace of another user, with something mounted inside, or with the state
directory in it; a machine where we cannot make the namespaces ourselves. The view differs from a bare run in two ways: a rename of a folder answers EXDEV as between
two disks (`mv` copies then, other programs may fail), and the workspace must not be changed meanwhile (what is, is a conflict).

## Which host gives what
{table()}
## Hostile programs
`tests/contract/test_jail_hostile.py` runs each of these straight in a jail, without any judge, as root and as an ordinary user, and holds this table to it.

| a program tries to | full | session | bubblewrap | partial | why |
|---|---|---|---|---|---|
{rows}
## Canaries
`instinct doctor` tries these on the machine it runs on.

| a command cannot ... | full | partial |
|---|---|---|
{acts}
## What a level needs, and what it costs
- Full: Linux 5.12 with user namespaces, Landlock ABI 2 (5.19). Below ABI 6 abstract sockets cannot be told apart, so unix sockets are closed unless the
  command has no network; below ABI 9 a pathname socket made after the start of the command, or
  bound by a relative name, can be reached where its folder is neither in /run nor was one of the known folders of /tmp at the start: a command that runs
  for hours, or goes on in the background, can wait for an ssh-agent or a tmux server that is started meanwhile. `[jail] private_tmp = true` closes /tmp.
- Partial: Landlock ABI 1. Below ABI 6 a command can signal other processes of the same user. Unix sockets are closed below ABI 9. No new terminals
  (`script`), no /dev/shm (python's multiprocessing locks), no private /tmp: they would be shared with every program of the user.
- Both: no tracing (strace, gdb), no set-id bits, no new namespaces (rootless containers, a browser's own sandbox). The uid inside is the uid outside, other
  owners show as `nobody` at full, and nobody, root included, can change owners: root's `tar x` needs `--no-same-owner`.
- Files that the caller hands over as stdin, stdout or stderr pass as they are only where the command may write them by name; others are opened anew
  read-only or relayed, and folders and block devices are refused.
- A one-shot command's background processes (`nohup server &`) end with it, and nothing says so: `--session NAME` keeps them. Its process limit counts, for root, from three hundred on (pid_max of the namespace, Linux 6.14), and at
  partial not at all; memory is counted for each process.
"""


def _session(row: dict[str, str]) -> str:
    return row.get("session", row.get("full", "stopped"))


def _bubblewrap(row: dict[str, str]) -> str:
    said = row.get("bubblewrap", row.get("full", "stopped"))
    return f"{said}, {row['bubblewrap_root']} for root" if "bubblewrap_root" in row else said


def _partial(row: dict[str, str]) -> str:
    said = row.get("partial", "stopped")
    return f"{said}, {row['partial_root']} for root" if "partial_root" in row else said


def main() -> int:
    """The command line."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TOP / "docs"
    (folder / "instincts").mkdir(parents=True, exist_ok=True)
    pages = {"profiles.md": profiles_page(), "jail.md": jail_page(), "instincts/README.md": index_page()}
    pages |= {f"instincts/{instinct.id}.md": instinct_page(instinct) for instinct in BUILTIN}
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
