# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: session."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict


class TimerSetReason(TypedDict):
    """Reason of :class:`TimerSet`. Why, with the numbers."""

    code: Literal["abort_grace", "response_timeout", "reward_budget", "reward_cancel_grace"]
    graceSeconds: NotRequired[float]
    """With `abort_grace`: How long the confirmation of an abort is waited for, in seconds. Number ≥ 0. With
    `reward_budget`, `reward_cancel_grace`: How long the report of a worker is waited for beyond that, in seconds.
    Number ≥ 0."""
    limitSeconds: NotRequired[float]
    """How long a request may run, in seconds. Number ≥ 0. Only with `response_timeout`."""
    budgetSeconds: NotRequired[float]
    """Seconds that the worker may take, > 0, at most 1,000,000. Number > 0. Only with `reward_budget`."""


class TimerSet(AnyDecision):
    """A command. Answer with `timer.fired` at this time, not before it; a later `timer.set` with the same id replaces
    it."""

    type: Literal["timer.set"]
    timerId: str
    """Id of the timer, minted by the policy. String ≤ 512."""
    fireAtSeconds: float
    """When, on the clock of `at`, in seconds. Number ≥ 0."""
    reason: TimerSetReason
