# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Shards each batch by flex-ulysses, and brings each rank the frames that the plan needs there."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, Union

from .._typing import NotRequired, TypedDict
from ..decisions.loading import (
    BatchAbandoned,
    BatchMaterialized,
    BatchRun,
    PreprocessLate,
    SampleDropped,
    SampleEvict,
    SampleMaterialize,
    SamplePlaceholder,
    SamplePrefetch,
    SamplePreprocess,
    SampleRegistered,
    SampleReleased,
    SampleUnplaced,
    SliceLate,
    StepResumed,
)
from ..events.loading import (
    BatchReady,
    BatchWithdrawn,
    NodeAdded,
    NodeLost,
    PreprocessFailed,
    SamplePreprocessed,
    SamplesDrawn,
    SliceFailed,
    SliceMaterialized,
    StepCompleted,
)
from ..events.session import HostRestarted
from ..objects import LoaderNode


class FlexrlConfigCostsCompute(TypedDict):
    """Part of :class:`FlexrlConfigCosts`."""

    base: NotRequired[float]
    """What does not depend on the length; 0 if absent. Number ≥ 0."""

    perToken: NotRequired[float]
    """For each token; 0 if absent. Number ≥ 0."""

    perTokenSquared: NotRequired[float]
    """For each token times the length (attention); 0 if absent. Number ≥ 0."""


class FlexrlConfigCostsComputeItem(TypedDict):
    """Part of :class:`FlexrlConfigCosts`."""

    tokens: int
    """Length of the sequences, in tokens; longer at each point. Whole number ≥ 0."""

    value: float
    """What was measured there. Number ≥ 0."""


class FlexrlConfigCostsCommunicationItemCost(TypedDict):
    """Part of :class:`FlexrlConfigCostsCommunicationItem`."""

    base: NotRequired[float]
    """What does not depend on the length; 0 if absent. Number ≥ 0."""

    perToken: NotRequired[float]
    """For each token; 0 if absent. Number ≥ 0."""

    perTokenSquared: NotRequired[float]
    """For each token times the length (attention); 0 if absent. Number ≥ 0."""


class FlexrlConfigCostsCommunicationItemCostItem(TypedDict):
    """Part of :class:`FlexrlConfigCostsCommunicationItem`."""

    tokens: int
    """Length of the sequences, in tokens; longer at each point. Whole number ≥ 0."""

    value: float
    """What was measured there. Number ≥ 0."""


class FlexrlConfigCostsCommunicationItem(TypedDict):
    """Part of :class:`FlexrlConfigCosts`."""

    degree: int
    """Sharding degree. Whole number ≥ 2."""

    cost: FlexrlConfigCostsCommunicationItemCost | Sequence[FlexrlConfigCostsCommunicationItemCostItem]
    """What sharding costs at this degree, by sequence length."""


class FlexrlConfigCostsTiming2AttentionSeconds(TypedDict):
    """Attention on one device with all heads; degree p divides all but `perPack` by p; H800 if absent."""

    perPack: NotRequired[float]
    """For each pack, whatever its size. Number 0 to 1000000. Default: 0."""

    perToken: NotRequired[float]
    """For each token. Number 0 to 1000000. Default: 0."""

    perTokenSquared: NotRequired[float]
    """For each token times the length of its sequence. Number 0 to 1000000. Default: 0."""


class FlexrlConfigCostsTiming2AllToAllSeconds(TypedDict):
    """One all-to-all: of n tokens a device has n/p, and sends (p − 1)/p of these; H800 if absent."""

    perPeer: NotRequired[float]
    """For each other device of the group, whatever is sent. Number 0 to 1000000. Default: 0."""

    perToken: NotRequired[float]
    """For each token that a device sends inside its node. Number 0 to 1000000. Default: 0."""

    perTokenBetweenNodes: NotRequired[float]
    """For each token that a device sends to other nodes. Number 0 to 1000000. Default: 0."""

    perTokenSquared: NotRequired[float]
    """For the square of the tokens that a device sends. Number 0 to 1000000. Default: 0."""


class FlexrlConfigCostsTiming2(TypedDict):
    """Part of :class:`FlexrlConfigCosts`."""

    attentionSeconds: NotRequired[FlexrlConfigCostsTiming2AttentionSeconds]
    """Attention on one device with all heads; degree p divides all but `perPack` by p; H800 if absent."""

    allToAllSeconds: NotRequired[FlexrlConfigCostsTiming2AllToAllSeconds]
    """One all-to-all: of n tokens a device has n/p, and sends (p − 1)/p of these; H800 if absent."""


class FlexrlConfigCostsWorkload(TypedDict):
    """Part of :class:`FlexrlConfigCosts`."""

    base: NotRequired[float]
    """What does not depend on the length; 0 if absent. Number ≥ 0."""

    perToken: NotRequired[float]
    """For each token; 0 if absent. Number ≥ 0."""

    perTokenSquared: NotRequired[float]
    """For each token times the length (attention); 0 if absent. Number ≥ 0."""


class FlexrlConfigCostsWorkloadItem(TypedDict):
    """Part of :class:`FlexrlConfigCosts`."""

    tokens: int
    """Length of the sequences, in tokens; longer at each point. Whole number ≥ 0."""

    value: float
    """What was measured there. Number ≥ 0."""


class FlexrlConfigCosts(TypedDict):
    """What a sequence costs; the proxies of the paper if absent."""

    compute: NotRequired[FlexrlConfigCostsCompute | Sequence[FlexrlConfigCostsComputeItem]]
    """
    Work of a whole sequence, by its length, in any unit; at degree p each device has 1/p of it. Default:
    {"perTokenSquared":1}.
    """

    crossNodeFactor: NotRequired[float]
    """
    What an all-to-all between nodes costs, relative to one inside a node (γ in the paper). Number 0 to
    1000000. Default: 16.
    """

    communication: NotRequired[Sequence[FlexrlConfigCostsCommunicationItem]]
    """Cost of sharding by degree, for every degree from 2; stands in place of length · (p − 1) ÷ p²."""

    timing: NotRequired[Literal["H200", "H800"] | FlexrlConfigCostsTiming2]
    """
    Seconds of attention and all-to-alls, for `schedule` only: coefficients, or a cluster of the paper.
    Default: "H800".
    """

    workload: NotRequired[FlexrlConfigCostsWorkload | Sequence[FlexrlConfigCostsWorkloadItem]]
    """
    What `bucketing` and `karmarkar-karp` balance; as in verl if absent. Metrics are in `compute` always.
    Default: {"perToken":24576,"perTokenSquared":1}.
    """


class FlexrlConfigRetry(TypedDict):
    """Retry budgets of each sample."""

    infrastructure: NotRequired[int]
    """Further tries after faults of nodes; a node lost at work is one. Whole number ≥ 0. Default: 3."""

    data: NotRequired[int]
    """Further tries of a sample that could not be decoded. Whole number ≥ 0. Default: 0."""

    transfer: NotRequired[int]
    """Further tries of each slice that a rank could not fetch. Whole number ≥ 0. Default: 3."""


class FlexrlConfig(TypedDict):
    """Configuration of `flexrl`."""

    devices: int
    """Devices, numbered from 0, neighbours beside each other. Whole number 1 to 65536."""

    maxDegree: NotRequired[int]
    """
    Largest sharding degree; degrees are the powers of two up to it that divide the devices and the heads.
    Whole number 1 to 65536. Default: 8.
    """

    attentionHeads: NotRequired[int]
    """
    Query heads of the model: a degree divides them, as each device takes whole heads; no limit if absent.
    Whole number 1 to 65536.
    """

    kvHeads: NotRequired[int]
    """
    Key and value heads: a degree divides them, or is a multiple of them (then they are repeated). Whole
    number 1 to 65536.
    """

    devicesPerNode: NotRequired[int]
    """
    Devices of one node; the all-to-all of a group that does not fit into one node costs more. Whole number 1
    to 65536. Default: 8.
    """

    memorySlack: NotRequired[float]
    """
    Most tokens of a device, relative to the mean over all devices (α in the paper). Number 1 to 1000000.
    Default: 1.1.
    """

    memoryCapTokens: NotRequired[float]
    """Most tokens of a device; stands in place of `memorySlack`. Number 0 to 1000000000000000."""

    balanceTolerance: NotRequired[float]
    """
    How much more compute than the best balance needs a device may have, relative, to save communication.
    Number 0 to 10. Default: 0.01.
    """

    effort: NotRequired[Literal["fast", "default", "thorough"]]
    """
    How long `search` looks for less communication: a budget of steps, the same on every machine. Default:
    "default".
    """

    strategy: NotRequired[Literal["search", "paper", "bucketing", "karmarkar-karp", "ulysses"]]
    """
    `search`: the best plan; `paper`: Algorithms 2 and 3 of FlexRL; the others are baselines. Default:
    "search".
    """

    ulyssesDegree: NotRequired[int]
    """The one degree of `strategy: ulysses`, which must be admissible; the largest if absent. Whole number ≥ 1."""

    packThresholdTokens: NotRequired[int]
    """
    A longer sequence runs alone, 0 to 1e9; `packCapTokens`, given or not, if absent. Whole number 0 to
    1000000000.
    """

    packCapTokens: NotRequired[int]
    """
    Most tokens of a pack of several sequences, at least the threshold; if absent a quarter of a top group.
    Whole number 0 to 1000000000.
    """

    costs: NotRequired[FlexrlConfigCosts]
    """What a sequence costs; the proxies of the paper if absent. Default: {}."""

    nodes: NotRequired[Sequence[LoaderNode]]
    """Nodes that are there from the beginning, each once; others come by `node.added`. Default: []."""

    prefetchSteps: NotRequired[int]
    """How many steps beyond the first open one are preprocessed ahead. Whole number ≥ 0. Default: 1."""

    prefetchFraction: NotRequired[float]
    """
    How much of the host memory of a node such samples may take, relative, 0 to 1. Number 0 to 1. Default:
    0.5.
    """

    channels: NotRequired[int]
    """Channels of a frame, in the shapes of placeholders. Whole number 1 to 64. Default: 3."""

    retry: NotRequired[FlexrlConfigRetry]
    """Retry budgets of each sample. Default: {}."""

    idPrefix: NotRequired[str]
    """Prefix of every id that is minted; new after each restart of the host. String ≤ 128. Default: ""."""


FlexrlEvent: TypeAlias = Union[
    NodeAdded,
    NodeLost,
    SamplesDrawn,
    SamplePreprocessed,
    PreprocessFailed,
    BatchReady,
    BatchWithdrawn,
    SliceMaterialized,
    SliceFailed,
    StepCompleted,
    HostRestarted,
]
"""What `flexrl` is told."""


FlexrlDecision: TypeAlias = Union[
    BatchRun,
    StepResumed,
    SamplePlaceholder,
    SampleUnplaced,
    SamplePreprocess,
    SamplePrefetch,
    SampleRegistered,
    SampleMaterialize,
    SampleEvict,
    SampleReleased,
    SampleDropped,
    BatchMaterialized,
    BatchAbandoned,
    PreprocessLate,
    SliceLate,
]
"""What `flexrl` answers."""


class FlexrlSnapshot(TypedDict):
    """State of `flexrl`: what `open(snapshot=…)` takes."""

    policy: Literal["flexrl"]
    version: int
    """Version of the policy that wrote it."""

    config: FlexrlConfig
    state: Any
    seq: int
    """Events applied so far."""

    at: float
    """Latest time seen, in seconds."""
