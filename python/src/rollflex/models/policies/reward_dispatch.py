# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Computes each reward as soon as its response is complete, on the least loaded worker of its kind."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.prompts import PromptDeferred, PromptFailed, PromptFiltered, PromptMerged, PromptReturned
from ..decisions.requests import ResponseAccepted, ResponseDropped
from ..decisions.reward_workers import (
    RewardCancel, RewardCancelled, RewardDispatch, RewardExpired, RewardFailed, RewardLate, RewardMerged, RewardScored,
    RewardsResumed, RewardsSaturated,
)
from ..decisions.rewards import RewardRequest
from ..decisions.rounds import RoundCompleted
from ..decisions.session import TimerSet
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.reward_workers import (
    RewardFinished, RewardRequested, RewardStarted, RewardWithdrawn, RewardWorkerAdded, RewardWorkerDrained,
    RewardWorkerLost,
)
from ..events.rounds import RoundFailed
from ..events.session import HostRestarted, TimerFired


class RewardDispatchConfigBudgetSeconds(TypedDict):
    """Budgets of the kinds, for requests that bring none of their own."""

    rule: NotRequired[float]
    """Seconds that a rule may take. Number > 0. Default: 2."""
    sandbox: NotRequired[float]
    """Seconds that a sandbox may take. Number > 0. Default: 30."""
    judge: NotRequired[float]
    """Seconds that a judge may take. Number > 0. Default: 120."""


class RewardDispatchConfigRetry(TypedDict):
    """Retry budgets of each response."""

    infrastructure: NotRequired[int]
    """Further tries after failures that are proven to be its own: others have succeeded since where it failed. Silence
    of a worker is such a failure, the loss of one is none. Whole number ≥ 0. Default: 3."""
    giveUpSeconds: NotRequired[float]
    """Seconds after which a response gets no reward whose failures pass the budget, and could not be compared with
    others; absent: never. Number > 0."""
    timeout: NotRequired[int]
    """Further tries of a response that ran out of its budget. Whole number ≥ 0. Default: 0."""


class RewardDispatchConfig(TypedDict):
    """Configuration of `reward-dispatch`."""

    defaultKind: NotRequired[Literal["rule", "sandbox", "judge"]]
    """How rewards are computed where nothing else says so. Default: "rule"."""
    kindByDomain: NotRequired[Mapping[str, Literal["rule", "sandbox", "judge"]]]
    """How rewards are computed, by the domain."""
    budgetSeconds: NotRequired[RewardDispatchConfigBudgetSeconds]
    """Budgets of the kinds, for requests that bring none of their own. Default: {}."""
    retry: NotRequired[RewardDispatchConfigRetry]
    """Retry budgets of each response. Default: {}."""
    onTimeout: NotRequired[Literal["reward", "fail"]]
    """What a response is given that ran out of time for good: `timeoutReward`, or no reward at all. Default:
    "reward"."""
    timeoutReward: NotRequired[float]
    """The reward of a response that ran out of time. Default: 0."""
    answerGraceSeconds: NotRequired[float]
    """Seconds past its budget until a dispatch without an answer counts as a fault of its worker. Number > 0. Default:
    10."""
    cancelGraceSeconds: NotRequired[float]
    """Seconds until an unconfirmed cancellation frees its slot. Number > 0. Default: 30."""
    maxQueued: NotRequired[int]
    """Rewards of one kind that may wait; `reward.requested` is refused beyond. Whole number ≥ 1. Default: 65536."""
    saturatedQueued: NotRequired[int]
    """With this many of one kind waiting the host is told to hold back; `maxQueued` if absent. Whole number ≥ 1."""
    resumedQueued: NotRequired[int]
    """With this many or fewer waiting it is told to go on; half of `saturatedQueued` if absent. Whole number ≥ 0."""
    idPrefix: NotRequired[str]
    """Prefix of every dispatch id; new after each restart of the host. String ≤ 128. Default: ""."""


RewardDispatchEvent: TypeAlias = Union[
    RewardWorkerAdded, RewardWorkerDrained, RewardWorkerLost, RewardRequested, RewardWithdrawn, RewardStarted,
    RewardFinished, ResponseAccepted, ResponseDropped, RewardRequest, RoundCompleted, RoundFailed, PromptDeferred,
    PromptReturned, PromptFiltered, PromptFailed, PromptMerged, TimerFired, HostRestarted,
]
"""What `reward-dispatch` is told."""


RewardDispatchCommand: TypeAlias = Union[
    RewardDispatch, RewardCancel, TimerSet,
]
"""Decisions of `reward-dispatch` that a host must carry out."""


RewardDispatchNotice: TypeAlias = Union[
    RewardScored, RewardFailed, RewardCancelled, RewardMerged, RewardLate, RewardExpired, RewardsSaturated,
    RewardsResumed, TriesSuspended, TriesRecovered,
]
"""Decisions of `reward-dispatch` that a host may read."""


RewardDispatchDecision: TypeAlias = Union[
    RewardDispatch, RewardCancel, RewardScored, RewardFailed, RewardCancelled, RewardMerged, RewardLate, RewardExpired,
    RewardsSaturated, RewardsResumed, TriesSuspended, TriesRecovered, TimerSet,
]
"""What `reward-dispatch` answers."""


class RewardDispatchSnapshot(AnySnapshot):
    """State of `reward-dispatch`: what `open(snapshot=…)` takes."""

    policy: Literal["reward-dispatch"]
    config: RewardDispatchConfig
