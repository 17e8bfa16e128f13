# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: pacing."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import PacedGroup


class GroupDropReason(TypedDict):
    """Reason of :class:`GroupDrop`. Why, with the numbers."""

    code: Literal["version_skipped"]
    startVersion: int
    """Version of the weights that it was launched with. Whole number 0 to 4000000000000000."""
    weightVersion: int
    """Version of the weights that are trained next. Whole number 0 to 4000000000000000."""
    maxStaleness: int
    """Most versions that its first tokens may be behind. Whole number ≥ 0."""
    tokens: int
    """Tokens that it has, where it is complete; otherwise 0. Whole number 0 to 1000000000000."""


class GroupDrop(AnyDecision):
    """A command. Give this group up: stop what generates it, and discard what it has. Only after the weights have
    advanced by more than a version."""

    type: Literal["group.drop"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    groupId: str
    """Id of the group: that of the prompt whose responses it is made of. String ≤ 512."""
    launchId: str
    """Id of the launch of the group, minted by the policy; new for every try. String ≤ 200."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: GroupDropReason


class GroupLaunchReason(TypedDict):
    """Reason of :class:`GroupLaunch`. Why, with the numbers."""

    code: Literal["within_staleness", "host_restarted"]
    groups: int
    """Groups that are launched and in no batch yet, this one included. Whole number ≥ 0."""
    allowed: int
    """How many these may be, so that none gets too old. Whole number ≥ 0."""


class GroupLaunch(AnyDecision):
    """A command. Generate all responses of a group, and answer `group.completed`, or `group.rejected`."""

    type: Literal["group.launch"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    groupId: str
    """Id of the group: that of the prompt whose responses it is made of. String ≤ 512."""
    launchId: str
    """Id of the launch of the group, minted by the policy; new for every try. String ≤ 200."""
    weightVersion: int
    """Version of the weights that the engines have now, at least. Whole number 0 to 4000000000000000."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: GroupLaunchReason


class TrainBatchReason(TypedDict):
    """Reason of :class:`TrainBatch`. Why, with the numbers."""

    code: Literal["batch_ready", "source_exhausted", "host_restarted"]
    finished: int
    """Groups that were complete and in no batch yet. Whole number ≥ 0."""
    inFlight: int
    """Groups that were generated then. Whole number ≥ 0."""
    largestLag: int
    """Most versions that one of its groups is behind the weights that are trained. Whole number ≥ 0."""


class TrainBatch(AnyDecision):
    """A command. Train on these groups, bring the weights that come of it to the engines, and answer
    `weights.published`. The same id again is the same batch: do not train on it twice."""

    type: Literal["train.batch"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    publicationId: str
    """Id of the publication, minted by the policy; new for every try. String ≤ 200."""
    weightVersion: int
    """Version of the weights that come of it: one more than that of those trained. Whole number 0 to
    4000000000000000."""
    groups: list[PacedGroup]
    """Its groups, in the order in which they were launched."""
    samples: int
    """Samples of these groups. Whole number ≥ 0."""
    tokens: int
    """Tokens of these groups. Whole number 0 to 1000000000000."""
    reason: TrainBatchReason
