# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: training."""

from typing import Literal

from .._typing import NotRequired, TypedDict
from ..objects import TrainingShare


class GradientScaleReasonLocalMean(TypedDict):
    """Reason `local_mean` of :class:`GradientScale`."""

    code: Literal["local_mean"]

    units: float
    """Units of the loss on this replica: samples, tokens or groups. Number ≥ 0."""

    total: float
    """Units on all replicas, or the divisor that is configured. Number ≥ 0."""

    replicas: int
    """Replicas of the collective. Whole number ≥ 0."""


class GradientScaleReasonLocalSum(TypedDict):
    """Reason `local_sum` of :class:`GradientScale`."""

    code: Literal["local_sum"]

    units: float
    """Units of the loss on this replica: samples, tokens or groups. Number ≥ 0."""

    total: float
    """Units on all replicas, or the divisor that is configured. Number ≥ 0."""

    replicas: int
    """Replicas of the collective. Whole number ≥ 0."""


class GradientScale(TypedDict):
    """A command. Multiply the accumulated gradients of the replica by this factor, before they are synchronised."""

    type: Literal["gradient.scale"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""

    factor: float
    """Factor; 0 for a replica without units of a mean. Number ≥ 0."""

    reason: GradientScaleReasonLocalMean | GradientScaleReasonLocalSum
    """Why, with the numbers."""


class GradientsDiscardReasonRoundFailed(TypedDict):
    """Reason `round_failed` of :class:`GradientsDiscard`."""

    code: Literal["round_failed"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class GradientsDiscardReasonNotFinal(TypedDict):
    """Reason `not_final` of :class:`GradientsDiscard`."""

    code: Literal["not_final"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class GradientsDiscardReasonStepFailed(TypedDict):
    """Reason `step_failed` of :class:`GradientsDiscard`."""

    code: Literal["step_failed"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class GradientsDiscard(TypedDict):
    """A command. Stop what the replica computes, and drop the gradients that it has accumulated."""

    type: Literal["gradients.discard"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""

    reason: (
        GradientsDiscardReasonRoundFailed
        | GradientsDiscardReasonNotFinal
        | GradientsDiscardReasonStepFailed
    )
    """Why, with the numbers."""


class GradientsOffloadReasonIdle(TypedDict):
    """Reason `idle` of :class:`GradientsOffload`."""

    code: Literal["idle"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class GradientsOffloadReasonGpusReturned(TypedDict):
    """Reason `gpus_returned` of :class:`GradientsOffload`."""

    code: Literal["gpus_returned"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class GradientsOffload(TypedDict):
    """A command. Move the accumulated gradients of the replica to host memory."""

    type: Literal["gradients.offload"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""

    reason: GradientsOffloadReasonIdle | GradientsOffloadReasonGpusReturned
    """Why, with the numbers."""


class GradientsReloadReasonFetch(TypedDict):
    """Reason `fetch` of :class:`GradientsReload`."""

    code: Literal["fetch"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class GradientsReloadReasonFinish(TypedDict):
    """Reason `finish` of :class:`GradientsReload`."""

    code: Literal["finish"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class GradientsReload(TypedDict):
    """A command. Bring the accumulated gradients of the replica back into GPU memory."""

    type: Literal["gradients.reload"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""

    reason: GradientsReloadReasonFetch | GradientsReloadReasonFinish
    """Why, with the numbers."""


class GroupLateReasonKnown(TypedDict):
    """Reason `known` of :class:`GroupLate`."""

    code: Literal["known"]


class GroupLateReasonRoundCompleted(TypedDict):
    """Reason `round_completed` of :class:`GroupLate`."""

    code: Literal["round_completed"]


class GroupLateReasonRoundOver(TypedDict):
    """Reason `round_over` of :class:`GroupLate`."""

    code: Literal["round_over"]


class GroupLate(TypedDict):
    """A notice. A completed group that is here already, or of a round that trains on others: it is not trained."""

    type: Literal["group.late"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    groupId: str
    """Id of the group: that of the prompt whose responses it is made of. String ≤ 512."""

    reason: GroupLateReasonKnown | GroupLateReasonRoundCompleted | GroupLateReasonRoundOver
    """Why, with the numbers."""


class GroupsDroppedReasonRoundFailed(TypedDict):
    """Reason `round_failed` of :class:`GroupsDropped`."""

    code: Literal["round_failed"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class GroupsDroppedReasonNotFinal(TypedDict):
    """Reason `not_final` of :class:`GroupsDropped`."""

    code: Literal["not_final"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class GroupsDroppedReasonZeroVariance(TypedDict):
    """Reason `zero_variance` of :class:`GroupsDropped`."""

    code: Literal["zero_variance"]

    standardDeviation: float
    """Population standard deviation of the raw rewards."""

    tolerance: float
    """Up to which it counts as none."""


class GroupsDroppedReasonIncomplete(TypedDict):
    """Reason `incomplete` of :class:`GroupsDropped`."""

    code: Literal["incomplete"]

    samples: int
    """Responses of the group that have a reward. Whole number ≥ 0."""

    needed: int
    """Responses that a group needs. Whole number ≥ 0."""


class GroupsDroppedReasonOtherWeights(TypedDict):
    """Reason `other_weights` of :class:`GroupsDropped`."""

    code: Literal["other_weights"]

    weightVersion: int
    """Version of the actor weights; never decreases. Whole number ≥ 0."""

    got: int
    """Version of the weights that generated the group. Whole number ≥ 0."""


class GroupsDropped(TypedDict):
    """A notice. Completed groups that are not trained."""

    type: Literal["groups.dropped"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    groups: list[str]
    """In the order in which they were completed."""

    reason: (
        GroupsDroppedReasonRoundFailed
        | GroupsDroppedReasonNotFinal
        | GroupsDroppedReasonZeroVariance
        | GroupsDroppedReasonIncomplete
        | GroupsDroppedReasonOtherWeights
    )
    """Why, with the numbers."""


class OptimizerStepReasonAllFinished(TypedDict):
    """Reason `all_finished` of :class:`OptimizerStep`."""

    code: Literal["all_finished"]

    groups: int
    """Groups that were trained. Whole number ≥ 0."""

    streamed: int
    """Groups that replicas had been sent when the round was complete. Whole number ≥ 0."""

    afterSeconds: float
    """Since the round was complete, in seconds. Number ≥ 0."""


class OptimizerStepReasonUpdateConsumed(TypedDict):
    """Reason `update_consumed` of :class:`OptimizerStep`."""

    code: Literal["update_consumed"]

    groups: int
    """Groups of the update. Whole number ≥ 0."""

    groupsPerUpdate: int
    """Groups of a whole update. Whole number ≥ 1."""

    update: int
    """Which update of the round, from 0. Whole number ≥ 0."""

    seconds: float
    """How long the trainer has computed for it, in seconds. Number ≥ 0."""


class OptimizerStep(TypedDict):
    """
    A command. Synchronise the scaled gradients over these replicas, step once, and answer
    `optimizer.stepped`.
    """

    type: Literal["optimizer.step"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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
    """Tokens in the gradients. Whole number ≥ 0."""

    reason: OptimizerStepReasonAllFinished | OptimizerStepReasonUpdateConsumed
    """Why, with the numbers."""


class ReferenceComputeReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["reference_pass"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class ReferenceCompute(TypedDict):
    """A command. Compute the reference logits of the groups that the replica trains next."""

    type: Literal["reference.compute"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    fetchId: str
    """Id of the fetch or share, minted by the policy. String ≤ 1200."""

    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""

    groups: list[str]
    """In the order in which they are trained."""

    reason: ReferenceComputeReason
    """Why, with the numbers."""


class RoundTrainedReasonStepped(TypedDict):
    """Reason `stepped` of :class:`RoundTrained`."""

    code: Literal["stepped"]

    groups: int
    """Groups that were trained. Whole number ≥ 0."""

    streamed: int
    """Groups that replicas had been sent when the round was complete. Whole number ≥ 0."""

    afterSeconds: float
    """Since the round was complete, in seconds. Number ≥ 0."""


class RoundTrainedReasonPublished(TypedDict):
    """Reason `published` of :class:`RoundTrained`."""

    code: Literal["published"]

    groups: int
    """Groups that were trained. Whole number ≥ 0."""

    updates: int
    """Updates that they were trained in. Whole number ≥ 0."""

    afterSeconds: float
    """Since the round was complete, in seconds. Number ≥ 0."""


class RoundTrainedReasonNothingToTrain(TypedDict):
    """Reason `nothing_to_train` of :class:`RoundTrained`."""

    code: Literal["nothing_to_train"]


class RoundTrained(TypedDict):
    """A notice. Every group of the round is in one optimizer step, each in one, and the weights are new."""

    type: Literal["round.trained"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    groups: list[str]
    """In the order in which they were completed."""

    reason: RoundTrainedReasonStepped | RoundTrainedReasonPublished | RoundTrainedReasonNothingToTrain
    """Why, with the numbers."""


class TrainFetchReasonProbe(TypedDict):
    """Reason `probe` of :class:`TrainFetch`."""

    code: Literal["probe"]

    waitingGroups: int
    """Groups of the round that wait to be trained. Whole number ≥ 0."""


class TrainFetchReasonFairShare(TypedDict):
    """Reason `fair_share` of :class:`TrainFetch`."""

    code: Literal["fair_share"]

    waitingGroups: int
    """Groups of the round that wait to be trained. Whole number ≥ 0."""

    waitingTokens: int
    """Tokens of these groups. Whole number ≥ 0."""

    replicas: int
    """Replicas that train. Whole number ≥ 0."""


class TrainFetchReasonRoundEnd(TypedDict):
    """Reason `round_end` of :class:`TrainFetch`."""

    code: Literal["round_end"]

    waitingGroups: int
    """Groups of the round that wait to be trained. Whole number ≥ 0."""

    missingGroups: int
    """Groups of the round that are not complete. Whole number ≥ 0."""

    restSeconds: float
    """When the rollout is expected to end, seconds from now. Number ≥ 0."""

    secondsPerToken: float
    """Seconds that the replica takes for a token. Number ≥ 0."""


class TrainFetchReasonOnce(TypedDict):
    """Reason `once` of :class:`TrainFetch`."""

    code: Literal["once"]

    waitingGroups: int
    """Groups of the round that wait to be trained. Whole number ≥ 0."""

    capGroups: int
    """Most groups that are fetched at once. Whole number ≥ 0."""


class TrainFetch(TypedDict):
    """
    A command. Add the gradients of these groups to those of the replica, without synchronising them, and
    answer `train.consumed`.
    """

    type: Literal["train.fetch"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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
    """Tokens of these groups. Whole number ≥ 0."""

    gradientSync: Literal[False]
    """Gradients stay on the replica until the round is over."""

    optimizerLoaded: Literal[False]
    """Optimizer states need no memory yet."""

    reason: (
        TrainFetchReasonProbe
        | TrainFetchReasonFairShare
        | TrainFetchReasonRoundEnd
        | TrainFetchReasonOnce
    )
    """Why, with the numbers."""


class TrainFinishReasonRoundCompleted(TypedDict):
    """Reason `round_completed` of :class:`TrainFinish`."""

    code: Literal["round_completed"]

    remaining: int
    """Groups that are spread by this decision. Whole number ≥ 0."""

    streamed: int
    """Groups that replicas had been sent when the round was complete. Whole number ≥ 0."""

    replicas: int
    """Replicas that take part. Whole number ≥ 0."""


class TrainFinishReasonReplicaLost(TypedDict):
    """Reason `replica_lost` of :class:`TrainFinish`."""

    code: Literal["replica_lost"]

    remaining: int
    """Groups that are spread by this decision. Whole number ≥ 0."""

    streamed: int
    """Groups that replicas had been sent when the round was complete. Whole number ≥ 0."""

    replicas: int
    """Replicas that take part. Whole number ≥ 0."""


class TrainFinishReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`TrainFinish`."""

    code: Literal["host_restarted"]

    remaining: int
    """Groups that are spread by this decision. Whole number ≥ 0."""

    streamed: int
    """Groups that replicas had been sent when the round was complete. Whole number ≥ 0."""

    replicas: int
    """Replicas that take part. Whole number ≥ 0."""


class TrainFinishReasonPartlyConsumed(TypedDict):
    """Reason `partly_consumed` of :class:`TrainFinish`."""

    code: Literal["partly_consumed"]

    remaining: int
    """Groups that are spread by this decision. Whole number ≥ 0."""

    streamed: int
    """Groups that replicas had been sent when the round was complete. Whole number ≥ 0."""

    replicas: int
    """Replicas that take part. Whole number ≥ 0."""


class TrainFinishReasonStepFailed(TypedDict):
    """Reason `step_failed` of :class:`TrainFinish`."""

    code: Literal["step_failed"]

    remaining: int
    """Groups that are spread by this decision. Whole number ≥ 0."""

    streamed: int
    """Groups that replicas had been sent when the round was complete. Whole number ≥ 0."""

    replicas: int
    """Replicas that take part. Whole number ≥ 0."""


class TrainFinish(TypedDict):
    """
    A command. Train what remains of the round, each replica its share, and answer `train.finished` for each
    share.
    """

    type: Literal["train.finish"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    remaining: int
    """Groups that are spread by this decision. Whole number ≥ 0."""

    shares: list[TrainingShare]
    """By replica, in the order of the configuration."""

    expectedSeconds: NotRequired[float]
    """
    When the last replica is expected to be done, seconds from now; absent if nothing was measured yet. Number
    ≥ 0.
    """

    reason: (
        TrainFinishReasonRoundCompleted
        | TrainFinishReasonReplicaLost
        | TrainFinishReasonHostRestarted
        | TrainFinishReasonPartlyConsumed
        | TrainFinishReasonStepFailed
    )
    """Why, with the numbers."""


class TrainRequeuedReasonReplicaLost(TypedDict):
    """Reason `replica_lost` of :class:`TrainRequeued`."""

    code: Literal["replica_lost"]

    consumed: int
    """Groups whose gradients the replica had accumulated. Whole number ≥ 0."""

    inFlight: int
    """Groups that it had been sent and had not reported. Whole number ≥ 0."""


class TrainRequeuedReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`TrainRequeued`."""

    code: Literal["host_restarted"]

    consumed: int
    """Groups whose gradients the replica had accumulated. Whole number ≥ 0."""

    inFlight: int
    """Groups that it had been sent and had not reported. Whole number ≥ 0."""


class TrainRequeuedReasonStepFailed(TypedDict):
    """Reason `step_failed` of :class:`TrainRequeued`."""

    code: Literal["step_failed"]

    consumed: int
    """Groups whose gradients the replica had accumulated. Whole number ≥ 0."""

    inFlight: int
    """Groups that it had been sent and had not reported. Whole number ≥ 0."""


class TrainRequeuedReasonNotFinal(TypedDict):
    """Reason `not_final` of :class:`TrainRequeued`."""

    code: Literal["not_final"]

    consumed: int
    """Groups whose gradients the replica had accumulated. Whole number ≥ 0."""

    inFlight: int
    """Groups that it had been sent and had not reported. Whole number ≥ 0."""


class TrainRequeuedReasonPartlyConsumed(TypedDict):
    """Reason `partly_consumed` of :class:`TrainRequeued`."""

    code: Literal["partly_consumed"]

    consumed: int
    """Groups whose gradients the replica had accumulated. Whole number ≥ 0."""

    inFlight: int
    """Groups that it had been sent and had not reported. Whole number ≥ 0."""


class TrainRequeued(TypedDict):
    """A notice. Groups are to be trained again: their gradients are gone, or were never made."""

    type: Literal["train.requeued"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""

    groups: list[str]
    """In the order in which they will be fetched again."""

    reason: (
        TrainRequeuedReasonReplicaLost
        | TrainRequeuedReasonHostRestarted
        | TrainRequeuedReasonStepFailed
        | TrainRequeuedReasonNotFinal
        | TrainRequeuedReasonPartlyConsumed
    )
    """Why, with the numbers."""


class TrainingLateReasonFetchOver(TypedDict):
    """Reason `fetch_over` of :class:`TrainingLate`."""

    code: Literal["fetch_over"]


class TrainingLateReasonReleaseOver(TypedDict):
    """Reason `release_over` of :class:`TrainingLate`."""

    code: Literal["release_over"]


class TrainingLateReasonRoundOver(TypedDict):
    """Reason `round_over` of :class:`TrainingLate`."""

    code: Literal["round_over"]


class TrainingLateReasonRoundCompleted(TypedDict):
    """Reason `round_completed` of :class:`TrainingLate`."""

    code: Literal["round_completed"]


class TrainingLateReasonUpdateOver(TypedDict):
    """Reason `update_over` of :class:`TrainingLate`."""

    code: Literal["update_over"]


class TrainingLateReasonAlreadyConsumed(TypedDict):
    """Reason `already_consumed` of :class:`TrainingLate`."""

    code: Literal["already_consumed"]


class TrainingLateReasonPublicationOver(TypedDict):
    """Reason `publication_over` of :class:`TrainingLate`."""

    code: Literal["publication_over"]


class TrainingLateReasonStepWithdrawn(TypedDict):
    """Reason `step_withdrawn` of :class:`TrainingLate`."""

    code: Literal["step_withdrawn"]


class TrainingLate(TypedDict):
    """
    A notice. A report that is repeated, or about a fetch, an update, a publication, a release or a round that
    is over: nothing changes.
    """

    type: Literal["training.late"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: NotRequired[str]
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    fetchId: NotRequired[str]
    """Id of the fetch or share, minted by the policy. String ≤ 1200."""

    updateId: NotRequired[str]
    """Id of the update, minted by the policy; new for every try. String ≤ 200."""

    publicationId: NotRequired[str]
    """Id of the publication, minted by the policy; new for every try. String ≤ 200."""

    reason: (
        TrainingLateReasonFetchOver
        | TrainingLateReasonReleaseOver
        | TrainingLateReasonRoundOver
        | TrainingLateReasonRoundCompleted
        | TrainingLateReasonUpdateOver
        | TrainingLateReasonAlreadyConsumed
        | TrainingLateReasonPublicationOver
        | TrainingLateReasonStepWithdrawn
    )
    """Why, with the numbers."""


class WeightsSwapReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["reference_pass"]

    groups: int
    """How many groups. Whole number ≥ 0."""


class WeightsSwap(TypedDict):
    """A command. Put these weights on the GPUs of the replica, in place of the others."""

    type: Literal["weights.swap"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""

    to: Literal["reference", "actor"]
    """Which weights the replica has next."""

    reason: WeightsSwapReason
    """Why, with the numbers."""
