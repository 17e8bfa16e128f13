# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Decisions: chunks."""

from typing import Literal

from .._bases import AnyDecision
from .._typing import NotRequired, TypedDict


class ChunkAwaitedReason(TypedDict):
    """Reason of :class:`ChunkAwaited`. Why, with the numbers."""

    code: Literal["host_restarted"]


class ChunkAwaited(AnyDecision):
    """A notice. After a restart of the host: this request was opened and has not asked for a chunk; its
    `chunks.requested` is awaited."""

    type: Literal["chunk.awaited"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: ChunkAwaitedReason


class ChunkContinueReason(TypedDict):
    """Reason of :class:`ChunkContinue`. Why, with the numbers."""

    code: Literal["first", "probe", "stays", "moved", "resumed", "overdue", "engine_lost", "host_restarted"]
    freeTokens: int
    """Tokens of the KV cache of the engine that no chunk has, before this one. Whole number 0 to 1000000000000."""
    expectedTokens: int
    """Length that the response is expected to reach, in tokens. Whole number 0 to 1000000000."""
    seconds: float
    """Expected cost there, in seconds of responses: until this one is over, and by which it delays those that run
    there. Number ≥ 0."""
    waitedSeconds: NotRequired[float]
    """How long the request waited for room, in seconds. Number ≥ 0. Only with `first`, `probe`, `resumed`, `overdue`,
    `engine_lost`, `host_restarted`."""
    stayingSeconds: NotRequired[float]
    """Expected cost on the engine of its last chunk, in seconds; absent if there is no room. Number ≥ 0. Only with
    `moved`."""
    limitSeconds: NotRequired[float]
    """How long a request may wait for room, in seconds. Number ≥ 0. Only with `overdue`."""


class ChunkContinue(AnyDecision):
    """A command. Generate the next chunk of this response on this engine, up to so many tokens. A host that has lost
    earlier chunks asks again by `chunks.requested`."""

    type: Literal["chunk.continue"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""
    fromTokens: int
    """Tokens of the response that come before the chunk. Whole number 0 to 1000000000."""
    tokens: int
    """Most tokens of the chunk. Whole number ≥ 1."""
    reason: ChunkContinueReason


class ChunkLateReason(TypedDict):
    """Reason of :class:`ChunkLate`. Why, with the numbers."""

    code: Literal["already_ended", "out_of_turn"]


class ChunkLate(AnyDecision):
    """A notice. A report about a request that is over, or about a chunk that is not running: nothing changes."""

    type: Literal["chunk.late"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    reason: ChunkLateReason


class RequestEndedReason(TypedDict):
    """Reason of :class:`RequestEnded`. Why, with the numbers."""

    code: Literal["completed", "failed", "aborted"]
    chunks: int
    """Chunks that it was given. Whole number ≥ 0."""
    moves: int
    """How often a chunk ran on another engine than the one before. Whole number ≥ 0."""
    waitedSeconds: float
    """How long it waited for room, in seconds. Number ≥ 0."""


class RequestEnded(AnyDecision):
    """A notice. A request that was generated in chunks is over: nothing of it is kept."""

    type: Literal["request.ended"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tokens: int
    """Tokens that it has generated, as far as was reported. Whole number 0 to 1000000000."""
    reason: RequestEndedReason
