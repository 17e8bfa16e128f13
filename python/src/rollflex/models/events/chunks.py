# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: chunks."""

from collections.abc import Sequence
from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired
from ..objects import ChunkRequest


class ChunkFinished(AnyEvent):
    """A chunk has been generated, and the response is not over. If it is over, `response.completed` says so instead."""

    type: Literal["chunk.finished"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tokens: int
    """Tokens of the response so far, over all chunks. Whole number 0 to 1000000000."""


class ChunksRequested(AnyEvent):
    """These requests need engines for their next chunks. All of a round in one event, so that the longest can be first.
    A request that asks again goes on from what this event says."""

    type: Literal["chunks.requested"]
    requests: Sequence[ChunkRequest]
    """The requests, each once."""


class RequestOpened(AnyEvent):
    """A response is to be generated in chunks. A host without an admission gives the request an id of its own."""

    type: Literal["request.opened"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: NotRequired[str]
    """Id of the prompt, given by the host. String ≤ 512."""
