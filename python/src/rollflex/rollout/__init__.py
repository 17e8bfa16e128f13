"""Policies in a trainer: the loop between a session and a framework, and clients of inference engines."""

from __future__ import annotations

from .host import (
    Dropped,
    GenerationFailed,
    Group,
    Host,
    Launch,
    PolicyUnavailable,
    Response,
    Round,
    Sample,
    Supplied,
)
from .rollout import Rollout

__all__ = [
    "Dropped",
    "GenerationFailed",
    "Group",
    "Host",
    "Launch",
    "PolicyUnavailable",
    "Response",
    "Rollout",
    "Round",
    "Sample",
    "Supplied",
]
