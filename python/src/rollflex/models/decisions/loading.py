# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: loading."""

from typing import Literal

from .._typing import NotRequired, TypedDict
from ..objects import BatchAssignment, BatchPack, GoneSample, TensorShape


class BatchAbandonedReasonWithdrawn(TypedDict):
    """Reason `withdrawn` of :class:`BatchAbandoned`."""

    code: Literal["withdrawn"]


class BatchAbandonedReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`BatchAbandoned`."""

    code: Literal["host_restarted"]


class BatchAbandoned(TypedDict):
    """A notice. A batch is given up before all of its slices were fetched."""

    type: Literal["batch.abandoned"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    batchId: str
    """Id of the batch, given by the host; new for every batch. String ≤ 512."""

    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""

    open: int
    """Slices that were not fetched. Whole number ≥ 0."""

    gone: list[GoneSample]
    """Samples that it had used and that are not here any more: draw them again where they are needed."""

    reason: BatchAbandonedReasonWithdrawn | BatchAbandonedReasonHostRestarted
    """Why, with the numbers."""


class BatchMaterializedReasonDelivered(TypedDict):
    """Reason `delivered` of :class:`BatchMaterialized`."""

    code: Literal["delivered"]

    waitedSeconds: float
    """Since the batch was planned, in seconds. Number ≥ 0."""


class BatchMaterializedReasonSamplesDropped(TypedDict):
    """Reason `samples_dropped` of :class:`BatchMaterialized`."""

    code: Literal["samples_dropped"]

    waitedSeconds: float
    """Since the batch was planned, in seconds. Number ≥ 0."""

    dropped: int
    """Samples that were dropped. Whole number ≥ 1."""


class BatchMaterialized(TypedDict):
    """A notice. Every rank has the frames that it needs for a batch, but for those of samples that were dropped."""

    type: Literal["batch.materialized"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    batchId: str
    """Id of the batch, given by the host; new for every batch. String ≤ 512."""

    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""

    slices: int
    """Slices that ranks have fetched for it. Whole number ≥ 0."""

    missing: list[str]
    """Samples that were dropped meanwhile."""

    reason: BatchMaterializedReasonDelivered | BatchMaterializedReasonSamplesDropped
    """Why, with the numbers."""


class BatchRunReasonPlanned(TypedDict):
    """Reason `planned` of :class:`BatchRun`."""

    code: Literal["planned"]

    maxCompute: float
    """Compute of the rank that has most, in the unit of the cost model. Number ≥ 0."""

    computeBound: float
    """No plan has less. Number ≥ 0."""

    communication: float
    """Cost of sharding. Number ≥ 0."""

    memoryRelaxed: bool
    """Whether a rank has more tokens than asked for."""


class BatchRunReasonHost(TypedDict):
    """Reason `host` of :class:`BatchRun`."""

    code: Literal["host"]


class BatchRun(TypedDict):
    """A command. Run the batch like this: each sequence on its ranks."""

    type: Literal["batch.run"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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

    reason: BatchRunReasonPlanned | BatchRunReasonHost
    """Why, with the numbers."""


class PreprocessLateReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["over"]


class PreprocessLate(TypedDict):
    """A notice. A report about a try that is over or was given up: nothing changes."""

    type: Literal["preprocess.late"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    preprocessId: str
    """Id of the try, minted by the policy. String ≤ 256."""

    reason: PreprocessLateReason
    """Why, with the numbers."""


class SampleDroppedReasonInfrastructure(TypedDict):
    """Reason `infrastructure` of :class:`SampleDropped`."""

    code: Literal["infrastructure"]

    failures: int
    """Failures of the sample, of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class SampleDroppedReasonData(TypedDict):
    """Reason `data` of :class:`SampleDropped`."""

    code: Literal["data"]

    failures: int
    """Failures of the sample, of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class SampleDroppedReasonTransfer(TypedDict):
    """Reason `transfer` of :class:`SampleDropped`."""

    code: Literal["transfer"]

    failures: int
    """Failures of the sample, of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class SampleDroppedReasonTooLarge(TypedDict):
    """Reason `too_large` of :class:`SampleDropped`."""

    code: Literal["too_large"]

    bytes: int
    """What its tensors need, in bytes. Whole number ≥ 0."""

    largestBudgetBytes: int
    """Host memory of the largest node, lost or not, in bytes. Whole number ≥ 0."""


class SampleDropped(TypedDict):
    """A notice. A sample is given up: no batch gets more of it."""

    type: Literal["sample.dropped"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""

    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    reason: (
        SampleDroppedReasonInfrastructure
        | SampleDroppedReasonData
        | SampleDroppedReasonTransfer
        | SampleDroppedReasonTooLarge
    )
    """Why, with the numbers."""


class SampleEvictReasonLastUse(TypedDict):
    """Reason `last_use` of :class:`SampleEvict`."""

    code: Literal["last_use"]

    uses: int
    """Batches that have used it. Whole number ≥ 0."""


class SampleEvictReasonStepCompleted(TypedDict):
    """Reason `step_completed` of :class:`SampleEvict`."""

    code: Literal["step_completed"]


class SampleEvictReasonDisplaced(TypedDict):
    """Reason `displaced` of :class:`SampleEvict`."""

    code: Literal["displaced"]

    neededBytes: int
    """What a sample takes that a batch waits for. Whole number ≥ 0."""


class SampleEvictReasonMemory(TypedDict):
    """Reason `memory` of :class:`SampleEvict`."""

    code: Literal["memory"]

    reservedBytes: int
    """What was reserved for it, in bytes. Whole number ≥ 0."""

    usedBytes: int
    """What its tensors need, in bytes. Whole number ≥ 0."""


class SampleEvictReasonCopyMissing(TypedDict):
    """Reason `copy_missing` of :class:`SampleEvict`."""

    code: Literal["copy_missing"]


class SampleEvictReasonDropped(TypedDict):
    """Reason `dropped` of :class:`SampleEvict`."""

    code: Literal["dropped"]


class SampleEvict(TypedDict):
    """A command. Stop preprocessing this sample on this node, and free its host memory."""

    type: Literal["sample.evict"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""

    nodeId: str
    """Id of the node, given by the host. String ≤ 512."""

    bytes: int
    """What is freed, in bytes. Whole number ≥ 0."""

    reason: (
        SampleEvictReasonLastUse
        | SampleEvictReasonStepCompleted
        | SampleEvictReasonDisplaced
        | SampleEvictReasonMemory
        | SampleEvictReasonCopyMissing
        | SampleEvictReasonDropped
    )
    """Why, with the numbers."""


class SampleMaterializeReasonSameNode(TypedDict):
    """Reason `same_node` of :class:`SampleMaterialize`."""

    code: Literal["same_node"]


class SampleMaterializeReasonOtherNode(TypedDict):
    """Reason `other_node` of :class:`SampleMaterialize`."""

    code: Literal["other_node"]


SampleMaterialize = TypedDict(
    "SampleMaterialize",
    {
        "type": 'Literal["sample.materialize"]',
        # Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time
        # than the latest counts as the latest. Number ≥ 0.
        "at": 'float',
        # Id of the slice, minted by the policy; a rank that has it already does not fetch it again. String ≤
        # 256.
        "sliceId": 'str',
        # Number of the try, from 0. Whole number ≥ 0.
        "attempt": 'int',
        # Id of the batch, given by the host; new for every batch. String ≤ 512.
        "batchId": 'str',
        # Id of the sample, given by the host; new whenever it is drawn. String ≤ 512.
        "sampleId": 'str',
        # Rank of the worker: its device, numbered from 0. Whole number 0 to 1048575.
        "rank": 'int',
        # First frame of the slice, numbered from 0. Whole number 0 to 1048575.
        "fromFrame": 'int',
        # Frame behind the last one of the slice. Whole number 1 to 1048576.
        "toFrame": 'int',
        # The node that holds the sample. String ≤ 512.
        "from": 'str',
        # About what is fetched, in bytes. Whole number ≥ 0.
        "bytes": 'int',
        # Why, with the numbers.
        "reason": 'SampleMaterializeReasonSameNode | SampleMaterializeReasonOtherNode',
    },
)
"""
A command. Fetch these frames from the host memory of this node to this rank, beside its computation, and
answer with `slice.materialized` or `slice.failed`. A rank that has the slice answers at once.
"""


class SamplePlaceholderReasonDrawn(TypedDict):
    """Reason `drawn` of :class:`SamplePlaceholder`."""

    code: Literal["drawn"]


class SamplePlaceholderReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`SamplePlaceholder`."""

    code: Literal["host_restarted"]


class SamplePlaceholder(TypedDict):
    """A command. Let shapes without data stand for the tensors of a sample on the controller."""

    type: Literal["sample.placeholder"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""

    shapes: list[TensorShape]
    """Its tensors; none for text."""

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    reason: SamplePlaceholderReasonDrawn | SamplePlaceholderReasonHostRestarted
    """Why, with the numbers."""


class SamplePrefetchResolution(TypedDict):
    """Size of each frame after preprocessing."""

    width: int
    """Pixels across, 1 to 65,536. Whole number 1 to 65536."""

    height: int
    """Pixels down, 1 to 65,536. Whole number 1 to 65536."""


class SamplePrefetchReasonDrawn(TypedDict):
    """Reason `drawn` of :class:`SamplePrefetch`."""

    code: Literal["drawn"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePrefetchReasonNodeLost(TypedDict):
    """Reason `node_lost` of :class:`SamplePrefetch`."""

    code: Literal["node_lost"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePrefetchReasonRetry(TypedDict):
    """Reason `retry` of :class:`SamplePrefetch`."""

    code: Literal["retry"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""

    failures: int
    """Failures of the sample, of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class SamplePrefetchReasonMemory(TypedDict):
    """Reason `memory` of :class:`SamplePrefetch`."""

    code: Literal["memory"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePrefetchReasonCopyMissing(TypedDict):
    """Reason `copy_missing` of :class:`SamplePrefetch`."""

    code: Literal["copy_missing"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePrefetchReasonDisplaced(TypedDict):
    """Reason `displaced` of :class:`SamplePrefetch`."""

    code: Literal["displaced"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePrefetchReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`SamplePrefetch`."""

    code: Literal["host_restarted"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePrefetch(TypedDict):
    """A command. The same as `sample.preprocess`, for a later step: it may give way to what is needed now."""

    type: Literal["sample.prefetch"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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

    resolution: SamplePrefetchResolution
    """Size of each frame after preprocessing."""

    bytes: int
    """
    Reserved in host memory; a node that needs more reports `preprocess.failed`. Whole number 1 to
    1000000000000000.
    """

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    reason: (
        SamplePrefetchReasonDrawn
        | SamplePrefetchReasonNodeLost
        | SamplePrefetchReasonRetry
        | SamplePrefetchReasonMemory
        | SamplePrefetchReasonCopyMissing
        | SamplePrefetchReasonDisplaced
        | SamplePrefetchReasonHostRestarted
    )
    """Why, with the numbers."""


class SamplePreprocessResolution(TypedDict):
    """Size of each frame after preprocessing."""

    width: int
    """Pixels across, 1 to 65,536. Whole number 1 to 65536."""

    height: int
    """Pixels down, 1 to 65,536. Whole number 1 to 65536."""


class SamplePreprocessReasonDrawn(TypedDict):
    """Reason `drawn` of :class:`SamplePreprocess`."""

    code: Literal["drawn"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePreprocessReasonNodeLost(TypedDict):
    """Reason `node_lost` of :class:`SamplePreprocess`."""

    code: Literal["node_lost"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePreprocessReasonRetry(TypedDict):
    """Reason `retry` of :class:`SamplePreprocess`."""

    code: Literal["retry"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""

    failures: int
    """Failures of the sample, of this kind. Whole number ≥ 0."""

    budget: int
    """Most failures that lead to another try. Whole number ≥ 0."""


class SamplePreprocessReasonMemory(TypedDict):
    """Reason `memory` of :class:`SamplePreprocess`."""

    code: Literal["memory"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePreprocessReasonCopyMissing(TypedDict):
    """Reason `copy_missing` of :class:`SamplePreprocess`."""

    code: Literal["copy_missing"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePreprocessReasonDisplaced(TypedDict):
    """Reason `displaced` of :class:`SamplePreprocess`."""

    code: Literal["displaced"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePreprocessReasonHostRestarted(TypedDict):
    """Reason `host_restarted` of :class:`SamplePreprocess`."""

    code: Literal["host_restarted"]

    queuedBytes: int
    """What the node had to preprocess already, in bytes. Whole number ≥ 0."""

    queued: int
    """The same in samples. Whole number ≥ 0."""

    freeBytes: int
    """Host memory of the node that was free, in bytes. Whole number ≥ 0."""


class SamplePreprocess(TypedDict):
    """
    A command. Preprocess this sample on this node, hold the tensors in host memory, and answer with
    `sample.preprocessed` or `preprocess.failed`. A node carries out its commands in their order.
    """

    type: Literal["sample.preprocess"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

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

    resolution: SamplePreprocessResolution
    """Size of each frame after preprocessing."""

    bytes: int
    """
    Reserved in host memory; a node that needs more reports `preprocess.failed`. Whole number 1 to
    1000000000000000.
    """

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    reason: (
        SamplePreprocessReasonDrawn
        | SamplePreprocessReasonNodeLost
        | SamplePreprocessReasonRetry
        | SamplePreprocessReasonMemory
        | SamplePreprocessReasonCopyMissing
        | SamplePreprocessReasonDisplaced
        | SamplePreprocessReasonHostRestarted
    )
    """Why, with the numbers."""


class SampleRegisteredReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["preprocessed"]

    reservedBytes: int
    """What was reserved for it, in bytes. Whole number ≥ 0."""


class SampleRegistered(TypedDict):
    """A notice. The tensors of a sample are in the host memory of this node."""

    type: Literal["sample.registered"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""

    nodeId: str
    """Id of the node, given by the host. String ≤ 512."""

    bytes: int
    """Bytes of the preprocessed tensors in host memory. Whole number 1 to 1000000000000000."""

    reason: SampleRegisteredReason
    """Why, with the numbers."""


class SampleReleasedReasonLastUse(TypedDict):
    """Reason `last_use` of :class:`SampleReleased`."""

    code: Literal["last_use"]

    uses: int
    """Batches that have used it. Whole number ≥ 0."""


class SampleReleasedReasonStepCompleted(TypedDict):
    """Reason `step_completed` of :class:`SampleReleased`."""

    code: Literal["step_completed"]


class SampleReleased(TypedDict):
    """A notice. A sample is not needed any more, and nothing of it is in host memory."""

    type: Literal["sample.released"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    reason: SampleReleasedReasonLastUse | SampleReleasedReasonStepCompleted
    """Why, with the numbers."""


class SampleUnplacedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["node_away"]

    bytes: int
    """What its tensors need, in bytes. Whole number ≥ 0."""

    largestBudgetBytes: int
    """Host memory of the largest node that is here, in bytes. Whole number ≥ 0."""

    lostBudgetBytes: int
    """Host memory of the largest of the lost nodes that are remembered, in bytes. Whole number ≥ 0."""


class SampleUnplaced(TypedDict):
    """
    A notice. No node that is here could hold this sample, but one that was lost could: it waits for a node of
    its size, and holds up no other.
    """

    type: Literal["sample.unplaced"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""

    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""

    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""

    reason: SampleUnplacedReason
    """Why, with the numbers."""


class SliceLateReasonOver(TypedDict):
    """Reason `over` of :class:`SliceLate`."""

    code: Literal["over"]


class SliceLateReasonEarlierAttempt(TypedDict):
    """Reason `earlier_attempt` of :class:`SliceLate`."""

    code: Literal["earlier_attempt"]

    attempt: int
    """Number of the try that was reported. Whole number ≥ 0."""


class SliceLate(TypedDict):
    """
    A notice. A report about a slice that the rank has, that nobody needs any more, or of an earlier try:
    nothing changes.
    """

    type: Literal["slice.late"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    sliceId: str
    """Id of the slice, minted by the policy; a rank that has it already does not fetch it again. String ≤ 256."""

    reason: SliceLateReasonOver | SliceLateReasonEarlierAttempt
    """Why, with the numbers."""


class StepResumedReason(TypedDict):
    """Why, with the numbers."""

    code: Literal["host_restarted"]

    samples: int
    """How many these are. Whole number ≥ 0."""


class StepResumed(TypedDict):
    """
    A notice. A training step was open when the host restarted, and is open still: batches are to be planned
    anew, then it is to be completed.
    """

    type: Literal["step.resumed"]

    at: float
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Number ≥ 0.
    """

    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""

    samples: list[str]
    """Its samples that are here, in the order in which they were drawn."""

    reason: StepResumedReason
    """Why, with the numbers."""
