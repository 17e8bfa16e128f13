"""Messages as they are written and read, and what they must be."""

from __future__ import annotations

import json
import re
from typing import Any

from ._version import __version__
from .errors import ProtocolError, VersionMismatch

encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


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
