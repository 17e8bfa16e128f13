# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Tail batching whose counted prompts are trained while the rest of the round is generated."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.frontier import (
    FrontierResized, FrontierStarved, GroupLeft, RequestAdmit, RequestDeferred, RequestDropped,
)
from ..decisions.groups import GroupRewarded, GroupUnrewarded, GroupWithdrawn, RewardUnused, RoundRewarded
from ..decisions.pipelining import GroupTrainable, PipelineMeasured, TrainDispatch, UpdateCancel, WeightsPublish
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
from ..decisions.training import GroupLate, GroupsDropped, OptimizerStep, RoundTrained, TrainingLate
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.engines import EngineAdded, EngineDrained, EngineLost, EnginesChanged
from ..events.pipelining import TrainerRestarted, UpdateConsumed, UpdateLost, WeightsPublished
from ..events.programs import ToolFinished, ToolStarted, TurnFinished
from ..events.requests import RequestAborted, RequestProgressed, RequestStarted, ResponseCompleted, ResponseFailed
from ..events.rewards import PromptJudged, RewardReady
from ..events.rounds import PromptsSupplied, RoundFailed, RoundRequested, SourceExhausted, SourceReopened
from ..events.session import HostRestarted, TimerFired
from ..events.training import OptimizerStepped
from .speculative_admission import SpeculativeAdmissionConfigRetry


class TailPipeliningConfig(TypedDict):
    """Configuration of `tail-pipelining`."""

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
    partialRollout: NotRequired[Literal[False]]
    """Deferred prompts begin anew: their tokens would be stale. Default: false."""
    maxStaleness: NotRequired[Literal[0]]
    """Every sample is of the weights of its round. Default: 0."""
    allowOverlap: NotRequired[bool]
    """Whether a round may open before the last one has drained. Default: false."""
    abortGraceSeconds: NotRequired[float]
    """Seconds until an unconfirmed abort frees its engine slot. Number > 0. Default: 30."""
    responseTimeoutSeconds: NotRequired[float]
    """Seconds after which a running response of which nothing was heard is tried again, twice as long each time; never
    if absent. Number > 0."""
    onRestart: NotRequired[Literal["launch"]]
    """Requests are launched anew when the host restarts."""
    idPrefix: NotRequired[str]
    """Prefix of every request id; new after each restart of the host. String ≤ 128. Default: ""."""
    order: NotRequired[Literal["fifo", "longest-expected-first"]]
    """Which queued prompts a long round takes first; overdue ones always come before. Default: "fifo"."""
    maxDeferrals: NotRequired[int]
    """A prompt that was deferred this often forces a long round; never if absent. Whole number ≥ 1."""
    maxWaitRounds: NotRequired[int]
    """A prompt that has waited this many rounds forces a long round, with fresh prompts where too few wait. Whole
    number ≥ 1. Default: 16."""
    globalBatchSamples: int
    """B: samples of an update, a multiple of `responsesPerPrompt`; an update takes U = B / K groups. Whole number ≥
    1."""
    maxTokensPerGpu: NotRequired[int]
    """Token budget of a micro-batch; absent: an update is one micro-batch. Whole number ≥ 1."""
    pipelining: NotRequired[bool]
    """Whether updates are dispatched while the rollout goes on; `false`: after it, as a serial trainer does. Default:
    true."""
    incompleteGroups: NotRequired[Literal["drop", "train"]]
    """What becomes of a group in which a reward is missing for good. Default: "drop"."""
    baseline: NotRequired[Literal["group", "leave-one-out"]]
    """What is taken off a reward: the mean of its group, or of the others in it. Default: "group"."""
    normalization: NotRequired[Literal["std", "none"]]
    """Whether the difference is divided by standard deviation + `epsilon`. Default: "std"."""
    std: NotRequired[Literal["sample", "population"]]
    """Which standard deviation: over n − 1 (`sample`, as `torch.std`) or over n (`population`). Default: "sample"."""
    epsilon: NotRequired[float]
    """Added to the standard deviation. Number ≥ 0. Default: 0.000001."""
    singleResponse: NotRequired[Literal["zero", "reward"]]
    """Advantage of the only response of a group, which has nothing to be compared with: 0, or its reward. Default:
    "zero"."""
    frontier: NotRequired[bool]
    """Whether launches wait for `request.admit`, groups of at most `width` prompts at once. Default: false."""
    width: NotRequired[int | Literal["auto"]]
    """F_w: most prompts in service at once; `auto`: planned anew for every round. Required with `frontier`."""
    startRequests: NotRequired[int]
    """Requests that `auto` keeps in service while nothing is known of the engines. Whole number ≥ 1. Default: 96."""
    starvedShare: NotRequired[float]
    """Share of its time that the trainer must wait, while groups are deferred, for a `frontier.starved`. Number > 0.
    Default: 0.2."""


TailPipeliningEvent: TypeAlias = Union[
    RoundRequested, RoundFailed, PromptsSupplied, SourceExhausted, SourceReopened, EngineAdded, EngineDrained,
    EngineLost, EnginesChanged, RequestStarted, RequestAborted, ResponseCompleted, ResponseFailed, RewardReady,
    RewardFailed, RewardFailedReport, PromptJudged, RequestProgressed, TurnFinished, ToolStarted, ToolFinished,
    TimerFired, HostRestarted, UpdateConsumed, OptimizerStepped, WeightsPublished, UpdateLost, TrainerRestarted,
]
"""What `tail-pipelining` is told."""


TailPipeliningDecision: TypeAlias = Union[
    FrontierResized, FrontierStarved, GroupLate, GroupLeft, GroupRewarded, GroupTrainable, GroupUnrewarded,
    GroupWithdrawn, GroupsDropped, JudgementLate, JudgementRequest, OptimizerStep, PipelineMeasured, PromptCarried,
    PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged, PromptReturned,
    PromptsReleased, PromptsRequest, RequestAbort, RequestAdmit, RequestDeferred, RequestDropped, RequestExpired,
    RequestLaunch, RequestResume, ResponseAbandoned, ResponseAccepted, ResponseDropped, ResponseLate, ResponseSurplus,
    RewardRequest, RewardUnused, RoundCompleted, RoundDrained, RoundPlanned, RoundRewarded, RoundTrained, SourceDrained,
    SpeculationChosen, TimerSet, TrainDispatch, TrainingLate, TriesRecovered, TriesSuspended, UpdateCancel,
    WeightsPublish,
]
"""What `tail-pipelining` answers."""


class TailPipeliningSnapshot(AnySnapshot):
    """State of `tail-pipelining`: what `open(snapshot=…)` takes."""

    policy: Literal["tail-pipelining"]
    config: TailPipeliningConfig
