# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Doubles the TP of rollouts when preemptions rise and halves it when there are none; a profile has a veto."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.parallelism import KindTpKept, KindTpSet, ProfileMeasure, RoundTpSet
from ..decisions.rounds import RoundCompleted, RoundPlanned
from ..events.parallelism import KindTpFailed, ProfileMeasured, ProfileObserved, StepFinished
from ..events.rounds import RoundFailed
from ..events.session import HostRestarted
from ..objects import GpuServer, ProfileRow, RolloutWorkload


class AdaptiveTpConfigStartTp(TypedDict):
    """Degrees to start with, in place of those that the profile gives."""

    short: NotRequired[int]
    """Degree that short rounds start with. Whole number ≥ 1."""
    long: NotRequired[int]
    """Degree that long rounds start with. Whole number ≥ 1."""


class AdaptiveTpConfigExpectedWorkload(TypedDict):
    """What the first rounds are expected to demand: the profile chooses the start for it."""

    short: NotRequired[RolloutWorkload]
    """What a short round is expected to demand."""
    long: NotRequired[RolloutWorkload]
    """What a long round is expected to demand."""


class _AdaptiveTpConfig1(TypedDict):
    """Settings that `adaptive-tp` shares with `rollpacker`."""

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


class AdaptiveTpConfig(_AdaptiveTpConfig1):
    """Configuration of `adaptive-tp`."""

    sequenceBytes: NotRequired[float]
    """Bytes of KV cache of one sequence of the greatest length; a replica must hold at least one. Number ≥ 0. Default:
    0."""
    riseFactor: NotRequired[float]
    """Preemptions above this many times those of the step before double the TP. Number 1 to 100. Default: 1.05."""
    preemptionFloor: NotRequired[int]
    """Preemptions of a step up to which nothing counts as a rise. Whole number ≥ 0. Default: 4."""
    calmSteps: NotRequired[int]
    """Steps in a row without a preemption after which the TP is halved. Whole number ≥ 1. Default: 4."""
    cooldownSteps: NotRequired[int]
    """Steps after a change that lead to no other one, but an undo. Whole number 0 to 100. Default: 1."""
    undoTolerance: NotRequired[float]
    """A change is undone if measured ÷ predicted seconds rises by more than this share. Number 0 to 10. Default:
    0.05."""
    loadTolerance: NotRequired[float]
    """Share by which the load must move before it counts as another load. Number 0 to 10. Default: 0.25."""
    selectionMargin: NotRequired[float]
    """Share by which the profile must predict fewer seconds before it changes the TP by itself. Number 0 to 10.
    Default: 0.02."""
    observedTolerance: NotRequired[float]
    """Share by which an observation may differ from the profile. Number 0 to 10. Default: 0.25."""
    observedRounds: NotRequired[int]
    """Rounds of far observations in a row before it is measured anew. Whole number ≥ 1. Default: 3."""


AdaptiveTpEvent: TypeAlias = Union[
    RoundPlanned, RoundCompleted, RoundFailed, HostRestarted, ProfileMeasured, ProfileObserved, StepFinished,
    KindTpFailed,
]
"""What `adaptive-tp` is told."""


AdaptiveTpCommand: TypeAlias = Union[
    KindTpSet, RoundTpSet, ProfileMeasure,
]
"""Decisions of `adaptive-tp` that a host must carry out."""


AdaptiveTpNotice: TypeAlias = KindTpKept
"""Decisions of `adaptive-tp` that a host may read."""


AdaptiveTpDecision: TypeAlias = Union[
    KindTpSet, RoundTpSet, KindTpKept, ProfileMeasure,
]
"""What `adaptive-tp` answers."""


class AdaptiveTpSnapshot(AnySnapshot):
    """State of `adaptive-tp`: what `open(snapshot=…)` takes."""

    policy: Literal["adaptive-tp"]
    config: AdaptiveTpConfig
