# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: reward workers."""

from typing import Literal

from .._bases import AnyDecision, AnyEvent
from .._typing import NotRequired, TypedDict


class RewardCancelReason(TypedDict):
    """Reason of :class:`RewardCancel`. Why, with the numbers."""

    code: Literal[
        "round_completed", "round_failed", "prompt_deferred", "prompt_filtered", "prompt_failed", "prompt_returned",
        "prompt_merged", "response_dropped", "withdrawn", "no_answer",
    ]
    afterSeconds: NotRequired[float]
    """Since the reward was asked for, in seconds. Number ≥ 0. Only with `round_completed`, `round_failed`,
    `prompt_deferred`, `prompt_filtered`, `prompt_failed`, `prompt_returned`, `prompt_merged`, `response_dropped`,
    `withdrawn`."""
    ranSeconds: NotRequired[float]
    """Since the dispatch, in seconds. Number ≥ 0. Only with `no_answer`."""
    budgetSeconds: NotRequired[float]
    """Seconds that the worker may take, > 0, at most 1,000,000. Number > 0. Only with `no_answer`."""
    graceSeconds: NotRequired[float]
    """How long the confirmation of a cancellation is waited for, in seconds. Number ≥ 0. Only with `no_answer`."""


class RewardCancel(AnyDecision):
    """A command. Stop this dispatch and confirm with `reward.finished`; nothing waits for it but its slot."""

    type: Literal["reward.cancel"]
    dispatchId: str
    """Id of the dispatch, minted by the policy. String ≤ 256."""
    workerId: str
    """Id of the reward worker, given by the host. String ≤ 512."""
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: RewardCancelReason


class RewardCancelledReason(TypedDict):
    """Reason of :class:`RewardCancelled`. Why, with the numbers."""

    code: Literal[
        "round_completed", "round_failed", "prompt_deferred", "prompt_filtered", "prompt_failed", "prompt_returned",
        "prompt_merged", "response_dropped", "withdrawn",
    ]
    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardCancelled(AnyDecision):
    """A notice. The reward of a response is not needed any more, and is not computed."""

    type: Literal["reward.cancelled"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: NotRequired[str]
    """Id of the prompt, given by the host. String ≤ 512."""
    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""
    reason: RewardCancelledReason


class RewardDispatchReason(TypedDict):
    """Reason of :class:`RewardDispatch`. Why, with the numbers."""

    code: Literal["requested", "retry_infrastructure", "retry_timeout", "probe", "host_restarted"]
    waitedSeconds: float
    """Since it was asked for, or queued again, in seconds. Number ≥ 0."""
    running: int
    """Dispatches on the worker, without this one. Whole number ≥ 0."""
    attempt: NotRequired[int]
    """How many further tries there were, this one included, within the budget. Whole number ≥ 0. Only with
    `retry_infrastructure`, `retry_timeout`."""
    budget: NotRequired[int]
    """Most further tries after failures of this kind. Whole number ≥ 0. Only with `retry_infrastructure`,
    `retry_timeout`."""
    pauseSeconds: NotRequired[float]
    """With `retry_infrastructure`: Since the try before, in seconds. Number ≥ 0. With `probe`: Since the single try
    before, in seconds. Number ≥ 0."""
    scope: NotRequired[Literal["engine", "environment", "reward", "loader", "prompt"]]
    """What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. Only with
    `retry_infrastructure`, `probe`."""
    id: NotRequired[str]
    """Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
    absent: all of them. String ≤ 512. Only with `retry_infrastructure`, `probe`."""
    failures: NotRequired[int]
    """Tries that have failed in this domain, none having succeeded since. Whole number ≥ 0. Only with `probe`."""


class RewardDispatch(AnyDecision):
    """A command. Compute the reward of this response on this worker, and stop it after this time."""

    type: Literal["reward.dispatch"]
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
    reason: RewardDispatchReason


class RewardExpiredReason(TypedDict):
    """Reason of :class:`RewardExpired`. Why, with the numbers."""

    code: Literal["cancel_unconfirmed"]
    graceSeconds: float
    """How long the confirmation of a cancellation is waited for, in seconds. Number ≥ 0."""


class RewardExpired(AnyDecision):
    """A notice. A cancellation was never confirmed; its slot counts as free."""

    type: Literal["reward.expired"]
    dispatchId: str
    """Id of the dispatch, minted by the policy. String ≤ 256."""
    workerId: str
    """Id of the reward worker, given by the host. String ≤ 512."""
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: RewardExpiredReason


class RewardFailedReason(TypedDict):
    """Reason of :class:`RewardFailed`. Why, with the numbers."""

    code: Literal["infrastructure", "timeout", "not_compared"]
    failures: NotRequired[int]
    """With `infrastructure`: Dispatches that failed. Whole number ≥ 0. With `not_compared`: Failures that no success of
    another has followed. Whole number ≥ 0."""
    budget: NotRequired[int]
    """Most failures of this kind that lead to another try. Whole number ≥ 0. Only with `infrastructure`, `timeout`."""
    timeouts: NotRequired[int]
    """Dispatches that ran out of time. Whole number ≥ 0. Only with `timeout`."""
    seconds: NotRequired[float]
    """How long it has waited for one, in seconds. Number ≥ 0. Only with `not_compared`."""
    limitSeconds: NotRequired[float]
    """How long it waits (`giveUpSeconds`), in seconds. Number ≥ 0. Only with `not_compared`."""


class RewardFailed(AnyDecision):
    """A notice. A response gets no reward: its tries are used up, or the host cannot compute it, and sends this as an
    event, without a reason. Where a round waits for the reward, the response is given up, and another takes its
    place."""

    type: Literal["reward.failed"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: NotRequired[str]
    """Id of the prompt, given by the host. String ≤ 512."""
    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""
    reason: RewardFailedReason


class RewardFailedReportReason(TypedDict):
    """Reason of :class:`RewardFailedReport`. Why, with the numbers."""

    code: Literal["infrastructure", "timeout", "not_compared"]
    failures: NotRequired[int]
    """With `infrastructure`: Dispatches that failed. Whole number ≥ 0. With `not_compared`: Failures that no success of
    another has followed. Whole number ≥ 0."""
    budget: NotRequired[int]
    """Most failures of this kind that lead to another try. Whole number ≥ 0. Only with `infrastructure`, `timeout`."""
    timeouts: NotRequired[int]
    """Dispatches that ran out of time. Whole number ≥ 0. Only with `timeout`."""
    seconds: NotRequired[float]
    """How long it has waited for one, in seconds. Number ≥ 0. Only with `not_compared`."""
    limitSeconds: NotRequired[float]
    """How long it waits (`giveUpSeconds`), in seconds. Number ≥ 0. Only with `not_compared`."""


class RewardFailedReport(AnyEvent):
    """`reward.failed` as an event."""

    type: Literal["reward.failed"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: NotRequired[str]
    """Id of the prompt, given by the host. String ≤ 512."""
    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""
    reason: NotRequired[RewardFailedReportReason]


class RewardLateReason(TypedDict):
    """Reason of :class:`RewardLate`. Why, with the numbers."""

    code: Literal["result", "after_cancel", "report"]
    seconds: NotRequired[float]
    """How long the worker took, in seconds. Number ≥ 0. Only with `result`, `after_cancel`."""


class RewardLate(AnyDecision):
    """A notice. A report about a dispatch that is over or was cancelled: it changes nothing for the response."""

    type: Literal["reward.late"]
    dispatchId: str
    """Id of the dispatch, minted by the policy. String ≤ 256."""
    reward: NotRequired[float]
    """The raw reward that nobody waits for."""
    reason: RewardLateReason


class RewardMergedReason(TypedDict):
    """Reason of :class:`RewardMerged`. Why, with the numbers."""

    code: Literal["already_requested"]
    afterSeconds: float
    """Since the reward was asked for, in seconds. Number ≥ 0."""


class RewardMerged(AnyDecision):
    """A notice. A reward that is being computed was asked for again: one is computed for both."""

    type: Literal["reward.merged"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: RewardMergedReason


class RewardScoredReason(TypedDict):
    """Reason of :class:`RewardScored`. Why, with the numbers."""

    code: Literal["scored", "timeout"]
    seconds: float
    """How long the worker took, in seconds. Number ≥ 0."""
    attempts: NotRequired[int]
    """Dispatches that it took. Whole number ≥ 0. Only with `scored`."""
    budgetSeconds: NotRequired[float]
    """Seconds that the worker may take, > 0, at most 1,000,000. Number > 0. Only with `timeout`."""
    timeouts: NotRequired[int]
    """Dispatches that ran out of time. Whole number ≥ 0. Only with `timeout`."""


class RewardScored(AnyDecision):
    """A notice. The reward of a response is known: its number is what `reward.ready` takes."""

    type: Literal["reward.scored"]
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
    reason: RewardScoredReason


class RewardsResumedReason(TypedDict):
    """Reason of :class:`RewardsResumed`. Why, with the numbers."""

    code: Literal["queue_short"]
    queued: int
    """Rewards of this kind that wait for a worker. Whole number ≥ 0."""
    resumedQueued: int
    """With this many or fewer waiting it goes on. Whole number ≥ 0."""


class RewardsResumed(AnyDecision):
    """A notice. The queue of this kind is short again."""

    type: Literal["rewards.resumed"]
    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""
    reason: RewardsResumedReason


class RewardsSaturatedReason(TypedDict):
    """Reason of :class:`RewardsSaturated`. Why, with the numbers."""

    code: Literal["queue_long", "no_worker", "host_restarted"]
    queued: int
    """Rewards of this kind that wait for a worker. Whole number ≥ 0."""
    saturatedQueued: NotRequired[int]
    """With this many or more waiting it is saturated. Whole number ≥ 0. Only with `queue_long`."""
    resumedQueued: NotRequired[int]
    """With this many or fewer waiting it goes on. Whole number ≥ 0. Only with `host_restarted`."""


class RewardsSaturated(AnyDecision):
    """A notice. Rewards of this kind are asked for faster than they are computed: hold back what leads to more of
    them."""

    type: Literal["rewards.saturated"]
    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""
    reason: RewardsSaturatedReason
