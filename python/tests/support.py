"""A real server, a proxy that breaks its connections, servers that misbehave, and a policy's day."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rollflex
from rollflex._connected import ConnectedCore
from rollflex._pump import Pump
from rollflex.models import TailBatchingConfig

root = Path(__file__).resolve().parents[2]
tail_batching: Any = "tail-batching"
"""Of no known type: tests send what a type checker would refuse."""
tail: TailBatchingConfig = {"promptsPerRound": 2, "responsesPerPrompt": 2}


package = Path(rollflex.__file__).parent
"""The package that is tested: the installed one, or that of the source tree where it is asked for."""


def environment(*folders: Path | str, **more: str) -> dict[str, str]:
    """Of a program that imports this package, and what is in these folders."""
    path = os.pathsep.join(str(Path(one).resolve()) for one in (package.parent, *folders))
    return {**os.environ, "PYTHONPATH": path, **more}


def command() -> list[str]:
    """The server that the package finds by itself, which is the one that it carries: `conftest.py` sees to it."""
    return rollflex.server_command()


@functools.cache
def command_with_store() -> list[str]:
    """
    The same server, with the native package for `--state-dir` beside it, which a wheel does not carry. It is a copy:
    the environment with the installed package stays as it is.
    """
    store = root / "node_modules" / "classic-level"
    assert store.exists(), "npm ci installs classic-level, for servers with a state directory"
    folder = Path(tempfile.mkdtemp(prefix="rf"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    node, script = command()
    shutil.copytree(Path(script).parent, folder / "_js")
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / store.name).symlink_to(store)
    return [node, str(folder / "_js" / Path(script).name)]


def spawn(**options: Any) -> rollflex.Client:
    if "state_dir" in options:
        return rollflex.Client.spawn(command_with_store(), **options)
    return rollflex.Client.spawn(**options)


Start = Callable[..., rollflex.Client]
starts: dict[str, Start] = {"spawned": spawn, "embedded": rollflex.Client.embedded}
"""Ways to a client of one's own, which is the same to whoever uses it."""


def core_of(client: Any) -> ConnectedCore:
    core = client._core
    assert isinstance(core, ConnectedCore)
    return core


def pump_of(client: Any) -> Pump:
    pump = core_of(client)._pump
    assert pump is not None
    return pump


def pid_of(client: Any) -> int:
    """Of the server that the client has started."""
    pid: int = pump_of(client).link.pid  # type: ignore[attr-defined]
    return pid


class Served:
    """`rollflex serve` at a Unix socket or a port."""

    def __init__(self, *args: str) -> None:
        self._args = args
        self.start()

    def start(self) -> None:
        start = command_with_store() if "--state-dir" in self._args else command()
        self.process = subprocess.Popen(
            [*start, "serve", *self._args], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        assert self.process.stderr
        self.address = ""
        said = []
        for line in self.process.stderr:
            if "listening at" in line:
                self.address = line.split("listening at", 1)[1].strip()
                return
            said.append(line)
        self.stop()
        raise AssertionError("the server does not listen, but says: " + "".join(said))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.stop()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(120)
        assert self.process.stderr
        self.process.stderr.close()


class Proxy:
    """
    Stands between clients and a server at a Unix socket. `cut` is asked for each new connection how many bytes may pass
    from the client, and from the server, before it is broken. With `greeted`, the line that greets does not count: each
    connection brings the client further then, however long that line is.
    """

    def __init__(self, path: Path, behind: Path, cut: Callable[[], tuple[float, float]], greeted: bool = False) -> None:
        self.path = path
        self._greeted = greeted
        self._behind = behind
        self._cut = cut
        self.connections = 0
        self.down = 0
        """Bytes that came from the server."""
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(16)
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.break_all()
        for one in self._threads:
            one.join(120)

    def break_all(self) -> None:
        """Breaks the connections that there are."""
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(str(self._behind))
            except OSError:
                client.close()
                server.close()
                continue
            self._open += [client, server]
            one = threading.Thread(target=self._pass_on, args=(client, server, *self._cut()), daemon=True)
            self._threads.append(one)
            one.start()

    def _pass_on(self, client: socket.socket, server: socket.socket, up: float, down: float) -> None:
        left = {client: up, server: down}
        lets = self._greeted
        with client, server, contextlib.suppress(OSError):
            while True:
                for one in select.select([client, server], [], [])[0]:
                    data = one.recv(65536)
                    if not data:
                        return
                    free = 0
                    if lets and one is server:
                        free = data.find(b"\n") + 1 or len(data)
                        lets = b"\n" not in data
                    data = data[: free + int(min(left[one], len(data) - free))]
                    self.down += len(data) if one is server else 0
                    (server if one is client else client).sendall(data)
                    left[one] -= len(data) - free
                    if left[one] <= 0:
                        return


MakeProxy = Callable[..., Proxy]


class FakeServer:
    """A program that plays the server on standard input and output, written for one test."""

    def __init__(self, folder: Path, body: str) -> None:
        self.path = folder / "fake-server.py"
        self.path.write_text(_fake_head + body)
        self.command = [sys.executable, str(self.path)]

    def spawn(self, **options: Any) -> rollflex.Client:
        return rollflex.Client.spawn(self.command, **options)


_fake_head = """
import json, os, sys, time
def read():
    line = sys.stdin.readline()
    if not line: sys.exit(0)
    return json.loads(line)
def say(text):
    sys.stdout.write(text + "\\n"); sys.stdout.flush()
def answer(call, result):
    say(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}))
limits = {"maxEventsPerCall": 10000, "maxMessageBytes": 1 << 26, "keptAnswers": 8}
def greet(version="0.1.0"):
    call = read()
    assert call["method"] == "server.info", call
    answer(call, {"name": "rollflex", "version": version, "limits": limits})
"""


def opening(round_id: str = "r1", prompts: int = 3) -> list[Any]:
    """A round of tail batching, and its prompts."""
    return [
        {"type": "round.requested", "at": 0, "roundId": round_id, "weightVersion": 1},
        {
            "type": "prompts.supplied",
            "at": 0,
            "roundId": round_id,
            "prompts": [{"promptId": f"{round_id}-p{index}"} for index in range(prompts)],
        },
    ]


class Day:
    """A host of tail batching that makes up what happens, from a seed, and what the decisions tell it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._running: list[str] = []
        self._aborted: list[str] = []
        self._rounds = 0
        self._prompts = 0
        self._at = 0.0
        self._wanted: dict[str, Any] | None = None
        self._in_round = False

    def events(self, most: int) -> list[Any]:
        """What happens next: one event that asks for decisions, or some reports."""
        self._at += self._random.random()
        if self._aborted:
            aborted, self._aborted = self._aborted, []
            return [{"type": "request.aborted", "at": self._at, "requestId": one, "tokens": 3} for one in aborted]
        if self._wanted is not None:
            wanted, self._wanted = self._wanted, None
            self._prompts += wanted["count"]
            prompts = [{"promptId": f"p{self._prompts - index}"} for index in range(wanted["count"])]
            return [{"type": "prompts.supplied", "at": self._at, "roundId": wanted["roundId"], "prompts": prompts}]
        if not self._in_round:
            self._rounds += 1
            self._in_round = True
            round_id = f"r{self._rounds}"
            return [{"type": "round.requested", "at": self._at, "roundId": round_id, "weightVersion": self._rounds}]
        self._random.shuffle(self._running)
        count = min(len(self._running), self._random.randint(1, most))
        done, self._running = self._running[:count], self._running[count:]
        return [
            {
                "type": "response.completed",
                "at": self._at,
                "requestId": request,
                "tokens": self._random.randint(1, 1000),
            }
            for request in done
        ]

    def see(self, decisions: Sequence[Any]) -> None:
        for one in decisions:
            if one["type"] == "prompts.request":
                self._wanted = one
            elif one["type"] == "request.launch":
                self._running.append(one["requestId"])
            elif one["type"] == "request.abort":
                # What was reported together with what led to this is not running any more.
                if one["requestId"] in self._running:
                    self._running.remove(one["requestId"])
                    self._aborted.append(one["requestId"])
            elif one["type"] in ("round.completed", "round.failed"):
                self._in_round = False


def eventually(holds: Callable[[], bool], seconds: float = 300) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it does not come to hold"
        time.sleep(0.01)


async def eventually_async(holds: Callable[[], bool], seconds: float = 300) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it does not come to hold"
        await asyncio.sleep(0.005)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        if sys.platform == "linux":
            return False
        return subprocess.run(["kill", "-0", str(pid)], capture_output=True, check=False).returncode == 0
    return state not in ("Z", "X")


def fake_node(folder: Path, version: str | None, script: str = "") -> Path:
    """A folder for the PATH whose `node` says that it is of some version."""
    folder.mkdir(parents=True, exist_ok=True)
    if version is not None:
        node = folder / "node"
        node.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo {version}; exit 0; fi\n{script}\n')
        node.chmod(0o755)
    return folder


def real_node() -> str:
    found = shutil.which("node")
    assert found is not None
    return found
