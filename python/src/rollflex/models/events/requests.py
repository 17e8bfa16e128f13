# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: requests."""

from collections.abc import Sequence
from typing import Literal

from .._typing import NotRequired, TypedDict


class EnvironmentFailed(TypedDict):
    """The environment of a trajectory has failed."""

    type: Literal["environment.failed"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    message: NotRequired[str]
    """What went wrong, for operators. String ≤ 2000."""


class EnvironmentResumed(TypedDict):
    """The environment has answered."""

    type: Literal["environment.resumed"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""


class EnvironmentWaiting(TypedDict):
    """A trajectory waits for its environment and needs no engine meanwhile."""

    type: Literal["environment.waiting"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""


class RequestAborted(TypedDict):
    """The engine confirms that a request has ended early."""

    type: Literal["request.aborted"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    tokens: NotRequired[int]
    """Tokens that the request had generated, over all attempts. Whole number ≥ 0."""


class RequestStarted(TypedDict):
    """A request runs on this engine. Needed where the host places requests, so that `engine.lost` finds them."""

    type: Literal["request.started"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    engineId: str
    """Id of the inference engine, given by the host. String ≤ 512."""


class ResponseCompleted(TypedDict):
    """A request has generated its whole response."""

    type: Literal["response.completed"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    tokens: int
    """Tokens of the response, over all attempts. Whole number ≥ 0."""

    weightVersions: NotRequired[Sequence[int]]
    """Versions of the weights that generated it, where the engine tells, ascending; `rolloutpipe` reads them."""


class ResponseFailed(TypedDict):
    """A request has failed and generates no more."""

    type: Literal["response.failed"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    kind: Literal["infrastructure", "data"]
    """`infrastructure`: another try may help. `data`: the prompt itself is at fault."""

    message: NotRequired[str]
    """What went wrong, for operators. String ≤ 2000."""


class TurnFinished(TypedDict):
    """A turn of a multi-turn trajectory has been generated."""

    type: Literal["turn.finished"]

    at: NotRequired[float]
    """
    Time in seconds on one clock, which goes on across restarts (`Date.now() / 1000`); an earlier time than
    the latest counts as the latest. Stamped by the server with Unix time if absent. Number ≥ 0.
    """

    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""

    tokens: int
    """Tokens that the trajectory has generated so far. Whole number ≥ 0."""
