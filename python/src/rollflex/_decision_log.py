"""The files of a decision log, written by a thread of their own: nobody waits for them, and no call fails."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import threading
import uuid
import weakref
from typing import Any

from .errors import PolicyError

_name = re.compile(r"decisions-(\d{8,15})\.jsonl")
_kept_files = 8
# Lines that follow each other within so many seconds are written together.
_patience = 0.02
_close_grace = 5.0
_logger = logging.getLogger("rollflex.decision_log")


class DecisionLogFiles:
    """Writes the lines that `src/embedded/log.ts` gives, and reports the result to it."""

    def __init__(self, path: str) -> None:
        """Raises `invalid_input` for a directory that cannot be written."""
        self.path = os.path.abspath(path)
        try:
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            if not os.access(self.path, os.W_OK | os.X_OK):
                raise PermissionError(13, "Permission denied")
            self.last = self._last()
        except OSError as error:
            raise PolicyError(
                "invalid_input",
                expected="a directory that can be written",
                got=f"{self.path}: {error.strerror}",
                path="log_dir",
            ) from error
        self.run = str(uuid.uuid4())
        self._lock = threading.Lock()
        self._texts: list[str] = []
        self._closing = threading.Event()
        self._something = threading.Event()
        self._file: int | None = None
        self._number = self._newest = 0
        self._troubled = False
        self._lines = self._bytes = 0
        self._failed: dict[str, Any] | None = None
        self._thread = threading.Thread(target=self._work, name="rollflex-log", daemon=True)
        self._thread.start()
        _logs.add(self)

    def take(self, text: str) -> None:
        """Text to write, see `HostDecisionLog.take`."""
        with self._lock:
            self._texts.append(text)
        self._something.set()

    def written(self) -> str:
        """Reports what was written since the last report, as JSON; empty if nothing was."""
        if not self._bytes:
            return ""
        with self._lock:
            said: dict[str, Any] = {"lines": self._lines, "bytes": self._bytes}
            if self._failed is not None:
                said["failed"] = self._failed
            self._lines, self._bytes, self._failed = 0, 0, None
        return json.dumps(said)

    def close(self) -> None:
        """Writes waiting lines; a disk that does not answer is given some seconds."""
        self._closing.set()
        self._something.set()
        self._thread.join(_close_grace)

    def abandon(self) -> None:
        """Leaves the log to the parent, in a forked process."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _work(self) -> None:
        while True:
            self._something.wait()
            closing = self._closing.wait(_patience)
            self._something.clear()
            with self._lock:
                texts, self._texts = self._texts, []
            # Controls are escaped in lines: a record separator stands before the number of a file alone.
            lines, *files = "".join(texts).split("\x1e")
            self._write(lines)
            for one in files:
                number, _, lines = one.partition("\n")
                self._next(int(number))
                self._write(lines)
            if closing:
                self.abandon()
                return

    def _next(self, number: int) -> None:
        self.abandon()
        self._number = self._newest = number
        try:
            # An existing file is never opened, because another server may write to it.
            self._file = os.open(self._path_of(number), os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self._trouble(error)
            with contextlib.suppress(OSError):
                self._newest = self._last()
            return
        self._prune()

    def _write(self, text: str) -> None:
        if not text:
            return
        data, lines = text.encode(), text.count("\n")
        error: OSError | None = None
        if self._file is not None:
            try:
                left = memoryview(data)
                while left:
                    left = left[os.write(self._file, left) :]
            except OSError as caught:
                error = caught
                self._trouble(caught)
                self.abandon()
        with self._lock:
            self._bytes += len(data)
            if self._file is not None:
                self._lines += lines
            else:
                before = self._failed["lines"] if self._failed is not None else 0
                message = str(error or "the file could not be written")
                self._failed = {
                    "message": message,
                    "lines": before + lines,
                    "file": self._number,
                    "last": self._newest,
                }
        if self._file is not None and self._troubled:
            self._troubled = False
            _logger.warning("decision log: goes on")

    def _trouble(self, error: OSError) -> None:
        if not self._troubled:
            self._troubled = True
            _logger.warning("decision log: lines are dropped: %s", error)

    def _prune(self) -> None:
        # A file that cannot be removed now is tried again at the next file.
        with contextlib.suppress(OSError):
            for number in self._numbers()[:-_kept_files]:
                os.unlink(self._path_of(number))

    def _path_of(self, number: int) -> str:
        return os.path.join(self.path, f"decisions-{number:08d}.jsonl")

    def _numbers(self) -> list[int]:
        return sorted(int(found[1]) for name in os.listdir(self.path) if (found := _name.fullmatch(name)))

    def _last(self) -> int:
        return max(self._numbers(), default=0)


_logs: weakref.WeakSet[DecisionLogFiles] = weakref.WeakSet()


def _after_fork() -> None:
    for one in list(_logs):
        one.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
