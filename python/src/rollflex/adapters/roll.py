"""
Tail batching as ROLL's rollout loop (`user_defined_rollout_loop_cls`), for RLVR pipelines.

Follows ROLL main at 8eb27cc (2026-08-19): `roll/distributed/scheduler/generate_scheduler.py` (`ReplayBuffer`,
`RolloutContext`), `user_defined_rollout_loop.py` and `router.py`.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import math
import os
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from ..aio import AsyncClient
from ..rollout import Dropped, GenerationFailed, Group, Host, Launch, Response, Rollout, Round, Supplied, composes
from ._check import main, refuse
from ._check_roll import configured, framework, refusals, speculation
from ._composed import fitted
from ._roll_seats import Context, Request, Seat, Stopped
from ._server import async_client

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prompt:
    """A prompt in the form of ROLL's data set."""

    data: Any
    domain: str


class TailBatchingLoop(Host[Prompt, Any]):
    """
    Makes each step of a scheduler a round. ROLL constructs this class without arguments, so put changed settings into a
    derived class of your own.
    """

    recipe: ClassVar[str] = "tail-batching"
    """Or `lossless-tail`, which has no speculation."""
    prompt_speculation: ClassVar[float] = 1.25
    response_speculation: ClassVar[float] = 1.25
    server: ClassVar[Mapping[str, Any] | None] = None
    """Parameters of :meth:`rollflex.AsyncClient.connect`, and `reconnect_seconds`; `None`: in this process."""
    unreachable_seconds: ClassVar[float] = 60.0
    """Seconds without an answer of the server after which the job ends."""
    outage_seconds: ClassVar[float | None] = 600.0
    """Seconds without a successful request after which the job ends; `None`: never."""
    policy: ClassVar[Mapping[str, Any]] = {}
    """Further settings of the recipe."""
    state_dir: ClassVar[str | os.PathLike[str] | None] = None
    """Folder in which untrained prompts are stored after each step, because ROLL's own checkpoint lacks them."""
    kept_states: ClassVar[int] = 8
    """Number of steps for which checkpoints are kept: as far back as a job may be resumed."""

    def __init__(self) -> None:
        self._free: asyncio.Queue[Seat | None] = asyncio.Queue()
        self._seats: dict[str, asyncio.Task[Seat]] = {}
        self._requests: dict[str, Request] = {}
        self._arrival = asyncio.Event()
        self._latest: Context | None = None
        self._first_step = self._step = 0
        self._rounds = 0
        self._driver: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._client: AsyncClient | None = None
        self._given_back: list[Supplied[Prompt]] = []
        self.rollout: Rollout[Prompt, Any] | None = None

    async def process_new_prompt(self, context: Any) -> Any:
        """Waits in a place for a prompt, and returns the responses that the round has chosen, or None."""
        if context.is_val:
            # Evaluation is no part of the rounds.
            return await _roll("user_defined_rollout_loop").UserDefinedRolloutLoop().process_new_prompt(context)
        seat = Seat(context)
        self._arrive(context)
        self._free.put_nowait(seat)
        try:
            if await self._or_end(seat.assigned, context) is None:
                return None
            responses = context.meta_info["generation_config"]["num_return_sequences"]
            async with context.do_generate_and_reward(max_concurrency=responses):
                seat.entered.set()
                try:
                    return await self._or_end(seat.outcome, context)
                finally:
                    await seat.stop()
        finally:
            seat.leave()
            if _shuts_down(context):
                # Nobody is left to carry out the policy's decisions.
                self._ending = self._ending or asyncio.get_running_loop().create_task(self._end())
                await asyncio.wait([self._ending])

    # Methods of the host, which the rollout calls.

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[Prompt]]:
        if self._given_back:
            given, self._given_back = self._given_back[:count], self._given_back[count:]
            return given
        if composes(self.recipe, self.policy):
            return [self._drawn_ahead() for _ in range(count)]
        try:
            seat = await self._free_seat()
        except Stopped:
            return []
        assert self._latest is not None
        # A place from an earlier step has the settings of that step.
        data, domain = seat.context.get_request_data(meta_info=copy.deepcopy(self._latest.meta_info))
        prompt_id = f"{self._first_step}.{seat.context.prompt_id}"
        self._seats[prompt_id] = asyncio.get_running_loop().create_task(self._sit(prompt_id, seat))
        return [Supplied(prompt_id, Prompt(data, domain), domain=domain)]

    def _drawn_ahead(self) -> Supplied[Prompt]:
        """
        Returns a prompt for a window. ROLL has no place for it yet: the prompt takes a place when its round begins.
        """
        assert self._latest is not None
        context = copy.copy(self._latest)
        context.got_data = context._in_do_generate_and_reward = False
        context.sampling_start_step = None
        data, domain = context.get_request_data(meta_info=copy.deepcopy(context.meta_info))
        scheduler = context._scheduler
        row = scheduler.indices[(scheduler.dataset_iter_count - 1) % len(scheduler.indices)]
        return Supplied(f"row-{row}", Prompt(data, domain), domain=domain)

    async def generate(self, launch: Launch[Prompt, Any]) -> Response[Any]:
        seat = await self._seat(launch)
        request = Request(seat)
        self._requests[launch.request_id] = request
        try:
            assert self._latest is not None
            data = copy.deepcopy(launch.prompt.data)
            # A prompt from the queue was drawn in an earlier step.
            data.meta_info.update(copy.deepcopy(self._latest.meta_info))
            (data,) = _roll("generate_scheduler").expand_requests(
                data=data, num_return_sequences=1, is_num_return_sequences_expand=True
            )
            loop = _roll("user_defined_rollout_loop").UserDefinedRolloutLoop()
            responses = await request.run(
                loop._generate_and_reward(context=request, req=data, domain=launch.prompt.domain)
            )
        except Stopped:
            return Response(None, request.tokens, finished=False)
        finally:
            del self._requests[launch.request_id]
        if not responses and _shuts_down(seat.context):
            return Response(None, request.tokens, finished=False)
        if not responses:
            raise GenerationFailed("ROLL has interrupted the request")
        return Response(responses[0], request.tokens)

    async def abort(self, launch: Launch[Prompt, Any]) -> None:
        request = self._requests.get(launch.request_id)
        if request is not None:
            await request.abort()

    async def reward(self, launch: Launch[Prompt, Any], response: Response[Any]) -> float | None:
        return float(response.body.batch["response_level_rewards"].item())

    async def judge(self, group: Group[Prompt, Any]) -> bool:
        assert self._latest is not None
        query_filter = _roll("user_defined_rollout_loop").query_filter
        return bool(query_filter([one.body for one in group.samples], self._latest.pipeline_config))

    def dropped(self, dropped: Dropped[Prompt]) -> None:
        logger.warning("prompt %s is not trained on: %s", dropped.prompt_id, dropped.cause)
        self._release(dropped.prompt_id)

    async def give_back(self, prompts: Sequence[Supplied[Prompt]]) -> None:
        self._given_back += prompts

    # Running the rounds.

    def _arrive(self, context: Context) -> None:
        step = int(context.meta_info["global_step"])
        if self._driver is None:
            self._first_step = step
            self._driver = asyncio.get_running_loop().create_task(self._drive(context))
        if self._latest is None or step > self._step:
            self._latest, self._step = context, step
            self._arrival.set()

    async def _drive(self, context: Context) -> None:
        ratio = context.pipeline_config.async_generation_ratio
        try:
            self.rollout = await self._open(context, ratio)
            while True:
                # There are as many rounds as begun steps, plus the rounds that ROLL generates ahead.
                while self._rounds >= self._step - self._first_step + 1 + math.ceil(ratio):
                    self._arrival.clear()
                    await self._arrival.wait()
                self._rounds += 1
                done = await self.rollout.round(self._step)
                await self._hand_over(done)
        finally:
            if self._client is not None:
                await self._client.close()

    async def _open(self, context: Context, ratio: float) -> Rollout[Prompt, Any]:
        admitted = context._scheduler.replay_buffer.batch_size
        prompts = int(admitted / (1 + ratio) + 1e-9)
        config: dict[str, Any] = {
            "promptsPerRound": prompts,
            "responsesPerPrompt": context.meta_info["generation_config"]["num_return_sequences"],
            "filter": "host",
            **speculation(type(self)),
            **self.policy,
        }
        if self.recipe == "tail-batching":
            config = {"maxStaleness": math.ceil(ratio), **config}
        elif composes(self.recipe, config):
            config = fitted(config, len(context._scheduler.indices))
        if prompts + math.ceil(prompts * ratio) != admitted:
            raise ValueError(f"ROLL admits {admitted} prompts in its first step, which fits no batch_size")
        expands = context.is_num_return_sequences_expand
        refuse(refusals(expands, context.pipeline_config, prompts, type(self)))
        if (
            getattr(context._scheduler, "get_data_item_kwargs", {}).get("use_dataloader")
            and self.recipe != "tail-batching"
        ):
            raise ValueError("get_data_item_kwargs.use_dataloader: rows have no numbers, which lossless-tail needs")
        self._client = await async_client(self.server)
        return await Rollout.open(
            self._client,
            self,
            config,
            policy=self.recipe,
            checkpoint=self._load(),
            unreachable_seconds=self.unreachable_seconds,
            outage_seconds=self.outage_seconds,
        )

    async def _hand_over(self, done: Round[Prompt, Any]) -> None:
        assert self.rollout is not None
        if self.state_dir is not None:
            self._save(done.weight_version, await self.rollout.checkpoint())
        finals = [(await self._seat_of(one.prompt_id, one.prompt), one) for one in done.groups]
        for seat, group in finals:
            seat.give([one.body for one in group.samples])
        # ROLL counts a prompt as completed only while others count as running, so these end first.
        await asyncio.gather(*[seat.left.wait() for seat, _ in finals])
        for prompt_id, task in list(self._seats.items()):
            # With `async_generation_ratio`, prompts may continue in the next round without moving.
            if not (task.done() and not task.cancelled() and task.result().requests):
                self._release(prompt_id)
        logger.info(
            "step %d: %s round, %d prompt(s), %d deferred, %d token(s) aborted",
            *(done.weight_version, done.kind, len(done.groups), done.deferred, done.aborted_tokens),
        )

    # Places for prompts.

    async def _free_seat(self) -> Seat:
        while True:
            seat = await self._free.get()
            if seat is None:
                self._free.put_nowait(None)
                raise Stopped
            if not seat.left.is_set():
                return seat

    async def _seat(self, launch: Launch[Prompt, Any]) -> Seat:
        return await self._seat_of(launch.prompt_id, launch.prompt)

    async def _seat_of(self, prompt_id: str, prompt: Prompt) -> Seat:
        """
        Returns the place of a prompt. A prompt from the queue, or one whose place was taken away, takes a free place.
        """
        while True:
            task = self._seats.get(prompt_id)
            if task is not None and task.done() and (task.cancelled() or task.result().left.is_set()):
                task = None
            if task is None:
                task = asyncio.get_running_loop().create_task(self._sit(prompt_id, None, prompt.domain))
                self._seats[prompt_id] = task
            seat = await asyncio.shield(task)
            if not seat.left.is_set():
                return seat

    async def _sit(self, prompt_id: str, seat: Seat | None, domain: str | None = None) -> Seat:
        while True:
            taken = seat or await self._free_seat()
            if domain is not None:
                taken.context.domain = domain
            try:
                if await taken.enter():
                    return taken
            except asyncio.CancelledError:
                taken.give(None)
                raise
            seat = None

    def _release(self, prompt_id: str) -> None:
        task = self._seats.pop(prompt_id, None)
        if task is None:
            return
        if task.done() and not task.cancelled():
            task.result().give(None)
        else:
            task.cancel()

    async def _or_end(self, future: asyncio.Future[Any], context: Context) -> Any:
        """
        Returns the result of a future, or None if ROLL shuts down. Raises errors of the rounds, which end the job.
        """
        assert self._driver is not None
        while not future.done():
            await asyncio.wait([future, self._driver], timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
            if _shuts_down(context):
                return None
            if self._driver.done():
                self._driver.result()
        return future.result()

    async def _end(self) -> None:
        self._free.put_nowait(None)
        if self.rollout is not None:
            await self.rollout.close()
        assert self._driver is not None
        # The driver may be waiting for a step, or for a server.
        self._driver.cancel()

    # State that ROLL's checkpoints lack.

    def _path(self, step: int) -> Path:
        assert self.state_dir is not None and self._latest is not None
        domains = "-".join(sorted(self._latest._scheduler.reward_clusters))
        return Path(self.state_dir) / f"{domains}-{step}.pickle"

    def _load(self) -> Any:
        if self.state_dir is None or not self._path(self._first_step - 1).exists():
            return None
        return pickle.loads(self._path(self._first_step - 1).read_bytes())

    def _save(self, step: int, checkpoint: Mapping[str, Any]) -> None:
        path = self._path(step)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".tmp")
        unfinished.write_bytes(pickle.dumps(checkpoint))
        os.replace(unfinished, path)
        self._path(step - self.kept_states).unlink(missing_ok=True)


def _shuts_down(context: Context) -> bool:
    return bool(context._scheduler.router_manager.need_shutdown)


def _roll(module: str) -> Any:
    return import_module(f"roll.distributed.scheduler.{module}")


if __name__ == "__main__":
    raise SystemExit(main(framework, configured))
