# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Which layers of a judge stay on the GPU beside the actor, and which are streamed over PCIe as it computes."""

from collections.abc import Sequence

from .._typing import NotRequired, TypedDict
from ..objects import LengthPoint, LengthPolynomial


class JudgeOffloadInput(TypedDict):
    """Input of `judge-offload`."""

    layers: int
    """Layers of the judge, all of one size. Whole number 1 to 256."""
    layerBytes: float
    """Bytes of the weights of a layer. Number ≥ 1."""
    fixedBytes: NotRequired[float]
    """Bytes that always stay on the GPU: embeddings, output head, workspace of the process. Number ≥ 0. Default: 0."""
    sequenceTokens: int
    """Length that the plan is for, in tokens: the longest that the judge is given until the next plan. Whole number 1
    to 1000000000."""
    activationBytes: LengthPolynomial | Sequence[LengthPoint]
    """Bytes of activations and KV cache of a forward pass, by sequence length: a polynomial, or measured points."""
    layerSeconds: LengthPolynomial | Sequence[LengthPoint]
    """Seconds that a layer computes with all SMs to itself, by sequence length: a polynomial, or measured points."""
    memoryBytes: float
    """GPU memory that the actor leaves, in bytes. Number ≥ 0."""
    pcieBytesPerSecond: float
    """Bandwidth from host memory to the GPU that the actor leaves, in bytes per second. Number ≥ 1."""
    transferOverheadSeconds: NotRequired[float]
    """Seconds that the transfer of a layer takes besides its bytes. Number 0 to 1000000. Default: 0."""
    actorSmShare: float
    """Share of the SMs that the actor keeps, 0 to 1. Number 0 to 1."""
    judgeSmShare: NotRequired[float]
    """Share of the SMs that the judge can fill; with fewer, a layer takes longer in proportion. Number 0.01 to 1.
    Default: 1."""
    maxPrefetchDepth: NotRequired[int]
    """Most layers that wait or run in buffers; no limit if absent. Whole number ≥ 1."""
    latencyTolerance: NotRequired[float]
    """How much slower than the fastest plan a plan may be, relative, if it leaves more SMs to the actor. Number 0 to
    10. Default: 0."""


class JudgeOffloadPlan(TypedDict):
    """Plan of `judge-offload`."""

    residentLayers: int
    """Layers that stay on the GPU. Whole number ≥ 0."""
    streamedLayers: list[int]
    """The other layers, from 0, ascending: they lie in host memory and pass through the buffers."""
    prefetchDepth: int
    """Buffers of one layer each for streamed layers, the one that computes included; 0 if none is streamed. Whole
    number ≥ 0."""
    mpsShare: float
    """Share of the SMs for the judge, whole percents: CUDA_MPS_ACTIVE_THREAD_PERCENTAGE ÷ 100. Number 0.01 to 1."""
    memoryBytes: float
    """GPU memory that the judge takes: fixed, activations, resident layers and buffers. Number ≥ 0."""
    layerSeconds: float
    """Seconds that a layer computes with that share. Number ≥ 0."""
    transferSeconds: float
    """Seconds that the transfer of a layer takes. Number ≥ 0."""
    pipelinedSeconds: float
    """Predicted seconds of a forward pass, transfers overlapped with computation. Number ≥ 0."""
    sequentialSeconds: float
    """Predicted seconds of the same pass if each layer were first fetched, then run. Number ≥ 0."""
