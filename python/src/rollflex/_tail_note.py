"""A note of a store's last write on the disk: an end of the store that was cut off is told apart from a crash."""

from __future__ import annotations

import os
import zlib

Tail = tuple[int, int]
"""The number of writes to a store, and the sum of its seals after the last write."""

_slot_bytes = 512


class TailNote:
    """A file with two slots that are written in turn, so that one of them is intact after every crash."""

    def __init__(self, path: str) -> None:
        """Raises :class:`OSError`."""
        is_new = not os.path.exists(path)
        self._file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        self._slot = 0
        if is_new:
            self.write((0, 0))
            os.fsync(self._file)
            directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
            os.fsync(directory)
            os.close(directory)

    def loss(self, found: Tail) -> str | None:
        """Returns what is wrong with a store in which this tail was found, if anything."""
        noted = self._read()
        if noted is None:
            return "the note of its last write is unreadable"
        if found[0] < noted[0]:
            return f"the last {noted[0] - found[0]} of {noted[0]} writes are missing, and were on the disk"
        if 0 < found[0] == noted[0] and found[1] != noted[1]:
            return f"write {noted[0]} is another than the one that was on the disk"
        return None

    def write(self, tail: Tail) -> None:
        """Notes a write that is on the disk. The system decides when the note itself reaches the disk."""
        text = f"{tail[0]} {tail[1]}"
        os.pwrite(self._file, f"{text} {_seal(text)}\n".ljust(_slot_bytes).encode(), self._slot * _slot_bytes)
        self._slot = 1 - self._slot

    def close(self) -> None:
        os.close(self._file)

    def _read(self) -> Tail | None:
        last: Tail | None = None
        for slot in (0, 1):
            text, _, seal = (
                os.pread(self._file, _slot_bytes, slot * _slot_bytes)
                .partition(b"\n")[0]
                .decode("latin-1")
                .rpartition(" ")
            )
            if not text or seal != str(_seal(text)):
                continue
            writes, total = map(int, text.split(" "))
            if last is None or writes >= last[0]:
                last = (writes, total)
                self._slot = 1 - slot
        return last


def _seal(text: str) -> int:
    return zlib.crc32(text.encode())
