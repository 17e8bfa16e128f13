# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Releases half of the rollout GPUs for training once the other half has room for all requests in flight."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.gpus import (
    GpusReclaim, GpusRelease, MigrationAbandoned, MigrationCancel, ProgressQuery, RequestMigrate, ScaleDownLate,
    ScaleDownRejected,
)
from ..decisions.prompts import PromptCounted
from ..decisions.requests import RequestAbort, ResponseAccepted
from ..decisions.rounds import RoundCompleted
from ..events.engines import EngineAdded, EngineDrained, EngineLost, EnginesPlaced, EnginesPlacedEngine
from ..events.gpus import (
    GpusReleaseFailed, GpusReleased, GpusReturned, MigrationFailed, ProgressReported, RequestMigrated,
)
from ..events.requests import RequestAborted, ResponseCompleted
from ..events.rounds import RoundOpened
from ..events.session import HostRestarted


class GpuScaleDownConfig(TypedDict):
    """Configuration of `gpu-scale-down`."""

    promptsPerRound: int
    """P0: prompts that a round trains on. Whole number ≥ 1."""
    responsesPerPrompt: int
    """R0: responses of each of them. Whole number ≥ 1."""
    engines: NotRequired[Sequence[EnginesPlacedEngine]]
    """The engines that roll out, with the GPUs that they run on; none until `engines.placed` names them. Default:
    []."""
    communicationGroups: NotRequired[Sequence[Sequence[str]]]
    """GPUs that a data-parallel replica needs together in training: none of these groups is split. Default: []."""
    maxResponseTokens: int
    """Longest response, in tokens, over all attempts. Whole number 1 to 16777216."""
    bytesPerToken: NotRequired[float]
    """KV cache of a token, in bytes; with `kvCapacityBytes`. Number > 0."""
    progressUnit: NotRequired[Literal["responses", "prompts"]]
    """What progress counts: accepted responses of P0 · R0, or counted prompts of P0. Default: "responses"."""
    trigger: NotRequired[Literal["adaptive"] | float]
    """`adaptive`, or the fraction at which GPUs are released once without asking whether the KV cache fits. Default:
    "adaptive"."""
    firstFraction: NotRequired[float]
    """Progress at which it is evaluated first (`adaptive`), included. Number > 0. Default: 0.2."""
    lastFraction: NotRequired[float]
    """Progress beyond which it is not evaluated (`adaptive`), included. Number > 0. Default: 0.5."""
    fractionStep: NotRequired[float]
    """Progress from one evaluation to the next at least (`adaptive`). Number > 0. Default: 0.05."""
    quantile: NotRequired[float]
    """Chance that the KV cache of every remaining engine stays below its projected peak. Number 0.5 to 0.9999. Default:
    0.95."""
    historyRetention: NotRequired[float]
    """Share of the weight of earlier rounds of a kind that remains after each of them. Number 0 to 1. Default: 0.9."""
    maxMigrationAttempts: NotRequired[int]
    """Tries to move a request before the release is given up. Whole number ≥ 1. Default: 2."""


GpuScaleDownEvent: TypeAlias = Union[
    RoundOpened, RoundCompleted, ResponseAccepted, PromptCounted, ResponseCompleted, RequestAbort, RequestAborted,
    ProgressReported, RequestMigrated, MigrationFailed, GpusReleased, GpusReleaseFailed, GpusReturned, EnginesPlaced,
    EngineAdded, EngineDrained, EngineLost, HostRestarted,
]
"""What `gpu-scale-down` is told."""


GpuScaleDownCommand: TypeAlias = Union[
    ProgressQuery, GpusRelease, RequestMigrate, MigrationCancel, GpusReclaim,
]
"""Decisions of `gpu-scale-down` that a host must carry out."""


GpuScaleDownNotice: TypeAlias = Union[
    MigrationAbandoned, ScaleDownRejected, ScaleDownLate,
]
"""Decisions of `gpu-scale-down` that a host may read."""


GpuScaleDownDecision: TypeAlias = Union[
    ProgressQuery, GpusRelease, RequestMigrate, MigrationCancel, MigrationAbandoned, GpusReclaim, ScaleDownRejected,
    ScaleDownLate,
]
"""What `gpu-scale-down` answers."""


class GpuScaleDownSnapshot(AnySnapshot):
    """State of `gpu-scale-down`: what `open(snapshot=…)` takes."""

    policy: Literal["gpu-scale-down"]
    config: GpuScaleDownConfig
