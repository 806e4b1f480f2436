"""The ledger: what was spent and what is held, in integer micro-dollars, safe under any number of processes at once.

Money is reserved before it is spent. A reservation counts against every account it touches (session, day, month, and project or agent when they
are named) in one transaction; when one of them would pass its ceiling, none changes. It ends once: committed with what it really cost, or
released. A hold whose owner died is settled in full, since a call that was cut off may still be billed.

Ceilings come from the profile, with each reservation. A person may set lower ones here; the lower one counts. The session's is $10.00 when
nobody says otherwise. Days and months are UTC; their windows only move forward: a clock set back opens no fresh budget.
"""

from __future__ import annotations

import os
import time

from ..errors import BudgetError, UsageError
from ..model.money import LARGEST, dollars
from ..model.record import Hold
from ..model.situation import Spend
from ..model.value import Value
from . import database
from .host import Owner, is_gone, owner
from .migrations import MIGRATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping

FILE = "ledger.db"
SESSION_CEILING = 10_000_000
SCOPES = ("session", "day", "month", "project", "agent", "commitment")
NOBODYS_HOLD_S = 24 * 3600.0  # a hold that no process owns is settled in full after a day
SWEEP = 64  # open holds looked at per reservation, oldest first


class HoldEntry(Value):
    """A hold as the books have it. state: open | committed | released | swept; actual: what it came to."""

    id: str
    session: str
    amount: int
    state: str
    actual: int
    at: float
    owner_pid: int


class Account(Value):
    """One account, micro-dollars. ceiling: None where nobody set one."""

    scope: str
    key: str
    ceiling: int | None
    committed: int = 0
    reserved: int = 0


class LedgerStore:
    """The ledger of one state directory. Opens nothing before it is used; `clock` gives seconds since the epoch."""

    def __init__(self, state: str, *, clock: Callable[[], float] = time.time, durable: bool = False) -> None:
        self._path = os.path.join(state, FILE)
        self._clock = clock
        self._durable = durable
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._me: Owner | None = None

    # ------------------------------------------------------------ looking

    def spends(self, session: str, ceilings: Mapping[str, int] | None = None, *, project: str = "", agent: str = "") -> tuple[Spend, ...]:
        """The accounts with a ceiling that a reservation of this session would touch. Costs one `lstat` while nothing was ever spent."""
        accounts = self.accounts(session, ceilings, project=project, agent=agent)
        return tuple(
            Spend(account.scope, account.ceiling, account.committed, account.reserved)
            for account in accounts
            if account.ceiling is not None and account.scope != "commitment"
        )

    def accounts(
        self, session: str, ceilings: Mapping[str, int] | None = None, *, project: str = "", agent: str = ""
    ) -> tuple[Account, ...]:
        """Every account of this session, its standing commitments last."""
        if not database.exists(self._path):
            limits = _ceilings(ceilings or {}, {})
            keys = self._accounts(session, project, agent, self._clock())
            return tuple(Account(scope, key, limits.get(scope)) for scope, key in (*keys, ("commitment", session)))
        with database.guarded(self._path):
            connection = self._open()
            limits = _ceilings(ceilings or {}, self._own_ceilings(connection))
            keys = self._accounts(session, project, agent, max(self._clock(), self._latest(connection)))
            found = (*keys, ("commitment", session))
            return tuple(Account(*account, limits.get(account[0]), *self._balance(connection, account)) for account in found)

    def ceilings(self) -> dict[str, int]:
        """The ceilings that a person set here, by scope."""
        if not database.exists(self._path):
            return {}
        with database.guarded(self._path):
            return self._own_ceilings(self._open())

    def holds(self, *, open_only: bool = True) -> tuple[HoldEntry, ...]:
        """Holds, oldest first."""
        if not database.exists(self._path):
            return ()
        query = "SELECT id, session, amount, state, actual, at, owner_pid FROM hold WHERE state = 'open' OR ? ORDER BY at, id"
        with database.guarded(self._path):
            return tuple(HoldEntry(*row) for row in self._open().execute(query, (not open_only,)))

    def check(self) -> tuple[str, ...]:
        """What does not add up: every account must equal the sum of its holds. Empty when the books are right."""
        if not database.exists(self._path):
            return ()
        query = """
            SELECT a.scope, a.key, a.committed, a.reserved,
                   COALESCE(SUM(CASE WHEN h.state IN ('committed', 'swept') THEN h.actual END), 0),
                   COALESCE(SUM(CASE WHEN h.state = 'open' THEN h.amount END), 0)
            FROM account a LEFT JOIN hold_account x ON x.scope = a.scope AND x.key = a.key LEFT JOIN hold h ON h.id = x.hold
            GROUP BY a.scope, a.key"""
        wrong = []
        with database.guarded(self._path):
            for scope, key, committed, reserved, spent, held in self._open().execute(query):
                if (committed, reserved) != (spent, held):
                    wrong.append(
                        f"{scope} `{key}`: {dollars(committed)} spent and {dollars(reserved)} held, but its holds say "
                        f"{dollars(spent)} and {dollars(held)}"
                    )
        return tuple(wrong)

    # ------------------------------------------------------------ spending

    def reserve(
        self,
        session: str,
        amount: int,
        ceilings: Mapping[str, int],
        *,
        key: str = "",
        project: str = "",
        agent: str = "",
        commitment: bool = False,
        owner_pid: int | None = None,
    ) -> Hold:
        """Hold this much. Raises BudgetError when a ceiling would be passed; then nothing changed.

        ceilings: by scope, from the profile; 0 allows nothing, a scope that is not named has none (the session always has one). key: the same
        key again gives the same hold and charges once. commitment: a standing commitment (an ad budget), on its own account of the session.
        owner_pid: the process that will settle it, this one by default, 0 for none.
        """
        _check_amount(amount)
        who = self._owner(os.getpid() if owner_pid is None else owner_pid)
        connection = self._open()
        with database.transaction(connection, self._path):
            now = self._now(connection)
            if key and (known := self._by_key(connection, key, session, amount)):
                return known
            self._sweep(connection, now)
            accounts = (("commitment", session),) if commitment else self._accounts(session, project, agent, now)
            limits = _ceilings(ceilings, self._own_ceilings(connection))
            for account in accounts:
                self._hold_on(connection, account, amount, limits.get(account[0]))
            hold = Hold(os.urandom(6).hex(), session, amount, who.pid)
            connection.execute(
                "INSERT INTO hold(id, idempotency, session, amount, at, owner_pid, owner_start, owner_namespace, owner_boot) VALUES(?,?,?,?,?,?,?,?,?)",
                (hold.id, key or None, session, amount, now, who.pid, who.start, who.namespace, who.boot),
            )
            connection.executemany("INSERT INTO hold_account VALUES(?,?,?)", [(hold.id, *account) for account in accounts])
            return hold

    def commit(self, hold: str, amount: int | None = None) -> None:
        """It was spent: this much, or all of it. More than was held is written down as it is. Twice the same is once."""
        if amount is not None:
            _check_amount(amount)
        self._settle(hold, "committed", amount)

    def release(self, hold: str) -> None:
        """It was not spent. Twice is once."""
        self._settle(hold, "released", 0)

    def set_ceiling(self, scope: str, micros: int | None) -> None:
        """A person's own ceiling for a scope, None to lift it. It only ever lowers what the profile allows."""
        if scope not in SCOPES:
            raise UsageError(f"there is no budget scope `{scope}`", hint="one of: " + ", ".join(SCOPES))
        connection = self._open()
        with database.transaction(connection, self._path):
            connection.execute("DELETE FROM ceiling WHERE scope = ?", (scope,))
            if micros is not None:
                _check_amount(micros)
                connection.execute("INSERT INTO ceiling VALUES(?,?)", (scope, micros))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._connection is not None and self._pid == os.getpid():
            self._connection.close()
        self._connection = None

    # ------------------------------------------------------------ inside a transaction

    def _open(self) -> sqlite3.Connection:
        if self._connection is None or self._pid != os.getpid():  # a connection must not cross a fork
            self._connection = database.connect(self._path, MIGRATIONS, durable=self._durable)
            self._pid = os.getpid()
        return self._connection

    def _owner(self, pid: int) -> Owner:
        if pid != os.getpid():
            return owner(pid)
        if self._me is None or self._me.pid != pid:
            self._me = owner(pid)
        return self._me

    def _latest(self, connection: sqlite3.Connection) -> float:
        return float(connection.execute("SELECT latest FROM clock").fetchone()[0])

    def _now(self, connection: sqlite3.Connection) -> float:
        """The time, never earlier than any time seen before."""
        now, latest = self._clock(), self._latest(connection)
        if now > latest:
            connection.execute("UPDATE clock SET latest = ?", (now,))
        return max(now, latest)

    def _accounts(self, session: str, project: str, agent: str, now: float) -> tuple[tuple[str, str], ...]:
        moment = time.gmtime(now)
        accounts = [("session", session), ("day", time.strftime("%Y-%m-%d", moment)), ("month", time.strftime("%Y-%m", moment))]
        accounts += [(scope, name) for scope, name in (("project", project), ("agent", agent)) if name]
        return tuple(accounts)

    def _own_ceilings(self, connection: sqlite3.Connection) -> dict[str, int]:
        return {str(scope): int(micros) for scope, micros in connection.execute("SELECT scope, micros FROM ceiling")}

    def _balance(self, connection: sqlite3.Connection, account: tuple[str, str]) -> tuple[int, int]:
        row = connection.execute("SELECT committed, reserved FROM account WHERE scope = ? AND key = ?", account).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def _hold_on(self, connection: sqlite3.Connection, account: tuple[str, str], amount: int, ceiling: int | None) -> None:
        connection.execute("INSERT OR IGNORE INTO account(scope, key) VALUES(?,?)", account)
        # INVARIANT: committed + reserved never passes the ceiling by a reservation.
        limit = LARGEST if ceiling is None else min(ceiling, LARGEST)
        done = connection.execute(
            "UPDATE account SET reserved = reserved + ? WHERE scope = ? AND key = ? AND committed + reserved + ? <= ?",
            (amount, *account, amount, limit),
        )
        if done.rowcount != 1:
            committed, reserved = self._balance(connection, account)
            left = max(0, limit - committed - reserved)
            raise BudgetError(
                f"{dollars(amount)} would pass the {account[0]} ceiling of {dollars(limit)}: "
                f"{dollars(committed)} spent, {dollars(reserved)} held, {dollars(left)} left",
                hint="spend less, or let a person raise the ceiling in the profile (`instinct budget show` tells where it stands)",
            )

    def _by_key(self, connection: sqlite3.Connection, key: str, session: str, amount: int) -> Hold | None:
        row = connection.execute("SELECT id, session, amount, owner_pid FROM hold WHERE idempotency = ?", (key,)).fetchone()
        if row is None:
            return None
        if (row[1], row[2]) != (session, amount):
            raise BudgetError(
                f"the key `{key}` was used for another reservation ({dollars(row[2])})", hint="use a new key for a new reservation"
            )
        return Hold(*row)

    def _settle(self, hold: str, state: str, amount: int | None) -> None:
        if not database.exists(self._path):
            raise _unknown(hold)
        connection = self._open()
        with database.transaction(connection, self._path):
            now = self._now(connection)
            row = connection.execute("SELECT amount, state, actual FROM hold WHERE id = ?", (hold,)).fetchone()
            if row is None:
                raise _unknown(hold)
            actual = row[0] if amount is None else amount
            if row[1] == "open":
                self._close_hold(connection, hold, state, row[0], actual, now)
            elif (row[1], row[2]) != (state, actual):
                raise BudgetError(f"the hold `{hold}` is already {row[1]} with {dollars(row[2])}", hint="see `instinct budget show`")

    def _close_hold(self, connection: sqlite3.Connection, hold: str, state: str, amount: int, actual: int, now: float) -> None:
        connection.execute("UPDATE hold SET state = ?, actual = ?, settled = ? WHERE id = ?", (state, actual, now, hold))
        connection.execute(
            """UPDATE account SET reserved = reserved - ?, committed = committed + ?
               WHERE (scope, key) IN (SELECT scope, key FROM hold_account WHERE hold = ?)""",
            (amount, actual, hold),
        )

    def _sweep(self, connection: sqlite3.Connection, now: float) -> None:
        query = (
            "SELECT id, amount, at, owner_pid, owner_start, owner_namespace, owner_boot FROM hold WHERE state = 'open' ORDER BY at LIMIT ?"
        )
        for hold, amount, at, *who in connection.execute(query, (SWEEP,)).fetchall():
            if is_gone(Owner(*who)) or (not who[0] and now - at > NOBODYS_HOLD_S):
                self._close_hold(connection, hold, "swept", amount, amount, now)


def _ceilings(given: Mapping[str, int], own: Mapping[str, int]) -> dict[str, int]:
    """The lower of both, scope by scope; the session always has one."""
    limits = {"session": SESSION_CEILING, **given}
    for scope, micros in own.items():
        limits[scope] = min(micros, limits.get(scope, micros))
    return limits


def _check_amount(amount: int) -> None:
    if type(amount) is not int or not 0 <= amount <= LARGEST:
        raise BudgetError(f"`{amount}` is not an amount", hint="amounts are whole micro-dollars, from 0 up")


def _unknown(hold: str) -> BudgetError:
    return BudgetError(f"there is no hold `{hold}`", hint="see `instinct budget show` for the open ones")
