# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Trains completed groups on released GPUs during the rollout; one exact optimizer step at its end."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.rounds import RoundCompleted, RoundResumed
from ..decisions.training import (
    GradientScale, GradientsDiscard, GradientsOffload, GradientsReload, GroupLate, GroupsDropped, OptimizerStep,
    ReferenceCompute, RoundTrained, TrainFetch, TrainFinish, TrainRequeued, TrainingLate, WeightsSwap,
)
from ..events.gpus import GpusReleased, GpusReturned
from ..events.rounds import RoundFailed, RoundOpened
from ..events.session import HostRestarted
from ..events.training import GroupCompleted, OptimizerStepped, ReplicaAdded, ReplicaLost, TrainConsumed, TrainFinished


class StreamTrainingConfigFetch2(TypedDict):
    """Part of :class:`StreamTrainingConfig`."""

    once: float
    """Most of the round that the one fetch may take, above 0, up to 1. Number > 0."""


class _StreamTrainingConfig1(TypedDict):
    """Settings that `stream-training` shares with `rollpacker`."""

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


class StreamTrainingConfigReplica(TypedDict):
    """Part of :class:`StreamTrainingConfig`."""

    id: str
    """Id of the data-parallel training replica. String ≤ 512."""
    gpuIds: Sequence[str]
    """GPUs of the replica; it streams when all of them are released."""


class StreamTrainingConfig(_StreamTrainingConfig1):
    """Configuration of `stream-training`."""

    replicas: Sequence[StreamTrainingConfigReplica]
    """Data-parallel replicas of the trainer, each with its `id` and its `gpuIds`; a GPU belongs to one."""
    groupsPerRound: int
    """P0: groups that a round trains on. Whole number ≥ 1."""
    idPrefix: NotRequired[str]
    """Prefix of every fetch id; new after each restart of the host. String ≤ 128. Default: ""."""


StreamTrainingEvent: TypeAlias = Union[
    RoundOpened, GroupCompleted, GpusReleased, TrainConsumed, RoundCompleted, TrainFinished, OptimizerStepped,
    GpusReturned, ReplicaLost, ReplicaAdded, RoundFailed, HostRestarted,
]
"""What `stream-training` is told."""


StreamTrainingCommand: TypeAlias = Union[
    TrainFetch, TrainFinish, GradientsOffload, GradientsReload, GradientsDiscard, WeightsSwap, ReferenceCompute,
    GradientScale, OptimizerStep,
]
"""Decisions of `stream-training` that a host must carry out."""


StreamTrainingNotice: TypeAlias = Union[
    RoundTrained, RoundResumed, TrainRequeued, GroupsDropped, GroupLate, TrainingLate,
]
"""Decisions of `stream-training` that a host may read."""


StreamTrainingDecision: TypeAlias = Union[
    TrainFetch, TrainFinish, GradientsOffload, GradientsReload, GradientsDiscard, WeightsSwap, ReferenceCompute,
    GradientScale, OptimizerStep, RoundTrained, RoundResumed, TrainRequeued, GroupsDropped, GroupLate, TrainingLate,
]
"""What `stream-training` answers."""


class StreamTrainingSnapshot(AnySnapshot):
    """State of `stream-training`: what `open(snapshot=…)` takes."""

    policy: Literal["stream-training"]
    config: StreamTrainingConfig
