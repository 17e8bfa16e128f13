# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: training."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import TrainingShare


class GradientScaleReason(TypedDict):
    """Reason of :class:`GradientScale`. Why, with the numbers."""

    code: Literal["local_mean", "local_sum"]
    units: float
    """Units of the loss on this replica: samples, tokens or groups. Number ≥ 0."""
    total: float
    """Units on all replicas, or the divisor that is configured. Number ≥ 0."""
    replicas: int
    """Replicas of the collective. Whole number ≥ 0."""


class GradientScale(AnyDecision):
    """A command. Multiply the accumulated gradients of the replica by this factor, before they are synchronised."""

    type: Literal["gradient.scale"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    factor: float
    """Factor; 0 for a replica without units of a mean. Number ≥ 0."""
    reason: GradientScaleReason


class GradientsDiscardReason(TypedDict):
    """Reason of :class:`GradientsDiscard`. Why, with the numbers."""

    code: Literal["round_failed", "not_final", "step_failed"]
    groups: int
    """How many groups. Whole number ≥ 0."""


class GradientsDiscard(AnyDecision):
    """A command. Stop what the replica computes, and drop the gradients that it has accumulated."""

    type: Literal["gradients.discard"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    reason: GradientsDiscardReason


class GradientsOffloadReason(TypedDict):
    """Reason of :class:`GradientsOffload`. Why, with the numbers."""

    code: Literal["idle", "gpus_returned"]
    groups: int
    """How many groups. Whole number ≥ 0."""


class GradientsOffload(AnyDecision):
    """A command. Move the accumulated gradients of the replica to host memory."""

    type: Literal["gradients.offload"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    reason: GradientsOffloadReason


class GradientsReloadReason(TypedDict):
    """Reason of :class:`GradientsReload`. Why, with the numbers."""

    code: Literal["fetch", "finish"]
    groups: int
    """How many groups. Whole number ≥ 0."""


class GradientsReload(AnyDecision):
    """A command. Bring the accumulated gradients of the replica back into GPU memory."""

    type: Literal["gradients.reload"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    reason: GradientsReloadReason


class GroupLateReason(TypedDict):
    """Reason of :class:`GroupLate`. Why, with the numbers."""

    code: Literal["known", "launch_over", "round_completed", "round_over"]


class GroupLate(AnyDecision):
    """A notice. A completed group that is here already, or of a round that trains on others: it is not trained."""

    type: Literal["group.late"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    groupId: str
    """Id of the group: that of the prompt whose responses it is made of. String ≤ 512."""
    reason: GroupLateReason


class GroupsDroppedReason(TypedDict):
    """Reason of :class:`GroupsDropped`. Why, with the numbers."""

    code: Literal["round_failed", "not_final", "zero_variance", "incomplete", "other_weights"]
    groups: NotRequired[int]
    """How many groups. Whole number ≥ 0. Only with `round_failed`, `not_final`."""
    standardDeviation: NotRequired[float]
    """Population standard deviation of the raw rewards. Only with `zero_variance`."""
    tolerance: NotRequired[float]
    """Up to which it counts as none. Only with `zero_variance`."""
    samples: NotRequired[int]
    """Responses of the group that have a reward. Whole number ≥ 0. Only with `incomplete`."""
    needed: NotRequired[int]
    """Responses that a group needs. Whole number ≥ 0. Only with `incomplete`."""
    weightVersion: NotRequired[int]
    """Version of the actor weights; never decreases. Whole number 0 to 4000000000000000. Only with `other_weights`."""
    got: NotRequired[int]
    """Version of the weights that generated the group. Whole number 0 to 4000000000000000. Only with
    `other_weights`."""


class GroupsDropped(AnyDecision):
    """A notice. Completed groups that are not trained."""

    type: Literal["groups.dropped"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    groups: list[str]
    """In the order in which they were completed."""
    reason: GroupsDroppedReason


class OptimizerStepReason(TypedDict):
    """Reason of :class:`OptimizerStep`. Why, with the numbers."""

    code: Literal["all_finished", "update_consumed"]
    groups: int
    """With `all_finished`: Groups that were trained. Whole number ≥ 0. With `update_consumed`: Groups of the update.
    Whole number ≥ 0."""
    streamed: NotRequired[int]
    """Groups that replicas had been sent when the round was complete. Whole number ≥ 0. Only with `all_finished`."""
    afterSeconds: NotRequired[float]
    """Since the round was complete, in seconds. Number ≥ 0. Only with `all_finished`."""
    groupsPerUpdate: NotRequired[int]
    """Groups of a whole update. Whole number ≥ 1. Only with `update_consumed`."""
    update: NotRequired[int]
    """Which update of the round, from 0. Whole number ≥ 0. Only with `update_consumed`."""
    seconds: NotRequired[float]
    """How long the trainer has computed for it, in seconds. Number ≥ 0. Only with `update_consumed`."""


class OptimizerStep(AnyDecision):
    """A command. Synchronise the scaled gradients over these replicas, step once, and answer `optimizer.stepped`."""

    type: Literal["optimizer.step"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    updateId: str
    """Id of this try to step, minted by the policy; it goes into the answer. String ≤ 200."""
    replicas: NotRequired[list[str]]
    """Every replica of the collective, those without groups included; absent: all of the trainer."""
    groups: NotRequired[list[str]]
    """Groups whose gradients it steps on, where a round has several updates."""
    samples: int
    """Samples in the gradients. Whole number ≥ 0."""
    tokens: int
    """Tokens in the gradients. Whole number 0 to 1000000000000."""
    reason: OptimizerStepReason


class ReferenceComputeReason(TypedDict):
    """Reason of :class:`ReferenceCompute`. Why, with the numbers."""

    code: Literal["reference_pass"]
    groups: int
    """How many groups. Whole number ≥ 0."""


class ReferenceCompute(AnyDecision):
    """A command. Compute the reference logits of the groups that the replica trains next."""

    type: Literal["reference.compute"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    fetchId: str
    """Id of the fetch or share, minted by the policy. String ≤ 1200."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    groups: list[str]
    """In the order in which they are trained."""
    reason: ReferenceComputeReason


class RoundTrainedReason(TypedDict):
    """Reason of :class:`RoundTrained`. Why, with the numbers."""

    code: Literal["stepped", "published", "nothing_to_train"]
    groups: NotRequired[int]
    """Groups that were trained. Whole number ≥ 0. Only with `stepped`, `published`."""
    streamed: NotRequired[int]
    """Groups that replicas had been sent when the round was complete. Whole number ≥ 0. Only with `stepped`."""
    afterSeconds: NotRequired[float]
    """Since the round was complete, in seconds. Number ≥ 0. Only with `stepped`, `published`."""
    updates: NotRequired[int]
    """Updates that they were trained in. Whole number ≥ 0. Only with `published`."""


class RoundTrained(AnyDecision):
    """A notice. Every group of the round is in one optimizer step, each in one, and the weights are new."""

    type: Literal["round.trained"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    groups: list[str]
    """In the order in which they were completed."""
    reason: RoundTrainedReason


class TrainFetchReason(TypedDict):
    """Reason of :class:`TrainFetch`. Why, with the numbers."""

    code: Literal["probe", "fair_share", "round_end", "once"]
    waitingGroups: int
    """Groups of the round that wait to be trained. Whole number ≥ 0."""
    waitingTokens: NotRequired[int]
    """Tokens of these groups. Whole number 0 to 1000000000000. Only with `fair_share`."""
    replicas: NotRequired[int]
    """Replicas that train. Whole number ≥ 0. Only with `fair_share`."""
    missingGroups: NotRequired[int]
    """Groups of the round that are not complete. Whole number ≥ 0. Only with `round_end`."""
    restSeconds: NotRequired[float]
    """When the rollout is expected to end, seconds from now. Number ≥ 0. Only with `round_end`."""
    secondsPerToken: NotRequired[float]
    """Seconds that the replica takes for a token. Number ≥ 0. Only with `round_end`."""
    capGroups: NotRequired[int]
    """Most groups that are fetched at once. Whole number ≥ 0. Only with `once`."""


class TrainFetch(AnyDecision):
    """A command. Add the gradients of these groups to those of the replica, without synchronising them, and answer
    `train.consumed`."""

    type: Literal["train.fetch"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    fetchId: str
    """Id of the fetch or share, minted by the policy. String ≤ 1200."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    groups: list[str]
    """Whole groups, in the order in which they were completed."""
    samples: int
    """Samples of these groups. Whole number ≥ 0."""
    tokens: int
    """Tokens of these groups. Whole number 0 to 1000000000000."""
    gradientSync: Literal[False]
    """Gradients stay on the replica until the round is over."""
    optimizerLoaded: Literal[False]
    """Optimizer states need no memory yet."""
    reason: TrainFetchReason


class TrainFinishReason(TypedDict):
    """Reason of :class:`TrainFinish`. Why, with the numbers."""

    code: Literal["round_completed", "replica_lost", "host_restarted", "partly_consumed", "step_failed"]
    remaining: int
    """Groups that are spread by this decision. Whole number ≥ 0."""
    streamed: int
    """Groups that replicas had been sent when the round was complete. Whole number ≥ 0."""
    replicas: int
    """Replicas that take part. Whole number ≥ 0."""


class TrainFinish(AnyDecision):
    """A command. Train what remains of the round, each replica its share, and answer `train.finished` for each
    share."""

    type: Literal["train.finish"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    remaining: int
    """Groups that are spread by this decision. Whole number ≥ 0."""
    shares: list[TrainingShare]
    """By replica, in the order of the configuration."""
    expectedSeconds: NotRequired[float]
    """When the last replica is expected to be done, seconds from now; absent if nothing was measured yet. Number ≥
    0."""
    reason: TrainFinishReason


class TrainRequeuedReason(TypedDict):
    """Reason of :class:`TrainRequeued`. Why, with the numbers."""

    code: Literal["replica_lost", "host_restarted", "step_failed", "not_final", "partly_consumed"]
    consumed: int
    """Groups whose gradients the replica had accumulated. Whole number ≥ 0."""
    inFlight: int
    """Groups that it had been sent and had not reported. Whole number ≥ 0."""


class TrainRequeued(AnyDecision):
    """A notice. Groups are to be trained again: their gradients are gone, or were never made."""

    type: Literal["train.requeued"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    groups: list[str]
    """In the order in which they will be fetched again."""
    reason: TrainRequeuedReason


class TrainingLateReason(TypedDict):
    """Reason of :class:`TrainingLate`. Why, with the numbers."""

    code: Literal[
        "fetch_over", "release_over", "round_over", "round_completed", "update_over", "already_consumed",
        "publication_over", "step_withdrawn",
    ]


class TrainingLate(AnyDecision):
    """A notice. A report that is repeated, or about a fetch, an update, a publication, a release or a round that is
    over: nothing changes."""

    type: Literal["training.late"]
    roundId: NotRequired[str]
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    fetchId: NotRequired[str]
    """Id of the fetch or share, minted by the policy. String ≤ 1200."""
    updateId: NotRequired[str]
    """Id of the update, minted by the policy; new for every try. String ≤ 200."""
    publicationId: NotRequired[str]
    """Id of the publication, minted by the policy; new for every try. String ≤ 200."""
    reason: TrainingLateReason


class WeightsSwap(AnyDecision):
    """A command. Put these weights on the GPUs of the replica, in place of the others."""

    type: Literal["weights.swap"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    to: Literal["reference", "actor"]
    """Which weights the replica has next."""
    reason: ReferenceComputeReason
