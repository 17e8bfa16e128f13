"""Headers that engines are asked with: a key, and others."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

key_variable = "ROLLFLEX_ENGINE_API_KEY"
"""The key for engines that were given none."""

_name = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# Headers that the client sets itself; vLLM would take the last of them for the id by which a request is aborted.
_ours = {"connection", "content-length", "content-type", "host", "transfer-encoding", "x-request-id"}


def headers_of(api_key: str | None, headers: Mapping[str, str] | None, *, environment: bool) -> dict[str, str]:
    """
    The headers of every request. With ``environment``, the variable gives the key if neither of them does. Raises
    ValueError for an invalid header; the message never contains a value.
    """
    found: dict[str, str] = {}
    for name, value in (headers or {}).items():
        if not _name.fullmatch(name):
            raise ValueError(f"headers: expected the name of a header, got {name!r}")
        if name.lower() in _ours:
            raise ValueError(f"headers: {name} is set by the client, leave it out")
        found[name] = _value(f"headers[{name!r}]", value)
    source = "api_key"
    if api_key is not None and has_key(found):
        raise ValueError("give api_key or an Authorization header, not both")
    if api_key is None and environment and not has_key(found) and os.environ.get(key_variable):
        api_key, source = os.environ[key_variable], key_variable
    if api_key is not None:
        if not _value(source, api_key):
            raise ValueError(f"{source} is empty: leave it out for a server without a key")
        found["Authorization"] = f"Bearer {api_key}"
    return found


def has_key(headers: Mapping[str, str]) -> bool:
    """Whether the headers contain a key."""
    return any(name.lower() == "authorization" for name in headers)


def _value(source: str, value: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{source}: expected text, got {type(value).__name__}")
    for at, one in enumerate(value):
        if ord(one) > 255 or (ord(one) < 32 and one != "\t") or ord(one) == 127:
            what = "a line break" if one in "\r\n" else "a character that no header can have"
            raise ValueError(f"{source}: expected Latin-1 text without line breaks, got {what} at {at} of {len(value)}")
    if value != value.strip():
        raise ValueError(f"{source}: expected no space at its ends, got {len(value) - len(value.strip())} there")
    return value
