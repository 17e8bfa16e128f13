# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: requests."""

from typing import Literal

from .._typing import NotRequired, TypedDict
from ..objects import KeptResponse


class RequestAbortReasonPromptCollected(TypedDict):
    """Reason `prompt_collected` of :class:`RequestAbort`."""

    code: Literal["prompt_collected"]

    held: int
    """Responses of the prompt that are held. Whole number ≥ 0."""

    needed: int
    """Responses that the prompt needs. Whole number ≥ 0."""


class RequestAbortReasonRoundCompleted(TypedDict):
    """Reason `round_completed` of :class:`RequestAbort`."""

    code: Literal["round_completed"]

    counted: int
    """Prompts that count for the round, or for the quota. Whole number ≥ 0."""


class RequestAbortReasonQuotaFilled(TypedDict):
    """Reason `quota_filled` of :class:`RequestAbort`."""

    code: Literal["quota_filled"]

    counted: int
    """Prompts that count for the round, or for the quota. Whole number ≥ 0."""


class RequestAbortReasonPromptFailed(TypedDict):
    """Reason `prompt_failed` of :class:`RequestAbort`."""

    code: Literal["prompt_failed"]

    held: int
    """Responses of the prompt that are held. Whole number ≥ 0."""


class RequestAbortReasonResponseTimeout(TypedDict):
    """Reason `response_timeout` of :class:`RequestAbort`."""

    code: Literal["response_timeout"]

    ranSeconds: float
    """How long the request has run, in seconds. Number ≥ 0."""

    limitSeconds: float
    """How long it may run, in seconds. Number ≥ 0."""


class RequestAbortReasonRoundFailed(TypedDict):
    """Reason `round_failed` of :class:`RequestAbort`."""

    code: Literal["round_failed"]


class RequestAbortReasonStaleWeights(TypedDict):
    """Reason `stale_weights` of :class:`RequestAbort`."""

    code: Literal["stale_weights"]

    startVersion: int
    """Version of the weights that its first tokens are of. Whole number ≥ 0."""

    weightVersion: int
    """Version of the actor weights; never decreases. Whole number ≥ 0."""


class RequestAbort(TypedDict):
    """A command. Stop generating this response and confirm with `request.aborted`."""

    type: Literal["request.abort"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    engineId: NotRequired[str]
    """Id of the inference engine, given by the host. String ≤ 512."""

    reason: (
        RequestAbortReasonPromptCollected
        | RequestAbortReasonRoundCompleted
        | RequestAbortReasonQuotaFilled
        | RequestAbortReasonPromptFailed
        | RequestAbortReasonResponseTimeout
        | RequestAbortReasonRoundFailed
        | RequestAbortReasonStaleWeights
    )
    """Why, with the numbers."""


class RequestExpiredReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["abort_unconfirmed"]

    graceSeconds: float
    """How long the confirmation was waited for, in seconds. Number ≥ 0."""


class RequestExpired(TypedDict):
    """A notice. An abort was never confirmed; its engine slot counts as free."""

    type: Literal["request.expired"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    reason: RequestExpiredReason
    """Why, with the numbers."""


class RequestLaunchReasonPlanned(TypedDict):
    """Reason `planned` of :class:`RequestLaunch`."""

    code: Literal["planned"]

    inFlight: int
    """Requests in flight, without this one. Whole number ≥ 0."""


class RequestLaunchReasonRetryInfrastructure(TypedDict):
    """Reason `retry_infrastructure` of :class:`RequestLaunch`."""

    code: Literal["retry_infrastructure"]

    attempt: int
    """How many tries of this response went before, within its budget. Whole number ≥ 0."""

    budget: int
    """Most further tries after failures of this kind. Whole number ≥ 0."""


class RequestLaunchReasonRetryData(TypedDict):
    """Reason `retry_data` of :class:`RequestLaunch`."""

    code: Literal["retry_data"]

    attempt: int
    """How many tries of this response went before, within its budget. Whole number ≥ 0."""

    budget: int
    """Most further tries after failures of this kind. Whole number ≥ 0."""


class RequestLaunchReasonRetryEnvironment(TypedDict):
    """Reason `retry_environment` of :class:`RequestLaunch`."""

    code: Literal["retry_environment"]

    attempt: int
    """How many tries of this response went before, within its budget. Whole number ≥ 0."""

    budget: int
    """Most further tries after failures of this kind. Whole number ≥ 0."""


class RequestLaunchReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`RequestLaunch`."""

    code: Literal["host_restarted"]

    inFlight: int
    """Requests in flight, without this one. Whole number ≥ 0."""


class RequestLaunch(TypedDict):
    """A command. Start generating one response."""

    type: Literal["request.launch"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    index: int
    """Which response of the prompt, from 0. Whole number ≥ 0."""

    weightVersion: int
    """Version of the actor weights; never decreases. Whole number ≥ 0."""

    engineId: NotRequired[str]
    """Where to run it; always given with `placement: policy`. String ≤ 512."""

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    resumeFrom: NotRequired[KeptResponse]
    """Tokens to continue from, instead of starting anew."""

    reason: (
        RequestLaunchReasonPlanned
        | RequestLaunchReasonRetryInfrastructure
        | RequestLaunchReasonRetryData
        | RequestLaunchReasonRetryEnvironment
        | RequestLaunchReasonHostRestarted
    )
    """Why, with the numbers."""


class RequestResumeReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["environment_resumed"]

    inFlight: int
    """Requests in flight, without this one. Whole number ≥ 0."""


class RequestResume(TypedDict):
    """A command. Go on generating a trajectory whose environment has answered."""

    type: Literal["request.resume"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    engineId: NotRequired[str]
    """Id of the inference engine, given by the host. String ≤ 512."""

    reason: RequestResumeReason
    """Why, with the numbers."""


class ResponseAbandonedReasonInfrastructure(TypedDict):
    """Reason `infrastructure` of :class:`ResponseAbandoned`."""

    code: Literal["infrastructure"]

    failures: int
    """Failures of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class ResponseAbandonedReasonEnvironment(TypedDict):
    """Reason `environment` of :class:`ResponseAbandoned`."""

    code: Literal["environment"]

    failures: int
    """Failures of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class ResponseAbandoned(TypedDict):
    """A notice. A response has used up its retries and is not tried again; its prompt goes on with the others."""

    type: Literal["response.abandoned"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    reason: ResponseAbandonedReasonInfrastructure | ResponseAbandonedReasonEnvironment
    """Why, with the numbers."""


class ResponseAcceptedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["held"]

    held: int
    """Responses of the prompt that are held. Whole number ≥ 0."""

    needed: int
    """Responses that the prompt needs. Whole number ≥ 0."""


class ResponseAccepted(TypedDict):
    """A notice. A completed response is held for its prompt."""

    type: Literal["response.accepted"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""

    reason: ResponseAcceptedReason
    """Why, with the numbers."""


class ResponseDroppedReasonStaleWeights(TypedDict):
    """Reason `stale_weights` of :class:`ResponseDropped`."""

    code: Literal["stale_weights"]

    oldestVersion: int
    """Oldest version of the weights that it has tokens of. Whole number ≥ 0."""

    weightVersion: int
    """Version of the actor weights; never decreases. Whole number ≥ 0."""

    maxStaleness: int
    """Most versions that its tokens may be behind. Whole number ≥ 0."""


class ResponseDroppedReasonBeyondRound(TypedDict):
    """Reason `beyond_round` of :class:`ResponseDropped`."""

    code: Literal["beyond_round"]

    needed: int
    """Responses of the prompt that the round takes. Whole number ≥ 0."""


class ResponseDropped(TypedDict):
    """A notice. A kept response is given up."""

    type: Literal["response.dropped"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    tokens: int
    """Tokens of the response, over all attempts. Whole number ≥ 0."""

    finished: bool
    """Whether it was complete."""

    reason: ResponseDroppedReasonStaleWeights | ResponseDroppedReasonBeyondRound
    """Why, with the numbers."""


class ResponseLateReasonCompletion(TypedDict):
    """Reason `completion` of :class:`ResponseLate`."""

    code: Literal["completion"]

    tokens: int
    """Tokens of the response. Whole number ≥ 0."""


class ResponseLateReasonReport(TypedDict):
    """Reason `report` of :class:`ResponseLate`."""

    code: Literal["report"]


class ResponseLate(TypedDict):
    """
    A notice. A report about a request that is over, or a reward that its round did not wait for: nothing
    changes.
    """

    type: Literal["response.late"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    reason: ResponseLateReasonCompletion | ResponseLateReasonReport
    """Why, with the numbers."""


class ResponseSurplusReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["after_abort"]

    tokens: int
    """Tokens of the response. Whole number ≥ 0."""


class ResponseSurplus(TypedDict):
    """A notice. A completed response is not needed any more."""

    type: Literal["response.surplus"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    reason: ResponseSurplusReason
    """Why, with the numbers."""
