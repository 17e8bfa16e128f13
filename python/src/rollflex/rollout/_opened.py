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
        """It was open in the checkpoint that was restored, and nobody waits for it yet."""
        self.completed: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        """The decision `round.completed`; None if the source is drained."""
        self.drained = asyncio.Event()
        self.failed = False
        """It was given up here; what comes of it goes to the queue."""

    @property
    def is_over(self) -> bool:
        """Whether the policy has completed it."""
        return self.completed.done() and self.completed.exception() is None

    def fail(self, error: BaseException) -> None:
        if not self.completed.done():
            self.completed.set_exception(error)
            # It may be that nobody waits for it any more.
            self.completed.exception()
