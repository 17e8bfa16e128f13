# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Rolls out the prompts whose responses are expected to teach most for their tokens."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.groups import GroupRewarded
from ..decisions.prompts import PromptCounted, PromptDeferred, PromptFiltered, PromptMerged, PromptReturned
from ..decisions.rounds import PromptsRequest, SourceDrained
from ..decisions.selection import EpochEnded, PromptsPassed, PromptsSelected
from ..events.rounds import PromptsSupplied, RoundFailed, RoundRequested, SourceExhausted, SourceReopened
from ..events.session import HostRestarted


class PromptSelectionConfig(TypedDict):
    """Configuration of `prompt-selection`."""

    promptsPerRound: NotRequired[int]
    """P0: prompts of a round. Absent: only a `prompts.request` says how many are needed. Whole number ≥ 1."""
    responsesPerPrompt: int
    """R0: responses that a prompt needs (the group size). Whole number 2 to 4096."""
    fill: NotRequired[Literal["prompts", "kept"]]
    """`prompts`: as many are taken as are needed. `kept`: so many that as many are likely to be kept by a filter of
    groups whose rewards are equal, up to four times as many. Default: "prompts"."""
    passedOver: NotRequired[Literal["return", "last"]]
    """What becomes of prompts that are passed over. `return`: `prompts.passed` hands them back. `last`: they wait here,
    and are taken at the end of the epoch, so that only the order changes. Default: "return"."""
    minResponses: NotRequired[int]
    """Least responses of a prompt, where they are shared out by what they are worth; R0 if absent. Whole number 2 to
    4096."""
    maxResponses: NotRequired[int]
    """Most responses of a prompt. A round has R0 times as many responses as it has prompts. Whole number 2 to 4096."""
    tokensPerRound: NotRequired[int]
    """Expected tokens of all responses of a round: it has no more prompts and responses than fit, and one prompt at
    least. Whole number ≥ 1."""
    rewards: NotRequired[Literal["binary", "real"]]
    """`binary`: a response passes or fails, see `passReward`. `real`: a reward is a number on a scale. Default:
    "binary"."""
    passReward: NotRequired[float]
    """With `rewards: binary`: a reward from this on is a pass; fits rewards of 0 and 1, and of −1 and 1. Default: 1."""
    normalization: NotRequired[Literal["std", "none"]]
    """That of the trainer. `std`: a group whose rewards differ teaches as much as any other. `none`: it teaches by
    their variance. Default: "std"."""
    lengthExponent: NotRequired[float]
    """Worth is value ÷ expected tokens to this power. 0: lengths do not matter. 1: value for each token. Number 0 to 1.
    Default: 0.5."""
    threshold: NotRequired[float]
    """A prompt is taken for certain from so many times the mean worth of those taken lately, else with the chance
    (worth ÷ that)². 0: each is taken. Number 0 to 16. Default: 1."""
    explorationShare: NotRequired[float]
    """Least chance with which a prompt is taken when it is offered, whatever it is worth. Number 0 to 1. Default:
    0.02."""
    maxPasses: NotRequired[int]
    """A prompt is passed over so many times in a row at most, that is, for so many epochs. Whole number ≥ 0. Default:
    16."""
    domainFloor: NotRequired[float]
    """A domain has at least this part of the share of tokens that it would have if every prompt were taken. 0: no such
    floor. Number 0 to 1. Default: 0.25."""
    maxOffered: NotRequired[int]
    """A round passes nothing over any more once so many times the prompts that it needs were offered. Whole number 1 to
    1000. Default: 8."""
    retention: NotRequired[float]
    """Share of the weight of what is known about a prompt that remains after each new version of the weights. Number
    0.01 to 1. Default: 0.99."""
    priorResponses: NotRequired[float]
    """What is known of the domain counts as much as so many responses of the prompt itself. Number 0.01 to 1000.
    Default: 2."""
    rememberedPrompts: NotRequired[int]
    """Prompts of which rewards and lengths are remembered; the others count as new ones of their domain. Whole number 1
    to 10000000. Default: 1000000."""
    seed: NotRequired[int]
    """Seed of the draws. Whole number 0 to 4294967295. Default: 0."""
    unbiased: NotRequired[bool]
    """Each prompt has a chance above 0, and a weight of 1 ÷ chance, with which gradients add up to those of all
    prompts. Default: false."""


PromptSelectionEvent: TypeAlias = Union[
    RoundRequested, PromptsRequest, PromptsSupplied, SourceExhausted, SourceReopened, RoundFailed, PromptDeferred,
    PromptReturned, PromptCounted, PromptFiltered, GroupRewarded, HostRestarted,
]
"""What `prompt-selection` is told."""


PromptSelectionCommand: TypeAlias = PromptsRequest
"""Decisions of `prompt-selection` that a host must carry out."""


PromptSelectionNotice: TypeAlias = Union[
    PromptsSelected, PromptsPassed, PromptMerged, EpochEnded, SourceDrained,
]
"""Decisions of `prompt-selection` that a host may read."""


PromptSelectionDecision: TypeAlias = Union[
    PromptsRequest, PromptsSelected, PromptsPassed, PromptMerged, EpochEnded, SourceDrained,
]
"""What `prompt-selection` answers."""


class PromptSelectionSnapshot(AnySnapshot):
    """State of `prompt-selection`: what `open(snapshot=…)` takes."""

    policy: Literal["prompt-selection"]
    config: PromptSelectionConfig
