# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Events: slots."""

from typing import Literal

from .._bases import AnyEvent
from .._typing import NotRequired


class SlotFailed(AnyEvent):
    """An environment did not start, or has broken, and is gone: through no fault of the code in it."""

    type: Literal["slot.failed"]
    slotId: str
    """Id of the environment, minted by the policy. String ≤ 512."""
    message: NotRequired[str]
    """What went wrong, for operators: a text of any length, of which 2,000 characters are kept."""


class SlotReady(AnyEvent):
    """An environment has started, or was reset after its program, and can be given to a program."""

    type: Literal["slot.ready"]
    slotId: str
    """Id of the environment, minted by the policy. String ≤ 512."""


class SlotReleased(AnyEvent):
    """An environment has ended, and its place is free."""

    type: Literal["slot.released"]
    slotId: str
    """Id of the environment, minted by the policy. String ≤ 512."""


class SlotRequested(AnyEvent):
    """A program needs an environment before it can go on."""

    type: Literal["slot.requested"]
    requestId: str
    """Id of the request, minted by the policy. String ≤ 1200."""
    environment: str
    """Kind of the environment, such as the image of a sandbox. String ≤ 512."""


class SlotsChanged(AnyEvent):
    """From now on so many environments of this kind may exist at once; those above it end with their programs."""

    type: Literal["slots.changed"]
    environment: str
    """Kind of the environment, such as the image of a sandbox. String ≤ 512."""
    slots: int
    """Most environments of this kind. Whole number ≥ 0."""
