"""How a server is reached, and how a broken connection is made again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ._link import Link


@dataclass(frozen=True)
class Reconnect:
    """
    How a broken connection is made again: delays double from the first to the longest, until the limit. A call is sent
    so many times at most: one that ends the server each time it comes must not do so for ever.
    """

    limit_seconds: float = 30.0
    first_delay_seconds: float = 0.05
    longest_delay_seconds: float = 2.0
    most_sendings: int = 5


@dataclass(frozen=True)
class Opening:
    """How a server is reached."""

    open: Callable[[float], Link]
    """Opens a link, in so many seconds."""
    token: str | None
    restorable: bool
    """Whether there is still a state to come back to when a connection has broken."""
    timeout: float
    wait: float
    """How long the first connection is tried."""
    check_version: bool
    reconnect: Reconnect
    close_grace: float = 5.0
