"""Inference engines: generate, abort one request, health."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Prompt = str | Sequence[int]
"""Text, or ids of tokens."""
Finish = Literal["stop", "length", "abort"]


@dataclass
class Generated:
    """What an engine has generated."""

    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    tokens: int = 0
    """Those that this request has generated."""
    finish: Finish | None = None
    """None while it runs."""
    log_probs: list[float] | None = None
    weight_version: str | None = None
    engine_id: str = ""


class Engine(ABC):
    """One engine. A subclass gives :meth:`_generate`, :meth:`_abort` and :meth:`is_healthy`."""

    def __init__(self, engine_id: str, *, poll_seconds: float = 0.5) -> None:
        self.id = engine_id
        self._poll_seconds = poll_seconds
        self._running: dict[str, asyncio.Event] = {}

    @property
    def load(self) -> int:
        """Requests of this client that run there."""
        return len(self._running)

    def running(self) -> list[str]:
        """Their ids."""
        return list(self._running)

    async def generate(self, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> Generated:
        """
        Generates one response; ``sampling`` is in the words of the engine. What was aborted ends with ``abort``, and
        has what was generated until then. May be cancelled. Raises :class:`~rollflex.rollout.GenerationFailed`.
        """
        if request_id in self._running:
            raise ValueError(f"request {request_id} runs already")
        over = self._running[request_id] = asyncio.Event()
        try:
            found = Generated(engine_id=self.id)
            await self._generate(found, request_id, prompt, sampling)
            return found
        finally:
            over.set()
            del self._running[request_id]

    async def abort(self, request_id: str) -> None:
        """Aborts one request, and asks again until it has ended: an engine may miss the first time."""
        over = self._running.get(request_id)
        while over is not None and not over.is_set():
            await self._abort(request_id)
            try:
                await asyncio.wait_for(over.wait(), self._poll_seconds)
            except asyncio.TimeoutError:
                continue

    @abstractmethod
    async def is_healthy(self) -> bool:
        """Whether it answers."""

    @abstractmethod
    async def _generate(self, found: Generated, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> None:
        """Writes what is generated into ``found``, until it has ended."""

    @abstractmethod
    async def _abort(self, request_id: str) -> None:
        """Asks once for the end of a request."""
