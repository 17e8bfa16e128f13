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
    """Sends an event to the policy."""

    def __call__(self, event: Event, *, urgent: bool = False) -> None: ...


class State(Generic[P, R]):
    """Shared state: prompts that are present, the open round, whether the rollout continues, and its tasks."""

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
        """Prompts that came while they were in the round already, and so belong to the next epoch."""
        self.engines: set[str] = set()
        self.opened: Opened[P, R] | None = None
        """The present round, or the last."""
        self.rounds = 0
        self.suspended: dict[tuple[str, str | None], float] = {}
        """By suspended scope, or part of it: the time since which only single tries are made."""
        self.last_failure = ""
        """Error of the request that failed last."""
        self.failed: Exception | None = None
        """Why the rollout does not go on."""
        self.given_up = asyncio.Event()
        """Set once the rollout has ended and its prompts have gone back: waiting callers are then told."""
        self._tasks: set[asyncio.Task[Any]] = set()

    def assert_usable(self) -> None:
        if self.failed is not None:
            raise self.failed

    def fail_round(self, error: Exception) -> None:
        """Fails the round: callers that wait for it get this error."""
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
        """Waits for running tasks for so many seconds, and then cancels them."""
        current = asyncio.current_task()
        others = [task for task in self._tasks if task is not current]
        if others:
            await asyncio.wait(others, timeout=seconds)
        for task in others:
            task.cancel()
