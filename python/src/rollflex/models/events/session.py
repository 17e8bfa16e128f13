# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: session."""

from typing import Literal

from .._typing import NotRequired, TypedDict


class HostDecidedDecision(TypedDict):
    """The decision, with those of its fields that the host knows."""

    type: str
    """A decision of the policy. String ≤ 256."""


class HostDecided(TypedDict):
    """What the host of a session in shadow mode has decided by itself; the session takes it, not its policy."""

    type: Literal["host.decided"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    decision: HostDecidedDecision
    """The decision, with those of its fields that the host knows."""


class HostRestarted(TypedDict):
    """The host has restarted: all that was in flight is gone. No retry budget is charged."""

    type: Literal["host.restarted"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    idPrefix: str
    """Prefix of every request id; new after each restart of the host. String ≤ 128."""


class TimerFired(TypedDict):
    """A timer that a `timer.set` asked for has run out."""

    type: Literal["timer.fired"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    timerId: str
    """Id of the timer, minted by the policy. String ≤ 512."""
