# Generated from the schemas by `npm run docs:generate`: do not edit.
"""How many devices share each sequence of a batch, and which, so that compute is even and little is sent."""

from collections.abc import Sequence
from typing import Any, Literal

from .._typing import NotRequired, TypedDict
from ..objects import LengthPoint, LengthPolynomial


class FlexUlyssesInputCostsCommunicationItem(TypedDict):
    """Part of :class:`FlexUlyssesInputCosts`."""

    degree: int
    """Sharding degree. Whole number ≥ 2."""
    cost: LengthPolynomial | Sequence[LengthPoint]
    """What sharding costs at this degree, by sequence length."""


class FlexUlyssesInputCostsTiming2AttentionSeconds(TypedDict):
    """Attention on one device with all heads; degree p divides all but `perPack` by p; H800 if absent."""

    perPack: NotRequired[float]
    """For each pack, whatever its size. Number 0 to 1000000. Default: 0."""
    perToken: NotRequired[float]
    """For each token. Number 0 to 1000000. Default: 0."""
    perTokenSquared: NotRequired[float]
    """For each token times the length of its sequence. Number 0 to 1000000. Default: 0."""


class FlexUlyssesInputCostsTiming2AllToAllSeconds(TypedDict):
    """One all-to-all: of n tokens a device has n/p, and sends (p − 1)/p of these; H800 if absent."""

    perPeer: NotRequired[float]
    """For each other device of the group, whatever is sent. Number 0 to 1000000. Default: 0."""
    perToken: NotRequired[float]
    """For each token that a device sends inside its node. Number 0 to 1000000. Default: 0."""
    perTokenBetweenNodes: NotRequired[float]
    """For each token that a device sends to other nodes. Number 0 to 1000000. Default: 0."""
    perTokenSquared: NotRequired[float]
    """For the square of the tokens that a device sends. Number 0 to 1000000. Default: 0."""


class FlexUlyssesInputCostsTiming2(TypedDict):
    """Part of :class:`FlexUlyssesInputCosts`."""

    attentionSeconds: NotRequired[FlexUlyssesInputCostsTiming2AttentionSeconds]
    """Attention on one device with all heads; degree p divides all but `perPack` by p; H800 if absent."""
    allToAllSeconds: NotRequired[FlexUlyssesInputCostsTiming2AllToAllSeconds]
    """One all-to-all: of n tokens a device has n/p, and sends (p − 1)/p of these; H800 if absent."""


class FlexUlyssesInputCosts(TypedDict):
    """What a sequence costs; the proxies of the paper if absent."""

    compute: NotRequired[LengthPolynomial | Sequence[LengthPoint]]
    """Work of a whole sequence, by its length, in any unit; at degree p each device has 1/p of it. Default:
    {"perTokenSquared":1}."""
    crossNodeFactor: NotRequired[float]
    """What an all-to-all between nodes costs, relative to one inside a node (γ in the paper). Number 0 to 1000000.
    Default: 16."""
    communication: NotRequired[Sequence[FlexUlyssesInputCostsCommunicationItem]]
    """Cost of sharding by degree, for every degree from 2; stands in place of length · (p − 1) ÷ p²."""
    timing: NotRequired[Literal["H200", "H800"] | FlexUlyssesInputCostsTiming2]
    """Seconds of attention and all-to-alls, for `schedule` only: coefficients, or a cluster of the paper. Default:
    "H800"."""
    workload: NotRequired[LengthPolynomial | Sequence[LengthPoint]]
    """What `bucketing` and `karmarkar-karp` balance; as in verl if absent. Metrics are in `compute` always. Default:
    {"perToken":24576,"perTokenSquared":1}."""


class _FlexUlyssesInput1(TypedDict):
    """Settings that `flex-ulysses` shares with `flexrl`."""

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


class FlexUlyssesInputPreviousAssignment(TypedDict):
    """Where one sequence goes."""

    sequence: int
    """Index of the sequence in `lengths`. Whole number ≥ 0."""
    degree: int
    """Sharding degree: how many devices share it. Whole number ≥ 1."""
    devices: Sequence[int]
    """Those devices, ascending: an aligned group of neighbours."""


class FlexUlyssesInputPrevious(TypedDict):
    """An earlier plan, for a batch that has changed little: the search starts from its assignments."""

    assignments: Sequence[FlexUlyssesInputPreviousAssignment]
    """Where each sequence went, by its index in `lengths`."""
    bounds: NotRequired[Any]
    """Not read; it is here so that a plan can be given back whole."""
    limits: NotRequired[Any]
    """Not read; it is here so that a plan can be given back whole."""
    metrics: NotRequired[Any]
    """Not read; it is here so that a plan can be given back whole."""
    packs: NotRequired[Any]
    """Not read; it is here so that a plan can be given back whole."""
    order: NotRequired[Any]
    """Not read; it is here so that a plan can be given back whole."""
    schedule: NotRequired[Any]
    """Not read; it is here so that a plan can be given back whole."""
    vision: NotRequired[Any]
    """Not read; it is here so that a plan can be given back whole."""
    memoryRelaxed: NotRequired[Any]
    """Not read; it is here so that a plan can be given back whole."""
    cut: NotRequired[Any]
    """Not read; it is here so that a plan can be given back whole."""


class FlexUlyssesInput(_FlexUlyssesInput1):
    """Input of `flex-ulysses`."""

    lengths: Sequence[int]
    """Tokens of each sequence of the batch, 0 to 1e9."""
    devices: int
    """Devices, numbered from 0, neighbours beside each other. Whole number 1 to 65536."""
    maxSteps: NotRequired[int]
    """Most steps of `search`, a few nanoseconds each; by `effort` and the number of sequences if absent. Whole number 1
    to 10000000000000."""
    frames: NotRequired[Sequence[int]]
    """Images or frames of each sequence, as many numbers as `lengths` has: they are spread over the devices."""
    previous: NotRequired[FlexUlyssesInputPrevious]
    """An earlier plan, for a batch that has changed little: the search starts from its assignments."""


class FlexUlyssesPlanAssignment(TypedDict):
    """Where one sequence goes."""

    sequence: int
    """Index of the sequence in `lengths`. Whole number ≥ 0."""
    degree: int
    """Sharding degree: how many devices share it. Whole number ≥ 1."""
    devices: list[int]
    """Those devices, ascending: an aligned group of neighbours."""


class FlexUlyssesPlanBounds(TypedDict):
    """How good a plan could be at best."""

    compute: float
    """No plan within the memory limit has a smaller `metrics.maxCompute`. Number ≥ 0."""
    communication: float
    """No plan within both limits has a smaller `metrics.communication`. Number ≥ 0."""


class FlexUlyssesPlanLimits(TypedDict):
    """What the plan was held to."""

    compute: float
    """Most compute of a device that the plan was held to. Number ≥ 0."""
    memoryTokens: float
    """Most tokens of a device that the plan was held to. Number ≥ 0."""


class FlexUlyssesPlanMetrics(TypedDict):
    """How good this one is."""

    maxCompute: float
    """Compute of the device that has most, in the unit of the cost model. Number ≥ 0."""
    meanCompute: float
    """Mean over the devices. Number ≥ 0."""
    maxMemoryTokens: float
    """Tokens of the device that has most: the sum of length ÷ degree. Number ≥ 0."""
    communication: float
    """Cost of sharding, summed over the sequences. Number ≥ 0."""
    traffic: float
    """Tokens that leave their device in one all-to-all, over all devices: length · (p − 1) ÷ p. Number ≥ 0."""
    sharded: int
    """Sequences with a degree above 1. Whole number ≥ 0."""
    movedFrames: NotRequired[int]
    """With `frames`: those that a device encodes that has no part of their sequence; no even spread has fewer. Whole
    number ≥ 0."""


class FlexUlyssesPlanPack(TypedDict):
    """Sequences of one group that run as one."""

    degree: int
    """Sharding degree: how many devices share the pack. Whole number ≥ 1."""
    devices: list[int]
    """Those devices, ascending: an aligned group of neighbours."""
    sequences: list[int]
    """Indices in `lengths`, the longest first, ties by index."""
    tokens: int
    """Tokens of its sequences together. Whole number ≥ 0."""
    paddedTokens: int
    """Tokens with the padding at its end: a multiple of `degree`, each device has an equal share. Whole number ≥ 0."""
    work: float
    """Compute of its sequences together: they do not attend to each other. Number ≥ 0."""


class FlexUlyssesPlanSchedule(TypedDict):
    """Predicted times of one forward pass of one attention layer, by `costs.timing`."""

    makespanSeconds: float
    """Until the last device is done, with all-to-alls behind computation. Number ≥ 0."""
    computeSeconds: float
    """Attention of the device that has most. Number ≥ 0."""
    bubbleSeconds: float
    """Seconds until then in which a device does not compute: the mean over the devices. Number ≥ 0."""
    bubbleRatio: float
    """`bubbleSeconds` ÷ `makespanSeconds`; 0 where there is nothing to do. Number 0 to 1."""
    serialSeconds: float
    """The same if every device ran its `order` from the front, one thing at a time. Number ≥ 0."""


_FlexUlyssesPlanVisionItemSlice = TypedDict("_FlexUlyssesPlanVisionItemSlice", {
    # First frame of the slice, from 0 in the sequence. Whole number ≥ 0.
    "from": int,
})


class FlexUlyssesPlanVisionItemSlice(_FlexUlyssesPlanVisionItemSlice):
    """Part of :class:`FlexUlyssesPlanVisionItem`."""

    sequence: int
    """Index of the sequence in `lengths`. Whole number ≥ 0."""
    to: int
    """Frame behind its last one. Whole number ≥ 0."""


class FlexUlyssesPlanVisionItem(TypedDict):
    """The frames that one device encodes."""

    device: int
    """The device. Whole number ≥ 0."""
    slices: list[FlexUlyssesPlanVisionItemSlice]
    """Frames that it encodes, by sequence ascending."""
    frames: int
    """How many these are. Whole number ≥ 0."""


class FlexUlyssesPlanCut(TypedDict):
    """Only where the search ended early: why, and what was cut short."""

    by: Literal["steps", "deadline"]
    """`steps`: the same on every machine; `deadline`: another run may give another plan."""
    parts: list[Literal["balance", "communication"]]
    """What could be better: `limits.compute`, or `metrics.communication`."""


class FlexUlyssesPlan(TypedDict):
    """Plan of `flex-ulysses`."""

    assignments: list[FlexUlyssesPlanAssignment]
    """Where each sequence goes, in the order of `lengths`."""
    bounds: FlexUlyssesPlanBounds
    """How good a plan could be at best."""
    limits: FlexUlyssesPlanLimits
    """What the plan was held to."""
    metrics: FlexUlyssesPlanMetrics
    """How good this one is."""
    packs: list[FlexUlyssesPlanPack]
    """What runs as one, highest degree first, then by group, then longest first."""
    order: list[list[int]]
    """Of each device, indices in `packs`: sharded ones in the order of their collectives, then the others."""
    schedule: FlexUlyssesPlanSchedule
    """Predicted times of one forward pass of one attention layer, by `costs.timing`."""
    vision: NotRequired[list[FlexUlyssesPlanVisionItem]]
    """With `frames`: which frames each device encodes."""
    memoryRelaxed: bool
    """Whether a device has more tokens than asked for; by `search` only where no plan can do better."""
    cut: NotRequired[FlexUlyssesPlanCut]
    """Only where the search ended early: why, and what was cut short."""
