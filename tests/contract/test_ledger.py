"""The ledger never lets reservations pass a ceiling, whatever the interleaving, crash or clock."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from instinct_shell.errors import BudgetError, StorageError, UsageError
from instinct_shell.model.situation import Spend
from instinct_shell.storage import database
from instinct_shell.storage.ledger import FILE, NOBODYS_HOLD_S, LedgerStore
from instinct_shell.storage.migrations import MIGRATIONS

ROOT = Path(__file__).resolve().parents[2]
NOVEMBER_29 = 1764417600.0  # 2025-11-29 12:00 UTC
DAY = 86400.0


class Clock:
    def __init__(self, now: float = NOVEMBER_29) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ledger(tmp_path, clock):
    store = LedgerStore(str(tmp_path), clock=clock)
    yield store
    store.close()


def balance(ledger, scope="session", session="s"):
    for account in ledger.accounts(session):
        if account.scope == scope:
            return account.committed, account.reserved
    raise AssertionError(scope)


# ---------------------------------------------------------------- reserve, commit, release


def test_nothing_was_spent_and_no_file_is_made(ledger, tmp_path):
    assert ledger.spends("s", {"day": 5}) == (Spend("session", 10_000_000, 0, 0), Spend("day", 5, 0, 0))
    assert [(account.scope, account.ceiling) for account in ledger.accounts("s")] == [
        ("session", 10_000_000),
        ("day", None),
        ("month", None),
        ("commitment", None),
    ]
    assert ledger.holds() == ()
    assert ledger.ceilings() == {}
    assert ledger.check() == ()
    assert os.listdir(tmp_path) == []


def test_a_hold_counts_until_it_is_committed(ledger):
    hold = ledger.reserve("s", 3_000_000, {})
    assert balance(ledger) == (0, 3_000_000)
    ledger.commit(hold.id, 1_234_567)
    assert balance(ledger) == (1_234_567, 0)
    assert balance(ledger, "day") == balance(ledger, "month") == (1_234_567, 0)
    assert ledger.holds() == ()
    assert ledger.check() == ()


def test_a_commit_without_an_amount_is_the_whole_hold(ledger):
    ledger.commit(ledger.reserve("s", 5, {}).id)
    assert balance(ledger) == (5, 0)


def test_a_released_hold_costs_nothing(ledger):
    ledger.release(ledger.reserve("s", 5, {}).id)
    assert balance(ledger) == (0, 0)


def test_more_than_was_held_is_written_down_and_then_nothing_more_fits(ledger):
    ledger.commit(ledger.reserve("s", 5, {"session": 10}).id, 25)
    assert balance(ledger) == (25, 0)
    with pytest.raises(BudgetError, match="would pass the session ceiling"):
        ledger.reserve("s", 1, {"session": 10})
    ledger.reserve("other", 1, {"session": 10})


@pytest.mark.parametrize(
    ("ceilings", "scope"),
    [
        ({"session": 9}, "session"),
        ({"session": 100, "day": 9}, "day"),
        ({"session": 100, "month": 9}, "month"),
        ({"session": 100, "project": 9}, "project"),
        ({"session": 100, "agent": 9}, "agent"),
    ],
)
def test_any_ceiling_refuses_the_whole_reservation(ledger, ceilings, scope):
    with pytest.raises(BudgetError, match=f"would pass the {scope} ceiling of \\$0.000009") as caught:
        ledger.reserve("s", 10, ceilings, project="/w", agent="claude")
    assert caught.value.exit_status == 126
    assert all((account.committed, account.reserved) == (0, 0) for account in ledger.accounts("s", project="/w", agent="claude"))
    ledger.reserve("s", 9, ceilings, project="/w", agent="claude")


def test_the_session_has_a_ceiling_when_nobody_names_one(ledger):
    ledger.reserve("s", 10_000_000, {})
    with pytest.raises(BudgetError, match=r"ceiling of \$10.00"):
        ledger.reserve("s", 1, {})


def test_a_ceiling_of_zero_allows_nothing_but_nothing(ledger):
    ledger.reserve("s", 0, {"session": 0})
    with pytest.raises(BudgetError):
        ledger.reserve("s", 1, {"session": 0})


def test_a_person_lowers_a_ceiling_but_does_not_raise_the_profiles(ledger):
    ledger.set_ceiling("session", 5)
    with pytest.raises(BudgetError):
        ledger.reserve("s", 6, {"session": 100})
    ledger.set_ceiling("session", 500)
    with pytest.raises(BudgetError):
        ledger.reserve("s", 101, {"session": 100})
    ledger.set_ceiling("day", 3)
    assert ledger.ceilings() == {"session": 500, "day": 3}
    ledger.set_ceiling("day", None)
    ledger.reserve("s", 100, {"session": 100})


def test_an_unknown_scope_is_refused(ledger):
    with pytest.raises(UsageError, match="no budget scope `week`"):
        ledger.set_ceiling("week", 5)


def test_commitments_have_their_own_account(ledger):
    ledger.reserve("s", 7, {"commitment": 7}, commitment=True)
    with pytest.raises(BudgetError, match="commitment ceiling"):
        ledger.reserve("s", 1, {"commitment": 7}, commitment=True)
    assert balance(ledger) == (0, 0)
    assert balance(ledger, "commitment") == (0, 7)


def test_the_same_key_charges_once(ledger):
    first = ledger.reserve("s", 5, {}, key="k")
    assert ledger.reserve("s", 5, {}, key="k") == first
    ledger.commit(first.id)
    assert ledger.reserve("s", 5, {}, key="k") == first
    ledger.commit(first.id)
    assert balance(ledger) == (5, 0)
    with pytest.raises(BudgetError, match="used for another reservation"):
        ledger.reserve("s", 6, {}, key="k")
    with pytest.raises(BudgetError, match="used for another reservation"):
        ledger.reserve("t", 5, {}, key="k")


def test_a_hold_ends_once(ledger):
    hold = ledger.reserve("s", 5, {}).id
    ledger.commit(hold, 3)
    ledger.commit(hold, 3)
    for again in (lambda: ledger.commit(hold, 4), lambda: ledger.release(hold), lambda: ledger.commit(hold)):
        with pytest.raises(BudgetError, match="already committed"):
            again()
    other = ledger.reserve("s", 5, {}).id
    ledger.release(other)
    ledger.release(other)
    with pytest.raises(BudgetError, match="already released"):
        ledger.commit(other)
    assert balance(ledger) == (3, 0)


def test_an_unknown_hold_is_refused(ledger):
    for _ in range(2):
        with pytest.raises(BudgetError, match="no hold `x`"):
            ledger.commit("x")
        ledger.reserve("s", 1, {})


@pytest.mark.parametrize("amount", [-1, 1.5, True, 2**60, "5", None])
def test_amounts_are_whole_micro_dollars(ledger, amount):
    with pytest.raises(BudgetError, match="is not an amount"):
        ledger.reserve("s", amount, {})


# ---------------------------------------------------------------- clocks


def test_a_new_day_is_a_new_window(ledger, clock):
    ledger.commit(ledger.reserve("s", 5, {"day": 5}).id)
    with pytest.raises(BudgetError, match="day ceiling"):
        ledger.reserve("s", 1, {"day": 5})
    clock.now += DAY
    ledger.reserve("s", 5, {"day": 5})
    assert balance(ledger, "month") == (5, 5)


@pytest.mark.parametrize("back", [1.0, DAY, 400 * DAY, NOVEMBER_29])
def test_a_clock_set_back_opens_no_fresh_window(ledger, clock, back):
    ledger.commit(ledger.reserve("s", 5, {"day": 5}).id)
    clock.now -= back
    for scope in ("day", "month"):
        assert balance(ledger, scope) == (5, 0)
        with pytest.raises(BudgetError, match=f"{scope} ceiling"):
            ledger.reserve("s", 1, {scope: 5})


def test_a_clock_set_forward_and_back_keeps_the_later_window(ledger, clock):
    clock.now += 31 * DAY
    ledger.commit(ledger.reserve("s", 5, {"day": 5}).id)
    clock.now -= 31 * DAY
    with pytest.raises(BudgetError, match="day ceiling"):
        ledger.reserve("s", 1, {"day": 5})


# ---------------------------------------------------------------- owners that die

OWNER = """
import sys
from instinct_shell.storage.ledger import LedgerStore
print(LedgerStore(sys.argv[1]).reserve("s", 700, {}).id, flush=True)
sys.stdin.read()
"""


def start_owner(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_a_hold_is_swept_only_when_its_owner_is_gone_and_then_in_full(tmp_path):
    ledger = LedgerStore(str(tmp_path))
    process, hold = start_owner(tmp_path)
    ledger.reserve("s", 1, {})
    assert balance(ledger) == (0, 701)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    ledger.reserve("s", 1, {})
    assert balance(ledger) == (700, 2)
    assert next(h for h in ledger.holds(open_only=False) if h.id == hold).state == "swept"
    with pytest.raises(BudgetError, match="already swept"):
        ledger.release(hold)
    ledger.close()


def test_a_zombie_owner_is_gone(tmp_path):
    ledger = LedgerStore(str(tmp_path))
    process, _ = start_owner(tmp_path)
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    ledger.reserve("s", 1, {})
    assert balance(ledger) == (700, 1)
    process.communicate()
    ledger.close()


def test_a_reused_pid_is_another_owner(ledger):
    hold = ledger.reserve("s", 700, {})
    ledger._open().execute("UPDATE hold SET owner_start = '1' WHERE id = ?", (hold.id,))
    ledger.reserve("s", 1, {})
    assert balance(ledger) == (700, 1)


def test_an_owner_in_another_pid_namespace_is_left_alone(ledger):
    hold = ledger.reserve("s", 700, {})
    ledger._open().execute("UPDATE hold SET owner_pid = 999999, owner_namespace = 'pid:[1]' WHERE id = ?", (hold.id,))
    ledger.reserve("s", 1, {})
    assert balance(ledger) == (0, 701)


def test_owners_from_before_a_restart_are_gone(ledger):
    hold = ledger.reserve("s", 700, {})
    ledger._open().execute("UPDATE hold SET owner_boot = 'before', owner_namespace = 'pid:[1]' WHERE id = ?", (hold.id,))
    ledger.reserve("s", 1, {})
    assert balance(ledger) == (700, 1)


def test_nobodys_hold_is_settled_after_a_day(ledger, clock):
    ledger.reserve("s", 700, {}, owner_pid=0)
    clock.now += NOBODYS_HOLD_S - 1
    ledger.reserve("s", 1, {})
    assert balance(ledger) == (0, 701)
    clock.now += 2
    ledger.reserve("s", 1, {})
    assert balance(ledger) == (700, 2)


# ---------------------------------------------------------------- many processes

SPENDER = """
import random, sys
from instinct_shell.errors import BudgetError
from instinct_shell.storage.ledger import LedgerStore
state, seed, count, ceiling = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
chance, ledger, spent = random.Random(seed), LedgerStore(state), 0
print("ready", flush=True)
while count:
    count -= 1
    amount = chance.randint(1, 50_000)
    try:
        hold = ledger.reserve("s", amount, {"session": ceiling, "day": 2 * ceiling})
    except BudgetError:
        continue
    actual = chance.randint(0, amount)
    if chance.random() < 0.2:
        ledger.release(hold.id)
    else:
        ledger.commit(hold.id, actual)
        spent += actual
print(spent)
"""


def spender(tmp_path, seed, count, ceiling):
    argv = [sys.executable, "-c", SPENDER, str(tmp_path), str(seed), str(count), str(ceiling)]
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_eight_processes_never_overspend_and_agree_with_the_books(tmp_path):
    ceiling = 3_000_000
    processes = [spender(tmp_path, seed, 60, ceiling) for seed in range(8)]
    totals = []
    for process in processes:
        out, _ = process.communicate()
        assert process.returncode == 0
        totals.append(int(out.split()[1]))
    ledger = LedgerStore(str(tmp_path))
    assert balance(ledger) == (sum(totals), 0)
    assert sum(totals) <= ceiling
    assert ledger.check() == ()
    ledger.close()


def test_kill_minus_nine_anywhere_keeps_the_books_right(tmp_path):
    ceiling = 2_000_000
    for round_number in range(8):
        processes = [spender(tmp_path, 10 * round_number + n, -1, ceiling) for n in range(3)]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.send_signal(signal.SIGKILL)
        for process in processes:
            process.communicate()
    ledger = LedgerStore(str(tmp_path))
    ledger.reserve("s", 0, {"session": ceiling})  # sweeps
    committed, reserved = balance(ledger)
    assert committed + reserved <= ceiling
    assert reserved == 0
    assert ledger.check() == ()
    ledger.close()


def test_a_connection_does_not_cross_a_fork(ledger):
    ledger.reserve("s", 1, {})
    child = os.fork()
    if not child:
        try:
            ledger.reserve("s", 1, {})
            os._exit(0)
        except BaseException:  # noqa: BLE001 - whatever it was, the child must end here
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert sum(balance(ledger)) == 2


# ---------------------------------------------------------------- any interleaving


class Interleaving(RuleBasedStateMachine):
    """Two launchers' ledgers on one file, a clock that jumps, owners that die: the ceilings hold after every step."""

    holds = Bundle("holds")
    SESSION, DAY_CEILING = 1000, 1500

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.stores = [LedgerStore(self.folder.name, clock=self.clock) for _ in range(2)]
        self.latest = 0.0

    @rule(
        target=holds,
        store=st.integers(0, 1),
        session=st.sampled_from("ab"),
        amount=st.integers(0, 600),
        key=st.sampled_from(["", "k1", "k2"]),
    )
    def reserve(self, store, session, amount, key):
        try:
            return self.stores[store].reserve(session, amount, {"session": self.SESSION, "day": self.DAY_CEILING}, key=key)
        except BudgetError:
            return None

    @rule(store=st.integers(0, 1), hold=holds, part=st.floats(0, 1))
    def commit(self, store, hold, part):
        if hold is not None:
            try:
                self.stores[store].commit(hold.id, int(hold.amount * part))
            except BudgetError:
                pass

    @rule(store=st.integers(0, 1), hold=holds)
    def release(self, store, hold):
        if hold is not None:
            try:
                self.stores[store].release(hold.id)
            except BudgetError:
                pass

    @rule(hold=holds)
    def owner_dies(self, hold):
        if hold is not None:
            self.stores[0]._open().execute("UPDATE hold SET owner_start = '1' WHERE id = ?", (hold.id,))

    @rule(seconds=st.sampled_from([-400 * DAY, -DAY, -1.0, 1.0, DAY, 40 * DAY]))
    def clock_jumps(self, seconds):
        self.clock.now += seconds

    @rule()
    def opened_again(self):
        self.stores[0].close()

    @invariant()
    def nothing_passes_a_ceiling_and_the_books_add_up(self):
        store = self.stores[0]
        for session in "ab":
            for spend in store.accounts(session):
                limit = {"session": self.SESSION, "day": self.DAY_CEILING}.get(spend.scope)
                assert limit is None or spend.committed + spend.reserved <= limit
        assert store.check() == ()

    @invariant()
    def windows_only_move_forward(self):
        if database.exists(self.stores[0]._path):
            latest = self.stores[0]._latest(self.stores[0]._open())
            assert latest >= self.latest
            self.latest = latest

    def teardown(self):
        for store in self.stores:
            store.close()
        self.folder.cleanup()


Interleaving.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestInterleaving = Interleaving.TestCase


# ---------------------------------------------------------------- the file


def test_the_file_is_private_and_whole(ledger, tmp_path):
    ledger.reserve("s", 1, {})
    for name in os.listdir(tmp_path):
        assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == 0o600, name
    assert not (tmp_path / f"{FILE}.new").exists()


def test_a_half_made_draft_is_no_ledger(ledger, tmp_path):
    (tmp_path / f"{FILE}.new").write_bytes(b"half")
    ledger.reserve("s", 1, {})
    assert balance(ledger) == (0, 1)


@pytest.mark.parametrize("contents", [b"", b"rubbish" * 1000, b"SQLite format 3\0" + b"\0" * 5000])
def test_a_damaged_ledger_is_refused_and_left_as_it_is(tmp_path, contents):
    first = LedgerStore(str(tmp_path))
    first.reserve("s", 1, {})
    first.close()  # or its last pages come to the file whenever it is collected
    for name in os.listdir(tmp_path):
        if name.endswith(("-wal", "-shm")):
            (tmp_path / name).unlink()
    (tmp_path / FILE).write_bytes(contents)
    for use in (lambda store: store.reserve("s", 1, {}), lambda store: store.spends("s"), lambda store: store.commit("x")):
        store = LedgerStore(str(tmp_path))
        with pytest.raises(StorageError) as caught:
            use(store)
        assert str(tmp_path / FILE) in caught.value.message
        assert "backup" in caught.value.hint
        assert caught.value.exit_status == 125
    assert (tmp_path / FILE).read_bytes() == contents


def test_flipped_pages_are_found(tmp_path):
    store = LedgerStore(str(tmp_path))
    for number in range(50):
        store.reserve("s", 1, {}, key=f"k{number}")
    store.close()
    data = bytearray((tmp_path / FILE).read_bytes())
    for place in range(4096, len(data), 512):
        data[place : place + 64] = b"\xff" * 64
    (tmp_path / FILE).write_bytes(bytes(data))
    with pytest.raises(StorageError, match="damaged"):
        LedgerStore(str(tmp_path)).reserve("s", 1, {})


def test_a_ledger_that_vanished_does_not_come_back_empty(tmp_path):
    store = LedgerStore(str(tmp_path))
    store.reserve("s", 1, {})
    store.close()
    (tmp_path / FILE).unlink()
    for use in (lambda: LedgerStore(str(tmp_path)).reserve("s", 1, {}), lambda: LedgerStore(str(tmp_path)).spends("s")):
        with pytest.raises(StorageError, match="is gone"):
            use()
    (tmp_path / f"{FILE}.made").unlink()
    LedgerStore(str(tmp_path)).reserve("s", 1, {})


def test_a_newer_schema_is_refused(ledger, tmp_path):
    ledger.reserve("s", 1, {})
    ledger.close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(StorageError, match="newer version"):
        ledger.spends("s")


def test_later_migrations_are_applied_once(tmp_path):
    path = str(tmp_path / "x.db")
    ran = []

    def m002(connection):
        ran.append(1)
        connection.execute("ALTER TABLE hold ADD COLUMN more TEXT")

    database.connect(path, MIGRATIONS).close()
    for _ in range(2):
        connection = database.connect(path, (*MIGRATIONS, m002))
        connection.execute("SELECT more FROM hold")
        connection.close()
    assert ran == [1]


def test_a_migration_that_fails_leaves_no_file(tmp_path):
    def broken(connection):
        connection.execute("CREATE TABLE half(x)")
        connection.execute("SELECT nonsense FROM nowhere")

    with pytest.raises(StorageError):
        database.connect(str(tmp_path / "x.db"), (broken,))
    assert [name for name in os.listdir(tmp_path) if not name.endswith(".lock")] == []


def test_a_symlink_is_not_followed(tmp_path):
    LedgerStore(str(tmp_path / "..")).close()
    (tmp_path / FILE).symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(StorageError, match="not a regular file"):
        LedgerStore(str(tmp_path)).reserve("s", 1, {})
    assert not (tmp_path / "elsewhere.db").exists()


def in_namespace(script, code, *arguments):
    argv = ["unshare", "-rm", "sh", "-ec", script, "sh", code, *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


namespaces = pytest.mark.skipif(
    subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "t", "/mnt"], capture_output=True, check=False).returncode != 0,
    reason="no user and mount namespaces here: no disk can be filled or made read-only",
)
REPORT = """
import sys
from instinct_shell.errors import StorageError
from instinct_shell.storage.ledger import LedgerStore
try:
    ledger = LedgerStore("/mnt/state")
    for n in range(100000):
        ledger.reserve("s", 0, {})
except StorageError as error:
    print(n, "|", error.message, "|", error.hint)
"""


@namespaces
@pytest.mark.parametrize("room", [0, 4096, 20480, 61440])
def test_a_full_disk_refuses_in_words(room):
    script = f"""
mount -t tmpfs -o size=256k t /mnt && cd {ROOT} && mkdir -m 700 /mnt/state
dd if=/dev/zero of=/mnt/filler bs=4096 2>/dev/null || true
[ {room} = 0 ] || truncate -s -{room} /mnt/filler
exec {sys.executable} -c "$1"
"""
    out = in_namespace(script, REPORT)
    assert "no space left" in out.stdout or "cannot be written" in out.stdout or "disk failed" in out.stdout, out
    assert not out.stderr


@namespaces
def test_a_read_only_state_directory_refuses_in_words():
    script = f"""
mount -t tmpfs t /mnt && cd {ROOT} && mkdir -m 700 /mnt/state
{sys.executable} -c 'from instinct_shell.storage.ledger import LedgerStore; LedgerStore("/mnt/state").reserve("s", 1, {{}})'
mount --bind /mnt/state /mnt/state && mount -o remount,bind,ro /mnt/state
exec {sys.executable} -c "$1"
"""
    out = in_namespace(script, REPORT)
    assert "0 |" in out.stdout, out
    assert "cannot be written" in out.stdout
    assert not out.stderr
