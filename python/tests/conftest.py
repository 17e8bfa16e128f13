from __future__ import annotations

import filecmp
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

try:
    import rollflex
except ImportError as error:
    raise pytest.UsageError(
        f"{error}: npm run build:python && pip install ./python in the root, "
        "or python -m pytest -o pythonpath='src tests' for the source tree"
    ) from error
from rollflex._carried import command_line
from support import MakeProxy, Proxy, Served, Start, command, package, root, starts

source = root / "python" / "src" / "rollflex"


def pytest_configure(config: pytest.Config) -> None:
    """Tests run with the package as users install it, and with its server: never with others by mistake."""
    wrong = _wrong_product(any(Path(one).name == "src" for one in config.getini("pythonpath")))
    if wrong:
        raise pytest.UsageError(wrong)


def _wrong_product(of_source: bool) -> str | None:
    anew = "npm run build:python && pip install --force-reinstall --no-deps ./python, in the root"
    if of_source:
        if package != source:
            return f"expected the source tree, got {package}"
    elif package == source:
        return f"{package} is the source tree: {anew}; or ask for it: python -m pytest -o pythonpath='src tests'"
    elif (changed := _changed(source, package)) is not None:
        return f"{package} is another version, {changed} differs: {anew}"
    carried = command_line()
    if carried is None:
        return f"there is no server in {package}: {'npm run build:python' if of_source else anew}"
    if command()[1:] != [str(carried)]:
        return f"the server would be {command()}, not {carried}: take ROLLFLEX_COMMAND, or rollflex on the PATH, away"
    return None


def _changed(left: Path, right: Path) -> Path | None:
    """The first file that is not the same; what was built may have been left out on the left."""
    names = {one.relative_to(folder) for folder in (left, right) for one in folder.rglob("*.py")}
    if (left / "_js").exists():
        names |= {one.relative_to(left) for one in left.glob("_js/*") if one.is_file()}
    _same, *others = filecmp.cmpfiles(left, right, sorted(map(str, names)), shallow=False)
    return next((Path(one) for other in others for one in other), None)


def pytest_report_header(config: pytest.Config) -> str:
    return f"rollflex {rollflex.__version__}: {package}; server: {' '.join(command())}"


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
