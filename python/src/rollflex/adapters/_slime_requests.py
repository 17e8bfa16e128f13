"""Requests of slime with ids of their own, so that each can be aborted alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from ..rollout._http import Address, call

logger = logging.getLogger("rollflex")
_abort_call_seconds = 5.0
_abort_again_seconds = 0.5
_tries_at_an_engine = 3

Post = Callable[..., Awaitable[Any]]
current: ContextVar[Requests | None] = ContextVar("rollflex_requests", default=None)


class Requests:
    """The requests that one response sends to engines: one, or one per turn."""

    def __init__(
        self,
        request_id: str,
        engine_url: str | None,
        workers: Callable[[], Awaitable[list[str]]],
        at_once: asyncio.Semaphore,
    ) -> None:
        self._request_id = request_id
        self._engine_url = engine_url
        self._workers = workers
        self._at_once = at_once
        self._live: dict[str, asyncio.Event] = {}
        self._made = 0
        self.aborted = False

    async def post(self, post: Post, url: str, payload: dict[str, Any], *args: Any, **options: Any) -> Any:
        """Sends a request under an id. After an abort nothing is sent any more: what asks again is told so."""
        if self.aborted:
            return _aborted_answer()
        self._made += 1
        # SGLang aborts all requests whose id begins with the given id, so no id may be the beginning of another.
        rid = f"{self._request_id}|" if self._made == 1 else f"{self._request_id}~{self._made}|"
        if self._engine_url is not None:
            url = f"{self._engine_url}/generate"
            if not args:
                options.setdefault("max_retries", _tries_at_an_engine)
        over = self._live[rid] = asyncio.Event()
        try:
            return await post(url, {**payload, "rid": rid}, *args, **options)
        finally:
            over.set()
            del self._live[rid]

    async def abort(self) -> bool:
        """Aborts the requests, again and again until they are gone. Returns False if no engine has been asked."""
        self.aborted = True
        if self._made == 0:
            return False
        while self._live:
            urls = [self._engine_url] if self._engine_url is not None else await self._workers()
            live = dict(self._live)
            await asyncio.gather(*(self._abort(url, rid) for url in urls for rid in live))
            for over in live.values():
                try:
                    await asyncio.wait_for(over.wait(), _abort_again_seconds)
                except asyncio.TimeoutError:
                    break
        return True

    async def _abort(self, url: str, rid: str) -> None:
        """An engine that does not know the request, or is dead, is none of our business."""
        async with self._at_once:
            try:
                await call(Address.of(url), "POST", "/abort_request", {"rid": rid}, timeout=_abort_call_seconds)
            except Exception as error:
                logger.info("%s did not take the abort of %s: %r", url, rid, error)


def _aborted_answer() -> dict[str, Any]:
    meta = {
        "finish_reason": {"type": "abort", "message": "aborted before it was sent"},
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "cached_tokens": 0,
        "output_token_logprobs": [],
    }
    return {"text": "", "output_ids": [], "meta_info": meta}


def with_ids(post: Post) -> Post:
    """Wraps slime's ``post`` so that requests of this adapter get an id. Other requests pass unchanged."""
    if getattr(post, "gives_ids", False):
        return post

    async def posted(url: str, payload: Any, *args: Any, **options: Any) -> Any:
        mine = current.get()
        if mine is None or not isinstance(payload, dict) or "rid" in payload or not url.endswith("/generate"):
            return await post(url, payload, *args, **options)
        return await mine.post(post, url, payload, *args, **options)

    posted.gives_ids = True  # type: ignore[attr-defined]
    return posted
