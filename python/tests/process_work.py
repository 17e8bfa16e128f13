"""What other processes do: here, since they import it by its name."""

from __future__ import annotations

from typing import Any

import rollflex
from support import opening, tail, tail_batching


def round_in_process(seed: int) -> list[Any]:
    """The decisions of a round, by a client of this process's own."""
    with rollflex.Client() as client:
        client.plan("gradient-renormalization", {"replicas": [{"samples": 1}]})
        return client.open(tail_batching, config=tail).send(opening(f"r{seed}"))
