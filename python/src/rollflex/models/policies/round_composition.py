# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Composes rounds by predicted length, so that long responses wait for each other."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.prompts import PromptCounted, PromptDeferred, PromptFiltered, PromptReturned
from ..decisions.rounds import PromptsRequest, RoundPlanned, SourceDrained
from ..events.rounds import PromptsSupplied, RoundFailed, RoundRequested, SourceExhausted, SourceReopened
from ..events.session import HostRestarted


class _RoundCompositionConfig1(TypedDict):
    """Settings that `round-composition` shares with `lossless-tail`, `agentic-rollout`, `rollpacker`."""

    windowRounds: NotRequired[int]
    """W: rounds that are composed together; a prompt moves by at most W − 1 rounds. 1: the order of the data. Whole
    number 1 to 1000. Default: 10."""
    rememberedPrompts: NotRequired[int]
    """Prompts whose lengths are remembered: at least those of the data set, or none is known when it returns. Whole
    number 1 to 10000000. Default: 1000000."""


class RoundCompositionConfig(_RoundCompositionConfig1):
    """Configuration of `round-composition`."""

    promptsPerRound: int
    """P0: prompts that a round trains on. Whole number ≥ 1."""
    responsesPerPrompt: int
    """R0: responses that a prompt needs (the group size). Whole number ≥ 1."""
    promptSpeculation: NotRequired[float]
    """Over-provisioning of prompts by the admission that follows: a round gets that many more. Number 1 to 16. Default:
    1."""


RoundCompositionEvent: TypeAlias = Union[
    RoundRequested, PromptsSupplied, SourceExhausted, SourceReopened, RoundFailed, PromptDeferred, PromptReturned,
    PromptCounted, PromptFiltered, HostRestarted,
]
"""What `round-composition` is told."""


RoundCompositionCommand: TypeAlias = PromptsRequest
"""Decisions of `round-composition` that a host must carry out."""


RoundCompositionNotice: TypeAlias = Union[
    RoundPlanned, SourceDrained,
]
"""Decisions of `round-composition` that a host may read."""


RoundCompositionDecision: TypeAlias = Union[
    PromptsRequest, RoundPlanned, SourceDrained,
]
"""What `round-composition` answers."""


class RoundCompositionSnapshot(AnySnapshot):
    """State of `round-composition`: what `open(snapshot=…)` takes."""

    policy: Literal["round-composition"]
    config: RoundCompositionConfig
