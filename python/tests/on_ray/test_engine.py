"""The server process behind the actor: killed at any moment, its sessions are what they were."""

from __future__ import annotations

import asyncio
import copy
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'rollflex[ray]'")

from rollflex import PolicyError, SessionLost
from rollflex._pending import Pending
from rollflex.ray._engine import Engine
from rollflex.ray._log import Log, Record
from rollflex.ray._pair import ActorOptions
from rollflex.ray._process import Process, ServerOptions
from rollflex.ray._stream import Stream
from rollflex.ray.actor import RollflexActor
from support import Day, command, core_of, opening, spawn, tail

options = ServerOptions(command())


class Bench:
    """The actor's own code without Ray: its engine, and a mirror in the same process."""

    def __init__(self, log: Log | None = None, checkpoint_bytes: int = 1 << 20) -> None:
        self.mirrored = Log("")
        self.delay = 0.0
        self.failed = False
        self.processes: list[Process] = []
        self.engine = Engine(self.spawn, log or Log(""), self.commit, self.fail, checkpoint_bytes)
        self.actor = RollflexActor.__new__(RollflexActor)
        self.actor._options = ActorOptions("bench", "")
        self.actor._opening = {}
        self.actor._starting = asyncio.create_task(self.start())

    async def start(self) -> Engine:
        await self.engine.start()
        self.mirrored = copy.deepcopy(self.engine.log)
        return self.engine

    async def spawn(self) -> Process:
        self.processes.append(await Process.spawn(options))
        return self.processes[-1]

    async def commit(self, first: int, records: Sequence[Record]) -> None:
        if self.delay:
            await asyncio.sleep(self.delay)
        assert first == self.mirrored.number
        # As it crosses Ray: nothing is shared.
        self.mirrored.extend(records)

    def fail(self) -> None:
        self.failed = True

    def pid(self) -> int:
        pump = core_of(self.processes[-1])._pump
        return 0 if pump is None else int(pump.link.pid)  # type: ignore[attr-defined]

    def kill(self) -> None:
        if self.pid():
            os.kill(self.pid(), signal.SIGKILL)

    async def open(self, session: str = "x", token: str = "t", **more: Any) -> dict[str, Any]:
        params = {"policy": "tail-batching", "config": tail, "session": session, **more}
        return await self.actor.open(params, token, True)


def run(body: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(body(), 60)

    asyncio.run(bounded())


def reference(batches: list[list[dict[str, Any]]]) -> tuple[list[Any], Any]:
    with spawn() as client:
        session: Any = client.open("tail-batching", config=tail)
        return [one for batch in batches for one in session.send(batch)], session.snapshot()


@pytest.mark.parametrize("checkpoint_bytes", [2000, 1 << 20])
@pytest.mark.parametrize("seed", range(2))
def test_kill_9_at_random_moments(seed: int, checkpoint_bytes: int) -> None:
    async def body() -> None:
        chance = random.Random(seed)
        bench = Bench(checkpoint_bytes=checkpoint_bytes)
        await bench.open()
        day, batches, decisions, first = Day(seed), [], [], 0
        for step in range(80):
            batches.append(day.events(6))
            if chance.random() < 0.1:
                bench.kill()
            came = await bench.actor.send("x", batches[-1], "p", first)
            first = came["nextSeq"]
            day.see(came["decisions"])
            decisions += came["decisions"]
            if step % 9 == 0:
                # A retry, by somebody who has not heard of the answer.
                again = await bench.actor.send("x", batches[-1], "p", first - len(batches[-1]))
                assert again == came
        snapshot = (await bench.actor.snapshot("x"))["snapshot"]
        assert bench.engine.restarts > 2
        assert (decisions, snapshot) == reference(batches)
        held = bench.mirrored.sessions["x"]
        assert (held.checkpoint is not None) == (checkpoint_bytes == 2000)
        if held.checkpoint is not None:
            # What is held stays within a bound.
            assert held.bytes_since <= max(checkpoint_bytes, 2 * len(held.checkpoint)) + 4000
        # Another server, from the mirror: the same state, the same answer to the last retry.
        other = Bench(bench.mirrored)
        assert (await other.actor.snapshot("x"))["snapshot"] == snapshot
        assert await other.actor.send("x", batches[-1], "p", first - len(batches[-1])) == came
        await bench.engine.close()
        await other.engine.close()

    run(body)


def test_many_at_once_while_it_is_killed_again_and_again() -> None:
    async def body() -> None:
        bench = Bench(checkpoint_bytes=3000)
        bench.delay = 0.002
        await bench.open(config={"promptsPerRound": 40, "responsesPerPrompt": 4}, deliver="stream")
        await bench.actor.send("x", opening(prompts=50), "host", 0)
        chance = random.Random(1)

        async def worker(name: str, requests: list[str]) -> None:
            for index, request in enumerate(requests):
                event = {"type": "response.completed", "requestId": request, "tokens": 5}
                result = await bench.actor.send("x", [event], name, index)
                assert result["nextSeq"] == index + 1
                if result["seq"] % 40 == 0:
                    bench.kill()
                await asyncio.sleep(chance.random() / 100)

        numbers: list[int] = []
        accepted = 0

        async def reader() -> None:
            nonlocal accepted
            after = None
            while accepted < 150:
                came = await bench.actor.decisions("x", after, after, 100, 20)
                assert came["decisions"], "decisions are missing"
                numbers.extend(number for number, _ in came["decisions"])
                accepted += sum(one["type"] == "response.accepted" for _, one in came["decisions"])
                after = numbers[-1]

        # Three of the five requests of each prompt: none of them is aborted before it completes.
        work = [[f"r1-p{p}/{i}#0" for p in range(w, 50, 8) for i in range(3)] for w in range(8)]
        await asyncio.gather(*(worker(f"w{i}", work[i]) for i in range(8)), reader())
        assert bench.engine.restarts >= 2
        assert accepted == 150
        assert numbers == list(range(1, len(numbers) + 1)), "each decision once, in order"
        assert (await bench.actor.snapshot("x"))["seq"] == 2 + 150
        await bench.engine.close()

    run(body)


def test_decisions_are_given_only_when_the_mirror_has_what_led_to_them() -> None:
    async def body() -> None:
        bench = Bench()
        await bench.open(deliver="stream")
        bench.delay = 0.5
        sending = asyncio.create_task(bench.actor.send("x", opening(), "p", 0))
        await asyncio.sleep(0.3)
        assert bench.engine.streams["x"].last == 11
        assert (await bench.actor.decisions("x", None, None, 100, 0))["decisions"] == []
        await sending
        assert len((await bench.actor.decisions("x", None, None, 100, 0))["decisions"]) == 11
        await bench.engine.close()

    run(body)


def test_decisions_may_come_before_it_is_heard_that_they_are_subscribed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    then = Pending.then

    def late(pending: Pending, callback: Callable[[], None]) -> None:
        if pending.method == "session.subscribe":
            # The thread that reads is ahead of the one that asks.
            time.sleep(0.3)
        then(pending, callback)

    async def body() -> None:
        bench = Bench()
        await bench.open(deliver="stream")
        await bench.actor.send("x", opening(), "p", 0)
        await bench.actor.decisions("x", None, None, 100, 5)
        await bench.actor.decisions("x", 4, 4, 100, 5)
        monkeypatch.setattr(Pending, "then", late)
        bench.kill()
        await bench.actor.snapshot("x")
        assert bench.engine.restarts == 1
        other = Bench(bench.mirrored)
        for one in (bench, other):
            came = await one.actor.decisions("x", None, None, 100, 5)
            assert [number for number, _ in came["decisions"]] == list(range(5, 12))
            await one.engine.close()

    run(body)


def test_what_a_server_that_is_gone_has_still_sent_is_passed_over() -> None:
    stream = Stream()
    old = stream.begin()
    stream.push(old, 1, "a")
    new = stream.begin()
    stream.push(old, 2, "b")
    stream.push(new, 1, "a")
    stream.begun(0)
    stream.push(new, 2, "c")
    stream.push(new, 2, "c")
    stream.release(2)
    assert asyncio.run(stream.read(0, 10, 0)) == [(1, "a"), (2, "c")]


def test_an_opening_that_is_asked_for_again_is_done_once() -> None:
    async def body() -> None:
        bench = Bench()
        params = {"policy": "tail-batching", "config": tail, "session": "x", "onExisting": "replace"}
        first, same = await asyncio.gather(*(bench.actor.open(params, "t1", True) for _ in range(2)))
        assert first == same
        await bench.actor.send("x", opening(), "p", 0)
        # Its answer was lost; meanwhile somebody has sent.
        assert await bench.actor.open(params, "t1", True) == first
        assert (await bench.actor.snapshot("x"))["seq"] == 2
        await bench.actor.open(params, "t2", True)
        assert (await bench.actor.snapshot("x"))["seq"] == 0
        with pytest.raises(PolicyError, match="timers"):
            await bench.actor.open({**params, "deliver": "stream", "timers": "server"}, "t3", True)
        with pytest.raises(PolicyError, match="shadow"):
            await bench.actor.open({**params, "shadow": True}, "t4", True)
        await bench.engine.close()

    run(body)


def test_steps_that_do_not_give_what_they_gave_lose_the_session_and_say_so() -> None:
    async def body() -> None:
        bench = Bench()
        await bench.open("x")
        await bench.open("y", token="u")
        await bench.actor.send("x", opening(), "p", 0)
        log = bench.mirrored
        (sent,) = log.sessions["x"].since
        log.sessions["x"].since[0] = Record("sent", "x", sent.text, sent.seq + 1)
        other = Bench(log)
        with pytest.raises(SessionLost, match="could not be made again.*3 events"):
            await other.actor.send("x", [], "p", None)
        assert (await other.actor.snapshot("y"))["seq"] == 0
        with pytest.raises(SessionLost):
            await other.open("x", onExisting="attach", token="v")
        await other.open("x", onExisting="replace", token="w")
        assert (await other.actor.snapshot("x"))["seq"] == 0
        # Steps of another version of the server are not done again.
        await other.actor.send("x", opening(), "p", 0)
        other.engine.log.version = "0.0.0"
        third = Bench(other.engine.log)
        with pytest.raises(SessionLost, match="version 0.0.0"):
            await third.actor.snapshot("x")
        for one in (bench, other, third):
            await one.engine.close()

    run(body)


def test_what_cannot_be_kept_is_not_answered() -> None:
    async def body() -> None:
        bench = Bench()
        await bench.open()

        async def broken(first: int, records: Sequence[Record]) -> None:
            raise RuntimeError("no")

        bench.engine._commit = broken
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(bench.actor.send("x", opening(), "p", 0), 1)
        assert bench.failed
        await bench.engine.close()

    run(body)


def test_a_server_that_does_not_answer_is_started_again() -> None:
    async def body() -> None:
        bench = Bench()
        await bench.open()
        os.kill(bench.pid(), signal.SIGSTOP)
        sending = asyncio.create_task(bench.actor.send("x", opening(), "p", 0))
        await asyncio.sleep(0.3)
        bench.engine.check(10)
        assert len(bench.processes) == 1
        bench.engine.check(0.2)
        assert (await sending)["seq"] == 2
        assert len(bench.processes) == 2
        await bench.engine.close()

    run(body)


def test_no_process_is_left_behind() -> None:
    async def body() -> None:
        bench = Bench()
        await bench.open()
        pids = [bench.pid()]
        bench.kill()
        await bench.actor.snapshot("x")
        pids.append(bench.pid())
        await bench.engine.close()
        listed = subprocess.run(["ps", "-o", "pid=", "-p", ",".join(map(str, pids))], capture_output=True, text=True)
        assert len(set(pids)) == 2 and listed.stdout.strip() == ""

    run(body)
