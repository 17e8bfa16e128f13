# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: loading."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict
from ..objects import BatchAssignment, BatchPack, GoneSample, Resolution, TensorShape


class BatchAbandonedReason(TypedDict):
    """Reason of :class:`BatchAbandoned`. Why, with the numbers."""

    code: Literal["withdrawn", "host_restarted"]


class BatchAbandoned(AnyDecision):
    """A notice. A batch is given up before all of its slices were fetched."""

    type: Literal["batch.abandoned"]
    batchId: str
    """Id of the batch, given by the host; new for every batch. String ≤ 512."""
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
    open: int
    """Slices that were not fetched. Whole number ≥ 0."""
    gone: list[GoneSample]
    """Samples that it had used and that are not here any more: draw them again where they are needed."""
    reason: BatchAbandonedReason


class BatchMaterializedReason(TypedDict):
    """Reason of :class:`BatchMaterialized`. Why, with the numbers."""

    code: Literal["delivered", "samples_dropped"]
    waitedSeconds: float
    """Since the batch was planned, in seconds. Number ≥ 0."""
    dropped: NotRequired[int]
    """Samples that were dropped. Whole number ≥ 1. Only with `samples_dropped`."""


class BatchMaterialized(AnyDecision):
    """A notice. Every rank has the frames that it needs for a batch, but for those of samples that were dropped."""

    type: Literal["batch.materialized"]
    batchId: str
    """Id of the batch, given by the host; new for every batch. String ≤ 512."""
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
    slices: int
    """Slices that ranks have fetched for it. Whole number ≥ 0."""
    missing: list[str]
    """Samples that were dropped meanwhile."""
    reason: BatchMaterializedReason


class BatchRunReason(TypedDict):
    """Reason of :class:`BatchRun`. Why, with the numbers."""

    code: Literal["planned", "host"]
    maxCompute: NotRequired[float]
    """Compute of the rank that has most, in the unit of the cost model. Number ≥ 0. Only with `planned`."""
    computeBound: NotRequired[float]
    """No plan has less. Number ≥ 0. Only with `planned`."""
    communication: NotRequired[float]
    """Cost of sharding. Number ≥ 0. Only with `planned`."""
    memoryRelaxed: NotRequired[bool]
    """Whether a rank has more tokens than asked for. Only with `planned`."""


class BatchRun(AnyDecision):
    """A command. Run the batch like this: each sequence on its ranks."""

    type: Literal["batch.run"]
    batchId: str
    """Id of the batch, given by the host; new for every batch. String ≤ 512."""
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
    assignments: list[BatchAssignment]
    """Where each sequence goes, by its index."""
    packs: NotRequired[list[BatchPack]]
    """Sequences that run as one, where the planner says so."""
    order: NotRequired[list[list[int]]]
    """Of each rank, indices in `packs`, in the order in which it runs them."""
    reason: BatchRunReason


class PreprocessLateReason(TypedDict):
    """Reason of :class:`PreprocessLate`. Why, with the numbers."""

    code: Literal["over"]


class PreprocessLate(AnyDecision):
    """A notice. A report about a try that is over or was given up: nothing changes."""

    type: Literal["preprocess.late"]
    preprocessId: str
    """Id of the try, minted by the policy. String ≤ 256."""
    reason: PreprocessLateReason


class SampleDroppedReason(TypedDict):
    """Reason of :class:`SampleDropped`. Why, with the numbers."""

    code: Literal["infrastructure", "data", "transfer", "not_compared", "too_large"]
    failures: NotRequired[int]
    """With `infrastructure`, `data`, `transfer`: Failures of the sample, of this kind. Whole number ≥ 0. With
    `not_compared`: Failures that no success of another has followed. Whole number ≥ 0."""
    budget: NotRequired[int]
    """Most failures that lead to another try. Whole number ≥ 0. Only with `infrastructure`, `data`, `transfer`."""
    seconds: NotRequired[float]
    """How long it has waited for one, in seconds. Number ≥ 0. Only with `not_compared`."""
    limitSeconds: NotRequired[float]
    """How long it waits (`giveUpSeconds`), in seconds. Number ≥ 0. Only with `not_compared`."""
    bytes: NotRequired[int]
    """What its tensors need, in bytes. Whole number ≥ 0. Only with `too_large`."""
    largestBudgetBytes: NotRequired[int]
    """Host memory of the largest node, lost or not, in bytes. Whole number ≥ 0. Only with `too_large`."""


class SampleDropped(AnyDecision):
    """A notice. A sample is given up: no batch gets more of it."""

    type: Literal["sample.dropped"]
    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: SampleDroppedReason


class SampleEvictReason(TypedDict):
    """Reason of :class:`SampleEvict`. Why, with the numbers."""

    code: Literal["last_use", "step_completed", "displaced", "memory", "copy_missing", "dropped"]
    uses: NotRequired[int]
    """Batches that have used it. Whole number ≥ 0. Only with `last_use`."""
    neededBytes: NotRequired[int]
    """What a sample takes that a batch waits for. Whole number ≥ 0. Only with `displaced`."""
    reservedBytes: NotRequired[int]
    """What was reserved for it, in bytes. Whole number ≥ 0. Only with `memory`."""
    usedBytes: NotRequired[int]
    """What its tensors need, in bytes. Whole number ≥ 0. Only with `memory`."""


class SampleEvict(AnyDecision):
    """A command. Stop preprocessing this sample on this node, and free its host memory."""

    type: Literal["sample.evict"]
    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    nodeId: str
    """Id of the node, given by the host. String ≤ 512."""
    bytes: int
    """What is freed, in bytes. Whole number ≥ 0."""
    reason: SampleEvictReason


class SampleMaterializeReason(TypedDict):
    """Reason of :class:`SampleMaterialize`. Why, with the numbers."""

    code: Literal["same_node", "other_node", "probe"]
    scope: NotRequired[Literal["engine", "environment", "reward", "loader", "prompt"]]
    """What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. Only with
    `probe`."""
    id: NotRequired[str]
    """Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
    absent: all of them. String ≤ 512. Only with `probe`."""
    failures: NotRequired[int]
    """Tries that have failed in this domain, none having succeeded since. Whole number ≥ 0. Only with `probe`."""
    pauseSeconds: NotRequired[float]
    """Since the single try before, in seconds. Number ≥ 0. Only with `probe`."""


_SampleMaterialize = TypedDict("_SampleMaterialize", {
    # The node that holds the sample. String ≤ 512.
    "from": str,
})


class SampleMaterialize(AnyDecision, _SampleMaterialize):
    """A command. Fetch these frames from the host memory of this node to this rank, beside its computation, and answer
    with `slice.materialized` or `slice.failed`. A rank that has the slice answers at once."""

    type: Literal["sample.materialize"]
    sliceId: str
    """Id of the slice, minted by the policy; a rank that has it already does not fetch it again. String ≤ 256."""
    attempt: int
    """Number of the try, from 0. Whole number ≥ 0."""
    batchId: str
    """Id of the batch, given by the host; new for every batch. String ≤ 512."""
    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    rank: int
    """Rank of the worker: its device, numbered from 0. Whole number 0 to 1048575."""
    fromFrame: int
    """First frame of the slice, numbered from 0. Whole number 0 to 1048575."""
    toFrame: int
    """Frame behind the last one of the slice. Whole number 1 to 1048576."""
    bytes: int
    """About what is fetched, in bytes. Whole number ≥ 0."""
    reason: SampleMaterializeReason


class SamplePlaceholderReason(TypedDict):
    """Reason of :class:`SamplePlaceholder`. Why, with the numbers."""

    code: Literal["drawn", "host_restarted"]


class SamplePlaceholder(AnyDecision):
    """A command. Let shapes without data stand for the tensors of a sample on the controller."""

    type: Literal["sample.placeholder"]
    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    shapes: list[TensorShape]
    """Its tensors; none for text."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: SamplePlaceholderReason


class SamplePrefetchReason(TypedDict):
    """Reason of :class:`SamplePrefetch`. Why, with the numbers."""

    code: Literal["drawn", "node_lost", "retry", "probe", "memory", "copy_missing", "displaced", "host_restarted"]
    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""
    queued: int
    """The same in samples. Whole number ≥ 0."""
    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""
    failures: NotRequired[int]
    """With `retry`: Failures of the sample, of this kind. Whole number ≥ 0. With `probe`: Tries that have failed in
    this domain, none having succeeded since. Whole number ≥ 0."""
    budget: NotRequired[int]
    """Most failures that lead to another try. Whole number ≥ 0. Only with `retry`."""
    pauseSeconds: NotRequired[float]
    """With `retry`: Since the last try that failed on a node, in seconds. Number ≥ 0. With `probe`: Since the single
    try before, in seconds. Number ≥ 0."""
    scope: NotRequired[Literal["engine", "environment", "reward", "loader", "prompt"]]
    """What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. Only with
    `probe`."""
    id: NotRequired[str]
    """Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
    absent: all of them. String ≤ 512. Only with `probe`."""


class SamplePrefetch(AnyDecision):
    """A command. The same as `sample.preprocess`, for a later step: it may give way to what is needed now."""

    type: Literal["sample.prefetch"]
    preprocessId: str
    """Id of the try, minted by the policy. String ≤ 256."""
    nodeId: str
    """Id of the node, given by the host. String ≤ 512."""
    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
    kind: Literal["image", "video"]
    """`image`: one or more images; `video`: frames of a clip."""
    path: str
    """Path or URL of the file. String ≤ 4096."""
    frames: int
    """Frames of the video, or images of the sample. Whole number 1 to 1048576."""
    resolution: Resolution
    """Size of each frame after preprocessing."""
    bytes: int
    """Reserved in host memory; a node that needs more reports `preprocess.failed`. Whole number 1 to
    1000000000000000."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: SamplePrefetchReason


class SamplePreprocess(AnyDecision):
    """A command. Preprocess this sample on this node, hold the tensors in host memory, and answer with
    `sample.preprocessed` or `preprocess.failed`. A node carries out its commands in their order."""

    type: Literal["sample.preprocess"]
    preprocessId: str
    """Id of the try, minted by the policy. String ≤ 256."""
    nodeId: str
    """Id of the node, given by the host. String ≤ 512."""
    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
    kind: Literal["image", "video"]
    """`image`: one or more images; `video`: frames of a clip."""
    path: str
    """Path or URL of the file. String ≤ 4096."""
    frames: int
    """Frames of the video, or images of the sample. Whole number 1 to 1048576."""
    resolution: Resolution
    """Size of each frame after preprocessing."""
    bytes: int
    """Reserved in host memory; a node that needs more reports `preprocess.failed`. Whole number 1 to
    1000000000000000."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: SamplePrefetchReason


class SampleRegisteredReason(TypedDict):
    """Reason of :class:`SampleRegistered`. Why, with the numbers."""

    code: Literal["preprocessed"]
    reservedBytes: int
    """What was reserved for it, in bytes. Whole number ≥ 0."""


class SampleRegistered(AnyDecision):
    """A notice. The tensors of a sample are in the host memory of this node."""

    type: Literal["sample.registered"]
    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    nodeId: str
    """Id of the node, given by the host. String ≤ 512."""
    bytes: int
    """Bytes of the preprocessed tensors in host memory. Whole number 1 to 1000000000000000."""
    reason: SampleRegisteredReason


class SampleReleasedReason(TypedDict):
    """Reason of :class:`SampleReleased`. Why, with the numbers."""

    code: Literal["last_use", "step_completed"]
    uses: NotRequired[int]
    """Batches that have used it. Whole number ≥ 0. Only with `last_use`."""


class SampleReleased(AnyDecision):
    """A notice. A sample is not needed any more, and nothing of it is in host memory."""

    type: Literal["sample.released"]
    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: SampleReleasedReason


class SampleUnplacedReason(TypedDict):
    """Reason of :class:`SampleUnplaced`. Why, with the numbers."""

    code: Literal["node_away"]
    bytes: int
    """What its tensors need, in bytes. Whole number ≥ 0."""
    largestBudgetBytes: int
    """Host memory of the largest node that is here, in bytes. Whole number ≥ 0."""
    lostBudgetBytes: int
    """Host memory of the largest of the lost nodes that are remembered, in bytes. Whole number ≥ 0."""


class SampleUnplaced(AnyDecision):
    """A notice. No node that is here could hold this sample, but one that was lost could: it waits for a node of its
    size, and holds up no other."""

    type: Literal["sample.unplaced"]
    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    reason: SampleUnplacedReason


class SliceLateReason(TypedDict):
    """Reason of :class:`SliceLate`. Why, with the numbers."""

    code: Literal["over", "earlier_attempt"]
    attempt: NotRequired[int]
    """Number of the try that was reported. Whole number ≥ 0. Only with `earlier_attempt`."""


class SliceLate(AnyDecision):
    """A notice. A report about a slice that the rank has, that nobody needs any more, or of an earlier try: nothing
    changes."""

    type: Literal["slice.late"]
    sliceId: str
    """Id of the slice, minted by the policy; a rank that has it already does not fetch it again. String ≤ 256."""
    reason: SliceLateReason


class StepResumedReason(TypedDict):
    """Reason of :class:`StepResumed`. Why, with the numbers."""

    code: Literal["host_restarted"]
    samples: int
    """How many these are. Whole number ≥ 0."""


class StepResumed(AnyDecision):
    """A notice. A training step was open when the host restarted, and is open still: batches are to be planned anew,
    then it is to be completed."""

    type: Literal["step.resumed"]
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
    samples: list[str]
    """Its samples that are here, in the order in which they were drawn."""
    reason: StepResumedReason
