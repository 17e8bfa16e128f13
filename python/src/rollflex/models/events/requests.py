# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: requests."""

from collections.abc import Sequence
from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired


class RequestAborted(AnyEvent):
    """The engine confirms that a request has ended early."""

    type: Literal["request.aborted"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tokens: NotRequired[int]
    """Tokens that the request had generated, over all attempts. Whole number 0 to 1000000000."""
    weightVersions: NotRequired[Sequence[int]]
    """Versions of the weights that generated these, where the engine tells, ascending."""


class RequestProgressed(AnyEvent):
    """A request has generated tokens since the last such report, as a host may tell that limits the time of responses:
    a response that goes on is no hang."""

    type: Literal["request.progressed"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tokens: int
    """Tokens that the request has generated so far, over all attempts. Whole number 0 to 1000000000."""


class RequestStarted(AnyEvent):
    """A request runs on this engine. Needed where the host places requests, so that `engine.lost` finds them."""

    type: Literal["request.started"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""


class ResponseCompleted(AnyEvent):
    """A request has generated its whole response."""

    type: Literal["response.completed"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tokens: int
    """Tokens of the response, over all attempts. Whole number 0 to 1000000000."""
    weightVersions: NotRequired[Sequence[int]]
    """Versions of the weights that generated it, where the engine tells, ascending; `rolloutpipe` reads them."""


class ResponseFailed(AnyEvent):
    """A request has failed and generates no more."""

    type: Literal["response.failed"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    kind: Literal["infrastructure", "data", "environment"]
    """`infrastructure`: another try may help. `data`: the prompt itself is at fault. `environment`: the sandbox or the
    tools of a trajectory have failed, not the code in them."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""
