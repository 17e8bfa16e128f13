# Generated from the schemas by `npm run docs:generate`: do not edit.
"""The whole of RollPacker: tail batching, adaptive TP, rewards beside the rollout, stream training."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired
from ..decisions.gpus import (
    GpusReclaim, GpusRelease, MigrationAbandoned, MigrationCancel, ProgressQuery, RequestMigrate, ScaleDownLate,
    ScaleDownRejected,
)
from ..decisions.groups import GroupRewarded, GroupUnrewarded, GroupWithdrawn, RewardUnused, RoundRewarded
from ..decisions.judge import JudgePlace
from ..decisions.parallelism import KindTpKept, KindTpSet, ProfileMeasure, RoundTpSet
from ..decisions.prompts import (
    PromptCarried, PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged,
    PromptReturned,
)
from ..decisions.requests import (
    RequestAbort, RequestExpired, RequestLaunch, RequestResume, ResponseAbandoned, ResponseAccepted, ResponseDropped,
    ResponseLate, ResponseSurplus,
)
from ..decisions.reward_workers import (
    RewardCancel, RewardCancelled, RewardDispatch, RewardExpired, RewardFailed, RewardLate, RewardMerged, RewardScored,
    RewardsResumed, RewardsSaturated,
)
from ..decisions.rewards import JudgementLate, JudgementRequest, RewardRequest
from ..decisions.rounds import (
    PromptsReleased, PromptsRequest, RoundCompleted, RoundDrained, RoundPlanned, SourceDrained, SpeculationChosen,
)
from ..decisions.sandbox import SandboxLate, SandboxReport, SandboxRun, SandboxScored, SandboxUnscored
from ..decisions.session import TimerSet
from ..decisions.training import (
    GradientScale, GradientsDiscard, GradientsOffload, GradientsReload, GroupLate, GroupsDropped, OptimizerStep,
    ReferenceCompute, RoundTrained, TrainFetch, TrainFinish, TrainRequeued, TrainingLate, WeightsSwap,
)
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.engines import EngineAdded, EngineDrained, EngineLost
from ..events.gpus import (
    GpusReleaseFailed, GpusReleased, GpusReturned, MigrationFailed, ProgressReported, RequestMigrated,
)
from ..events.parallelism import KindTpFailed, ProfileMeasured, ProfileObserved, StepFinished
from ..events.programs import ToolFinished, ToolStarted, TurnFinished
from ..events.requests import RequestAborted, RequestProgressed, RequestStarted, ResponseCompleted, ResponseFailed
from ..events.reward_workers import (
    RewardFinished, RewardStarted, RewardWorkerAdded, RewardWorkerDrained, RewardWorkerLost,
)
from ..events.rewards import PromptJudged
from ..events.rounds import PromptsSupplied, RoundFailed, RoundRequested, SourceExhausted, SourceReopened
from ..events.sandbox import SandboxReportRequested
from ..events.session import HostRestarted, TimerFired
from ..events.training import OptimizerStepped, ReplicaAdded, ReplicaLost, TrainConsumed, TrainFinished
from ..planners.judge_offload import JudgeOffloadInput
from .adaptive_tp import _AdaptiveTpConfig1
from .long_prompt_queue import _LongPromptQueueConfig1
from .reward_dispatch import RewardDispatchConfigBudgetSeconds, RewardDispatchConfigRetry
from .round_composition import _RoundCompositionConfig1
from .sandbox_timeout import SandboxTimeoutConfig
from .speculative_admission import (
    _SpeculativeAdmissionConfig1, _SpeculativeAdmissionConfig2, _SpeculativeAdmissionConfig3,
)
from .stream_training import StreamTrainingConfigReplica, _StreamTrainingConfig1


class RollpackerConfig(
    _SpeculativeAdmissionConfig1, _SpeculativeAdmissionConfig2, _SpeculativeAdmissionConfig3, _LongPromptQueueConfig1,
    _RoundCompositionConfig1, SandboxTimeoutConfig, _StreamTrainingConfig1, _AdaptiveTpConfig1,
):
    """Configuration of `rollpacker`."""

    placement: NotRequired[Literal["policy"]]
    """The recipe knows the engines, and places all requests. Default: "policy"."""
    maxInFlightPerEngine: NotRequired[int]
    """Most requests in flight on one engine (`placement: policy`); unlimited if absent. Whole number ≥ 1."""
    onRestart: NotRequired[Literal["launch"]]
    """Requests are launched anew when the host restarts."""
    tailBatching: NotRequired[bool]
    """Speculation in short rounds, and long rounds for what they defer. Off: every round waits for all. Default:
    true."""
    composition: NotRequired[bool]
    """Rounds are composed by predicted length, as in `lossless-tail`; not with `tailBatching`. With `partialRollout`,
    they have `promptSpeculation` times their prompts. Off: the order of the data. Default: false."""
    adaptiveTp: NotRequired[bool]
    """The parallelism of the engines follows their preemptions. Off: TP stays at `startTp`, or `minTp`, and EP as it
    is. Default: true."""
    adaptiveTimeout: NotRequired[bool]
    """Code in sandboxes is stopped early. Off: only at `rewardBudgetSeconds.sandbox`. Default: true."""
    asyncReward: NotRequired[bool]
    """Rewards are computed beside the rollout. Off: when the round is complete. Default: true."""
    streamTraining: NotRequired[bool]
    """GPUs are released during the rollout and train completed groups. Off: training comes after it. Default: true."""
    judgeOffload: NotRequired[bool]
    """A judge shares the GPUs with the actor, laid out by `judge-offload`. Off: it has GPUs of its own. Default:
    false."""
    judge: NotRequired[JudgeOffloadInput]
    """The judge, for `judgeOffload`; its `sequenceTokens` is the greatest length that it is ever given."""
    kvBytesPerToken: float
    """Bytes of KV cache of one token, over all GPUs of an engine. Number > 0."""
    maxResponseTokens: int
    """Longest response, in tokens, over all attempts. Whole number 1 to 16777216."""
    defaultRewardKind: NotRequired[Literal["rule", "sandbox", "judge"]]
    """How rewards are computed where nothing else says so. Default: "rule"."""
    rewardKindByDomain: NotRequired[Mapping[str, Literal["rule", "sandbox", "judge"]]]
    """How rewards are computed, by the domain."""
    rewardBudgetSeconds: NotRequired[RewardDispatchConfigBudgetSeconds]
    """Budgets of the kinds, for requests that bring none of their own. Default: {}."""
    rewardRetry: NotRequired[RewardDispatchConfigRetry]
    """Retry budgets of each response. Default: {}."""
    onRewardTimeout: NotRequired[Literal["reward", "fail"]]
    """What a response is given that ran out of time for good: `timeoutReward`, or no reward at all. Default:
    "reward"."""
    timeoutReward: NotRequired[float]
    """The reward of a response that ran out of time. Default: 0."""
    trainingReplicas: Sequence[StreamTrainingConfigReplica]
    """Data-parallel replicas of the trainer, each with its `id` and its `gpuIds`; a GPU belongs to one."""
    scaleDownTrigger: NotRequired[Literal["adaptive"] | float]
    """`adaptive`, or the fraction at which GPUs are released once without asking whether the KV cache fits. Default:
    "adaptive"."""
    kvQuantile: NotRequired[float]
    """Chance that the KV cache of every remaining engine stays below its projected peak. Number 0.5 to 0.9999. Default:
    0.95."""


RollpackerEvent: TypeAlias = Union[
    EngineAdded, EngineDrained, EngineLost, GpusReleaseFailed, GpusReleased, GpusReturned, HostRestarted, KindTpFailed,
    MigrationFailed, OptimizerStepped, ProfileMeasured, ProfileObserved, ProgressReported, PromptJudged,
    PromptsSupplied, ReplicaAdded, ReplicaLost, RequestAborted, RequestMigrated, RequestProgressed, RequestStarted,
    ResponseCompleted, ResponseFailed, RewardWorkerAdded, RewardWorkerDrained, RewardWorkerLost, RewardFinished,
    RewardStarted, RoundFailed, RoundRequested, SandboxReportRequested, SourceExhausted, SourceReopened, StepFinished,
    TimerFired, ToolFinished, ToolStarted, TrainConsumed, TrainFinished, TurnFinished,
]
"""What `rollpacker` is told."""


RollpackerCommand: TypeAlias = Union[
    GpusReclaim, GpusRelease, GradientScale, GradientsDiscard, GradientsOffload, GradientsReload, JudgePlace,
    JudgementRequest, KindTpSet, MigrationCancel, OptimizerStep, ProfileMeasure, ProgressQuery, PromptsRequest,
    ReferenceCompute, RequestAbort, RequestLaunch, RequestMigrate, RequestResume, RewardCancel, RewardDispatch,
    RewardRequest, RoundTpSet, SandboxRun, TimerSet, TrainFetch, TrainFinish, WeightsSwap,
]
"""Decisions of `rollpacker` that a host must carry out."""


RollpackerNotice: TypeAlias = Union[
    GroupLate, GroupRewarded, GroupUnrewarded, GroupWithdrawn, GroupsDropped, JudgementLate, KindTpKept,
    MigrationAbandoned, PromptCarried, PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered,
    PromptMerged, PromptReturned, PromptsReleased, RequestExpired, ResponseAbandoned, ResponseAccepted, ResponseDropped,
    ResponseLate, ResponseSurplus, RewardCancelled, RewardExpired, RewardFailed, RewardLate, RewardMerged, RewardScored,
    RewardUnused, RewardsResumed, RewardsSaturated, RoundCompleted, RoundDrained, RoundPlanned, RoundRewarded,
    RoundTrained, SandboxLate, SandboxReport, SandboxScored, SandboxUnscored, ScaleDownLate, ScaleDownRejected,
    SourceDrained, SpeculationChosen, TrainRequeued, TrainingLate, TriesRecovered, TriesSuspended,
]
"""Decisions of `rollpacker` that a host may read."""


RollpackerDecision: TypeAlias = Union[
    GpusReclaim, GpusRelease, GradientScale, GradientsDiscard, GradientsOffload, GradientsReload, GroupLate,
    GroupRewarded, GroupUnrewarded, GroupWithdrawn, GroupsDropped, JudgePlace, JudgementLate, JudgementRequest,
    KindTpKept, KindTpSet, MigrationAbandoned, MigrationCancel, OptimizerStep, ProfileMeasure, ProgressQuery,
    PromptCarried, PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged,
    PromptReturned, PromptsReleased, PromptsRequest, ReferenceCompute, RequestAbort, RequestExpired, RequestLaunch,
    RequestMigrate, RequestResume, ResponseAbandoned, ResponseAccepted, ResponseDropped, ResponseLate, ResponseSurplus,
    RewardCancel, RewardCancelled, RewardDispatch, RewardExpired, RewardFailed, RewardLate, RewardMerged, RewardRequest,
    RewardScored, RewardUnused, RewardsResumed, RewardsSaturated, RoundTpSet, RoundCompleted, RoundDrained,
    RoundPlanned, RoundRewarded, RoundTrained, SandboxLate, SandboxReport, SandboxRun, SandboxScored, SandboxUnscored,
    ScaleDownLate, ScaleDownRejected, SourceDrained, SpeculationChosen, TimerSet, TrainFetch, TrainFinish,
    TrainRequeued, TrainingLate, TriesRecovered, TriesSuspended, WeightsSwap,
]
"""What `rollpacker` answers."""


class RollpackerSnapshot(AnySnapshot):
    """State of `rollpacker`: what `open(snapshot=…)` takes."""

    policy: Literal["rollpacker"]
    config: RollpackerConfig
