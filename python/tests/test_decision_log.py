"""The decision log of a client in this process: what the command line reads of it, and what a disk may do to it."""

from __future__ import annotations

import json
import logging
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rollflex import Client, PolicyError
from rollflex._decision_log import DecisionLogFiles
from support import Day, command, environment, eventually, opening, spawn, tail, tail_batching


def replayed(folder: Path, name: str = "replay") -> str:
    run = subprocess.run([*command(), name, str(folder)], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


def lines_of(folder: Path) -> list[Any]:
    return [json.loads(line) for one in sorted(folder.iterdir()) for line in one.read_text().splitlines()]


def told(client: Client) -> None:
    """A day, and something that is refused."""
    with client:
        session = client.open(tail_batching, config=tail, session="día", producer="p")
        day = Day(1)
        for _ in range(60):
            day.see(session.send(day.events(4)))
        with pytest.raises(PolicyError):
            session.send({"type": "response.completed", "at": 0, "requestId": "nobody", "tokens": 1})
        client.open(tail_batching, config=tail, session="b").close()


def test_its_lines_are_those_of_a_server(tmp_path: Path) -> None:
    told(Client.embedded(log_dir=tmp_path / "here"))
    told(spawn(args=["--log-dir", str(tmp_path / "there")]))
    changing = ("time", "run")
    here, there = (
        [{key: value for key, value in line.items() if key not in changing} for line in lines_of(tmp_path / name)]
        for name in ("here", "there")
    )
    assert here == there
    assert {line["kind"] for line in here} == {"log", "session", "event", "refused", "closed"}
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "here", *(tmp_path / "here").iterdir())]
    assert modes == [0o700, 0o600]


def test_the_command_line_replays_it_and_compares_it(tmp_path: Path) -> None:
    told(Client.embedded(log_dir=tmp_path))
    with Client.embedded(log_dir=tmp_path) as client:
        session = client.open("sandbox-timeout", config={}, session="timeouts", shadow=True)
        run: Any = {"type": "sandbox.requested", "runId": "r1", "testCaseId": "sort/3"}
        decided: Any = {
            "type": "host.decided",
            "decision": {"type": "sandbox.run", "runId": "r1", "timeoutSeconds": 30},
        }
        session.send([run, decided])
    assert len(list(tmp_path.iterdir())) == 2
    said = replayed(tmp_path)
    assert "día, tail-batching: " in said
    assert "timeouts, sandbox-timeout: 1 event" in said
    assert said.count("all as logged") == 2
    assert "sandbox.run" in replayed(tmp_path, "shadow")


def test_files_follow_each_other_and_the_oldest_leave(tmp_path: Path) -> None:
    for number in range(10):
        log = DecisionLogFiles(str(tmp_path))
        assert log.last == number
        log.take(f"\x1e{number + 1}\nfirst\n")
        log.take("sécond\n\x1e1000\nthird\n" if number == 9 else "sécond\n")
        log.close()
    names = sorted(one.name for one in tmp_path.iterdir())
    assert names == [*(f"decisions-{number:08d}.jsonl" for number in range(4, 11)), "decisions-00001000.jsonl"]
    assert (tmp_path / names[-2]).read_text() == "first\nsécond\n"


def test_what_the_disk_refuses_is_dropped_counted_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = tmp_path / "log"
    with Client.embedded(log_dir=log) as client:
        session = client.open(tail_batching, config=tail, session="a")
        (log / "decisions-00000001.jsonl").touch()
        with caplog.at_level(logging.WARNING, "rollflex.decision_log"):
            session.send(opening()[:1])
            eventually(lambda: len(caplog.records) == 1)

            def goes_on() -> bool:
                with pytest.raises(PolicyError):
                    session.send({"type": "response.completed", "at": 0, "requestId": "nobody", "tokens": 1})
                return (log / "decisions-00000002.jsonl").exists()

            # Tried again a second later, with a file that nobody has.
            eventually(goes_on)
            session.send(opening()[1:])
        assert [one.message[:29] for one in caplog.records] == [
            "decision log: lines are dropp",
            "decision log: goes on",
        ]
    assert not (log / "decisions-00000001.jsonl").read_text()
    assert "dropped" in [line["kind"] for line in lines_of(log)]
    assert "a, tail-batching: 1 event" in replayed(log)


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(PolicyError) as refusal:
        Client.embedded(log_dir=file / "log")
    assert (refusal.value.code, refusal.value.path) == ("invalid_input", "log_dir")


def test_it_begins_anew_when_a_client_that_keeps_its_sessions_does(tmp_path: Path) -> None:
    for number in range(2):
        with Client.embedded(state_dir=tmp_path / "state", log_dir=tmp_path / "log") as client:
            session = client.open(tail_batching, config=tail, session="a", on_existing="attach")
            session.send(opening()[number])
    lines = lines_of(tmp_path / "log")
    kinds = [line["kind"] for line in lines]
    assert kinds == ["log", "session", "event", "closed"] * 2
    assert [line["reason"] for line in lines if line["kind"] == "closed"] == ["stopped"] * 2
    assert "a, tail-batching: 2 events" in replayed(tmp_path / "log")


def test_a_process_that_ends_has_written_it(tmp_path: Path) -> None:
    body = (
        "import rollflex\n"
        f"session = rollflex.Client.embedded(log_dir={str(tmp_path)!r}).open('tail-batching', config={tail!r})\n"
        f"session.send({opening()!r})\n"
    )
    env = environment()
    subprocess.run([sys.executable, "-c", body], check=True, timeout=120, env=env)
    assert [line["kind"] for line in lines_of(tmp_path)] == ["log", "session", "event", "event", "closed"]
