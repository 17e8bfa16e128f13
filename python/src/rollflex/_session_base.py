"""What sessions and subscriptions for threads and for asyncio share: all that asks nobody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from ._sending import Producer
from ._steps import Steps
from ._subscription import End, Item, Subscribed
from .errors import ClientClosed

E = TypeVar("E")
D = TypeVar("D")


class SessionBase(Generic[E, D]):
    """A policy with its state, on the server."""

    def __init__(self, producer: Producer) -> None:
        self._attachment = producer.session
        self._producer = producer

    @property
    def id(self) -> str:
        return self._attachment.id

    @property
    def policy(self) -> str:
        return self._attachment.policy

    @property
    def version(self) -> int:
        """Version of the policy."""
        return self._attachment.version

    @property
    def seq(self) -> int:
        """Number of events that the session has applied, as far as this client knows."""
        return self._attachment.seq

    @property
    def producer(self) -> str:
        """Id of this sender: the server counts events per producer."""
        return self._producer.name

    @property
    def next_seq(self) -> int:
        """Number of applied events of this producer, which is the ``firstSeq`` of the next call."""
        return self._producer.next_seq

    @property
    def unanswered(self) -> int:
        """Events of a ``send`` that ended, or was cancelled, without all its answers: ``retry`` gets them."""
        return self._producer.unanswered

    def _sent(self, events: E | Sequence[E], first_seq: int | None) -> Steps[list[D]]:
        # Most events are dicts, and the check against the abstract class is slower.
        one = type(events) is dict or isinstance(events, Mapping)
        if not one and (isinstance(events, (str, bytes)) or not isinstance(events, Iterable)):
            raise TypeError(
                f'send takes an event, {{"type": "round.requested", …}}, or a list of events, not {events!r:.80}'
            )
        several: Sequence[Any] = [events] if one else list(events)  # type: ignore[arg-type]
        return self._producer.send(several, first_seq)


class SubscriptionBase(Generic[D]):
    """Decisions with their numbers, in order of arrival."""

    def __init__(self, subscribed: Subscribed) -> None:
        self._subscribed = subscribed
        self._ended = False

    @property
    def closed_because(self) -> str | None:
        """``closed`` or ``replaced``, once the server has closed the session."""
        return self._subscribed.closed_because

    def ack(self, number: int) -> None:
        """Acknowledges the decisions up to a number."""
        self._subscribed.acknowledge(number)

    def _assert_open(self) -> None:
        if self._ended:
            raise EOFError("the subscription has ended")

    def _given(self, item: Item | End) -> tuple[int, D]:
        """Returns the next item. Raises EOFError at the end, and errors that have interrupted the subscription."""
        if isinstance(item, tuple):
            return item
        subscribed = self._subscribed
        self._ended = subscribed.core.readers.get(subscribed.session.id) is not subscribed
        if item is None or isinstance(item, ClientClosed):
            raise EOFError("the subscription has ended")
        raise item
