# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: rounds."""

from typing import Literal

from .._typing import NotRequired, TypedDict
from ..objects import FinalPrompt, Prompt


class PromptsRequestReasonRoundOpened(TypedDict):
    """Reason `round_opened` of :class:`PromptsRequest`."""

    code: Literal["round_opened"]

    target: int
    """Prompts that the round is to begin, speculation included. Whole number ≥ 0."""

    known: int
    """Prompts that are here for it, those that wait included. Whole number ≥ 0."""


class PromptsRequestReasonFiltered(TypedDict):
    """Reason `filtered` of :class:`PromptsRequest`."""

    code: Literal["filtered"]

    target: int
    """Prompts that the round is to begin, speculation included. Whole number ≥ 0."""

    admitted: int
    """Prompts that were admitted to it, or wait to be. Whole number ≥ 0."""


class PromptsRequestReasonFailed(TypedDict):
    """Reason `failed` of :class:`PromptsRequest`."""

    code: Literal["failed"]

    target: int
    """Prompts that the round is to begin, speculation included. Whole number ≥ 0."""

    admitted: int
    """Prompts that were admitted to it, or wait to be. Whole number ≥ 0."""


class PromptsRequestReasonMerged(TypedDict):
    """Reason `merged` of :class:`PromptsRequest`."""

    code: Literal["merged"]

    target: int
    """Prompts that the round is to begin, speculation included. Whole number ≥ 0."""

    admitted: int
    """Prompts that were admitted to it, or wait to be. Whole number ≥ 0."""


class PromptsRequestReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`PromptsRequest`."""

    code: Literal["host_restarted"]

    target: int
    """Prompts that the round is to begin, speculation included. Whole number ≥ 0."""

    admitted: int
    """Prompts that were admitted to it, or wait to be. Whole number ≥ 0."""


class PromptsRequest(TypedDict):
    """A command. Supply this many prompts, in portions of any size."""

    type: Literal["prompts.request"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    count: int
    """Prompts that are still missing. Whole number ≥ 1."""

    domains: NotRequired[dict[str, int]]
    """The same, by domain, where quotas are set."""

    reason: (
        PromptsRequestReasonRoundOpened
        | PromptsRequestReasonFiltered
        | PromptsRequestReasonFailed
        | PromptsRequestReasonMerged
        | PromptsRequestReasonHostRestarted
    )
    """Why, with the numbers."""


class RoundCompletedReasonQuotaReached(TypedDict):
    """Reason `quota_reached` of :class:`RoundCompleted`."""

    code: Literal["quota_reached"]

    counted: int
    """Prompts of the round that count. Whole number ≥ 0."""

    needed: int
    """Prompts that the round needs. Whole number ≥ 0."""


class RoundCompletedReasonSourceExhausted(TypedDict):
    """Reason `source_exhausted` of :class:`RoundCompleted`."""

    code: Literal["source_exhausted"]

    counted: int
    """Prompts of the round that count. Whole number ≥ 0."""

    needed: int
    """Prompts that the round needs. Whole number ≥ 0."""


class RoundCompletedReasonOnlyDuplicates(TypedDict):
    """Reason `only_duplicates` of :class:`RoundCompleted`."""

    code: Literal["only_duplicates"]

    counted: int
    """Prompts of the round that count. Whole number ≥ 0."""

    needed: int
    """Prompts that the round needs. Whole number ≥ 0."""


class RoundCompletedReasonRoundFailed(TypedDict):
    """Reason `round_failed` of :class:`RoundCompleted`."""

    code: Literal["round_failed"]

    counted: int
    """Prompts of the round that count. Whole number ≥ 0."""

    needed: int
    """Prompts that the round needs. Whole number ≥ 0."""


class RoundCompletedReasonAllEnded(TypedDict):
    """Reason `all_ended` of :class:`RoundCompleted`."""

    code: Literal["all_ended"]

    counted: int
    """Prompts of the round that count. Whole number ≥ 0."""

    needed: int
    """Prompts that the round needs. Whole number ≥ 0."""


class RoundCompleted(TypedDict):
    """
    A notice. The round has all that it trains on: the responses named here, and no others. Its reason says
    why they may be fewer than planned, or none.
    """

    type: Literal["round.completed"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""

    weightVersion: int
    """Version of the actor weights; never decreases. Whole number ≥ 0."""

    prompts: list[FinalPrompt]
    """In the order in which the prompts entered the round."""

    openedSeconds: float
    """When the round was opened. Number ≥ 0."""

    deferred: int
    """Prompts deferred or carried at its end. Whole number ≥ 0."""

    reason: (
        RoundCompletedReasonQuotaReached
        | RoundCompletedReasonSourceExhausted
        | RoundCompletedReasonOnlyDuplicates
        | RoundCompletedReasonRoundFailed
        | RoundCompletedReasonAllEnded
    )
    """Why, with the numbers."""


class RoundDrainedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["all_ended"]

    afterSeconds: float
    """Since the round was complete, in seconds. Number ≥ 0."""


class RoundDrained(TypedDict):
    """A notice. Nothing of the round is in flight any more: the weights may be updated."""

    type: Literal["round.drained"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    reason: RoundDrainedReason
    """Why, with the numbers."""


class RoundPlannedReasonQueueBelowThreshold(TypedDict):
    """Reason `queue_below_threshold` of :class:`RoundPlanned`."""

    code: Literal["queue_below_threshold"]

    queued: int
    """Prompts in the queue. Whole number ≥ 0."""

    promptsPerRound: int
    """P0: prompts that a round trains on. Whole number ≥ 0."""


class RoundPlannedReasonQueueFull(TypedDict):
    """Reason `queue_full` of :class:`RoundPlanned`."""

    code: Literal["queue_full"]

    queued: int
    """Prompts in the queue. Whole number ≥ 0."""

    promptsPerRound: int
    """P0: prompts that a round trains on. Whole number ≥ 0."""


class RoundPlannedReasonPromptOverdue(TypedDict):
    """Reason `prompt_overdue` of :class:`RoundPlanned`."""

    code: Literal["prompt_overdue"]

    deferrals: int
    """How often the prompt that is overdue has been deferred. Whole number ≥ 0."""

    waitedRounds: int
    """How many rounds it has waited. Whole number ≥ 0."""


class RoundPlannedReasonSourceExhausted(TypedDict):
    """Reason `source_exhausted` of :class:`RoundPlanned`."""

    code: Literal["source_exhausted"]

    queued: int
    """Prompts in the queue. Whole number ≥ 0."""

    carried: NotRequired[int]
    """Prompts that run on into it, if there are any. Whole number ≥ 0."""


class RoundPlanned(TypedDict):
    """A notice. What the next round is: its kind, and the queued prompts that it begins with."""

    type: Literal["round.planned"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""

    weightVersion: int
    """Version of the actor weights; never decreases. Whole number ≥ 0."""

    queued: list[Prompt]
    """Queued prompts that it begins with, in order."""

    reason: (
        RoundPlannedReasonQueueBelowThreshold
        | RoundPlannedReasonQueueFull
        | RoundPlannedReasonPromptOverdue
        | RoundPlannedReasonSourceExhausted
    )
    """Why, with the numbers."""


class RoundResumedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["host_restarted"]

    prompts: int
    """How many these are. Whole number ≥ 0."""


class RoundResumed(TypedDict):
    """
    A notice. A round was open when the host restarted, and is open still: it waits to be ended, or to be
    given up by `round.failed`.
    """

    type: Literal["round.resumed"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    weightVersion: NotRequired[int]
    """Version of the weights that it is generated with, where it is known. Whole number ≥ 0."""

    promptIds: list[str]
    """Prompts, or groups, of the round that are known here, in order."""

    reason: RoundResumedReason
    """Why, with the numbers."""


class SourceDrainedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["source_exhausted"]


class SourceDrained(TypedDict):
    """
    A notice. Answers `round.requested` where no prompt is left: no round with this id begins, so that no
    `round.drained` follows.
    """

    type: Literal["source.drained"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    reason: SourceDrainedReason
    """Why, with the numbers."""


class SpeculationChosenReasonExploring(TypedDict):
    """Reason `exploring` of :class:`SpeculationChosen`."""

    code: Literal["exploring"]

    round: int
    """Rounds that were measured so far. Whole number ≥ 0."""

    rounds: int
    """How many are to be measured. Whole number ≥ 0."""


class SpeculationChosenReasonFixed(TypedDict):
    """Reason `fixed` of :class:`SpeculationChosen`."""

    code: Literal["fixed"]

    secondsPerRound: float
    """Seconds of a round with the factor that is chosen. Number ≥ 0."""

    measuredRounds: int
    """Rounds that were measured, with all factors. Whole number ≥ 0."""


class SpeculationChosen(TypedDict):
    """A notice. The speculation factor that the next rounds use (`speculation: auto`)."""

    type: Literal["speculation.chosen"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    promptSpeculation: float
    """Factor for prompts."""

    responseSpeculation: float
    """Factor for responses."""

    reason: SpeculationChosenReasonExploring | SpeculationChosenReasonFixed
    """Why, with the numbers."""
