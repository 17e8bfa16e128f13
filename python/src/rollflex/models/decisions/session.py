# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: session."""

from typing import Literal

from .._typing import TypedDict


class TimerSetReasonAbortGrace(TypedDict):
    """Reason `abort_grace` of :class:`TimerSet`."""

    code: Literal["abort_grace"]

    graceSeconds: float
    """How long the confirmation of an abort is waited for, in seconds. Number ≥ 0."""


class TimerSetReasonResponseTimeout(TypedDict):
    """Reason `response_timeout` of :class:`TimerSet`."""

    code: Literal["response_timeout"]

    limitSeconds: float
    """How long a request may run, in seconds. Number ≥ 0."""


class TimerSetReasonRewardBudget(TypedDict):
    """Reason `reward_budget` of :class:`TimerSet`."""

    code: Literal["reward_budget"]

    budgetSeconds: float
    """Seconds that the worker may take, > 0, at most 1,000,000. Number > 0."""

    graceSeconds: float
    """How long the report of a worker is waited for beyond that, in seconds. Number ≥ 0."""


class TimerSetReasonRewardCancelGrace(TypedDict):
    """Reason `reward_cancel_grace` of :class:`TimerSet`."""

    code: Literal["reward_cancel_grace"]

    graceSeconds: float
    """How long the report of a worker is waited for beyond that, in seconds. Number ≥ 0."""


class TimerSet(TypedDict):
    """
    A command. Answer with `timer.fired` at this time, not before it; a later `timer.set` with the same id
    replaces it.
    """

    type: Literal["timer.set"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    timerId: str
    """Id of the timer, minted by the policy. String ≤ 512."""

    fireAtSeconds: float
    """When, on the clock of `at`, in seconds. Number ≥ 0."""

    reason: (
        TimerSetReasonAbortGrace
        | TimerSetReasonResponseTimeout
        | TimerSetReasonRewardBudget
        | TimerSetReasonRewardCancelGrace
    )
    """Why, with the numbers."""
