# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decides which multi-turn programs run, by a token budget of each engine, and where each turn runs, by expected time."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.programs import (
    EngineFreed, KvRetain, ProgramAwaited, ProgramEnded, ProgramLate, ProgramPause, ProgramResume, TurnRoute,
)
from ..decisions.session import TimerSet
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.engines import EngineAdded, EngineDrained, EngineLost, EngineReported, EnginesChanged
from ..events.programs import ProgramClosed, ProgramOpened, ToolFinished, ToolStarted, TurnFinished, TurnRequested
from ..events.requests import ResponseCompleted, ResponseFailed
from ..events.session import HostRestarted, TimerFired


class ProgramSchedulingConfigDecode(TypedDict):
    """How long an engine takes to generate a token for each of its turns. The order of magnitude is enough."""

    stepSeconds: NotRequired[float]
    """Seconds of a step, whatever runs. Number ≥ 0. Default: 0.01."""
    sequenceSeconds: NotRequired[float]
    """Seconds that each running turn adds to a step. Number ≥ 0. Default: 0.0002."""
    contextTokenSeconds: NotRequired[float]
    """Seconds that each token in the contexts of running turns adds to a step. Number ≥ 0. Default: 3e-8."""


class ProgramSchedulingConfig(TypedDict):
    """Configuration of `program-scheduling`."""

    kvCapacityTokens: NotRequired[int]
    """Tokens that fit the KV cache of an engine, until it reports its own number. Whole number ≥ 1. Default: 400000."""
    budgetShare: NotRequired[float]
    """Part of its KV cache that the programs of an engine may fill. Number 0.05 to 1. Default: 0.95."""
    maxPauseSeconds: NotRequired[float]
    """No program is held back or paused for longer, in seconds, while there is an engine. Number > 0. Default: 1800."""
    prefillTokensPerSecond: NotRequired[float]
    """Tokens of a context that an engine reads in a second. The order of magnitude is enough. Number ≥ 1. Default:
    10000."""
    tailSlowdown: NotRequired[float]
    """How many times as long as alone on an engine a turn may take where the last programs are packed onto few engines,
    so that others become free; absent: none is freed. Number 1 to 100."""
    decode: NotRequired[ProgramSchedulingConfigDecode]
    """How long an engine takes to generate a token for each of its turns. The order of magnitude is enough. Default:
    {}."""


ProgramSchedulingEvent: TypeAlias = Union[
    ProgramOpened, ProgramClosed, TurnRequested, TurnFinished, ToolStarted, ToolFinished, ResponseCompleted,
    ResponseFailed, EngineAdded, EngineDrained, EngineLost, EnginesChanged, EngineReported, TimerFired, HostRestarted,
]
"""What `program-scheduling` is told."""


ProgramSchedulingCommand: TypeAlias = Union[
    TurnRoute, ProgramPause, ProgramResume, KvRetain, TimerSet,
]
"""Decisions of `program-scheduling` that a host must carry out."""


ProgramSchedulingNotice: TypeAlias = Union[
    EngineFreed, ProgramAwaited, ProgramEnded, ProgramLate, TriesSuspended, TriesRecovered,
]
"""Decisions of `program-scheduling` that a host may read."""


ProgramSchedulingDecision: TypeAlias = Union[
    TurnRoute, ProgramPause, ProgramResume, KvRetain, EngineFreed, ProgramAwaited, ProgramEnded, ProgramLate,
    TriesSuspended, TriesRecovered, TimerSet,
]
"""What `program-scheduling` answers."""


class ProgramSchedulingSnapshot(AnySnapshot):
    """State of `program-scheduling`: what `open(snapshot=…)` takes."""

    policy: Literal["program-scheduling"]
    config: ProgramSchedulingConfig
