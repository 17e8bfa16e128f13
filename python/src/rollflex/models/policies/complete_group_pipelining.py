# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Trains complete groups, U an update, while later ones are generated; weights are published once a round."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.groups import GroupRewarded, RoundRewarded
from ..decisions.pipelining import GroupTrainable, PipelineMeasured, TrainDispatch, UpdateCancel, WeightsPublish
from ..decisions.rounds import RoundResumed
from ..decisions.training import GroupLate, GroupsDropped, OptimizerStep, RoundTrained, TrainingLate
from ..events.pipelining import TrainerRestarted, UpdateConsumed, UpdateLost, WeightsPublished
from ..events.rounds import RoundFailed, RoundOpened
from ..events.session import HostRestarted
from ..events.training import OptimizerStepped


class _CompleteGroupPipeliningConfig1(TypedDict):
    """Settings that `complete-group-pipelining` shares with `rolloutpipe`."""

    responsesPerPrompt: int
    """K: responses of a complete group. Whole number ≥ 1."""
    filter: NotRequired[Literal["none", "zero-variance"]]
    """`zero-variance`: groups whose rewards are all the same are not trained. Default: "none"."""
    otherVersions: NotRequired[Literal["refuse", "drop"]]
    """A group with a sample of other weights than its round: an `invalid_event`, or left out by name. Default:
    "refuse"."""
    varianceTolerance: NotRequired[float]
    """Population standard deviation of raw rewards up to which a group has zero variance. Number ≥ 0. Default:
    0.000001."""


class _CompleteGroupPipeliningConfig2(TypedDict):
    """Settings that `complete-group-pipelining` shares with `rolloutpipe`, `tail-pipelining`."""

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


class CompleteGroupPipeliningConfig(_CompleteGroupPipeliningConfig1, _CompleteGroupPipeliningConfig2):
    """Configuration of `complete-group-pipelining`."""

    idPrefix: NotRequired[str]
    """Prefix of every update id; new after each restart of the host. String ≤ 128. Default: ""."""


CompleteGroupPipeliningEvent: TypeAlias = Union[
    RoundOpened, GroupRewarded, RoundRewarded, UpdateConsumed, OptimizerStepped, WeightsPublished, UpdateLost,
    TrainerRestarted, RoundFailed, HostRestarted,
]
"""What `complete-group-pipelining` is told."""


CompleteGroupPipeliningCommand: TypeAlias = Union[
    TrainDispatch, OptimizerStep, WeightsPublish, UpdateCancel,
]
"""Decisions of `complete-group-pipelining` that a host must carry out."""


CompleteGroupPipeliningNotice: TypeAlias = Union[
    GroupTrainable, RoundTrained, PipelineMeasured, RoundResumed, GroupsDropped, GroupLate, TrainingLate,
]
"""Decisions of `complete-group-pipelining` that a host may read."""


CompleteGroupPipeliningDecision: TypeAlias = Union[
    GroupTrainable, TrainDispatch, OptimizerStep, WeightsPublish, UpdateCancel, RoundTrained, PipelineMeasured,
    RoundResumed, GroupsDropped, GroupLate, TrainingLate,
]
"""What `complete-group-pipelining` answers."""


class CompleteGroupPipeliningSnapshot(AnySnapshot):
    """State of `complete-group-pipelining`: what `open(snapshot=…)` takes."""

    policy: Literal["complete-group-pipelining"]
    config: CompleteGroupPipeliningConfig
