"""An input of every planner, and the plan where it is short."""

from __future__ import annotations

from typing import Any

plans: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "gradient-renormalization": (
        {"replicas": [{"samples": 3}, {"samples": 0}, {"samples": 5}]},
        {"factors": [0.375, 0, 0.625], "total": 8},
    ),
    "grpo-advantages": ({"groups": [{"rewards": [1, 0, 0, 1]}], "normalization": "none"}, {}),
    "flex-ulysses": ({"lengths": [900, 800, 20, 30, 40, 50], "devices": 8, "strategy": "paper"}, {}),
    "draft-budget": (
        {
            "groups": [{"sequences": 4}],
            "passSeconds": [{"tokens": 64, "seconds": 0.01}],
            "drafter": {"passSeconds": 0.001},
            "maxDraftTokens": 4,
        },
        {},
    ),
    "micro-batches": ({"lengthsByRank": [[700, 600, 500, 0], [300], []], "maxTokensPerMicroBatch": 800}, {}),
    "judge-offload": (
        {
            "layers": 28,
            "layerBytes": 466e6,
            "fixedBytes": 2.2e9,
            "sequenceTokens": 8192,
            "activationBytes": {"base": 0.5e9, "perToken": 1e5},
            "layerSeconds": {"perToken": 2.5e-6, "perTokenSquared": 1e-11},
            "memoryBytes": 9e9,
            "pcieBytesPerSecond": 25e9,
            "actorSmShare": 0.7,
        },
        {},
    ),
}
