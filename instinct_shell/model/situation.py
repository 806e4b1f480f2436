"""The situation: what judging needs to know of the world, read once, so that the reflex tier needs no I/O."""

from __future__ import annotations

from .value import Value


class Grant(Value):
    """A person's approval of one exact intent, once, until `expires` (seconds since the epoch)."""

    id: str
    intent_digest: str
    expires: float


class Spend(Value):
    """One ledger account, micro-dollars."""

    scope: str  # session | day | month | project | agent
    ceiling: int
    committed: int
    reserved: int


class Situation(Value):
    """Read once per judgement. `now`: seconds since the epoch; `home`, `user`: of the person; `jail_level`: what the probe reached."""

    now: float = 0.0
    home: str = "/nonexistent"
    user: str = ""
    uid: int = 0
    workspace: str = "/nonexistent"
    jail_level: str = "full"  # full | partial | none
    spend: tuple[Spend, ...] = ()
    grants: tuple[Grant, ...] = ()
    task: str = ""  # what a person said the work is, "" for nothing said
    guard_paths: tuple[str, ...] = ()  # interpreter, package, profiles, state directory: never to be written by a judged command
    agent_pids: tuple[int, ...] = ()
    offline: tuple[str, ...] = ()  # reserved names of what could not be read, each with its reason: judged as "unknown", never as fine
    task_paths: tuple[str, ...] = ()  # path patterns that belong to the task, as in a profile; empty: any
    task_operations: tuple[str, ...] = ()  # effect kinds that belong to the task, globs; empty: any
    own_processes: bool = False  # the command would see no other processes than those of its jail session
    cache: str = ""  # the folder of this workspace's caches, "" for none: commands may write there
    homes: tuple[str, ...] = ()  # every home to protect beside `home`: the account's own, when HOME says another
