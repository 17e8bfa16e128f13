# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: rewards."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict


class JudgementLateReason(TypedDict):
    """Reason of :class:`JudgementLate`. Why, with the numbers."""

    code: Literal["not_waiting"]


class JudgementLate(AnyDecision):
    """A notice. A judgement of a prompt that is not waiting for one any more: nothing changes."""

    type: Literal["judgement.late"]
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    reason: JudgementLateReason


class JudgementRequestReason(TypedDict):
    """Reason of :class:`JudgementRequest`. Why, with the numbers."""

    code: Literal["round_opened", "host_restarted"]


class JudgementRequest(AnyDecision):
    """A command. Judge a collected prompt by `prompt.judged`: the judgement is needed, and did not come unasked."""

    type: Literal["judgement.request"]
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""
    requestIds: list[str]
    """Requests of its held responses, by index."""
    reason: JudgementRequestReason


class RewardRequestReason(TypedDict):
    """Reason of :class:`RewardRequest`. Why, with the numbers."""

    code: Literal["kept_without_reward", "round_opened", "host_restarted"]


class RewardRequest(AnyDecision):
    """A command. Send the reward of a completed response by `reward.ready`: it is needed, and did not come unasked."""

    type: Literal["reward.request"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""
    reason: RewardRequestReason
