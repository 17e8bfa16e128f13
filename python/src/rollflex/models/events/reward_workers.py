# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: reward workers."""

from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired


class RewardWorkerAdded(AnyEvent):
    """A reward worker takes dispatches. May be repeated, to change its slots or after a drain."""

    type: Literal["reward-worker.added"]
    workerId: str
    """Id of the reward worker, given by the host. String ≤ 512."""
    kind: Literal["rule", "sandbox", "judge"]
    """`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges."""
    slots: int
    """Dispatches that it runs at once, 1 to 1,000,000. Whole number 1 to 1000000."""


class RewardWorkerDrained(AnyEvent):
    """A reward worker finishes what it has and takes nothing new."""

    type: Literal["reward-worker.drained"]
    workerId: str
    """Id of the reward worker, given by the host. String ≤ 512."""


class RewardWorkerLost(AnyEvent):
    """A reward worker is gone, with all that ran on it."""

    type: Literal["reward-worker.lost"]
    workerId: str
    """Id of the reward worker, given by the host. String ≤ 512."""


class RewardFinished(AnyEvent):
    """A worker has ended a dispatch."""

    type: Literal["reward.finished"]
    dispatchId: str
    """Id of the dispatch, minted by the policy. String ≤ 256."""
    outcome: Literal["scored", "timeout", "infrastructure", "cancelled"]
    """`timeout`: stopped at its budget. `infrastructure`: the worker failed, not the response. `cancelled`: stopped on
    `reward.cancel`."""
    reward: NotRequired[float]
    """The raw reward, not a shaped one; with `scored`, and only then."""
    seconds: float
    """How long it ran, in seconds. Number ≥ 0."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""


class RewardRequested(AnyEvent):
    """The reward of a completed response is wanted."""

    type: Literal["reward.requested"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: NotRequired[str]
    """Prompt of the response; when the prompt leaves its round, the reward is not needed. String ≤ 512."""
    roundId: NotRequired[str]
    """Round of the response; when it completes without the response, the reward is not needed. String ≤ 512."""
    kind: NotRequired[Literal["rule", "sandbox", "judge"]]
    """How it is computed; by the domain, or the default kind, if absent."""
    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""
    budgetSeconds: NotRequired[float]
    """Seconds that the worker may take; by the kind if absent. Number > 0."""


class RewardStarted(AnyEvent):
    """A worker has begun to compute: its budget runs from now, not from the dispatch."""

    type: Literal["reward.started"]
    dispatchId: str
    """Id of the dispatch, minted by the policy. String ≤ 256."""


class RewardWithdrawn(AnyEvent):
    """The reward of a response is not needed any more. Of one that is over, or was never wanted, nothing changes."""

    type: Literal["reward.withdrawn"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
