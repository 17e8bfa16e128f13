# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: frontier."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from .chunks import ChunkAwaitedReason


class FrontierResizedReason(TypedDict):
    """Reason of :class:`FrontierResized`. Why, with the numbers."""

    code: Literal["learning", "planned"]
    unfinished: NotRequired[int]
    """Requests of the groups in service that have not ended. Whole number ≥ 0. Only with `learning`."""
    startRequests: NotRequired[int]
    """How many may be in service until a width can be planned. Whole number ≥ 1. Only with `learning`."""
    groups: NotRequired[int]
    """Groups of the round that was planned for. Whole number ≥ 1. Only with `planned`."""
    expectedSeconds: NotRequired[float]
    """When the trainer is expected to be done, seconds from the first admission. Number ≥ 0. Only with `planned`."""
    stepSeconds: NotRequired[float]
    """Seconds a token of a response, with nothing else in service. Number ≥ 0. Only with `planned`."""
    stepSecondsPerRequest: NotRequired[float]
    """Further seconds per token for each request in service. Number ≥ 0. Only with `planned`."""
    stepSecondsPerContextToken: NotRequired[float]
    """Further seconds per token for each token that those have. Number ≥ 0. Only with `planned`."""
    trainSecondsPerGroup: NotRequired[float]
    """What the trainer takes for a group; 0 while unknown. Number ≥ 0. Only with `planned`."""


class FrontierResized(AnyDecision):
    """A notice. From now on at most this many groups are in service; those that are stay."""

    type: Literal["frontier.resized"]
    width: int
    """F_w: most groups in service at once. Whole number ≥ 1."""
    reason: FrontierResizedReason


class FrontierStarvedReason(TypedDict):
    """Reason of :class:`FrontierStarved`. Why, with the numbers."""

    code: Literal["trainer_waits"]
    waitedSeconds: float
    """What the trainer has waited since its first groups of the round. Number ≥ 0."""
    busySeconds: float
    """What it has worked meanwhile. Number ≥ 0."""
    servedGroupsPerSecond: float
    """Groups that have left the frontier, a second. Number ≥ 0."""
    trainedGroupsPerSecond: float
    """Groups that the trainer takes, a second of its work. Number ≥ 0."""


class FrontierStarved(AnyDecision):
    """A notice. The trainer waits while groups are deferred: the frontier is too narrow for it."""

    type: Literal["frontier.starved"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    width: int
    """F_w: most groups in service at once. Whole number ≥ 1."""
    suggestedWidth: int
    """A width that would have been better for this round. Whole number ≥ 1."""
    reason: FrontierStarvedReason


class GroupLeftReason(TypedDict):
    """Reason of :class:`GroupLeft`. Why, with the numbers."""

    code: Literal["all_ended", "closed"]
    completed: int
    """Responses that were completed. Whole number ≥ 0."""
    givenUp: int
    """Responses that failed for good or were aborted. Whole number ≥ 0."""
    servedSeconds: float
    """How long it was in service; 0 if it never was. Number ≥ 0."""


class GroupLeft(AnyDecision):
    """A notice. Nothing of a group runs or waits any more: its slot is free."""

    type: Literal["group.left"]
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    requestIds: list[str]
    """Its requests that have ended, by index."""
    reason: GroupLeftReason


class RequestAdmitReason(TypedDict):
    """Reason of :class:`RequestAdmit`. Why, with the numbers."""

    code: Literal["group_admitted", "in_frontier"]
    order: int
    """Place of the group in its round. Whole number ≥ 0."""
    inService: int
    """Groups in service, this one included. Whole number ≥ 0."""
    width: int
    """F_w: most groups in service at once. Whole number ≥ 1."""


class RequestAdmit(AnyDecision):
    """A command. Let this request into an engine."""

    type: Literal["request.admit"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    index: int
    """Which response of the group, from 0. Whole number ≥ 0."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: RequestAdmitReason


class RequestAwaited(AnyDecision):
    """A notice. A group waits for a request that is not here: bring it by `request.arrived`."""

    type: Literal["request.awaited"]
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    index: int
    """Which response of the group, from 0. Whole number ≥ 0."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: ChunkAwaitedReason


class RequestDeferredReason(TypedDict):
    """Reason of :class:`RequestDeferred`. Why, with the numbers."""

    code: Literal["frontier_full"]
    order: int
    """Place of the group in its round. Whole number ≥ 0."""
    inService: int
    """Groups in service. Whole number ≥ 0."""
    width: int
    """F_w: most groups in service at once. Whole number ≥ 1."""


class RequestDeferred(AnyDecision):
    """A notice. A request waits, since its group is not in the frontier."""

    type: Literal["request.deferred"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    reason: RequestDeferredReason


class RequestDroppedReason(TypedDict):
    """Reason of :class:`RequestDropped`. Why, with the numbers."""

    code: Literal["aborted", "replaced", "closed", "host_restarted"]
    ended: NotRequired[bool]
    """Whether it had ended before: it had failed, or was aborted. Only with `replaced`."""


class RequestDropped(AnyDecision):
    """A notice. A request is given up before it has ended; what comes of it later is late."""

    type: Literal["request.dropped"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    index: int
    """Which response of the group, from 0. Whole number ≥ 0."""
    admitted: bool
    """Whether an engine has it, which is to stop it."""
    reason: RequestDroppedReason
