# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Rounds composed by predicted length; every response of every prompt is trained."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.chunks import ChunkAwaited, ChunkContinue, ChunkLate, RequestEnded
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
    PromptsRequest, RoundCompleted, RoundDrained, RoundPlanned, SourceDrained, SpeculationChosen,
)
from ..decisions.selection import EpochEnded, PromptsSelected
from ..decisions.session import TimerSet
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.chunks import ChunkFinished, ChunksRequested
from ..events.engines import EngineAdded, EngineDrained, EngineLost, EngineReported, EnginesChanged
from ..events.programs import ToolFinished, ToolStarted, TurnFinished
from ..events.requests import RequestAborted, RequestProgressed, RequestStarted, ResponseCompleted, ResponseFailed
from ..events.rewards import PromptJudged, RewardReady
from ..events.rounds import PromptsSupplied, RoundFailed, RoundRequested, SourceExhausted, SourceReopened
from ..events.session import HostRestarted, TimerFired
from .divided_rollout import DividedRolloutConfig
from .round_composition import _RoundCompositionConfig1
from .speculative_admission import _SpeculativeAdmissionConfig1


class LosslessTailConfigPromptSelection(TypedDict):
    """Prompts whose responses are expected to teach most come first, by `prompt-selection` with these settings; each is
    trained in every epoch. Absent: in the order of the data."""

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
    seed: NotRequired[int]
    """Seed of the draws. Whole number 0 to 4294967295. Default: 0."""


class LosslessTailConfig(_SpeculativeAdmissionConfig1, _RoundCompositionConfig1):
    """Configuration of `lossless-tail`."""

    placement: NotRequired[Literal["policy", "host"]]
    """Who chooses the engine of a request. Default: "host"."""
    maxInFlightPerEngine: NotRequired[int]
    """Most requests in flight on one engine (`placement: policy`); unlimited if absent. Whole number ≥ 1."""
    onRestart: NotRequired[Literal["launch", "continue"]]
    """What becomes of requests in flight when the host restarts: they are launched anew, as if absent, or go on under
    their ids, as trajectories do whose finished turns the host has kept."""
    maxStaleness: NotRequired[int]
    """Weight versions that a token may lag behind. 0: on policy, every round waits for all of its prompts. More:
    partial rollout, a round leaves its last prompts to the next ones, which go on from their tokens. Whole number ≥ 0.
    Default: 0."""
    promptSpeculation: NotRequired[float]
    """With `maxStaleness` above 0: prompts in a round over those that it trains on; 1.25 if absent. Up to 2, no token
    becomes too old. Number 1 to 16."""
    dividedRollout: NotRequired[DividedRolloutConfig]
    """Responses are generated in chunks, by `divided-rollout` with these settings. Absent: whole."""
    promptSelection: NotRequired[LosslessTailConfigPromptSelection]
    """Prompts whose responses are expected to teach most come first, by `prompt-selection` with these settings; each is
    trained in every epoch. Absent: in the order of the data."""


LosslessTailEvent: TypeAlias = Union[
    RoundRequested, RoundFailed, PromptsSupplied, SourceExhausted, SourceReopened, EngineAdded, EngineDrained,
    EngineLost, EnginesChanged, RequestStarted, RequestAborted, ResponseCompleted, ResponseFailed, RewardReady,
    RewardFailed, RewardFailedReport, PromptJudged, RequestProgressed, TurnFinished, ToolStarted, ToolFinished,
    TimerFired, HostRestarted, ChunkFinished, ChunksRequested, EngineReported, GroupRewarded,
]
"""What `lossless-tail` is told."""


LosslessTailCommand: TypeAlias = Union[
    PromptsRequest, RequestLaunch, RequestAbort, RequestResume, TimerSet, RewardRequest, JudgementRequest,
    ChunkContinue,
]
"""Decisions of `lossless-tail` that a host must carry out."""


LosslessTailNotice: TypeAlias = Union[
    ResponseAccepted, ResponseSurplus, ResponseLate, ResponseDropped, ResponseAbandoned, JudgementLate, RequestExpired,
    TriesSuspended, TriesRecovered, PromptCollected, PromptCounted, PromptFiltered, PromptFailed, PromptDeferred,
    PromptCarried, PromptReturned, PromptMerged, RoundCompleted, RoundDrained, SpeculationChosen, RoundPlanned,
    SourceDrained, ChunkAwaited, RequestEnded, ChunkLate, PromptsSelected, EpochEnded,
]
"""Decisions of `lossless-tail` that a host may read."""


LosslessTailDecision: TypeAlias = Union[
    PromptsRequest, RequestLaunch, RequestAbort, RequestResume, TimerSet, ResponseAccepted, ResponseSurplus,
    ResponseLate, ResponseDropped, ResponseAbandoned, RewardRequest, JudgementRequest, JudgementLate, RequestExpired,
    TriesSuspended, TriesRecovered, PromptCollected, PromptCounted, PromptFiltered, PromptFailed, PromptDeferred,
    PromptCarried, PromptReturned, PromptMerged, RoundCompleted, RoundDrained, SpeculationChosen, RoundPlanned,
    SourceDrained, ChunkContinue, ChunkAwaited, RequestEnded, ChunkLate, PromptsSelected, EpochEnded,
]
"""What `lossless-tail` answers."""


class LosslessTailSnapshot(AnySnapshot):
    """State of `lossless-tail`: what `open(snapshot=…)` takes."""

    policy: Literal["lossless-tail"]
    config: LosslessTailConfig
