"""Connections that break at any byte: nothing is lost, nothing is done twice."""

from __future__ import annotations

import math
import os
import random
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rollflex
from rollflex import Client, Reconnect, Untyped
from support import (
    Day,
    FakeServer,
    MakeProxy,
    Proxy,
    Served,
    core_of,
    eventually,
    opening,
    pid_of,
    spawn,
    tail,
    tail_batching,
)

quick = Reconnect(limit_seconds=20, first_delay_seconds=0.001, longest_delay_seconds=0.01, most_sendings=50)
hurried = Reconnect(limit_seconds=0.3, first_delay_seconds=0.01, longest_delay_seconds=0.05)
never = (math.inf, math.inf)


def reference(batches: list[list[dict[str, Any]]]) -> tuple[list[Any], Any]:
    """The decisions, and the snapshot, of a session whose connection never breaks."""
    with spawn() as client:
        session = client.open(tail_batching, config=tail)
        return [one for batch in batches for one in session.send(batch)], session.snapshot()


@pytest.mark.parametrize("seed", range(4))
def test_a_connection_that_breaks_at_random_bytes_in_both_directions(short: Path, proxy: MakeProxy, seed: int) -> None:
    chance = random.Random(seed)
    # At most a little more than the greeting, the session and a snapshot take together, so that it gets ahead.
    cuts = proxy(lambda: (chance.randint(300, 4000), chance.randint(500, 17000)), greeted=True)
    day = Day(seed)
    batches: list[list[dict[str, Any]]] = []
    decisions: list[Any] = []
    with Client.connect(short / "p", reconnect=quick, timeout=120) as client:
        session = client.open(tail_batching, config=tail)
        for _ in range(120):
            batches.append(day.events(6))
            came = session.send(batches[-1])
            day.see(came)
            decisions += came
        snapshot = session.snapshot()
        assert session.next_seq == session.seq == sum(len(batch) for batch in batches)
    assert cuts.connections > 10
    assert (decisions, snapshot) == reference(batches)


def once(down: float) -> Callable[[], tuple[float, float]]:
    """The next connection gets so many bytes from the server, those behind it all."""
    cuts = [down]
    return lambda: (math.inf, cuts.pop() if cuts else math.inf)


def test_every_part_of_what_the_server_says_may_be_the_last_that_came(short: Path, proxy: MakeProxy) -> None:
    cut = [once(math.inf)]
    cuts = proxy(lambda: cut[0]())
    with Client.connect(short / "p", reconnect=quick, timeout=120) as client:
        # The greeting, the session found again, the answer: more than nine thousand bytes.
        for down in range(1, 9000, 90):
            session = client.open(tail_batching, config=tail)
            session.send(opening()[0])
            cut[0] = once(down)
            cuts.break_all()
            decisions = session.send([opening()[1], {"type": "engine.added", "at": 1, "engineId": "e"}])
            assert [one["type"] for one in decisions] == ["request.launch"] * 9
            assert (session.seq, session.next_seq) == (3, 3)
            session.close()
        assert client.sessions() == []
    assert cuts.connections > 150


def test_a_refusal_whose_answer_is_lost_is_the_same_when_it_comes_again(short: Path, proxy: MakeProxy) -> None:
    cut = [once(math.inf)]
    cuts = proxy(lambda: cut[0]())
    with Client.connect(short / "p", reconnect=quick, timeout=120) as client:
        for down in range(4000, 9000, 150):
            session = client.open(tail_batching, config=tail)
            session.send(opening()[0])
            cut[0] = once(down)
            cuts.break_all()
            with pytest.raises(rollflex.PolicyError) as refusal:
                session.send([opening()[1], {"type": "no.such"}])
            assert refusal.value.code == "invalid_event"
            assert (refusal.value.index, refusal.value.seq, session.next_seq) == (1, 2, 2)
            assert len(refusal.value.decisions) == 9
            assert session.send([]) == []


def test_long_lists_and_pages_over_a_connection_that_breaks(short: Path) -> None:
    served = Served("--socket", str(short / "s"), "--max-events-per-call", "7", "--page-decisions", "10")
    chance = random.Random(3)
    cuts = Proxy(short / "p", short / "s", lambda: (math.inf, chance.randint(1000, 15000)), greeted=True)
    try:
        prompts = opening(prompts=60)
        config = {"promptsPerRound": 48, "responsesPerPrompt": 4}
        with Client.connect(short / "p", reconnect=quick, timeout=120) as client:
            session = client.open(tail_batching, config=config)
            decisions = session.send(prompts)
            launched = [one["requestId"] for one in decisions if one["type"] == "request.launch"]
            events = [{"type": "response.completed", "at": 1, "requestId": one, "tokens": 5} for one in launched[:150]]
            decisions += session.send(events)
        assert cuts.connections > 3
        with spawn() as other:
            expected = other.open(tail_batching, config=config).send([*prompts, *events])
        assert decisions == expected
    finally:
        cuts.close()
        served.stop()


def test_streamed_decisions_are_given_once_each(short: Path, proxy: MakeProxy) -> None:
    chance = random.Random(8)
    cuts = proxy(lambda: (math.inf, chance.randint(1500, 8000)), greeted=True)
    day = Day(8)
    got: list[tuple[int, Any]] = []
    batches: list[list[dict[str, Any]]] = []
    with Client.connect(short / "s") as sender, Client.connect(short / "p", reconnect=quick) as reader:
        sending = sender.open(tail_batching, config=tail, deliver="stream", session="day")
        subscription = reader.open(tail_batching, session="day", on_existing="attach").subscribe()
        for _ in range(80):
            batches.append(day.events(6))
            assert sending.send(batches[-1]) == []
            last = sender.call("session.snapshot", {"session": "day"})["decisionSeq"]
            seen = len(got)
            while len(got) < last:
                got.append(subscription.get(timeout=120))
                if chance.random() < 0.5:
                    subscription.ack(got[-1][0])
            day.see([decision for _, decision in got[seen:]])
        with pytest.raises(rollflex.CallTimeout):
            subscription.get(timeout=0.2)
    assert cuts.connections > 5
    assert [number for number, _ in got] == list(range(1, len(got) + 1))
    assert [decision for _, decision in got] == reference(batches)[0]


def test_threads_with_a_session_each_over_a_connection_that_breaks(short: Path, proxy: MakeProxy) -> None:
    chance = random.Random(2)
    cuts = proxy(lambda: (chance.randint(2000, 8000), chance.randint(1000, 25000)), greeted=True)
    results: dict[int, bool] = {}

    def work(seed: int) -> None:
        day = Day(seed)
        batches: list[list[dict[str, Any]]] = []
        decisions: list[Any] = []
        session = client.open(tail_batching, config=tail)
        for _ in range(40):
            batches.append(day.events(4))
            came = session.send(batches[-1])
            day.see(came)
            decisions += came
        results[seed] = decisions == reference(batches)[0]

    with Client.connect(short / "p", reconnect=quick, timeout=120) as client:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert results == dict.fromkeys(range(4), True)
    assert cuts.connections > 3


def test_a_server_that_is_gone_for_good(short: Path, proxy: MakeProxy, served: Served) -> None:
    proxy(lambda: never)
    with Client.connect(short / "p", reconnect=hurried, timeout=120) as client:
        session = client.open(tail_batching, config=tail)
        session.send(opening()[0])
        served.kill()
        with pytest.raises(rollflex.ConnectionLost, match="could not be made again"):
            session.send(opening()[1])
        assert session.unanswered == 1
        with pytest.raises(rollflex.UnansweredCall, match="retry"):
            session.send(opening()[1])
        served.start()
        # It is another one: it has never heard of the session.
        with pytest.raises(rollflex.SessionLost, match=session.id):
            session.retry()
        with pytest.raises(rollflex.SessionLost):
            session.snapshot()
        assert client.sessions() == []


def test_a_session_that_was_only_opened_is_opened_again_on_another_server(short: Path, served: Served) -> None:
    with Client.connect(short / "s", reconnect=quick, timeout=120) as client:
        session = client.open(tail_batching, config=tail)
        served.kill()
        served.start()
        assert len(session.send(opening())) == 11


def test_events_that_the_server_has_forgotten_are_not_taken_for_applied(short: Path, served: Served) -> None:
    way = short / "way"
    way.symlink_to(short / "s")
    with Client.connect(way, reconnect=quick, timeout=120) as client:
        session = client.open(tail_batching, config=tail, session="shared")
        session.send(opening())
        way.unlink()
        served.kill()
        served.start()
        # Somebody else makes a session of the same name, and gets as far as the first had been.
        with Client.connect(short / "s") as other:
            made = other.open(tail_batching, config=tail, session="shared")
            made.send(opening())
            way.symlink_to(short / "s")
            with pytest.raises(rollflex.SessionLost, match="forgotten"):
                session.send({"type": "engine.added", "at": 1, "engineId": "f"})
            assert made.send([]) == []
            assert made.seq == 2


def test_an_opening_whose_answer_is_lost(short: Path, proxy: MakeProxy) -> None:
    cut = [once(math.inf)]
    cuts = proxy(lambda: cut[0]())
    with Client.connect(short / "p", reconnect=quick, timeout=120) as client:
        greeting = cuts.down

        def break_then_cut(down: int) -> None:
            """A new connection that breaks as soon as there is an answer."""
            cut[0] = once(down)
            before = client._core.connections
            cuts.break_all()
            eventually(lambda: client._core.connections > before)

        break_then_cut(greeting + 9)
        # An id that was made here can only be that of this session.
        made = client.open(tail_batching, config=tail)
        assert cuts.connections == 3
        assert [one["session"] for one in client.sessions()] == [made.id]
        made.close()
        break_then_cut(greeting + 9)
        with pytest.raises(rollflex.ConnectionLost, match=r"whether session\.open was done cannot be known"):
            client.open(tail_batching, config=tail, session="mine")
        assert [one["session"] for one in client.sessions()] == ["mine"]


def test_a_closing_whose_answer_is_lost(short: Path, proxy: MakeProxy) -> None:
    cut = [once(math.inf)]
    cuts = proxy(lambda: cut[0]())
    with Client.connect(short / "p", reconnect=quick, timeout=120) as client:
        greeting = cuts.down
        session = client.open(tail_batching, config=tail)
        cut[0] = once(
            greeting + 2 * len('{"jsonrpc":"2.0","id":3,"result":{"session":"","policy":"","version":1,"seq":0}}')
        )
        cuts.break_all()
        session.close()
        assert client.sessions() == []
        session.close()
        with pytest.raises(rollflex.ClientClosed, match="was closed"):
            session.send([])


def test_a_child_that_dies_takes_its_sessions_with_it(tmp_path: Path) -> None:
    server = FakeServer(
        tmp_path,
        """
greet()
call = read()
answer(call, {"session": call["params"]["session"], "policy": "x", "version": 1, "seq": 0})
read()
sys.stderr.write("the roof fell in\\n")
sys.exit(3)
""",
    )
    with server.spawn(timeout=120) as client:
        session = client.open(Untyped("x"))
        with pytest.raises(rollflex.ConnectionLost, match=r"exit code 3(.|\n)*the roof fell in"):
            session.send({"type": "y"})
        with pytest.raises(rollflex.ConnectionLost):
            client.sessions()


def test_a_call_that_ends_the_server_each_time_is_not_sent_for_ever(tmp_path: Path) -> None:
    server = FakeServer(tmp_path, "greet()\nread()\nsys.exit(1)\n")
    often = Reconnect(first_delay_seconds=0.001, most_sendings=4)
    with server.spawn(timeout=120, state_dir=tmp_path / "state", reconnect=often) as client:
        with pytest.raises(rollflex.ConnectionLost, match="broke 4 times while session.list"):
            client.sessions()


def test_a_child_with_a_state_is_started_again_and_gets_the_same_number(tmp_path: Path) -> None:
    # It dies before its first answer; its successor finds what was applied, and gives that answer.
    server = FakeServer(
        tmp_path,
        """
state = sys.argv[sys.argv.index("--state-dir") + 1]
assert sys.argv[sys.argv.index("--fsync") + 1] == "always"
log = os.path.join(state, "log")
os.makedirs(state, exist_ok=True)
old = [json.loads(line) for line in open(log)] if os.path.exists(log) else []
greet()
while True:
    call = read()
    if call["method"] == "session.open":
        answer(call, {"session": call["params"]["session"], "policy": "x", "version": 1, "seq": len(old)})
    elif call["method"] == "session.send":
        params = call["params"]
        if params["events"] == []:
            answer(call, {"seq": len(old), "decisions": []})
            continue
        with open(log, "a") as file:
            if params["firstSeq"] == len(old):
                file.write(json.dumps(params["events"][0]) + "\\n")
                file.flush()
                os._exit(9)
        assert params["firstSeq"] == len(old) - 1 and old[-1] == params["events"][0], (params, old)
        answer(call, {"seq": len(old), "decisions": old[-1:], "nextSeq": len(old)})
""",
    )
    with server.spawn(timeout=120, state_dir=tmp_path / "state", fsync="always", reconnect=quick) as client:
        session = client.open(Untyped("x"))
        for number in range(5):
            assert session.send({"type": "y", "number": number}) == [{"type": "y", "number": number}]
        assert (session.seq, session.next_seq) == (5, 5)


@pytest.mark.parametrize("fsync", ["always", "interval"])
def test_a_real_server_with_a_state_that_is_killed_again_and_again(tmp_path: Path, fsync: Any) -> None:
    chance = random.Random(fsync)
    day = Day(11)
    batches: list[list[Any]] = []
    decisions: list[Any] = []
    killed = 0
    stop = threading.Event()
    with spawn(state_dir=tmp_path / "state", fsync=fsync, reconnect=quick, timeout=100) as client:

        def kill() -> None:
            nonlocal killed
            while not stop.wait(chance.random() * 0.5):
                core = core_of(client)
                pump = core._pump
                if pump is not None and core._state == "open":
                    os.kill(pump.link.pid, signal.SIGKILL)  # type: ignore[attr-defined]
                    killed += 1

        session = client.open(tail_batching, config=tail)
        killing = threading.Thread(target=kill)
        killing.start()
        try:
            while killed < 5 or len(batches) < 60:
                batches.append(day.events(6))
                came = session.send(batches[-1])
                day.see(came)
                decisions += came
        finally:
            stop.set()
            killing.join()
        assert session.seq == session.next_seq == sum(len(batch) for batch in batches)
        snapshot = session.snapshot()
    assert (decisions, snapshot) == reference(batches)


def test_streamed_decisions_of_a_real_server_that_is_killed(tmp_path: Path) -> None:
    day = Day(12)
    chance = random.Random(12)
    batches: list[list[Any]] = []
    got: list[tuple[int, Any]] = []
    with spawn(state_dir=tmp_path / "state", reconnect=quick, timeout=100) as client:
        session = client.open(tail_batching, config=tail, deliver="stream")
        subscription = session.subscribe()
        for turn in range(30):
            if turn % 6 == 5:
                os.kill(pid_of(client), signal.SIGKILL)
            batches.append(day.events(6))
            assert session.send(batches[-1]) == []
            last = client.call("session.snapshot", {"session": session.id})["decisionSeq"]
            seen = len(got)
            while len(got) < last:
                got.append(subscription.get(timeout=120))
                if chance.random() < 0.5:
                    subscription.ack(got[-1][0])
            day.see([decision for _, decision in got[seen:]])
    assert [number for number, _ in got] == list(range(1, len(got) + 1))
    assert [decision for _, decision in got] == reference(batches)[0]
