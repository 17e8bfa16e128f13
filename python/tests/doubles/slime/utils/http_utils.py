"""Calls of the router and of engines."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from rollflex.rollout._http import Address, HttpError, request


def init_http_client(args: Any) -> None:
    """The real one opens a pool of connections."""


def get_rollout_num_engines(args: Any) -> int:
    return int(args.rollout_num_engines)


async def post(url: str, payload: Any, max_retries: int = 60, headers: Any = None) -> Any:
    tried = 0
    while True:
        tried += 1
        try:
            return await _ask("POST", url, payload)
        except Exception:
            if tried >= max_retries:
                raise
            await asyncio.sleep(1)


async def get(url: str) -> Any:
    return await _ask("GET", url, None)


async def _ask(method: str, url: str, payload: Any) -> Any:
    address = Address.of(url)
    base = Address(address.host, address.port, "", False)
    path = url.split("//", 1)[1].partition("/")[2]
    async with request(base, method, f"/{path}", payload) as answer:
        content = await answer.body()
        if answer.status >= 300:
            raise HttpError(answer.status, content.decode(), url)
        return json.loads(content) if content else ""
