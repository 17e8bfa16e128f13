# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: session."""

from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired, TypedDict


class HostDecidedDecision(TypedDict):
    """The decision, with those of its fields that the host knows."""

    type: str
    """A decision of the policy. String ≤ 256."""


class HostDecided(AnyEvent):
    """What the host of a session in shadow mode has decided by itself; the session takes it, not its policy."""

    type: Literal["host.decided"]
    decision: HostDecidedDecision
    """The decision, with those of its fields that the host knows."""


class HostRestarted(AnyEvent):
    """The host has restarted: all that was in flight is gone. No retry budget is charged."""

    type: Literal["host.restarted"]
    idPrefix: str
    """Prefix of every request id; new after each restart of the host. String ≤ 128."""
    weightVersion: NotRequired[int]
    """Version of the weights that the trainer goes on from, where that may be another than before, ahead or behind;
    absent: the same. Whole number 0 to 4000000000000000."""


class TimerFired(AnyEvent):
    """A timer that a `timer.set` asked for has run out."""

    type: Literal["timer.fired"]
    timerId: str
    """Id of the timer, minted by the policy. String ≤ 512."""
