"""Places of ROLL's replay buffer: one call of `process_new_prompt` each, in which one prompt is generated."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Coroutine
from typing import Any, Protocol

_AGAIN_SECONDS = 0.2


class Context(Protocol):
    """The part of `RolloutContext` that is used."""

    prompt_id: int
    meta_info: dict[str, Any]
    pipeline_config: Any
    is_val: bool
    is_num_return_sequences_expand: bool
    domain: str | None
    sampling_start_step: Any
    got_data: bool
    _in_do_generate_and_reward: bool
    _scheduler: Any

    def get_request_data(self, meta_info: dict[str, Any]) -> tuple[Any, str]: ...
    async def generate(self, req: Any, domain: str) -> Any: ...
    async def compute_rewards(self, req: Any, domain: str) -> Any: ...


class Stopped(Exception):
    """The policy has aborted the request."""


class Seat:
    """A place in ROLL that waits for a prompt, has a prompt, or is gone."""

    def __init__(self, context: Context) -> None:
        loop = asyncio.get_running_loop()
        self.context = context
        self.assigned: asyncio.Future[bool] = loop.create_future()
        self.entered = asyncio.Event()
        self.outcome: asyncio.Future[Any] = loop.create_future()
        """Responses for the replay buffer, or None."""
        self.left = asyncio.Event()
        self.requests: set[asyncio.Task[Any]] = set()

    async def enter(self) -> bool:
        """Gives the place a prompt; returns False if the place was gone before."""
        if not self.assigned.done():
            self.assigned.set_result(True)
        waits = [asyncio.ensure_future(one.wait()) for one in (self.entered, self.left)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
        return not self.left.is_set()

    def give(self, responses: Any) -> None:
        if not self.outcome.done():
            self.outcome.set_result(responses)

    async def stop(self) -> None:
        """ROLL takes no place back while requests run in it."""
        for task in self.requests:
            task.cancel()
        await asyncio.gather(*self.requests, return_exceptions=True)

    def leave(self) -> None:
        self.left.set()


class Request:
    """
    A `RolloutContext` for a single request, which knows the generated tokens and can be aborted alone. ROLL's
    `abort_running_requests` does not await its call, so it aborts nothing.
    """

    def __init__(self, seat: Seat) -> None:
        self.tokens = 0
        self._seat = seat
        self._context = seat.context
        self._aborted = False
        self._engine_id: str | None = None
        self._task: asyncio.Task[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Returns the result of the work; None if the place is taken away meanwhile."""
        task = self._task = asyncio.get_running_loop().create_task(work)
        self._seat.requests.add(task)
        task.add_done_callback(self._seat.requests.discard)
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
            raise
        return None if task.cancelled() else task.result()

    async def generate(self, req: Any, domain: str) -> Any:
        if self._aborted:
            raise Stopped
        started = asyncio.ensure_future(self._context.generate(req=req, domain=domain))
        try:
            # The request gets its id before it waits for anything.
            await asyncio.sleep(0)
            self._engine_id = req.meta_info.get("request_id")
            data = await started
        finally:
            self._engine_id = None
            if not started.done():
                started.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await started
        if data is not None:
            self.tokens += sum(len(one) for one in data.meta_info.get("output_token_ids") or [])
            if self._aborted and not _roll_router().is_report_data_finished(data):
                raise Stopped
        return data

    async def compute_rewards(self, req: Any, domain: str) -> Any:
        if self._aborted:
            raise Stopped
        return await self._context.compute_rewards(req=req, domain=domain)

    async def abort(self) -> None:
        """
        Aborts until the request has ended: a request that waits for a worker reaches the engine only after the first
        abort.
        """
        self._aborted = True
        manager = self._context._scheduler.router_manager
        while self._task is not None and not self._task.done():
            if self._engine_id is not None:
                # The router knows a prompt only after its first request.
                with contextlib.suppress(KeyError):
                    aborting: Awaitable[Any] = manager.abort_requests(
                        request_ids=[self._engine_id], uid=self._context.prompt_id
                    )
                    await aborting
            await asyncio.wait([self._task], timeout=_AGAIN_SECONDS)


def _roll_router() -> Any:
    from importlib import import_module

    return import_module("roll.distributed.scheduler.router")
