"""Whether collected groups count, as the host says (``filter: host``)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Generic

from ._rewards import RewardFailed
from ._state import State
from ._work import Work
from .host import Group, P, R

logger = logging.getLogger("rollflex")


class Judging(Generic[P, R]):
    """Runs one task per group that the host judges."""

    def __init__(self, state: State[P, R], work: Work[P, R]) -> None:
        self._state = state
        self._work = work
        self._tasks: dict[str, tuple[list[str], asyncio.Task[None]]] = {}
        self._unrewarded: set[str] = set()

    def begin(self, prompt_id: str, request_ids: Sequence[str], round_id: str) -> None:
        task = self._state.spawn(self._judge(prompt_id, request_ids, round_id))
        self._tasks[prompt_id] = (list(request_ids), task)

    def begin_again(self, prompt_id: str, request_ids: Sequence[str], round_id: str) -> None:
        """Judges a group again on request, unless its judgement is being made or is on its way."""
        if prompt_id not in self._tasks:
            self.begin(prompt_id, request_ids, round_id)

    def under_way(self) -> dict[str, list[str]]:
        """By prompt: the requests of the groups that are being judged."""
        return {id: list(request_ids) for id, (request_ids, _) in self._tasks.items()}

    def lacked_reward(self, prompt_id: str) -> bool:
        """Whether a prompt was judged not to count because a reward was missing. Asked once, when the prompt leaves."""
        found = prompt_id in self._unrewarded
        self._unrewarded.discard(prompt_id)
        return found

    def stop(self, prompt_id: str) -> None:
        found = self._tasks.pop(prompt_id, None)
        if found is not None and found[1] is not asyncio.current_task():
            found[1].cancel()

    def stop_all(self) -> None:
        for prompt_id in list(self._tasks):
            self.stop(prompt_id)

    async def _judge(self, prompt_id: str, request_ids: Sequence[str], round_id: str) -> None:
        state = self._state
        entry = state.bodies.entry(prompt_id)
        if entry is None:
            return
        keep = False
        try:
            samples = [await self._work.sample(*entry.responses[id]) for id in request_ids]
            keep = await state.host.judge(Group(prompt_id, entry.supplied.body, samples))
        except RewardFailed as error:
            logger.warning("prompt %s is not trained on: %s", prompt_id, error)
            self._unrewarded.add(prompt_id)
        except Exception as error:
            logger.exception("prompt %s could not be judged", prompt_id)
            state.fail_round(error)
            return
        state.tell({"type": "prompt.judged", "roundId": round_id, "promptId": prompt_id, "keep": bool(keep)})
