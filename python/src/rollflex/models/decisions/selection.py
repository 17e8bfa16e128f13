# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: selection."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import Prompt, PromptChoice


class EpochEndedDomain(TypedDict):
    """Part of :class:`EpochEnded`."""

    domain: NotRequired[str]
    """The domain; absent: prompts without one, or beyond the 64th. String ≤ 512."""
    offered: int
    """Prompts that were offered. Whole number ≥ 0."""
    selected: int
    """Of them: prompts that were taken. Whole number ≥ 0."""
    offeredTokens: float
    """Tokens that the responses to all of its offered prompts were expected to have. Number ≥ 0."""
    selectedTokens: float
    """The same, of the prompts that were taken. Number ≥ 0."""


class EpochEndedReason(TypedDict):
    """Reason of :class:`EpochEnded`. Why, with the numbers."""

    code: Literal["source_exhausted", "offered_again"]


class EpochEnded(AnyDecision):
    """A notice. All prompts of the data were offered once: what was taken, and what was passed over."""

    type: Literal["epoch.ended"]
    epoch: int
    """Ordinal of the epoch, from 0. Whole number ≥ 0."""
    offered: int
    """Prompts that were offered. Whole number ≥ 0."""
    selected: int
    """Of them: prompts that were taken. Whole number ≥ 0."""
    domains: list[EpochEndedDomain]
    """The same by domain, in the order in which the domains came first."""
    longestOffered: int
    """Prompts among those offered whose expected length is in the longest 1 %. Whole number ≥ 0."""
    longestSelected: int
    """Of them: prompts that were taken. Whole number ≥ 0."""
    reason: EpochEndedReason


class PromptsPassedReason(TypedDict):
    """Reason of :class:`PromptsPassed`. Why, with the numbers."""

    code: Literal["low_worth"]
    threshold: float
    """Worth from which a prompt is taken for certain."""


class PromptsPassed(AnyDecision):
    """A notice. These prompts are not rolled out now: offer them again in the next epoch."""

    type: Literal["prompts.passed"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    prompts: list[Prompt]
    """The prompts, in order."""
    choices: list[PromptChoice]
    """What was expected of each of them, in the same order."""
    reason: PromptsPassedReason


class PromptsSelectedReason(TypedDict):
    """Reason of :class:`PromptsSelected`. Why, with the numbers."""

    code: Literal["filled", "source_exhausted", "only_duplicates"]
    offered: int
    """Prompts that were offered for the round. Whole number ≥ 0."""
    passed: int
    """Of them: prompts that were passed over. Whole number ≥ 0."""
    meanWorth: float
    """Mean worth of the prompts that were taken lately; 0 while none is known."""


class PromptsSelected(AnyDecision):
    """A notice. Roll out these prompts, each with so many responses."""

    type: Literal["prompts.selected"]
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    prompts: list[Prompt]
    """The prompts, in order."""
    choices: list[PromptChoice]
    """What was expected of each of them, in the same order."""
    reason: PromptsSelectedReason
