"""
Tail batching as a `PromptGroupSampler` of NeMo-RL's single controller (`async_rl.sampler: {name: custom, target: …}`).

Follows NeMo-RL main at 7ea279a (2026-08-22): `nemo_rl/algorithms/async_utils/staleness_sampler.py`,
`…/replay_buffer.py` (`TQReplayBuffer`) and `nemo_rl/algorithms/single_controller.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from ._check import main, refuse
from ._check_nemo_rl import configured, framework, least_staleness, refusals, required_capacity
from ._groups import Group, GroupRounds, Settings
from ._server import async_client

if TYPE_CHECKING:
    from ..aio import AsyncClient, AsyncSession
    from ..models.policies.tail_batching import TailBatchingDecision, TailBatchingEvent

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.005


class PromptGroupBuffer(Protocol):
    """The part of `TQReplayBuffer` that is used: parallel lists in the order of dispatch."""

    meta_list: list[Any]
    start_weight_list: list[int]
    ready_list: list[bool]
    _group_ids: list[str]

    async def remove(self, idxs: list[int], remove_in_dp: bool) -> int: ...


class TailBatchingSampler:
    """
    Chooses which prompt groups a step trains on, and when the next batch of prompts is dispatched.

    :param max_staleness_versions: most versions between the weights that began a group and those it trains. Below
        4 + `max_lookahead_versions`, groups that a round passes over are waited for in the next
    :param max_lookahead_versions: steps ahead of the trainer for which groups are chosen and dispatched
    :param prompt_speculation: a short round takes the first of this many times the groups that it needs
    :param server: parameters of :meth:`rollflex.AsyncClient.connect`, and `reconnect_seconds`; the policy runs in
        this process if absent
    """

    def __init__(
        self,
        buffer: PromptGroupBuffer,
        *,
        max_staleness_versions: int = 6,
        max_lookahead_versions: int = 1,
        prompt_speculation: float = 1.5,
        server: Mapping[str, Any] | None = None,
    ) -> None:
        refuse(refusals(max_staleness_versions, max_lookahead_versions))
        self._buffer = buffer
        self._lookahead = max_lookahead_versions
        waits_from = max_staleness_versions - least_staleness(max_lookahead_versions) - 2
        self._settings = Settings(prompt_speculation, max(0, waits_from))
        self._server = server
        self._rounds = GroupRounds()
        self._groups_per_step = 0
        self._first_step = 0
        self._taken = 0
        self._admitting = False
        self._dispatching = False
        self._exhausted = False
        self._lock = asyncio.Lock()
        self._client: AsyncClient | None = None
        self._session: AsyncSession[TailBatchingEvent, TailBatchingDecision] | None = None

    async def admit(self, *, trainer_version_fn: Callable[[], int]) -> int | None:
        """Waits until a round asks for more prompts than were dispatched. Batches are not bound to a step."""
        self._admitting = True
        try:
            while True:
                # After this pause, earlier dispatched groups have a place in the buffer.
                await asyncio.sleep(_POLL_SECONDS)
                await self._advance(trainer_version_fn())
                if self._rounds.missing > 0:
                    self._dispatching = True
                    return None
        finally:
            self._admitting = False

    async def select(
        self, *, current_train_weight: int, min_prompt_groups: int, max_prompt_groups: int
    ) -> tuple[Any | None, int]:
        """Returns groups that count for this step as they come; `(None, 0)` below the least number."""
        if not 1 <= min_prompt_groups <= max_prompt_groups:
            raise ValueError(
                f"expected 1 <= min_prompt_groups <= max_prompt_groups, got {min_prompt_groups}, {max_prompt_groups}"
            )
        await self._advance(current_train_weight)
        count = min(len(self._rounds.chosen), max_prompt_groups)
        if count < min_prompt_groups:
            return None, 0
        places = {group: index for index, group in enumerate(self._buffer._group_ids)}
        idxs = [places[self._rounds.chosen.popleft()] for _ in range(count)]
        metas = [self._buffer.meta_list[index] for index in idxs]
        self._taken += count
        lag = current_train_weight - min(self._buffer.start_weight_list[index] for index in idxs)
        logger.info("step %d: %d group(s), %d version(s) behind at most", current_train_weight, count, lag)
        await self._buffer.remove(idxs, remove_in_dp=False)
        return metas[0].concat(*metas[1:]), count

    async def evict(self, *, current_train_weight: int) -> int:
        """Drops no group for its age, because long prompts would be dropped."""
        return 0

    def should_abort_inflight(self, *, start_weight_version: int, current_train_weight: int) -> bool:
        """
        Returns False: a rollout that was aborted here would not be dispatched again, and its prompt would be lost.
        """
        return False

    @property
    def is_on_policy(self) -> bool:
        return False

    def required_buffer_capacity(self, groups_per_step: int) -> int:
        """Number of groups that the buffer must hold, which NeMo-RL asks for at the start."""
        self._groups_per_step = groups_per_step
        return required_capacity(groups_per_step, self._lookahead, self._settings.prompt_speculation)

    def set_dispatch_index(self, resume_from_step: int) -> None:
        """The step that the run begins with. Groups of a restored buffer come first: no other state is needed."""
        if resume_from_step < 0:
            raise ValueError(f"resume_from_step: expected 0 or more, got {resume_from_step}")
        self._first_step = resume_from_step

    async def close(self) -> None:
        """Ends the connection, and a server that was started for it."""
        if self._client is not None:
            await self._client.close()

    async def _advance(self, version: int) -> None:
        async with self._lock:
            session = self._session or await self._open()
            events: list[TailBatchingEvent]
            while True:
                groups = self._groups()
                if self._may_open(version):
                    events = self._rounds.open(version)
                elif self._has_ended(groups):
                    self._exhausted = True
                    events = self._rounds.exhausted()
                elif self._exhausted and (self._admitting or self._rounds.has_waiting):
                    self._exhausted = False
                    events = self._rounds.reopened()
                else:
                    events = self._rounds.progress(groups)
                if not events:
                    break
                self._rounds.apply(await session.send(events))
            for group in self._rounds.failed:
                logger.warning("prompt group %s was given up by its rollout; another takes its place", group)
            self._rounds.failed = []

    async def _open(self) -> AsyncSession[TailBatchingEvent, TailBatchingDecision]:
        if self._groups_per_step == 0:
            raise RuntimeError("required_buffer_capacity tells how many groups a step has; it was never called")
        self._client = await async_client(self._server)
        config = self._settings.config(self._groups_per_step)
        self._session = await self._client.open("tail-batching", config=config)
        return self._session

    def _may_open(self, version: int) -> bool:
        steps = version - self._first_step + 1 + self._lookahead
        return self._rounds.can_open and self._taken + len(self._rounds.chosen) < steps * self._groups_per_step

    def _has_ended(self, groups: Mapping[str, Group]) -> bool:
        """
        Whether the pump has run out of prompts, which it does not report: a round lacks prompts, and no dispatch
        arrives although nothing runs.
        """
        if self._dispatching and not all(self._rounds.knows(group) for group in groups):
            self._dispatching = False
        if self._rounds.missing == 0 or self._admitting or self._dispatching or self._exhausted:
            return False
        return not any(group.status == "running" for group in groups.values())

    def _groups(self) -> dict[str, Group]:
        buffer = self._buffer
        rows = zip(buffer._group_ids, buffer.ready_list, buffer.meta_list, strict=True)
        return {
            group: Group("finished", sum(meta.sequence_lengths or ())) if ready else Group("running")
            for group, ready, meta in rows
        }


if __name__ == "__main__":
    raise SystemExit(main(framework, configured))
