"""Messages as they are written and read, and what they must be."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from types import NoneType
from typing import Any

from ._version import __version__
from .errors import ProtocolError, VersionMismatch

encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def encoded(value: object, name: str = "") -> str:
    """
    A value as JSON. Raises TypeError or ValueError with the path of what JSON lacks, such as ``event[2].reward: NaN``.

    :param name: first word of the path
    """
    try:
        return encode(value)
    except (TypeError, ValueError) as error:
        found = _misfit(value, name, ())
        if found is None:
            raise
        raise type(error)(f"{found}, which is not in JSON") from error


def _misfit(value: object, path: str, inside: tuple[int, ...]) -> str | None:
    """What JSON lacks in a value, and its path."""
    if value is None or isinstance(value, (str, int)):
        return None
    if isinstance(value, float):
        if math.isfinite(value):
            return None
        return f"{path}: {'NaN' if math.isnan(value) else 'Infinity' if value > 0 else '-Infinity'}"
    if id(value) in inside:
        return f"{path}: an object that holds itself"
    around = (*inside, id(value))
    parts: Iterable[tuple[str, object]]
    if isinstance(value, dict):
        wrong = next((key for key in value if not isinstance(key, (str, int, float, NoneType))), None)
        if wrong is not None:
            return f"{path}: a key of type {_type_of(wrong)}"
        parts = ((f"{path}.{key}" if path else str(key), one) for key, one in value.items())
    elif isinstance(value, (list, tuple)):
        parts = ((f"{path}[{index}]", one) for index, one in enumerate(value))
    else:
        return f"{path}: a value of type {_type_of(value)}"
    return next((found for at, one in parts if (found := _misfit(one, at, around)) is not None), None)


def _type_of(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def body_of(method: str, params: str) -> bytes:
    return f'"method":"{method}","params":{params}}}\n'.encode()


def parsed(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the server wrote what is no JSON: {line[:200]!r}") from error
    if not isinstance(message, dict):
        raise ProtocolError(f"the server wrote what is no message: {line[:200]!r}")
    return message


def result_of(message: dict[str, Any]) -> dict[str, Any]:
    result = message.get("result")
    if not isinstance(result, dict):
        raise ProtocolError(f"a result that is no object: {message!r:.200}")
    return result


def check_version(version: object) -> None:
    """Below 1.0 the minor version must be the same, from then on the major."""
    ours, theirs = __version__.split("."), str(version).split(".")
    size = 2 if ours[0] == "0" else 1
    if theirs[:size] != ours[:size]:
        raise VersionMismatch(
            f"the server is rollflex {version}, this is the Python package {__version__}: install the same version "
            "of both (or pass check_version=False)"
        )


_escaped = re.compile(rb"\\.")
_string = re.compile(rb'"[^"]*"')
_as_lists = bytes.maketrans(b"{}", b"[]")
_no_mark = bytes(set(range(256)) - set(b'[]{}"'))


def is_deeper_than(text: str, most: int) -> bool:
    """
    Whether lists and objects in a message (JSON in ASCII) are nested deeper than a limit, counted as the server does.
    """
    if text.count("{") + text.count("[") <= most:
        return False
    data = text.encode()
    if b"\\" in data:
        data = _escaped.sub(b"", data)
    # A string without brackets is now two quotes, and such a pair has no effect on its surroundings.
    marks = _string.sub(b"", data.translate(_as_lists, _no_mark).replace(b'""', b""))
    for _ in range(most):
        # All innermost brackets are removed at once, which leaves one level less.
        marks = marks.replace(b"[]", b"")
        if not marks:
            return False
    return True


def too_deep(most: int) -> dict[str, Any]:
    """The server's answer to a message that is nested too deeply."""
    data = {"code": "limit_exceeded", "path": "", "expected": f"at most {most} levels", "got": '"more"'}
    return {"error": {"code": -32000, "message": f'expected {data["expected"]}, got "more"', "data": data}}
