# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Short rounds with speculative admission; deferred prompts are batched in long rounds."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
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


class TailBatchingConfig(SpeculativeAdmissionConfig, _LongPromptQueueConfig1):
    """Configuration of `tail-batching`."""


TailBatchingEvent: TypeAlias = Union[
    RoundRequested, RoundFailed, PromptsSupplied, SourceExhausted, SourceReopened, EngineAdded, EngineDrained,
    EngineLost, EnginesChanged, RequestStarted, RequestAborted, ResponseCompleted, ResponseFailed, RewardReady,
    RewardFailed, RewardFailedReport, PromptJudged, RequestProgressed, TurnFinished, ToolStarted, ToolFinished,
    TimerFired, HostRestarted,
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
    PromptsReleased, SourceDrained,
]
"""Decisions of `tail-batching` that a host may read."""


TailBatchingDecision: TypeAlias = Union[
    PromptsRequest, RequestLaunch, RequestAbort, RequestResume, TimerSet, ResponseAccepted, ResponseSurplus,
    ResponseLate, ResponseDropped, ResponseAbandoned, RewardRequest, JudgementRequest, JudgementLate, RequestExpired,
    TriesSuspended, TriesRecovered, PromptCollected, PromptCounted, PromptFiltered, PromptFailed, PromptDeferred,
    PromptCarried, PromptReturned, PromptMerged, RoundCompleted, RoundDrained, SpeculationChosen, RoundPlanned,
    PromptsReleased, SourceDrained,
]
"""What `tail-batching` answers."""


class TailBatchingSnapshot(AnySnapshot):
    """State of `tail-batching`: what `open(snapshot=…)` takes."""

    policy: Literal["tail-batching"]
    config: TailBatchingConfig
