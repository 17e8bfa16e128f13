"""A job whose server's node and one more are killed; `ray_runs.py` does it fifty times, with 10,000 responses."""

from __future__ import annotations

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'rollflex[ray]'")

from cluster import Nodes
from ray_runs import Size, run_once


def test_nothing_is_lost_and_nothing_done_twice(nodes: Nodes) -> None:
    figures = run_once(nodes, Size(prompts=250, prompts_per_round=25, deadline_seconds=600), seed=1001)
    assert figures["generation"] >= 2 and figures["lost"] >= 1
