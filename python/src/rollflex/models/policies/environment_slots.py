# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Gives environments, such as sandboxes, to programs: started ahead, taken back from tools that never answer."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.session import TimerSet
from ..decisions.slots import (
    SlotAssign, SlotDenied, SlotExpired, SlotLate, SlotPrewarm, SlotReclaim, SlotsRecovered, SlotsSuspended,
)
from ..events.programs import ProgramClosed, ToolFinished, ToolStarted
from ..events.session import HostRestarted, TimerFired
from ..events.slots import SlotFailed, SlotReady, SlotReleased, SlotRequested, SlotsChanged


class _EnvironmentSlotsConfig1(TypedDict):
    """Settings that `environment-slots` shares with `agentic-rollout`."""

    slots: NotRequired[Mapping[str, int]]
    """Most environments of each kind at the start; `slots.changed` replaces them. Default: {}."""
    toolTimeoutFactor: NotRequired[float]
    """λ: a tool may take this many times its longest answer so far, and a start as many times the longest start. Number
    1 to 1000. Default: 4."""
    minToolTimeoutSeconds: NotRequired[float]
    """Tmin: no tool, and no start, is given less, in seconds. Number ≥ 0. Default: 60."""
    maxToolTimeoutSeconds: NotRequired[float]
    """Tmax: no tool is given more; also the time of a tool that has not answered yet, in seconds, > 0 and at most a
    day. Number > 0. Default: 1800."""
    toolExploreEvery: NotRequired[int]
    """Every so many runs of a tool one is given Tmax, so that its limit can rise; 0: none. Whole number ≥ 0. Default:
    16."""
    maxStartSeconds: NotRequired[float]
    """The most that the start of an environment may take, in seconds, > 0 and at most a day. Number > 0. Default:
    600."""
    endGraceSeconds: NotRequired[float]
    """Seconds until an environment whose end is not confirmed counts as gone. Number > 0. Default: 60."""
    maxIdleSeconds: NotRequired[float]
    """The most that an environment without a program is kept for the next, in seconds; less where that did not pay.
    Number > 0. Default: 600."""
    suspendAfter: NotRequired[int]
    """Environments of a kind that fail one after the other until no more are started. Whole number ≥ 1. Default: 5."""
    retrySeconds: NotRequired[float]
    """Seconds until an environment of a suspended kind is tried; twice as long after each failure. Number > 0. Default:
    10."""
    maxRetrySeconds: NotRequired[float]
    """The longest time between two such tries, in seconds. Number > 0. Default: 600."""


class EnvironmentSlotsConfig(_EnvironmentSlotsConfig1):
    """Configuration of `environment-slots`."""

    retries: NotRequired[int]
    """How many environments of a program may fail before it gets no other. Whole number ≥ 0. Default: 2."""
    idPrefix: NotRequired[str]
    """Prefix of every slot id; new after each restart of the host. String ≤ 128. Default: ""."""


EnvironmentSlotsEvent: TypeAlias = Union[
    SlotsChanged, SlotRequested, SlotReady, SlotFailed, SlotReleased, ProgramClosed, ToolStarted, ToolFinished,
    TimerFired, HostRestarted,
]
"""What `environment-slots` is told."""


EnvironmentSlotsCommand: TypeAlias = Union[
    SlotPrewarm, SlotAssign, SlotReclaim, TimerSet,
]
"""Decisions of `environment-slots` that a host must carry out."""


EnvironmentSlotsNotice: TypeAlias = Union[
    SlotDenied, SlotsSuspended, SlotsRecovered, SlotExpired, SlotLate,
]
"""Decisions of `environment-slots` that a host may read."""


EnvironmentSlotsDecision: TypeAlias = Union[
    SlotPrewarm, SlotAssign, SlotReclaim, SlotDenied, SlotsSuspended, SlotsRecovered, SlotExpired, SlotLate, TimerSet,
]
"""What `environment-slots` answers."""


class EnvironmentSlotsSnapshot(AnySnapshot):
    """State of `environment-slots`: what `open(snapshot=…)` takes."""

    policy: Literal["environment-slots"]
    config: EnvironmentSlotsConfig
