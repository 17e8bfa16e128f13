"""What the clients for threads and for asyncio share: how they are made, and what they go through."""

from __future__ import annotations

import math
import os
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Generic, Literal, NoReturn, TypeVar

from ._command import Command, server_command, with_room
from ._connected import ConnectedCore
from ._core import Core
from ._embedded import EmbeddedCore
from ._link import ChildLink, SocketLink
from ._opening import Embedding, Opening, Path_, Reconnect

Made = TypeVar("Made")
"""What a constructor gives: a client, or a client to be awaited."""


class ClientBase(Generic[Made]):
    """Base of clients, with the ways to make one."""

    def __init__(self, opening: Opening | Embedding | None = None, **options: NoReturn) -> None:
        for name in options:
            ways = [way for way in ("embedded", "spawn", "connect") if name in signature(getattr(self, way)).parameters]
            where = f": {type(self).__name__}.{ways[0]}({name}=…) has it" if ways else ""
            raise TypeError(f"{type(self).__name__}() has no option {name}{where}")
        opening = opening or Embedding()
        self._core: Core = EmbeddedCore(opening) if isinstance(opening, Embedding) else ConnectedCore(opening)
        self.timeout = opening.timeout
        """Seconds that a call may take, unless the call says otherwise."""
        self._finalizer = weakref.finalize(self, self._core.close)

    @classmethod
    def embedded(
        cls,
        *,
        state_dir: Path_ | None = None,
        fsync: Literal["always", "interval"] | None = None,
        log_dir: Path_ | None = None,
        limits: Mapping[str, float] | None = None,
        memory_limit: int | None = None,
        time_limit: float | None = None,
        timeout: float = 60.0,
    ) -> Made:
        """
        Runs the policies in this process: no server, no Node.js. Sessions belong to this client. They end with it, or
        continue in the next client with the same state directory.

        :param state_dir: where sessions are kept: what was acknowledged survives ``kill -9``
        :param fsync: when what was acknowledged is on the disk (``always``), or a second later (``interval``)
        :param log_dir: where events and decisions are written down
        :param limits: bounds, by their names (``maxSessions``)
        :param memory_limit: bytes that the policies may take, and each plan that is computed; any if it is not given
        :param time_limit: seconds of processor time, of all threads of this process, that a call may take
        :param timeout: seconds that a call may take; :data:`math.inf` for any
        :raises ValueError: limits that are none, or what contradicts each other
        """

        def opening() -> Embedding:
            for name, limit in (("memory_limit", memory_limit), ("time_limit", time_limit)):
                if limit is not None and not limit > 0:
                    raise ValueError(f"{name} is to be more than 0, not {limit!r}")
            if fsync is not None and (state_dir is None or fsync not in ("always", "interval")):
                raise ValueError(
                    f'fsync is "always" or "interval", beside a state_dir, not {fsync!r} beside {state_dir!r}'
                )
            return Embedding(
                limits or {},
                memory_limit,
                time_limit,
                timeout,
                state_dir=None if state_dir is None else os.fspath(state_dir),
                fsync=fsync or "always",
                log_dir=None if log_dir is None else os.fspath(log_dir),
            )

        return cls._made(opening)

    @classmethod
    def spawn(
        cls,
        command: Command | None = None,
        *,
        state_dir: Path_ | None = None,
        fsync: Literal["always", "interval"] | None = None,
        policies: Path_ | None = None,
        limits: Mapping[str, float] | None = None,
        metrics_port: int | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        timeout: float = 60.0,
        check_version: bool = True,
        reconnect: Reconnect | None = None,
    ) -> Made:
        """
        Starts a server for this client, on standard input and output. The server ends when this process ends.

        :param command: what starts it, without ``serve``; see :func:`rollflex.server_command`
        :param state_dir: where sessions are kept; with it the server is started again when it has died
        :param fsync: when what was acknowledged is on the disk (``always``), or soon after (``interval``)
        :param policies: a module with definitions of one's own
        :param limits: bounds of the server, by their names (``maxSessions``)
        :param args: further options of ``rollflex serve``
        :param env: variables of its environment, beside those of this process
        :param timeout: seconds that a call may take; :data:`math.inf` for any
        """

        def opening() -> Opening:
            words = [*server_command(command), "serve", "--stdio"]
            given = {"state-dir": state_dir, "fsync": fsync, "policies": policies, "metrics-port": metrics_port}
            for name, value in given.items():
                if value is not None:
                    words += [f"--{name}", os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
            for name, bound in (limits or {}).items():
                # maxSessions as --max-sessions.
                words += ["--" + re.sub(r"[A-Z]", lambda letter: "-" + letter[0].lower(), name), str(bound)]
            words += args
            return Opening(
                open=lambda timeout: ChildLink(words, with_room(env)),
                token=None,
                restorable=state_dir is not None,
                timeout=timeout,
                wait=0.0,
                check_version=check_version,
                reconnect=reconnect or Reconnect(),
            )

        return cls._made(opening)

    @classmethod
    def connect(
        cls,
        path: Path_ | None = None,
        *,
        host: str | None = None,
        port: int | None = None,
        token: str | None = None,
        token_file: Path_ | None = None,
        timeout: float = 60.0,
        wait: float = 0.0,
        check_version: bool = True,
        reconnect: Reconnect | None = None,
    ) -> Made:
        """
        Connects to a server that listens at a Unix socket, or at a TCP port.

        :param wait: seconds in which the server may still be coming up
        :raises ValueError: options that contradict each other
        """

        def opening() -> Opening:
            if (path is None) == (port is None):
                raise ValueError("give either the path of a Unix socket, or a port")
            if path is not None and host is not None:
                raise ValueError("a Unix socket has no host")
            if token is not None and token_file is not None:
                raise ValueError("give either a token or a token_file")
            address = os.fspath(path) if path is not None else (host or "127.0.0.1", int(port or 0))
            return Opening(
                open=lambda timeout: SocketLink(address, timeout),
                token=token if token_file is None else Path(token_file).read_text(encoding="utf-8").strip(),
                restorable=True,
                timeout=timeout,
                wait=wait,
                check_version=check_version,
                reconnect=reconnect or Reconnect(),
            )

        return cls._made(opening)

    @classmethod
    def _made(cls, opening: Callable[[], Opening | Embedding]) -> Made:
        raise NotImplementedError

    def _deadline_after(self, timeout: float | None, now: float) -> float | None:
        """Returns the time at which a call that begins now is given up; infinity means never."""
        seconds = self.timeout if timeout is None else timeout
        return None if seconds == math.inf else now + seconds
