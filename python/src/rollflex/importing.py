"""
Reads what slime saves by ``--save-debug-rollout-data`` (or ``--dump-details``) and writes JSON lines for
``rollflex import``: ``python -m rollflex.importing rollout_*.pt | rollflex import -``.

The files are pickles in the zip format of ``torch.save``. Nothing in them is executed or imported: every class and
function that a file names is replaced by an empty stand-in, of tensors and arrays only the shape is read, and torch is
not needed. Only numbers are written, and no text. One file at a time is in memory.

Follows slime at commit 624b824 (21 August 2026): ``slime/observability/rollout_data_utils.py`` and
``slime/utils/types.py``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import pickle
import struct
import sys
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TextIO

__all__ = ["DumpError", "main", "slime_samples"]


class DumpError(ValueError):
    """A file that is not a dump of slime, or a broken one; the message says what is wrong, and where."""


class _Stand:
    """Stand-in for objects whose class is not built in. It ignores everything that a pickle does to it."""

    def __new__(cls, *args: Any, **kwargs: Any) -> _Stand:
        return super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.shape: tuple[int, ...] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> _Stand:
        return _Stand()

    def __setstate__(self, state: Any) -> None:
        # The state of a NumPy array: (version, shape, dtype, is_fortran, bytes).
        if isinstance(state, tuple) and len(state) == 5 and isinstance(state[1], tuple):
            self.shape = state[1]

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def append(self, value: Any) -> None:
        pass

    def extend(self, values: Any) -> None:
        pass

    def add(self, value: Any) -> None:
        pass


def _tensor(*args: Any) -> _Stand:
    # torch._utils._rebuild_tensor_v2(storage, offset, size, stride, …)
    stand = _Stand()
    if len(args) > 2 and isinstance(args[2], tuple):
        stand.shape = args[2]
    return stand


_harmless: Mapping[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch._utils", "_rebuild_tensor"): _tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_tensor_v3"): _tensor,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        return _harmless.get((module, name), _Stand)

    def persistent_load(self, pid: Any) -> Any:
        return _Stand()


def slime_samples(path: str | Path) -> Iterator[dict[str, Any]]:
    """
    Yields the samples of a file as lines for ``rollflex import``: ``step``, ``group_index``, ``index``, ``rollout_id``,
    ``prompt`` (a fingerprint that recognises repeated prompts), ``prompt_tokens``, ``response_length``, ``status``,
    ``reward``.

    :raises DumpError: for a file that is no dump of slime
    :raises OSError: if it cannot be read
    """
    saved = _read(path)
    samples = saved.get("samples") if isinstance(saved, dict) else None
    if not isinstance(samples, list):
        raise DumpError(f"{path}: expected a dict with 'samples', as slime saves, got {_shown(saved)}")
    step = _count(saved.get("rollout_id"))
    for index, sample in enumerate(samples):
        if not isinstance(sample, dict):
            raise DumpError(f"{path}: samples[{index}]: expected a dict, got {_shown(sample)}")
        yield _line(sample, step, f"{path}: samples[{index}]")


def _read(path: str | Path) -> Any:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith("/data.pkl") or name == "data.pkl"]
            if len(names) != 1:
                raise DumpError(f"{path}: expected a file of torch.save, got a zip file without data.pkl")
            with archive.open(names[0]) as file:
                return _Unpickler(file).load()
    except zipfile.BadZipFile as error:
        raise DumpError(f"{path}: expected a zip file of torch.save, got something else, or a part of it") from error
    except (
        pickle.UnpicklingError,
        EOFError,
        ArithmeticError,
        AttributeError,
        LookupError,
        NotImplementedError,
        RuntimeError,
        TypeError,
        ValueError,
        struct.error,
        zlib.error,
    ) as error:
        if isinstance(error, DumpError):
            raise
        raise DumpError(f"{path}: its pickle is broken: {error}") from error


def _line(sample: Mapping[str, Any], step: int | None, where: str) -> dict[str, Any]:
    length = _count(sample.get("response_length"))
    if length is None:
        got = _shown(sample.get("response_length"))
        raise DumpError(f"{where}.response_length: expected a whole number >= 0, got {got}")
    status = sample.get("status")
    if not isinstance(status, str):
        raise DumpError(f"{where}.status: expected a string, got {_shown(status)}")
    group = _count(sample.get("group_index"))
    tokens = _length(sample.get("tokens"))
    line: dict[str, Any] = {
        "step": step,
        "group_index": group,
        "index": _count(sample.get("index")),
        "rollout_id": _count(sample.get("rollout_id")),
        "prompt_tokens": tokens - length if tokens is not None and tokens >= length else None,
        "response_length": length,
        "status": status,
        "reward": _reward(sample.get("reward")),
    }
    if group is None or sample.get("prompt") is not None:
        line["prompt"] = hashlib.sha256(repr(sample.get("prompt")).encode()).hexdigest()[:20]
    return line


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _length(value: Any) -> int | None:
    if isinstance(value, _Stand):
        return value.shape[0] if value.shape else None
    return len(value) if isinstance(value, Sequence) and not isinstance(value, str) else None


def _reward(value: Any) -> Any:
    """Converts a number, or a correctness field of verl-like reward functions; returns None for any other value."""
    if isinstance(value, dict):
        return {key: value[key] for key in ("acc", "score") if _reward(value.get(key)) is not None}
    if isinstance(value, (bool, int)):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else None


def _shown(value: Any) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {str(value)[:40]}"


def main(arguments: Sequence[str] | None = None, out: TextIO | None = None, err: IO[str] | None = None) -> int:
    """The command line. Returns the exit code: 0 done, 2 wrong use or bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m rollflex.importing",
        description="Write the samples of slime's --save-debug-rollout-data as JSON lines of numbers.",
        epilog="python -m rollflex.importing rollouts/*.pt | rollflex import - --output mine.jsonl",
    )
    parser.add_argument("file", nargs="+", help="a .pt file of slime")
    out, err = out or sys.stdout, err or sys.stderr
    for path in parser.parse_args(arguments).file:
        try:
            for line in slime_samples(path):
                out.write(json.dumps(line, separators=(",", ":")) + "\n")
        except BrokenPipeError:
            # The reader has what it wants, or has reported the error.
            sys.stderr.close()
            return 0
        except OSError as error:
            err.write(f"rollflex.importing: {path}: {(error.strerror or str(error)).lower()}\n")
            return 2
        except DumpError as error:
            err.write(f"rollflex.importing: {error}\n")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
