"""Where the policies of adapters run: in the process, or in a server that settings name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import AsyncClient, Client, Reconnect
from ..aio import Starting


def client(server: Mapping[str, Any] | None) -> Client:
    """
    A client for the server at this `path`, or `host` and `port`; if none is given, with the policies in this process.

    :param server: parameters of :meth:`rollflex.Client.connect`, and `reconnect_seconds` until it gives up
    """
    return Client.embedded() if server is None else Client.connect(**_parameters(server))


def async_client(server: Mapping[str, Any] | None) -> Starting:
    """The same for asyncio."""
    return AsyncClient.embedded() if server is None else AsyncClient.connect(**_parameters(server))


def _parameters(server: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {str(name): server[name] for name in server}
    seconds = parameters.pop("reconnect_seconds", None)
    if seconds is not None:
        parameters["reconnect"] = Reconnect(limit_seconds=float(seconds))
    return parameters
