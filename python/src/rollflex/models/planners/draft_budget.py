# Generated from the schemas by `npm run docs:generate`: do not edit.
"""How many tokens to draft for each sequence of a decode step, and none where drafts lose."""

from collections.abc import Sequence

from .._typing import NotRequired, TypedDict


class DraftBudgetInputGroup(TypedDict):
    """Running sequences that are alike."""

    sequences: int
    """Sequences of the group. Whole number 1 to 1000000."""
    remainingTokens: NotRequired[int]
    """Tokens that each still generates, as predicted: drafts beyond its end count for nothing. Whole number 1 to
    1000000000000."""
    weight: NotRequired[float]
    """What a token of these sequences is worth beside a token of others. Number 0 to 1000000000000. Default: 1."""


class DraftBudgetInputSeenItem(TypedDict):
    """Part of :class:`DraftBudgetInput`."""

    offered: float
    """Drafts that had a token at this position; no more than at the position before. Number ≥ 0."""
    accepted: float
    """How many of these tokens were accepted; no more than at the position before. Number ≥ 0."""


class DraftBudgetInputPrior(TypedDict):
    """What is believed of acceptance before anything is seen."""

    acceptance: float
    """Chance that a drafted token is accepted if those before it were. Number 0 to 1."""
    tokens: float
    """Observations that this belief counts for, at each position. Number > 0."""


class DraftBudgetInputPassSecond(TypedDict):
    """Part of :class:`DraftBudgetInput`."""

    tokens: int
    """Tokens in the step, one for each sequence; more at each point. Whole number 1 to 1000000000000."""
    seconds: float
    """Seconds of the step. Number > 0."""


class DraftBudgetInputDrafter(TypedDict):
    """What drafting costs."""

    stepSeconds: NotRequired[float]
    """Seconds that every step with drafts takes longer, however many: sampling, host, cache of the drafter. Number 0 to
    1000000. Default: 0."""
    passSeconds: float
    """Seconds to draft one more token for all sequences: one pass of the drafter. Number 0 to 1000000."""
    secondsPerToken: NotRequired[float]
    """Further seconds for each drafted token. Number 0 to 1000000. Default: 0."""


class DraftBudgetInput(TypedDict):
    """Input of `draft-budget`."""

    groups: Sequence[DraftBudgetInputGroup]
    """The sequences that the engine decodes together."""
    seen: NotRequired[Sequence[DraftBudgetInputSeenItem]]
    """What was seen of acceptance, from the first drafted token on. Default: []."""
    prior: NotRequired[DraftBudgetInputPrior]
    """What is believed of acceptance before anything is seen. Default: {"acceptance":0.5,"tokens":20}."""
    passSeconds: Sequence[DraftBudgetInputPassSecond]
    """Seconds of a decode step without drafts, at numbers of sequences; no larger step is planned."""
    drafter: DraftBudgetInputDrafter
    """What drafting costs."""
    maxDraftTokens: int
    """Most tokens that the engine can draft for a sequence. Whole number 0 to 64."""
    perSequence: NotRequired[bool]
    """Whether the engine takes a budget for each sequence; otherwise all get the same. Default: false."""
    margin: NotRequired[float]
    """Least gain, relative, for which anything is drafted: less is within the errors of measurement. Number 0 to 1.
    Default: 0.02."""


class DraftBudgetPlanGroup(TypedDict):
    """Part of :class:`DraftBudgetPlan`."""

    draftTokens: int
    """Tokens to draft for each sequence of the group. Whole number ≥ 0."""
    deeper: int
    """How many of its sequences get one token more; 0 unless `perSequence`. Whole number ≥ 0."""


class DraftBudgetPlan(TypedDict):
    """Plan of `draft-budget`."""

    draftTokens: int
    """Most tokens to draft for a sequence in a step; 0 turns speculation off. Whole number ≥ 0."""
    groups: list[DraftBudgetPlanGroup]
    """The budget of each group, in their order."""
    acceptance: list[float]
    """Estimated chance that a draft is accepted up to its first token, its second, and so on."""
    passTokens: int
    """Tokens in the step: one for each sequence, and all drafted ones. Whole number ≥ 0."""
    expectedTokens: float
    """Tokens that a step is expected to generate, of all sequences. Number ≥ 0."""
    stepSeconds: float
    """Seconds of a step, drafting included. Number 0 to 1000000."""
    speedup: float
    """Weighted tokens per second, relative to no drafts; 1 if nothing is drafted. Number ≥ 1."""
