"""A round, from its request to its groups, and what becomes of it where it fails."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from typing import Generic

from ..errors import PolicyError, RollflexError
from ._groups import Groups
from ._opened import Opened
from ._outbox import Decision, Event
from ._state import State
from ._work import Work
from .host import Group, P, R, Round, Supplied

logger = logging.getLogger("rollflex")


class Rounds(Generic[P, R]):
    """Runs the rounds, one at a time."""

    def __init__(self, state: State[P, R], *, work: Work[P, R], groups: Groups[P, R], drain_seconds: float) -> None:
        self._state = state
        self._work = work
        self._groups = groups
        self._drain_seconds = drain_seconds

    async def run(self, weight_version: int, round_id: str | None, drained: bool) -> Round[P, R]:
        state = self._state
        state.assert_usable()
        opened = state.opened
        if opened is not None and not opened.resumed:
            if not opened.completed.done():
                raise RuntimeError("a round is under way already")
            await opened.drained.wait()
            state.assert_usable()
        if opened is None or not opened.resumed:
            state.rounds += 1
            id = round_id or f"round-{state.rounds}-{secrets.token_hex(3)}"
            opened = state.opened = Opened(Round(id, weight_version))
            state.tell({"type": "round.requested", "roundId": id, "weightVersion": weight_version}, urgent=True)
        opened.resumed = False
        groups: list[Group[P, R]] | None = None
        try:
            # The future outlives a cancelled caller.
            await asyncio.wait([opened.completed])
            decision = opened.completed.result()
            if decision is not None:
                groups = opened.round.groups = await self._groups.take(decision)
            if drained:
                await opened.drained.wait()
                state.assert_usable()
        except BaseException as error:
            await asyncio.shield(self._abandon(opened, error, groups))
            raise
        return opened.round

    def refused(self, event: Event, error: PolicyError) -> None:
        """The policy does not take an event: the round fails."""
        if event["type"] == "round.failed":
            # The round was completed just before.
            return
        logger.error("the policy refused %s: %s", event["type"], error)
        self._state.fail_round(error)
        opened = self._state.opened
        if opened is not None and event["type"] == "round.requested":
            # The round was not opened, so there is nothing to drain.
            opened.failed = True
            opened.drained.set()

    async def hand_back(self, decision: Decision | None, groups: Sequence[Group[P, R]] = ()) -> None:
        """Takes back prompts that the policy has handed over and that are not trained on."""
        ids = [] if decision is None else [one["promptId"] for one in decision["prompts"]]
        entries = [entry for entry in map(self._state.bodies.take, ids) if entry is not None]
        for entry in entries:
            self._work.rewards.drop(list(entry.responses))
        given = [one.supplied for one in entries] or [Supplied(one.prompt_id, one.prompt) for one in groups]
        if given:
            await self._state.host.give_back(given)

    async def _abandon(self, opened: Opened[P, R], error: BaseException, groups: list[Group[P, R]] | None) -> None:
        """Gives a round up: its requests are aborted, and its prompts stay in the queue or go back."""
        state = self._state
        # Prompts that go back do not belong to the round's groups any more.
        opened.round.groups = []
        if state.failed is not None:
            await state.given_up.wait()
            # Present prompts have gone back, but those that the round had taken have not.
            await self.hand_back(None, groups or ())
            return
        level = logging.ERROR if isinstance(error, Exception) else logging.INFO
        logger.log(level, "round %s has failed: %r", opened.round.round_id, error)
        if groups is not None or opened.is_over:
            await self.hand_back(opened.completed.result(), groups or ())
        elif not opened.failed:
            opened.failed = True
            message = f"{type(error).__name__}: {error}"[:1000]
            state.tell({"type": "round.failed", "roundId": opened.round.round_id, "message": message}, urgent=True)
        # Nobody waits for the round any more.
        opened.fail(RollflexError(f"the round has failed: {error!r}"))
        try:
            await asyncio.wait_for(opened.drained.wait(), self._drain_seconds)
        except asyncio.TimeoutError:
            logger.error("round %s does not drain", opened.round.round_id)
