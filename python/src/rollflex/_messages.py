"""Messages as they are written and read, and what they must be."""

from __future__ import annotations

import json
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
