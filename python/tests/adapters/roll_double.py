"""
A double of ROLL's scheduler around a rollout loop, with engines in simulated time.

Faithful to main at 8eb27cc: `generate_scheduler.py` (`ReplayBuffer`, `RolloutContext`, and of the scheduler
`_get_batch_impl`, `pause_sampling`, `sending_request`, `shutdown`), `user_defined_rollout_loop.py` (the default loop)
and `router.py` (`RouterManager`; a router that knows a prompt from its first request on). Data are plain objects.
"""

from __future__ import annotations

import asyncio
import copy
import math
import random
import sys
import types
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from .engines import Engines


class Value:
    """A tensor of one number."""

    def __init__(self, value: float) -> None:
        self.value = value

    def item(self) -> float:
        return self.value


@dataclass
class DataProto:
    meta_info: dict[str, Any] = field(default_factory=dict)
    batch: dict[str, Any] = field(default_factory=dict)


@dataclass
class Config:
    async_generation_ratio: float = 0
    is_use_additional_prompts: bool = True
    max_additional_running_prompts: int = 10
    filtered: Callable[[int], bool] = lambda prompt: False


class ReplayBuffer:
    def __init__(self, config: Config) -> None:
        self.pid = 0
        self.current_step: int | None = None
        self.batch_size = 0
        self.config = config
        self.starts: dict[int, int | None] = {}
        self.running: dict[int, set[int]] = {}
        self.finished: dict[int, deque[list[Any]]] = {}
        self.running_prompts = self.running_extra_prompts = self.completed_prompts = 0
        self.event = asyncio.Event()
        self.advanced = asyncio.Event()
        self._shutdown = False

    def shutdown(self) -> None:
        self._shutdown = True
        self.event.set()
        self.advanced.set()

    def advance_step(self, step: int, batch_size: int) -> None:
        self.current_step = step
        self.running[step], self.finished[step] = set(), deque()
        if self.batch_size == 0:
            self.batch_size = math.ceil(batch_size * self.config.async_generation_ratio)
        self.batch_size += batch_size
        self.event.set()
        self.advanced.set()

    def _may_send(self) -> bool:
        if self.running_prompts + self.completed_prompts < self.batch_size:
            self.running_prompts += 1
            return True
        most = self.config.max_additional_running_prompts
        extra = self.config.is_use_additional_prompts and self.batch_size > 0
        if extra and self.running_prompts + self.running_extra_prompts < most:
            self.running_extra_prompts += 1
            return True
        return False

    async def poll(self) -> int:
        prompt_id, self.pid = self.pid, self.pid + 1
        while True:
            if self._shutdown:
                raise asyncio.CancelledError
            if self._may_send():
                self.starts[prompt_id] = None
                return prompt_id
            self.event.clear()
            await self.event.wait()

    async def begin(self, prompt_id: int) -> int:
        assert self.current_step is not None
        while self.current_step not in self.running:
            if self._shutdown:
                raise asyncio.CancelledError
            self.advanced.clear()
            await self.advanced.wait()
        if prompt_id not in self.starts:
            raise asyncio.CancelledError
        self.starts[prompt_id] = self.current_step
        self.running[self.current_step].add(prompt_id)
        return self.current_step

    def commit(self, prompt_id: int, result: list[Any]) -> None:
        try:
            if prompt_id not in self.starts:
                raise asyncio.CancelledError
            start = self.starts.pop(prompt_id)
            assert start is not None
            self._end(completed=True)
            self.running[start].remove(prompt_id)
            self.finished[start].append(result)
        finally:
            self.event.set()

    def abort(self, prompt_id: int) -> None:
        if prompt_id in self.starts:
            start = self.starts.pop(prompt_id)
            self._end(completed=False)
            if start is not None:
                self.running[start].remove(prompt_id)
        self.event.set()

    def _end(self, completed: bool) -> None:
        if self.running_prompts > 0:
            self.running_prompts -= 1
            self.completed_prompts += completed
        else:
            self.running_extra_prompts -= 1

    async def get_batch(self, expected: int) -> list[Any]:
        assert self.current_step is not None
        oldest = self.current_step - math.ceil(self.config.async_generation_ratio)
        batch: list[Any] = []
        while len(batch) < expected:
            for step in sorted(self.finished):
                while step >= oldest and self.finished[step] and len(batch) < expected:
                    batch += self.finished[step].popleft()
            await asyncio.sleep(0.001)
        return batch

    def gc(self) -> list[int]:
        assert self.current_step is not None
        last = self.current_step - math.ceil(self.config.async_generation_ratio)
        expired = [step for step in self.running if step <= last]
        aborted = [prompt for step in expired for prompt in self.running[step]]
        for prompt in aborted:
            self.abort(prompt)
        for step in expired:
            del self.running[step], self.finished[step]
        return aborted


class RouterManager:
    """Engines, with the requests that wait for a worker in front of them."""

    def __init__(self, engines: Engines, workers: int = 2) -> None:
        self.engines = engines
        self.need_shutdown = False
        self.suspended = False
        self.resumed = asyncio.Event()
        self.inflight: dict[str, tuple[asyncio.Future[bool], float]] = {}
        self.affinity: dict[int, int] = {}
        self.workers = workers
        self.placed: dict[str, tuple[int, int]] = {}
        self.aborts: list[str] = []
        self.broken: Callable[[str], bool] = lambda request: False

    async def generate(self, request_id: str, uid: int, tokens: int) -> tuple[bool, int] | None:
        """Whether it has finished, and how many tokens; None at shutdown."""
        while self.suspended:
            self.resumed.clear()
            await self.resumed.wait()
        if self.need_shutdown:
            return None
        if self.broken(request_id):
            raise RuntimeError("the worker has died")
        worker = self.affinity.setdefault(uid, uid % self.workers)
        self.placed[request_id] = (uid, worker)
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        began = self.engines.now
        self.inflight[request_id] = (done, began)
        self.engines.submit(request_id, tokens, lambda: None if done.done() else done.set_result(True))
        try:
            finished = await done
        finally:
            self.engines.cancel(request_id)
            del self.inflight[request_id]
        made = tokens if finished else min(tokens - 1, int((self.engines.now - began) * 40))
        return finished, made

    async def abort_requests(self, request_ids: list[str], uid: int) -> None:
        self.affinity[uid]
        await asyncio.sleep(0.002)
        for one in request_ids:
            self.aborts.append(one)
            if one in self.inflight and not self.inflight[one][0].done():
                self.inflight[one][0].set_result(False)

    async def abort_all(self) -> None:
        for done, _ in self.inflight.values():
            if not done.done():
                done.set_result(False)
        self.affinity.clear()

    async def wait_complete(self) -> None:
        while self.inflight:
            await asyncio.sleep(0.001)

    def suspend(self) -> None:
        self.suspended = True

    def resume(self) -> None:
        self.suspended = False
        self.resumed.set()

    async def shutdown(self) -> None:
        self.need_shutdown = True
        await self.abort_all()
        self.resume()
        await self.wait_complete()


class RolloutContext:
    def __init__(self, scheduler: Scheduler, prompt_id: int) -> None:
        self._scheduler = scheduler
        self.prompt_id = prompt_id
        self.meta_info = copy.deepcopy(scheduler.meta_info)
        self.pipeline_config = scheduler.config
        self.is_val = scheduler.is_val
        self.is_num_return_sequences_expand = True
        self.domain: str | None = None
        self.sampling_start_step: int | None = None
        self.inflight_requests: set[str] = set()
        self._in_do_generate_and_reward = False

    @staticmethod
    async def process_new_prompt(scheduler: Scheduler, prompt_id: int) -> None:
        context = RolloutContext(scheduler, prompt_id)
        success = False
        try:
            responses = await scheduler.udrl.process_new_prompt(context=context)
            if responses is None:
                raise asyncio.CancelledError
            wanted = scheduler.meta_info["generation_config"]["num_return_sequences"]
            assert len(responses) == wanted and context.domain == "math"
            success = True
        finally:
            scheduler.running_tasks.pop(prompt_id, None)
            if success:
                assert context.sampling_start_step is not None
                scheduler.replay_buffer.commit(prompt_id, responses)
            else:
                scheduler.replay_buffer.abort(prompt_id)

    def get_request_data(self, meta_info: dict[str, Any]) -> tuple[DataProto, str]:
        assert not self._in_do_generate_and_reward and self.sampling_start_step is None
        assert not getattr(self, "got_data", False), "Should call get_request_data only once"
        self.got_data = True
        self.domain = "math"
        return DataProto({**meta_info, "row": self._scheduler.next_row()}), "math"

    @asynccontextmanager
    async def do_generate_and_reward(self, max_concurrency: int) -> AsyncIterator[None]:
        assert not self._in_do_generate_and_reward and self.sampling_start_step is None and max_concurrency > 0
        self._in_do_generate_and_reward = True
        self.sampling_start_step = await self._scheduler.replay_buffer.begin(self.prompt_id)
        try:
            yield
        finally:
            assert not self.inflight_requests, "User should gather all running requests"
            self._in_do_generate_and_reward = False

    async def generate(self, req: DataProto, domain: str) -> DataProto | None:
        assert self._in_do_generate_and_reward
        request_id = self._scheduler.next_request_id()
        req.meta_info["request_id"] = request_id
        self.inflight_requests.add(request_id)
        try:
            return await self._scheduler.send(req, request_id, self.prompt_id)
        finally:
            self.inflight_requests.remove(request_id)

    async def compute_rewards(self, req: DataProto, domain: str) -> DataProto:
        assert self._in_do_generate_and_reward
        row, tokens = req.meta_info["row"], req.meta_info["tokens"]
        return DataProto(batch={"response_level_rewards": Value(self._scheduler.reward(row, tokens))})

    async def abort_running_requests(self) -> None:
        # As in ROLL: it is not awaited, so nothing is aborted.
        self._scheduler.router_manager.abort_requests(list(self.inflight_requests), self.prompt_id).close()


class UserDefinedRolloutLoop:
    """The default loop: every prompt for itself."""

    async def process_new_prompt(self, context: Any) -> list[DataProto] | None:
        number = context.meta_info["generation_config"]["num_return_sequences"]
        data, domain = context.get_request_data(meta_info=context.meta_info)
        requests = expand_requests(data, number, True)
        async with context.do_generate_and_reward(max_concurrency=number):
            lists = await asyncio.gather(*[self._generate_and_reward(context, one, domain) for one in requests])
            if not all(lists):
                return None
        responses = [one for several in lists for one in several or []]
        return responses if context.is_val or query_filter(responses, context.pipeline_config) else None

    async def _generate_and_reward(self, context: Any, req: DataProto, domain: str) -> list[DataProto] | None:
        while True:
            data = await context.generate(req=req, domain=domain)
            if data is None:
                return None
            req.meta_info["tokens"] = req.meta_info.get("tokens", 0) + len(data.meta_info["output_token_ids"][0])
            if is_report_data_finished(data):
                break
            if not req.meta_info.get("collect_unfinished", False):
                return None
        rewards = await context.compute_rewards(req=req, domain=domain)
        return [DataProto(dict(req.meta_info), {**req.batch, **rewards.batch})]


def expand_requests(
    data: DataProto, num_return_sequences: int, is_num_return_sequences_expand: bool
) -> list[DataProto]:
    assert is_num_return_sequences_expand
    data.meta_info["generation_config"]["num_return_sequences"] = 1
    return [copy.deepcopy(data) for _ in range(num_return_sequences)]


def is_report_data_finished(data: DataProto) -> bool:
    return "abort" not in data.meta_info["finish_reasons"]


def query_filter(data_list: list[DataProto], config: Config) -> bool:
    return not config.filtered(data_list[0].meta_info["row"])


class Scheduler:
    """`DynamicSamplingScheduler`, and the pipeline's loop over it."""

    def __init__(
        self,
        loop: Any,
        rows: list[list[int]],
        batch_size: int,
        responses: int,
        config: Config,
        *,
        first: int = 0,
        data_rows: int | None = None,
        step: int = 0,
        is_val: bool = False,
        speed: float = 400.0,
    ) -> None:
        self.udrl, self.rows, self.batch_size, self.responses, self.config = loop, rows, batch_size, responses, config
        self.is_val = is_val
        self.replay_buffer = ReplayBuffer(config)
        self.engines = Engines(slots=64)
        self.router_manager = RouterManager(self.engines)
        self.router_manager.suspend()
        self.reward_clusters = {"math": None}
        self.running_tasks: dict[int, asyncio.Task[None]] = {}
        self.meta_info: dict[str, Any] = {}
        self.reward: Callable[[int, int], float] = lambda row, tokens: float(tokens % 2)
        # Without a data set of so many rows, it never comes to the end of one.
        self.indices = list(range(data_rows or 1_000_000))
        self.shuffles = data_rows is not None
        self.dataset_iter_count, self.step = 0, step
        for _ in range(first):
            self.next_row()
        self.trained: Counter[int] = Counter()
        self.batches: list[list[DataProto]] = []
        self.seconds: list[float] = []
        self._requests: Counter[int] = Counter()
        self._given: defaultdict[str, int] = defaultdict(int)
        self._number = 0
        self._speed = speed
        self._tasks = [asyncio.create_task(self._tick()), asyncio.create_task(self._send())]

    def next_row(self) -> int:
        if self.dataset_iter_count % len(self.indices) == 0 and self.shuffles:
            random.Random(self.dataset_iter_count).shuffle(self.indices)
        self.dataset_iter_count += 1
        return self.indices[(self.dataset_iter_count - 1) % len(self.indices)]

    @property
    def drawn(self) -> int:
        return self.dataset_iter_count

    def next_request_id(self) -> str:
        self._number += 1
        return f"request_{self._number}"

    async def send(self, req: DataProto, request_id: str, uid: int) -> DataProto | None:
        row = req.meta_info["row"]
        if "index" not in req.meta_info:
            req.meta_info["index"] = self._requests[row]
            self._requests[row] += 1
        lengths = self.rows[row % len(self.rows)]
        left = lengths[req.meta_info["index"] % len(lengths)] - req.meta_info.get("tokens", 0)
        outcome = await self.router_manager.generate(request_id, uid, left)
        if outcome is None:
            return None
        reasons = ["stop" if outcome[0] else "abort"]
        return DataProto({"finish_reasons": reasons, "output_token_ids": [[0] * outcome[1]]})

    async def get_batch(self) -> list[DataProto]:
        """A step of the pipeline, without the training."""
        self.step += 1
        ahead = self.config.async_generation_ratio > 0
        if ahead and self.step > 1:
            await self.pause_sampling()
        self.meta_info = {
            "global_step": self.step,
            "collect_unfinished": ahead,
            "generation_config": {"num_return_sequences": self.responses},
        }
        assert not self.router_manager.inflight
        self.replay_buffer.advance_step(self.step, self.batch_size)
        self.router_manager.resume()
        began = self.engines.now
        getting = asyncio.create_task(self.replay_buffer.get_batch(self.batch_size * self.responses))
        await asyncio.wait([getting, self._tasks[1]], return_when=asyncio.FIRST_COMPLETED)
        if self._tasks[1].done():
            getting.cancel()
            await self._tasks[1]
        batch = (await getting)[: self.batch_size * self.responses]
        self.seconds.append(self.engines.now - began)
        if not ahead:
            await self.pause_sampling()
            assert not self.replay_buffer.running
        rows = Counter(one.meta_info["row"] for one in batch)
        assert set(rows.values()) == {self.responses}, "groups are whole"
        self.trained.update(rows.keys())
        self.batches.append(batch)
        return batch

    async def pause_sampling(self) -> None:
        self.router_manager.suspend()
        for prompt_id in self.replay_buffer.gc():
            if prompt_id in self.running_tasks:
                self.running_tasks[prompt_id].cancel()
        await self.router_manager.abort_all()
        await self.router_manager.wait_complete()

    async def shutdown(self) -> None:
        self.replay_buffer.shutdown()
        await self.router_manager.shutdown()
        for prompt_id in self.replay_buffer.gc():
            if prompt_id in self.running_tasks:
                self.running_tasks[prompt_id].cancel()
        await self._tasks[1]
        self._tasks[0].cancel()

    def kill(self) -> None:
        """The process ends."""
        for one in [*self._tasks, *self.running_tasks.values()]:
            one.cancel()

    async def _send(self) -> None:
        failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def ended(task: asyncio.Task[None]) -> None:
            error = None if task.cancelled() else task.exception()
            if error is not None and not failed.done():
                failed.set_exception(error)

        while not self.replay_buffer._shutdown:
            polling = asyncio.ensure_future(self.replay_buffer.poll())
            waits: list[asyncio.Future[Any]] = [polling, failed]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if failed.done():
                polling.cancel()
                failed.result()
            if polling.cancelled():
                break
            task = asyncio.create_task(RolloutContext.process_new_prompt(self, polling.result()))
            self.running_tasks[polling.result()] = task
            task.add_done_callback(ended)
        await self.router_manager.abort_all()
        while self.running_tasks:
            await asyncio.sleep(0.005)
        failed.cancel()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(0.005)
            self.engines.advance(0.005 * self._speed)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the modules of ROLL importable."""
    here = sys.modules[__name__]
    for name in ("roll", "roll.distributed", "roll.distributed.scheduler"):
        package = types.ModuleType(name)
        package.__path__ = []
        monkeypatch.setitem(sys.modules, name, package)
    for name in ("generate_scheduler", "user_defined_rollout_loop", "router"):
        monkeypatch.setitem(sys.modules, f"roll.distributed.scheduler.{name}", here)
