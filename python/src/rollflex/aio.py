"""The client for asyncio: the same names as in :mod:`rollflex.client`. One client belongs to one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, cast

from ._opening import Embedding, Opening
from ._sending import opened
from ._steps import all_sessions, call, planned
from ._tasks import AsyncSession, AsyncSubscription, Tasks, ended
from ._typed import TypedAsyncClient

if TYPE_CHECKING:
    from .models.methods import RpcDiscoverResult, ServerInfoResult, SessionListResultSession

__all__ = ["AsyncClient", "AsyncSession", "AsyncSubscription", "Starting"]


class Starting:
    """A client in the making: ``await`` it, or use it as ``async with``."""

    def __init__(self, opening: Callable[[], Opening | Embedding]) -> None:
        self._opening = opening
        self._client: AsyncClient | None = None

    def __await__(self) -> Generator[Any, None, AsyncClient]:
        return self._start().__await__()

    async def __aenter__(self) -> AsyncClient:
        return await self._start()

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.close()

    async def _start(self) -> AsyncClient:
        # Looking for Node.js takes time, and so may the disk, so this runs in a thread.
        client = AsyncClient(await asyncio.to_thread(self._opening))
        try:
            await client._ready()
        except BaseException:
            await client.close()
            raise
        self._client = client
        return client


class AsyncClient(TypedAsyncClient, Tasks[Starting]):
    """
    The policies: in this process (:meth:`embedded`, or no arguments), or in a server, which :meth:`spawn` starts and
    :meth:`connect` reaches.
    """

    @classmethod
    def _made(cls, opening: Callable[[], Opening | Embedding]) -> Starting:
        return Starting(opening)

    async def _open(self, policy: str | None, options: dict[str, Any]) -> AsyncSession[Any, Any]:
        timeout = options.pop("timeout", None)
        return AsyncSession(self, await self._run(opened(self._core, policy, options), timeout))

    async def _plan(self, planner: str, input: Any, deadline: float | None, timeout: float | None) -> Any:
        return await self._run(planned(self._core, planner, input, deadline), timeout)

    async def sessions(self, *, timeout: float | None = None) -> list[SessionListResultSession]:
        """Returns the sessions of the server in the order of ids."""
        return await self._run(all_sessions(self._core), timeout)

    async def server_info(self, *, timeout: float | None = None) -> ServerInfoResult:
        """Version, policies and limits of the server."""
        return cast("ServerInfoResult", await self._run(call(self._core, "server.info", {}), timeout))

    async def discover(self, *, timeout: float | None = None) -> RpcDiscoverResult:
        """The OpenRPC document: methods, events, decisions and settings."""
        return cast("RpcDiscoverResult", await self._run(call(self._core, "rpc.discover", {}), timeout))

    async def call(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Calls a method by name. The call is not repeated if the connection breaks."""
        return await self._run(call(self._core, method, params or {}, "never"), timeout)

    async def close(self) -> None:
        """
        Closes the client, and a server or engine that was started for it. Sessions stay on a server that continues.
        """
        await asyncio.to_thread(self._finalizer)

    async def __aenter__(self) -> AsyncClient:
        await self._ready()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ready(self) -> None:
        await ended(self._core.ready, None)
        self._core.ready.take()
