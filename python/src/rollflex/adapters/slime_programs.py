"""
Which engine runs each turn of an agent in slime, and which turns wait: ``--custom-generate-function-path
rollflex.adapters.slime_programs.generate``, around your own function. Follows slime at commit 624b824.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any

from slime.rollout import sglang_rollout
from slime.utils import http_utils
from slime.utils.misc import load_function

from ..rollout._http import Address, HttpError, call
from ._check_slime import server_of
from ._programs import Programs

logger = logging.getLogger("rollflex")
_tries = 3
_look_seconds = 2.0
_health_seconds = 5.0
_program: ContextVar[str | None] = ContextVar("rollflex_program", default=None)
_turns: dict[int, _Turns] = {}


async def generate(args: Any, sample: Any, sampling_params: dict[str, Any], evaluation: bool = False) -> Any:
    """
    Generates one trajectory, as a program whose turns are your function's posts to ``/generate``. Your function is
    ``args.rollflex_generate``, by its path; slime's own if there is none. ``args.rollflex_programs`` are settings of
    `program-scheduling`, ``args.rollflex_server`` is as for :mod:`rollflex.adapters.slime`.
    """
    turns = _turns_of(args)
    path = getattr(args, "rollflex_generate", None)
    own: Callable[..., Awaitable[Any]] = sglang_rollout.generate if path is None else load_function(path)
    takes = inspect.signature(own).parameters
    more = {"evaluation": evaluation} if "evaluation" in takes else {}
    name = f"{sample.index}-{uuid.uuid4()}"
    token = _program.set(name)
    try:
        return await own(args, sample, sampling_params, **more)
    finally:
        _program.reset(token)
        turns.programs.close(name)


class _Turns:
    """The turns of a job, and the engines behind its router."""

    def __init__(self, args: Any) -> None:
        self._router = Address.of(f"http://{args.sglang_router_ip}:{args.sglang_router_port}")
        self.programs = Programs(getattr(args, "rollflex_programs", None) or {}, server=server_of(args))
        self._looked_at = float("-inf")
        self._looking = asyncio.Lock()

    async def post(
        self, post: Callable[..., Awaitable[Any]], name: str, payload: Any, *args: Any, **options: Any
    ) -> Any:
        """Sends a turn to the engine that the policy chooses; to another engine if that is gone."""
        await self._look()
        tokens = _context_tokens(payload)
        engine = await self.programs.turn(name, tokens)
        meta: Mapping[str, Any] = {}
        if not args:
            # The adapter decides whether and where a turn is tried again.
            options["max_retries"] = 1
        try:
            for tries in range(1, _tries + 1):
                try:
                    output = await post(f"{engine}/generate", payload, *args, **options)
                    meta = output.get("meta_info", {}) if isinstance(output, dict) else {}
                    return output
                except Exception:
                    if not await _is_healthy(engine):
                        logger.warning("engine %s is gone", engine)
                        self.programs.lost([engine])
                    if tries == _tries:
                        raise
                engine = await self.programs.again(name, engine, tokens)
        finally:
            self.programs.finished(name, meta.get("completion_tokens", 0), meta.get("cached_tokens"))

    async def _look(self) -> None:
        """Reads which engines the router has, and their load."""
        async with self._looking:
            if time.monotonic() < self._looked_at + _look_seconds:
                return
            answer = await call(self._router, "GET", "/workers", timeout=30)
            urls = {one["url"].rstrip("/") for one in answer["workers"]}
            loads = await asyncio.gather(*(_load(url) for url in urls))
            there = {url: load for url, load in zip(urls, loads, strict=True) if load is not None}
            self.programs.lost(set(self.programs.engines) - set(there))
            self.programs.added(there.keys())
            for url, load in there.items():
                self.programs.reported(url, load)
            self._looked_at = time.monotonic()


def _turns_of(args: Any) -> _Turns:
    """Returns the turns of a job, which all run in the same event loop."""
    loop = asyncio.get_running_loop()
    known = _turns.get(id(loop))
    if known is None:
        http_utils.post = _placed(http_utils.post)
        sglang_rollout.post = _placed(sglang_rollout.post)
        known = _turns[id(loop)] = _Turns(args)
    return known


def _placed(post: Any) -> Any:
    """Wraps slime's ``post`` so that turns of programs go to the policy's engine. Other requests pass unchanged."""
    if getattr(post, "places_turns", False):
        return post

    async def posted(url: str, payload: Any, *args: Any, **options: Any) -> Any:
        name = _program.get()
        if name is None or not url.endswith("/generate"):
            return await post(url, payload, *args, **options)
        return await _turns[id(asyncio.get_running_loop())].post(post, name, payload, *args, **options)

    posted.places_turns = True  # type: ignore[attr-defined]
    return posted


def _context_tokens(payload: Mapping[str, Any]) -> int:
    """Context tokens of a request; four characters of a text count as a token."""
    ids = payload.get("input_ids")
    return len(ids) if ids is not None else -(-len(payload.get("text") or "") // 4)


async def _load(url: str) -> dict[str, int] | None:
    """Returns the load of an engine; None without an answer."""
    try:
        answer = await call(Address.of(url), "GET", "/v1/loads?include=core", timeout=_health_seconds)
    except (OSError, HttpError, asyncio.TimeoutError):
        return None
    names = {
        "kvCapacityTokens": "max_total_num_tokens",
        "kvUsedTokens": "num_used_tokens",
        "running": "num_running_reqs",
        "waiting": "num_waiting_reqs",
    }
    return {**{ours: sum(one[name] for one in answer["loads"]) for ours, name in names.items()}, "preemptions": 0}


async def _is_healthy(url: str) -> bool:
    return await _load(url) is not None
