# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: parallelism."""

from collections.abc import Sequence
from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired
from ..objects import ProfileRow, RolloutWorkload


class KindTpFailed(AnyEvent):
    """A `kind-tp.set` could not be carried out."""

    type: Literal["kind-tp.failed"]
    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""
    tp: int
    """Tensor-parallel degree: GPUs of one replica. Whole number ≥ 1."""
    ep: NotRequired[int]
    """Expert-parallel degree inside the replica; divides the TP. Whole number ≥ 1."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""


class ProfileMeasured(AnyEvent):
    """Rows of the profile that were measured: new ones, and ones that replace what was known of the same point."""

    type: Literal["profile.measured"]
    rows: Sequence[ProfileRow]
    """The rows; the last one of a point counts."""


class ProfileObserved(AnyEvent):
    """What a decode step took in a rollout, to be held against the profile."""

    type: Literal["profile.observed"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    tp: int
    """Tensor-parallel degree: GPUs of one replica. Whole number ≥ 1."""
    ep: NotRequired[int]
    """Expert-parallel degree inside the replica; divides the TP. Whole number ≥ 1."""
    routingSkew: NotRequired[float]
    """Tokens of the most loaded expert rank ÷ their mean over the ranks; 1 if absent. Number ≥ 1."""
    batchSize: int
    """Sequences that one replica runs at once. Whole number ≥ 1."""
    sequenceLength: int
    """Tokens of each sequence. Whole number ≥ 1."""
    decodeStepSeconds: float
    """Seconds of one decode step of the batch, > 0. Number > 0."""


class StepFinished(AnyEvent):
    """The rollout of a round has ended."""

    type: Literal["step.finished"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""
    tp: int
    """Tensor-parallel degree that it ran with. Whole number ≥ 1."""
    ep: NotRequired[int]
    """Expert-parallel degree inside the replica; divides the TP. Whole number ≥ 1."""
    preemptions: int
    """Requests that the engines preempted, over all engines. Whole number ≥ 0."""
    seconds: float
    """Seconds of the rollout, without the change of parallelism before it; > 0. Number > 0."""
    workload: RolloutWorkload
    """What the round demanded."""
