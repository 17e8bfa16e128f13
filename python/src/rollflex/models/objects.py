# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Objects that several events and decisions share."""

from collections.abc import Sequence
from typing import Literal

from ._typing import NotRequired, TypedDict


class CountedResponse(TypedDict):
    """A response of a prompt that counts."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tokens: int
    """Tokens. Whole number 0 to 1000000000."""
    weightVersions: NotRequired[Sequence[int]]
    """Versions of the weights that generated it, ascending; absent: that of the round alone."""
    reward: NotRequired[float]
    """Raw reward, where it is known."""


class RewardedResponse(TypedDict):
    """A response with its reward."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tokens: int
    """Tokens. Whole number 0 to 1000000000."""
    weightVersions: NotRequired[Sequence[int]]
    """Versions of the weights that generated it, ascending; absent: that of the round alone."""
    reward: float
    """Raw reward."""


class KeptResponse(TypedDict):
    """A response whose tokens are kept beyond the round that began it."""

    requestId: str
    """Id of the request that generated the tokens last. String ≤ 1200."""
    index: int
    """Which response of the prompt, from 0. Whole number ≥ 0."""
    tokens: int
    """Tokens generated so far, over all attempts: the budget is cumulative. Whole number 0 to 1000000000."""
    weightVersions: Sequence[int]
    """Versions of the weights that generated them, ascending."""
    finished: bool
    """Whether the response is complete."""
    reward: NotRequired[float]
    """Raw reward, where it is known already."""


class Deferral(TypedDict):
    """What a deferred prompt carries through the queue and through later rounds."""

    count: int
    """How often the prompt has been deferred. Whole number ≥ 1."""
    sinceRound: int
    """Ordinal of the round in which it was first deferred. Whole number ≥ 0."""
    sinceSeconds: float
    """When it was first deferred, in seconds. Number ≥ 0."""


class DroppedResponse(TypedDict):
    """A response that was generated and is given up, and why."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tokens: int
    """Tokens. Whole number 0 to 1000000000."""
    cause: Literal["stale_weights", "filtered", "failed", "round_failed", "merged"]
    """Why it is of no use."""
    reward: NotRequired[float]
    """Raw reward, where it is known and its prompt was filtered."""


class FinalResponse(TypedDict):
    """A response that belongs to a completed round."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    index: int
    """Which response of the prompt, from 0. Whole number ≥ 0."""
    tokens: int
    """Tokens. Whole number 0 to 1000000000."""
    weightVersions: Sequence[int]
    """Versions of the weights that generated it, ascending."""
    reward: NotRequired[float]
    """Raw reward, where it is known."""


class TimeoutEstimate(TypedDict):
    """What one λ would have cost and saved on the runs that are remembered."""

    timeoutFactor: float
    """λ."""
    correctKilled: int
    """Correct runs that its timeout would have stopped; as far as runs were seen to end. Whole number ≥ 0."""
    exploredKilled: int
    """Those among them that had been given Tmax to explore: seen whatever λ is in use. Whole number ≥ 0."""
    unknown: int
    """Timed-out runs that it would have let go on: whether they were correct is not known. Whole number ≥ 0."""
    runSeconds: float
    """Seconds that the runs would have taken; those unknown count up to its timeout. Number ≥ 0."""


class TrainingShare(TypedDict):
    """What one replica trains of the rest of a round."""

    fetchId: str
    """Id of the fetch or share, minted by the policy. String ≤ 1200."""
    replica: str
    """Id of the data-parallel training replica. String ≤ 512."""
    groups: Sequence[str]
    """Whole groups, longest first; none for a replica that only takes part in the step."""
    samples: int
    """Samples of these groups. Whole number ≥ 0."""
    tokens: int
    """Tokens of these groups. Whole number 0 to 1000000000000."""


class PacedGroup(TypedDict):
    """A group of a batch, and how old it may be."""

    groupId: str
    """Id of the group: that of the prompt whose responses it is made of. String ≤ 512."""
    launchId: str
    """Id of the launch of the group, minted by the policy; new for every try. String ≤ 200."""
    weightVersion: int
    """Version of the weights that its first tokens are of, or an older one. Whole number 0 to 4000000000000000."""


class RolloutWorkload(TypedDict):
    """What a rollout step demands of the engines, over all of them."""

    responses: int
    """Requests that run, those that are aborted later included. Whole number ≥ 1."""
    promptTokens: float
    """Mean tokens of a prompt, 0 to 1e9. Number 0 to 1000000000."""
    responseTokens: float
    """Mean tokens that a request generates, > 0 and at most 1e9. Number > 0."""
    longestTokens: float
    """Most tokens that a request generates; at least the mean, at most 1e9. Number > 0."""
    routingSkew: NotRequired[float]
    """Tokens of the most loaded expert rank ÷ their mean over the ranks; 1 if absent. Number ≥ 1."""


class ProfileConfiguration(TypedDict):
    """A point that a profile measures."""

    tp: int
    """Tensor-parallel degree: GPUs of one replica. Whole number ≥ 1."""
    ep: NotRequired[int]
    """Expert-parallel degree inside the replica; divides the TP. Whole number ≥ 1."""
    routingSkew: NotRequired[float]
    """Tokens of the most loaded expert rank ÷ their mean over the ranks; 1 if absent. Number ≥ 1."""
    batchSize: int
    """Sequences that one replica runs at once. Whole number ≥ 1."""
    sequenceLength: int
    """Tokens of each sequence. Whole number ≥ 1."""


class ProfileRow(TypedDict):
    """A row of a profile: a point, and what was measured there."""

    tp: int
    """Tensor-parallel degree: GPUs of one replica. Whole number ≥ 1."""
    ep: NotRequired[int]
    """Expert-parallel degree inside the replica; divides the TP. Whole number ≥ 1."""
    routingSkew: NotRequired[float]
    """Tokens of the most loaded expert rank ÷ their mean over the ranks; 1 if absent. Number ≥ 1."""
    batchSize: int
    """Sequences that one replica runs at once. Whole number ≥ 1."""
    sequenceLength: int
    """Tokens of each sequence. Whole number ≥ 1."""
    decodeStepSeconds: float
    """Seconds of one decode step of the batch, > 0. Number > 0."""
    prefillSeconds: float
    """Seconds to prefill the batch. Number ≥ 0."""
    bytes: float
    """Bytes that each GPU of the replica holds: weights, KV cache, activations. Number ≥ 0."""


class PromptChoice(TypedDict):
    """What was expected of a prompt that was offered."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    responses: int
    """Responses that it is to have (the group size). Whole number ≥ 1."""
    expectedTokens: float
    """Tokens that one of these responses is expected to have. Number ≥ 0."""
    keptChance: float
    """Chance that their rewards differ, so that the group teaches. Number 0 to 1."""
    worth: float
    """What they are expected to teach ÷ expected tokens to the power `lengthExponent`. Number ≥ 0."""
    chance: float
    """Chance with which it was taken. Number 0 to 1."""
    weight: NotRequired[float]
    """With `unbiased`: 1 ÷ chance, by which the gradient of the prompt is multiplied. Number ≥ 1."""


class ReplicaGroup(TypedDict):
    """One replica and the GPUs that it runs on."""

    replica: int
    """Number of the replica, from 0. Whole number ≥ 0."""
    serverId: str
    """Id of the server, given by the host. String ≤ 512."""
    gpuIds: Sequence[str]
    """Its GPUs, by rank; experts are spread over `ep` consecutive ones."""


class RunningRequest(TypedDict):
    """A request that is in flight on an engine."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    engineId: str
    """The engine that it runs on, or waits on. String ≤ 512."""
    tokens: int
    """Tokens that it has generated so far, over all attempts. Whole number 0 to 1000000000."""
    promptTokens: int
    """Tokens of its prompt; they stand in the KV cache too. Whole number 0 to 1000000000."""


class EnginePlace(TypedDict):
    """An engine and its GPUs."""

    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""
    gpuIds: Sequence[str]
    """The GPUs of its tensor-parallel group."""


class MicroBatch(TypedDict):
    """Whole groups that are computed together."""

    groups: Sequence[str]
    """Whole groups, in the order of the update."""
    tokens: int
    """Tokens of these groups, prompts included where they are known. Whole number 0 to 1000000000000."""
    dynamic: bool
    """Whether it is one group over the budget, which has to be cut into micro-batches of its own samples."""


_Migration = TypedDict("_Migration", {
    # The engine that it leaves. String ≤ 512.
    "from": str,
})


class Migration(_Migration):
    """A request that moves to another engine."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    to: str
    """The engine that it goes to. String ≤ 512."""
    tokens: int
    """Tokens generated when this was decided; they are kept, the budget is cumulative. Whole number 0 to 1000000000."""


class LoaderNode(TypedDict):
    """A node that preprocesses, and holds what it has preprocessed."""

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


class TextSample(TypedDict):
    """A sample without pixels: it needs no preprocessing."""

    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    kind: Literal["text"]
    """It has no pixels."""
    uses: NotRequired[int]
    """Batches that will use it; it is evicted after the last. Kept until its step is completed if absent. Whole number
    ≥ 1."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""


class GoneSample(TypedDict):
    """A sample that is not here any more."""

    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""


class TensorShape(TypedDict):
    """The name and shape of a tensor."""

    name: Literal["pixel_values", "pixel_values_videos"]
    """As model inputs name it: `pixel_values`, or `pixel_values_videos` for a video."""
    shape: Sequence[int]
    """Frames, channels, height, width. The first axis can be sliced."""
    bytesPerFrame: int
    """Bytes of one frame, rounded up. Whole number ≥ 0."""


class FrameSlice(TypedDict):
    """Frames of a sequence for one rank."""

    rank: int
    """Rank of the worker: its device, numbered from 0. Whole number 0 to 1048575."""
    fromFrame: int
    """First frame of the slice, numbered from 0. Whole number 0 to 1048575."""
    toFrame: int
    """Frame behind the last one of the slice. Whole number 1 to 1048576."""


class ChunkRequest(TypedDict):
    """A request that needs an engine, and what it has."""

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptTokens: int
    """Tokens of the prompt. Whole number 0 to 1000000000."""
    tokens: NotRequired[int]
    """Tokens of the response that the host has kept; absent: none. Whole number 0 to 1000000000."""
    maxTokens: NotRequired[int]
    """Most tokens of the response; absent: it ends by itself. Whole number 1 to 1000000000."""
    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""


class BatchSequence(TypedDict):
    """A sequence of a batch that is to be planned."""

    tokens: int
    """Its tokens, those of its images and frames included, 0 to 1e9. Whole number 0 to 1000000000."""
    sampleId: NotRequired[str]
    """The sample that it belongs to; several may belong to one. Absent: text only. String ≤ 512."""
    frames: NotRequired[int]
    """Frames that the vision tower encodes for it; absent: it is not spread frame by frame. Whole number 0 to
    1048576."""


class BatchAssignment(TypedDict):
    """Where a sequence of a batch goes."""

    sequence: int
    """Index of the sequence in the batch. Whole number ≥ 0."""
    sampleId: NotRequired[str]
    """The sample that it belongs to, if any. String ≤ 512."""
    degree: int
    """Sharding degree: how many ranks share it. Whole number 1 to 65536."""
    ranks: Sequence[int]
    """Those ranks, ascending."""
    slices: NotRequired[Sequence[FrameSlice]]
    """Which rank needs which frames; spread evenly over `ranks` if absent."""


class BatchPack(TypedDict):
    """Sequences of one group of ranks that run as one."""

    degree: int
    """Sharding degree: how many ranks share the pack. Whole number 1 to 65536."""
    ranks: Sequence[int]
    """Those ranks, ascending."""
    sequences: Sequence[int]
    """Indices of its sequences in the batch."""


class GpuServer(TypedDict):
    """A server and its GPUs."""

    serverId: str
    """Id of the server, given by the host. String ≤ 512."""
    gpuIds: Sequence[str]
    """Its GPUs, neighbours beside each other."""


class Resolution(TypedDict):
    """Size of each frame after preprocessing."""

    width: int
    """Pixels across, 1 to 65,536. Whole number 1 to 65536."""
    height: int
    """Pixels down, 1 to 65,536. Whole number 1 to 65536."""


class LengthPolynomial(TypedDict):
    """An object of the vocabulary: `LengthPolynomial`."""

    base: NotRequired[float]
    """What does not depend on the length; 0 if absent. Number ≥ 0."""
    perToken: NotRequired[float]
    """For each token; 0 if absent. Number ≥ 0."""
    perTokenSquared: NotRequired[float]
    """For each token times the length (attention); 0 if absent. Number ≥ 0."""


class LengthPoint(TypedDict):
    """An object of the vocabulary: `LengthPoint`."""

    tokens: int
    """Length of the sequences, in tokens; longer at each point. Whole number 0 to 1000000000."""
    value: float
    """What was measured there. Number ≥ 0."""


class Prompt(TypedDict):
    """A prompt as the host supplies it."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""
    promptTokens: NotRequired[int]
    """Tokens of the prompt itself; used for placement. Whole number 0 to 1000000000."""
    expectedTokens: NotRequired[int]
    """Expected tokens of its longest response, where something is known. Whole number 0 to 1000000000."""
    keptChance: NotRequired[float]
    """Chance that the filter keeps it: a round begins prompts until these add up to what it needs. Absent: 1, or 1 ÷
    `promptSpeculation`. Number 0 to 1."""
    deferral: NotRequired[Deferral]
    """How often and since when it has been deferred."""
    kept: NotRequired[Sequence[KeptResponse]]
    """Responses kept from earlier rounds (`partialRollout`)."""


class FinalPrompt(TypedDict):
    """A prompt of a completed round, with exactly R0 responses in the order of their indices."""

    promptId: str
    """Id of the prompt, given by the host. String ≤ 512."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
    domain: NotRequired[str]
    """Data domain of the prompt, such as `math` or `code`. String ≤ 512."""
    deferral: NotRequired[Deferral]
    """How often and since when it had been deferred."""
    responses: Sequence[FinalResponse]
    """R0 responses, in the order of their indices."""


class VisualSample(TypedDict):
    """A sample with images or a video, as metadata."""

    sampleId: str
    """Id of the sample, given by the host; new whenever it is drawn. String ≤ 512."""
    kind: Literal["image", "video"]
    """`image`: one or more images; `video`: frames of a clip."""
    path: str
    """Path or URL of the file. String ≤ 4096."""
    frames: int
    """Frames of the video, or images of the sample. Whole number 1 to 1048576."""
    resolution: Resolution
    """Size of each frame after preprocessing."""
    bytes: int
    """Bytes that its preprocessed tensors are expected to take in host memory. Whole number 1 to 1000000000000000."""
    uses: NotRequired[int]
    """Batches that will use it; it is evicted after the last. Kept until its step is completed if absent. Whole number
    ≥ 1."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
