# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: groups."""

from typing import Literal

from .._typing import NotRequired, TypedDict
from ..objects import FinalPrompt, RewardedResponse


class GroupRewardedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["all_rewarded"]

    responses: int
    """Responses of the prompt that count, those without a reward included. Whole number ≥ 0."""

    missing: int
    """Those that will never have a reward. Whole number ≥ 0."""

    waitedSeconds: float
    """How long the group waited for its last reward, in seconds. Number ≥ 0."""


class GroupRewarded(TypedDict):
    """
    A notice. Every response of a prompt that counts has its reward, or will never have one: the group can
    train.
    """

    type: Literal["group.rewarded"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    promptTokens: NotRequired[int]
    """Tokens of the prompt itself, where they are known. Whole number ≥ 0."""

    samples: int
    """Responses with a reward. Whole number ≥ 1."""

    tokens: int
    """Tokens of those responses, all together, without their prompts. Whole number ≥ 0."""

    responses: list[RewardedResponse]
    """Those responses, by index, each with its raw reward."""

    reason: GroupRewardedReason
    """Why, with the numbers."""


class GroupUnrewardedReasonNoReward(TypedDict):
    """Reason `no_reward` of :class:`GroupUnrewarded`."""

    code: Literal["no_reward"]

    responses: int
    """Responses of the prompt, none of which gets a reward. Whole number ≥ 0."""


class GroupUnrewardedReasonNoResponse(TypedDict):
    """Reason `no_response` of :class:`GroupUnrewarded`."""

    code: Literal["no_response"]

    givenUp: int
    """Responses that failed for good or were aborted. Whole number ≥ 0."""


class GroupUnrewarded(TypedDict):
    """A notice. No response of a prompt was completed, or gets a reward: the round trains without it."""

    type: Literal["group.unrewarded"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    reason: GroupUnrewardedReasonNoReward | GroupUnrewardedReasonNoResponse
    """Why, with the numbers."""


class GroupWithdrawnReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["round_failed"]


class GroupWithdrawn(TypedDict):
    """A notice. A prompt that counted does not train after all: its round has failed."""

    type: Literal["group.withdrawn"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    reason: GroupWithdrawnReason
    """Why, with the numbers."""


class RewardUnusedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["not_awaited"]


class RewardUnused(TypedDict):
    """A notice. A reward of a response that nobody waits for: it has one, it has left, or it is not known."""

    type: Literal["reward.unused"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    reason: RewardUnusedReason
    """Why, with the numbers."""


class RoundRewardedReasonAllGroups(TypedDict):
    """Reason `all_groups` of :class:`RoundRewarded`."""

    code: Literal["all_groups"]

    groups: int
    """Groups that train. Whole number ≥ 0."""

    afterSeconds: float
    """Since the round was complete, in seconds. Number ≥ 0."""


class RoundRewardedReasonRoundFailed(TypedDict):
    """Reason `round_failed` of :class:`RoundRewarded`."""

    code: Literal["round_failed"]


class RoundRewarded(TypedDict):
    """A notice. The round is complete and every response of it has its reward, or will never have one."""

    type: Literal["round.rewarded"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    kind: Literal["short", "long"]
    """`short`: with speculation; `long`: without."""

    weightVersion: int
    """Version of the actor weights; never decreases. Whole number ≥ 0."""

    prompts: list[FinalPrompt]
    """Prompts that train, in the order of the round; responses with rewards only."""

    reason: RoundRewardedReasonAllGroups | RoundRewardedReasonRoundFailed
    """Why, with the numbers."""
