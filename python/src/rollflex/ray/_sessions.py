"""A session of a handle: who sends, and what has no answer yet. What both kinds of handle share."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from ..errors import ClientClosed, PolicyError, UnansweredCall
from ._calls import Actor, Steps, call


class Attached:
    """A session in the view of one producer."""

    def __init__(self, actor: Actor, id: str, policy: str, version: int, seq: int, producer: str | None) -> None:
        self.actor = actor
        self.id = id
        self.policy = policy
        self.version = version
        self.seq = seq
        self.producer = producer or f"ray-{uuid.uuid4().hex[:20]}"
        self.next_seq = 0
        self.closed = False
        self.open_call: tuple[list[Any], int] | None = None

    def learn(self, deadline: float) -> Steps[None]:
        """Asks how many events of this producer were applied."""
        result = yield from call(self.actor, deadline, "send", self.id, [], self.producer, None)
        self.next_seq = result.get("nextSeq", 0)

    def send(self, events: Sequence[Any], first_seq: int | None, deadline: float) -> Steps[list[Any]]:
        if self.closed:
            raise ClientClosed(f"session {self.id} was closed")
        if self.open_call is not None:
            raise UnansweredCall(
                f"{len(self.open_call[0])} events of an earlier send to session {self.id} have no answer yet: "
                "retry() gets it, and applies nothing twice"
            )
        self.open_call = (list(events), self.next_seq if first_seq is None else first_seq)
        return (yield from self.retry(deadline))

    def retry(self, deadline: float) -> Steps[list[Any]]:
        if self.open_call is None:
            raise UnansweredCall("every send has been answered: there is nothing to retry")
        events, first = self.open_call
        try:
            result = yield from call(self.actor, deadline, "send", self.id, events, self.producer, first)
        except (PolicyError, ValueError, TypeError) as error:
            # An answer, too.
            self.open_call = None
            if isinstance(error, PolicyError) and error.index is not None:
                self.next_seq = first + error.index
                self.seq = max(self.seq, error.seq or 0)
            raise
        self.open_call = None
        self.next_seq = result.get("nextSeq", first + len(events))
        self.seq = max(self.seq, result["seq"])
        decisions: list[Any] = result["decisions"]
        return decisions

    def snapshot(self, deadline: float) -> Steps[Any]:
        result = yield from call(self.actor, deadline, "snapshot", self.id)
        self.seq = max(self.seq, result["seq"])
        return result["snapshot"]

    def why(self, id: str | None, what: str | None, deadline: float) -> Steps[Any]:
        result = yield from call(self.actor, deadline, "why", self.id, id, what)
        self.seq = max(self.seq, result["seq"])
        return result

    def close(self, deadline: float) -> Steps[None]:
        if self.closed:
            return
        self.closed = True
        try:
            yield from call(self.actor, deadline, "close", self.id)
        except PolicyError as error:
            # The call was repeated after it had succeeded.
            if error.code != "unknown_id":
                raise


class Reading:
    """A place in the stream of a session."""

    most = 4096
    seconds = 5.0

    def __init__(self, attached: Attached, after: int | None, types: Sequence[str] | None) -> None:
        self.attached = attached
        self.types = None if types is None else frozenset(types)
        self.after = after
        self.acknowledged: int | None = None
        self.told: int | None = None
        self.closed_because: str | None = None
        self.begun = False
        self.items: list[tuple[int, Any]] = []
        """The last item of the list comes next."""

    def ack(self, number: int) -> None:
        if self.after is None or number > self.after:
            expected = f"a number that was given, at most {self.after or 0}"
            raise PolicyError("out_of_order", expected=expected, got=str(number), path="decisionSeq")
        self.acknowledged = max(number, self.acknowledged or 0)

    def more(self, seconds: float, deadline: float) -> Steps[None]:
        """Returns decisions that have come meanwhile; the list may be empty."""
        actor, id = self.attached.actor, self.attached.id
        ack = self.acknowledged if self.acknowledged != self.told else None
        try:
            result = yield from call(actor, deadline, "decisions", id, self.after, ack, self.most, seconds)
        except PolicyError as error:
            # The session existed when reading began, so it was closed between two calls.
            if not self.begun or error.code != "unknown_id" or error.path != "session":
                raise
            self.closed_because, self.items = "closed", []
            return
        self.begun = True
        self.told = self.acknowledged
        found: list[tuple[int, Any]] = result["decisions"]
        self.after = found[-1][0] if found else result["begin"]
        self.closed_because = result["closed"] if not found else None
        wanted = found if self.types is None else [one for one in found if one[1]["type"] in self.types]
        self.items = wanted[::-1]
