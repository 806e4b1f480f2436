"""Approvals by a person: one exact intent, once, for fifteen minutes.

    <state>/grants/requests/<ID>   asked for, not answered; the id is no secret: approving takes the person's passphrase
    <state>/grants/live/<ID>       approved, not used
    <state>/grants/reserved/<ID>.* taken by one call of a tool that runs without us; what that call is stands in it
    <state>/grants/used/<ID>       used; each moves here once, by a rename, so that one run has it and no other
    <state>/passphrase             salt, cost and scrypt hash of the person's passphrase

Without a passphrase nothing can be approved, so nothing is asked for: `request` then answers with the empty string.
"""

from __future__ import annotations

import json
import os

from ..errors import ApprovalError, StorageError, UsageError
from ..model.refusal import explain
from ..model.situation import Grant
from ..model.value import Value
from .files import replace
from .lock import lock
from .redact import Redactor
from .state import subdirectory

ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # no 0 O, 1 I L: read aloud and typed by people
ID_LENGTH = 4
LIFETIME_S = 15 * 60.0
REQUEST_S = 24 * 3600.0
MOST_REQUESTS = 200
LEAST_PASSPHRASE = 8
WRONG_TRIES = 5
PAUSE_S = 300.0
SCRYPT = {"n": 2**15, "r": 8, "p": 1}
SCRYPT_MEMORY = 64 * 1024 * 1024


class Request(Value):
    """An intent that waits for a person. summary: what they will read."""

    id: str
    intent_digest: str
    summary: str
    at: float


class GrantBook:
    """Requests and grants of one state directory. `now` is seconds since the epoch everywhere."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._folder = os.path.join(state, "grants")
        self._passphrase = os.path.join(state, "passphrase")

    # ------------------------------------------------------------ asked by judging and running

    def live(self, now: float) -> tuple[Grant, ...]:
        """Grants that can be used now."""
        found = []
        for name in self._names("live"):
            data = self._read("live", name)
            if data is not None and now < _number(data, "expires"):
                found.append(Grant(name, str(data["intent_digest"]), _number(data, "expires")))
        return tuple(found)

    def consume(self, grant_id: str, now: float | None = None) -> bool:
        """Use a grant up. True for exactly one caller, and only before it expires."""
        if not _is_id(grant_id):
            return False
        if now is None:
            import time

            now = time.time()
        data = self._read("live", grant_id)
        if data is None or now >= _number(data, "expires"):
            return False
        used = os.path.join(self._sub("used"), f"{grant_id}-{os.urandom(4).hex()}")
        try:
            # INVARIANT: the rename succeeds once; whoever made it has the grant.
            os.rename(os.path.join(self._folder, "live", grant_id), used)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise explain(error, self._folder) from error
        for name in self._files("reserved"):
            if name.startswith(f"{grant_id}."):
                self._remove("reserved", name)
        return True

    def reserve(self, grant_id: str, call: str, *, again: bool) -> bool:
        """Take a grant for one call of a tool that nothing of ours runs, until `consume` uses it up. True for the first call, and with `again` for
        the same call once more (agents ask several times for one call)."""
        if not _is_id(grant_id):
            return False
        from ..model.digest import text_digest

        # A call without an id is told by its event alone, and each event of a call comes once.
        path = os.path.join(self._sub("reserved"), f"{grant_id}.{'call' if again else text_digest(call)[:16]}")
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w", encoding="utf-8") as file:
                json.dump({"call": call}, file)
            return True
        except FileExistsError:
            return again and self._load(path).get("call") == call
        except OSError as error:
            raise explain(error, path) from error

    def reserved_by(self, call: str) -> tuple[str, ...]:
        """The grants that this call has taken."""
        found = []
        for name in self._files("reserved"):
            if self._load(os.path.join(self._folder, "reserved", name)).get("call") == call:
                found.append(name.partition(".")[0])
        return tuple(found)

    def request(self, intent_digest: str, summary: str, now: float) -> str:
        """Ask for a person's approval; the id to tell them, the same one while the same intent waits. "" when nobody can approve here."""
        if not self.passphrase_is_set():
            return ""
        with _Lock(self._sub("requests")):
            waiting = self._waiting(now)
            for known in waiting:
                if known.intent_digest == intent_digest:
                    return known.id
            for oldest in waiting[: max(0, len(waiting) - MOST_REQUESTS + 1)]:
                self._remove("requests", oldest.id)
            taken = {*self._names("requests"), *self._names("live")}
            name = _new_id()
            while name in taken:
                name = _new_id()
            body = {"intent_digest": intent_digest, "summary": Redactor(self._state).text(summary), "at": now}
            self._write("requests", name, body)
            return name

    # ------------------------------------------------------------ asked by a person

    def pending(self, now: float) -> tuple[Request, ...]:
        """Requests without an answer, oldest first; those older than a day are gone."""
        return tuple(self._waiting(now)) if os.path.isdir(self._folder) else ()

    def approve(self, request_id: str, passphrase: str, now: float) -> Grant:
        """Turn a request into a grant. Raises ApprovalError: no passphrase set, a wrong one, too many wrong ones, no such request."""
        request_id = request_id.strip().upper()
        self.check_passphrase(passphrase, now)
        with _Lock(self._sub("requests")):
            request = next((known for known in self._waiting(now) if known.id == request_id), None)
            if request is None:
                raise ApprovalError(f"there is no request `{request_id}`", hint="see `instinct pending`; a request is kept for a day")
            grant = Grant(request.id, request.intent_digest, now + LIFETIME_S)
            self._write("live", grant.id, {"intent_digest": grant.intent_digest, "summary": request.summary, "expires": grant.expires})
            self._remove("requests", request.id)
            return grant

    def deny(self, request_id: str, now: float) -> Request:
        """Take a request off the list. Raises ApprovalError when there is none."""
        request_id = request_id.strip().upper()
        with _Lock(self._sub("requests")):
            for known in self._waiting(now):
                if known.id == request_id:
                    self._remove("requests", known.id)
                    return known
        raise ApprovalError(f"there is no request `{request_id}`", hint="see `instinct pending`")

    def passphrase_is_set(self) -> bool:
        """Whether somebody can approve here at all."""
        return os.path.lexists(self._passphrase)

    def set_passphrase(self, passphrase: str, *, old: str = "", now: float = 0.0) -> None:
        """Set the person's passphrase; replacing one takes the old one. Raises ApprovalError and UsageError."""
        if len(passphrase) < LEAST_PASSPHRASE:
            raise UsageError(f"a passphrase has at least {LEAST_PASSPHRASE} characters", hint="use a few words")
        if self.passphrase_is_set():
            self.check_passphrase(old, now)
        salt = os.urandom(16)
        data = {"v": 1, "salt": salt.hex(), **SCRYPT, "hash": _scrypt(passphrase, salt, **SCRYPT).hex()}
        replace(self._passphrase, json.dumps(data).encode())

    def check_passphrase(self, passphrase: str, now: float) -> None:
        """Raise ApprovalError unless this is the passphrase. After five wrong ones in a row, none is taken for five minutes."""
        from hmac import compare_digest

        if not self.passphrase_is_set():
            raise ApprovalError(
                "approvals are off: no passphrase is set", hint="a person sets one at their own terminal with `instinct install`"
            )
        with _Lock(self._sub("requests")):
            wrong, last = self._failures()
            if wrong >= WRONG_TRIES and 0 <= now - last < PAUSE_S:
                raise ApprovalError(f"too many wrong passphrases; the next try is in {int(PAUSE_S - (now - last)) + 1} seconds")
            data = self._load(self._passphrase)
            try:
                expected = bytes.fromhex(str(data["hash"]))
                cost = {name: int(str(data[name])) for name in SCRYPT}
                actual = _scrypt(passphrase, bytes.fromhex(str(data["salt"])), **cost)
            except (KeyError, ValueError) as error:
                raise _damaged(self._passphrase) from error
            if not compare_digest(actual, expected):
                replace(self._failure_file(), json.dumps({"wrong": 1 if wrong >= WRONG_TRIES else wrong + 1, "last": now}).encode())
                raise ApprovalError("that is not the passphrase")
            if wrong:
                replace(self._failure_file(), json.dumps({"wrong": 0, "last": now}).encode())

    # ------------------------------------------------------------ files

    def _failure_file(self) -> str:
        return os.path.join(self._folder, "wrong-passphrases")

    def _failures(self) -> tuple[int, float]:
        if not os.path.lexists(self._failure_file()):
            return 0, 0.0
        data = self._load(self._failure_file())
        return int(_number(data, "wrong")), _number(data, "last")

    def _waiting(self, now: float) -> list[Request]:
        found = []
        for name in self._names("requests"):
            data = self._read("requests", name)
            if data is None:
                continue
            if now - _number(data, "at") >= REQUEST_S:
                self._remove("requests", name)
                continue
            found.append(Request(name, str(data.get("intent_digest")), str(data.get("summary")), _number(data, "at")))
        return sorted(found, key=lambda request: (request.at, request.id))

    def _sub(self, name: str) -> str:
        subdirectory(self._state, "grants")
        return subdirectory(self._folder, name)

    def _names(self, kind: str) -> list[str]:
        return [name for name in self._files(kind) if _is_id(name)]

    def _files(self, kind: str) -> list[str]:
        try:
            return sorted(os.listdir(os.path.join(self._folder, kind)))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise explain(error, self._folder) from error

    def _read(self, kind: str, name: str) -> dict[str, object] | None:
        path = os.path.join(self._folder, kind, name)
        return self._load(path) if os.path.lexists(path) else None

    def _load(self, path: str) -> dict[str, object]:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            with open(fd, "rb") as file:
                data = json.loads(file.read(1 << 16))
        except FileNotFoundError:
            return {"expires": 0.0, "at": 0.0}  # another process took it between the look and the open
        except OSError as error:
            raise explain(error, path) from error
        except ValueError as error:
            raise _damaged(path) from error
        if not isinstance(data, dict):
            raise _damaged(path)
        return data

    def _write(self, kind: str, name: str, body: dict[str, object]) -> None:
        replace(os.path.join(self._sub(kind), name), json.dumps(body).encode())

    def _remove(self, kind: str, name: str) -> None:
        try:
            os.unlink(os.path.join(self._folder, kind, name))
        except FileNotFoundError:
            pass  # gone is what was wanted
        except OSError as error:
            raise explain(error, self._folder) from error


class _Lock:
    """One process at a time, by the lock of a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._fd = -1

    def __enter__(self) -> None:
        try:
            self._fd = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError as error:
            raise explain(error, self._folder) from error
        lock(self._fd, self._folder)

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def _scrypt(passphrase: str, salt: bytes, *, n: int, r: int, p: int) -> bytes:
    from hashlib import scrypt

    return scrypt(passphrase.encode("utf-8", "surrogatepass"), salt=salt, n=n, r=r, p=p, maxmem=SCRYPT_MEMORY, dklen=32)


def _new_id() -> str:
    # 31 letters out of 256 values would favour the first ones: draw again for the rest.
    letters = ""
    while len(letters) < ID_LENGTH:
        value = os.urandom(1)[0]
        if value < 256 - 256 % len(ALPHABET):
            letters += ALPHABET[value % len(ALPHABET)]
    return letters


def _is_id(name: str) -> bool:
    return len(name) == ID_LENGTH and all(letter in ALPHABET for letter in name)


def _number(data: dict[str, object], name: str) -> float:
    value = data.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _damaged(path: str) -> StorageError:
    return StorageError(f"`{path}` is damaged", hint=f"remove it: rm {path}")
