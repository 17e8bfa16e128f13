# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: frontier."""

from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired


class RequestArrived(AnyEvent):
    """A request is ready for an engine and waits until it is admitted."""

    type: Literal["request.arrived"]
    requestId: str
    """Id of the request, given by the host; new for each try. String ≤ 1200."""
    promptId: str
    """Id of the prompt; its responses are one group. String ≤ 512."""
    roundId: str
    """Id of the rollout round, given by the host; new for every round. String ≤ 512."""
    index: int
    """Which response of the group, from 0; a later request for it takes its place. Whole number ≥ 0."""
    order: NotRequired[int]
    """Place of the group in its round, lowest first; absent: after all groups that came before. Whole number ≥ 0."""
    ref: NotRequired[str]
    """Opaque reference of the host, at most 256 bytes; echoed. String ≤ 256."""
