# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Shards each batch by flex-ulysses, and brings each rank the frames that the plan needs there."""

from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired
from ..decisions.loading import (
    BatchAbandoned, BatchMaterialized, BatchRun, PreprocessLate, SampleDropped, SampleEvict, SampleMaterialize,
    SamplePlaceholder, SamplePrefetch, SamplePreprocess, SampleRegistered, SampleReleased, SampleUnplaced, SliceLate,
    StepResumed,
)
from ..decisions.session import TimerSet
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.loading import (
    BatchReady, BatchWithdrawn, NodeAdded, NodeLost, PreprocessFailed, SamplePreprocessed, SamplesDrawn, SliceFailed,
    SliceMaterialized, StepCompleted,
)
from ..events.session import HostRestarted, TimerFired
from ..planners.flex_ulysses import _FlexUlyssesInput1
from .shadow_loader import ShadowLoaderConfig


class FlexrlConfig(_FlexUlyssesInput1, ShadowLoaderConfig):
    """Configuration of `flexrl`."""

    devices: int
    """Devices, numbered from 0, neighbours beside each other. Whole number 1 to 1024."""
    maxSteps: NotRequired[int]
    """Most steps of `search` for a batch, a few nanoseconds each. Whole number 1 to 3000000. Default: 3000000."""


FlexrlEvent: TypeAlias = Union[
    NodeAdded, NodeLost, SamplesDrawn, SamplePreprocessed, PreprocessFailed, BatchReady, BatchWithdrawn,
    SliceMaterialized, SliceFailed, StepCompleted, TimerFired, HostRestarted,
]
"""What `flexrl` is told."""


FlexrlCommand: TypeAlias = Union[
    BatchRun, SamplePlaceholder, SamplePreprocess, SamplePrefetch, SampleMaterialize, SampleEvict, TimerSet,
]
"""Decisions of `flexrl` that a host must carry out."""


FlexrlNotice: TypeAlias = Union[
    StepResumed, SampleUnplaced, SampleRegistered, SampleReleased, SampleDropped, BatchMaterialized, BatchAbandoned,
    PreprocessLate, SliceLate, TriesSuspended, TriesRecovered,
]
"""Decisions of `flexrl` that a host may read."""


FlexrlDecision: TypeAlias = Union[
    BatchRun, StepResumed, SamplePlaceholder, SampleUnplaced, SamplePreprocess, SamplePrefetch, SampleRegistered,
    SampleMaterialize, SampleEvict, SampleReleased, SampleDropped, BatchMaterialized, BatchAbandoned, PreprocessLate,
    SliceLate, TriesSuspended, TriesRecovered, TimerSet,
]
"""What `flexrl` answers."""


class FlexrlSnapshot(AnySnapshot):
    """State of `flexrl`: what `open(snapshot=…)` takes."""

    policy: Literal["flexrl"]
    config: FlexrlConfig
