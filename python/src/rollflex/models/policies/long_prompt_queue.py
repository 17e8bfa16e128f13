# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Holds deferred prompts until there are enough of them for a long round."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.prompts import (
    PromptCarried, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged, PromptReturned,
)
from ..decisions.rounds import PromptsReleased, PromptsRequest, RoundCompleted, RoundPlanned, SourceDrained
from ..events.rewards import RewardReady
from ..events.rounds import RoundRequested, SourceExhausted, SourceReopened


class _LongPromptQueueConfig1(TypedDict):
    """Settings that `long-prompt-queue` shares with `tail-batching`, `agentic-rollout`, `rollpacker`,
    `tail-pipelining`."""

    order: NotRequired[Literal["fifo", "longest-expected-first"]]
    """Which queued prompts a long round takes first; overdue ones always come before. Default: "fifo"."""
    maxDeferrals: NotRequired[int]
    """A prompt that was deferred this often forces a long round; never if absent. Whole number ≥ 1."""
    maxWaitRounds: NotRequired[int]
    """A prompt that has waited this many rounds forces a long round, with fresh prompts where too few wait. Whole
    number ≥ 1. Default: 16."""


class LongPromptQueueConfig(_LongPromptQueueConfig1):
    """Configuration of `long-prompt-queue`."""

    promptsPerRound: int
    """P0: prompts that a round trains on; a long round starts with that many queued. Whole number ≥ 1."""
    promptSpeculation: NotRequired[float]
    """Over-provisioning of prompts in short rounds. Number 1 to 16. Default: 1.25."""
    domains: NotRequired[Sequence[str]]
    """Domains of the source: it is exhausted when each of them is. If absent, it is so only as a whole."""
    maxStaleness: NotRequired[int]
    """Weight versions that kept tokens may lag behind: their prompts go into the round after which they would be too
    old, of either kind. 0: no such rule. Whole number ≥ 0. Default: 0."""


LongPromptQueueEvent: TypeAlias = Union[
    PromptDeferred, PromptReturned, PromptCarried, PromptFiltered, PromptFailed, RewardReady, RoundRequested,
    RoundCompleted, SourceExhausted, SourceReopened,
]
"""What `long-prompt-queue` is told."""


LongPromptQueueCommand: TypeAlias = PromptsRequest
"""Decisions of `long-prompt-queue` that a host must carry out."""


LongPromptQueueNotice: TypeAlias = Union[
    RoundPlanned, PromptsReleased, PromptMerged, SourceDrained,
]
"""Decisions of `long-prompt-queue` that a host may read."""


LongPromptQueueDecision: TypeAlias = Union[
    RoundPlanned, PromptsRequest, PromptsReleased, PromptMerged, SourceDrained,
]
"""What `long-prompt-queue` answers."""


class LongPromptQueueSnapshot(AnySnapshot):
    """State of `long-prompt-queue`: what `open(snapshot=…)` takes."""

    policy: Literal["long-prompt-queue"]
    config: LongPromptQueueConfig
