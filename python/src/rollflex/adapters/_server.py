"""Where the policies of adapters run: in the process, or in a server that settings name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import AsyncClient, Client, Reconnect
from ..aio import Starting


def client(server: Mapping[str, Any] | None) -> Client:
    """
    Makes a client for the server at `path`, or at `host` and `port`; without an address, the policies run in this
    process.

    :param server: parameters of :meth:`rollflex.Client.connect`, and `reconnect_seconds` until it gives up
    """
    return Client.embedded() if server is None else Client.connect(**_parameters(server))


def async_client(server: Mapping[str, Any] | None) -> Starting:
    """Makes the same client for asyncio."""
    return AsyncClient.embedded() if server is None else AsyncClient.connect(**_parameters(server))


def _parameters(server: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {str(name): server[name] for name in server}
    seconds = parameters.pop("reconnect_seconds", None)
    if seconds is not None:
        parameters["reconnect"] = Reconnect(limit_seconds=float(seconds))
    return parameters
