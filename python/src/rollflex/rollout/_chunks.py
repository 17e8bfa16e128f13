"""Responses in chunks (``dividedRollout``): each chunk is a request of its own, where the policy says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from .engines import Generated
from .host import GenerationFailed, Launch, Response

Tell = Callable[[Mapping[str, Any]], None]
Once = Callable[["Launch[Any, Generated]", int], Awaitable["Response[Generated]"]]
_most_failures = 7
"""
Tries of a chunk after engine failures before the response fails: enough to cover the time until an engine is found
lost.
"""
limits = ("max_new_tokens", "max_tokens")
"""Names under which servers know the limit on new tokens."""


class Chunks:
    """Asks for engines, and continues each response from chunk to chunk. ``tell`` sends an event to the policy."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._asking: list[dict[str, Any]] = []
        self._given: dict[str, asyncio.Queue[Mapping[str, Any]]] = {}

    def decided(self, decision: Mapping[str, Any]) -> None:
        """Takes the policy's decisions, of which only ``chunk.continue`` concerns this class."""
        if decision["type"] == "chunk.continue" and decision["requestId"] in self._given:
            self._given[decision["requestId"]].put_nowait(decision)

    async def generate(
        self, launch: Launch[Any, Generated], prompt_tokens: int, sampling: Mapping[str, Any], once: Once
    ) -> Response[Generated]:
        """
        Generates one response. ``once`` generates a chunk with at most so many tokens. Raises
        :class:`~rollflex.rollout.GenerationFailed`.
        """
        most = next((sampling[name] for name in limits if name in sampling), None)
        if most is None:
            raise GenerationFailed(f"dividedRollout needs {' or '.join(limits)} in the sampling parameters", "setup")
        given = self._given[launch.request_id] = asyncio.Queue[Mapping[str, Any]]()
        failures = 0
        try:
            request = {"requestId": launch.request_id, "promptTokens": prompt_tokens, "maxTokens": most}
            self._ask({**request, "tokens": launch.resume_tokens})
            chunk = await given.get()
            while True:
                try:
                    response, chunk = await self._chunk(launch, chunk, given, once)
                except GenerationFailed as error:
                    if error.kind != "infrastructure" or failures == _most_failures:
                        raise
                    failures += 1
                    try:
                        # The engine may be lost; then the policy gives the chunk again.
                        chunk = await asyncio.wait_for(given.get(), 0.1 * 2**failures)
                    except asyncio.TimeoutError:
                        self._ask({**request, "tokens": launch.resume_tokens})
                        chunk = await given.get()
                    continue
                failures = 0
                # A chunk with fewer tokens than allowed has met a limit of the engine, such as the longest context.
                is_full = response.tokens - launch.resume_tokens >= chunk["tokens"]
                if response.body.finish != "length" or response.tokens >= most or not is_full:
                    return response
                launch = replace(launch, resume_from=response.body, resume_tokens=response.tokens)
                event = {"type": "chunk.finished", "requestId": launch.request_id, "tokens": response.tokens}
                self._tell(event)
                chunk = await given.get()
        finally:
            del self._given[launch.request_id]

    async def _chunk(
        self,
        launch: Launch[Any, Generated],
        chunk: Mapping[str, Any],
        given: asyncio.Queue[Mapping[str, Any]],
        once: Once,
    ) -> tuple[Response[Generated], Mapping[str, Any]]:
        """Generates a chunk, and starts it again if the policy gives it again because its engine is lost."""
        while True:
            running = asyncio.ensure_future(once(replace(launch, engine_id=chunk["engineId"]), chunk["tokens"]))
            again = asyncio.ensure_future(given.get())
            try:
                await asyncio.wait({running, again}, return_when=asyncio.FIRST_COMPLETED)
                if not again.done():
                    return await running, chunk
                chunk = again.result()
            finally:
                for task in (running, again):
                    task.cancel()
                await asyncio.gather(running, again, return_exceptions=True)

    def _ask(self, request: dict[str, Any]) -> None:
        self._asking.append(request)
        if len(self._asking) == 1:
            # Requests that are launched together ask together, so that the policy can choose the first.
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        requests, self._asking = self._asking, []
        # Requests that were cancelled meanwhile ask for nothing.
        here = [one for one in requests if one["requestId"] in self._given]
        if here:
            self._tell({"type": "chunks.requested", "requests": here})
