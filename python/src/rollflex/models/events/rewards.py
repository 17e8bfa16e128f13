# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: rewards."""

from typing import Literal

from .._bases import AnyEvent


class PromptJudged(AnyEvent):
    """The host has judged a collected prompt (filter `host`)."""

    type: Literal["prompt.judged"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    keep: bool
    """Whether the prompt counts."""


class RewardReady(AnyEvent):
    """The reward of a completed response is known: send it unasked. A round waits for rewards only where its filter
    reads them; `group-assembly` waits for all."""

    type: Literal["reward.ready"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reward: float
    """The raw reward, not a shaped one."""
