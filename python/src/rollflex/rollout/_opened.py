"""The round that is under way."""

from __future__ import annotations

import asyncio
from typing import Any, Generic

from .host import P, R, Round


class Opened(Generic[P, R]):
    """A round, until it has drained."""

    def __init__(self, round: Round[P, R], *, resumed: bool = False) -> None:
        self.round = round
        self.resumed = resumed
        """Whether the round was open in a restored checkpoint, and nobody waits for it yet."""
        self.completed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        """The decision `round.completed`; None if the source is drained."""
        self.drained = asyncio.Event()
        self.failed = False
        """Whether this rollout gave the round up, so that its results go to the queue."""

    @property
    def is_over(self) -> bool:
        """Whether the policy has completed it."""
        return self.completed.done() and self.completed.exception() is None

    def fail(self, error: BaseException) -> None:
        if not self.completed.done():
            self.completed.set_exception(error)
            # Reading the exception avoids a warning if nobody waits any more.
            self.completed.exception()
