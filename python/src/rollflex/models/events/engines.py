# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: engines."""

from collections.abc import Sequence
from typing import Literal

from .._typing import NotRequired, TypedDict


class EngineAdded(TypedDict):
    """An inference engine takes requests. May be repeated."""

    type: Literal["engine.added"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""


class EngineDrained(TypedDict):
    """An engine finishes what it has and takes nothing new."""

    type: Literal["engine.drained"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""


class EngineLost(TypedDict):
    """An engine is gone, with all requests that ran on it: they need no reports of their own."""

    type: Literal["engine.lost"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""


class EnginesChanged(TypedDict):
    """From now on these engines take requests, and no others: those that are not named finish what they have."""

    type: Literal["engines.changed"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

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
    """What its KV cache holds, in tokens; this, or bytes. Whole number ≥ 1."""

    kvCapacityBytes: NotRequired[int]
    """What its KV cache holds, in bytes; this, or tokens. Whole number ≥ 1."""


class EnginesPlaced(TypedDict):
    """
    From now on these engines roll out, all of them up, on these GPUs; what was said of engines before is
    replaced.
    """

    type: Literal["engines.placed"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    engines: Sequence[EnginesPlacedEngine]
    """Every engine that rolls out, each once."""
