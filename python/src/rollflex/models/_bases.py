# Generated from the schemas by `npm run docs:generate`: do not edit.
"""What all classes of a kind have."""

from typing import Any

from ._typing import NotRequired, TypedDict


class AnyEvent(TypedDict):
    """What every event has."""

    at: NotRequired[float]
    """Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than the
    latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0."""


class AnyDecision(TypedDict):
    """What every decision has."""

    at: float
    """Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than the
    latest counts as the latest. Number ≥ 0."""


class AnySnapshot(TypedDict):
    """What every snapshot has."""

    version: int
    """Version of the policy that wrote it."""
    state: Any
    """The state, as the policy writes it."""
    seq: int
    """Events applied so far."""
    at: float
    """Latest time seen, in seconds."""
