# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: engines."""

from collections.abc import Sequence
from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired, TypedDict


class EngineAdded(AnyEvent):
    """An inference engine takes requests. May be repeated."""

    type: Literal["engine.added"]
    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""


class EngineDrained(AnyEvent):
    """An engine finishes what it has and takes nothing new."""

    type: Literal["engine.drained"]
    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""


class EngineLost(AnyEvent):
    """An engine is gone, with all requests that ran on it: they need no reports of their own."""

    type: Literal["engine.lost"]
    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""


class EngineReported(AnyEvent):
    """How much an engine has to do, as it tells itself, such as in its metrics."""

    type: Literal["engine.reported"]
    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""
    kvCapacityTokens: int
    """Tokens that fit its KV cache. Whole number 0 to 1000000000000."""
    kvUsedTokens: int
    """Tokens of running requests in its KV cache. Whole number 0 to 1000000000000."""
    running: int
    """Requests that run. Whole number ≥ 0."""
    waiting: int
    """Requests that wait for their first token. Whole number ≥ 0."""
    preemptions: int
    """Requests that were preempted since the engine started. Whole number ≥ 0."""
    cachedTokens: NotRequired[int]
    """Tokens of no running request that its prefix cache keeps. Whole number 0 to 1000000000000."""


class EnginesChanged(AnyEvent):
    """From now on these engines take requests, and no others: those that are not named finish what they have."""

    type: Literal["engines.changed"]
    engineIds: Sequence[str]
    """Every engine that takes requests, each once."""


class EnginesPlacedEngine(TypedDict):
    """An engine with its server, its GPUs and the size of its KV cache."""

    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""
    serverId: str
    """The server that its GPUs are in. String ≤ 512."""
    gpuIds: Sequence[str]
    """The GPUs of its tensor-parallel group."""
    kvCapacityTokens: NotRequired[int]
    """What its KV cache holds, in tokens; this, or bytes. Whole number 1 to 1000000000000."""
    kvCapacityBytes: NotRequired[int]
    """What its KV cache holds, in bytes; this, or tokens. Whole number ≥ 1."""


class EnginesPlaced(AnyEvent):
    """From now on these engines roll out, all of them up, on these GPUs; what was said of engines before is
    replaced."""

    type: Literal["engines.placed"]
    engines: Sequence[EnginesPlacedEngine]
    """Every engine that rolls out, each once."""
