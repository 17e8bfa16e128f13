# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: rewards."""

from typing import Literal

from .._typing import NotRequired, TypedDict


class PromptJudged(TypedDict):
    """The host has judged a collected prompt (filter `host`)."""

    type: Literal["prompt.judged"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""

    keep: bool
    """Whether the prompt counts."""


class RewardReady(TypedDict):
    """
    The reward of a completed response is known: send it unasked. A round waits for rewards only where its
    filter reads them; `group-assembly` waits for all.
    """

    type: Literal["reward.ready"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    reward: float
    """The raw reward, not a shaped one."""
