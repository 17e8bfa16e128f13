"""Groups that are trained with, once their rewards are in."""

from __future__ import annotations

import logging
from typing import Generic

from ._judging import Judging
from ._outbox import Decision
from ._rewards import RewardFailed
from ._state import State
from ._work import Work
from .host import Dropped, Group, P, R

logger = logging.getLogger("rollflex")


class Groups(Generic[P, R]):
    """Makes groups from the prompts and responses that are present."""

    def __init__(self, state: State[P, R], *, work: Work[P, R], judging: Judging[P, R]) -> None:
        self._state = state
        self._work = work
        self._judging = judging

    async def take(self, decision: Decision) -> list[Group[P, R]]:
        """Returns the groups that ``round.completed`` names, in order, and removes them."""
        state, rewards = self._state, self._work.rewards
        state.assert_usable()
        groups: list[Group[P, R]] = []
        for final in decision["prompts"]:
            id = final["promptId"]
            self._judging.stop(id)
            entry = state.bodies.entry(id)
            if entry is None:
                raise KeyError(f"the policy has completed prompt {id}, which is not here")
            named = [one["requestId"] for one in final["responses"]]
            rewards.drop([one for one in entry.responses if one not in named])
            try:
                samples = [
                    await self._work.sample(*entry.responses[one["requestId"]], one["weightVersions"])
                    for one in final["responses"]
                ]
            except RewardFailed as error:
                logger.error("prompt %s is left out of its round: %s", id, error)
                state.drop(Dropped(id, entry.supplied.body, "reward_failed", decision))
            else:
                deferrals = final.get("deferral", {}).get("count", 0)
                groups.append(Group(id, entry.supplied.body, samples, deferrals))
        state.counted.clear()
        for final in decision["prompts"]:
            taken = state.bodies.take(final["promptId"])
            if taken is not None:
                rewards.drop(list(taken.responses))
        return groups

    async def of(self, prompt_id: str) -> Group[P, R]:
        """Returns a group that counts for the present or the previous round. Raises KeyError for any other."""
        state = self._state
        if state.opened is not None:
            for one in state.opened.round.groups:
                if one.prompt_id == prompt_id:
                    return one
        state.assert_usable()
        entry = state.bodies.entry(prompt_id)
        if entry is None or prompt_id not in state.counted:
            raise KeyError(f"{prompt_id} does not count for the round")
        samples = [await self._work.sample(*entry.responses[id]) for id in state.counted[prompt_id]]
        return Group(prompt_id, entry.supplied.body, samples)
