# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Launches more prompts and responses than a round needs and keeps the first that finish."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.prompts import (
    PromptCarried, PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged,
    PromptReturned,
)
from ..decisions.requests import (
    RequestAbort, RequestExpired, RequestLaunch, RequestResume, ResponseAbandoned, ResponseAccepted, ResponseDropped,
    ResponseLate, ResponseSurplus,
)
from ..decisions.reward_workers import RewardFailed, RewardFailedReport
from ..decisions.rewards import JudgementLate, JudgementRequest, RewardRequest
from ..decisions.rounds import PromptsRequest, RoundCompleted, RoundDrained, SpeculationChosen
from ..decisions.session import TimerSet
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.engines import EngineAdded, EngineDrained, EngineLost, EnginesChanged
from ..events.programs import ToolFinished, ToolStarted, TurnFinished
from ..events.requests import RequestAborted, RequestProgressed, RequestStarted, ResponseCompleted, ResponseFailed
from ..events.rewards import PromptJudged, RewardReady
from ..events.rounds import PromptsSupplied, RoundFailed, RoundOpened, SourceExhausted, SourceReopened
from ..events.session import HostRestarted, TimerFired


class SpeculativeAdmissionConfigRetry(TypedDict):
    """Retry budgets of each response; only failures that are its own are charged."""

    infrastructure: NotRequired[int]
    """Further tries of a response after infrastructure faults. Whole number ≥ 0. Default: 5."""
    data: NotRequired[int]
    """Further tries of a response after faults of the prompt itself. Whole number ≥ 0. Default: 1."""
    environment: NotRequired[int]
    """Further tries of a trajectory after faults of its environment. Whole number ≥ 0. Default: 3."""
    giveUpSeconds: NotRequired[float]
    """Seconds until a response is given up whose failures are beyond its budget, while no other succeeds to compare it
    with; never if absent. Number > 0."""


class _SpeculativeAdmissionConfig1(TypedDict):
    """Settings that `speculative-admission` shares with `lossless-tail`, `agentic-rollout`, `rollpacker`,
    `tail-pipelining`."""

    promptsPerRound: int
    """P0: prompts that a round trains on. Whole number ≥ 1."""
    responsesPerPrompt: int
    """R0: responses that a prompt needs (the group size). Whole number ≥ 1."""
    maxInFlight: NotRequired[int]
    """Most requests in flight at once; unlimited if absent. Whole number ≥ 1."""
    retry: NotRequired[SpeculativeAdmissionConfigRetry]
    """Retry budgets of each response; only failures that are its own are charged. Default: {}."""
    filter: NotRequired[Literal["none", "zero-variance", "host"]]
    """Which collected prompts count: all, those whose rewards differ, or those that the host keeps. Default: "none"."""
    varianceTolerance: NotRequired[float]
    """Standard deviation of raw rewards up to which a prompt has zero variance. Number ≥ 0. Default: 0.000001."""
    maxFiltered: NotRequired[int]
    """Prompts that a round filters before it asks for no more, and ends with those that it has; no bound if absent.
    Whole number ≥ 1."""
    allowOverlap: NotRequired[bool]
    """Whether a round may open before the last one has drained. Default: false."""
    abortGraceSeconds: NotRequired[float]
    """Seconds until an unconfirmed abort frees its engine slot. Number > 0. Default: 30."""
    responseTimeoutSeconds: NotRequired[float]
    """Seconds after which a running response of which nothing was heard is tried again, twice as long each time; never
    if absent. Number > 0."""
    idPrefix: NotRequired[str]
    """Prefix of every request id; new after each restart of the host. String ≤ 128. Default: ""."""


class _SpeculativeAdmissionConfig2(TypedDict):
    """Settings that `speculative-admission` shares with `agentic-rollout`, `rollpacker`, `tail-pipelining`."""

    speculation: NotRequired[Literal["fixed", "auto"]]
    """`auto` tries factors from 1.1 to 1.4 in the first rounds and keeps the fastest. Default: "fixed"."""
    promptSpeculation: NotRequired[float]
    """Over-provisioning of prompts in short rounds; 1.25 if absent. Number 1 to 16."""
    responseSpeculation: NotRequired[float]
    """Over-provisioning of responses in short rounds; 1.25 if absent. Number 1 to 16."""
    quotas: NotRequired[Mapping[str, int]]
    """Prompts of each domain in a short round; together they are P0. Long rounds take any mix."""


class _SpeculativeAdmissionConfig3(TypedDict):
    """Settings that `speculative-admission` shares with `agentic-rollout`, `rollpacker`."""

    partialRollout: NotRequired[bool]
    """Deferred prompts keep their tokens and resume from them; needs `maxStaleness` of 1 or more. Default: false."""
    maxStaleness: NotRequired[int]
    """Weight versions that a response may lag behind: 0 synchronous, 1 one-step off-policy, more asynchronous. Whole
    number ≥ 0. Default: 0."""


class SpeculativeAdmissionConfig(
    _SpeculativeAdmissionConfig1, _SpeculativeAdmissionConfig2, _SpeculativeAdmissionConfig3,
):
    """Configuration of `speculative-admission`."""

    placement: NotRequired[Literal["policy", "host"]]
    """Who chooses the engine of a request. Default: "host"."""
    maxInFlightPerEngine: NotRequired[int]
    """Most requests in flight on one engine (`placement: policy`); unlimited if absent. Whole number ≥ 1."""
    onRestart: NotRequired[Literal["launch", "continue"]]
    """What becomes of requests in flight when the host restarts: they are launched anew, as if absent, or go on under
    their ids, as trajectories do whose finished turns the host has kept."""


SpeculativeAdmissionEvent: TypeAlias = Union[
    RoundOpened, RoundFailed, PromptsSupplied, SourceExhausted, SourceReopened, EngineAdded, EngineDrained, EngineLost,
    EnginesChanged, RequestStarted, RequestAborted, ResponseCompleted, ResponseFailed, RewardReady, RewardFailed,
    RewardFailedReport, PromptJudged, RequestProgressed, TurnFinished, ToolStarted, ToolFinished, TimerFired,
    HostRestarted,
]
"""What `speculative-admission` is told."""


SpeculativeAdmissionCommand: TypeAlias = Union[
    PromptsRequest, RequestLaunch, RequestAbort, RequestResume, TimerSet, RewardRequest, JudgementRequest,
]
"""Decisions of `speculative-admission` that a host must carry out."""


SpeculativeAdmissionNotice: TypeAlias = Union[
    ResponseAccepted, ResponseSurplus, ResponseLate, ResponseDropped, ResponseAbandoned, JudgementLate, RequestExpired,
    TriesSuspended, TriesRecovered, PromptCollected, PromptCounted, PromptFiltered, PromptFailed, PromptDeferred,
    PromptCarried, PromptReturned, PromptMerged, RoundCompleted, RoundDrained, SpeculationChosen,
]
"""Decisions of `speculative-admission` that a host may read."""


SpeculativeAdmissionDecision: TypeAlias = Union[
    PromptsRequest, RequestLaunch, RequestAbort, RequestResume, TimerSet, ResponseAccepted, ResponseSurplus,
    ResponseLate, ResponseDropped, ResponseAbandoned, RewardRequest, JudgementRequest, JudgementLate, RequestExpired,
    TriesSuspended, TriesRecovered, PromptCollected, PromptCounted, PromptFiltered, PromptFailed, PromptDeferred,
    PromptCarried, PromptReturned, PromptMerged, RoundCompleted, RoundDrained, SpeculationChosen,
]
"""What `speculative-admission` answers."""


class SpeculativeAdmissionSnapshot(AnySnapshot):
    """State of `speculative-admission`: what `open(snapshot=…)` takes."""

    policy: Literal["speculative-admission"]
    config: SpeculativeAdmissionConfig
