"""Functions by their paths, and singletons."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any


@cache
def load_function(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


class SingletonMeta(type):
    _instances: dict[type, Any] = {}  # noqa: RUF012

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if cls not in SingletonMeta._instances:
            SingletonMeta._instances[cls] = super().__call__(*args, **options)
        return SingletonMeta._instances[cls]
