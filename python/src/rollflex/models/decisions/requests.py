# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: requests."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import KeptResponse


class RequestAbortReason(TypedDict):
    """Reason of :class:`RequestAbort`. Why, with the numbers."""

    code: Literal[
        "prompt_collected", "round_completed", "quota_filled", "prompt_failed", "response_timeout", "round_failed",
        "prompt_left", "stale_weights",
    ]
    held: NotRequired[int]
    """Responses of the prompt that are held. Whole number ≥ 0. Only with `prompt_collected`, `prompt_failed`."""
    needed: NotRequired[int]
    """Responses that the prompt needs. Whole number ≥ 0. Only with `prompt_collected`."""
    counted: NotRequired[int]
    """Prompts that count for the round, or for the quota. Whole number ≥ 0. Only with `round_completed`,
    `quota_filled`."""
    ranSeconds: NotRequired[float]
    """How long the request has run, in seconds. Number ≥ 0. Only with `response_timeout`."""
    limitSeconds: NotRequired[float]
    """How long it may run, in seconds. Number ≥ 0. Only with `response_timeout`."""
    startVersion: NotRequired[int]
    """Version of the weights that its first tokens are of. Whole number 0 to 4000000000000000. Only with
    `stale_weights`."""
    weightVersion: NotRequired[int]
    """Version of the actor weights; never decreases. Whole number 0 to 4000000000000000. Only with `stale_weights`."""


class RequestAbort(AnyDecision):
    """A command. Stop generating this response and confirm with `request.aborted`."""

    type: Literal["request.abort"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    engineId: NotRequired[str]
    """Id of the inference engine, given by the host. String ≤ 512."""
    reason: RequestAbortReason


class RequestExpiredReason(TypedDict):
    """Reason of :class:`RequestExpired`. Why, with the numbers."""

    code: Literal["abort_unconfirmed"]
    graceSeconds: float
    """How long the confirmation was waited for, in seconds. Number ≥ 0."""


class RequestExpired(AnyDecision):
    """A notice. An abort was never confirmed; its engine slot counts as free."""

    type: Literal["request.expired"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    reason: RequestExpiredReason


class RequestLaunchReason(TypedDict):
    """Reason of :class:`RequestLaunch`. Why, with the numbers."""

    code: Literal[
        "planned", "retry_infrastructure", "retry_data", "retry_environment", "retry_timeout", "probe",
        "retry_stale_weights", "retry_engine_lost", "retry_ended_early", "host_restarted",
    ]
    inFlight: NotRequired[int]
    """Requests in flight, without this one. Whole number ≥ 0. Only with `planned`, `host_restarted`."""
    attempt: NotRequired[int]
    """With `retry_infrastructure`, `retry_data`, `retry_environment`, `retry_timeout`: How many tries of this response
    went before, within its budget. Whole number ≥ 0. With `retry_stale_weights`, `retry_engine_lost`,
    `retry_ended_early`: How many tries of this response no budget was charged with. Whole number ≥ 0."""
    budget: NotRequired[int]
    """Most further tries after failures of this kind. Whole number ≥ 0. Only with `retry_infrastructure`, `retry_data`,
    `retry_environment`, `retry_timeout`."""
    pauseSeconds: NotRequired[float]
    """With `retry_infrastructure`, `retry_environment`, `retry_timeout`: How long the response has waited since the try
    before, in seconds. Number ≥ 0. With `probe`: Time since the single try before, in seconds. Number ≥ 0."""
    scope: NotRequired[Literal["engine", "environment", "reward", "loader", "prompt"]]
    """What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. Only with
    `retry_infrastructure`, `retry_environment`, `retry_timeout`, `probe`."""
    id: NotRequired[str]
    """Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
    absent: all of them. String ≤ 512. Only with `retry_infrastructure`, `retry_environment`, `retry_timeout`,
    `probe`."""
    failures: NotRequired[int]
    """Tries that have failed in this domain, none having succeeded since. Whole number ≥ 0. Only with `probe`."""
    losses: NotRequired[int]
    """Engines that the prompt has lost, one after the other. Whole number ≥ 0. Only with `retry_engine_lost`."""
    tokens: NotRequired[int]
    """Tokens that it goes on from. Whole number 0 to 1000000000. Only with `retry_ended_early`."""


class RequestLaunch(AnyDecision):
    """A command. Start generating one response."""

    type: Literal["request.launch"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    index: int
    """Which response of the prompt, from 0. Whole number ≥ 0."""
    weightVersion: int
    """Version of the actor weights; never decreases. Whole number 0 to 4000000000000000."""
    engineId: NotRequired[str]
    """Where to run it; always given with `placement: policy`. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    promptTokens: NotRequired[int]
    """Tokens of the prompt itself, if the host has given them. Whole number 0 to 1000000000."""
    resumeFrom: NotRequired[KeptResponse]
    """Tokens to continue from, instead of starting anew."""
    reason: RequestLaunchReason


class RequestResumeReason(TypedDict):
    """Reason of :class:`RequestResume`. Why, with the numbers."""

    code: Literal["tool_finished", "host_restarted"]
    inFlight: int
    """Requests in flight, without this one. Whole number ≥ 0."""
    tokens: NotRequired[int]
    """Tokens that its finished turns have generated. Whole number 0 to 1000000000. Only with `host_restarted`."""


class RequestResume(AnyDecision):
    """A command. Go on generating a trajectory: its tool has answered, or the host has restarted. Then it goes on where
    its last finished turn has ended, or from its prompt if the host has not kept it."""

    type: Literal["request.resume"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    engineId: NotRequired[str]
    """Id of the inference engine, given by the host. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: RequestResumeReason


class ResponseAbandonedReason(TypedDict):
    """Reason of :class:`ResponseAbandoned`. Why, with the numbers."""

    code: Literal["infrastructure", "data", "environment", "timeout", "not_compared"]
    failures: int
    """With `infrastructure`, `data`, `environment`, `timeout`: Failures of this kind. Whole number ≥ 0. With
    `not_compared`: Failures that no success of another has followed. Whole number ≥ 0."""
    budget: NotRequired[int]
    """Most failures that lead to another try. Whole number ≥ 0. Only with `infrastructure`, `data`, `environment`,
    `timeout`."""
    seconds: NotRequired[float]
    """How long it has waited for one, in seconds. Number ≥ 0. Only with `not_compared`."""
    limitSeconds: NotRequired[float]
    """How long it waits (`giveUpSeconds`), in seconds. Number ≥ 0. Only with `not_compared`."""


class ResponseAbandoned(AnyDecision):
    """A notice. A response has used up its retries and is not tried again; its prompt goes on with the others."""

    type: Literal["response.abandoned"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    reason: ResponseAbandonedReason


class ResponseAcceptedReason(TypedDict):
    """Reason of :class:`ResponseAccepted`. Why, with the numbers."""

    code: Literal["held", "other_weights"]
    held: int
    """Responses of the prompt that are held. Whole number ≥ 0."""
    needed: int
    """Responses that the prompt needs. Whole number ≥ 0."""
    weightVersions: NotRequired[list[int]]
    """Versions of the weights that generated it, as its engine says, ascending: not all are those that were asked for.
    Only with `other_weights`."""
    weightVersion: NotRequired[int]
    """Version of the weights of its round. Whole number 0 to 4000000000000000. Only with `other_weights`."""


class ResponseAccepted(AnyDecision):
    """A notice. A completed response is held for its prompt."""

    type: Literal["response.accepted"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""
    reason: ResponseAcceptedReason


class ResponseDroppedReason(TypedDict):
    """Reason of :class:`ResponseDropped`. Why, with the numbers."""

    code: Literal["stale_weights", "beyond_round", "no_reward"]
    oldestVersion: NotRequired[int]
    """Oldest version of the weights that it has tokens of. Whole number 0 to 4000000000000000. Only with
    `stale_weights`."""
    weightVersion: NotRequired[int]
    """Version of the actor weights; never decreases. Whole number 0 to 4000000000000000. Only with `stale_weights`."""
    maxStaleness: NotRequired[int]
    """Most versions that its tokens may be behind. Whole number ≥ 0. Only with `stale_weights`."""
    needed: NotRequired[int]
    """Responses of the prompt that the round takes. Whole number ≥ 0. Only with `beyond_round`."""


class ResponseDropped(AnyDecision):
    """A notice. A complete response, or one whose tokens were kept, is given up."""

    type: Literal["response.dropped"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    tokens: int
    """Tokens of the response, over all attempts. Whole number 0 to 1000000000."""
    finished: bool
    """Whether it was complete."""
    reason: ResponseDroppedReason


class ResponseLateReason(TypedDict):
    """Reason of :class:`ResponseLate`. Why, with the numbers."""

    code: Literal["completion", "report"]
    tokens: NotRequired[int]
    """Tokens of the response. Whole number 0 to 1000000000. Only with `completion`."""


class ResponseLate(AnyDecision):
    """A notice. A report about a request that is over, or a reward that its round did not wait for: nothing changes."""

    type: Literal["response.late"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: ResponseLateReason


class ResponseSurplusReason(TypedDict):
    """Reason of :class:`ResponseSurplus`. Why, with the numbers."""

    code: Literal["after_abort", "control"]
    tokens: int
    """Tokens of the response. Whole number 0 to 1000000000."""


class ResponseSurplus(AnyDecision):
    """A notice. A completed response is not needed any more."""

    type: Literal["response.surplus"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    reason: ResponseSurplusReason
