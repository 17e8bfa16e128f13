"""The client for asyncio: what it does otherwise than the one for threads."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import math
import os
import random
import signal
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

import rollflex
from rollflex import AsyncClient, PolicyError, Reconnect, Untyped
from support import Day, FakeServer, MakeProxy, Served, eventually, is_alive, opening, pid_of, tail

quick = Reconnect(limit_seconds=20, first_delay_seconds=0.001, longest_delay_seconds=0.01, most_sendings=50)


StartAsync = Callable[..., Any]


def spawned(**options: Any) -> Any:
    return AsyncClient.spawn(**options)


@pytest.fixture(params=["spawned", "embedded"])
def started(request: pytest.FixtureRequest) -> StartAsync:
    return {"spawned": spawned, "embedded": AsyncClient.embedded}[request.param]


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


def test_the_names_are_those_of_the_client_for_threads() -> None:
    for one, other in [
        (rollflex.Client, rollflex.AsyncClient),
        (rollflex.Session, rollflex.AsyncSession),
        (rollflex.Subscription, rollflex.AsyncSubscription),
    ]:
        names = [name for name in dir(one) if not name.startswith("_")]
        assert names == [name for name in dir(other) if not name.startswith("_")]
        for name in names:
            mine, theirs = getattr(one, name), getattr(other, name)
            if callable(mine):
                assert list(inspect.signature(mine).parameters) == list(inspect.signature(theirs).parameters), name


def test_a_session_from_its_beginning_to_its_end(started: StartAsync) -> None:
    async def work() -> None:
        async with started() as client:
            async with await client.open("tail-batching", config=tail) as session:
                decisions = await session.send(opening())
                assert len(decisions) == 11
                assert (session.seq, session.next_seq, session.policy, session.version) == (2, 2, "tail-batching", 2)
                assert (await session.why("r1-p0"))["owed"][0]["who"] == "engine"
                with pytest.raises(PolicyError) as refusal:
                    await session.send([{"type": "engine.added", "at": 0, "engineId": "e"}, {"type": "no.such"}])
                assert (refusal.value.index, refusal.value.seq) == (1, 3)
                again = await client.open(snapshot=await session.snapshot())
                assert again.seq == 3
                assert len(await client.sessions()) == 2
            assert [one["session"] for one in await client.sessions()] == [again.id]
            plan = await client.plan("gradient-renormalization", {"replicas": [{"samples": 3}, {"samples": 5}]})
            assert plan["total"] == 8
            assert (await client.server_info())["name"] == "rollflex"
            assert (await client.discover())["info"]["title"] == "rollflex"

    run(work())


def test_many_calls_in_flight_get_their_own_answers(started: StartAsync) -> None:
    async def work() -> None:
        async with started() as client:

            async def one(seed: int) -> list[Any]:
                session = await client.open("tail-batching", config=tail)
                day, decisions = Day(seed % 5), []
                for _ in range(12):
                    came = await session.send(day.events(4))
                    day.see(came)
                    decisions += came
                return decisions

            found = await asyncio.gather(*(one(seed) for seed in range(40)))
            for seed, decisions in enumerate(found):
                assert decisions == found[seed % 5]

    run(work())


def test_tasks_that_share_a_session_send_one_after_the_other(started: StartAsync) -> None:
    async def work() -> None:
        async with started() as client:
            session = await client.open("tail-batching", config={"promptsPerRound": 40, "responsesPerPrompt": 4})
            decisions = await session.send(opening(prompts=50))
            requests = [one["requestId"] for one in decisions if one["type"] == "request.launch"]
            events = [{"type": "response.completed", "at": 1, "requestId": one, "tokens": 5} for one in requests]
            await asyncio.gather(*(session.send(event) for event in events))
            assert session.seq == session.next_seq == 2 + len(requests)

    run(work())


@pytest.mark.parametrize("seed", range(3))
def test_cancelled_calls_lose_nothing(seed: int) -> None:
    """Calls are cancelled at random moments; the retry gives what they would have given."""
    chance = random.Random(seed)

    async def work() -> None:
        async with spawned() as client:
            session = await client.open("tail-batching", config=tail)
            twin = await client.open("tail-batching", config=tail)
            day = Day(seed)
            cancelled = 0
            for _ in range(150):
                events = day.events(4)
                sending = asyncio.ensure_future(session.send(events))
                await asyncio.sleep(chance.random() * 0.0006)
                sending.cancel()
                try:
                    decisions = await sending
                except asyncio.CancelledError:
                    cancelled += 1
                    if session.unanswered:
                        decisions = await session.retry()
                    else:
                        # It had not begun.
                        decisions = await session.send(events)
                assert decisions == await twin.send(events)
                day.see(decisions)
            assert cancelled > 5
            assert session.seq == twin.seq

    run(work())


def test_timeouts(tmp_path: Path) -> None:
    server = FakeServer(
        tmp_path,
        """
greet()
call = read()
answer(call, {"session": call["params"]["session"], "policy": "x", "version": 1, "seq": 0})
first = read()
time.sleep(0.5)
answer(first, {"seq": 1, "decisions": [1], "nextSeq": 1})
answer(read(), {"seq": 1, "decisions": [1], "nextSeq": 1})
answer(read(), {"seq": 2, "decisions": [], "nextSeq": 2})
sys.stdin.read()
""",
    )

    async def work() -> None:
        async with AsyncClient.spawn(server.command, timeout=20) as client:
            session = await client.open(Untyped("x"))
            with pytest.raises(rollflex.CallTimeout):
                await session.send({"type": "y"}, timeout=0.1)
            with pytest.raises(rollflex.UnansweredCall):
                await session.send({"type": "z"})
            assert await session.retry() == [1]
            assert await session.send([{"type": "z"}], timeout=math.inf) == []

    run(work())


def test_a_connection_that_breaks_at_random_bytes(short: Path, proxy: MakeProxy) -> None:
    chance = random.Random(1)
    cuts = proxy(lambda: (chance.randint(1500, 8000), chance.randint(1000, 15000)), greeted=True)

    async def work() -> None:
        async with (
            AsyncClient.connect(short / "p", reconnect=quick, timeout=60) as client,
            AsyncClient.connect(short / "s") as steady,
        ):

            async def one(seed: int) -> None:
                session = await client.open("tail-batching", config=tail)
                twin = await steady.open("tail-batching", config=tail)
                day = Day(seed)
                for _ in range(30):
                    events = day.events(5)
                    decisions = await session.send(events)
                    assert decisions == await twin.send(events)
                    day.see(decisions)

            await asyncio.gather(*(one(seed) for seed in range(5)))

    run(work())
    assert cuts.connections > 5


def test_streams(short: Path, proxy: MakeProxy) -> None:
    chance = random.Random(6)
    cuts = proxy(lambda: (math.inf, chance.randint(1500, 8000)), greeted=True)

    async def work() -> None:
        async with (
            AsyncClient.connect(short / "s") as sender,
            AsyncClient.connect(short / "p", reconnect=quick) as reader,
        ):
            session = await sender.open("tail-batching", config=tail, deliver="stream", session="x")
            twin = await sender.open("tail-batching", config=tail)
            day = Day(6)
            got: list[Any] = []
            expected: list[Any] = []
            reading = await reader.open("tail-batching", session="x", on_existing="attach")
            async with await reading.subscribe() as subscription:
                for _ in range(50):
                    events = day.events(5)
                    assert await session.send(events) == []
                    expected += await twin.send(events)
                    seen = len(got)
                    while len(got) < len(expected):
                        got.append(await subscription.get(timeout=20))
                        if chance.random() < 0.5:
                            subscription.ack(got[-1][0])
                    day.see([decision for _, decision in got[seen:]])
                with pytest.raises(rollflex.CallTimeout):
                    await subscription.get(timeout=0.05)
                assert got == list(enumerate(expected, 1))
                await session.close()
                try:
                    assert [item async for item in subscription] == []
                    assert subscription.closed_because == "closed"
                except rollflex.PolicyError as error:
                    # The connection was cut in that moment, and the session is gone when it is there again.
                    assert error.code == "unknown_id"

    run(work())
    assert cuts.connections > 3


def test_a_decision_that_comes_while_the_one_before_it_is_taken_is_not_missed(started: StartAsync) -> None:
    """A thread puts it in, and may be held up at any point: here just before it does."""

    class Held(deque[Any]):
        entered, go = threading.Event(), threading.Event()

        def append(self, item: Any) -> None:
            if item == (2, {}):
                self.entered.set()
                assert self.go.wait(10)
            super().append(item)

    async def work() -> None:
        async with started() as client:
            session = await client.open("tail-batching", config=tail, deliver="stream")
            subscription = await session.subscribe()
            subscription._items = Held([(1, {})])
            thread = threading.Thread(target=subscription._put, args=((2, {}),))
            thread.start()
            assert await asyncio.to_thread(Held.entered.wait, 10)
            assert (await subscription.get())[0] == 1
            waiting = asyncio.ensure_future(subscription.get(timeout=2))
            await asyncio.sleep(0.01)
            Held.go.set()
            assert (await waiting)[0] == 2
            thread.join()

    run(work())


def test_a_waiting_reader_that_is_cancelled_misses_nothing(started: StartAsync) -> None:
    async def work() -> None:
        async with started() as client:
            session = await client.open("tail-batching", config=tail, deliver="stream")
            subscription = await session.subscribe()
            for _ in range(3):
                waiting = asyncio.ensure_future(subscription.get())
                await asyncio.sleep(0.01)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            await session.send(opening())
            assert [(await subscription.get(timeout=10))[0] for _ in range(11)] == list(range(1, 12))

    run(work())


def test_what_goes_wrong_at_the_start(short: Path, tmp_path: Path) -> None:
    async def work() -> None:
        with pytest.raises(rollflex.ServerUnavailable, match="cannot connect"):
            await AsyncClient.connect(short / "nowhere")
        with pytest.raises(rollflex.ServerUnavailable, match="exit code 7"):
            async with AsyncClient.spawn(["sh", "-c", "exit 7"]):
                raise AssertionError("it was not started")
        with pytest.raises(ValueError, match="either the path"):
            await AsyncClient.connect()

    # Those of clients that tests share stay.
    before = set(threading.enumerate())
    run(work())
    eventually(lambda: not any(one.name == "rollflex" for one in set(threading.enumerate()) - before))


def test_a_server_that_is_killed() -> None:
    async def work() -> None:
        async with spawned() as client:
            session = await client.open("tail-batching", config=tail)
            calls = [asyncio.ensure_future(client.sessions()) for _ in range(3)]
            os.kill(pid_of(client), signal.SIGKILL)
            for one in calls:
                with contextlib.suppress(rollflex.ConnectionLost):
                    await one
            with pytest.raises(rollflex.ConnectionLost):
                await session.send(opening())
        # Whether the first send was on its way when the server died decides which.
        with pytest.raises((rollflex.ConnectionLost, rollflex.UnansweredCall)):
            await session.send(opening())

    run(work())


def test_a_loop_that_is_gone_leaves_no_server_behind() -> None:
    pids: list[int] = []

    async def work() -> None:
        client = await spawned()
        pids.append(pid_of(client))
        calling = asyncio.ensure_future(client.sessions())
        await asyncio.sleep(0)
        assert not calling.done()

    asyncio.run(work())
    gc.collect()
    eventually(lambda: not is_alive(pids[0]))


def test_it_connects_while_the_loop_goes_on(short: Path) -> None:
    async def work() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.ensure_future(tick())
        connecting = AsyncClient.connect(short / "s", wait=20)
        starting = asyncio.ensure_future(asyncio.to_thread(Served, "--socket", str(short / "s")))
        async with connecting as client:
            assert await client.sessions() == []
        ticking.cancel()
        assert ticks > 5
        (await starting).stop()

    run(work())
