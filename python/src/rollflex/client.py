"""The client for threads. Any number of them may share one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ._opening import Embedding, Opening
from ._sending import opened
from ._steps import all_sessions, call, planned
from ._threads import Session, Subscription, Threads
from ._typed import TypedClient

if TYPE_CHECKING:
    from .models.methods import RpcDiscoverResult, ServerInfoResult, SessionListResultSession

__all__ = ["Client", "Session", "Subscription"]


class Client(TypedClient, Threads["Client"]):
    """
    The policies: in this process (:meth:`embedded`, or no arguments), or in a server, which :meth:`spawn` starts and
    :meth:`connect` reaches.
    """

    def __init__(self, opening: Opening | Embedding | None = None, **options: NoReturn) -> None:
        super().__init__(opening, **options)
        try:
            self._core.ready.wait(None)
            self._core.ready.take()
        except BaseException:
            self._finalizer()
            raise

    @classmethod
    def _made(cls, opening: Callable[[], Opening | Embedding]) -> Client:
        return cls(opening())

    def _open(self, policy: str | None, options: dict[str, Any]) -> Session[Any, Any]:
        timeout = options.pop("timeout", None)
        return Session(self, self._run(opened(self._core, policy, options), timeout))

    def _plan(self, planner: str, input: Any, deadline: float | None, timeout: float | None) -> Any:
        return self._run(planned(self._core, planner, input, deadline), timeout)

    def sessions(self, *, timeout: float | None = None) -> list[SessionListResultSession]:
        """Returns the sessions of the server in the order of ids."""
        return self._run(all_sessions(self._core), timeout)

    def server_info(self, *, timeout: float | None = None) -> ServerInfoResult:
        """Version, policies and limits of the server."""
        return cast("ServerInfoResult", self._run(call(self._core, "server.info", {}), timeout))

    def discover(self, *, timeout: float | None = None) -> RpcDiscoverResult:
        """The OpenRPC document: methods, events, decisions and settings."""
        return cast("RpcDiscoverResult", self._run(call(self._core, "rpc.discover", {}), timeout))

    def call(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Calls a method by name. The call is not repeated if the connection breaks."""
        return self._run(call(self._core, method, params or {}, "never"), timeout)

    def close(self) -> None:
        """
        Closes the client, and a server or engine that was started for it. Sessions stay on a server that continues.
        """
        self._finalizer()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
