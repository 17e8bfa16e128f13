# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: prompts."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import CountedResponse, DroppedResponse, Prompt


class PromptCarriedReason(TypedDict):
    """Reason of :class:`PromptCarried`. Why, with the numbers."""

    code: Literal["within_staleness"]
    startVersion: int
    """Version of the weights that its first tokens are of. Whole number 0 to 4000000000000000."""
    maxStaleness: int
    """Most versions that its tokens may be behind. Whole number ≥ 0."""


class PromptCarried(AnyDecision):
    """A notice. An unfinished prompt goes on running into the next round (`maxStaleness` above 0)."""

    type: Literal["prompt.carried"]
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    reason: PromptCarriedReason


class PromptCollectedReason(TypedDict):
    """Reason of :class:`PromptCollected`. Why, with the numbers."""

    code: Literal["responses_held"]
    held: int
    """Responses of the prompt that are held. Whole number ≥ 0."""
    launched: int
    """Responses of the prompt that were begun, those kept from earlier rounds included. Whole number ≥ 0."""


class PromptCollected(AnyDecision):
    """A notice. A prompt has its R0 responses."""

    type: Literal["prompt.collected"]
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    requestIds: list[str]
    """Requests of its held responses, by index."""
    reason: PromptCollectedReason


class PromptCountedReason(TypedDict):
    """Reason of :class:`PromptCounted`. Why, with the numbers."""

    code: Literal["no_filter", "passed"]
    counted: int
    """Prompts of the round that count, this one included. Whole number ≥ 0."""
    needed: int
    """Prompts that the round needs. Whole number ≥ 0."""


class PromptCounted(AnyDecision):
    """A notice. A prompt counts for the round."""

    type: Literal["prompt.counted"]
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""
    promptTokens: NotRequired[int]
    """Tokens of the prompt itself, where they are known. Whole number 0 to 1000000000."""
    responses: list[CountedResponse]
    """Its responses, by index."""
    launched: NotRequired[int]
    """Responses of the prompt that were begun, where more were than its group has: only the first to end are named.
    Whole number ≥ 1."""
    reason: PromptCountedReason


class PromptDeferredReason(TypedDict):
    """Reason of :class:`PromptDeferred`. Why, with the numbers."""

    code: Literal["round_completed", "quota_filled", "round_failed", "stale_weights"]
    held: NotRequired[int]
    """Responses of the prompt that are held. Whole number ≥ 0. Only with `round_completed`, `quota_filled`,
    `round_failed`."""
    needed: NotRequired[int]
    """Responses that it needs. Whole number ≥ 0. Only with `round_completed`, `quota_filled`, `round_failed`."""
    startVersion: NotRequired[int]
    """Version of the weights that its first tokens are of. Whole number 0 to 4000000000000000. Only with
    `stale_weights`."""
    weightVersion: NotRequired[int]
    """Version of the actor weights; never decreases. Whole number 0 to 4000000000000000. Only with `stale_weights`."""
    maxStaleness: NotRequired[int]
    """Most versions that its tokens may be behind. Whole number ≥ 0. Only with `stale_weights`."""


class PromptDeferred(AnyDecision):
    """A notice. An unfinished prompt leaves the round. `long-prompt-queue`, and recipes with it such as
    `tail-batching`, keep it for a later round."""

    type: Literal["prompt.deferred"]
    prompt: Prompt
    """The prompt, with what it carries."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    dropped: list[DroppedResponse]
    """Responses that are given up, each with its cause."""
    reason: PromptDeferredReason


class PromptFailedReason(TypedDict):
    """Reason of :class:`PromptFailed`. Why, with the numbers."""

    code: Literal["infrastructure", "data", "environment", "timeout", "reward", "not_compared"]
    failures: int
    """With `infrastructure`, `data`, `environment`, `timeout`, `reward`: Failures of this kind. Whole number ≥ 0. With
    `not_compared`: Failures that no success of another has followed. Whole number ≥ 0."""
    budget: NotRequired[int]
    """Most failures that lead to another try. Whole number ≥ 0. Only with `infrastructure`, `data`, `environment`,
    `timeout`, `reward`."""
    seconds: NotRequired[float]
    """How long it has waited for one, in seconds. Number ≥ 0. Only with `not_compared`."""
    limitSeconds: NotRequired[float]
    """How long it waits (`giveUpSeconds`), in seconds. Number ≥ 0. Only with `not_compared`."""


class PromptFailed(AnyDecision):
    """A notice. A prompt has used up its retries: it leaves the round for good, and another prompt takes its place."""

    type: Literal["prompt.failed"]
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    dropped: list[DroppedResponse]
    """Responses that are given up."""
    reason: PromptFailedReason


class PromptFilteredReason(TypedDict):
    """Reason of :class:`PromptFiltered`. Why, with the numbers."""

    code: Literal["zero_variance", "host"]
    standardDeviation: NotRequired[float]
    """Population standard deviation of the raw rewards. Only with `zero_variance`."""
    tolerance: NotRequired[float]
    """Up to which it counts as none. Only with `zero_variance`."""


class PromptFiltered(AnyDecision):
    """A notice. A collected prompt did not pass the filter: it leaves, is not deferred, and is replaced."""

    type: Literal["prompt.filtered"]
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    dropped: list[DroppedResponse]
    """Responses that are given up."""
    launched: NotRequired[int]
    """Responses of the prompt that were begun, where more were than its group has: only the first to end are named.
    Whole number ≥ 1."""
    reason: PromptFilteredReason


class PromptMergedReason(TypedDict):
    """Reason of :class:`PromptMerged`. Why, with the numbers."""

    code: Literal["already_in_round", "already_queued"]
    deferrals: NotRequired[int]
    """How often the one that is kept has been deferred. Whole number ≥ 0. Only with `already_queued`."""


class PromptMerged(AnyDecision):
    """A notice. A prompt that is here already was supplied again: one of the two is dropped."""

    type: Literal["prompt.merged"]
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: NotRequired[str]
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    dropped: list[DroppedResponse]
    """Responses that are given up."""
    reason: PromptMergedReason


class PromptReturnedReason(TypedDict):
    """Reason of :class:`PromptReturned`. Why, with the numbers."""

    code: Literal["not_started", "round_closed", "round_failed"]


class PromptReturned(AnyDecision):
    """A notice. A prompt that was not started, or whose round has failed or is over, leaves the round as it came.
    `long-prompt-queue`, and recipes with it such as `tail-batching`, keep it for a later round: do not supply it
    again."""

    type: Literal["prompt.returned"]
    prompt: Prompt
    """The prompt, with what it carries."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    dropped: list[DroppedResponse]
    """Responses that are given up."""
    reason: PromptReturnedReason
