# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: programs."""

from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired


class ProgramClosed(AnyEvent):
    """A program is over, however it has ended: it needs no engine any more."""

    type: Literal["program.closed"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""


class ProgramOpened(AnyEvent):
    """A program has begun: the trajectory of one request, in turns. A host without an admission gives it an id of its
    own."""

    type: Literal["program.opened"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    promptId: NotRequired[str]
    """Id of the prompt, given by the host. String ≤ 512."""
    promptTokens: NotRequired[int]
    """Tokens with which every program of this prompt begins; an engine caches them once. Whole number 0 to
    1000000000."""


class ToolFinished(AnyEvent):
    """The tool has answered, and the trajectory may go on."""

    type: Literal["tool.finished"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    outcome: Literal["success", "error", "timeout"]
    """What the trajectory sees. If the environment itself has failed, so that it cannot go on, `response.failed` says
    so."""


class ToolStarted(AnyEvent):
    """A trajectory waits for a tool, or for several at once, and needs no engine meanwhile."""

    type: Literal["tool.started"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tool: str
    """Name of the tool; the one that takes longest, of several. 512 characters of it are kept."""
    expectedSeconds: NotRequired[float]
    """How long it will take, in seconds, if the host knows. Number ≥ 0."""


class TurnFinished(AnyEvent):
    """A turn of a multi-turn trajectory has been generated."""

    type: Literal["turn.finished"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    tokens: int
    """Tokens that the trajectory has generated so far. Whole number 0 to 1000000000."""
    cachedTokens: NotRequired[int]
    """Tokens of the context that the engine had in its prefix cache, where it tells. Whole number 0 to 1000000000."""


class TurnRequested(AnyEvent):
    """A program needs an engine for its next turn. If it asks again before the turn has finished, the turn runs
    anew."""

    type: Literal["turn.requested"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    contextTokens: int
    """Tokens that the turn begins with: all that the engine has to have read. Whole number 0 to 1000000000."""
