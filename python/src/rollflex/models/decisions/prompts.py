# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: prompts."""

from typing import Literal

from .._typing import NotRequired, TypedDict
from ..objects import CountedResponse, DroppedResponse, Prompt


class PromptCarriedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["within_staleness"]

    startVersion: int
    """Version of the weights that its first tokens are of. Whole number ≥ 0."""

    maxStaleness: int
    """Most versions that its tokens may be behind. Whole number ≥ 0."""


class PromptCarried(TypedDict):
    """A notice. An unfinished prompt goes on running into the next round (`maxStaleness` above 0)."""

    type: Literal["prompt.carried"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    reason: PromptCarriedReason
    """Why, with the numbers."""


class PromptCollectedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["responses_held"]

    held: int
    """Responses of the prompt that are held. Whole number ≥ 0."""

    launched: int
    """Responses of the prompt that were begun, those kept from earlier rounds included. Whole number ≥ 0."""


class PromptCollected(TypedDict):
    """A notice. A prompt has its R0 responses."""

    type: Literal["prompt.collected"]

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
    """Requests of its held responses, by index."""

    reason: PromptCollectedReason
    """Why, with the numbers."""


class PromptCountedReasonNoFilter(TypedDict):
    """Reason `no_filter` of :class:`PromptCounted`."""

    code: Literal["no_filter"]

    counted: int
    """Prompts of the round that count, this one included. Whole number ≥ 0."""

    needed: int
    """Prompts that the round needs. Whole number ≥ 0."""


class PromptCountedReasonPassed(TypedDict):
    """Reason `passed` of :class:`PromptCounted`."""

    code: Literal["passed"]

    counted: int
    """Prompts of the round that count, this one included. Whole number ≥ 0."""

    needed: int
    """Prompts that the round needs. Whole number ≥ 0."""


class PromptCounted(TypedDict):
    """A notice. A prompt counts for the round."""

    type: Literal["prompt.counted"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""

    promptTokens: NotRequired[int]
    """Tokens of the prompt itself, where they are known. Whole number ≥ 0."""

    responses: list[CountedResponse]
    """Its responses, by index."""

    reason: PromptCountedReasonNoFilter | PromptCountedReasonPassed
    """Why, with the numbers."""


class PromptDeferredReasonRoundCompleted(TypedDict):
    """Reason `round_completed` of :class:`PromptDeferred`."""

    code: Literal["round_completed"]

    held: int
    """Responses of the prompt that are held. Whole number ≥ 0."""

    needed: int
    """Responses that it needs. Whole number ≥ 0."""


class PromptDeferredReasonQuotaFilled(TypedDict):
    """Reason `quota_filled` of :class:`PromptDeferred`."""

    code: Literal["quota_filled"]

    held: int
    """Responses of the prompt that are held. Whole number ≥ 0."""

    needed: int
    """Responses that it needs. Whole number ≥ 0."""


class PromptDeferredReasonRoundFailed(TypedDict):
    """Reason `round_failed` of :class:`PromptDeferred`."""

    code: Literal["round_failed"]

    held: int
    """Responses of the prompt that are held. Whole number ≥ 0."""

    needed: int
    """Responses that it needs. Whole number ≥ 0."""


class PromptDeferredReasonStaleWeights(TypedDict):
    """Reason `stale_weights` of :class:`PromptDeferred`."""

    code: Literal["stale_weights"]

    startVersion: int
    """Version of the weights that its first tokens are of. Whole number ≥ 0."""

    weightVersion: int
    """Version of the actor weights; never decreases. Whole number ≥ 0."""

    maxStaleness: int
    """Most versions that its tokens may be behind. Whole number ≥ 0."""


class PromptDeferred(TypedDict):
    """
    A notice. An unfinished prompt leaves the round. `long-prompt-queue`, and recipes with it such as
    `tail-batching`, keep it for a later round.
    """

    type: Literal["prompt.deferred"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    prompt: Prompt
    """The prompt, with what it carries."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    dropped: list[DroppedResponse]
    """Responses that are given up, each with its cause."""

    reason: (
        PromptDeferredReasonRoundCompleted
        | PromptDeferredReasonQuotaFilled
        | PromptDeferredReasonRoundFailed
        | PromptDeferredReasonStaleWeights
    )
    """Why, with the numbers."""


class PromptFailedReasonInfrastructure(TypedDict):
    """Reason `infrastructure` of :class:`PromptFailed`."""

    code: Literal["infrastructure"]

    failures: int
    """Failures of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class PromptFailedReasonData(TypedDict):
    """Reason `data` of :class:`PromptFailed`."""

    code: Literal["data"]

    failures: int
    """Failures of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class PromptFailedReasonEnvironment(TypedDict):
    """Reason `environment` of :class:`PromptFailed`."""

    code: Literal["environment"]

    failures: int
    """Failures of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class PromptFailedReasonReward(TypedDict):
    """Reason `reward` of :class:`PromptFailed`."""

    code: Literal["reward"]

    failures: int
    """Failures of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class PromptFailed(TypedDict):
    """
    A notice. A prompt has used up its retries: it leaves the round for good, and another prompt takes its
    place.
    """

    type: Literal["prompt.failed"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    dropped: list[DroppedResponse]
    """Responses that are given up."""

    reason: (
        PromptFailedReasonInfrastructure
        | PromptFailedReasonData
        | PromptFailedReasonEnvironment
        | PromptFailedReasonReward
    )
    """Why, with the numbers."""


class PromptFilteredReasonZeroVariance(TypedDict):
    """Reason `zero_variance` of :class:`PromptFiltered`."""

    code: Literal["zero_variance"]

    standardDeviation: float
    """Population standard deviation of the raw rewards."""

    tolerance: float
    """Up to which it counts as none."""


class PromptFilteredReasonHost(TypedDict):
    """Reason `host` of :class:`PromptFiltered`."""

    code: Literal["host"]


class PromptFiltered(TypedDict):
    """A notice. A collected prompt did not pass the filter: it leaves, is not deferred, and is replaced."""

    type: Literal["prompt.filtered"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    dropped: list[DroppedResponse]
    """Responses that are given up."""

    reason: PromptFilteredReasonZeroVariance | PromptFilteredReasonHost
    """Why, with the numbers."""


class PromptMergedReasonAlreadyInRound(TypedDict):
    """Reason `already_in_round` of :class:`PromptMerged`."""

    code: Literal["already_in_round"]


class PromptMergedReasonAlreadyQueued(TypedDict):
    """Reason `already_queued` of :class:`PromptMerged`."""

    code: Literal["already_queued"]

    deferrals: int
    """How often the one that is kept has been deferred. Whole number ≥ 0."""


class PromptMerged(TypedDict):
    """A notice. A prompt that is here already was supplied again: one of the two is dropped."""

    type: Literal["prompt.merged"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: NotRequired[str]
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    dropped: list[DroppedResponse]
    """Responses that are given up."""

    reason: PromptMergedReasonAlreadyInRound | PromptMergedReasonAlreadyQueued
    """Why, with the numbers."""


class PromptReturnedReasonNotStarted(TypedDict):
    """Reason `not_started` of :class:`PromptReturned`."""

    code: Literal["not_started"]


class PromptReturnedReasonRoundClosed(TypedDict):
    """Reason `round_closed` of :class:`PromptReturned`."""

    code: Literal["round_closed"]


class PromptReturnedReasonRoundFailed(TypedDict):
    """Reason `round_failed` of :class:`PromptReturned`."""

    code: Literal["round_failed"]


class PromptReturned(TypedDict):
    """
    A notice. A prompt that was not started, or whose round has failed or is over, leaves the round as it
    came. `long-prompt-queue`, and recipes with it such as `tail-batching`, keep it for a later round: do not
    supply it again.
    """

    type: Literal["prompt.returned"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    prompt: Prompt
    """The prompt, with what it carries."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    dropped: list[DroppedResponse]
    """Responses that are given up."""

    reason: PromptReturnedReasonNotStarted | PromptReturnedReasonRoundClosed | PromptReturnedReasonRoundFailed
    """Why, with the numbers."""
