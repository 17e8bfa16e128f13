"""What data sources need of PyTorch."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

float64 = "float64"
int32 = "int32"
dtype = str
Size = tuple


class Tensor:
    def __init__(self, values: Sequence[float]) -> None:
        self.values = list(values)

    def std(self) -> float:
        """Of a sample, as in PyTorch: of a single value it is no number."""
        if len(self.values) < 2:
            return math.nan
        mean = sum(self.values) / len(self.values)
        return math.sqrt(sum((one - mean) ** 2 for one in self.values) / (len(self.values) - 1))


def tensor(values: Sequence[float], dtype: Any = None) -> Tensor:
    return Tensor(values)


def is_tensor(value: object) -> bool:
    return isinstance(value, Tensor)


def save(value: Any, path: str | Path) -> None:
    with open(path, "wb") as file:
        pickle.dump(value, file)


def load(path: str | Path, weights_only: bool = True) -> Any:
    with open(path, "rb") as file:
        return pickle.load(file)
