# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Shards each batch by flex-ulysses, and brings each rank the frames that the plan needs there."""

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
    BatchReady, BatchWithdrawn, NodeAdded, NodeLost, PreprocessFailed, SamplePreprocessed, SamplesDrawn, SliceFailed,
    SliceMaterialized, StepCompleted,
)
from ..events.session import HostRestarted, TimerFired
from ..objects import LoaderNode
from ..planners.flex_ulysses import FlexUlyssesInputCosts
from .shadow_loader import ShadowLoaderConfigRetry


class FlexrlConfig(TypedDict):
    """Configuration of `flexrl`."""

    devices: int
    """Devices, numbered from 0, neighbours beside each other. Whole number 1 to 1024."""
    maxDegree: NotRequired[int]
    """Largest sharding degree; degrees are the powers of two up to it that divide the devices and the heads. Whole
    number 1 to 65536. Default: 8."""
    attentionHeads: NotRequired[int]
    """Query heads of the model: a degree divides them, as each device takes whole heads; no limit if absent. Whole
    number 1 to 65536."""
    kvHeads: NotRequired[int]
    """Key and value heads: a degree divides them, or is a multiple of them (then they are repeated). Whole number 1 to
    65536."""
    devicesPerNode: NotRequired[int]
    """Devices of one node; the all-to-all of a group that does not fit into one node costs more. Whole number 1 to
    65536. Default: 8."""
    memorySlack: NotRequired[float]
    """Most tokens of a device, relative to the mean over all devices (α in the paper). Number 1 to 1000000. Default:
    1.1."""
    memoryCapTokens: NotRequired[float]
    """Most tokens of a device; stands in place of `memorySlack`. Number 0 to 1000000000000000."""
    overCap: NotRequired[Literal["refuse", "allow"]]
    """What becomes of a plan that does not keep `memoryCapTokens`: it is refused, or given, with `memoryRelaxed`.
    Default: "refuse"."""
    balanceTolerance: NotRequired[float]
    """How much more compute than the best balance needs a device may have, relative, to save communication. Number 0 to
    10. Default: 0.01."""
    effort: NotRequired[Literal["fast", "default", "thorough"]]
    """How long `search` looks for less communication: a budget of steps, the same on every machine. Default:
    "default"."""
    maxSteps: NotRequired[int]
    """Most steps of `search` for a batch, a few nanoseconds each. Whole number 1 to 3000000. Default: 3000000."""
    strategy: NotRequired[Literal["search", "paper", "bucketing", "karmarkar-karp", "ulysses"]]
    """`search`: the best plan; `paper`: Algorithms 2 and 3 of FlexRL; the others are baselines. Default: "search"."""
    ulyssesDegree: NotRequired[int]
    """The one degree of `strategy: ulysses`, which must be admissible; the largest if absent. Whole number ≥ 1."""
    packThresholdTokens: NotRequired[int]
    """A longer sequence runs alone, 0 to 1e9; `packCapTokens`, given or not, if absent. Whole number 0 to
    1000000000."""
    packCapTokens: NotRequired[int]
    """Most tokens of a pack of several sequences, at least the threshold; if absent a quarter of a top group. Whole
    number 0 to 1000000000."""
    costs: NotRequired[FlexUlyssesInputCosts]
    """What a sequence costs; the proxies of the paper if absent. Default: {}."""
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


FlexrlEvent: TypeAlias = Union[
    NodeAdded, NodeLost, SamplesDrawn, SamplePreprocessed, PreprocessFailed, BatchReady, BatchWithdrawn,
    SliceMaterialized, SliceFailed, StepCompleted, TimerFired, HostRestarted,
]
"""What `flexrl` is told."""


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
