"""The state directory of a client whose policies run in this process: one client at a time, and a store in SQLite."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import socket
import sqlite3
import threading
import weakref
import zlib
from collections.abc import Iterator
from typing import Literal, NoReturn

from ._tail_note import Tail, TailNote
from .errors import EngineUnavailable, PolicyError, PolicyErrorCode

Fsync = Literal["always", "interval"]
"""When a write reaches the disk: before the call is answered, or within a second."""

_lock_name = "embedded.lock"
_store_name = "embedded.sqlite"
_wal_name = f"{_store_name}-wal"
_note_name = "embedded.sealed"
_ours = {_lock_name, _store_name, _wal_name, f"{_store_name}-shm", _note_name}
# The application id "roll", so that files of other programs are not taken for a store, and the version of the tables.
_application_id = 0x726F6C6C
_format = 1
_sync_seconds = 1.0


class StateDirectory:
    """
    Stores records by key. Any thread may use it, one at a time; a forked process has released it. After ``kill -9``, a
    write exists completely or not at all; with ``always`` this also holds after a failure of the machine.
    """

    def __init__(self, path: str, fsync: Fsync) -> None:
        """
        Raises `invalid_input` for a directory that another process uses, or of something else, and `snapshot_mismatch`
        for a store that is damaged.
        """
        self.path = os.path.abspath(path)
        self._fsync = fsync
        self._total = 0
        self._tail: Tail = (0, 0)
        self._timer: threading.Timer | None = None
        self._failure: str | None = None
        _prepare(self.path)
        self._lock: int | None = _locked(self.path)
        _directories.add(self)
        try:
            self._store = self._connected()
            self._note = TailNote(os.path.join(self.path, _note_name))
        except OSError as error:
            self._store.close()
            self._unlock()
            _refuse("a directory that can be read and written", f"{self.path}: {error.strerror}", cause=error)
        except BaseException:
            self._unlock()
            raise

    def records(self) -> Iterator[tuple[str, str]]:
        """Yields the store's own record, and then all records in key order. Raises `snapshot_mismatch`."""
        try:
            expected, meta = self._store.execute("SELECT total, meta FROM store").fetchone()
            if meta:
                yield "meta", meta
            for key, record, seal in self._store.execute("SELECT key, record, seal FROM records ORDER BY key"):
                if seal != _seal(key, record):
                    self._damaged(f"another record at {key}")
                self._total += seal
                yield key, record
        except (sqlite3.DatabaseError, TypeError) as error:
            self._damaged(str(error))
        if self._total != expected:
            self._damaged("some are missing")
        self._tail = _tail_of(meta, self._total)
        loss = self._note.loss(self._tail)
        if loss is not None:
            self._damaged(f"{loss}; remove {_note_name} to go on without them")

    def write(self, changes: str) -> None:
        """
        Writes the changes that `src/embedded/records.ts` gives. After an error, raises :class:`EngineUnavailable` on
        every call.
        """
        if self._failure is not None:
            raise self._unwritable(self._failure)
        execute, meta, total = self._store.execute, "", self._total
        try:
            execute("BEGIN IMMEDIATE")
            for line in changes.split("\n"):
                key, _, value = line[1:].partition("\t")
                if line[0] == "-":
                    leaving = (key, value)
                    (less,) = execute("SELECT sum(seal) FROM records WHERE key BETWEEN ? AND ?", leaving).fetchone()
                    execute("DELETE FROM records WHERE key BETWEEN ? AND ?", leaving)
                    total -= less or 0
                elif key == "meta":
                    meta = value
                else:
                    seal = _seal(key, value)
                    execute("INSERT INTO records VALUES (?, ?, ?)", (key, value, seal))
                    total += seal
            execute("UPDATE store SET total = ?, meta = ?", (total, meta))
            execute("COMMIT")
            tail = _tail_of(meta, total)
            if self._fsync == "always":
                self._note.write(tail)
        except (sqlite3.Error, OSError) as error:
            self._failure = str(error)
            raise self._unwritable(self._failure) from error
        self._total = total
        self._tail = tail
        if self._fsync == "interval" and self._timer is None:
            self._timer = threading.Timer(_sync_seconds, self._sync)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """Moves everything into the single file of the store, and releases the directory."""
        if self._lock is None:
            return
        if self._timer is not None:
            self._timer.cancel()
        try:
            self._store.close()
        finally:
            self._note.close()
            self._unlock()

    def abandon(self) -> None:
        """Leaves the store to the parent, in a forked process, and to later processes."""
        if self._lock is None:
            return
        # Closing would write to the store; so would garbage collection.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._store))
        self._note.close()
        os.close(self._lock)
        self._lock = None

    def _connected(self) -> sqlite3.Connection:
        path = os.path.join(self.path, _store_name)
        if not os.path.exists(path) and os.path.exists(os.path.join(self.path, _wal_name)):
            self._damaged(f"no {_store_name} beside {_wal_name}")
        # The other files of SQLite are readable for their owner only, too.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        store = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
        try:
            # The store does without shared memory, because no other process reads it, and the directory may be on
            # another machine.
            store.execute("PRAGMA locking_mode = EXCLUSIVE")
            found = [store.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
            is_new = found == [0, 0] and not store.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if not is_new and found != [_application_id, _format]:
                self._damaged(f"application {found[0]}, format {found[1]}")
            store.execute("PRAGMA journal_mode = WAL")
            store.execute(f"PRAGMA synchronous = {'FULL' if self._fsync == 'always' else 'NORMAL'}")
            if is_new:
                store.executescript(_tables)
        except sqlite3.OperationalError as error:
            store.close()
            _refuse("a directory that can be read and written", f"{self.path}: {error}", cause=error)
        except sqlite3.DatabaseError as error:
            store.close()
            self._damaged(str(error))
        except BaseException:
            store.close()
            raise
        return store

    def _sync(self) -> None:
        """Brings all data that the system holds so far to the disk."""
        self._timer = None
        tail = self._tail
        try:
            log = os.open(os.path.join(self.path, _wal_name), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            # The store was closed meanwhile.
            return
        try:
            os.fsync(log)
            self._note.write(tail)
        except OSError as error:
            self._failure = str(error)
        finally:
            os.close(log)

    def _unlock(self) -> None:
        if self._lock is not None:
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None

    def _unwritable(self, why: str) -> EngineUnavailable:
        return EngineUnavailable(
            f"{self.path} cannot be written any more ({why}): whatever was acknowledged is kept there, and nothing is "
            "from now on; once it can be written, make a new client"
        )

    def _damaged(self, got: str) -> NoReturn:
        _refuse("a whole store of this package", f"{self.path}: {got}", "snapshot_mismatch")


_tables = f"""
BEGIN;
CREATE TABLE records (key TEXT PRIMARY KEY NOT NULL, record TEXT NOT NULL, seal INTEGER NOT NULL);
CREATE TABLE store (total INTEGER NOT NULL, meta TEXT NOT NULL);
INSERT INTO store VALUES (0, '');
PRAGMA application_id = {_application_id};
PRAGMA user_version = {_format};
COMMIT;
"""


def _tail_of(meta: str, total: int) -> Tail:
    return (json.loads(meta).get("writes", 0) if meta else 0, total)


def _seal(key: str, record: str) -> int:
    return zlib.crc32(record.encode(), zlib.crc32(key.encode()))


def _refuse(
    expected: str, got: str, code: PolicyErrorCode = "invalid_input", cause: BaseException | None = None
) -> NoReturn:
    raise PolicyError(code, expected=expected, got=got, path="state_dir") from cause


def _prepare(path: str) -> None:
    """Makes the directory, or checks its content: a store is never created beside other files."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        names = set(os.listdir(path))
    except OSError as error:
        _refuse("a directory that can be read and written", f"{path}: {error.strerror}", cause=error)
    if any(name == "CURRENT" or name.startswith("MANIFEST-") for name in names):
        _refuse(
            "a state directory of Client.embedded()",
            f"{path}, that of a server: Client.spawn(state_dir=…) or rollflex serve --state-dir goes on with it",
        )
    strange = sorted(names - _ours)
    if strange:
        _refuse("an empty directory, or one of an earlier client", f"{path} with {strange[0]}")
    try:
        if os.stat(path).st_mode & 0o077:
            os.chmod(path, 0o700)
    except OSError as error:
        _refuse("a directory that nobody else may read", f"{path}: {error.strerror}", cause=error)


def _locked(path: str) -> int:
    """Takes the lock, which ends with the process in any case. Raises `invalid_input`, naming the holder."""
    try:
        lock = os.open(os.path.join(path, _lock_name), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        _refuse("a directory that can be read and written", f"{path}: {error.strerror}", cause=error)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
    except OSError as error:
        holder = os.pread(lock, 200, 0).decode(errors="replace")
        os.close(lock)
        if isinstance(error, BlockingIOError):
            _refuse("a directory that no other client uses", f"{path}, which {holder or 'another process'} uses")
        _refuse("a directory that can be locked", f"{path}: {error.strerror}", cause=error)
    return lock


_directories: weakref.WeakSet[StateDirectory] = weakref.WeakSet()


def _after_fork() -> None:
    for one in list(_directories):
        one.abandon()


os.register_at_fork(after_in_child=_after_fork)
