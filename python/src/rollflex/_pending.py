"""A call that waits for its answer."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

from .errors import CallTimeout

Again = Literal["same", "never"]
"""
Decides about a call whose answer was lost with the connection: the call is sent again or, if that could apply it twice,
its caller is told that the outcome is unknown.
"""


class Pending:
    """A call in flight. It ends once: with an answer, or with an error of the connection."""

    __slots__ = (
        "_ended",
        "_then",
        "again",
        "again_line",
        "answer",
        "connection",
        "error",
        "id",
        "line",
        "method",
        "owner",
        "sent",
        "trouble",
        "unwanted",
    )

    def __init__(self, id: int, method: str, line: bytes, again: Again, owner: object) -> None:
        self.id = id
        self.method = method
        self.line = line
        self.again: Again = again
        self.again_line = line
        """The message that is sent instead when the call is repeated."""
        self.owner = owner
        self.sent = 0
        self.connection = 0
        """Number of the connection that brought the answer."""
        self.trouble = ""
        """Why there is no connection; None while there is one."""
        self.unwanted = False
        """Whether nobody waits any more, so that the answer is dropped."""
        self.answer: dict[str, Any] | None = None
        self.error: Exception | None = None
        self._then: Callable[[], None] | None = None
        self._ended = threading.Lock()
        self._ended.acquire()

    @property
    def done(self) -> bool:
        return self.answer is not None or self.error is not None

    def finish(self, answer: dict[str, Any] | None, error: Exception | None = None) -> None:
        """Ends the call. Only the code that has removed the call from the calls in flight does this."""
        self.answer, self.error = answer, error
        self._ended.release()
        if self._then is not None:
            self._then()

    def then(self, callback: Callable[[], None]) -> None:
        """Calls back at the end of the call, from any thread, perhaps twice."""
        self._then = callback
        if self.done:
            callback()

    def wait(self, deadline: float | None) -> None:
        """Waits for the end of the call. Raises :class:`CallTimeout`; a later answer is dropped."""
        try:
            if deadline is None:
                arrived = self._ended.acquire()
            else:
                arrived = self._ended.acquire(timeout=max(0.0, min(deadline - time.monotonic(), threading.TIMEOUT_MAX)))
        except BaseException:
            self.unwanted = True
            raise
        if not arrived:
            self.unwanted = True
            raise self.late()

    def late(self) -> CallTimeout:
        return CallTimeout(f"no answer to {self.method} in time" + (f": {self.trouble}" if self.trouble else ""))

    def take(self) -> dict[str, Any]:
        """The answer. Raises the error of the connection."""
        if self.error is not None:
            # Several callers may get the same error, so each raises a copy.
            raise copy.copy(self.error) from self.error.__cause__
        assert self.answer is not None
        return self.answer
