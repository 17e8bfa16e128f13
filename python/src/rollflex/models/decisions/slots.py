# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: slots."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from .sandbox import SandboxLateReason


class SlotAssignReason(TypedDict):
    """Reason of :class:`SlotAssign`. Why, with the numbers."""

    code: Literal["oldest", "retry", "host_restarted"]
    waitedSeconds: NotRequired[float]
    """How long the program has waited, in seconds. Number ≥ 0. Only with `oldest`, `retry`."""
    waiting: NotRequired[int]
    """Programs that wait for an environment of this kind. Whole number ≥ 0. Only with `oldest`."""
    failures: NotRequired[int]
    """Environments of this program that have failed. Whole number ≥ 0. Only with `retry`."""
    budget: NotRequired[int]
    """How many may fail before it gets no other. Whole number ≥ 0. Only with `retry`."""


class SlotAssign(AnyDecision):
    """A command. Give this environment to this program, which keeps it until `program.closed`."""

    type: Literal["slot.assign"]
    slotId: str
    """Id of the environment, minted by the policy. String ≤ 512."""
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    environment: str
    """Kind of the environment, such as the image of a sandbox. String ≤ 512."""
    reason: SlotAssignReason


class SlotDeniedReason(TypedDict):
    """Reason of :class:`SlotDenied`. Why, with the numbers."""

    code: Literal["failed", "failing", "no_slots", "closed"]
    failures: NotRequired[int]
    """With `failed`: Environments of this program that have failed. Whole number ≥ 0. With `failing`: Failures one
    after the other. Whole number ≥ 0."""
    budget: NotRequired[int]
    """How many may fail before it gets no other. Whole number ≥ 0. Only with `failed`."""
    retrySeconds: NotRequired[float]
    """Time until one is tried, in seconds. Number ≥ 0. Only with `failing`."""


class SlotDenied(AnyDecision):
    """A notice. A program that has asked for an environment gets none: it may ask again."""

    type: Literal["slot.denied"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    environment: str
    """Kind of the environment, such as the image of a sandbox. String ≤ 512."""
    reason: SlotDeniedReason


class SlotExpiredReason(TypedDict):
    """Reason of :class:`SlotExpired`. Why, with the numbers."""

    code: Literal["end_unconfirmed"]
    graceSeconds: float
    """How long the confirmation was waited for, in seconds. Number ≥ 0."""


class SlotExpired(AnyDecision):
    """A notice. The end of an environment was not confirmed in time: its place counts as free."""

    type: Literal["slot.expired"]
    slotId: str
    """Id of the environment, minted by the policy. String ≤ 512."""
    environment: str
    """Kind of the environment, such as the image of a sandbox. String ≤ 512."""
    reason: SlotExpiredReason


class SlotLate(AnyDecision):
    """A notice. A report about an environment that is gone: nothing changes."""

    type: Literal["slot.late"]
    slotId: str
    """Id of the environment, minted by the policy. String ≤ 512."""
    reason: SandboxLateReason


class SlotPrewarmReason(TypedDict):
    """Reason of :class:`SlotPrewarm`. Why, with the numbers."""

    code: Literal["requested", "predicted", "trial"]
    waiting: NotRequired[int]
    """Programs that wait for an environment of this kind. Whole number ≥ 0. Only with `requested`."""
    expected: NotRequired[int]
    """Programs that will need one before another could start. Whole number ≥ 0. Only with `predicted`."""
    idle: NotRequired[int]
    """Environments of this kind that are ready or start, and have no program. Whole number ≥ 0. Only with
    `predicted`."""
    failures: NotRequired[int]
    """Failures one after the other, since which none was started. Whole number ≥ 0. Only with `trial`."""


class SlotPrewarm(AnyDecision):
    """A command. Start an environment of this kind, and report `slot.ready` or `slot.failed`."""

    type: Literal["slot.prewarm"]
    slotId: str
    """Id of the environment, minted by the policy. String ≤ 512."""
    environment: str
    """Kind of the environment, such as the image of a sandbox. String ≤ 512."""
    reason: SlotPrewarmReason


class SlotReclaimReason(TypedDict):
    """Reason of :class:`SlotReclaim`. Why, with the numbers."""

    code: Literal["closed", "tool_timeout", "start_timeout", "idle", "fewer"]
    tool: NotRequired[str]
    """Name of the tool. Only with `tool_timeout`."""
    waitedSeconds: NotRequired[float]
    """With `tool_timeout`: How long its tool has run, in seconds. Number ≥ 0. With `start_timeout`: How long it has
    been starting, in seconds. Number ≥ 0."""
    limitSeconds: NotRequired[float]
    """With `tool_timeout`: How long it may run, in seconds. Number ≥ 0. With `start_timeout`: How long it may take, in
    seconds. Number ≥ 0."""
    idle: NotRequired[int]
    """Environments of this kind that are ready and have no program, this one included. Whole number ≥ 0. Only with
    `idle`."""
    idleSeconds: NotRequired[float]
    """How long this one had no program, in seconds. Number ≥ 0. Only with `idle`."""
    slots: NotRequired[int]
    """Most environments of this kind. Whole number ≥ 0. Only with `fewer`."""


class SlotReclaim(AnyDecision):
    """A command. End this environment, or reset it for another program: report `slot.released` or `slot.ready`. A
    program that it still has fails."""

    type: Literal["slot.reclaim"]
    slotId: str
    """Id of the environment, minted by the policy. String ≤ 512."""
    environment: str
    """Kind of the environment, such as the image of a sandbox. String ≤ 512."""
    requestId: NotRequired[str]
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: SlotReclaimReason


class SlotsRecoveredReason(TypedDict):
    """Reason of :class:`SlotsRecovered`. Why, with the numbers."""

    code: Literal["started", "host_restarted"]
    suspendedSeconds: float
    """How long none was started, in seconds. Number ≥ 0."""


class SlotsRecovered(AnyDecision):
    """A notice. Environments of a kind that was suspended are started again as needed."""

    type: Literal["slots.recovered"]
    environment: str
    """Kind of the environment, such as the image of a sandbox. String ≤ 512."""
    reason: SlotsRecoveredReason


class SlotsSuspendedReason(TypedDict):
    """Reason of :class:`SlotsSuspended`. Why, with the numbers."""

    code: Literal["failing"]
    failures: int
    """Failures one after the other. Whole number ≥ 0."""
    retrySeconds: float
    """Time until one is tried, in seconds. Number ≥ 0."""


class SlotsSuspended(AnyDecision):
    """A notice. Environments of this kind fail one after the other: none is started until a trial succeeds."""

    type: Literal["slots.suspended"]
    environment: str
    """Kind of the environment, such as the image of a sandbox. String ≤ 512."""
    reason: SlotsSuspendedReason
