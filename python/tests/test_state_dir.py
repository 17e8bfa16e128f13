"""Sessions that a client in this process keeps in a directory."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rollflex import AsyncClient, Client, ClientClosed, EngineUnavailable, PolicyError
from rollflex._embedded import EmbeddedCore
from rollflex._kept import KeptEngine
from rollflex._opening import Embedding
from rollflex._state_dir import StateDirectory
from support import Day, command_with_store, environment, eventually, opening, spawn, tail, tail_batching

kills = int(os.environ.get("ROLLFLEX_KILLS", "4"))
"""`ROLLFLEX_KILLS=500` for a long run; `bench/python/kill.ts` kills with every policy and with streams."""


def keeping(path: Path, snapshot_events: int = 10_000, **options: Any) -> Client:
    return Client(Embedding({}, None, None, 60.0, state_dir=str(path), snapshot_events=snapshot_events, **options))


def engine_of(client: Client) -> KeptEngine:
    core = client._core
    assert isinstance(core, EmbeddedCore)
    assert isinstance(core._engine, KeptEngine)
    return core._engine


def crash(client: Client) -> None:
    """Leaves the directory as a process that was killed does."""
    engine = engine_of(client)
    assert engine._directory is not None
    # Its connection stays open, as that of another process that is gone does not.
    path = Path(engine._directory.path)
    twin = path.with_name(f"{path.name}-twin")
    shutil.copytree(path, twin)
    client.close()
    shutil.rmtree(path)
    twin.rename(path)


def refusal_of(path: Path) -> PolicyError:
    with pytest.raises(PolicyError) as refusal, contextlib.closing(StateDirectory(str(path), "always")) as directory:
        list(directory.records())
    assert refusal.value.path == "state_dir"
    return refusal.value


class Host:
    """A process whose client keeps its sessions; see `embedded_server.py`."""

    def __init__(self, path: Path, *options: str) -> None:
        env = environment()
        program = [sys.executable, str(Path(__file__).with_name("embedded_server.py")), "serve", "--state-dir"]
        self.process = subprocess.Popen(
            [*program, str(path), *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        )

    def call(self, method: str, params: Any) -> Any:
        """The result. Raises EOFError when it was killed."""
        assert self.process.stdin
        assert self.process.stdout
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps({"id": 1, "method": method, "params": params}) + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line.endswith("\n"):
            raise EOFError
        return json.loads(line)["result"]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(120)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream
            with contextlib.suppress(BrokenPipeError):
                stream.close()


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "state"


def test_kill_9_loses_nothing_that_was_acknowledged_and_does_nothing_twice(path: Path) -> None:
    chance = random.Random(7)
    day = Day(7)
    with Client() as client:
        twin = client.open(tail_batching, config=tail)
        events: list[Any] = []
        decisions: list[Any] = []
        first_seq = killed = 0
        while killed < kills:
            host = Host(path, "--snapshot-events", "20", "--fsync", ("always", "interval")[killed % 2])
            try:
                params = {"policy": "tail-batching", "config": tail, "session": "s", "onExisting": "attach"}
                seq = host.call("session.open", params)["seq"]
                # What was acknowledged, and perhaps what was under way.
                assert seq in (first_seq, first_seq + len(events))
                # Killed somewhere in a call, however long a call takes here.
                answered, most, took = 0, chance.randrange(1, 8), 0.0
                while True:
                    if not events:
                        events = day.events(8)
                        decisions = twin.send(events)
                        day.see(decisions)
                    sent = {"session": "s", "producer": "p", "firstSeq": first_seq, "events": events}
                    if answered == most:
                        threading.Timer(chance.random() * took, host.process.kill).start()
                    begun = time.monotonic()
                    assert host.call("session.send", sent)["decisions"] == decisions
                    took = time.monotonic() - begun
                    answered += 1
                    first_seq, events = first_seq + len(events), []
            except EOFError:
                killed += 1
            finally:
                host.kill()
        assert first_seq > kills
        with keeping(path) as again:
            session = again.open(tail_batching, session="s", on_existing="attach", producer="p")
            session.send(events, first_seq=first_seq)
            assert session.snapshot() == twin.snapshot()


@pytest.mark.parametrize("orderly", [True, False])
def test_what_was_acknowledged_goes_on_in_the_next_client(path: Path, orderly: bool) -> None:
    client = keeping(path, 10)
    session = client.open(tail_batching, config=tail, session="a", producer="p")
    streaming = client.open(tail_batching, config=tail, session="b", deliver="stream", timers="server")
    with Client() as other:
        twin = other.open(tail_batching, config=tail)
        day, twin_day = Day(1), Day(1)
        for _ in range(15):
            decisions = session.send(day.events(4))
            day.see(decisions)
            assert twin.send(twin_day.events(4)) == decisions
            twin_day.see(decisions)
        streaming.send(opening())
        with streaming.subscribe() as subscription:
            assert [subscription.get(timeout=120)[0] for _ in range(3)] == [1, 2, 3]
            subscription.ack(2)
        client.open(tail_batching, config=tail, session="c").close()
        client.close() if orderly else crash(client)

        with keeping(path) as again:
            assert [one["session"] for one in again.sessions()] == ["a", "b"]
            session = again.open(tail_batching, session="a", on_existing="attach", producer="p")
            assert session.next_seq == session.seq == twin.seq
            # The last answer, once more.
            last = day.events(4)
            assert session.send(last) == twin.send(last)
            assert session.snapshot() == twin.snapshot()
            streaming = again.open(tail_batching, session="b", on_existing="attach")
            with streaming.subscribe() as subscription:
                assert subscription.get(timeout=120)[0] == 3


def test_a_retry_gets_its_answer_from_the_next_client(path: Path) -> None:
    client = keeping(path)
    session = client.open(tail_batching, config=tail, session="a", producer="p")
    decisions = session.send(opening())
    with pytest.raises(PolicyError) as refusal:
        session.send([{"type": "response.completed", "at": 1, "requestId": "nobody", "tokens": 1}])
    assert refusal.value.code == "unknown_id"
    crash(client)
    with keeping(path) as again:
        session = again.open(tail_batching, session="a", on_existing="attach", producer="p")
        assert session.send(opening(), first_seq=0) == decisions
        assert session.seq == 2


def test_a_timer_fires_in_the_next_client(path: Path) -> None:
    config = {**tail, "abortGraceSeconds": 0.05}
    client = keeping(path)
    session = client.open(tail_batching, config=config, session="a", deliver="stream", timers="server")
    session.send(opening())
    with session.subscribe(types=["request.launch"]) as subscription:
        requests = [subscription.get(timeout=120)[1]["requestId"] for _ in range(9)]
    done = [{"type": "response.completed", "requestId": one, "tokens": 1} for one in requests[:2] + requests[3:5]]
    session.send(done)
    seq = session.seq
    crash(client)
    with keeping(path) as again:
        eventually(lambda: again.sessions()[0]["seq"] > seq)


def test_a_directory_is_private_and_belongs_to_one_client(path: Path) -> None:
    path.mkdir(mode=0o755)
    with Client.embedded(state_dir=path) as client:
        client.open(tail_batching, config=tail)
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert {stat.S_IMODE(one.stat().st_mode) for one in path.iterdir()} == {0o600}
        with pytest.raises(PolicyError, match=f"which process {os.getpid()} on ") as refusal:
            Client.embedded(state_dir=path)
        assert (refusal.value.code, refusal.value.path) == ("invalid_input", "state_dir")
        other = subprocess.run(
            [sys.executable, "-c", f"import rollflex; rollflex.Client.embedded(state_dir={str(path)!r})"],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert f"which process {os.getpid()} on " in other.stderr.splitlines()[-1]
    Client.embedded(state_dir=path).close()


def test_a_forked_process_lets_the_directory_go(path: Path) -> None:
    client = Client.embedded(state_dir=path, log_dir=path.with_name("log"))
    session = client.open(tail_batching, config=tail, session="a")
    session.send(opening())
    gate, open_gate = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            with pytest.raises(ClientClosed):
                session.send(opening("r2"))
            client.close()
            assert "uses" in refusal_of(path).got
            code = 0
        os.read(gate, 1)
        os._exit(code)
    # The parent's directory is as it was, and free when the parent lets it go, while the child lives.
    session.send([{"type": "response.completed", "requestId": "r1-p0/0#0", "tokens": 1}])
    client.close()
    with keeping(path) as again:
        assert again.sessions()[0]["seq"] == 3
    os.write(open_gate, b".")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(gate)
    os.close(open_gate)


def test_directories_of_others_are_refused_by_name(path: Path) -> None:
    with spawn(state_dir=path) as server:
        server.open(tail_batching, config=tail)
    assert "that of a server: Client.spawn(state_dir=…)" in refusal_of(path).got

    mine = path.with_name("mine")
    Client.embedded(state_dir=mine).close()
    run = subprocess.run(
        [*command_with_store(), "serve", "--stdio", "--state-dir", str(mine)],
        input="",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 2
    assert "this one is of rollflex.Client.embedded() in Python" in run.stderr

    strange = path.with_name("strange")
    strange.mkdir()
    (strange / "thesis.tex").touch()
    assert "thesis.tex" in refusal_of(strange).got
    file = path.with_name("file")
    file.touch()
    assert refusal_of(file).code == "invalid_input"


def test_a_store_that_is_damaged_is_refused(path: Path) -> None:
    with keeping(path) as client:
        client.open(tail_batching, config=tail, session="a").send(opening())
        client.open(tail_batching, config=tail, session="b")
    store = path / "embedded.sqlite"
    whole = store.read_bytes()

    def changed(statement: str) -> PolicyError:
        store.write_bytes(whole)
        with contextlib.closing(sqlite3.connect(store)) as connection:
            connection.execute(statement)
            connection.commit()
        return refusal_of(path)

    for statement, said in (
        ("UPDATE records SET record = replace(record, 'r1-p0', 'r1-p9')", "another record at s/0000000001/"),
        ("DELETE FROM records WHERE key > 's/0000000002'", "some are missing"),
        ("DELETE FROM store", "NoneType"),
        ("DROP TABLE records", "no such table"),
        ("PRAGMA user_version = 2", "format 2"),
    ):
        refusal = changed(statement)
        assert (refusal.code, said in refusal.got) == ("snapshot_mismatch", True), refusal
    for data in (whole[: len(whole) // 2], b"x" * 8192, whole.replace(b"tail-batching", b"tail_batching")):
        store.write_bytes(data)
        assert refusal_of(path).code == "snapshot_mismatch"
    store.unlink()
    (path / "embedded.sqlite-wal").touch()
    assert refusal_of(path).code == "snapshot_mismatch"


def test_writes_that_were_on_the_disk_and_are_cut_off_are_missed(path: Path) -> None:
    client = keeping(path)
    session = client.open(tail_batching, config=tail, session="a")
    note = (path / "embedded.sealed").read_bytes()
    session.send(opening())
    crash(client)
    os.truncate(path / "embedded.sqlite-wal", (path / "embedded.sqlite-wal").stat().st_size - 9)
    assert "the last 1 of 2 writes are missing" in refusal_of(path).got
    # As a crash of the machine leaves it: the last write was not on the disk, and could not be noted.
    (path / "embedded.sealed").write_bytes(note)
    with keeping(path) as again:
        assert again.sessions()[0]["seq"] == 0
    (path / "embedded.sealed").write_bytes(b"7" * 1024)
    assert "remove embedded.sealed" in refusal_of(path).got
    (path / "embedded.sealed").unlink()
    keeping(path).close()


def test_steps_of_another_version_are_refused_and_snapshots_are_not(path: Path, monkeypatch: Any) -> None:
    def as_version(version: str) -> Client:
        with monkeypatch.context() as patch:
            patch.setattr("rollflex._engine.__version__", version)
            return keeping(path)

    client = as_version("0.0.9")
    client.open(tail_batching, config=tail, session="a").send(opening())
    crash(client)
    with pytest.raises(PolicyError, match="version 0.0.9, because the last server was not stopped") as refusal:
        keeping(path)
    assert (refusal.value.code, refusal.value.path) == ("snapshot_mismatch", "state_dir")
    as_version("0.0.9").close()
    with keeping(path) as again:
        assert again.open(tail_batching, session="a", on_existing="attach").seq == 2


def test_when_the_directory_cannot_be_written_nothing_is_acknowledged(path: Path) -> None:
    with keeping(path) as client:
        session = client.open(tail_batching, config=tail, session="a", producer="p")
        session.send(opening())
        directory = engine_of(client)._directory
        assert directory is not None
        directory._store.execute("PRAGMA max_page_count = 1")
        prompts = [{"promptId": f"p{number}" * 20} for number in range(500)]
        with pytest.raises(EngineUnavailable, match="full"):
            session.send([{"type": "prompts.supplied", "roundId": "r1", "prompts": prompts}])
        with pytest.raises(EngineUnavailable, match="make a new client"):
            client.sessions()
    with keeping(path) as again:
        assert again.sessions()[0]["seq"] == 2


def test_a_write_that_was_interrupted_ends_the_client_and_loses_nothing(path: Path) -> None:
    with keeping(path, fsync="interval") as client:
        session = client.open(tail_batching, config=tail, session="a", producer="p")
        engine = engine_of(client)
        directory = engine._directory
        assert directory is not None

        def interrupted(changes: str) -> None:
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(directory, "write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                session.send(opening())
        with pytest.raises(EngineUnavailable, match="interrupted"):
            client.sessions()
    with keeping(path) as again:
        assert again.sessions()[0]["seq"] == 0


def test_a_snapshot_takes_the_place_of_steps(path: Path) -> None:
    client = keeping(path, 4)
    session = client.open(tail_batching, config={"promptsPerRound": 1, "responsesPerPrompt": 1}, session="a")
    day = Day(3)
    for _ in range(150):
        day.see(session.send(day.events(1)))
    directory = engine_of(client)._directory
    assert directory is not None
    (records,) = directory._store.execute("SELECT count(*) FROM records").fetchone()
    assert records < 120
    snapshot = session.snapshot()
    crash(client)
    with keeping(path) as again:
        assert again.open(tail_batching, session="a", on_existing="attach").snapshot() == snapshot


def test_threads_and_loops_share_a_directory(path: Path) -> None:
    with keeping(path) as client:

        def work(number: int) -> None:
            session = client.open(tail_batching, config=tail, session=f"s{number}")
            for event in opening(f"r{number}"):
                session.send(event)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    async def main() -> list[int]:
        async with AsyncClient.embedded(state_dir=path) as again:
            sessions = [
                await again.open(tail_batching, session=f"s{number}", on_existing="attach") for number in range(4)
            ]
            return [one.seq for one in sessions]

    assert asyncio.run(main()) == [2, 2, 2, 2]
