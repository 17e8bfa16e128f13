"""An inference engine on a node of its own: it generates for as long as a real one would, scaled down."""

from __future__ import annotations

import asyncio

from rollflex.ray import Reporter, RollflexHandle


class Engine:
    """An async actor. Generation never waits for the policy: reports are put down, and sent behind its back."""

    def __init__(self, engine_id: str, seconds_per_token: float) -> None:
        self.engine_id = engine_id
        self.seconds_per_token = seconds_per_token
        self.running: dict[str, tuple[asyncio.Task[None], float]] = {}
        self.reported = 0

    async def start(self, policy: RollflexHandle, session: str) -> None:
        # The handle is all that a worker needs. Its events count as those of one producer.
        opened = await asyncio.to_thread(
            policy.open, "tail-batching", session=session, on_existing="attach", producer=self.engine_id
        )
        self.reporter = Reporter(opened)
        self.report({"type": "engine.added", "engineId": self.engine_id})

    async def launch(self, requests: list[tuple[str, int]]) -> None:
        now = asyncio.get_running_loop().time()
        for request_id, tokens in requests:
            self.running[request_id] = (asyncio.create_task(self.generate(request_id, tokens)), now)

    async def abort(self, request_ids: list[str]) -> None:
        now = asyncio.get_running_loop().time()
        for request_id in request_ids:
            # One that has been completed meanwhile is not aborted any more.
            if request_id in self.running:
                task, since = self.running.pop(request_id)
                task.cancel()
                tokens = int((now - since) / self.seconds_per_token)
                self.report({"type": "request.aborted", "requestId": request_id, "tokens": tokens})

    async def generate(self, request_id: str, tokens: int) -> None:
        await asyncio.sleep(tokens * self.seconds_per_token)
        del self.running[request_id]
        self.report({"type": "response.completed", "requestId": request_id, "tokens": tokens})

    async def finish(self) -> int:
        """How many events it has reported, once the policy has all of them."""
        await asyncio.to_thread(self.reporter.close)
        return self.reported

    async def until_death(self) -> None:
        """Has no answer: a caller who waits for it is told when the engine is gone."""
        await asyncio.Event().wait()

    def report(self, event: dict[str, object]) -> None:
        self.reporter.report(event)
        self.reported += 1
