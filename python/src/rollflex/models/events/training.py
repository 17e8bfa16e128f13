# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: training."""

from collections.abc import Sequence
from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired


class GroupCompleted(AnyEvent):
    """A group has all its responses, rewards and advantages and counts for the round."""

    type: Literal["group.completed"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    groupId: str
    """Id of the group: that of the prompt whose responses it is made of. String ≤ 512."""
    samples: int
    """Responses of the group. Whole number ≥ 1."""
    tokens: int
    """Tokens of the group, all responses together. Whole number 0 to 1000000000000."""
    launchId: NotRequired[str]
    """The `group.launch` that it answers; needed where a policy launches groups (`staleness-pacing`). String ≤ 200."""


class GroupRejected(AnyEvent):
    """A group that was launched does not train: a filter rejects it, or it has failed for good. Another one takes its
    place."""

    type: Literal["group.rejected"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    groupId: str
    """Id of the group: that of the prompt whose responses it is made of. String ≤ 512."""
    launchId: str
    """Id of the launch of the group, minted by the policy; new for every try. String ≤ 200."""
    cause: Literal["filtered", "failed"]
    """`filtered`: its rewards teach nothing, for example. `failed`: it has no responses, or too few."""


class OptimizerStepped(AnyEvent):
    """The optimizer has stepped on the gradients of the round, or of one of its updates."""

    type: Literal["optimizer.stepped"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    updateId: str
    """That of the `optimizer.step` which was carried out. String ≤ 200."""


class ReplicaAdded(AnyEvent):
    """A training replica is there again, without gradients. May be repeated."""

    type: Literal["replica.added"]
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""


class ReplicaLost(AnyEvent):
    """A training replica is gone, with the gradients that it had accumulated. May be repeated."""

    type: Literal["replica.lost"]
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""


class TrainConsumed(AnyEvent):
    """A replica has accumulated the gradients of a `train.fetch`."""

    type: Literal["train.consumed"]
    fetchId: str
    """Id of the fetch or share, minted by the policy. String ≤ 1200."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    groups: Sequence[str]
    """Groups whose gradients are accumulated; those left out go to another try."""
    samples: int
    """Samples in the accumulated gradients of these groups. Whole number ≥ 0."""
    tokens: int
    """Tokens that the loss counted in these groups. Whole number 0 to 1000000000000."""
    seconds: float
    """How long the replica worked on them, in seconds; reference pass included. Number ≥ 0."""


class TrainFinished(AnyEvent):
    """A replica has accumulated the gradients of its share of a `train.finish`."""

    type: Literal["train.finished"]
    fetchId: str
    """Id of the fetch or share, minted by the policy. String ≤ 1200."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    groups: Sequence[str]
    """Groups whose gradients are accumulated; those left out go to another try."""
    samples: int
    """Samples in the accumulated gradients of these groups. Whole number ≥ 0."""
    tokens: int
    """Tokens that the loss counted in these groups. Whole number 0 to 1000000000000."""
    seconds: float
    """How long the replica worked on them, in seconds; reference pass included. Number ≥ 0."""
