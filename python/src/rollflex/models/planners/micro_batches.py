# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Micro-batches under a token cap, the same number on every rank, with even work."""

from collections.abc import Sequence
from typing import Literal

from .._typing import NotRequired, TypedDict
from ..objects import LengthPoint, LengthPolynomial


class MicroBatchesInputAssignment(TypedDict):
    """Part of :class:`MicroBatchesInput`."""

    sequence: int
    """Index of the sequence in `lengths`. Whole number ≥ 0."""
    degree: int
    """How many ranks share it; each has length ÷ degree of its tokens. Whole number 1 to 65536."""
    devices: Sequence[int]
    """Those ranks: neighbours, ascending."""


class MicroBatchesInput(TypedDict):
    """Input of `micro-batches`."""

    lengthsByRank: NotRequired[Sequence[Sequence[int]]]
    """Tokens of each sequence of each data-parallel rank, where sequences have their rank already."""
    lengths: NotRequired[Sequence[int]]
    """Tokens of each sequence of the whole batch, in place of `lengthsByRank`."""
    ranks: NotRequired[int]
    """Ranks that share `lengths`; needed with it. Whole number 1 to 65536."""
    assignments: NotRequired[Sequence[MicroBatchesInputAssignment]]
    """Where each of `lengths` lies, as flex-ulysses says; they are dealt out to the ranks if absent."""
    maxTokensPerMicroBatch: int
    """Most tokens that a rank has in one micro-batch; the sum of length ÷ degree where sequences are sharded. Whole
    number 1 to 1000000000000000."""
    overlong: NotRequired[Literal["refuse", "alone"]]
    """What becomes of a sequence above the cap: no plan, or a micro-batch for itself that says `overCap`. Default:
    "refuse"."""
    minMicroBatches: NotRequired[int]
    """Fewest micro-batches of a rank. Whole number 0 to 1000000. Default: 0."""
    divisibleBy: NotRequired[int]
    """What divides the number of micro-batches of a rank, as virtual pipeline stages ask for. Whole number 1 to 65536.
    Default: 1."""
    compute: NotRequired[LengthPolynomial | Sequence[LengthPoint]]
    """Work of a whole sequence, by its length, in any unit, which is balanced; that of verl if absent. Default:
    {"perToken":24576,"perTokenSquared":1}."""


class MicroBatchesPlanRankMicroBatche(TypedDict):
    """What a rank runs in one forward and backward pass."""

    sequences: list[int]
    """Its sequences, ascending: indices in `lengths`, or in the list of that rank in `lengthsByRank`."""
    tokens: float
    """Tokens that the rank has in it: the sum of length ÷ degree. Number ≥ 0."""
    work: float
    """Work of the rank in it, in the unit of `compute`. Number ≥ 0."""
    empty: bool
    """No sequence is in it: the rank runs a pass over padding that counts for nothing."""
    overCap: bool
    """One sequence is in it that is above the cap by itself."""


class MicroBatchesPlanRank(TypedDict):
    """Part of :class:`MicroBatchesPlan`."""

    microBatches: list[MicroBatchesPlanRankMicroBatche]
    """In the order in which they are run."""


class MicroBatchesPlanBounds(TypedDict):
    """How good a plan could be at best."""

    count: int
    """No plan has fewer micro-batches. Whole number ≥ 0."""


class MicroBatchesPlanMetrics(TypedDict):
    """How good this one is."""

    maxTokens: float
    """Tokens of the largest micro-batch. Number ≥ 0."""
    maxWork: float
    """Work of the micro-batch that has most. Number ≥ 0."""
    totalWork: float
    """Work of all ranks. Number ≥ 0."""
    lockstepWork: float
    """Most work of a rank in the first micro-batches, plus most in the second ones, and so on: what a step takes if
    ranks wait for each other at every micro-batch. Number ≥ 0."""
    empty: int
    """Empty micro-batches of all ranks. Whole number ≥ 0."""


class MicroBatchesPlan(TypedDict):
    """Plan of `micro-batches`."""

    count: int
    """Micro-batches of every rank. Whole number ≥ 0."""
    ranks: list[MicroBatchesPlanRank]
    """What each rank runs."""
    bounds: MicroBatchesPlanBounds
    """How good a plan could be at best."""
    metrics: MicroBatchesPlanMetrics
    """How good this one is."""
