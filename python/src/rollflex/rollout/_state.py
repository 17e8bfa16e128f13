"""What the parts of a rollout share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol

from ._bodies import Bodies
from ._opened import Opened
from ._outbox import Event
from .host import Dropped, Host, P, R, Supplied


class Tell(Protocol):
    """Tells the policy."""

    def __call__(self, event: Event, *, urgent: bool = False) -> None: ...


class State(Generic[P, R]):
    """What is here, the round that is open, whether the rollout goes on, and the tasks that run for it."""

    def __init__(self, host: Host[P, R], *, clock: Callable[[], float], tell: Tell) -> None:
        self.host = host
        self.clock = clock
        self.tell = tell
        self.bodies: Bodies[P, R] = Bodies()
        self.counted: dict[str, list[str]] = {}
        """Requests of the groups that count for the round, by prompt."""
        self.composes = False
        """Whether the policy composes rounds: prompts return under the same id."""
        self.early: list[Supplied[P]] = []
        """Prompts that came while they were in the round already: of the next epoch."""
        self.engines: set[str] = set()
        self.opened: Opened[P, R] | None = None
        """The present round, or the last."""
        self.rounds = 0
        self.suspended: dict[tuple[str, str | None], float] = {}
        """Scopes, or parts of them, in which there are only single tries, and since when."""
        self.last_failure = ""
        """What the request that failed last has said."""
        self.failed: Exception | None = None
        """Why the rollout does not go on."""
        self.given_up = asyncio.Event()
        """It does not go on, and what was here has gone back: whoever waits is told."""
        self._tasks: set[asyncio.Task[Any]] = set()

    def assert_usable(self) -> None:
        if self.failed is not None:
            raise self.failed

    def fail_round(self, error: Exception) -> None:
        """Whoever waits for the round gets this error."""
        if self.opened is not None:
            self.opened.fail(error)

    def drop(self, dropped: Dropped[P]) -> None:
        """A prompt leaves for good."""
        if self.opened is not None:
            self.opened.round.dropped.append(dropped)
        self.host.dropped(dropped)

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def settle(self, seconds: float) -> None:
        """Waits for the tasks that run, and then cancels them."""
        current = asyncio.current_task()
        others = [task for task in self._tasks if task is not current]
        if others:
            await asyncio.wait(others, timeout=seconds)
        for task in others:
            task.cancel()
