# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Admits the requests of at most F_w groups at once, lowest order first."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.frontier import (
    FrontierResized, FrontierStarved, GroupLeft, RequestAdmit, RequestAwaited, RequestDeferred, RequestDropped,
)
from ..decisions.prompts import PromptCollected, PromptDeferred, PromptFailed
from ..decisions.requests import (
    RequestAbort, RequestLaunch, ResponseAbandoned, ResponseDropped, ResponseLate, ResponseSurplus,
)
from ..decisions.rounds import RoundCompleted
from ..events.frontier import RequestArrived
from ..events.requests import RequestAborted, ResponseCompleted, ResponseFailed
from ..events.rounds import RoundFailed
from ..events.session import HostRestarted
from ..events.training import TrainConsumed


class _FrontierGroupDispatchConfig1(TypedDict):
    """Settings that `frontier-group-dispatch` shares with `rolloutpipe`, `tail-pipelining`."""

    startRequests: NotRequired[int]
    """Requests that `auto` keeps in service while nothing is known of the engines. Whole number ≥ 1. Default: 96."""
    starvedShare: NotRequired[float]
    """Share of its time that the trainer must wait, while groups are deferred, for a `frontier.starved`. Number > 0.
    Default: 0.2."""


class FrontierGroupDispatchConfig(_FrontierGroupDispatchConfig1):
    """Configuration of `frontier-group-dispatch`."""

    responsesPerPrompt: int
    """K: requests of a group; it has left when that many have ended. Whole number ≥ 1."""
    width: int | Literal["auto"]
    """F_w: most groups in service at once; `auto`: measured and planned anew for every round."""
    groupsPerUpdate: NotRequired[int]
    """U: groups that the trainer takes at a time; what `auto` and the suggested width reckon with. Whole number ≥ 1.
    Default: 1."""
    awaitRetries: NotRequired[bool]
    """Whether a failed request keeps its place until another comes for it, or `response.abandoned`; if not, it has
    failed for good. Default: false."""
    closeAtOnce: NotRequired[bool]
    """Whether a closed group leaves at once, with what still runs of it; if not, as soon as that has ended. Default:
    false."""
    idPrefix: NotRequired[str]
    """What stands before every request id; new after each restart of the host. String ≤ 128. Default: ""."""


FrontierGroupDispatchEvent: TypeAlias = Union[
    RequestArrived, RequestLaunch, ResponseCompleted, ResponseFailed, ResponseAbandoned, ResponseDropped,
    ResponseSurplus, RequestAbort, RequestAborted, PromptCollected, PromptDeferred, PromptFailed, RoundCompleted,
    RoundFailed, TrainConsumed, HostRestarted,
]
"""What `frontier-group-dispatch` is told."""


FrontierGroupDispatchCommand: TypeAlias = RequestAdmit
"""Decisions of `frontier-group-dispatch` that a host must carry out."""


FrontierGroupDispatchNotice: TypeAlias = Union[
    RequestDeferred, RequestDropped, RequestAwaited, GroupLeft, ResponseLate, FrontierResized, FrontierStarved,
]
"""Decisions of `frontier-group-dispatch` that a host may read."""


FrontierGroupDispatchDecision: TypeAlias = Union[
    RequestAdmit, RequestDeferred, RequestDropped, RequestAwaited, GroupLeft, ResponseLate, FrontierResized,
    FrontierStarved,
]
"""What `frontier-group-dispatch` answers."""


class FrontierGroupDispatchSnapshot(AnySnapshot):
    """State of `frontier-group-dispatch`: what `open(snapshot=…)` takes."""

    policy: Literal["frontier-group-dispatch"]
    config: FrontierGroupDispatchConfig
