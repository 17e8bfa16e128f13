"""Lines over a link, without ever blocking a caller: what cannot be written at once is written as room comes."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections import deque
from collections.abc import Iterator

from ._link import Link
from .errors import ProtocolError

_read_bytes = 1 << 20
_longest_line = 1 << 29
# After the other end has stopped reading, its last messages are awaited for so many seconds.
_after_broken_pipe = 0.5


class Pump:
    """
    Reads and writes one link. Any thread may write; one thread reads, and also writes what other threads could not.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        self._out = bytearray()
        self._lock = threading.RLock()
        self._wake_read, self._wake_write = os.pipe()
        for fd in (self._wake_read, self._wake_write):
            os.set_blocking(fd, False)
        self._broken = False
        self._closed = False
        self.reading_until: float | None = None
        """If set: the time at which `lines` ends."""
        self.trouble = ""
        """The system's error at the end of the link, unless the end was orderly."""
        self._ready: deque[bytes] = deque()
        self._parts: list[bytes] = []
        self._length = 0

    def write(self, line: bytes) -> None:
        """Sends or queues a line. The reader notices a broken link."""
        with self._lock:
            if self._broken or self._closed:
                return
            written = 0 if self._out else self._try(line)
            if written < len(line) and not self._broken:
                self._out += memoryview(line)[written:]
            if self._out or self._broken:
                self._wake()

    def wake(self) -> None:
        """Lets the reader look at `reading_until`."""
        with self._lock:
            self._wake()

    def lines(self) -> Iterator[bytes]:
        """Yields lines as they come, until the other end closes or the time `reading_until`."""
        while self._ready:
            yield self._ready.popleft()
        link, poll = self.link, select.poll()
        poll.register(self._wake_read, select.POLLIN)
        poll.register(link.read_fd, select.POLLIN)
        writing = False
        while True:
            with self._lock:
                wanted = bool(self._out) and not self._broken
            if wanted != writing:
                writing = wanted
                self._watch(poll, writing)
            for fd, _ in (ready := poll.poll(self._patience())):
                if fd == self._wake_read:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._wake_read, 4096)
                elif fd == link.write_fd and writing:
                    self._flush()
            if not ready and self._patience() == 0:
                return
            if any(fd == link.read_fd for fd, _ in ready):
                try:
                    data = os.read(link.read_fd, _read_bytes)
                except BlockingIOError:
                    continue
                except OSError as error:
                    self.trouble = self.trouble or str(error.strerror or error)
                    return
                if not data:
                    return
                self._cut(data)
                while self._ready:
                    yield self._ready.popleft()
            # Without this check, endless bytes without a line break would keep the loop here.
            if self.reading_until is not None and time.monotonic() > self.reading_until + 1:
                return

    def epitaph(self) -> str:
        """Describes how the link ended, for messages."""
        return f"{self.link.epitaph()} ({self.trouble})" if self.trouble else self.link.epitaph()

    def end(self) -> None:
        """Stops writing, and tells the other end so."""
        with self._lock:
            self._broken = True
            self._out.clear()
            self.link.end()
            self._wake()

    def close(self, grace: float) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self.link.close(grace)
        with self._lock:
            os.close(self._wake_read)
            os.close(self._wake_write)

    def abandon(self) -> None:
        """Leaves the link in a forked process. No lock is taken, because its holder does not exist here."""
        self._closed = True
        self.link.abandon()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _watch(self, poll: select.poll, writing: bool) -> None:
        read_fd, write_fd = self.link.read_fd, self.link.write_fd
        if read_fd == write_fd:
            poll.modify(read_fd, select.POLLIN | (select.POLLOUT if writing else 0))
        elif writing:
            poll.register(write_fd, select.POLLOUT)
        else:
            poll.unregister(write_fd)

    def _patience(self) -> float | None:
        """Milliseconds to wait for the next line at most."""
        if self.reading_until is None:
            return None
        return max(0.0, (self.reading_until - time.monotonic()) * 1000)

    def _wake(self) -> None:
        if not self._closed:
            with contextlib.suppress(BlockingIOError):
                os.write(self._wake_write, b"!")

    def _try(self, data: bytes | bytearray) -> int:
        try:
            return os.write(self.link.write_fd, data)
        except BlockingIOError:
            return 0
        except (OSError, ValueError):
            self._break()
            return 0

    def _break(self) -> None:
        self._broken = True
        self._out.clear()
        soon = time.monotonic() + _after_broken_pipe
        self.reading_until = soon if self.reading_until is None else min(soon, self.reading_until)

    def _flush(self) -> None:
        with self._lock:
            if self._out:
                written = self._try(self._out)
                del self._out[:written]

    def _cut(self, data: bytes) -> None:
        first, *rest = data.split(b"\n")
        self._parts.append(first)
        self._length += len(first)
        if self._length > _longest_line:
            raise ProtocolError(f"the server writes a line of more than {_longest_line} bytes")
        if not rest:
            return
        last = rest.pop()
        self._ready.append(b"".join(self._parts))
        self._ready.extend(rest)
        self._parts = [last]
        self._length = len(last)
