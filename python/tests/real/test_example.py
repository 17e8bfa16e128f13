"""The example with a real model: its quick run, from this checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

import pytest

pytest.importorskip("torch", reason="pip install torch transformers")
transformers = pytest.importorskip("transformers", reason="pip install torch transformers")

from having import Ran
from support import package, root


def test_the_example_learns_and_is_the_same_each_time(ran: Ran) -> None:
    env = {**os.environ, "PYTHONPATH": str(package.parent), "OMP_NUM_THREADS": "1"}
    began = time.monotonic()
    main = root / "examples" / "12-real-grpo" / "main.py"
    done = subprocess.run(
        [sys.executable, "-B", str(main), "--quick"], capture_output=True, text=True, env=env, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = r"^tail batching: (\d+) steps, .* (\d+) prompts in, (\d+) trained on, (\d+) waiting$"
    found = re.search(counts, done.stdout, re.M)
    assert found is not None, done.stdout
    steps, supplied, trained, waiting = map(int, found.groups())
    assert trained + waiting == supplied
    ran(
        "transformers, example 12",
        transformers.__version__,
        real="HfEngine, Rollout, tail-batching and planners in the process; GRPO with torch on a small Qwen2",
        stands_in="nothing",
        steps=steps,
        prompts=supplied,
        accounted=trained + waiting,
        seconds=time.monotonic() - began,
        note="`main.py --quick`: all schedules, and tail batching twice",
    )
