"""
rollflex on Ray: one policy server for a job on many machines, which survives the death of its node.

Needs Ray 2.60 or newer: ``pip install 'rollflex[ray]'``.
"""

from __future__ import annotations

try:
    import ray as _ray  # noqa: F401
except ImportError as error:
    raise ImportError("rollflex.ray needs Ray: pip install 'rollflex[ray]'") from error

from ._make import get_or_create
from .actor import RollflexActor
from .aio import AsyncRaySession, AsyncRaySubscription, AsyncRollflexHandle
from .handle import RaySession, RaySubscription, RollflexHandle
from .reporter import Reporter

__all__ = [
    "AsyncRaySession",
    "AsyncRaySubscription",
    "AsyncRollflexHandle",
    "RaySession",
    "RaySubscription",
    "Reporter",
    "RollflexActor",
    "RollflexHandle",
    "get_or_create",
]
