from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

here = Path(__file__).resolve().parent
example = here.parents[2] / "examples" / "09-ray-job"
sys.path[:0] = [str(here), str(example)]

if TYPE_CHECKING:
    from cluster import Nodes


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.ray)
            # Ray warns of itself.
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session")
def nodes() -> Iterator[Nodes]:
    """One cluster for all tests: a head, and three nodes. A test that kills some adds as many, with other names."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'rollflex[ray]'")
    from cluster import Nodes

    with Nodes(3) as one:
        yield one
