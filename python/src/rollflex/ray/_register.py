"""Who serves, and with which mirror: configurations with numbers, each of which is decided once, in Ray's GCS."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TypeVar

from ray.experimental.internal_kv import _internal_kv_del, _internal_kv_get, _internal_kv_list, _internal_kv_put

T = TypeVar("T")

_log = logging.getLogger("rollflex.ray")
_space = b"rollflex"
_retry_seconds = 0.25


@dataclass(frozen=True)
class Configuration:
    """The server and its mirror, valid from this number until there is a higher one."""

    number: int
    generation: int
    """Number of takeovers, plus one."""
    member: str
    """Name of the server's actor."""
    instance: str
    """Id of the actor's process; a new process has another id."""
    node: str
    mirror: str
    """Name of the mirror's actor."""


class Register:
    """
    The configurations of a pair of actors. Each number can be written once: of two servers that both want to continue,
    one gets the number, and the other must stop.
    """

    def __init__(self, namespace: str, name: str, incarnation: str) -> None:
        self._prefix = f"{_prefix_of(namespace, name)}{incarnation}:"

    def latest(self) -> Configuration | None:
        """
        Returns the valid configuration; None before the first, and after :func:`forget`. Blocks until it is known.
        """

        def read() -> Configuration | None:
            keys = _internal_kv_list(self._prefix.encode(), namespace=_space)
            found = _internal_kv_get(max(keys), namespace=_space) if keys else None
            return None if found is None else Configuration(**json.loads(found))

        return _until_known(read)

    def decide(self, wanted: Configuration) -> bool:
        """
        Whether this configuration is valid from now on; if not, its number belongs to another one. Blocks until this is
        known.
        """
        key, value = f"{self._prefix}{wanted.number:012}".encode(), json.dumps(asdict(wanted)).encode()

        def write() -> bool:
            _internal_kv_put(key, value, overwrite=False, namespace=_space)
            # The result of the call is not used: a repeated call would find the value that it had written itself.
            return bool(_internal_kv_get(key, namespace=_space) == value)

        return _until_known(write)


def _until_known(ask: Callable[[], T]) -> T:
    """Nothing may be acknowledged while nobody can say who serves: the GCS may be coming back."""
    while True:
        try:
            return ask()
        except Exception as error:
            _log.warning("the GCS does not answer: %s", error)
            time.sleep(_retry_seconds)


def forget(namespace: str, name: str) -> None:
    """Deletes all configurations of a name."""
    _internal_kv_del(_prefix_of(namespace, name).encode(), del_by_prefix=True, namespace=_space)


def _prefix_of(namespace: str, name: str) -> str:
    # The JSON form keeps namespace and name apart.
    return f"{json.dumps([namespace, name])}:"
