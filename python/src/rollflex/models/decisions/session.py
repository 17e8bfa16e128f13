# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: session."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict


class HostOwesReason(TypedDict):
    """Reason of :class:`HostOwes`. Why, with the numbers."""

    code: Literal["overdue", "silent", "nothing_comes"]
    waitedSeconds: float
    """How long the oldest of these answers has been awaited, in seconds. Number ≥ 0."""
    limitSeconds: float
    """Beyond which such an answer is overdue, in seconds. Number ≥ 0."""
    usualSeconds: NotRequired[float]
    """How long such an answer usually takes: the median, in seconds. Number ≥ 0."""
    answers: int
    """From how many answers that was learnt; older ones weigh less. Whole number ≥ 0."""
    silentSeconds: NotRequired[float]
    """How long nothing has come, in seconds. Number ≥ 0. Only with `silent`, `nothing_comes`."""
    causes: NotRequired[int]
    """Engines, workers and kinds of answers that owe something; all are silent. Whole number ≥ 1. Only with
    `nothing_comes`."""


class HostOwes(AnyDecision):
    """A notice. An answer is overdue. It is said once, until the answer comes or something comes again from where it
    was silent."""

    type: Literal["host.owes"]
    sender: Literal[
        "host", "data source", "engine", "environment", "loader", "reward worker", "sandbox", "timer", "trainer",
    ]
    """Who has to act."""
    by: NotRequired[str]
    """Id of the engine, worker, node or replica that has to act, where it is known. String ≤ 512."""
    event: str
    """Type of the event that is awaited longest."""
    ids: dict[str, str]
    """The fields of this event that say which one it is, such as `requestId`."""
    count: int
    """Answers that are owed for this cause, those included that are not overdue yet. Whole number ≥ 1."""
    sinceSeconds: float
    """Since when the oldest of them is owed, on the clock of `at`, in seconds. Number ≥ 0."""
    reason: HostOwesReason


class RoundStalledReason(TypedDict):
    """Reason of :class:`RoundStalled`. Why, with the numbers."""

    code: Literal["filtered"]
    mostFiltered: int
    """From how many on this is said. Whole number ≥ 1."""
    highFiltered: NotRequired[int]
    """How many are filtered, at most, before 99 % of those that count; absent before the first one. Whole number ≥
    0."""
    counted: int
    """From how many that count that was learnt; older ones weigh less. Whole number ≥ 0."""


class RoundStalled(AnyDecision):
    """A notice. Work goes on and gains nothing: prompts, or groups, are filtered, and none counts. Nobody owes
    anything. It is said once, until one counts."""

    type: Literal["round.stalled"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    filtered: int
    """How many were filtered since one counted last, in this round and before it. Whole number ≥ 1."""
    sinceSeconds: float
    """When the first of them was, on the clock of `at`, in seconds. Number ≥ 0."""
    reason: RoundStalledReason


class TimerSetReason(TypedDict):
    """Reason of :class:`TimerSet`. Why, with the numbers."""

    code: Literal[
        "abort_grace", "response_timeout", "stale_weights", "retry_pause", "reward_budget", "reward_cancel_grace",
        "environment_due", "program_waits", "owed",
    ]
    graceSeconds: NotRequired[float]
    """With `abort_grace`: How long the confirmation of an abort is waited for, in seconds. Number ≥ 0. With
    `reward_budget`, `reward_cancel_grace`: How long the report of a worker is waited for beyond that, in seconds.
    Number ≥ 0."""
    limitSeconds: NotRequired[float]
    """With `response_timeout`: How long a request may run, in seconds. Number ≥ 0. With `program_waits`: How long a
    program may wait for room, in seconds. Number ≥ 0."""
    longestPauseSeconds: NotRequired[float]
    """With `stale_weights`: How long the next try after weights that are too old is put off at most, in seconds. Number
    ≥ 0. With `retry_pause`: How long a retry, or a single try, is put off at most, in seconds. Number ≥ 0."""
    budgetSeconds: NotRequired[float]
    """Seconds that the worker may take, > 0, at most 1,000,000. Number > 0. Only with `reward_budget`."""
    due: NotRequired[Literal["start", "tool", "end", "idle", "trial"]]
    """What has taken too long then, or whether an environment is idle, or tried, for long enough. Only with
    `environment_due`."""
    owed: NotRequired[int]
    """Answers that are owed. Whole number ≥ 1. Only with `owed`."""


class TimerSet(AnyDecision):
    """A command. Answer with `timer.fired` at this time, not before it; a later `timer.set` with the same id replaces
    it."""

    type: Literal["timer.set"]
    timerId: str
    """Id of the timer, minted by the policy. String ≤ 512."""
    fireAtSeconds: float
    """When, on the clock of the host, in seconds. Number ≥ 0."""
    aheadSeconds: NotRequired[float]
    """By how much `at` is ahead of the clock of the host, in seconds: this clock has begun anew when the host
    restarted, and times go on from the latest. Absent while they agree. Number > 0."""
    reason: TimerSetReason
