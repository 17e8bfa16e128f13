# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Tail batching whose counted prompts are trained while the rest of the round is generated."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired
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
from .complete_group_pipelining import _CompleteGroupPipeliningConfig2
from .frontier_group_dispatch import _FrontierGroupDispatchConfig1
from .long_prompt_queue import _LongPromptQueueConfig1
from .speculative_admission import _SpeculativeAdmissionConfig1, _SpeculativeAdmissionConfig2


class TailPipeliningConfig(
    _SpeculativeAdmissionConfig1, _SpeculativeAdmissionConfig2, _LongPromptQueueConfig1,
    _CompleteGroupPipeliningConfig2, _FrontierGroupDispatchConfig1,
):
    """Configuration of `tail-pipelining`."""

    placement: NotRequired[Literal["policy", "host"]]
    """Who chooses the engine of a request. Default: "host"."""
    maxInFlightPerEngine: NotRequired[int]
    """Most requests in flight on one engine (`placement: policy`); unlimited if absent. Whole number ≥ 1."""
    partialRollout: NotRequired[Literal[False]]
    """Deferred prompts begin anew: their tokens would be stale. Default: false."""
    maxStaleness: NotRequired[Literal[0]]
    """Every sample is of the weights of its round. Default: 0."""
    onRestart: NotRequired[Literal["launch"]]
    """Requests are launched anew when the host restarts."""
    frontier: NotRequired[bool]
    """Whether launches wait for `request.admit`, groups of at most `width` prompts at once. Default: false."""
    width: NotRequired[int | Literal["auto"]]
    """F_w: most prompts in service at once; `auto`: planned anew for every round. Required with `frontier`."""


TailPipeliningEvent: TypeAlias = Union[
    RoundRequested, RoundFailed, PromptsSupplied, SourceExhausted, SourceReopened, EngineAdded, EngineDrained,
    EngineLost, EnginesChanged, RequestStarted, RequestAborted, ResponseCompleted, ResponseFailed, RewardReady,
    RewardFailed, RewardFailedReport, PromptJudged, RequestProgressed, TurnFinished, ToolStarted, ToolFinished,
    TimerFired, HostRestarted, UpdateConsumed, OptimizerStepped, WeightsPublished, UpdateLost, TrainerRestarted,
]
"""What `tail-pipelining` is told."""


TailPipeliningCommand: TypeAlias = Union[
    JudgementRequest, OptimizerStep, PromptsRequest, RequestAbort, RequestAdmit, RequestLaunch, RequestResume,
    RewardRequest, TimerSet, TrainDispatch, UpdateCancel, WeightsPublish,
]
"""Decisions of `tail-pipelining` that a host must carry out."""


TailPipeliningNotice: TypeAlias = Union[
    FrontierResized, FrontierStarved, GroupLate, GroupLeft, GroupRewarded, GroupTrainable, GroupUnrewarded,
    GroupWithdrawn, GroupsDropped, JudgementLate, PipelineMeasured, PromptCarried, PromptCollected, PromptCounted,
    PromptDeferred, PromptFailed, PromptFiltered, PromptMerged, PromptReturned, PromptsReleased, RequestDeferred,
    RequestDropped, RequestExpired, ResponseAbandoned, ResponseAccepted, ResponseDropped, ResponseLate, ResponseSurplus,
    RewardUnused, RoundCompleted, RoundDrained, RoundPlanned, RoundRewarded, RoundTrained, SourceDrained,
    SpeculationChosen, TrainingLate, TriesRecovered, TriesSuspended,
]
"""Decisions of `tail-pipelining` that a host may read."""


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
