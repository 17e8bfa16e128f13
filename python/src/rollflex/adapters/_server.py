"""How adapters reach their server: from settings that may stand in a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import AsyncClient, Client, Reconnect
from ..aio import Starting


def client(server: Mapping[str, Any] | None) -> Client:
    """
    A client for the server at this `path`, or `host` and `port`; a server of its own if none is given.

    :param server: parameters of :meth:`rollflex.Client.connect`, and `reconnect_seconds` until it gives up
    """
    return Client.spawn() if server is None else Client.connect(**_parameters(server))


def async_client(server: Mapping[str, Any] | None) -> Starting:
    """The same for asyncio."""
    return AsyncClient.spawn() if server is None else AsyncClient.connect(**_parameters(server))


def _parameters(server: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {str(name): server[name] for name in server}
    seconds = parameters.pop("reconnect_seconds", None)
    if seconds is not None:
        parameters["reconnect"] = Reconnect(limit_seconds=float(seconds))
    return parameters
