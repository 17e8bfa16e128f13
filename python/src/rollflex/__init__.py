"""rollflex: scheduling policies for RL post-training, in this process or in a server."""

from __future__ import annotations

from ._command import server_command
from ._opening import Reconnect
from ._options import Untyped
from ._version import __version__
from .aio import AsyncClient, AsyncSession, AsyncSubscription
from .client import Client, Session, Subscription
from .errors import (
    CallTimeout,
    ClientClosed,
    ConnectionLost,
    EngineLimit,
    EngineUnavailable,
    NodeNotFound,
    NodeTooOld,
    PolicyError,
    PolicyErrorCode,
    ProtocolError,
    RollflexError,
    ServerUnavailable,
    SessionLost,
    UnansweredCall,
    VersionMismatch,
)

__all__ = [
    "AsyncClient",
    "AsyncSession",
    "AsyncSubscription",
    "CallTimeout",
    "Client",
    "ClientClosed",
    "ConnectionLost",
    "EngineLimit",
    "EngineUnavailable",
    "NodeNotFound",
    "NodeTooOld",
    "PolicyError",
    "PolicyErrorCode",
    "ProtocolError",
    "Reconnect",
    "RollflexError",
    "ServerUnavailable",
    "Session",
    "SessionLost",
    "Subscription",
    "UnansweredCall",
    "Untyped",
    "VersionMismatch",
    "__version__",
    "server_command",
]
