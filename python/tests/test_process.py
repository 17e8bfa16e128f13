"""The policies in this process, beside what else a process does: threads, loops, signals, children, its end."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rollflex
from process_work import round_in_process
from rollflex import AsyncClient, Client, EngineLimit, PolicyError
from rollflex._embedded import EmbeddedCore
from rollflex._messages import is_deeper_than
from rollflex._planning import Planning
from support import Start, environment, eventually, opening, tail, tail_batching

_lengths = random.Random(1)
# More than ten seconds of computing; tests end it by a limit.
endless: Any = {"lengths": [_lengths.randrange(50, 32_000) for _ in range(16)], "devices": 8}
small: Any = {"replicas": [{"samples": 1}, {"samples": 3}]}
rewards: Any = {"defaultKind": "sandbox", "budgetSeconds": {"sandbox": 0.05}, "answerGraceSeconds": 0.05}
to_reward: Any = [
    {"type": "reward-worker.added", "workerId": "w", "kind": "sandbox", "slots": 1},
    {"type": "reward.requested", "requestId": "r"},
]


def planning_of(client: Any) -> Planning:
    core = client._core
    assert isinstance(core, EmbeddedCore)
    return core._planning


def quietly(work: Callable[..., Any], *args: Any) -> None:
    """For threads whose client is closed, or comes to its limit, meanwhile."""
    with contextlib.suppress(rollflex.RollflexError):
        work(*args)


@contextlib.contextmanager
def interrupted_during_plan(client: Client) -> Iterator[None]:
    """Ctrl-C as soon as an engine is at a plan."""

    def press() -> None:
        eventually(lambda: planning_of(client).computing == 1)
        os.kill(os.getpid(), signal.SIGINT)

    pressing = threading.Thread(target=press)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        yield
    pressing.join()


def test_ctrl_c_leaves_a_plan_and_the_next_calls_go_at_once() -> None:
    with Client.embedded(time_limit=3) as client:
        session = client.open(tail_batching, config=tail)
        with interrupted_during_plan(client):
            client.plan("flex-ulysses", endless)
        assert len(session.send(opening())) == 11
        assert client.plan("gradient-renormalization", small)["total"] == 4
        # What was left is still being computed: nobody has waited for it.
        assert planning_of(client).computing == 1
        eventually(lambda: planning_of(client).computing == 0)


def test_others_go_on_during_a_plan_of_a_loop_and_after_its_cancellation() -> None:
    async def work() -> None:
        async with AsyncClient.embedded(time_limit=3) as client:
            session = await client.open(tail_batching, config=tail)
            plan = asyncio.ensure_future(client.plan("flex-ulysses", endless))
            while planning_of(client).computing == 0:
                await asyncio.sleep(0.01)
            assert len(await session.send(opening())) == 11
            plan.cancel()
            with pytest.raises(asyncio.CancelledError):
                await plan
            assert (await client.plan("gradient-renormalization", small))["total"] == 4
            assert planning_of(client).computing == 1

    asyncio.run(asyncio.wait_for(work(), 60))


def test_a_time_limit_and_a_memory_limit_end_a_plan_and_nothing_else() -> None:
    with Client.embedded(time_limit=0.5) as client:
        session = client.open(tail_batching, config=tail)
        with pytest.raises(EngineLimit, match="time_limit"):
            client.plan("flex-ulysses", endless)
        assert client.plan("gradient-renormalization", small)["total"] == 4
        assert len(session.send(opening())) == 11
    with Client.embedded(memory_limit=24 << 20) as client:
        session = client.open(tail_batching, config=tail)
        with pytest.raises(EngineLimit, match="memory_limit"):
            client.plan("flex-ulysses", {"lengths": [7] * 500_000, "devices": 8})
        assert client.plan("gradient-renormalization", small)["total"] == 4
        assert len(session.send(opening())) == 11


def test_plans_of_many_threads_are_those_of_one() -> None:
    inputs: Any = [
        {"lengths": [97 * (index % 331) + 50 + seed for index in range(600)], "devices": 64} for seed in range(9)
    ]
    plans: list[Any] = [None] * len(inputs)
    with Client() as client:

        def work(number: int) -> None:
            plans[number] = client.plan("flex-ulysses", inputs[number])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(len(inputs))]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert plans == [client.plan("flex-ulysses", one) for one in inputs]
        eventually(lambda: planning_of(client)._threads == 1)


def test_plans_that_were_given_up_do_not_pile_up() -> None:
    with Client.embedded(time_limit=3) as client:
        for _ in range(8):
            with pytest.raises(rollflex.CallTimeout):
                client.plan("flex-ulysses", endless, timeout=0.05)
        assert planning_of(client)._threads == 4
        eventually(lambda: planning_of(client)._threads == 0)


def test_decisions_of_timers_come_by_themselves() -> None:
    with Client() as client:
        session = client.open("reward-dispatch", config=rewards, deliver="stream", timers="server")
        with session.subscribe() as subscription:
            session.send(to_reward)
            types = [subscription.get(timeout=120)[1]["type"] for _ in range(3)]
            assert types == ["reward.dispatch", "timer.set", "reward.cancel"]
        responses = client.open(
            tail_batching, config={**tail, "responseTimeoutSeconds": 0.1}, deliver="stream", timers="server"
        )
        with responses.subscribe(types=["request.abort"]) as subscription:
            responses.send([{key: value for key, value in one.items() if key != "at"} for one in opening()])
            assert subscription.get(timeout=120)[1]["reason"]["code"] == "response_timeout"


def test_decisions_of_timers_come_to_a_loop_by_themselves_also_during_a_plan() -> None:
    async def work() -> None:
        async with AsyncClient.embedded(time_limit=3) as client:
            session = await client.open("reward-dispatch", config=rewards, deliver="stream", timers="server")
            async with await session.subscribe(types=["reward.cancel"]) as subscription:
                plan = asyncio.ensure_future(client.plan("flex-ulysses", endless))
                await session.send(to_reward)
                assert (await subscription.get(timeout=120))[1]["reason"]["code"] == "no_answer"
                plan.cancel()

    asyncio.run(asyncio.wait_for(work(), 60))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_of_multiprocessing_make_their_own(method: str) -> None:
    with Client() as client:
        expected = [client.open(tail_batching, config=tail).send(opening(f"r{seed}")) for seed in range(2)]
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(round_in_process, range(2)) == expected


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_forked_during_a_plan_plans_by_itself() -> None:
    with Client.embedded(time_limit=3) as client:
        plan = threading.Thread(target=quietly, args=(client.plan, "flex-ulysses", endless))
        plan.start()
        eventually(lambda: planning_of(client).computing == 1)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with pytest.raises(rollflex.ClientClosed, match="forked"):
                    client.plan("gradient-renormalization", small)
                status = 0 if len(round_in_process(1)) == 11 else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        plan.join()


def test_what_belongs_to_a_process_is_not_sent_to_another(start: Start) -> None:
    with start() as client:
        for one in (client, client.open(tail_batching, config=tail)):
            with pytest.raises(TypeError, match="belong to their process"):
                pickle.dumps(one)


_ends = {
    "idle": "client = rollflex.Client()\nclient.open('tail-batching', config=tail).send(opening())\n",
    "timers": "client = rollflex.Client()\n"
    "session = client.open('reward-dispatch', config=rewards, deliver='stream', timers='server')\n"
    "subscription = session.subscribe()\n"
    "session.send(to_reward)\n"
    "threading.Thread(target=lambda: list(subscription), daemon=True).start()\n",
    "several plans": "client = rollflex.Client()\n"
    "planning = lambda: quietly(client.plan, 'flex-ulysses', endless)\n"
    "for _ in range(3): threading.Thread(target=planning, daemon=True).start()\n"
    "while client._core._planning.computing < 3: time.sleep(0.01)\n",
    "large call": "client = rollflex.Client()\n"
    "session = client.open('tail-batching', config={'promptsPerRound': 20000, 'responsesPerPrompt': 4})\n"
    "session.send(opening(prompts=0)[0])\n"
    "many = {'type': 'prompts.supplied', 'roundId': 'r1', 'prompts': [{'promptId': str(n)} for n in range(30000)]}\n"
    "threading.Thread(target=quietly, args=(session.send, many), daemon=True).start()\n"
    "time.sleep(0.2)\n",
    "loop": "import asyncio\n"
    "async def work():\n"
    "    global client\n"
    "    client = await rollflex.AsyncClient.embedded()\n"
    "    asyncio.ensure_future(client.plan('flex-ulysses', endless))\n"
    "    while client._core._planning.computing == 0: await asyncio.sleep(0.01)\n"
    "asyncio.run(work())\n",
}


@pytest.mark.parametrize("body", _ends.values(), ids=_ends)
def test_a_process_ends_at_once_with_a_client_open(body: str) -> None:
    head = (
        "import rollflex, threading, time\nfrom support import opening, tail\n"
        "from test_process import endless, quietly, rewards, to_reward\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", head + body],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment("tests"),
    )
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("most", [64, 12])
def test_a_message_is_as_deep_as_the_server_allows(start: Start, most: int) -> None:
    with start(limits={"maxDepth": most}, timeout=120) as client:
        session = client.open(tail_batching, config=tail)
        session.send(opening()[0])
        deep: list[Any] = []
        for _ in range(most - 5):
            deep = [deep]
        odd = {"type": "round.requested", "roundId": 'r"[', "weightVersion": 1}
        # The message, its parameters, their events, the event: four levels, and the list itself.
        with pytest.raises(PolicyError) as known:
            session.send({**odd, "other": deep})
        with pytest.raises(PolicyError) as refusal:
            session.send({**odd, "other": [deep]})
        assert (known.value.code, refusal.value.code) == ("invalid_event", "limit_exceeded")
        assert (refusal.value.got, refusal.value.index) == ('"more"', 0)
        assert f"expected at most {most} levels, got" in str(refusal.value)
        assert len(session.send(opening()[1])) == 9


def test_depth_is_counted_past_any_string(chance: random.Random) -> None:

    def value(levels: int) -> tuple[Any, int]:
        kind = chance.randrange(4) if levels else 3
        if kind == 3:
            return chance.choice(['[{"\\', "]]", "\\", '"', "é[", 'a"]}', 7, None]), 0
        inner = [value(levels - 1) for _ in range(chance.randrange(4))]
        depth = 1 + max((one[1] for one in inner), default=0)
        if kind == 0:
            return {f'{index}["': one[0] for index, one in enumerate(inner)}, depth
        return [one[0] for one in inner], depth

    for _ in range(300):
        inner, inside = value(9)
        message, depth = [inner], inside + 1
        text = rollflex._messages.encode(message)
        assert not is_deeper_than(text, depth)
        assert depth == 1 or is_deeper_than(text, depth - 1)
