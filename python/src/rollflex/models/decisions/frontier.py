# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: frontier."""

from typing import Literal

from .._typing import NotRequired, TypedDict


class FrontierResizedReasonLearning(TypedDict):
    """Reason `learning` of :class:`FrontierResized`."""

    code: Literal["learning"]

    unfinished: int
    """Requests of the groups in service that have not ended. Whole number ≥ 0."""

    startRequests: int
    """How many may be in service until a width can be planned. Whole number ≥ 1."""


class FrontierResizedReasonPlanned(TypedDict):
    """Reason `planned` of :class:`FrontierResized`."""

    code: Literal["planned"]

    groups: int
    """Groups of the round that was planned for. Whole number ≥ 1."""

    expectedSeconds: float
    """When the trainer is expected to be done, seconds from the first admission. Number ≥ 0."""

    stepSeconds: float
    """Seconds a token of a response, with nothing else in service. Number ≥ 0."""

    stepSecondsPerRequest: float
    """Further seconds a token for each request in service. Number ≥ 0."""

    stepSecondsPerContextToken: float
    """Further seconds a token for each token that those have. Number ≥ 0."""

    trainSecondsPerGroup: float
    """What the trainer takes for a group; 0 while unknown. Number ≥ 0."""


class FrontierResized(TypedDict):
    """A notice. From now on at most this many groups are in service; those that are stay."""

    type: Literal["frontier.resized"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    width: int
    """F_w: most groups in service at once. Whole number ≥ 1."""

    reason: FrontierResizedReasonLearning | FrontierResizedReasonPlanned
    """Why, with the numbers."""


class FrontierStarvedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["trainer_waits"]

    waitedSeconds: float
    """What the trainer has waited since its first groups of the round. Number ≥ 0."""

    busySeconds: float
    """What it has worked meanwhile. Number ≥ 0."""

    servedGroupsPerSecond: float
    """Groups that have left the frontier, a second. Number ≥ 0."""

    trainedGroupsPerSecond: float
    """Groups that the trainer takes, a second of its work. Number ≥ 0."""


class FrontierStarved(TypedDict):
    """A notice. The trainer waits while groups are deferred: the frontier is too narrow for it."""

    type: Literal["frontier.starved"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    width: int
    """F_w: most groups in service at once. Whole number ≥ 1."""

    suggestedWidth: int
    """A width that would have been better for this round. Whole number ≥ 1."""

    reason: FrontierStarvedReason
    """Why, with the numbers."""


class GroupLeftReasonAllEnded(TypedDict):
    """Reason `all_ended` of :class:`GroupLeft`."""

    code: Literal["all_ended"]

    completed: int
    """Responses that were completed. Whole number ≥ 0."""

    givenUp: int
    """Responses that failed for good or were aborted. Whole number ≥ 0."""

    servedSeconds: float
    """How long it was in service; 0 if it never was. Number ≥ 0."""


class GroupLeftReasonClosed(TypedDict):
    """Reason `closed` of :class:`GroupLeft`."""

    code: Literal["closed"]

    completed: int
    """Responses that were completed. Whole number ≥ 0."""

    givenUp: int
    """Responses that failed for good or were aborted. Whole number ≥ 0."""

    servedSeconds: float
    """How long it was in service; 0 if it never was. Number ≥ 0."""


class GroupLeft(TypedDict):
    """A notice. Nothing of a group runs or waits any more: its slot is free."""

    type: Literal["group.left"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    requestIds: list[str]
    """Its requests that have ended, by index."""

    reason: GroupLeftReasonAllEnded | GroupLeftReasonClosed
    """Why, with the numbers."""


class RequestAdmitReasonGroupAdmitted(TypedDict):
    """Reason `group_admitted` of :class:`RequestAdmit`."""

    code: Literal["group_admitted"]

    order: int
    """Place of the group in its round. Whole number ≥ 0."""

    inService: int
    """Groups in service, this one included. Whole number ≥ 0."""

    width: int
    """F_w: most groups in service at once. Whole number ≥ 1."""


class RequestAdmitReasonInFrontier(TypedDict):
    """Reason `in_frontier` of :class:`RequestAdmit`."""

    code: Literal["in_frontier"]

    order: int
    """Place of the group in its round. Whole number ≥ 0."""

    inService: int
    """Groups in service, this one included. Whole number ≥ 0."""

    width: int
    """F_w: most groups in service at once. Whole number ≥ 1."""


class RequestAdmit(TypedDict):
    """A command. Let this request into an engine."""

    type: Literal["request.admit"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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

    reason: RequestAdmitReasonGroupAdmitted | RequestAdmitReasonInFrontier
    """Why, with the numbers."""


class RequestAwaitedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["host_restarted"]


class RequestAwaited(TypedDict):
    """A notice. A group waits for a request that is not here: bring it by `request.arrived`."""

    type: Literal["request.awaited"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    index: int
    """Which response of the group, from 0. Whole number ≥ 0."""

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    reason: RequestAwaitedReason
    """Why, with the numbers."""


class RequestDeferredReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["frontier_full"]

    order: int
    """Place of the group in its round. Whole number ≥ 0."""

    inService: int
    """Groups in service. Whole number ≥ 0."""

    width: int
    """F_w: most groups in service at once. Whole number ≥ 1."""


class RequestDeferred(TypedDict):
    """A notice. A request waits, since its group is not in the frontier."""

    type: Literal["request.deferred"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    reason: RequestDeferredReason
    """Why, with the numbers."""


class RequestDroppedReasonAborted(TypedDict):
    """Reason `aborted` of :class:`RequestDropped`."""

    code: Literal["aborted"]


class RequestDroppedReasonReplaced(TypedDict):
    """Reason `replaced` of :class:`RequestDropped`."""

    code: Literal["replaced"]

    ended: bool
    """Whether it had ended before: it had failed, or was aborted."""


class RequestDroppedReasonClosed(TypedDict):
    """Reason `closed` of :class:`RequestDropped`."""

    code: Literal["closed"]


class RequestDroppedReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`RequestDropped`."""

    code: Literal["host_restarted"]


class RequestDropped(TypedDict):
    """A notice. A request is given up before it has ended; what comes of it later is late."""

    type: Literal["request.dropped"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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

    reason: (
        RequestDroppedReasonAborted
        | RequestDroppedReasonReplaced
        | RequestDroppedReasonClosed
        | RequestDroppedReasonHostRestarted
    )
    """Why, with the numbers."""
