"""
Runs with real frameworks: ``python -m pytest -m real -rs`` runs those whose framework is there, and says of the others
what they need. ``npm run test:real`` makes an environment for each.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
from pathlib import Path

import pytest

from having import Ran

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))
# Ray gives up on a start after 30 s, and ends workers where memory is short, whoever takes it.
os.environ.setdefault("RAY_raylet_start_wait_time_s", "150")
os.environ.setdefault("RAY_memory_monitor_refresh_ms", "0")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.real)
            # Frameworks warn of themselves, and of each other.
            item.add_marker(pytest.mark.filterwarnings("default"))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run that has skipped every test has tested nothing, and does not count as passed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter is not None and not reporter.stats.get("passed"):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.fixture
def ran() -> Ran:
    """
    Writes down a run that has passed, as a row of ``docs/tested.md``, where ``ROLLFLEX_REAL_RUNS`` names the file.
    ``accounted``: prompts that were trained on, given back, or dropped with a reason, of those that went in.
    ``seconds`` and ``own_seconds``: the time of the same work with rollflex, and with the framework's own scheduling.
    """

    def write(framework: str, version: str, **row: object) -> None:
        file = os.environ.get("ROLLFLEX_REAL_RUNS")
        if file is None:
            return
        path = Path(file)
        rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        date = datetime.date.today().isoformat()
        optional = {"seconds": None, "own_seconds": None, "note": ""}
        rows[framework] = {"version": version, "date": date, **optional, **row}
        path.write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n", encoding="utf-8")

    return write
