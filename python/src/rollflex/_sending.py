"""Sending events: big lists in calls that the server takes, several in flight, and all pages of each answer."""

from __future__ import annotations

import json
import sys
import uuid
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from ._attachment import Attachment
from ._core import Core
from ._messages import encode, encoded, result_of
from ._options import open_params
from ._pending import Pending
from ._steps import Steps, answered
from .errors import PolicyError, SessionLost, UnansweredCall, error_from_reply

# So many calls for one list are in flight; the server keeps at least as many answers for retries.
_window = 4
_frame_bytes = 96


# Unix time reached this number in 1973 in milliseconds, and will reach it in 5138 in seconds.
_likely_milliseconds = 1e11


def _warn_of_milliseconds(events: Sequence[Any]) -> None:
    at = events[-1].get("at") if events and isinstance(events[-1], Mapping) else None
    if isinstance(at, (int, float)) and at >= _likely_milliseconds:
        warnings.warn(
            f"the time {at} looks like milliseconds: `at` is in seconds, and a time before the latest counts as the "
            "latest. Go on from a snapshot that is older, or send host.restarted with the right time",
            stacklevel=_levels_to_caller(),
        )


def _levels_to_caller() -> int:
    """How far above the caller of this function the code is that is not of this package."""
    levels = 1
    frame = sys._getframe(1).f_back
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("rollflex."):
        frame = frame.f_back
        levels += 1
    return levels + 1


def _name_event(refusal: PolicyError, index: int, event: object) -> None:
    """Says in the message which of several events was refused."""
    path = f"events[{index}]{f'.{refusal.path}' if refusal.path else ''}"
    kind = event.get("type") if isinstance(event, Mapping) else None
    of = f" of {kind}" if isinstance(kind, str) and refusal.path != "type" else ""
    refusal.args = (f"{refusal.code}: {path}{of}: expected {refusal.expected}, got {refusal.got}",)


class _Chunk:
    """Events of one call, already serialised, so that later changes by the caller have no effect."""

    __slots__ = ("count", "text")

    def __init__(self, count: int, text: str) -> None:
        self.count = count
        self.text = text


class _Sending:
    """A list of events that is being sent."""

    __slots__ = ("answered", "chunks", "decisions", "first_seq", "left", "numbered_here")

    def __init__(self, chunks: Sequence[_Chunk], first_seq: int, *, numbered_here: bool) -> None:
        self.chunks = deque(chunks)
        """Chunks that are not answered yet."""
        self.first_seq = first_seq
        self.numbered_here = numbered_here
        self.answered = 0
        """Number of events whose answers have arrived."""
        self.left = sum(one.count for one in chunks)
        self.decisions: list[Any] = []


class Producer:
    """A sender of events to a session. Each event is applied once, whatever happens to the connection."""

    def __init__(self, session: Attachment, name: str) -> None:
        self._core = core = session.core
        self.session = session
        self.name = name
        self.next_seq = 0
        self._open: _Sending | None = None
        self._confirmed_on = core.connections
        self._head = f'{{"session":{json.dumps(session.id)},"producer":{json.dumps(name)},"firstSeq":'

    @property
    def unanswered(self) -> int:
        """Events without an answer from a `send` that has not finished."""
        return 0 if self._open is None else self._open.left

    def learn(self) -> Steps[None]:
        """Asks how many events of this producer were applied."""
        params = {"session": self.session.id, "events": [], "producer": self.name}
        result = yield from answered(self._core.start("session.send", params, owner=self.session))
        self.next_seq = result.get("nextSeq", 0)

    def send(self, events: Sequence[Any], first_seq: int | None) -> Steps[list[Any]]:
        """Sends events. Raises TypeError or ValueError for values that JSON lacks, before anything is sent."""
        if self._open is not None:
            raise UnansweredCall(
                f"{self.unanswered} events of an earlier send to session {self.session.id} have no answer yet: "
                "retry() gets it, and applies nothing twice"
            )
        self.session.assert_open()
        chunks = self._chunks(events, 0)
        _warn_of_milliseconds(events)
        first = self.next_seq if first_seq is None else first_seq
        self._open = sending = _Sending(chunks, first, numbered_here=first_seq is None)
        if len(chunks) > 1:
            return (yield from self._drive(sending))
        pending = self._start(chunks[0], first)
        try:
            # With policies in this process, the answer may have arrived already.
            if not pending.done:
                yield pending
            result = pending.take().get("result")
            if type(result) is dict and "more" not in result:
                self._taken(sending, pending, result, result.get("decisions") or [])
            else:
                yield from self._take(sending, pending)
        except BaseException:
            pending.unwanted = True
            raise
        self._open = None
        return sending.decisions

    def retry(self) -> Steps[list[Any]]:
        if self._open is None:
            raise UnansweredCall("every send has been answered: there is nothing to retry")
        return (yield from self._drive(self._open))

    def _chunks(self, events: Sequence[Any], offset: int) -> list[_Chunk]:
        limits = self._core.limits
        count, most = len(events), int(limits.get("maxEventsPerCall", 10_000))
        if count > most:
            parts = [self._chunks(events[at : at + most], offset + at) for at in range(0, count, most)]
            return [chunk for part in parts for chunk in part]
        text = self._text(events, offset)
        longest = limits.get("maxMessageBytes", 1 << 26) - len(self._head) - _frame_bytes
        if len(text) <= longest:
            return [_Chunk(count, text)]
        if count > 1:
            half = count // 2
            return self._chunks(events[:half], offset) + self._chunks(events[half:], offset + half)
        expected = f"an event that fits into a message of {limits.get('maxMessageBytes')} bytes"
        got = f"{len(text)} bytes"
        raise PolicyError("limit_exceeded", expected=expected, got=got, path=f"events[{offset}]", index=offset)

    @staticmethod
    def _text(events: Sequence[Any], offset: int) -> str:
        try:
            return encode(events)
        except (TypeError, ValueError):
            # Only now is the place looked for.
            alone = len(events) == 1 and offset == 0
            for index, one in enumerate(events, offset):
                encoded(one, "event" if alone else f"event[{index}]")
            raise

    def _drive(self, sending: _Sending) -> Steps[list[Any]]:
        """Keeps several calls in flight, and takes their answers in order."""
        flying: deque[Pending] = deque()
        window = min(_window, int(self._core.limits.get("keptAnswers", 1)))
        started, seq = 0, sending.first_seq + sending.answered
        try:
            while sending.chunks:
                while started < len(sending.chunks) and len(flying) < window:
                    chunk = sending.chunks[started]
                    flying.append(self._start(chunk, seq))
                    started += 1
                    seq += chunk.count
                pending = flying[0]
                yield pending
                yield from self._take(sending, pending)
                flying.popleft()
                started -= 1
        finally:
            # After a refusal the server also refuses later calls, because they leave a gap.
            for one in flying:
                one.unwanted = True
        self._open = None
        return sending.decisions

    def _start(self, chunk: _Chunk, first_seq: int) -> Pending:
        params = f'{self._head}{first_seq},"events":{chunk.text}}}'
        return self._core.start_text("session.send", params, owner=self.session)

    def _take(self, sending: _Sending, pending: Pending) -> Steps[None]:
        """Takes the answer to the first chunk, with all pages."""
        while True:
            answer = pending.take()
            refusal = error_from_reply(answer["error"]) if "error" in answer else None
            if refusal is not None and not isinstance(refusal, PolicyError):
                raise refusal
            data = answer["error"]["data"] if refusal is not None else result_of(answer)
            decisions = yield from self._pages(data)
            if decisions is not None:
                break
            # The pages were evicted, so the call is sent again and gets the same answer.
            pending = self._start(sending.chunks[0], sending.first_seq + sending.answered)
            yield pending
        if refusal is None:
            self._taken(sending, pending, data, decisions)
            return
        self._assert_remembered(sending, refusal)
        self._confirm(pending, data)
        self._open = None
        if sending.answered + sending.left > 1 and refusal.index is not None:
            refused = json.loads(sending.chunks[0].text)[refusal.index]
            _name_event(refusal, sending.answered + refusal.index, refused)
        refusal.index = sending.answered + (refusal.index or 0)
        refusal.decisions = [*sending.decisions, *decisions]
        raise refusal

    def _taken(self, sending: _Sending, pending: Pending, data: dict[str, Any], decisions: list[Any]) -> None:
        self._confirm(pending, data)
        chunk = sending.chunks.popleft()
        sending.answered += chunk.count
        sending.left -= chunk.count
        sending.decisions = sending.decisions + decisions if sending.decisions else decisions

    def _confirm(self, pending: Pending, data: dict[str, Any]) -> None:
        if "nextSeq" in data:
            self.next_seq = data["nextSeq"]
        self._confirmed_on = pending.connection
        self.session.applied(data)

    def _pages(self, data: dict[str, Any]) -> Steps[list[Any] | None]:
        """Returns all decisions of an answer, or None if a page was evicted."""
        decisions: list[Any] = data.get("decisions") or []
        more = data.get("more")
        while more is not None:
            params = {"session": self.session.id, "more": more}
            try:
                page = yield from answered(self._core.start("session.more", params, owner=self.session))
            except PolicyError as error:
                if error.code == "unknown_id" and error.path == "more":
                    return None
                raise
            decisions += page["decisions"]
            more = page.get("more")
        return decisions

    def _assert_remembered(self, sending: _Sending, refusal: PolicyError) -> None:
        """A number that does not fit on a new connection shows that the server has forgotten applied events."""
        misfit = refusal.code == "out_of_order" and refusal.path == "firstSeq"
        if misfit and sending.numbered_here and self._core.connections > self._confirmed_on:
            error = SessionLost(f"the server has forgotten events of session {self.session.id}: {refusal}")
            self.session.lost(error)
            raise error


def opened(core: Core, policy: str | None, options: dict[str, Any]) -> Steps[Producer]:
    """Opens a session, and returns its producer."""
    producer = options.pop("producer", None)
    params, named = open_params(policy, options)
    session = Attachment(core, params, named)
    yield from session.open()
    sender = Producer(session, producer or f"py-{uuid.uuid4().hex[:20]}")
    if producer is not None:
        yield from sender.learn()
    return sender
