"""What a run with a real framework needs; what is not there skips the test, and says how to get it."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path
from typing import Protocol

import pytest


def installed(distribution: str, *versions: str) -> str:
    """The version of a distribution. Skips where it is missing, or where none of ``versions`` is there."""
    try:
        found = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        wanted = f"{distribution}=={versions[-1]}" if versions else distribution
        pytest.skip(f"{distribution} is not installed: pip install {wanted}", allow_module_level=True)
    if versions and found not in versions:
        pytest.skip(
            f"{distribution} is {found}, and this was written for {' or '.join(versions)}", allow_module_level=True
        )
    return found


def checkout(variable: str, inside: str) -> Path:
    """The checkout that an environment variable names, in which ``inside`` exists. Skips where there is none."""
    named = os.environ.get(variable)
    if not named:
        pytest.skip(f"{variable} names no checkout", allow_module_level=True)
    path = Path(named).expanduser().resolve()
    if not (path / inside).exists():
        pytest.fail(f"{variable} is {path}, which has no {inside}")
    return path


class Ran(Protocol):
    """The fixture ``ran``: writes a run down."""

    def __call__(
        self,
        framework: str,
        version: str,
        *,
        real: str,
        stands_in: str,
        steps: int,
        prompts: int,
        accounted: int,
        seconds: float | None = None,
        own_seconds: float | None = None,
        note: str = "",
    ) -> None: ...
