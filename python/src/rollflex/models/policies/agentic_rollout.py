# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Rounds of trajectories with tools: tail batching, programs on engines turn by turn, and environments."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired
from ..decisions.programs import (
    EngineFreed, KvRetain, ProgramAwaited, ProgramEnded, ProgramLate, ProgramPause, ProgramResume, TurnRoute,
)
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
from ..decisions.slots import (
    SlotAssign, SlotDenied, SlotExpired, SlotLate, SlotPrewarm, SlotReclaim, SlotsRecovered, SlotsSuspended,
)
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.engines import EngineAdded, EngineDrained, EngineLost, EngineReported, EnginesChanged
from ..events.programs import ToolFinished, ToolStarted, TurnFinished, TurnRequested
from ..events.requests import RequestAborted, RequestProgressed, ResponseCompleted, ResponseFailed
from ..events.rewards import PromptJudged, RewardReady
from ..events.rounds import PromptsSupplied, RoundFailed, RoundRequested, SourceExhausted, SourceReopened
from ..events.session import HostRestarted, TimerFired
from ..events.slots import SlotFailed, SlotReady, SlotReleased, SlotRequested, SlotsChanged
from .environment_slots import _EnvironmentSlotsConfig1
from .long_prompt_queue import _LongPromptQueueConfig1
from .program_scheduling import ProgramSchedulingConfig
from .round_composition import _RoundCompositionConfig1
from .speculative_admission import (
    _SpeculativeAdmissionConfig1, _SpeculativeAdmissionConfig2, _SpeculativeAdmissionConfig3,
)


class AgenticRolloutConfig(
    _SpeculativeAdmissionConfig1, _SpeculativeAdmissionConfig2, _SpeculativeAdmissionConfig3, _LongPromptQueueConfig1,
    _RoundCompositionConfig1, _EnvironmentSlotsConfig1, ProgramSchedulingConfig,
):
    """Configuration of `agentic-rollout`."""

    composition: NotRequired[bool]
    """Rounds are composed by predicted length, and wait for all, as in `lossless-tail`. Off: tail batching, as in
    `tail-batching`. Default: false."""
    environment: NotRequired[str]
    """Kind of the environment that every trajectory needs; it is asked for when the trajectory is launched. Absent:
    none, or the host asks itself, by `slot.requested`. String ≤ 512."""


AgenticRolloutEvent: TypeAlias = Union[
    EngineAdded, EngineDrained, EngineLost, EngineReported, EnginesChanged, HostRestarted, PromptJudged,
    PromptsSupplied, RequestAborted, RequestProgressed, ResponseCompleted, ResponseFailed, RewardFailed,
    RewardFailedReport, RewardReady, RoundFailed, RoundRequested, SlotFailed, SlotReady, SlotReleased, SlotRequested,
    SlotsChanged, SourceExhausted, SourceReopened, TimerFired, ToolFinished, ToolStarted, TurnFinished, TurnRequested,
]
"""What `agentic-rollout` is told."""


AgenticRolloutCommand: TypeAlias = Union[
    JudgementRequest, KvRetain, ProgramPause, ProgramResume, PromptsRequest, RequestAbort, RequestLaunch, RequestResume,
    RewardRequest, SlotAssign, SlotPrewarm, SlotReclaim, TimerSet, TurnRoute,
]
"""Decisions of `agentic-rollout` that a host must carry out."""


AgenticRolloutNotice: TypeAlias = Union[
    EngineFreed, JudgementLate, ProgramAwaited, ProgramEnded, ProgramLate, PromptCarried, PromptCollected,
    PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged, PromptReturned, PromptsReleased,
    RequestExpired, ResponseAbandoned, ResponseAccepted, ResponseDropped, ResponseLate, ResponseSurplus, RoundCompleted,
    RoundDrained, RoundPlanned, SlotDenied, SlotExpired, SlotLate, SlotsRecovered, SlotsSuspended, SourceDrained,
    SpeculationChosen, TriesRecovered, TriesSuspended,
]
"""Decisions of `agentic-rollout` that a host may read."""


AgenticRolloutDecision: TypeAlias = Union[
    EngineFreed, JudgementLate, JudgementRequest, KvRetain, ProgramAwaited, ProgramEnded, ProgramLate, ProgramPause,
    ProgramResume, PromptCarried, PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered,
    PromptMerged, PromptReturned, PromptsReleased, PromptsRequest, RequestAbort, RequestExpired, RequestLaunch,
    RequestResume, ResponseAbandoned, ResponseAccepted, ResponseDropped, ResponseLate, ResponseSurplus, RewardRequest,
    RoundCompleted, RoundDrained, RoundPlanned, SlotAssign, SlotDenied, SlotExpired, SlotLate, SlotPrewarm, SlotReclaim,
    SlotsRecovered, SlotsSuspended, SourceDrained, SpeculationChosen, TimerSet, TriesRecovered, TriesSuspended,
    TurnRoute,
]
"""What `agentic-rollout` answers."""


class AgenticRolloutSnapshot(AnySnapshot):
    """State of `agentic-rollout`: what `open(snapshot=…)` takes."""

    policy: Literal["agentic-rollout"]
    config: AgenticRolloutConfig
