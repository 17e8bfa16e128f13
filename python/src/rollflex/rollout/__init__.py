"""Policies in a trainer: the loop between a session and a framework, and clients of inference engines."""

from __future__ import annotations

from ._hf import HfEngine
from ._sglang import SglangEngine
from ._vllm import VllmEngine
from .engines import Engine, Generated
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
    composes,
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
    "HfEngine",
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
    "composes",
]
