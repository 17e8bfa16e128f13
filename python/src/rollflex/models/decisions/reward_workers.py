# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: reward workers."""

from typing import Literal

from .._typing import NotRequired, TypedDict


class RewardCancelReasonRoundCompleted(TypedDict):
    """Reason `round_completed` of :class:`RewardCancel`."""

    code: Literal["round_completed"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelReasonRoundFailed(TypedDict):
    """Reason `round_failed` of :class:`RewardCancel`."""

    code: Literal["round_failed"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelReasonPromptDeferred(TypedDict):
    """Reason `prompt_deferred` of :class:`RewardCancel`."""

    code: Literal["prompt_deferred"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelReasonPromptFiltered(TypedDict):
    """Reason `prompt_filtered` of :class:`RewardCancel`."""

    code: Literal["prompt_filtered"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelReasonPromptFailed(TypedDict):
    """Reason `prompt_failed` of :class:`RewardCancel`."""

    code: Literal["prompt_failed"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelReasonPromptReturned(TypedDict):
    """Reason `prompt_returned` of :class:`RewardCancel`."""

    code: Literal["prompt_returned"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelReasonPromptMerged(TypedDict):
    """Reason `prompt_merged` of :class:`RewardCancel`."""

    code: Literal["prompt_merged"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelReasonResponseDropped(TypedDict):
    """Reason `response_dropped` of :class:`RewardCancel`."""

    code: Literal["response_dropped"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelReasonWithdrawn(TypedDict):
    """Reason `withdrawn` of :class:`RewardCancel`."""

    code: Literal["withdrawn"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelReasonNoAnswer(TypedDict):
    """Reason `no_answer` of :class:`RewardCancel`."""

    code: Literal["no_answer"]

    ranSeconds: float
    """Since the dispatch, in seconds. Number ≥ 0."""

    budgetSeconds: float
    """Seconds that the worker may take, > 0, at most 1,000,000. Number > 0."""

    graceSeconds: float
    """How long the confirmation of a cancellation is waited for, in seconds. Number ≥ 0."""


class RewardCancel(TypedDict):
    """A command. Stop this dispatch and confirm with `reward.finished`; nothing waits for it but its slot."""

    type: Literal["reward.cancel"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    dispatchId: str
    """Id of the dispatch, minted by the policy. String ≤ 256."""

    workerId: str
    """Id of the reward worker, given by the host. String ≤ 512."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    reason: (
        RewardCancelReasonRoundCompleted
        | RewardCancelReasonRoundFailed
        | RewardCancelReasonPromptDeferred
        | RewardCancelReasonPromptFiltered
        | RewardCancelReasonPromptFailed
        | RewardCancelReasonPromptReturned
        | RewardCancelReasonPromptMerged
        | RewardCancelReasonResponseDropped
        | RewardCancelReasonWithdrawn
        | RewardCancelReasonNoAnswer
    )
    """Why, with the numbers."""


class RewardCancelledReasonRoundCompleted(TypedDict):
    """Reason `round_completed` of :class:`RewardCancelled`."""

    code: Literal["round_completed"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelledReasonRoundFailed(TypedDict):
    """Reason `round_failed` of :class:`RewardCancelled`."""

    code: Literal["round_failed"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelledReasonPromptDeferred(TypedDict):
    """Reason `prompt_deferred` of :class:`RewardCancelled`."""

    code: Literal["prompt_deferred"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelledReasonPromptFiltered(TypedDict):
    """Reason `prompt_filtered` of :class:`RewardCancelled`."""

    code: Literal["prompt_filtered"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelledReasonPromptFailed(TypedDict):
    """Reason `prompt_failed` of :class:`RewardCancelled`."""

    code: Literal["prompt_failed"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelledReasonPromptReturned(TypedDict):
    """Reason `prompt_returned` of :class:`RewardCancelled`."""

    code: Literal["prompt_returned"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelledReasonPromptMerged(TypedDict):
    """Reason `prompt_merged` of :class:`RewardCancelled`."""

    code: Literal["prompt_merged"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelledReasonResponseDropped(TypedDict):
    """Reason `response_dropped` of :class:`RewardCancelled`."""

    code: Literal["response_dropped"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelledReasonWithdrawn(TypedDict):
    """Reason `withdrawn` of :class:`RewardCancelled`."""

    code: Literal["withdrawn"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelled(TypedDict):
    """A notice. The reward of a response is not needed any more, and is not computed."""

    type: Literal["reward.cancelled"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: NotRequired[str]
    """Id of the prompt, given by the host. String ≤ 512."""

    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""

    reason: (
        RewardCancelledReasonRoundCompleted
        | RewardCancelledReasonRoundFailed
        | RewardCancelledReasonPromptDeferred
        | RewardCancelledReasonPromptFiltered
        | RewardCancelledReasonPromptFailed
        | RewardCancelledReasonPromptReturned
        | RewardCancelledReasonPromptMerged
        | RewardCancelledReasonResponseDropped
        | RewardCancelledReasonWithdrawn
    )
    """Why, with the numbers."""


class RewardDispatchReasonRequested(TypedDict):
    """Reason `requested` of :class:`RewardDispatch`."""

    code: Literal["requested"]

    waitedSeconds: float
    """Since it was asked for, or queued again, in seconds. Number ≥ 0."""

    running: int
    """Dispatches on the worker, without this one. Whole number ≥ 0."""


class RewardDispatchReasonRetryInfrastructure(TypedDict):
    """Reason `retry_infrastructure` of :class:`RewardDispatch`."""

    code: Literal["retry_infrastructure"]

    waitedSeconds: float
    """Since it was asked for, or queued again, in seconds. Number ≥ 0."""

    running: int
    """Dispatches on the worker, without this one. Whole number ≥ 0."""

    attempt: int
    """How many further tries there were, this one included, within the budget. Whole number ≥ 0."""

    budget: int
    """Most further tries after failures of this kind. Whole number ≥ 0."""


class RewardDispatchReasonRetryTimeout(TypedDict):
    """Reason `retry_timeout` of :class:`RewardDispatch`."""

    code: Literal["retry_timeout"]

    waitedSeconds: float
    """Since it was asked for, or queued again, in seconds. Number ≥ 0."""

    running: int
    """Dispatches on the worker, without this one. Whole number ≥ 0."""

    attempt: int
    """How many further tries there were, this one included, within the budget. Whole number ≥ 0."""

    budget: int
    """Most further tries after failures of this kind. Whole number ≥ 0."""


class RewardDispatchReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`RewardDispatch`."""

    code: Literal["host_restarted"]

    waitedSeconds: float
    """Since it was asked for, or queued again, in seconds. Number ≥ 0."""

    running: int
    """Dispatches on the worker, without this one. Whole number ≥ 0."""


class RewardDispatch(TypedDict):
    """A command. Compute the reward of this response on this worker, and stop it after this time."""

    type: Literal["reward.dispatch"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    dispatchId: str
    """Id of the dispatch, minted by the policy. String ≤ 256."""

    workerId: str
    """Id of the reward worker, given by the host. String ≤ 512."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: NotRequired[str]
    """Id of the prompt, given by the host. String ≤ 512."""

    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""

    budgetSeconds: float
    """Seconds that the worker may take, > 0, at most 1,000,000. Number > 0."""

    reason: (
        RewardDispatchReasonRequested
        | RewardDispatchReasonRetryInfrastructure
        | RewardDispatchReasonRetryTimeout
        | RewardDispatchReasonHostRestarted
    )
    """Why, with the numbers."""


class RewardExpiredReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["cancel_unconfirmed"]

    graceSeconds: float
    """How long the confirmation of a cancellation is waited for, in seconds. Number ≥ 0."""


class RewardExpired(TypedDict):
    """A notice. A cancellation was never confirmed; its slot counts as free."""

    type: Literal["reward.expired"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    dispatchId: str
    """Id of the dispatch, minted by the policy. String ≤ 256."""

    workerId: str
    """Id of the reward worker, given by the host. String ≤ 512."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    reason: RewardExpiredReason
    """Why, with the numbers."""


class RewardFailedReasonInfrastructure(TypedDict):
    """Reason `infrastructure` of :class:`RewardFailed`."""

    code: Literal["infrastructure"]

    failures: int
    """Dispatches that failed. Whole number ≥ 0."""

    budget: int
    """Most failures of this kind that lead to another try. Whole number ≥ 0."""


class RewardFailedReasonTimeout(TypedDict):
    """Reason `timeout` of :class:`RewardFailed`."""

    code: Literal["timeout"]

    timeouts: int
    """Dispatches that ran out of time. Whole number ≥ 0."""

    budget: int
    """Most failures of this kind that lead to another try. Whole number ≥ 0."""


class RewardFailed(TypedDict):
    """
    A notice. A response gets no reward: its tries are used up. `speculative-admission` takes it as an event,
    and then fails the prompt.
    """

    type: Literal["reward.failed"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: NotRequired[str]
    """Id of the prompt, given by the host. String ≤ 512."""

    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""

    reason: RewardFailedReasonInfrastructure | RewardFailedReasonTimeout
    """Why, with the numbers."""


class RewardLateReasonResult(TypedDict):
    """Reason `result` of :class:`RewardLate`."""

    code: Literal["result"]

    seconds: float
    """How long the worker took, in seconds. Number ≥ 0."""


class RewardLateReasonAfterCancel(TypedDict):
    """Reason `after_cancel` of :class:`RewardLate`."""

    code: Literal["after_cancel"]

    seconds: float
    """How long the worker took, in seconds. Number ≥ 0."""


class RewardLateReasonReport(TypedDict):
    """Reason `report` of :class:`RewardLate`."""

    code: Literal["report"]


class RewardLate(TypedDict):
    """A notice. A report about a dispatch that is over or was cancelled: it changes nothing for the response."""

    type: Literal["reward.late"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    dispatchId: str
    """Id of the dispatch, minted by the policy. String ≤ 256."""

    reward: NotRequired[float]
    """The raw reward that nobody waits for."""

    reason: RewardLateReasonResult | RewardLateReasonAfterCancel | RewardLateReasonReport
    """Why, with the numbers."""


class RewardMergedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["already_requested"]

    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardMerged(TypedDict):
    """A notice. A reward that is being computed was asked for again: one is computed for both."""

    type: Literal["reward.merged"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    reason: RewardMergedReason
    """Why, with the numbers."""


class RewardScoredReasonScored(TypedDict):
    """Reason `scored` of :class:`RewardScored`."""

    code: Literal["scored"]

    seconds: float
    """How long the worker took, in seconds. Number ≥ 0."""

    attempts: int
    """Dispatches that it took. Whole number ≥ 0."""


class RewardScoredReasonTimeout(TypedDict):
    """Reason `timeout` of :class:`RewardScored`."""

    code: Literal["timeout"]

    seconds: float
    """How long the worker took, in seconds. Number ≥ 0."""

    budgetSeconds: float
    """Seconds that the worker may take, > 0, at most 1,000,000. Number > 0."""

    timeouts: int
    """Dispatches that ran out of time. Whole number ≥ 0."""


class RewardScored(TypedDict):
    """A notice. The reward of a response is known: its number is what `reward.ready` takes."""

    type: Literal["reward.scored"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    promptId: NotRequired[str]
    """Id of the prompt, given by the host. String ≤ 512."""

    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""

    workerId: str
    """Id of the reward worker, given by the host. String ≤ 512."""

    reward: float
    """Raw reward."""

    reason: RewardScoredReasonScored | RewardScoredReasonTimeout
    """Why, with the numbers."""


class RewardsResumedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["queue_short"]

    queued: int
    """Rewards of this kind that wait for a worker. Whole number ≥ 0."""

    resumedQueued: int
    """With this many or fewer waiting it goes on. Whole number ≥ 0."""


class RewardsResumed(TypedDict):
    """A notice. The queue of this kind is short again."""

    type: Literal["rewards.resumed"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""

    reason: RewardsResumedReason
    """Why, with the numbers."""


class RewardsSaturatedReasonQueueLong(TypedDict):
    """Reason `queue_long` of :class:`RewardsSaturated`."""

    code: Literal["queue_long"]

    queued: int
    """Rewards of this kind that wait for a worker. Whole number ≥ 0."""

    saturatedQueued: int
    """With this many or more waiting it is saturated. Whole number ≥ 0."""


class RewardsSaturatedReasonNoWorker(TypedDict):
    """Reason `no_worker` of :class:`RewardsSaturated`."""

    code: Literal["no_worker"]

    queued: int
    """Rewards of this kind that wait for a worker. Whole number ≥ 0."""


class RewardsSaturatedReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`RewardsSaturated`."""

    code: Literal["host_restarted"]

    queued: int
    """Rewards of this kind that wait for a worker. Whole number ≥ 0."""

    resumedQueued: int
    """With this many or fewer waiting it goes on. Whole number ≥ 0."""


class RewardsSaturated(TypedDict):
    """
    A notice. Rewards of this kind are asked for faster than they are computed: hold back what leads to more
    of them.
    """

    type: Literal["rewards.saturated"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""

    reason: (
        RewardsSaturatedReasonQueueLong
        | RewardsSaturatedReasonNoWorker
        | RewardsSaturatedReasonHostRestarted
    )
    """Why, with the numbers."""
