"""Who serves, in one process: mirrors without Ray, and a register of its own. Two must never acknowledge."""

from __future__ import annotations

import asyncio
import copy
import json
import random
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'rollflex[ray]'")

from ray.exceptions import ActorDiedError, ActorUnavailableError

from rollflex.ray import _calls, _mirror, _pair, _register
from rollflex.ray._log import Log, Record
from rollflex.ray._mirror import Mirror, Mirroring, Superseded
from rollflex.ray._register import Configuration, Register
from rollflex.ray.actor import Elsewhere

opened = Record("opened", "x", json.dumps({"session": "x"}), 0, "t", "{}")


class Cluster:
    """Actors by their names, and the store of the GCS."""

    def __init__(self) -> None:
        self.mirrors: dict[str, Mirror] = {}
        self.nodes: dict[str, str] = {}
        self.store: dict[bytes, bytes] = {}
        self.faults: list[Exception] = []
        self.pause = 0.0
        self.lock = threading.Lock()

    def get_actor(self, name: str, namespace: str) -> Any:
        if name not in self.mirrors:
            raise ValueError(f"no {name}")
        return self.handle(name)

    def handle(self, name: str) -> Any:
        def method(kind: str) -> Any:
            return types.SimpleNamespace(remote=lambda *args: (name, kind, args))

        return types.SimpleNamespace(name=name, **{kind: method(kind) for kind in ("claim", "seed", "append")})

    def answer(self, ref: tuple[str, str, Any], seconds: float = 0) -> Any:
        name, kind, args = ref
        time.sleep(random.random() * self.pause)
        if self.faults:
            raise self.faults.pop(0)
        with self.lock:
            if name not in self.mirrors:
                raise ActorDiedError()
            # As it crosses Ray: nothing is shared.
            found = getattr(self.mirrors[name], kind)(*copy.deepcopy(args))
            return (copy.deepcopy(found[0]), self.nodes[name]) if kind == "claim" else found

    def make(self, mirroring: Mirroring, node_id: str, log: Log, wanted: Configuration) -> Any:
        with self.lock:
            self.mirrors[wanted.mirror], self.nodes[wanted.mirror] = Mirror(), node_id
        handle = self.handle(wanted.mirror)
        self.answer(handle.seed.remote(wanted.number, log))
        return handle

    def end(self, name: str, namespace: str = "") -> None:
        with self.lock:
            self.mirrors.pop(name, None)

    def put(self, key: bytes, value: bytes, overwrite: bool, namespace: bytes) -> bool:
        time.sleep(random.random() * self.pause)
        with self.lock:
            there = key in self.store
            self.store.setdefault(key, value)
            return there


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    one = Cluster()
    context = types.SimpleNamespace(get_node_id=lambda: "n")
    monkeypatch.setattr(ray, "get_runtime_context", lambda: context)
    monkeypatch.setattr(ray, "get_actor", one.get_actor)
    monkeypatch.setattr(ray, "kill", lambda handle: one.end(handle.name))
    monkeypatch.setattr(_mirror, "_wait_for", one.answer)
    monkeypatch.setattr(_mirror, "end", one.end)
    monkeypatch.setattr(_mirror, "alive_nodes", lambda: ["head", "n0", "n1"])
    monkeypatch.setattr(_mirror, "_retry_seconds", 0.001)
    monkeypatch.setattr(Mirroring, "_made_on", lambda *given: one.make(*given))
    monkeypatch.setattr(_register, "_internal_kv_put", one.put)
    monkeypatch.setattr(_register, "_internal_kv_get", lambda key, namespace: one.store.get(key))
    monkeypatch.setattr(
        _register,
        "_internal_kv_list",
        lambda prefix, namespace: [key for key in list(one.store) if key.startswith(prefix)],
    )
    yield one


def server(node: str) -> Mirroring:
    register = Register("job", "p", "i")
    return Mirroring("p", "job", register, Configuration(0, 1, f"p-{node}", f"process-{node}", node, ""))


def append(cluster: Cluster, one: Mirroring, log: Log, record: Record) -> None:
    """What an actor does before it acknowledges."""
    first = log.number
    log.extend([record])
    try:
        cluster.answer(one._mirror.append.remote(one.now.number, first, [record]))
    except (Superseded, ActorDiedError):
        one.make(log)


def test_a_mirror_that_was_sealed_refuses_the_server_before() -> None:
    sent = [Record("sent", "x", "{}", seq) for seq in (1, 2, 3)]
    log = Log("1")
    log.extend([opened])
    mirror = Mirror()
    mirror.seed(1, log)
    mirror.append(1, 1, sent[:2])
    # An answer was lost, and the same comes again with more.
    mirror.append(1, 1, sent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ray, "get_runtime_context", lambda: types.SimpleNamespace(get_node_id=lambda: "n"))
        found, node = mirror.claim(2)
        assert node == "n" and found is not None
        assert (found.number, [one.seq for one in found.sessions["x"].since]) == (4, [1, 2, 3])
        with pytest.raises(Superseded):
            mirror.claim(1)
    attempts: list[Callable[[], None]] = [
        lambda: mirror.append(1, 4, sent),
        lambda: mirror.append(1, 4, []),
        lambda: mirror.seed(1, log),
    ]
    for stale in attempts:
        with pytest.raises(Superseded):
            stale()
    with pytest.raises(ValueError, match="missing"):
        mirror.append(2, 5, sent)


def test_one_takes_over_and_the_one_before_must_stop(cluster: Cluster) -> None:
    first, second = server("n0"), server("n1")
    log = first.found()
    assert log is not None and first.elsewhere
    append(cluster, first, log, opened)
    assert server("n2").found() is None, "there is a first one already"
    before = second._register.latest()
    assert before is not None and (before.number, before.generation, before.node) == (1, 1, "n0")
    taken = second.take_over(before, "")
    assert taken is not None and "x" in taken.sessions
    assert (second.now.number, second.now.generation, second.now.mirror) == (2, 2, before.mirror)
    assert "n0" not in second.other_nodes(), "it may be gone, although Ray does not say so yet"
    second.trust("n0")
    assert "n0" in second.other_nodes()
    with pytest.raises(Superseded):
        append(cluster, first, log, Record("sent", "x", "{}", 1))
    append(cluster, second, taken, Record("sent", "x", "{}", 1))
    assert len(cluster.mirrors) == 1


def test_a_server_whose_mirror_was_sealed_in_vain_goes_on_with_a_new_one(cluster: Cluster) -> None:
    first = server("n0")
    log = first.found()
    assert log is not None
    append(cluster, first, log, opened)
    # Whoever claims it dies before it has taken over.
    cluster.answer(first._mirror.claim.remote(2))
    sealed = first.now.mirror
    append(cluster, first, log, Record("sent", "x", "{}", 1))
    assert (first.now.number, first.now.generation) == (2, 1) and first.now.mirror != sealed
    late = server("n1")
    latest = late._register.latest()
    assert latest is not None
    taken = late.take_over(latest, "")
    assert taken is not None and taken.sessions["x"].seq == 1


def test_a_mirror_that_is_slow_is_waited_for_and_one_that_is_dead_is_not(cluster: Cluster) -> None:
    first, second = server("n0"), server("n1")
    log = first.found()
    assert log is not None
    append(cluster, first, log, opened)
    before = first.now
    for slow in (TimeoutError(), ActorUnavailableError("no", None)):
        cluster.faults = [slow]
        with pytest.raises(type(slow)):
            second.take_over(before, "both are lost")
    cluster.end(before.mirror)
    assert second.take_over(before, "") is None, "the server before may still know it all"
    lost = second.take_over(before, "both are lost")
    assert lost is not None and (lost.lost, lost.sessions) == ("both are lost", {})
    assert second.now.generation == 2
    with pytest.raises(Superseded):
        append(cluster, first, log, Record("sent", "x", "{}", 1))


def test_a_put_that_fails_is_made_again_until_it_is_known_whose_it_is(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults: list[Any] = [RuntimeError("GCS"), None, RuntimeError("GCS")]

    def put(key: bytes, value: bytes, overwrite: bool, namespace: bytes) -> bool:
        fault = faults.pop(0) if faults else None
        there = cluster.put(key, value, overwrite, namespace)
        if fault:
            raise fault
        return there

    monkeypatch.setattr(_register, "_internal_kv_put", put)
    monkeypatch.setattr(_register, "_retry_seconds", 0.001)
    register = Register("job", "p", "i")
    mine = Configuration(1, 1, "p", "process", "n0", "m")
    assert register.decide(mine), "it was written the first time, which the second time finds"
    assert register.decide(mine)
    assert not register.decide(Configuration(1, 1, "p/2", "other", "n1", "m"))


@pytest.mark.parametrize("seed", range(40))
def test_nothing_acknowledged_is_lost_whoever_takes_over(cluster: Cluster, seed: int) -> None:
    """Servers that are all alive, and may take each other for dead; mirrors that die now and then."""
    chance = random.Random(seed)
    random.seed(seed)
    cluster.pause = 0.0005
    acknowledged: list[int] = []
    keep = threading.Lock()
    first = server("n0")
    log = first.found()
    assert log is not None
    append(cluster, first, log, opened)
    number = iter(range(1, 10_000))
    wrong: list[str] = []

    def serve(one: Mirroring, log: Log, rounds: int) -> None:
        try:
            for _ in range(rounds):
                record = Record("sent", "x", str(next(number)), log.sessions["x"].seq + 1)
                append(cluster, one, log, record)
                with keep:
                    acknowledged.append(int(record.text))
        except Superseded:
            pass
        except Exception as error:
            wrong.append(repr(error))

    def follow(index: int, patience: float) -> None:
        one = server(f"n{index}")
        try:
            while True:
                time.sleep(patience)
                latest = one._register.latest()
                assert latest is not None
                try:
                    # Never "lost": here no server is gone for certain.
                    taken = one.take_over(latest, "")
                except (Superseded, ActorDiedError):
                    continue
                if taken is not None:
                    return serve(one, taken, 20)
                if stop.is_set():
                    return None
        except Exception as error:
            wrong.append(repr(error))

    stop = threading.Event()
    delays = [chance.random() * 0.01 for _ in range(3)]
    threads = [threading.Thread(target=serve, args=(first, log, 20))]
    threads += [threading.Thread(target=follow, args=(index + 1, delay)) for index, delay in enumerate(delays)]
    for one in threads:
        one.start()
    for _ in range(chance.randint(0, 2)):
        time.sleep(chance.random() * 0.01)
        # At times the one that is in use, at times one that is just being made.
        for name in list(cluster.mirrors)[:1]:
            cluster.end(name)
    threads[0].join()
    stop.set()
    for one in threads:
        one.join(120)
    assert not wrong
    latest = first._register.latest()
    assert latest is not None
    mirror = cluster.mirrors.get(latest.mirror)
    if mirror is not None:
        held = mirror._log
        assert held is not None
        texts = [int(one.text) for one in held.sessions["x"].since]
        assert len(texts) == len(set(texts))
        assert set(acknowledged) <= set(texts), "what was acknowledged is there, whoever has done it"


class Members:
    """The two actors of a server, by what their methods answer: a value, an error, or None for no answer at all."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: list[tuple[int, str]] = []

    def actor(self) -> _calls.Actor:
        one = _calls.Actor("p", "job")
        one._handles = [self._handle(0), self._handle(1)]
        return one

    def _handle(self, index: int) -> Any:
        def method(name: str) -> Any:
            return types.SimpleNamespace(remote=lambda *args: (index, name))

        return types.SimpleNamespace(status=method("status"), send=method("send"))

    def run(self, steps: Any) -> Any:
        step = next(steps)
        while True:
            try:
                if isinstance(step, float):
                    step = steps.send(None)
                    continue
                (index, name), _ = step
                self.asked.append((index, name))
                given = self.answers[index][name]
                answer = given.pop(0) if isinstance(given, list) else given
                if answer is None:
                    step = steps.throw(TimeoutError())
                elif isinstance(answer, Exception):
                    step = steps.throw(answer)
                else:
                    step = steps.send(answer)
            except StopIteration as stop:
                return stop.value


def elsewhere(well: bool) -> Exception:
    error = ray.exceptions.RayTaskError("send", "", Elsewhere("p", well))
    error.cause = Elsewhere("p", well)
    return error  # type: ignore[no-any-return]


def test_a_call_finds_who_serves() -> None:
    # One that hangs is left when the other one serves, and not before.
    status = [{"serves": False}, None, {"serves": True}]
    members = Members({"send": None}, {"status": status, "send": "done"})
    actor = members.actor()
    assert members.run(_calls.call(actor, time.monotonic() + 60, "send")) == "done"
    assert members.asked == [(0, "send"), (1, "status")] * 3 + [(1, "send")]
    # From now on it is asked first.
    assert members.run(_calls.call(actor, time.monotonic() + 60, "send")) == "done"
    assert members.asked[-1] == (1, "send") and len(members.asked) == 8


def test_a_call_stays_with_a_standby_that_is_about_to_take_over_and_leaves_one_that_is_cut_off() -> None:
    gone = ActorUnavailableError("no", None)
    members = Members({"send": gone}, {"send": [elsewhere(False), elsewhere(False), "done"]})
    assert members.run(_calls.call(members.actor(), time.monotonic() + 60, "send")) == "done"
    assert members.asked == [(0, "send"), *[(1, "send")] * 3]
    members = Members({"send": [gone, "done"]}, {"send": [elsewhere(False)] * 4})
    assert members.run(_calls.call(members.actor(), time.monotonic() + 60, "send")) == "done"
    assert members.asked == [(0, "send"), *[(1, "send")] * 4, (0, "send")]
    members = Members({"send": [gone, "done"]}, {"send": [elsewhere(True)]})
    assert members.run(_calls.call(members.actor(), time.monotonic() + 60, "send")) == "done"
    assert members.asked == [(0, "send"), (1, "send"), (0, "send")]


def test_a_standby_waits_out_its_patience_and_says_lost_only_of_what_is_gone(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> None:
        options = _pair.ActorOptions("p", "job", failover_seconds=0.2, incarnation="i")
        first = server("n0")
        log = first.found()
        assert log is not None
        append(cluster, first, log, opened)
        standby = _pair.Pair(options, "p/2", "n1")
        answers: list[Any] = [{"instance": "process-n0", "node": "n0", "serves": True}]

        async def status() -> Any:
            if isinstance(answers[-1], Exception):
                raise answers[-1]
            return answers[-1]

        monkeypatch.setattr(standby, "_status", status)
        assert await standby._look() is None, "it has only just seen who serves"
        assert await standby._look() is None and standby.well
        time.sleep(0.3)
        assert await standby._look() is None and standby.well
        answers.append(TimeoutError())
        cluster.faults = []
        assert await standby._look() is None and not standby.well, "it has answered just now"
        time.sleep(0.3)
        # The mirror is gone as well, but who serves may be alive.
        cluster.end(first.now.mirror)
        assert await standby._look() is None
        # Another process is in its place, which does not serve.
        answers.append({"instance": "another", "node": "n0", "serves": False})
        taken = await standby._look()
        assert taken is not None and taken.lost == _pair.lost_both
        with pytest.raises(Superseded):
            append(cluster, first, log, Record("sent", "x", "{}", 1))

    asyncio.run(body())
