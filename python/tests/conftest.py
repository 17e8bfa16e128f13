from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rollflex
from support import MakeProxy, Proxy, Served, Start, root, starts


def pytest_configure(config: pytest.Config) -> None:
    if "ROLLFLEX_COMMAND" not in os.environ and not (root / "dist" / "cli.js").exists():
        raise pytest.UsageError("there is no dist/cli.js to test against: npm run build, or set ROLLFLEX_COMMAND")
    if not (Path(rollflex.__file__).parent / "_js" / "embedded.js").exists():
        raise pytest.UsageError("there is no rollflex/_js/embedded.js to test: npm run build:python")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What needs a real framework is run only where it is asked for, and without the doubles of others: ``-m real``."""
    folder = Path(__file__).parent / "real"
    is_real = folder in (collection_path, *collection_path.parents)
    if config.option.markexpr == "real":
        return True if collection_path.suffix == ".py" and not is_real else None
    return True if is_real else None


@pytest.fixture(scope="session", params=list(starts))
def start(request: pytest.FixtureRequest) -> Start:
    """Makes a client with a server of its own, or with the policies in this process."""
    return starts[request.param]


@pytest.fixture
def client(start: Start) -> Iterator[rollflex.Client]:
    with start(timeout=120) as one:
        yield one


@pytest.fixture
def spawned() -> Iterator[rollflex.Client]:
    with starts["spawned"](timeout=120) as one:
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

    def make(cut: Callable[[], tuple[float, float]], greeted: bool = False) -> Proxy:
        made.append(Proxy(short / "p", short / "s", cut, greeted))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    """The same in every run of a test."""
    return random.Random(request.node.nodeid)
