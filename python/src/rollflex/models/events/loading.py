# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: loading."""

from collections.abc import Sequence
from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired
from ..objects import BatchSequence, TextSample, VisualSample


class BatchReady(AnyEvent):
    """The sequences of a batch are known: it can be planned."""

    type: Literal["batch.ready"]
    batchId: str
    """Id of the batch, given by the host; new for every batch. String ≤ 512."""
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
    sequences: Sequence[BatchSequence]
    """The sequences, in any order."""


class BatchWithdrawn(AnyEvent):
    """A batch will not be run: what its ranks do not have yet is not needed. Of one that is over nothing changes."""

    type: Literal["batch.withdrawn"]
    batchId: str
    """Id of the batch, given by the host; new for every batch. String ≤ 512."""


class NodeAdded(AnyEvent):
    """A node preprocesses samples; one that was lost holds nothing now. May be repeated, to change what it says."""

    type: Literal["node.added"]
    nodeId: str
    """Id of the node, given by the host. String ≤ 512."""
    hostMemoryBytes: int
    """Host memory for preprocessed tensors, in bytes. Whole number 1 to 1000000000000000."""
    weight: NotRequired[float]
    """How fast it preprocesses, relative to others; 1 if absent. Number > 0."""
    slots: NotRequired[int]
    """Samples that it may have to preprocess at once, waiting ones included; no limit if absent. Whole number 1 to
    1000000."""
    ranks: NotRequired[Sequence[int]]
    """Ranks that run on it; those named before if absent."""


class NodeLost(AnyEvent):
    """The preprocessor of a node is gone, with all that it held. Ranks keep what they have. May be repeated."""

    type: Literal["node.lost"]
    nodeId: str
    """Id of the node, given by the host. String ≤ 512."""


class PreprocessFailed(AnyEvent):
    """A node could not preprocess a sample, and holds nothing of it."""

    type: Literal["preprocess.failed"]
    preprocessId: str
    """Id of the try, minted by the policy. String ≤ 256."""
    nodeId: str
    """Id of the node, given by the host. String ≤ 512."""
    kind: Literal["infrastructure", "data", "memory"]
    """`data`: the sample is at fault. `memory`: its tensors would take more than what was reserved for them."""
    bytes: NotRequired[int]
    """What they would take, in bytes; with `memory`, and only then. Whole number 1 to 1000000000000000."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""


class SamplePreprocessed(AnyEvent):
    """A node has preprocessed a sample, and holds its tensors in host memory."""

    type: Literal["sample.preprocessed"]
    preprocessId: str
    """Id of the try, minted by the policy. String ≤ 256."""
    nodeId: str
    """Id of the node, given by the host. String ≤ 512."""
    bytes: int
    """What they take in host memory, in bytes. Whole number 1 to 1000000000000000."""


class SamplesDrawn(AnyEvent):
    """Samples were drawn for a step: metadata only. May be repeated for further samples of the step."""

    type: Literal["samples.drawn"]
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
    samples: Sequence[TextSample | VisualSample]
    """The samples, in the order in which they are wanted."""


class SliceFailed(AnyEvent):
    """A rank could not fetch a slice."""

    type: Literal["slice.failed"]
    sliceId: str
    """Id of the slice, minted by the policy; a rank that has it already does not fetch it again. String ≤ 256."""
    rank: int
    """Rank of the worker: its device, numbered from 0. Whole number 0 to 1048575."""
    attempt: int
    """Number of the try, as `sample.materialize` gave it. Whole number ≥ 0."""
    kind: Literal["transfer", "missing"]
    """`transfer`: the connection failed. `missing`: the node does not have the sample."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""


class SliceMaterialized(AnyEvent):
    """A rank has the frames of a slice."""

    type: Literal["slice.materialized"]
    sliceId: str
    """Id of the slice, minted by the policy; a rank that has it already does not fetch it again. String ≤ 256."""
    rank: int
    """Rank of the worker: its device, numbered from 0. Whole number 0 to 1048575."""


class StepCompleted(AnyEvent):
    """A training step is over: no further batch uses its samples. May be repeated."""

    type: Literal["step.completed"]
    stepId: str
    """Id of the training step, given by the host; new for every step. String ≤ 512."""
