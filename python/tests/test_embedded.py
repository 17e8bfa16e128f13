"""The policies in this process: what is otherwise than with a server."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

import rollflex
from rollflex import AsyncClient, Client, ClientClosed, EngineLimit, EngineUnavailable, PolicyError, _carried
from rollflex._embedded import EmbeddedCore
from support import Day, environment, eventually, opening, spawn, tail, tail_batching

slow_plan: Any = {"lengths": [97 * (index % 331) + 50 for index in range(1500)], "devices": 64}


def seconds_of(work: Any) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def run_python(body: str, **options: Any) -> subprocess.CompletedProcess[str]:
    env = environment("tests", PATH="/nowhere")
    return subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, timeout=120, env=env, **options)


def test_a_client_without_arguments_needs_nothing_on_the_path() -> None:
    run = run_python(
        "import rollflex\n"
        "with rollflex.Client() as client:\n"
        f"    session = client.open('tail-batching', config={tail!r})\n"
        "    decisions = session.send({'type': 'round.requested', 'roundId': 'r', 'weightVersion': 1})\n"
        "    print([one['type'] for one in decisions])"
    )
    assert (run.stdout.strip(), run.stderr) == ("['round.planned', 'prompts.request']", "")


def test_limits_are_those_of_the_server() -> None:
    with Client.embedded(limits={"maxSessions": 1}) as client:
        client.open(tail_batching, config=tail)
        with pytest.raises(PolicyError) as refusal:
            client.open(tail_batching, config=tail)
        assert refusal.value.code == "limit_exceeded"
    with pytest.raises(PolicyError) as refusal:
        Client.embedded(limits={"maxSessions": -1})
    assert (refusal.value.code, refusal.value.path) == ("invalid_config", "limits.maxSessions")
    with pytest.raises(ValueError, match="time_limit"):
        Client.embedded(time_limit=0)


def test_a_time_that_looks_like_milliseconds_is_warned_of() -> None:
    with Client.embedded() as client:
        session = client.open("long-prompt-queue", config={"promptsPerRound": 1})
        session.send({"type": "source.reopened", "at": 1.8e9})
        with pytest.warns(UserWarning, match="looks like milliseconds"):
            session.send({"type": "source.reopened", "at": 1.8e12})


def test_sessions_are_those_of_their_client() -> None:
    with Client() as one, Client() as other:
        one.open(tail_batching, config=tail, session="mine")
        assert (len(one.sessions()), other.sessions()) == (1, [])


@pytest.mark.parametrize("seed", range(3))
def test_a_day_is_the_same_as_with_a_server(seed: int) -> None:
    with Client() as client, spawn() as server:
        day, twin_day = Day(seed), Day(seed)
        session = client.open(tail_batching, config=tail)
        twin = server.open(tail_batching, config=tail)
        for _ in range(150):
            decisions = session.send(day.events(8))
            assert decisions == twin.send(twin_day.events(8))
            day.see(decisions)
            twin_day.see(decisions)
        assert session.snapshot() == twin.snapshot()


def test_a_plan_is_the_same_as_with_a_server() -> None:
    with Client() as client, spawn() as server:
        assert client.plan("flex-ulysses", slow_plan) == server.plan("flex-ulysses", slow_plan)


def test_timers_fire_and_their_decisions_are_streamed() -> None:
    with Client() as client:
        session = client.open(tail_batching, config=tail, deliver="stream", timers="server")
        with session.subscribe() as subscription:
            core = client._core
            assert isinstance(core, EmbeddedCore)
            session.send(opening())
            assert [subscription.get(timeout=120)[0] for _ in range(11)] == list(range(1, 12))


def test_a_deadline_ends_a_search_with_the_best_plan_so_far() -> None:
    lengths = [20_000 + 97 * one if one % 10 == 0 else 100 + 3 * one for one in range(1000)]
    question: Any = {"lengths": lengths, "devices": 128, "effort": "thorough"}

    def plan_within(client: Client, seconds: float) -> Any:
        """On a machine that is busy the first plan alone can take that long: it gets more time."""
        try:
            return client.plan("flex-ulysses", question, deadline_seconds=seconds)
        except PolicyError as error:
            assert error.code == "limit_exceeded" and seconds < 60
            return plan_within(client, 4 * seconds)

    for make in (Client, spawn):
        with make() as client:
            plan = plan_within(client, 1)
            # On a slow machine other parts are cut as well.
            assert plan["cut"]["by"] == "deadline" and "communication" in plan["cut"]["parts"]
            assert len(plan["assignments"]) == 1000


@pytest.mark.parametrize("mebibytes", [20, 24, 28, 32, 40])
def test_without_memory_every_session_says_so(mebibytes: int) -> None:
    with Client.embedded(memory_limit=mebibytes << 20) as client:
        session = client.open(tail_batching, config={"promptsPerRound": 20_000, "responsesPerPrompt": 4})
        other = client.open(tail_batching, config=tail)
        session.send(opening(prompts=0)[0])
        prompts = [{"promptId": f"p{number}"} for number in range(30_000)]
        with pytest.raises(EngineLimit, match="memory_limit"):
            session.send({"type": "prompts.supplied", "roundId": "r1", "prompts": prompts})
        with pytest.raises(EngineLimit, match="make a new client"):
            other.send(opening())
        with pytest.raises(EngineLimit):
            client.sessions()


def test_no_memory_at_all() -> None:
    with pytest.raises(EngineLimit, match="memory_limit"):
        Client.embedded(memory_limit=1 << 20)


def test_ctrl_c_in_a_long_plan() -> None:
    with Client() as client:
        session = client.open(tail_batching, config=tail)
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        begun = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(100):
                client.plan("flex-ulysses", slow_plan)
        assert time.perf_counter() - begun < 60
        timer.join()
        assert len(session.send(opening())) == 11


def test_a_plan_that_takes_too_long_for_its_caller() -> None:
    with Client() as client:
        with pytest.raises(rollflex.CallTimeout):
            client.plan("flex-ulysses", slow_plan, timeout=0.001)
        assert client.plan("gradient-renormalization", {"replicas": [{"samples": 1}]})["total"] == 1


def test_a_client_can_be_closed_during_a_plan() -> None:
    client = Client()
    errors: list[Exception] = []

    def plan() -> None:
        try:
            for _ in range(100):
                client.plan("flex-ulysses", slow_plan)
        except Exception as error:
            errors.append(error)

    planning = threading.Thread(target=plan)
    planning.start()
    time.sleep(0.1)
    client.close()
    planning.join(120)
    assert [type(one) for one in errors] == [ClientClosed]
    with pytest.raises(ClientClosed):
        client.sessions()


def test_a_loop_goes_on_during_a_long_plan_and_has_its_turn_between_short_calls() -> None:
    async def work() -> None:
        async with AsyncClient() as client:
            ticks = 0

            async def tick() -> None:
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0.002)

            ticking = asyncio.ensure_future(tick())
            await client.plan("flex-ulysses", slow_plan)
            assert ticks > 5
            session = await client.open("tail-batching", config=tail)
            await session.send(opening())
            before = ticks
            while ticks <= before + 5:
                await session.send([])
            ticking.cancel()

    asyncio.run(asyncio.wait_for(work(), 120))


def test_threads_with_sessions_of_their_own() -> None:
    with Client() as client:
        days = [Day(seed) for seed in range(6)]
        seen: list[list[Any]] = [[] for _ in days]

        def work(number: int) -> None:
            session = client.open(tail_batching, config=tail)
            for _ in range(60):
                decisions = session.send(days[number].events(5))
                days[number].see(decisions)
                seen[number] += decisions

        threads = [threading.Thread(target=work, args=(number,)) for number in range(len(days))]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        for number, decisions in enumerate(seen):
            again, day = client.open(tail_batching, config=tail), Day(number)
            expected: list[Any] = []
            for _ in range(60):
                some = again.send(day.events(5))
                day.see(some)
                expected += some
            assert decisions == expected


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_makes_its_own() -> None:
    with Client() as client:
        session = client.open(tail_batching, config=tail)
        planning = threading.Thread(target=lambda: client.plan("flex-ulysses", slow_plan))
        planning.start()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                session.send(opening())
            except ClientClosed as error:
                with Client() as mine:
                    decisions = mine.open(tail_batching, config=tail).send(opening())
                status = 0 if "forked" in str(error) and len(decisions) == 11 else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        planning.join()
        assert len(session.send(opening())) == 11


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_forked_during_a_call_does_not_wait_for_it() -> None:
    with Client() as client:
        session = client.open("program-scheduling", config={})
        events: Any = [{"type": "program.opened", "at": 0, "requestId": f"p{index}"} for index in range(60_000)]
        sending = threading.Thread(target=lambda: session.send(events))
        sending.start()
        time.sleep(0.1)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                session.send({"type": "engine.added", "at": 0, "engineId": "e"})
            except ClientClosed as error:
                status = 0 if "forked" in str(error) else 2
            finally:
                os._exit(status)
        for _ in range(600):
            ended, waited = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            time.sleep(0.1)
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child waits for a thread that is not there")
        assert os.waitstatus_to_exitcode(waited) == 0
        sending.join()


@pytest.mark.parametrize(
    "ending",
    ["", "raise SystemExit(3)", "import os, signal; os.kill(os.getpid(), signal.SIGINT)"],
    ids=["end", "exit", "interrupt"],
)
def test_a_process_ends_cleanly_during_a_plan(ending: str) -> None:
    run = run_python(
        "import rollflex, threading, time\n"
        "from test_embedded import slow_plan\n"
        "client = rollflex.Client()\n"
        "def plan():\n"
        "    try:\n"
        "        while True: client.plan('flex-ulysses', slow_plan)\n"
        "    except rollflex.RollflexError: pass\n"
        "threading.Thread(target=plan, daemon=True).start()\n"
        "time.sleep(0.1)\n" + ending
    )
    assert run.returncode == {"": 0, "raise SystemExit(3)": 3}.get(ending, -signal.SIGINT), run.stderr
    assert "Error" not in run.stderr.replace("KeyboardInterrupt", "")


def test_a_client_that_nobody_holds_is_gone() -> None:
    client = Client()
    client.plan("gradient-renormalization", {"replicas": [{"samples": 1}]})
    core = weakref.ref(client._core)
    thread = client._core._thread  # type: ignore[attr-defined]
    del client
    gc.collect()
    thread.join(120)
    assert not thread.is_alive()
    del thread
    eventually(lambda: (gc.collect(), core() is None)[1])


def test_a_checkout_without_the_script_says_what_makes_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_carried, "_folder", tmp_path)
    with pytest.raises(EngineUnavailable, match="npm run build:python"):
        Client()


def test_without_the_engine_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "quickjs", None)
    with pytest.raises(EngineUnavailable, match="pip install quickjs-ng"):
        Client()
