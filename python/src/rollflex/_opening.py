"""Where the policies of a client are: in this process, or in a server, and how that is reached."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ._link import Link

Path_ = str | os.PathLike[str]


@dataclass(frozen=True)
class Reconnect:
    """
    Rules for connecting again. Delays double from the first to the longest, until the time limit. A call is sent a
    limited number of times, because a call that crashes the server must not do so for ever.
    """

    limit_seconds: float = 30.0
    first_delay_seconds: float = 0.05
    longest_delay_seconds: float = 2.0
    most_sendings: int = 5


@dataclass(frozen=True)
class Opening:
    """How to reach a server."""

    open: Callable[[float], Link]
    """Opens a link within so many seconds."""
    token: str | None
    restorable: bool
    """Whether the server's state still exists after a connection has broken."""
    timeout: float
    wait: float
    """Seconds for which the first connection is tried."""
    check_version: bool
    reconnect: Reconnect
    close_grace: float = 5.0


@dataclass(frozen=True)
class Embedding:
    """How the policies run in this process."""

    limits: Mapping[str, float] = field(default_factory=dict)
    memory_limit: int | None = None
    time_limit: float | None = None
    timeout: float = 60.0
    state_dir: str | None = None
    fsync: Literal["always", "interval"] = "always"
    log_dir: str | None = None
    snapshot_events: int = 10_000
    """After so many events of a session, a snapshot replaces its steps, as in a server."""
