"""Rewards, beside generation; what is needed no more is cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Generic

from .host import Host, Launch, P, R, Response

logger = logging.getLogger("rollflex")


class RewardFailed(Exception):
    """A response has no reward. The cause is the host's exception."""


class Rewards(Generic[P, R]):
    """Runs one task per finished response for its reward."""

    def __init__(self, host: Host[P, R], ready: Callable[[str, float], None], failed: Callable[[str], None]) -> None:
        self._host = host
        self._ready = ready
        self._failed = failed
        self._tasks: dict[str, asyncio.Task[float | None]] = {}
        self._has_rewards = type(host).reward is not Host.reward

    def __len__(self) -> int:
        return sum(not task.done() for task in self._tasks.values())

    def knows(self, request_id: str) -> bool:
        return request_id in self._tasks

    def begin(self, launch: Launch[P, R], response: Response[R]) -> None:
        if not self._has_rewards:
            return
        id = launch.request_id
        task = asyncio.get_running_loop().create_task(self._host.reward(launch, response))
        self._tasks[id] = task
        task.add_done_callback(lambda done: self._tell(id, done))

    def begin_again(self, launch: Launch[P, R], response: Response[R]) -> None:
        """Handles a repeated request for a reward: reports the known reward, or computes it again."""
        task = self._tasks.get(launch.request_id)
        if task is None or task.cancelled() or (task.done() and task.exception() is not None):
            self.begin(launch, response)
        elif task.done():
            self._tell(launch.request_id, task)

    async def of(self, request_id: str) -> float | None:
        """The reward of a response. Raises :class:`RewardFailed`."""
        task = self._tasks.get(request_id)
        if task is None:
            return None
        if not task.done():
            await asyncio.wait([task])
        if task.cancelled():
            raise RewardFailed(f"the reward of {request_id} was cancelled")
        error = task.exception()
        if error is not None:
            raise RewardFailed(f"the reward of {request_id} failed: {error!r}") from error
        return task.result()

    def drop(self, request_ids: Sequence[str]) -> None:
        for id in request_ids:
            task = self._tasks.pop(id, None)
            if task is not None:
                task.cancel()

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        self.drop(list(self._tasks))
        await asyncio.gather(*tasks, return_exceptions=True)

    def _tell(self, id: str, task: asyncio.Task[float | None]) -> None:
        if task.cancelled() or self._tasks.get(id) is not task:
            # Reading the exception avoids a warning about an unseen exception.
            _ = None if task.cancelled() else task.exception()
            return
        error = task.exception()
        if error is not None:
            logger.warning("the reward of %s failed: %r", id, error)
            self._failed(id)
        else:
            reward = task.result()
            if reward is not None:
                self._ready(id, reward)
