# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Rounds of trajectories with tools: tail batching, programs on engines turn by turn, and environments."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
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
from .program_scheduling import ProgramSchedulingConfigDecode
from .speculative_admission import SpeculativeAdmissionConfigRetry


class AgenticRolloutConfig(TypedDict):
    """Configuration of `agentic-rollout`."""

    promptsPerRound: int
    """P0: prompts that a round trains on. Whole number ≥ 1."""
    responsesPerPrompt: int
    """R0: responses that a prompt needs (the group size). Whole number ≥ 1."""
    speculation: NotRequired[Literal["fixed", "auto"]]
    """`auto` tries factors from 1.1 to 1.4 in the first rounds and keeps the fastest. Default: "fixed"."""
    promptSpeculation: NotRequired[float]
    """Over-provisioning of prompts in short rounds; 1.25 if absent. Number 1 to 16."""
    responseSpeculation: NotRequired[float]
    """Over-provisioning of responses in short rounds; 1.25 if absent. Number 1 to 16."""
    maxInFlight: NotRequired[int]
    """Most requests in flight at once; unlimited if absent. Whole number ≥ 1."""
    retry: NotRequired[SpeculativeAdmissionConfigRetry]
    """Retry budgets of each response; only failures that are its own are charged. Default: {}."""
    filter: NotRequired[Literal["none", "zero-variance", "host"]]
    """Which collected prompts count: all, those whose rewards differ, or those that the host keeps. Default: "none"."""
    varianceTolerance: NotRequired[float]
    """Standard deviation of raw rewards up to which a prompt has zero variance. Number ≥ 0. Default: 0.000001."""
    maxFiltered: NotRequired[int]
    """Prompts that a round filters before it asks for no more, and ends with those that it has; no bound if absent.
    Whole number ≥ 1."""
    quotas: NotRequired[Mapping[str, int]]
    """Prompts of each domain in a short round; together they are P0. Long rounds take any mix."""
    partialRollout: NotRequired[bool]
    """Deferred prompts keep their tokens and resume from them; needs `maxStaleness` of 1 or more. Default: false."""
    maxStaleness: NotRequired[int]
    """Weight versions that a response may lag behind: 0 synchronous, 1 one-step off-policy, more asynchronous. Whole
    number ≥ 0. Default: 0."""
    allowOverlap: NotRequired[bool]
    """Whether a round may open before the last one has drained. Default: false."""
    abortGraceSeconds: NotRequired[float]
    """Seconds until an unconfirmed abort frees its engine slot. Number > 0. Default: 30."""
    responseTimeoutSeconds: NotRequired[float]
    """Seconds after which a running response of which nothing was heard is tried again, twice as long each time; never
    if absent. Number > 0."""
    idPrefix: NotRequired[str]
    """Prefix of every request id; new after each restart of the host. String ≤ 128. Default: ""."""
    composition: NotRequired[bool]
    """Rounds are composed by predicted length, and wait for all, as in `lossless-tail`. Off: tail batching, as in
    `tail-batching`. Default: false."""
    environment: NotRequired[str]
    """Kind of the environment that every trajectory needs; it is asked for when the trajectory is launched. Absent:
    none, or the host asks itself, by `slot.requested`. String ≤ 512."""
    order: NotRequired[Literal["fifo", "longest-expected-first"]]
    """Which queued prompts a long round takes first; overdue ones always come before. Default: "fifo"."""
    maxDeferrals: NotRequired[int]
    """A prompt that was deferred this often forces a long round; never if absent. Whole number ≥ 1."""
    maxWaitRounds: NotRequired[int]
    """A prompt that has waited this many rounds forces a long round, with fresh prompts where too few wait. Whole
    number ≥ 1. Default: 16."""
    windowRounds: NotRequired[int]
    """W: rounds that are composed together; a prompt moves by at most W − 1 rounds. 1: the order of the data. Whole
    number 1 to 1000. Default: 10."""
    rememberedPrompts: NotRequired[int]
    """Prompts whose lengths are remembered: at least those of the data set, or none is known when it returns. Whole
    number 1 to 10000000. Default: 1000000."""
    kvCapacityTokens: NotRequired[int]
    """Tokens that fit the KV cache of an engine, until it reports its own number. Whole number ≥ 1. Default: 400000."""
    budgetShare: NotRequired[float]
    """Part of its KV cache that the programs of an engine may fill. Number 0.05 to 1. Default: 0.95."""
    maxPauseSeconds: NotRequired[float]
    """No program is held back or paused for longer, in seconds, while there is an engine. Number > 0. Default: 1800."""
    prefillTokensPerSecond: NotRequired[float]
    """Tokens of a context that an engine reads in a second. The order of magnitude is enough. Number ≥ 1. Default:
    10000."""
    tailSlowdown: NotRequired[float]
    """How many times as long as alone on an engine a turn may take where the last programs are packed onto few engines,
    so that others become free; absent: none is freed. Number 1 to 100."""
    decode: NotRequired[ProgramSchedulingConfigDecode]
    """How long an engine takes to generate a token for each of its turns. The order of magnitude is enough. Default:
    {}."""
    slots: NotRequired[Mapping[str, int]]
    """Most environments of each kind at the start; `slots.changed` replaces them. Default: {}."""
    toolTimeoutFactor: NotRequired[float]
    """λ: a tool may take this many times its longest answer so far, and a start as many times the longest start. Number
    1 to 1000. Default: 4."""
    minToolTimeoutSeconds: NotRequired[float]
    """Tmin: no tool, and no start, is given less, in seconds. Number ≥ 0. Default: 60."""
    maxToolTimeoutSeconds: NotRequired[float]
    """Tmax: no tool is given more; also the time of a tool that has not answered yet, in seconds, > 0 and at most a
    day. Number > 0. Default: 1800."""
    toolExploreEvery: NotRequired[int]
    """Every so many runs of a tool one is given Tmax, so that its limit can rise; 0: none. Whole number ≥ 0. Default:
    16."""
    maxStartSeconds: NotRequired[float]
    """The most that the start of an environment may take, in seconds, > 0 and at most a day. Number > 0. Default:
    600."""
    endGraceSeconds: NotRequired[float]
    """Seconds until an environment whose end is not confirmed counts as gone. Number > 0. Default: 60."""
    maxIdleSeconds: NotRequired[float]
    """The most that an environment without a program is kept for the next, in seconds; less where that did not pay.
    Number > 0. Default: 600."""
    suspendAfter: NotRequired[int]
    """Environments of a kind that fail one after the other until no more are started. Whole number ≥ 1. Default: 5."""
    retrySeconds: NotRequired[float]
    """Seconds until an environment of a suspended kind is tried; twice as long after each failure. Number > 0. Default:
    10."""
    maxRetrySeconds: NotRequired[float]
    """The longest time between two such tries, in seconds. Number > 0. Default: 600."""


AgenticRolloutEvent: TypeAlias = Union[
    EngineAdded, EngineDrained, EngineLost, EngineReported, EnginesChanged, HostRestarted, PromptJudged,
    PromptsSupplied, RequestAborted, RequestProgressed, ResponseCompleted, ResponseFailed, RewardFailed,
    RewardFailedReport, RewardReady, RoundFailed, RoundRequested, SlotFailed, SlotReady, SlotReleased, SlotRequested,
    SlotsChanged, SourceExhausted, SourceReopened, TimerFired, ToolFinished, ToolStarted, TurnFinished, TurnRequested,
]
"""What `agentic-rollout` is told."""


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
