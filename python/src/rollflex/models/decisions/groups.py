# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: groups."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import FinalPrompt, RewardedResponse


class GroupRewardedReason(TypedDict):
    """Reason of :class:`GroupRewarded`. Why, with the numbers."""

    code: Literal["all_rewarded"]
    responses: int
    """Responses of the prompt that count, those without a reward included. Whole number ≥ 0."""
    missing: int
    """Those that will never have a reward. Whole number ≥ 0."""
    waitedSeconds: float
    """How long the group waited for its last reward, in seconds. Number ≥ 0."""


class GroupRewarded(AnyDecision):
    """A notice. Every response of a prompt that counts has its reward, or will never have one: the group can train."""

    type: Literal["group.rewarded"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    promptTokens: NotRequired[int]
    """Tokens of the prompt itself, where they are known. Whole number 0 to 1000000000."""
    samples: int
    """Responses with a reward. Whole number ≥ 1."""
    tokens: int
    """Tokens of those responses, all together, without their prompts. Whole number 0 to 1000000000000."""
    responses: list[RewardedResponse]
    """Those responses, by index, each with its raw reward."""
    launched: NotRequired[int]
    """Responses of the prompt that were begun, where more were than its group has: only the first to end are named.
    Whole number ≥ 1."""
    reason: GroupRewardedReason


class GroupUnrewardedReason(TypedDict):
    """Reason of :class:`GroupUnrewarded`. Why, with the numbers."""

    code: Literal["no_reward", "no_response"]
    responses: NotRequired[int]
    """Responses of the prompt, none of which gets a reward. Whole number ≥ 0. Only with `no_reward`."""
    givenUp: NotRequired[int]
    """Responses that failed for good or were aborted. Whole number ≥ 0. Only with `no_response`."""


class GroupUnrewarded(AnyDecision):
    """A notice. No response of a prompt was completed, or gets a reward: the round trains without it."""

    type: Literal["group.unrewarded"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    reason: GroupUnrewardedReason


class GroupWithdrawnReason(TypedDict):
    """Reason of :class:`GroupWithdrawn`. Why, with the numbers."""

    code: Literal["round_failed", "filtered", "failed"]


class GroupWithdrawn(AnyDecision):
    """A notice. A prompt that counted, or was launched, does not train after all."""

    type: Literal["group.withdrawn"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    reason: GroupWithdrawnReason


class RewardUnusedReason(TypedDict):
    """Reason of :class:`RewardUnused`. Why, with the numbers."""

    code: Literal["not_awaited"]


class RewardUnused(AnyDecision):
    """A notice. A reward of a response that nobody waits for: it has one, it has left, or it is not known."""

    type: Literal["reward.unused"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: RewardUnusedReason


class RoundRewardedReason(TypedDict):
    """Reason of :class:`RoundRewarded`. Why, with the numbers."""

    code: Literal["all_groups", "round_failed"]
    groups: NotRequired[int]
    """Groups that train. Whole number ≥ 0. Only with `all_groups`."""
    afterSeconds: NotRequired[float]
    """Since the round was complete, in seconds. Number ≥ 0. Only with `all_groups`."""


class RoundRewarded(AnyDecision):
    """A notice. The round is complete and every response of it has its reward, or will never have one."""

    type: Literal["round.rewarded"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""
    weightVersion: int
    """Version of the actor weights; never decreases. Whole number 0 to 4000000000000000."""
    prompts: list[FinalPrompt]
    """Prompts that train, in the order of the round; responses with rewards only."""
    reason: RoundRewardedReason
