"""What clients of SGLang and vLLM share: requests over plain HTTP, whole or as a stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal

from ._http import Address, HttpError, call, request
from .engines import Engine, Generated, Prompt
from .host import GenerationFailed

_fault_of_the_prompt = (400, 413, 422)


class HttpEngine(Engine):
    """A server at a URL."""

    def __init__(
        self,
        url: str,
        *,
        engine_id: str | None = None,
        stream: bool = False,
        log_probs: bool = False,
        call_seconds: float = 10.0,
        poll_seconds: float = 0.5,
    ) -> None:
        super().__init__(engine_id or url, poll_seconds=poll_seconds)
        self.url = url
        self._address = Address.of(url)
        self._stream = stream
        self._log_probs = log_probs
        self._call_seconds = call_seconds

    async def is_healthy(self) -> bool:
        try:
            await call(self._address, "GET", "/health", timeout=self._call_seconds)
        except (OSError, HttpError, asyncio.TimeoutError):
            return False
        return True

    async def _generate(self, found: Generated, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> None:
        try:
            await self._ask(found, *self._question(request_id, prompt, sampling))
        except HttpError as error:
            kind: Literal["data", "infrastructure"] = "infrastructure"
            if error.status in _fault_of_the_prompt:
                kind = "data"
            raise GenerationFailed(f"{self.id}: {error}", kind) from error

    async def _ask(self, found: Generated, path: str, body: dict[str, Any]) -> None:
        async with request(self._address, "POST", path, body, connect_seconds=self._call_seconds) as answer:
            if answer.status >= 300:
                raise HttpError(answer.status, (await answer.body()).decode("utf-8", "replace"))
            if self._stream:
                await self._read_stream(found, answer.events())
            else:
                self._read(found, json.loads(await answer.body()))

    async def _read_stream(self, found: Generated, events: AsyncIterator[Any]) -> None:
        async for event in events:
            if isinstance(event, dict) and "error" in event:
                raise GenerationFailed(f"{self.id}: {event['error']}", "data")
            self._read(found, event)

    def _question(self, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        raise NotImplementedError

    def _read(self, found: Generated, answer: Any) -> None:
        """Takes an answer, or an event of a stream."""
        raise NotImplementedError
