# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: rewards."""

from typing import Literal

from .._typing import NotRequired, TypedDict


class JudgementLateReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["not_waiting"]


class JudgementLate(TypedDict):
    """A notice. A judgement of a prompt that is not waiting for one any more: nothing changes."""

    type: Literal["judgement.late"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    reason: JudgementLateReason
    """Why, with the numbers."""


class JudgementRequestReasonRoundOpened(TypedDict):
    """Reason `round_opened` of :class:`JudgementRequest`."""

    code: Literal["round_opened"]


class JudgementRequestReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`JudgementRequest`."""

    code: Literal["host_restarted"]


class JudgementRequest(TypedDict):
    """A command. Judge a collected prompt by `prompt.judged`: the judgement is needed, and did not come unasked."""

    type: Literal["judgement.request"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""

    requestIds: list[str]
    """Requests of its held responses, by index."""

    reason: JudgementRequestReasonRoundOpened | JudgementRequestReasonHostRestarted
    """Why, with the numbers."""


class RewardRequestReasonKeptWithoutReward(TypedDict):
    """Reason `kept_without_reward` of :class:`RewardRequest`."""

    code: Literal["kept_without_reward"]


class RewardRequestReasonRoundOpened(TypedDict):
    """Reason `round_opened` of :class:`RewardRequest`."""

    code: Literal["round_opened"]


class RewardRequestReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`RewardRequest`."""

    code: Literal["host_restarted"]


class RewardRequest(TypedDict):
    """
    A command. Send the reward of a completed response by `reward.ready`: it is needed, and did not come
    unasked.
    """

    type: Literal["reward.request"]

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

    reason: (
        RewardRequestReasonKeptWithoutReward
        | RewardRequestReasonRoundOpened
        | RewardRequestReasonHostRestarted
    )
    """Why, with the numbers."""
