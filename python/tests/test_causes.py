"""Whatever ends a server, an engine or a thread of the client is in the text of the exception: planted failures."""

from __future__ import annotations

import signal
import socket
import stat
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rollflex
from rollflex._connected import ConnectedCore
from rollflex._embedded import EmbeddedCore
from rollflex._engine import QuickJs
from rollflex._planning import Planning
from rollflex.errors import EngineLimit, ProtocolError, ServerUnavailable

greeting = f'{{"jsonrpc":"2.0","id":1,"result":{{"version":"{rollflex.__version__}","limits":{{}}}}}}'


@pytest.fixture
def command(tmp_path: Path) -> Any:
    """Makes a command that takes the place of a server."""

    def make(script: str) -> list[str]:
        path = tmp_path / "server"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return [str(path)]

    return make


@pytest.mark.parametrize(
    ("script", "causes"),
    [
        ("echo 'Cannot find module /no/such/plan-worker.mjs' >&2; exit 3", ["exit code 3", "plan-worker.mjs"]),
        ("exit 7", ["exit code 7"]),
        ("echo 'heap out of memory' >&2; kill -ABRT $$", ["SIGABRT", "heap out of memory"]),
        # A signal without a name.
        ("kill -40 $$", ["signal 40"]),
        ("echo 'no JSON'", ["no JSON"]),
    ],
)
def test_a_server_that_ends_at_its_start(command: Any, script: str, causes: list[str]) -> None:
    with pytest.raises((ServerUnavailable, ProtocolError)) as caught:
        rollflex.Client.spawn(command(script), timeout=60)
    for cause in causes:
        assert cause in str(caught.value)


def test_a_server_that_is_killed_later(command: Any) -> None:
    one = rollflex.Client.spawn(command(f"read -r line; echo '{greeting}'; read -r line; kill -40 $$"), timeout=60)
    with pytest.raises(rollflex.errors.ConnectionLost, match="signal 40"):
        one.plan("grpo-advantages", {})  # type: ignore[call-overload]
    one.close()


@pytest.fixture
def resetting() -> Iterator[int]:
    """A port where connections are reset."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reset() -> None:
            connection, _ = server.accept()
            connection.recv(1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()

        threading.Thread(target=reset, daemon=True).start()
        yield server.getsockname()[1]


def test_a_connection_that_the_system_breaks(resetting: int) -> None:
    with pytest.raises(ServerUnavailable, match="Connection reset by peer"):
        rollflex.Client.connect(port=resetting, timeout=60)


def test_a_thread_of_the_client_that_fails(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("no such greeting")

    monkeypatch.setattr(ConnectedCore, "_ask", broken)
    with pytest.raises(ProtocolError, match="KeyError.*no such greeting") as caught:
        rollflex.Client.spawn(command("cat"), timeout=60)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("name", ["_load", "_turn"])
def test_the_thread_of_an_engine_that_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("no such turn")

    monkeypatch.setattr(EmbeddedCore, name, broken)
    with pytest.raises(ProtocolError, match="KeyError.*no such turn") as caught:
        one = rollflex.Client.embedded(timeout=60)
        pending = one._core.start_text("rpc.discover", "{}")
        pending.wait(None)
        pending.take()
    assert isinstance(caught.value.__cause__, KeyError)


def test_the_thread_of_a_plan_that_fails() -> None:
    def broken() -> Any:
        raise KeyError("no such engine")

    from rollflex._pending import Pending

    pending = Pending(1, "plan", b"", "same", None)
    Planning(broken).give(pending, "{}")
    with pytest.raises(ProtocolError, match="KeyError.*no such engine") as caught:
        pending.wait(None)
        pending.take()
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("script", "kind", "cause"),
    [
        ("(function deep() { return deep() + 1 })()", ProtocolError, "Maximum call stack size exceeded"),
        (
            "const all = []; for (;;) all.push(new Array(1000).fill(1))",
            EngineLimit,
            "more memory than memory_limit allows",
        ),
        ("for (;;);", EngineLimit, "InternalError: interrupted"),
        ("throw new TypeError('no such table')", ProtocolError, "no such table"),
        ("const = 1", ProtocolError, "SyntaxError"),
    ],
)
def test_an_engine_that_fails(script: str, kind: type[Exception], cause: str) -> None:
    engine = QuickJs({}, 64 << 20, 0.5)
    with pytest.raises(kind, match=cause):
        engine._do(engine._context.eval, script)


def test_an_engine_without_its_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rollflex._carried._folder", tmp_path)
    with pytest.raises(rollflex.errors.EngineUnavailable, match=r"embedded\.js is not there \(No such file"):
        rollflex.Client.embedded(timeout=60)


def test_a_policy_that_breaks_in_an_engine() -> None:
    engine = QuickJs({}, None, None)
    engine._do(engine._context.eval, "Array.prototype.map = () => { throw new RangeError('no such map') }; 0")
    answer = engine.call('{"jsonrpc":"2.0","id":1,"method":"server.info","params":{}}')
    assert "RangeError: no such map" in answer


def test_every_signal_has_a_name() -> None:
    from rollflex._link import _signal_name

    assert [_signal_name(one) for one in (signal.SIGKILL, 40)] == ["SIGKILL", "signal 40"]
