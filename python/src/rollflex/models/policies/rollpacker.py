# Generated from the schemas by `npm run docs:generate`: do not edit.
"""The whole of RollPacker: tail batching, adaptive TP, rewards beside the rollout, stream training."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
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
from ..objects import GpuServer, ProfileRow
from ..planners.judge_offload import JudgeOffloadInput
from .adaptive_tp import AdaptiveTpConfigExpectedWorkload, AdaptiveTpConfigStartTp
from .reward_dispatch import RewardDispatchConfigBudgetSeconds, RewardDispatchConfigRetry
from .speculative_admission import SpeculativeAdmissionConfigRetry
from .stream_training import StreamTrainingConfigFetch2, StreamTrainingConfigReplica


class RollpackerConfig(TypedDict):
    """Configuration of `rollpacker`."""

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
    placement: NotRequired[Literal["policy"]]
    """The recipe knows the engines, and places all requests. Default: "policy"."""
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
    onRestart: NotRequired[Literal["launch"]]
    """Requests are launched anew when the host restarts."""
    idPrefix: NotRequired[str]
    """Prefix of every request id; new after each restart of the host. String ≤ 128. Default: ""."""
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
    order: NotRequired[Literal["fifo", "longest-expected-first"]]
    """Which queued prompts a long round takes first; overdue ones always come before. Default: "fifo"."""
    maxDeferrals: NotRequired[int]
    """A prompt that was deferred this often forces a long round; never if absent. Whole number ≥ 1."""
    maxWaitRounds: NotRequired[int]
    """A prompt that has waited this many rounds forces a long round, with fresh prompts where too few wait. Whole
    number ≥ 1. Default: 16."""
    windowRounds: NotRequired[int]
    """W: rounds that are composed together; a prompt moves by at most W − 1 rounds. 1: the order of the data. Whole
    number 1 to 1000. Default: 10."""
    rememberedPrompts: NotRequired[int]
    """Prompts whose lengths are remembered: at least those of the data set, or none is known when it returns. Whole
    number 1 to 10000000. Default: 1000000."""
    servers: Sequence[GpuServer]
    """The servers of the rollout, with their GPUs in order."""
    kvHeads: int
    """KV heads of the model; a TP degree divides them. Whole number ≥ 1."""
    modelBytes: float
    """Bytes of the weights of the model, over all GPUs of a replica. Number > 0."""
    gpuMemoryBytes: float
    """Bytes of memory of one GPU. Number > 0."""
    memoryUtilization: NotRequired[float]
    """Share of the GPU memory that an engine may use for weights and KV cache. Number > 0. Default: 0.9."""
    kvBytesPerToken: float
    """Bytes of KV cache of one token, over all GPUs of an engine. Number > 0."""
    maxResponseTokens: int
    """Longest response, in tokens, over all attempts. Whole number 1 to 16777216."""
    experts: NotRequired[int]
    """Routed experts of an MoE model; EP degrees divide them and the TP. Without it EP is not touched. Whole number ≥
    1."""
    minTp: NotRequired[int]
    """Least tensor-parallel degree. Whole number ≥ 1. Default: 1."""
    maxTp: NotRequired[int]
    """Greatest tensor-parallel degree; that of a server if absent. Whole number ≥ 1."""
    startTp: NotRequired[AdaptiveTpConfigStartTp]
    """Degrees to start with, in place of those that the profile gives. Default: {}."""
    expectedWorkload: NotRequired[AdaptiveTpConfigExpectedWorkload]
    """What the first rounds are expected to demand: the profile chooses the start for it. Default: {}."""
    profile: NotRequired[Sequence[ProfileRow]]
    """Rows of the offline profile; the last one of a point counts. Empty: no start by profile and no veto. Default:
    []."""
    timeoutFactor: NotRequired[float]
    """λ: a run may take this many times the longest correct run of its test case. The paper has 1.5. Number 1 to 1000.
    Default: 4."""
    minTimeoutSeconds: NotRequired[float]
    """Tmin: no timeout is shorter, in seconds. Number ≥ 0. Default: 2."""
    maxTimeoutSeconds: NotRequired[float]
    """Tmax: no timeout is longer; also the one of a test case that has not been solved, in seconds, > 0 and at most a
    day. Number > 0. Default: 30."""
    exploreEvery: NotRequired[int]
    """Every so many runs of a solved test case one is given Tmax, so that its anchor can rise; 0: none. Whole number ≥
    0. Default: 16."""
    maxTestCases: NotRequired[int]
    """Most test cases whose anchors are kept; the least recently used leave. Whole number 1 to 10000000. Default:
    100000."""
    historyRuns: NotRequired[int]
    """Most runs that reports are made from; the oldest leave. Whole number 1 to 1000000. Default: 2048."""
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
    fetch: NotRequired[Literal["stream"] | StreamTrainingConfigFetch2]
    """`stream`: again and again, as groups are completed. `{ once }`: one fetch of what is there, up to this fraction.
    Default: "stream"."""
    minFetchGroups: NotRequired[int]
    """Fewest groups of a fetch: what fills a micro-batch. Whole number ≥ 1. Default: 1."""
    reference: NotRequired[Literal["none", "swap"]]
    """`swap`: reference logits are computed on the replica, with the weights swapped for this pass. Default: "none"."""
    pace: NotRequired[Literal["replica", "shared"]]
    """Whose measurements tell how long work takes: the own ones of a replica, or, for replicas of equal GPUs, those of
    all. Default: "replica"."""
    gradientOffload: NotRequired[Literal["idle", "never"]]
    """When a streaming replica moves its gradients to the host; it always does before its GPUs go back. Default:
    "idle"."""
    unit: NotRequired[Literal["samples", "tokens", "groups", "constant"]]
    """What the loss is averaged over; `constant`: it is divided by `divisor`. Default: "samples"."""
    divisor: NotRequired[float]
    """What the loss is divided by (`unit: constant`). Number > 0."""
    reduction: NotRequired[Literal["mean", "sum"]]
    """What a replica accumulates: the sum over its units, or their mean over everything that it trained. Default:
    "sum"."""
    collective: NotRequired[Literal["sum", "mean"]]
    """What the collective makes of the gradients; DDP and FSDP of PyTorch take the mean. Default: "mean"."""
    optimizerStepsPerRound: NotRequired[int]
    """Has to be 1: only then no gradient needs newer weights. Whole number ≥ 1. Default: 1."""
    epochs: NotRequired[int]
    """Has to be 1: a second pass would need the weights after the first. Whole number ≥ 1. Default: 1."""
    advantageNormalization: NotRequired[Literal["none", "group", "batch"]]
    """Over what advantages are normalised; `batch` cannot be known before the round is over. Default: "group"."""
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
