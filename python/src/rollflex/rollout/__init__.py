"""Policies in a trainer: the loop between a session and a framework, and clients of inference engines."""

from __future__ import annotations

from .engines import Engine, Generated, SglangEngine, VllmEngine
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
from .pool import EngineHost, EnginePool
from .rollout import Rollout

__all__ = [
    "Dropped",
    "Engine",
    "EngineHost",
    "EnginePool",
    "Generated",
    "GenerationFailed",
    "Group",
    "Host",
    "Launch",
    "PolicyUnavailable",
    "Response",
    "Rollout",
    "Round",
    "Sample",
    "SglangEngine",
    "Supplied",
    "VllmEngine",
]
