# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: rounds."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import FinalPrompt, Prompt


class PromptsReleasedReason(TypedDict):
    """Reason of :class:`PromptsReleased`. Why, with the numbers."""

    code: Literal["source_exhausted"]
    queued: int
    """Prompts in the queue. Whole number ≥ 0."""


class PromptsReleased(AnyDecision):
    """A notice. Queued prompts join the open round, because the source has no others for it. Those that it does not
    start come back."""

    type: Literal["prompts.released"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    queued: list[Prompt]
    """These prompts, in order."""
    reason: PromptsReleasedReason


class PromptsRequestReason(TypedDict):
    """Reason of :class:`PromptsRequest`. Why, with the numbers."""

    code: Literal[
        "round_opened", "window_begun", "within_staleness", "filtered", "passed_over", "failed", "merged", "to_compare",
        "host_restarted",
    ]
    target: NotRequired[int]
    """With `round_opened`, `filtered`, `passed_over`, `failed`, `merged`, `to_compare`, `host_restarted`: Prompts that
    the round is to begin, speculation included. Whole number ≥ 0. With `window_begun`: Prompts from which they are
    composed. Whole number ≥ 0."""
    known: NotRequired[int]
    """With `round_opened`: Prompts that are here for it, those that wait included. Whole number ≥ 0. With
    `window_begun`: Prompts that are here for them. Whole number ≥ 0."""
    rounds: NotRequired[int]
    """Rounds that are composed together. Whole number ≥ 0. Only with `window_begun`."""
    groups: NotRequired[int]
    """Groups that are launched, or wait to be, and are in no batch yet. Whole number ≥ 0. Only with
    `within_staleness`."""
    allowed: NotRequired[int]
    """How many these may be, so that none gets too old. Whole number ≥ 0. Only with `within_staleness`."""
    admitted: NotRequired[int]
    """Prompts that were admitted to it, or wait to be. Whole number ≥ 0. Only with `filtered`, `passed_over`, `failed`,
    `merged`, `to_compare`, `host_restarted`."""


class PromptsRequest(AnyDecision):
    """A command. Supply this many prompts, in portions of any size."""

    type: Literal["prompts.request"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    count: int
    """Prompts that are still missing. Whole number ≥ 1."""
    domains: NotRequired[dict[str, int]]
    """The same, by domain, where quotas are set."""
    reason: PromptsRequestReason


class RoundCompletedReason(TypedDict):
    """Reason of :class:`RoundCompleted`. Why, with the numbers."""

    code: Literal["quota_reached", "source_exhausted", "only_duplicates", "filtered", "round_failed", "all_ended"]
    counted: int
    """Prompts of the round that count. Whole number ≥ 0."""
    needed: int
    """Prompts that the round needs. Whole number ≥ 0."""
    filtered: NotRequired[int]
    """Prompts that it has filtered. Whole number ≥ 0. Only with `filtered`."""
    maxFiltered: NotRequired[int]
    """After how many it asks for no more. Whole number ≥ 1. Only with `filtered`."""


class RoundCompleted(AnyDecision):
    """A notice. The round has all that it trains on: the responses named here, and no others. Its reason says why they
    may be fewer than planned, or none."""

    type: Literal["round.completed"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""
    weightVersion: int
    """Version of the actor weights; never decreases. Whole number 0 to 4000000000000000."""
    prompts: list[FinalPrompt]
    """In the order in which the prompts entered the round."""
    openedSeconds: float
    """When the round was opened. Number ≥ 0."""
    deferred: int
    """Prompts deferred or carried at its end. Whole number ≥ 0."""
    reason: RoundCompletedReason


class RoundDrainedReason(TypedDict):
    """Reason of :class:`RoundDrained`. Why, with the numbers."""

    code: Literal["all_ended"]
    afterSeconds: float
    """Since the round was complete, in seconds. Number ≥ 0."""


class RoundDrained(AnyDecision):
    """A notice. Nothing of the round is in flight any more: the weights may be updated."""

    type: Literal["round.drained"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    reason: RoundDrainedReason


class RoundPlannedReason(TypedDict):
    """Reason of :class:`RoundPlanned`. Why, with the numbers."""

    code: Literal["queue_below_threshold", "queue_full", "prompt_overdue", "source_exhausted", "composed"]
    queued: NotRequired[int]
    """Prompts in the queue. Whole number ≥ 0. Only with `queue_below_threshold`, `queue_full`, `source_exhausted`."""
    promptsPerRound: NotRequired[int]
    """P0: prompts that a round trains on. Whole number ≥ 0. Only with `queue_below_threshold`, `queue_full`."""
    deferrals: NotRequired[int]
    """How often the prompt that is overdue has been deferred. Whole number ≥ 0. Only with `prompt_overdue`."""
    waitedRounds: NotRequired[int]
    """How many rounds it has waited. Whole number ≥ 0. Only with `prompt_overdue`."""
    carried: NotRequired[int]
    """Prompts that run on into it, if there are any. Whole number ≥ 0. Only with `source_exhausted`."""
    waiting: NotRequired[int]
    """Prompts that were here before the round took its own. Whole number ≥ 0. Only with `composed`."""
    due: NotRequired[int]
    """Prompts of the round that were due, whatever their length. Whole number ≥ 0. Only with `composed`."""
    longestTokens: NotRequired[float]
    """Greatest expected length of the longest response of its other prompts. Only with `composed`."""
    shortestTokens: NotRequired[float]
    """Least expected length of the same; equal lengths keep the order of the data. Only with `composed`."""


class RoundPlanned(AnyDecision):
    """A notice. What the next round is: its kind, and the queued prompts that it begins with."""

    type: Literal["round.planned"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""
    weightVersion: int
    """Version of the actor weights; never decreases. Whole number 0 to 4000000000000000."""
    queued: list[Prompt]
    """Queued prompts that it begins with, in order."""
    reason: RoundPlannedReason


class RoundResumedReason(TypedDict):
    """Reason of :class:`RoundResumed`. Why, with the numbers."""

    code: Literal["host_restarted"]
    prompts: int
    """How many these are. Whole number ≥ 0."""


class RoundResumed(AnyDecision):
    """A notice. A round was open when the host restarted, and is open still: it waits to be ended, or to be given up by
    `round.failed`."""

    type: Literal["round.resumed"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    weightVersion: NotRequired[int]
    """Version of the weights that it is generated with, where it is known. Whole number 0 to 4000000000000000."""
    promptIds: list[str]
    """Prompts, or groups, of the round that are known here, in order."""
    reason: RoundResumedReason


class SourceDrainedReason(TypedDict):
    """Reason of :class:`SourceDrained`. Why, with the numbers."""

    code: Literal["source_exhausted"]


class SourceDrained(AnyDecision):
    """A notice. Answers `round.requested` where no prompt is left: no round with this id begins, so that no
    `round.drained` follows."""

    type: Literal["source.drained"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    reason: SourceDrainedReason


class SpeculationChosenReason(TypedDict):
    """Reason of :class:`SpeculationChosen`. Why, with the numbers."""

    code: Literal["exploring", "fixed"]
    round: NotRequired[int]
    """Rounds that were measured so far. Whole number ≥ 0. Only with `exploring`."""
    rounds: NotRequired[int]
    """How many are to be measured. Whole number ≥ 0. Only with `exploring`."""
    secondsPerRound: NotRequired[float]
    """Seconds of a round with the factor that is chosen. Number ≥ 0. Only with `fixed`."""
    measuredRounds: NotRequired[int]
    """Rounds that were measured, with all factors. Whole number ≥ 0. Only with `fixed`."""


class SpeculationChosen(AnyDecision):
    """A notice. The speculation factor that the next rounds use (`speculation: auto`)."""

    type: Literal["speculation.chosen"]
    promptSpeculation: float
    """Factor for prompts."""
    responseSpeculation: float
    """Factor for responses."""
    reason: SpeculationChosenReason
