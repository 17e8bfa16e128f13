# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Preprocesses samples on the nodes, and brings each rank the frames that it needs; holds metadata only."""

from collections.abc import Sequence
from typing import Literal, TypeAlias, Union

from .._bases import AnySnapshot
from .._typing import NotRequired, TypedDict
from ..decisions.loading import (
    BatchAbandoned, BatchMaterialized, BatchRun, PreprocessLate, SampleDropped, SampleEvict, SampleMaterialize,
    SamplePlaceholder, SamplePrefetch, SamplePreprocess, SampleRegistered, SampleReleased, SampleUnplaced, SliceLate,
    StepResumed,
)
from ..decisions.session import TimerSet
from ..decisions.tries import TriesRecovered, TriesSuspended
from ..events.loading import (
    BatchWithdrawn, NodeAdded, NodeLost, PreprocessFailed, SamplePreprocessed, SamplesDrawn, SliceFailed,
    SliceMaterialized, StepCompleted,
)
from ..events.session import HostRestarted, TimerFired
from ..objects import LoaderNode


class ShadowLoaderConfigRetry(TypedDict):
    """Retry budgets of each sample."""

    infrastructure: NotRequired[int]
    """Further tries after failures on nodes that are proven to be its own: others have succeeded since where it failed.
    The loss of a node is none. Whole number ≥ 0. Default: 3."""
    giveUpSeconds: NotRequired[float]
    """Seconds after which a sample is dropped whose failures pass the budget, and could not be compared with others;
    absent: never. Number > 0."""
    data: NotRequired[int]
    """Further tries of a sample that could not be decoded. Whole number ≥ 0. Default: 0."""
    transfer: NotRequired[int]
    """Further tries of each slice that a rank could not fetch, though others were fetched since. Whole number ≥ 0.
    Default: 3."""


class ShadowLoaderConfig(TypedDict):
    """Configuration of `shadow-loader`."""

    nodes: NotRequired[Sequence[LoaderNode]]
    """Nodes that are there from the beginning, each once; others come by `node.added`. Default: []."""
    prefetchSteps: NotRequired[int]
    """How many steps beyond the first open one are preprocessed ahead. Whole number ≥ 0. Default: 1."""
    prefetchFraction: NotRequired[float]
    """How much of the host memory of a node such samples may take, relative, 0 to 1. Number 0 to 1. Default: 0.5."""
    channels: NotRequired[int]
    """Channels of a frame, in the shapes of placeholders. Whole number 1 to 64. Default: 3."""
    retry: NotRequired[ShadowLoaderConfigRetry]
    """Retry budgets of each sample. Default: {}."""
    idPrefix: NotRequired[str]
    """Prefix of every id that is minted; new after each restart of the host. String ≤ 128. Default: ""."""


ShadowLoaderEvent: TypeAlias = Union[
    NodeAdded, NodeLost, SamplesDrawn, SamplePreprocessed, PreprocessFailed, BatchRun, BatchWithdrawn,
    SliceMaterialized, SliceFailed, StepCompleted, TimerFired, HostRestarted,
]
"""What `shadow-loader` is told."""


ShadowLoaderCommand: TypeAlias = Union[
    SamplePlaceholder, SamplePreprocess, SamplePrefetch, SampleMaterialize, SampleEvict, TimerSet,
]
"""Decisions of `shadow-loader` that a host must carry out."""


ShadowLoaderNotice: TypeAlias = Union[
    StepResumed, SampleUnplaced, SampleRegistered, SampleReleased, SampleDropped, BatchMaterialized, BatchAbandoned,
    PreprocessLate, SliceLate, TriesSuspended, TriesRecovered,
]
"""Decisions of `shadow-loader` that a host may read."""


ShadowLoaderDecision: TypeAlias = Union[
    StepResumed, SamplePlaceholder, SampleUnplaced, SamplePreprocess, SamplePrefetch, SampleRegistered,
    SampleMaterialize, SampleEvict, SampleReleased, SampleDropped, BatchMaterialized, BatchAbandoned, PreprocessLate,
    SliceLate, TriesSuspended, TriesRecovered, TimerSet,
]
"""What `shadow-loader` answers."""


class ShadowLoaderSnapshot(AnySnapshot):
    """State of `shadow-loader`: what `open(snapshot=…)` takes."""

    policy: Literal["shadow-loader"]
    config: ShadowLoaderConfig
