"""The end of a rollout: requests are aborted, what was drawn goes back, and whoever waits is told."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Generic

from ..errors import ClientClosed
from ._decisions import Decisions
from ._judging import Judging
from ._state import State
from ._work import Work
from .host import P, PolicyUnavailable, R

logger = logging.getLogger("rollflex")


class Ending(Generic[P, R]):
    """Ends the rollout once, because somebody closes it or the policy is out of reach."""

    def __init__(
        self,
        state: State[P, R],
        *,
        decisions: Decisions[P, R],
        work: Work[P, R],
        judging: Judging[P, R],
        settle_seconds: float,
    ) -> None:
        self._state = state
        self._decisions = decisions
        self._work = work
        self._judging = judging
        self._settle_seconds = settle_seconds

    def lost(self, error: Exception) -> None:
        """The policy is out of reach for good."""
        state = self._state
        if state.failed is not None:
            return
        state.failed = PolicyUnavailable(f"the policy could not be reached: {error}")
        state.failed.__cause__ = error
        logger.error("%s", state.failed)
        state.spawn(self._give_up())

    async def close(self, detach: Callable[[], Awaitable[None]], leave: Callable[[], Awaitable[None]]) -> None:
        """``detach``: from now on no decision comes. ``leave``: the session ends."""
        state = self._state
        if state.failed is not None:
            # Somebody else has ended the rollout already.
            await state.given_up.wait()
            await detach()
            return
        state.failed = ClientClosed("the rollout was closed")
        await self._leave(detach, leave)

    def unusable(
        self, error: Exception, detach: Callable[[], Awaitable[None]], leave: Callable[[], Awaitable[None]]
    ) -> None:
        """No request can succeed: the rollout ends as with :meth:`close`, and waiting callers get this error."""
        state = self._state
        if state.failed is None:
            state.failed = error
            logger.error("the rollout ends: %s", error)
            state.spawn(self._leave(detach, leave))

    async def _leave(self, detach: Callable[[], Awaitable[None]], leave: Callable[[], Awaitable[None]]) -> None:
        assert self._state.failed is not None
        try:
            await detach()
            await self._give_back()
            await leave()
        finally:
            # This comes last, because a caller that waits for a round may close the client as soon as it is told.
            self._tell_those_who_wait(self._state.failed)

    async def _give_up(self) -> None:
        assert self._state.failed is not None
        try:
            await self._give_back()
        finally:
            self._tell_those_who_wait(self._state.failed)

    async def _give_back(self) -> None:
        """Aborts this rollout's requests one by one, and gives drawn prompts back."""
        state = self._state
        try:
            await self._stop()
            prompts = state.bodies.prompts()
            state.bodies.load({})
            if prompts:
                await state.host.give_back(prompts)
        except Exception:
            logger.exception("prompts could not be given back")

    async def _stop(self) -> None:
        self._decisions.stop()
        self._judging.stop_all()
        await self._work.stop()
        # A running read of the data source is awaited, because the prompts that it returns must not be lost.
        await self._state.settle(self._settle_seconds)

    def _tell_those_who_wait(self, error: Exception) -> None:
        self._state.given_up.set()
        if self._state.opened is not None:
            self._state.opened.fail(error)
            self._state.opened.drained.set()
