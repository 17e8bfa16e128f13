# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Short rounds with speculative admission; deferred prompts are batched in long rounds."""

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
from ..decisions.rounds import (
    PromptsReleased, PromptsRequest, RoundCompleted, RoundDrained, RoundPlanned, SourceDrained, SpeculationChosen,
)
from ..decisions.session import TimerSet
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.engines import EngineAdded, EngineDrained, EngineLost, EnginesChanged
from ..events.programs import ToolFinished, ToolStarted, TurnFinished
from ..events.requests import RequestAborted, RequestProgressed, RequestStarted, ResponseCompleted, ResponseFailed
from ..events.rewards import PromptJudged, RewardReady
from ..events.rounds import PromptsSupplied, RoundFailed, RoundRequested, SourceExhausted, SourceReopened
from ..events.session import HostRestarted, TimerFired
from .speculative_admission import SpeculativeAdmissionConfigRetry


class TailBatchingConfig(TypedDict):
    """Configuration of `tail-batching`."""

    promptsPerRound: int
    """P0: prompts that a round trains on. Whole number ≥ 1."""
    responsesPerPrompt: int
    """R0: responses that a prompt needs (the group size). Whole number ≥ 1."""
    speculation: NotRequired[Literal["fixed", "auto"]]
    """`auto` tries factors from 1.1 to 1.4 in the first rounds and keeps the fastest. Default: "fixed"."""
    promptSpeculation: NotRequired[float]
    """Over-provisioning of prompts in short rounds; 1.25 if absent. Number 1 to 16."""
    responseSpeculation: NotRequired[float]
    """Over-provisioning of responses in short rounds; 1.25 if absent. Number 1 to 16."""
    placement: NotRequired[Literal["policy", "host"]]
    """Who chooses the engine of a request. Default: "host"."""
    maxInFlight: NotRequired[int]
    """Most requests in flight at once; unlimited if absent. Whole number ≥ 1."""
    maxInFlightPerEngine: NotRequired[int]
    """Most requests in flight on one engine (`placement: policy`); unlimited if absent. Whole number ≥ 1."""
    retry: NotRequired[SpeculativeAdmissionConfigRetry]
    """Retry budgets of each response; only failures that are its own are charged. Default: {}."""
    filter: NotRequired[Literal["none", "zero-variance", "host"]]
    """Which collected prompts count: all, those whose rewards differ, or those that the host keeps. Default: "none"."""
    varianceTolerance: NotRequired[float]
    """Standard deviation of raw rewards up to which a prompt has zero variance. Number ≥ 0. Default: 0.000001."""
    maxFiltered: NotRequired[int]
    """Prompts that a round filters before it asks for no more, and ends with those that it has; no bound if absent.
    Whole number ≥ 1."""
    quotas: NotRequired[Mapping[str, int]]
    """Prompts of each domain in a short round; together they are P0. Long rounds take any mix."""
    partialRollout: NotRequired[bool]
    """Deferred prompts keep their tokens and resume from them; needs `maxStaleness` of 1 or more. Default: false."""
    maxStaleness: NotRequired[int]
    """Weight versions that a response may lag behind: 0 synchronous, 1 one-step off-policy, more asynchronous. Whole
    number ≥ 0. Default: 0."""
    allowOverlap: NotRequired[bool]
    """Whether a round may open before the last one has drained. Default: false."""
    abortGraceSeconds: NotRequired[float]
    """Seconds until an unconfirmed abort frees its engine slot. Number > 0. Default: 30."""
    responseTimeoutSeconds: NotRequired[float]
    """Seconds after which a running response of which nothing was heard is tried again, twice as long each time; never
    if absent. Number > 0."""
    onRestart: NotRequired[Literal["launch", "continue"]]
    """What becomes of requests in flight when the host restarts: they are launched anew, as if absent, or go on under
    their ids, as trajectories do whose finished turns the host has kept."""
    idPrefix: NotRequired[str]
    """Prefix of every request id; new after each restart of the host. String ≤ 128. Default: ""."""
    order: NotRequired[Literal["fifo", "longest-expected-first"]]
    """Which queued prompts a long round takes first; overdue ones always come before. Default: "fifo"."""
    maxDeferrals: NotRequired[int]
    """A prompt that was deferred this often forces a long round; never if absent. Whole number ≥ 1."""
    maxWaitRounds: NotRequired[int]
    """A prompt that has waited this many rounds forces a long round, with fresh prompts where too few wait. Whole
    number ≥ 1. Default: 16."""


TailBatchingEvent: TypeAlias = Union[
    RoundRequested, RoundFailed, PromptsSupplied, SourceExhausted, SourceReopened, EngineAdded, EngineDrained,
    EngineLost, EnginesChanged, RequestStarted, RequestAborted, ResponseCompleted, ResponseFailed, RewardReady,
    RewardFailed, RewardFailedReport, PromptJudged, RequestProgressed, TurnFinished, ToolStarted, ToolFinished,
    TimerFired, HostRestarted,
]
"""What `tail-batching` is told."""


TailBatchingDecision: TypeAlias = Union[
    PromptsRequest, RequestLaunch, RequestAbort, RequestResume, TimerSet, ResponseAccepted, ResponseSurplus,
    ResponseLate, ResponseDropped, ResponseAbandoned, RewardRequest, JudgementRequest, JudgementLate, RequestExpired,
    TriesSuspended, TriesRecovered, PromptCollected, PromptCounted, PromptFiltered, PromptFailed, PromptDeferred,
    PromptCarried, PromptReturned, PromptMerged, RoundCompleted, RoundDrained, SpeculationChosen, RoundPlanned,
    PromptsReleased, SourceDrained,
]
"""What `tail-batching` answers."""


class TailBatchingSnapshot(AnySnapshot):
    """State of `tail-batching`: what `open(snapshot=…)` takes."""

    policy: Literal["tail-batching"]
    config: TailBatchingConfig
