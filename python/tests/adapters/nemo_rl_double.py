"""
A double of NeMo-RL's single controller around its sampler, with engines in simulated time.

Faithful to main at 7ea279a: `single_controller.py` (`_rollout_pump`, `_train_pump`, `_abort_stale_inflight`,
`_save_checkpoint`, and the order of calls in `__init__`), `async_utils/replay_buffer.py` (`TQReplayBuffer`),
`rollout_manager.py` (`generate_and_push`: a slot for each attempt, removed when the attempt fails) and
`data_plane/interfaces.py` (`KVBatchMeta.concat`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .engines import Engines

seconds_a_look = 0.25


@dataclass
class Meta:
    sample_ids: list[str]
    sequence_lengths: list[int]
    weights: list[int]
    """`weight_version` of its tags."""

    def concat(self, *others: Meta) -> Meta:
        every = (self, *others)
        return Meta(
            [id for one in every for id in one.sample_ids],
            [tokens for one in every for tokens in one.sequence_lengths],
            [weight for one in every for weight in one.weights],
        )


class Buffer:
    """`TQReplayBuffer`: a slot is unready from `reserve` to `commit`."""

    def __init__(self) -> None:
        self.meta_list: list[Meta | None] = []
        self.start_weight_list: list[int] = []
        self.target_step_list: list[int | None] = []
        self.ready_list: list[bool] = []
        self._group_ids: list[str] = []
        self._reserved = 0

    def __len__(self) -> int:
        return len(self.meta_list)

    def reserve(self, weight_version: int, target_step: int | None, group_id: str | None = None) -> str:
        self._reserved += 1
        group_id = group_id or f"g{self._reserved}"
        self.meta_list.append(None)
        self.start_weight_list.append(weight_version)
        self.target_step_list.append(target_step)
        self.ready_list.append(False)
        self._group_ids.append(group_id)
        return group_id

    def commit(self, group_id: str, meta: Meta) -> None:
        index = self._group_ids.index(group_id)
        self.meta_list[index], self.ready_list[index] = meta, True

    async def remove_group(self, group_id: str) -> None:
        await self.remove([self._group_ids.index(group_id)], remove_in_dp=False)

    async def remove(self, idxs: list[int], remove_in_dp: bool) -> int:
        for index in sorted(idxs, reverse=True):
            for rows in (
                self.meta_list,
                self.start_weight_list,
                self.target_step_list,
                self.ready_list,
                self._group_ids,
            ):
                del rows[index]
        await asyncio.sleep(0)
        return len(idxs)


class WindowedSampler:
    """What NeMo-RL does with `name: windowed`: groups out of the window are evicted, and aborted while they run."""

    is_on_policy = False

    def __init__(self, buffer: Buffer, max_staleness_versions: int) -> None:
        self._buffer, self._window = buffer, max_staleness_versions

    def set_dispatch_index(self, resume_from_step: int) -> None: ...

    def required_buffer_capacity(self, groups_per_step: int) -> int | None:
        return None

    async def admit(self, *, trainer_version_fn: Callable[[], int]) -> int | None:
        return None

    async def select(
        self, *, current_train_weight: int, min_prompt_groups: int, max_prompt_groups: int
    ) -> tuple[Meta | None, int]:
        oldest = max(0, current_train_weight - self._window)
        rows = enumerate(zip(self._buffer.start_weight_list, self._buffer.ready_list, strict=True))
        idxs = [index for index, (weight, ready) in rows if ready and weight >= oldest][:max_prompt_groups]
        if len(idxs) < min_prompt_groups:
            return None, 0
        metas = [self._buffer.meta_list[index] for index in idxs]
        await self._buffer.remove(idxs, remove_in_dp=False)
        assert metas[0] is not None
        return metas[0].concat(*[one for one in metas[1:] if one is not None]), len(idxs)

    async def evict(self, *, current_train_weight: int) -> int:
        oldest = max(0, current_train_weight - self._window)
        rows = enumerate(zip(self._buffer.start_weight_list, self._buffer.ready_list, strict=True))
        idxs = [index for index, (weight, ready) in rows if ready and weight < oldest]
        return await self._buffer.remove(idxs, remove_in_dp=True) if idxs else 0

    def should_abort_inflight(self, *, start_weight_version: int, current_train_weight: int) -> bool:
        return start_weight_version < max(0, current_train_weight - self._window)


class InOrderSampler(WindowedSampler):
    """What NeMo-RL does by default, `in_order`: a step trains exactly the batch that was dispatched for it."""

    def __init__(self, buffer: Buffer, max_lookahead_versions: int) -> None:
        super().__init__(buffer, max_lookahead_versions)
        self._dispatched = -1

    async def admit(self, *, trainer_version_fn: Callable[[], int]) -> int | None:
        while self._dispatched >= trainer_version_fn() + self._window:
            await asyncio.sleep(0)
        self._dispatched += 1
        return self._dispatched

    async def select(
        self, *, current_train_weight: int, min_prompt_groups: int, max_prompt_groups: int
    ) -> tuple[Meta | None, int]:
        rows = enumerate(zip(self._buffer.target_step_list, self._buffer.ready_list, strict=True))
        idxs = [index for index, (step, ready) in rows if ready and step == current_train_weight][:max_prompt_groups]
        if len(idxs) < min_prompt_groups:
            return None, 0
        metas = [one for one in (self._buffer.meta_list[index] for index in idxs) if one is not None]
        await self._buffer.remove(idxs, remove_in_dp=False)
        return metas[0].concat(*metas[1:]), len(idxs)

    async def evict(self, *, current_train_weight: int) -> int:
        return 0

    def should_abort_inflight(self, *, start_weight_version: int, current_train_weight: int) -> bool:
        return False


class Controller:
    """`SingleControllerActor`: the two pumps, and the clock that both and the engines live by."""

    def __init__(
        self,
        make_sampler: Callable[[Buffer], Any],
        rows: list[list[int]],
        groups_per_step: int,
        *,
        epochs_of: int,
        slots: int = 64,
        min_groups: int = 4,
        max_inflight: int = 32,
        max_buffered: int = 64,
        train_seconds: float = 5.0,
        attempts: Callable[[int], int] = lambda prompt: 0,
        first: int = 0,
        step: int = 0,
        restored: list[tuple[str, Meta, int]] | None = None,
    ) -> None:
        """`attempts`: how many attempts of a prompt fail; from 2 it is skipped (`max_data_attempts_per_prompt`)."""
        self.buffer = Buffer()
        for group_id, meta, weight in restored or []:
            self.buffer.reserve(weight, None, group_id)
            self.buffer.commit(group_id, meta)
        self.sampler = make_sampler(self.buffer)
        self.sampler.set_dispatch_index(step)
        self.required = self.sampler.required_buffer_capacity(groups_per_step)
        assert self.required is None or self.required <= max_buffered
        self.engines = Engines(slots)
        self.rows, self.groups_per_step, self.min_groups = rows, groups_per_step, min_groups
        self.train_seconds, self.attempts = train_seconds, attempts
        self.version = step
        self.drawn, self.until = first, epochs_of
        self.capacity = asyncio.Semaphore(max_buffered - len(restored or []))
        self.slots = asyncio.Semaphore(max_inflight)
        self.permitted = asyncio.Event()
        self.exhausted = False
        self.inflight: dict[str, tuple[asyncio.Task[None], int]] = {}
        self.trained: Counter[int] = Counter()
        self.lags: list[int] = []
        self.rollout_seconds: list[float] = []
        self.aborted: set[int] = set()
        self.evicted: set[int] = set()
        self.skipped: set[int] = set()
        self.in_flight_most = 0
        self.in_hand: set[int] = set()
        """Prompts of the batch that waits to be dispatched."""
        self.kept: set[int] = set()
        """What was held when the run ended."""

    async def run(self, steps: int) -> None:
        """`run`: an error of a pump ends it."""
        self.permitted.set()
        ticker = asyncio.create_task(self._tick())
        pumps = [asyncio.create_task(self._rollout_pump()), asyncio.create_task(self._train_pump(steps))]
        try:
            running = set(pumps)
            while pumps[1] in running:
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for one in done:
                    one.result()
        finally:
            self.kept = self.held()
            for one in [*pumps, ticker, *(task for task, _ in self.inflight.values())]:
                one.cancel()
            await asyncio.gather(*pumps, ticker, return_exceptions=True)

    def groups(self) -> list[tuple[str, Meta, int]]:
        """What `_save_checkpoint` keeps: ready groups only."""
        rows = zip(self.buffer._group_ids, self.buffer.meta_list, self.buffer.start_weight_list, strict=True)
        return [(group, meta, weight) for group, meta, weight in rows if meta is not None]

    def held(self) -> set[int]:
        """Prompts of groups that are ready or run."""
        ready = {int(meta.sample_ids[0].split("/")[0]) for meta in self.buffer.meta_list if meta is not None}
        return ready | {int(task.get_name()) for task, _ in self.inflight.values()} | self.in_hand

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(0)
            lock = getattr(self.sampler, "_lock", None)
            if lock is not None and lock.locked():
                # No time passes while the policy is asked: it is the engines that are slow.
                await asyncio.sleep(0.0002)
            else:
                self.engines.advance(seconds_a_look)

    async def _rollout_pump(self) -> None:
        tasks: list[asyncio.Task[None]] = []
        for batch in self._batches():
            self.in_hand = set(batch)
            target = await self.sampler.admit(trainer_version_fn=lambda: self.version)
            for prompt in batch:
                await self.capacity.acquire()
                await self.slots.acquire()
                await self.permitted.wait()
                self.in_hand.discard(prompt)
                tasks.append(asyncio.create_task(self._dispatch(prompt, target), name=str(prompt)))
        await asyncio.gather(*tasks, return_exceptions=True)
        self.exhausted = True

    def _batches(self) -> Iterator[list[int]]:
        while self.drawn < self.until:
            count = min(self.groups_per_step, self.until - self.drawn)
            self.drawn += count
            yield list(range(self.drawn - count, self.drawn))

    async def _dispatch(self, prompt: int, target: int | None) -> None:
        try:
            for attempt in range(2):
                if await self._generate(prompt, target, attempt):
                    return
        except asyncio.CancelledError:
            self.capacity.release()
            raise
        finally:
            self.slots.release()
        self.skipped.add(prompt)
        self.capacity.release()

    async def _generate(self, prompt: int, target: int | None, attempt: int) -> bool:
        start = self.version
        group = self.buffer.reserve(start, target)
        task = asyncio.current_task()
        assert task is not None
        self.inflight[group] = (task, start)
        self.in_flight_most = max(self.in_flight_most, len(self.inflight))
        lengths = self.rows[prompt % len(self.rows)]
        fails = attempt < self.attempts(prompt)
        try:
            generated = lengths[:1] if fails else lengths
            await asyncio.gather(*[self._respond(f"{group}/{i}", n) for i, n in enumerate(generated)])
        except asyncio.CancelledError:
            for i in range(len(lengths)):
                self.engines.cancel(f"{group}/{i}")
            await self.buffer.remove_group(group)
            raise
        finally:
            self.inflight.pop(group, None)
        if fails:
            await self.buffer.remove_group(group)
            return False
        ids = [f"{prompt}/{index}" for index in range(len(lengths))]
        self.buffer.commit(group, Meta(ids, list(lengths), [start] * len(lengths)))
        return True

    def _respond(self, request: str, tokens: int) -> Awaitable[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.engines.submit(request, tokens, lambda: None if done.done() else done.set_result(None))
        return done

    async def _train_pump(self, steps: int) -> None:
        for _ in range(steps):
            began, dispatched = self.engines.now, 0
            while dispatched < self.groups_per_step:
                await asyncio.sleep(0)
                before = {int(m.sample_ids[0].split("/")[0]) for m in self.buffer.meta_list if m is not None}
                for _ in range(await self.sampler.evict(current_train_weight=self.version)):
                    self.capacity.release()
                after = {int(m.sample_ids[0].split("/")[0]) for m in self.buffer.meta_list if m is not None}
                self.evicted |= before - after
                most = self.groups_per_step - dispatched
                meta, count = await self.sampler.select(
                    current_train_weight=self.version,
                    min_prompt_groups=min(self.min_groups, most),
                    max_prompt_groups=most,
                )
                if meta is None:
                    if self.exhausted and dispatched == 0 and len(self.buffer) == 0:
                        return
                    if self.exhausted:
                        raise RuntimeError("rollout exhausted before a complete training step was assembled")
                    await asyncio.sleep(0)
                    continue
                for _ in range(count):
                    self.capacity.release()
                dispatched += count
                self._take(meta, count)
            self.rollout_seconds.append(self.engines.now - began)
            until = self.engines.now + self.train_seconds
            while self.engines.now < until:
                await asyncio.sleep(0)
            self.version += 1
            await self._sync_weights()

    def _take(self, meta: Meta, count: int) -> None:
        prompts = Counter(int(id.split("/")[0]) for id in meta.sample_ids)
        assert len(prompts) == count
        self.lags += [self.version - weight for weight in meta.weights]
        for prompt, rows in prompts.items():
            assert rows == len(self.rows[prompt % len(self.rows)]), "a group is whole"
            assert self.trained[prompt] == 0, "a prompt is trained once"
            self.trained[prompt] += 1

    async def _sync_weights(self) -> None:
        self.permitted.clear()
        stale = [
            task
            for task, start in self.inflight.values()
            if self.sampler.should_abort_inflight(start_weight_version=start, current_train_weight=self.version)
        ]
        self.aborted |= {int(task.get_name()) for task in stale}
        for task in stale:
            task.cancel()
        await asyncio.gather(*stale, return_exceptions=True)
        self.permitted.set()
