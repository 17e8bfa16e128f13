# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: pipelining."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import MicroBatch


class GroupTrainableReason(TypedDict):
    """Reason of :class:`GroupTrainable`. Why, with the numbers."""

    code: Literal["materialized"]
    waiting: int
    """Groups that wait for an update, this one included. Whole number ≥ 0."""
    groupsPerUpdate: int
    """Groups of a whole update. Whole number ≥ 1."""


class GroupTrainable(AnyDecision):
    """A notice. A group is complete, with statistics and advantages: it waits for its update."""

    type: Literal["group.trainable"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    groupId: str
    """Id of the group: that of the prompt whose responses it is made of. String ≤ 512."""
    order: int
    """Its place among the trainable groups of the round, from 0: the order of training. Whole number ≥ 0."""
    samples: int
    """Responses of the group. Whole number ≥ 1."""
    tokens: int
    """Tokens of the group, prompts included where they are known. Whole number 0 to 1000000000000."""
    mean: float
    """Mean of its rewards."""
    std: float
    """Their standard deviation, of the kind that is configured. Number ≥ 0."""
    requestIds: list[str]
    """Its responses, by index."""
    advantages: list[float]
    """The advantage of each of them, in the same order."""
    reason: GroupTrainableReason


class PipelineMeasuredReason(TypedDict):
    """Reason of :class:`PipelineMeasured`. Why, with the numbers."""

    code: Literal["round_trained"]
    groups: int
    """Groups that were trained. Whole number ≥ 0."""
    updates: int
    """Updates that they were trained in. Whole number ≥ 0."""
    dropped: int
    """Groups that were not trained. Whole number ≥ 0."""
    dispatches: int
    """Tries of these updates. Whole number ≥ 0."""


class PipelineMeasured(AnyDecision):
    """A notice. How well the trainer was fed in the round: times from the opening of the round, and waiting ratios."""

    type: Literal["pipeline.measured"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    rolloutSeconds: float
    """Until every group had its rewards: when a serial trainer would begin. Number ≥ 0."""
    firstBatchSeconds: float
    """Until the groups of the first update were trainable. Number ≥ 0."""
    firstDispatchSeconds: float
    """Until the first update was dispatched. Number ≥ 0."""
    recoverySeconds: float
    """What pipelining takes off the wait (RolloutPipe equation 3): `rolloutSeconds` − `firstBatchSeconds`. Number ≥
    0."""
    trainEndSeconds: float
    """Until the optimizer had made its last step. Number ≥ 0."""
    waitSeconds: float
    """Seconds of these in which the trainer had no update. Number ≥ 0."""
    computeSeconds: float
    """Seconds that the trainer has reported; work that was lost counts too. Number ≥ 0."""
    startWaitingRatio: float
    """RolloutPipe equation 4: `firstDispatchSeconds` ÷ `trainEndSeconds`, the wait before the first update alone.
    Number 0 to 1."""
    computeWaitingRatio: float
    """RolloutPipe §5.1: `waitSeconds` ÷ (`waitSeconds` + `computeSeconds`). Number 0 to 1."""
    wallClockWaitingRatio: float
    """RolloutPipe §3.2, in words: `waitSeconds` ÷ `trainEndSeconds`. Number 0 to 1."""
    reason: PipelineMeasuredReason


class TrainDispatchReason(TypedDict):
    """Reason of :class:`TrainDispatch`. Why, with the numbers."""

    code: Literal["batch_ready", "round_end", "update_lost", "trainer_restarted", "host_restarted"]
    waiting: NotRequired[int]
    """Groups that waited for an update. Whole number ≥ 0. Only with `batch_ready`, `round_end`."""
    groupsPerUpdate: NotRequired[int]
    """Groups of a whole update. Whole number ≥ 1. Only with `batch_ready`, `round_end`."""
    attempts: NotRequired[int]
    """Tries of this update before this one. Whole number ≥ 0. Only with `update_lost`, `trainer_restarted`,
    `host_restarted`."""
    consumed: NotRequired[int]
    """Groups of it that the try before had reported. Whole number ≥ 0. Only with `update_lost`, `trainer_restarted`,
    `host_restarted`."""


class TrainDispatch(AnyDecision):
    """A command. Accumulate the gradients of this update, after the optimizer has stepped on the one before, and answer
    `update.consumed`."""

    type: Literal["train.dispatch"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    updateId: str
    """Id of the update, minted by the policy; new for every try. String ≤ 200."""
    update: int
    """Which update of the round, from 0. Whole number ≥ 0."""
    weightVersion: int
    """Version of the weights that generated every response of it. Whole number 0 to 4000000000000000."""
    groups: list[str]
    """Whole groups, in the order in which they became trainable."""
    samples: int
    """Samples of these groups: what the loss of the update is divided by. Whole number ≥ 0."""
    tokens: int
    """Tokens of these groups, prompts included where they are known. Whole number 0 to 1000000000000."""
    microBatches: list[MicroBatch]
    """The same groups, in the same order, under the token budget."""
    reason: TrainDispatchReason


class UpdateCancelReason(TypedDict):
    """Reason of :class:`UpdateCancel`. Why, with the numbers."""

    code: Literal["round_failed"]
    groups: int
    """Groups of these updates. Whole number ≥ 0."""


class UpdateCancel(AnyDecision):
    """A command. Stop these updates, and drop the gradients that they have accumulated: their round is given up."""

    type: Literal["update.cancel"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    updateIds: list[str]
    """In the order of their updates."""
    reason: UpdateCancelReason


class WeightsPublishReason(TypedDict):
    """Reason of :class:`WeightsPublish`. Why, with the numbers."""

    code: Literal["all_consumed", "round_failed", "trainer_restarted", "host_restarted"]
    groups: int
    """Groups that were trained. Whole number ≥ 0."""
    updates: int
    """Updates that they were trained in. Whole number ≥ 0."""
    afterSeconds: NotRequired[float]
    """Since the rollout of the round ended, in seconds. Number ≥ 0. Only with `all_consumed`."""


class WeightsPublish(AnyDecision):
    """A command. Export the weights of the trainer to the rollout engines, and answer `weights.published`."""

    type: Literal["weights.publish"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    publicationId: str
    """Id of the publication, minted by the policy; new for every try. String ≤ 200."""
    weightVersion: int
    """Version that the round was generated with: the one that is replaced. Whole number 0 to 4000000000000000."""
    reason: WeightsPublishReason
