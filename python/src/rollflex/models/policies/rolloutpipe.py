# Generated from the schemas by `npm run docs:generate`: do not edit.
"""A frontier of groups in service, each trained as soon as it is complete and rewarded; one publication a round."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.frontier import (
    FrontierResized, FrontierStarved, GroupLeft, RequestAdmit, RequestAwaited, RequestDeferred, RequestDropped,
)
from ..decisions.groups import GroupRewarded, GroupUnrewarded, RewardUnused, RoundRewarded
from ..decisions.pipelining import GroupTrainable, PipelineMeasured, TrainDispatch, UpdateCancel, WeightsPublish
from ..decisions.prompts import PromptCounted, PromptReturned
from ..decisions.requests import RequestAbort, ResponseAbandoned, ResponseAccepted, ResponseLate
from ..decisions.reward_workers import RewardFailed, RewardFailedReport
from ..decisions.rewards import RewardRequest
from ..decisions.rounds import RoundCompleted
from ..decisions.training import GroupLate, GroupsDropped, OptimizerStep, RoundTrained, TrainingLate
from ..events.frontier import RequestArrived
from ..events.pipelining import TrainerRestarted, UpdateConsumed, UpdateLost, WeightsPublished
from ..events.requests import RequestAborted, ResponseCompleted, ResponseFailed
from ..events.rewards import RewardReady
from ..events.rounds import RoundFailed, RoundOpened
from ..events.session import HostRestarted
from ..events.training import OptimizerStepped


class RolloutpipeConfig(TypedDict):
    """Configuration of `rolloutpipe`."""

    responsesPerPrompt: int
    """K: responses of a complete group. Whole number ≥ 1."""
    globalBatchSamples: int
    """B: samples of an update, a multiple of `responsesPerPrompt`; an update takes U = B / K groups. Whole number ≥
    1."""
    maxTokensPerGpu: NotRequired[int]
    """Token budget of a micro-batch; absent: an update is one micro-batch. Whole number ≥ 1."""
    pipelining: NotRequired[bool]
    """Whether updates are dispatched while the rollout goes on; `false`: after it, as a serial trainer does. Default:
    true."""
    filter: NotRequired[Literal["none", "zero-variance"]]
    """`zero-variance`: groups whose rewards are all the same are not trained. Default: "none"."""
    incompleteGroups: NotRequired[Literal["drop", "train"]]
    """What becomes of a group in which a reward is missing for good. Default: "drop"."""
    otherVersions: NotRequired[Literal["refuse", "drop"]]
    """A group with a sample of other weights than its round: an `invalid_event`, or left out by name. Default:
    "refuse"."""
    baseline: NotRequired[Literal["group", "leave-one-out"]]
    """What is taken off a reward: the mean of its group, or of the others in it. Default: "group"."""
    normalization: NotRequired[Literal["std", "none"]]
    """Whether the difference is divided by standard deviation + `epsilon`. Default: "std"."""
    std: NotRequired[Literal["sample", "population"]]
    """Which standard deviation: over n − 1 (`sample`, as `torch.std`) or over n (`population`). Default: "sample"."""
    epsilon: NotRequired[float]
    """Added to the standard deviation. Number ≥ 0. Default: 0.000001."""
    varianceTolerance: NotRequired[float]
    """Population standard deviation of raw rewards up to which a group has zero variance. Number ≥ 0. Default:
    0.000001."""
    singleResponse: NotRequired[Literal["zero", "reward"]]
    """Advantage of the only response of a group, which has nothing to be compared with: 0, or its reward. Default:
    "zero"."""
    idPrefix: NotRequired[str]
    """Prefix of every id; new after each restart of the host. String ≤ 128. Default: ""."""
    frontier: NotRequired[bool]
    """Whether requests are admitted by groups, at most `width` at once; `false`: every request at once. Default:
    true."""
    width: NotRequired[int | Literal["auto"]]
    """F_w: most groups in service at once; `auto`: planned anew for every round. Required with `frontier`."""
    startRequests: NotRequired[int]
    """Requests that `auto` keeps in service while nothing is known of the engines. Whole number ≥ 1. Default: 96."""
    starvedShare: NotRequired[float]
    """Share of its time that the trainer must wait, while groups are deferred, for a `frontier.starved`. Number > 0.
    Default: 0.2."""
    awaitRetries: NotRequired[bool]
    """Whether a failed request keeps its place until another comes for it, or `response.abandoned`; if not, it has
    failed for good. Default: false."""


RolloutpipeEvent: TypeAlias = Union[
    RoundOpened, RequestArrived, ResponseCompleted, ResponseFailed, ResponseAbandoned, RequestAborted, RewardReady,
    RewardFailed, RewardFailedReport, UpdateConsumed, OptimizerStepped, WeightsPublished, UpdateLost, TrainerRestarted,
    RoundFailed, HostRestarted,
]
"""What `rolloutpipe` is told."""


RolloutpipeDecision: TypeAlias = Union[
    FrontierResized, FrontierStarved, GroupLate, GroupLeft, GroupRewarded, GroupTrainable, GroupUnrewarded,
    GroupsDropped, OptimizerStep, PipelineMeasured, PromptCounted, PromptReturned, RequestAbort, RequestAdmit,
    RequestAwaited, RequestDeferred, RequestDropped, ResponseAccepted, ResponseLate, RewardRequest, RewardUnused,
    RoundCompleted, RoundRewarded, RoundTrained, TrainDispatch, TrainingLate, UpdateCancel, WeightsPublish,
]
"""What `rolloutpipe` answers."""


class RolloutpipeSnapshot(AnySnapshot):
    """State of `rolloutpipe`: what `open(snapshot=…)` takes."""

    policy: Literal["rolloutpipe"]
    config: RolloutpipeConfig
