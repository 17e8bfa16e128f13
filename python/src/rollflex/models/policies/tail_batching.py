# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Short rounds with speculative admission; deferred prompts are batched in long rounds."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.groups import GroupRewarded
from ..decisions.prompts import (
    PromptCarried, PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged,
    PromptReturned,
)
from ..decisions.requests import (
    RequestAbort, RequestExpired, RequestLaunch, RequestResume, ResponseAbandoned, ResponseAccepted, ResponseDropped,
    ResponseLate, ResponseSurplus,
)
from ..decisions.reward_workers import RewardFailed, RewardFailedReport
from ..decisions.rewards import JudgementLate, JudgementRequest, RewardRequest
from ..decisions.rounds import (
    PromptsReleased, PromptsRequest, RoundCompleted, RoundDrained, RoundPlanned, SourceDrained, SpeculationChosen,
)
from ..decisions.selection import EpochEnded, PromptsPassed, PromptsSelected
from ..decisions.session import TimerSet
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.engines import EngineAdded, EngineDrained, EngineLost, EnginesChanged
from ..events.programs import ToolFinished, ToolStarted, TurnFinished
from ..events.requests import RequestAborted, RequestProgressed, RequestStarted, ResponseCompleted, ResponseFailed
from ..events.rewards import PromptJudged, RewardReady
from ..events.rounds import PromptsSupplied, RoundFailed, RoundRequested, SourceExhausted, SourceReopened
from ..events.session import HostRestarted, TimerFired
from .long_prompt_queue import _LongPromptQueueConfig1
from .speculative_admission import SpeculativeAdmissionConfig


class TailBatchingConfigPromptSelection(TypedDict):
    """Prompts are taken by what their responses are expected to teach, by `prompt-selection` with these settings; with
    a filter, rounds begin as many as are likely to be kept, in place of `promptSpeculation`. Absent: all, in the order
    of the data."""

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


class TailBatchingConfig(SpeculativeAdmissionConfig, _LongPromptQueueConfig1):
    """Configuration of `tail-batching`."""

    promptSelection: NotRequired[TailBatchingConfigPromptSelection]
    """Prompts are taken by what their responses are expected to teach, by `prompt-selection` with these settings; with
    a filter, rounds begin as many as are likely to be kept, in place of `promptSpeculation`. Absent: all, in the order
    of the data."""


TailBatchingEvent: TypeAlias = Union[
    RoundRequested, RoundFailed, PromptsSupplied, SourceExhausted, SourceReopened, EngineAdded, EngineDrained,
    EngineLost, EnginesChanged, RequestStarted, RequestAborted, ResponseCompleted, ResponseFailed, RewardReady,
    RewardFailed, RewardFailedReport, PromptJudged, RequestProgressed, TurnFinished, ToolStarted, ToolFinished,
    TimerFired, HostRestarted, GroupRewarded,
]
"""What `tail-batching` is told."""


TailBatchingCommand: TypeAlias = Union[
    PromptsRequest, RequestLaunch, RequestAbort, RequestResume, TimerSet, RewardRequest, JudgementRequest,
]
"""Decisions of `tail-batching` that a host must carry out."""


TailBatchingNotice: TypeAlias = Union[
    ResponseAccepted, ResponseSurplus, ResponseLate, ResponseDropped, ResponseAbandoned, JudgementLate, RequestExpired,
    TriesSuspended, TriesRecovered, PromptCollected, PromptCounted, PromptFiltered, PromptFailed, PromptDeferred,
    PromptCarried, PromptReturned, PromptMerged, RoundCompleted, RoundDrained, SpeculationChosen, RoundPlanned,
    PromptsReleased, SourceDrained, PromptsSelected, PromptsPassed, EpochEnded,
]
"""Decisions of `tail-batching` that a host may read."""


TailBatchingDecision: TypeAlias = Union[
    PromptsRequest, RequestLaunch, RequestAbort, RequestResume, TimerSet, ResponseAccepted, ResponseSurplus,
    ResponseLate, ResponseDropped, ResponseAbandoned, RewardRequest, JudgementRequest, JudgementLate, RequestExpired,
    TriesSuspended, TriesRecovered, PromptCollected, PromptCounted, PromptFiltered, PromptFailed, PromptDeferred,
    PromptCarried, PromptReturned, PromptMerged, RoundCompleted, RoundDrained, SpeculationChosen, RoundPlanned,
    PromptsReleased, SourceDrained, PromptsSelected, PromptsPassed, EpochEnded,
]
"""What `tail-batching` answers."""


class TailBatchingSnapshot(AnySnapshot):
    """State of `tail-batching`: what `open(snapshot=…)` takes."""

    policy: Literal["tail-batching"]
    config: TailBatchingConfig
