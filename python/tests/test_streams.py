"""Subscriptions."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import rollflex
from rollflex import Client, PolicyError
from support import Served, Start, opening, tail, tail_batching


def streamed(client: Client, **options: Any) -> rollflex.Session[Any, Any]:
    return client.open("tail-batching", config=tail, deliver="stream", **options)


def test_decisions_come_with_their_numbers(client: Client) -> None:
    expected = client.open("tail-batching", config=tail).send(opening())
    session = streamed(client)
    with session.subscribe() as subscription:
        assert session.send(opening()) == []
        got = [subscription.get(timeout=120) for _ in expected]
        assert got == list(enumerate(expected, 1))
        with pytest.raises(rollflex.CallTimeout):
            subscription.get(timeout=0.05)
        subscription.ack(4)
        subscription.ack(2)
        with pytest.raises(PolicyError) as refusal:
            subscription.ack(len(expected) + 1)
        assert refusal.value.code == "out_of_order"
    # What was not acknowledged comes again to the next.
    with session.subscribe() as again:
        assert [number for number, _ in (again.get(timeout=120) for _ in expected[4:])] == list(
            range(5, len(expected) + 1)
        )


def test_only_some_types_and_only_after_a_number(client: Client) -> None:
    session = streamed(client)
    session.send(opening())
    with session.subscribe(after=3, types=["request.launch"]) as subscription:
        assert [subscription.get(timeout=120)[0] for _ in range(8)] == list(range(4, 12))
        with pytest.raises(rollflex.CallTimeout):
            subscription.get(timeout=0.05)


def test_iteration_ends_with_the_session(client: Client) -> None:
    session = streamed(client)
    subscription = session.subscribe()
    got: list[int] = []
    reading = threading.Thread(target=lambda: got.extend(number for number, _ in subscription))
    reading.start()
    session.send(opening())
    session.close()
    reading.join(120)
    assert not reading.is_alive()
    assert got == list(range(1, 12))
    assert subscription.closed_because == "closed"
    with pytest.raises(EOFError):
        subscription.get()


def test_iteration_ends_with_the_client(start: Start) -> None:
    with start() as client:
        subscription = streamed(client).subscribe()
        ended = threading.Event()

        def read() -> None:
            for _ in subscription:
                pass
            ended.set()

        reading = threading.Thread(target=read)
        reading.start()
    assert ended.wait(120)
    reading.join()


def test_a_session_that_was_replaced(short: Path, served: Served) -> None:
    with Client.connect(short / "s") as client, Client.connect(short / "s") as other:
        subscription = streamed(client, session="x").subscribe()
        streamed(other, session="x", on_existing="replace")
        assert list(subscription) == []
        assert subscription.closed_because == "replaced"


def test_what_cannot_be_subscribed(client: Client) -> None:
    with pytest.raises(PolicyError) as refusal:
        client.open("tail-batching", config=tail).subscribe()
    assert refusal.value.code == "invalid_input"
    session = streamed(client)
    subscription = session.subscribe()
    with pytest.raises(PolicyError) as refusal:
        session.subscribe()
    assert refusal.value.code == "duplicate_id"
    subscription.close()
    with pytest.raises(PolicyError) as refusal:
        session.subscribe(after=5)
    assert refusal.value.code == "out_of_order"
    session.subscribe().close()


def test_a_full_backlog_refuses_and_goes_on_when_it_was_read(start: Start) -> None:
    with start(limits={"maxBacklog": 5}) as client:
        session = streamed(client)
        session.send(opening())
        with pytest.raises(PolicyError) as refusal:
            session.send([{"type": "engine.added", "at": 1, "engineId": "e"}])
        assert (refusal.value.code, refusal.value.path, session.next_seq) == ("limit_exceeded", "backlog", 2)
        with session.subscribe() as subscription:
            for _ in range(11):
                number, _ = subscription.get(timeout=120)
                subscription.ack(number)
            assert session.send([{"type": "engine.added", "at": 1, "engineId": "e"}]) == []
            assert session.next_seq == 3


def test_timers_of_the_server(client: Client) -> None:
    config = {**tail, "responseTimeoutSeconds": 0.2}
    session = client.open(tail_batching, config=config, deliver="stream", timers="server")
    with session.subscribe(types=["request.abort"]) as subscription:
        first, second = opening()
        session.send([{**first, "at": 0}, {key: value for key, value in second.items() if key != "at"}])
        for request in ("r1-p0/0#0",):
            session.send({"type": "request.started", "requestId": request, "engineId": "e"})
        _, decision = subscription.get(timeout=120)
        assert decision["requestId"] == "r1-p0/0#0"
    assert isinstance(session.armed(), list)
