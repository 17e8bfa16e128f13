# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Says who owes an answer that is overdue, and where work gains nothing, by what is usual."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.frontier import RequestAdmit
from ..decisions.gpus import GpusReclaim, GpusRelease, MigrationCancel, ProgressQuery, RequestMigrate
from ..decisions.loading import SampleMaterialize, SamplePrefetch, SamplePreprocess
from ..decisions.pacing import GroupDrop, GroupLaunch, TrainBatch
from ..decisions.parallelism import ProfileMeasure
from ..decisions.pipelining import TrainDispatch, WeightsPublish
from ..decisions.programs import ProgramEnded, ProgramLate, ProgramPause, TurnRoute
from ..decisions.prompts import (
    PromptCollected, PromptCounted, PromptDeferred, PromptFailed, PromptFiltered, PromptMerged, PromptReturned,
)
from ..decisions.requests import (
    RequestAbort, RequestExpired, RequestLaunch, RequestResume, ResponseAccepted, ResponseDropped,
)
from ..decisions.reward_workers import RewardCancel, RewardDispatch, RewardFailed, RewardFailedReport
from ..decisions.rewards import JudgementRequest, RewardRequest
from ..decisions.rounds import PromptsRequest, RoundCompleted, RoundDrained
from ..decisions.sandbox import SandboxRun
from ..decisions.session import HostOwes, RoundStalled, TimerSet
from ..decisions.slots import SlotAssign, SlotDenied, SlotExpired, SlotPrewarm, SlotReclaim
from ..decisions.training import OptimizerStep, TrainFetch, TrainFinish
from ..events.engines import EngineLost
from ..events.gpus import (
    GpusReleaseFailed, GpusReleased, GpusReturned, MigrationFailed, ProgressReported, RequestMigrated,
)
from ..events.loading import NodeLost, PreprocessFailed, SamplePreprocessed, SliceFailed, SliceMaterialized
from ..events.parallelism import ProfileMeasured
from ..events.pipelining import UpdateConsumed, UpdateLost, WeightsPublished
from ..events.programs import ProgramClosed, ToolFinished, ToolStarted, TurnFinished, TurnRequested
from ..events.requests import RequestAborted, RequestStarted, ResponseCompleted, ResponseFailed
from ..events.reward_workers import RewardFinished, RewardWorkerLost
from ..events.rewards import PromptJudged, RewardReady
from ..events.rounds import PromptsSupplied, RoundFailed, RoundRequested, SourceExhausted
from ..events.sandbox import SandboxFinished
from ..events.session import HostRestarted, TimerFired
from ..events.slots import SlotFailed, SlotReady, SlotReleased
from ..events.training import GroupCompleted, GroupRejected, OptimizerStepped, ReplicaLost, TrainConsumed, TrainFinished


class WatchdogConfig(TypedDict):
    """Configuration of `watchdog`."""

    floorSeconds: NotRequired[float]
    """No answer is overdue earlier, in seconds, > 0 and at most a day. Number > 0. Default: 60."""
    startSeconds: NotRequired[float]
    """When an answer is overdue while fewer than 8 of its kind have come, in seconds, > 0 and at most ten days. Number
    > 0. Default: 1800."""
    factor: NotRequired[float]
    """An answer is overdue after this many times what 99 % of the answers of its kind have taken. Number 1 to 1000.
    Default: 3."""
    maxOwed: NotRequired[int]
    """Most answers whose wait is followed; the oldest are forgotten. Whole number 1 to 10000000. Default: 100000."""


WatchdogEvent: TypeAlias = Union[
    GpusReclaim, GpusRelease, GroupDrop, GroupLaunch, JudgementRequest, MigrationCancel, OptimizerStep, ProfileMeasure,
    ProgramEnded, ProgramLate, ProgramPause, ProgressQuery, PromptCollected, PromptCounted, PromptDeferred,
    PromptFailed, PromptFiltered, PromptMerged, PromptReturned, PromptsRequest, RequestAbort, RequestAdmit,
    RequestExpired, RequestLaunch, RequestMigrate, RequestResume, ResponseAccepted, ResponseDropped, RewardCancel,
    RewardDispatch, RewardFailed, RewardFailedReport, RewardRequest, RoundCompleted, RoundDrained, RoundFailed,
    SampleMaterialize, SamplePrefetch, SamplePreprocess, SandboxRun, SlotAssign, SlotDenied, SlotExpired, SlotPrewarm,
    SlotReclaim, TrainBatch, TrainDispatch, TrainFetch, TrainFinish, TurnRoute, WeightsPublish, TimerSet, EngineLost,
    GpusReleaseFailed, GpusReleased, GpusReturned, GroupCompleted, GroupRejected, MigrationFailed, NodeLost,
    OptimizerStepped, PreprocessFailed, ProfileMeasured, ProgramClosed, ProgressReported, PromptJudged, PromptsSupplied,
    ReplicaLost, RequestAborted, RequestMigrated, RequestStarted, ResponseCompleted, ResponseFailed, RewardFinished,
    RewardReady, RewardWorkerLost, RoundRequested, SamplePreprocessed, SandboxFinished, SliceFailed, SliceMaterialized,
    SlotFailed, SlotReady, SlotReleased, SourceExhausted, ToolFinished, ToolStarted, TrainConsumed, TrainFinished,
    TurnFinished, TurnRequested, UpdateConsumed, UpdateLost, WeightsPublished, TimerFired, HostRestarted,
]
"""What `watchdog` is told."""


WatchdogCommand: TypeAlias = TimerSet
"""Decisions of `watchdog` that a host must carry out."""


WatchdogNotice: TypeAlias = Union[
    HostOwes, RoundStalled,
]
"""Decisions of `watchdog` that a host may read."""


WatchdogDecision: TypeAlias = Union[
    HostOwes, RoundStalled, TimerSet,
]
"""What `watchdog` answers."""


class WatchdogSnapshot(AnySnapshot):
    """State of `watchdog`: what `open(snapshot=…)` takes."""

    policy: Literal["watchdog"]
    config: WatchdogConfig
