"""The programs of the guide run on a real cluster, and print what stands below them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'rollflex[ray]'")

from cluster import Nodes

from support import environment, root


def programs() -> list[tuple[str, str]]:
    text = (root / "docs" / "ray.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize(("program", "printed"), programs(), ids=range(len(programs())))
def test_a_program_prints_what_stands_below_it(tmp_path: Path, nodes: Nodes, program: str, printed: str) -> None:
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    env = environment(RAY_ADDRESS=nodes.address, RAY_LOG_TO_DRIVER="0")
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=env, timeout=600)
    assert run.returncode == 0, run.stderr
    assert run.stdout == printed


def test_the_guide_begins_with_a_job_of_under_twenty_lines() -> None:
    first, _ = programs()[0]
    assert len(first.splitlines()) < 20
    assert first.count("```python") == 0 and len(programs()) >= 2
    assert "get_or_create" in first
