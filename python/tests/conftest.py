from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rollflex
from support import MakeProxy, Proxy, Served, root, spawn


def pytest_configure(config: pytest.Config) -> None:
    if "ROLLFLEX_COMMAND" not in os.environ and not (root / "dist" / "cli.js").exists():
        raise pytest.UsageError("there is no dist/cli.js to test against: npm run build, or set ROLLFLEX_COMMAND")


@pytest.fixture
def client() -> Iterator[rollflex.Client]:
    with spawn(timeout=30) as one:
        yield one


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="rf") as folder:
        yield Path(folder)


@pytest.fixture
def served(short: Path) -> Iterator[Served]:
    """A server at the socket `s`."""
    one = Served("--socket", str(short / "s"))
    yield one
    one.stop()


@pytest.fixture
def proxy(short: Path, served: Served) -> Iterator[MakeProxy]:
    """Makes a proxy in front of the server, at the socket `p`."""
    made: list[Proxy] = []

    def make(cut: Callable[[], tuple[float, float]]) -> Proxy:
        made.append(Proxy(short / "p", short / "s", cut))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """The same in every run of a test."""
    return random.Random(request.node.nodeid)
