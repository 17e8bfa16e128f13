"""The actor on a real cluster: names, places, errors, and what becomes of it when parts of it are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'rollflex[ray]'")

from cluster import Nodes

from rollflex import CallTimeout, PolicyError, ServerUnavailable, SessionLost, UnansweredCall, Untyped
from rollflex.ray import AsyncRollflexHandle, RaySession, Reporter, RollflexHandle, get_or_create
from support import eventually, opening, tail

_names = iter(f"policy-{index}" for index in range(1000))


def make(**options: Any) -> RollflexHandle:
    return get_or_create(next(_names), **{"deadline_seconds": 240, **options})


@pytest.fixture(scope="module")
def shared(nodes: Nodes) -> Iterator[RollflexHandle]:
    """For tests that kill nothing: each has sessions of its own."""
    with make() as one:
        yield one


@pytest.fixture
def policy(nodes: Nodes) -> Iterator[RollflexHandle]:
    with make() as one:
        yield one


def server_pids(actor_pid: int) -> list[int]:
    """The server processes of an actor."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    state, parent = file.read().rsplit(")", 1)[1].split()[:2]
                with open(f"/proc/{entry}/cmdline") as file:
                    words = file.read().split("\0")
            except OSError:
                continue
            if int(parent) == actor_pid and state != "Z" and "serve" in words:
                found.append(int(entry))
    return found


def mirrors(policy: RollflexHandle) -> list[str]:
    named = ray.util.list_named_actors(all_namespaces=True)
    return [one["name"] for one in named if one["name"].startswith(f"{policy.name}/mirror-")]


def kill_mirror(policy: RollflexHandle) -> None:
    (name,) = mirrors(policy)
    ray.kill(ray.get_actor(name, policy.namespace))


def test_the_names_of_the_client_and_its_errors(shared: RollflexHandle) -> None:
    session: Any = shared.open("tail-batching", config=tail, session="x")
    assert (session.id, session.policy, session.version, session.seq, session.unanswered) == (
        "x",
        "tail-batching",
        2,
        0,
        0,
    )
    assert [one["type"] for one in session.send(opening()[0])] == ["round.planned", "prompts.request"]
    with pytest.raises(PolicyError) as refused:
        session.send([opening()[1], {"type": "response.completed", "requestId": "nothing", "tokens": 1}])
    error = refused.value
    assert (type(error), error.code, error.index, error.seq, len(error.decisions)) == (
        PolicyError,
        "unknown_id",
        1,
        2,
        9,
    )
    assert (session.next_seq, session.seq) == (2, 2)
    with pytest.raises(TypeError):
        session.send([{"type": object()}])
    with pytest.raises(UnansweredCall):
        session.retry()
    completed = {"type": "response.completed", "requestId": "r1-p0/0#0", "tokens": 1}
    first = session.send(completed)
    assert session.send(completed, first_seq=2) == first
    with pytest.raises(PolicyError, match="out_of_order"):
        session.send(completed, first_seq=7)
    assert session.why("r1-p1")["owed"][0]["event"]["requestId"] == "r1-p1/0#0"
    snapshot = session.snapshot()
    again = shared.open(snapshot=snapshot)
    assert again.snapshot() == snapshot
    again.close()
    again.close()
    listed = [one["session"] for one in shared.sessions()]
    assert "x" in listed and again.id not in listed
    with pytest.raises(PolicyError, match="duplicate_id"):
        shared.open("tail-batching", config=tail, session="x")
    with pytest.raises(PolicyError, match="unknown_id"):
        shared.open(Untyped("nothing"), config={})
    with pytest.raises(TypeError):
        shared.open("tail-batching", cfg={})  # type: ignore[call-overload]
    plan = shared.plan("gradient-renormalization", {"replicas": [{"samples": 3}, {"samples": 5}]})
    assert plan["total"] == 8
    assert shared.server_info()["name"] == "rollflex"
    assert shared.discover()["openrpc"]


def test_streams_are_read_in_order_and_acknowledged(shared: RollflexHandle) -> None:
    session: Any = shared.open("tail-batching", config=tail, deliver="stream", producer="p")
    assert session.send(opening()) == []
    subscription = session.subscribe()
    got = [subscription.get(timeout=120) for _ in range(11)]
    assert [number for number, _ in got] == list(range(1, 12))
    with pytest.raises(PolicyError, match="out_of_order"):
        subscription.ack(12)
    subscription.ack(5)
    with pytest.raises(TimeoutError):
        subscription.get(timeout=0.2)
    assert session.subscribe().get(10)[0] == 6
    launches = session.subscribe(types=["request.launch"])
    assert launches.get(10)[1]["type"] == "request.launch"
    reply = shared.open("tail-batching", config=tail)
    with pytest.raises(PolicyError, match="deliver: stream"):
        reply.subscribe().get(1)
    ended = threading.Thread(target=lambda: list(subscription))
    ended.start()
    session.close()
    ended.join(120)
    assert (ended.is_alive(), subscription.closed_because) == (False, "closed")


def test_the_same_for_asyncio(shared: RollflexHandle) -> None:
    async def body() -> None:
        handle = shared.as_async()
        session: Any = await handle.open("tail-batching", config=tail, deliver="stream")
        assert await session.send(opening()) == []
        subscription = await session.subscribe()
        numbers = []
        async for number, _ in subscription:
            numbers.append(number)
            if number == 11:
                break
        assert numbers == list(range(1, 12))
        with pytest.raises(PolicyError) as refused:
            await session.send({"type": "nothing"})
        assert (refused.value.index, session.next_seq) == (0, 2)
        slow = asyncio.create_task(session.send([]))
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        assert (await session.snapshot())["seq"] == 2
        assert session.id in [one["session"] for one in await handle.sessions()]
        await session.close()
        assert session.id not in [one["session"] for one in await handle.sessions()]

    assert isinstance(shared.as_async(), AsyncRollflexHandle)
    asyncio.run(body())


def test_workers_need_nothing_but_the_handle(shared: RollflexHandle) -> None:
    session: Any = shared.open("tail-batching", config=tail, session="of-many")
    session.send(opening())

    def work(policy: RollflexHandle, session: RaySession, index: int) -> tuple[str, int, str]:
        own: Any = policy.open("tail-batching", session="of-many", on_existing="attach", producer=f"worker-{index}")
        own.send({"type": "response.completed", "requestId": f"r1-p{index}/0#0", "tokens": 5})
        session.send({"type": "response.completed", "requestId": f"r1-p{index}/1#0", "tokens": 5})
        try:
            own.send({"type": "nothing"})
        except PolicyError as error:
            return session.producer, own.next_seq, error.code
        raise AssertionError

    task = ray.remote(work).options(num_cpus=0.1, scheduling_strategy="SPREAD")
    found = ray.get([task.remote(shared, session, index) for index in range(3)])
    assert len({producer for producer, _, _ in found} | {session.producer}) == 4, "each is a producer of its own"
    assert [(seq, code) for _, seq, code in found] == [(1, "invalid_event")] * 3
    assert session.snapshot()["seq"] == 8


def test_there_is_one_of_each_name(shared: RollflexHandle) -> None:
    shared.open("tail-batching", config=tail, session="of-one")
    assert "of-one" in [one["session"] for one in get_or_create(shared.name).sessions()]
    other = make()
    assert other.sessions() == []
    pid = other.info()["pid"]
    servers = server_pids(pid)
    assert len(servers) == 1
    other.shutdown()
    with pytest.raises(ServerUnavailable, match="shut down"):
        other.sessions()
    other.shutdown()
    assert mirrors(other) == []
    eventually(lambda: not any(os.path.exists(f"/proc/{one}") for one in servers))


def test_it_is_where_it_was_asked_to_be(nodes: Nodes) -> None:
    for name, node in (("n0", nodes.id("n0")), ("n1", {"rollflex-node": "n1"})):
        with make(node=node) as policy:
            info = policy.info()
            assert nodes.name_of(info["node"]) == name
            assert info["mirrored_elsewhere"] and info["mirror_node"] != info["node"]
    for missing in ("nothing", {"rollflex-node": "nothing"}):
        with pytest.raises(ValueError, match="no node has the labels"):
            make(node=missing)


def test_a_server_that_cannot_be_started_says_why(nodes: Nodes) -> None:
    with pytest.raises(ServerUnavailable, match="there is no command nothing-like-this"):
        get_or_create("broken", command="nothing-like-this")
    # Nothing of it stands in the way of a better one.
    with get_or_create("broken") as policy:
        assert policy.sessions() == []


def test_kill_9_of_the_server_process(policy: RollflexHandle) -> None:
    session: Any = policy.open("tail-batching", config=tail)
    session.send(opening())
    before, info = session.snapshot(), policy.info()
    (pid,) = server_pids(info["pid"])
    os.kill(pid, signal.SIGKILL)
    assert session.snapshot() == before
    after = policy.info()
    assert (after["pid"], after["server_restarts"], after["generation"]) == (info["pid"], 1, 1)


def test_kill_9_of_the_mirror(policy: RollflexHandle) -> None:
    session: Any = policy.open("tail-batching", config=tail)
    session.send(opening())
    (first,) = mirrors(policy)
    kill_mirror(policy)
    session.send({"type": "response.completed", "requestId": "r1-p0/0#0", "tokens": 1})
    eventually(lambda: mirrors(policy) not in ([], [first]))
    # The new one has all of it: the actor is made again from it.
    before = session.snapshot()
    os.kill(policy.info()["pid"], signal.SIGKILL)
    assert session.snapshot() == before
    assert policy.info()["generation"] == 2


def test_kill_9_of_the_server_process_and_of_the_mirror(policy: RollflexHandle) -> None:
    session: Any = policy.open("tail-batching", config=tail)
    session.send(opening())
    before = session.snapshot()
    (pid,) = server_pids(policy.info()["pid"])
    kill_mirror(policy)
    os.kill(pid, signal.SIGKILL)
    assert session.snapshot() == before, "the actor itself knows it all"


def test_kill_9_of_the_actor_and_of_the_mirror_is_a_loss_that_is_said(nodes: Nodes) -> None:
    with make() as policy:
        session: Any = policy.open("tail-batching", config=tail, session="x")
        session.send(opening())
        checkpoint = session.snapshot()
        session.send({"type": "response.completed", "requestId": "r1-p0/0#0", "tokens": 1})
        pid = policy.info()["pid"]
        os.kill(pid, signal.SIGSTOP)
        kill_mirror(policy)
        os.kill(pid, signal.SIGKILL)
        for lost in (
            lambda: session.send({"type": "response.completed", "requestId": "r1-p0/1#0", "tokens": 1}),
            session.snapshot,
            lambda: policy.open("tail-batching", config=tail, session="x"),
            lambda: policy.open("tail-batching", config=tail, session="x", on_existing="attach"),
        ):
            with pytest.raises(SessionLost, match="the server and its mirror were lost at the same time"):
                lost()
        # It is still known after another death.
        os.kill(policy.info()["pid"], signal.SIGKILL)
        with pytest.raises(SessionLost):
            policy.open("tail-batching", config=tail, session="x", on_existing="attach")
        again = policy.open(snapshot=checkpoint, session="x", on_existing="replace")
        assert again.snapshot() == checkpoint
        again.send({"type": "host.restarted", "idPrefix": "b-"})


def test_without_a_mirror_the_death_of_the_actor_is_a_loss_that_is_said(nodes: Nodes) -> None:
    with make(mirror=False) as policy:
        session: Any = policy.open("tail-batching", config=tail)
        session.send(opening())
        (pid,) = server_pids(policy.info()["pid"])
        os.kill(pid, signal.SIGKILL)
        assert session.snapshot()["seq"] == 2
        os.kill(policy.info()["pid"], signal.SIGKILL)
        with pytest.raises(SessionLost, match="has no mirror"):
            session.snapshot()


def test_an_actor_that_may_not_be_made_again_is_gone(nodes: Nodes) -> None:
    with make(max_restarts=0, failover_seconds=None) as policy:
        session: Any = policy.open("tail-batching", config=tail)
        os.kill(policy.info()["pid"], signal.SIGKILL)
        with pytest.raises(ServerUnavailable, match="max_restarts"):
            session.snapshot()


def test_a_stalled_server_never_stalls_generation(shared: RollflexHandle) -> None:
    session: Any = shared.open("tail-batching", config={"promptsPerRound": 100, "responsesPerPrompt": 8})
    session.send(opening(prompts=125))
    decisions: list[Any] = []
    reporter = Reporter(session, on_decisions=decisions.extend)
    (pid,) = server_pids(shared.info()["pid"])
    os.kill(pid, signal.SIGSTOP)
    longest, begun, requests = 0.0, time.monotonic(), [f"r1-p{p}/{i}#0" for p in range(50) for i in range(8)]
    for request in requests:
        before = time.monotonic()
        reporter.report({"type": "response.completed", "requestId": request, "tokens": 100})
        longest = max(longest, time.monotonic() - before)
    # All of them were reported before the policy has answered a single one.
    assert (reporter.waiting, decisions) == (400, [])
    with pytest.raises(CallTimeout):
        reporter.flush(0.2)
    with pytest.raises(CallTimeout):
        session.snapshot(timeout=0.2)
    os.kill(pid, signal.SIGCONT)
    reporter.close(120)
    assert longest < time.monotonic() - begun
    assert sum(one["type"] == "response.accepted" for one in decisions) == 400
    assert session.snapshot()["seq"] == 402


def test_a_reporter_goes_on_after_refusals_and_behind_a_full_backlog(nodes: Nodes) -> None:
    with make(limits={"maxBacklog": 20}) as policy:
        session: Any = policy.open("tail-batching", config=tail, deliver="stream")
        session.send(opening())
        refused: list[str] = []
        reporter = Reporter(session, on_refusal=lambda event, why: refused.append(event["type"]), most=2)
        reporter.report({"type": "engine.nothing"}, *({"type": "source.exhausted"} for _ in range(3)))
        reporter.report({"type": "acme"}, {"type": "response.completed", "requestId": "r1-p0/0#0", "tokens": 1})
        reporter.flush(120)
        assert refused == ["engine.nothing", "acme"]
        subscription = session.subscribe()
        completed = [f"r1-p{p}/{i}#0" for p in range(3) for i in range(3)][1:]
        for request in completed:
            reporter.report({"type": "response.completed", "requestId": request, "tokens": 1})
        last = 0
        while reporter.waiting or last < 20:
            try:
                number, _ = subscription.get(timeout=0.5 if last >= 20 else 120)
            except TimeoutError:
                # The last decision may come before the reporter knows that its last report was taken.
                assert last >= 20
                continue
            assert number == last + 1
            last = number
            subscription.ack(number)
        reporter.close(120)
        strict = Reporter(session)
        strict.report({"type": "nothing"})
        with pytest.raises(PolicyError, match="invalid_event"):
            strict.flush(120)
        with pytest.raises(PolicyError, match="limit_exceeded"):
            Reporter(session, capacity=1).report({"type": "a"}, {"type": "b"})


def test_a_call_that_is_not_answered_in_time_is_got_by_a_retry(shared: RollflexHandle) -> None:
    session: Any = shared.open("tail-batching", config=tail)
    (pid,) = server_pids(shared.info()["pid"])
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(CallTimeout, match="no answer to send"):
        session.send(opening(), timeout=0.3)
    assert session.unanswered == 2
    with pytest.raises(UnansweredCall):
        session.send([])
    os.kill(pid, signal.SIGCONT)
    assert len(session.retry()) == 11
    assert session.snapshot()["seq"] == 2


def has_standby(policy: RollflexHandle) -> bool:
    return policy.info()["standby_node"] is not None


def test_a_standby_elsewhere_takes_over_from_an_actor_that_hangs(policy: RollflexHandle) -> None:
    session: Any = policy.open("tail-batching", config=tail, deliver="stream")
    session.send(opening())
    subscription = session.subscribe()
    first = [subscription.get(timeout=120) for _ in range(3)]
    eventually(lambda: has_standby(policy))
    before = policy.info()
    assert len({before["node"], before["mirror_node"], before["standby_node"]}) == 3, "no two are lost with one node"
    # Ray does not notice this at all.
    os.kill(before["pid"], signal.SIGSTOP)
    try:
        begun = time.monotonic()
        session.send({"type": "response.completed", "requestId": "r1-p0/0#0", "tokens": 1})
        took = time.monotonic() - begun
        after = policy.info()
        assert (after["node"], after["generation"]) == (before["standby_node"], 2)
        assert took < 100
        rest = [subscription.get(timeout=120) for _ in range(8)]
        assert [number for number, _ in first + rest] == list(range(1, 12)), "the stream goes on where it was"
    finally:
        os.kill(before["pid"], signal.SIGCONT)
    # It notices by itself that it must not answer any more, and is the standby from now on.
    eventually(lambda: not os.path.exists(f"/proc/{before['pid']}"))
    eventually(lambda: has_standby(policy))
    assert session.snapshot()["seq"] == 3
    assert policy.info()["pid"] == after["pid"]


def test_a_standby_that_dies_is_made_again_and_one_may_do_without(policy: RollflexHandle) -> None:
    eventually(lambda: has_standby(policy))
    ray.kill(ray.get_actor(f"{policy.name}/2", policy.namespace), no_restart=True)
    eventually(lambda: not has_standby(policy))
    eventually(lambda: has_standby(policy))
    with make(failover_seconds=None) as alone:
        time.sleep(3)
        assert not has_standby(alone)
        with pytest.raises(ValueError):
            ray.get_actor(f"{alone.name}/2", alone.namespace)
    with pytest.raises(ValueError, match="failover_seconds: expected a positive number or None, got 0"):
        make(failover_seconds=0)


def test_a_shutdown_ends_the_standby_too(nodes: Nodes) -> None:
    policy = make()
    eventually(lambda: has_standby(policy))
    policy.shutdown()
    named = ray.util.list_named_actors(all_namespaces=True)
    assert [one["name"] for one in named if one["name"].startswith(policy.name)] == []
    with pytest.raises(ServerUnavailable):
        policy.sessions()
