"""Byte streams to a server: the pipes of a child process, a Unix socket, TCP. None of them ever blocks."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Protocol

from .errors import ServerUnavailable

_log = logging.getLogger("rollflex.server")
_kept_stderr = 16_384


class Link(Protocol):
    """A connected stream, both ends non-blocking."""

    read_fd: int
    write_fd: int

    def end(self) -> None:
        """Says that nothing more will be written."""

    def close(self, grace: float) -> None:
        """Closes the link; a child process gets so many seconds to end by itself."""

    def abandon(self) -> None:
        """Leaves the link, in a forked process, without a message to the other end."""

    def epitaph(self) -> str:
        """Describes how the link ended, for messages."""


class ChildLink:
    """A server that this process has started."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None) -> None:
        try:
            # The server gets its own process group: Ctrl-C in a terminal is meant for the program, which may still want
            # a snapshot.
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=env,
                start_new_session=True,
            )
        except OSError as error:
            raise ServerUnavailable(f"cannot start {command[0]}: {error.strerror or error}") from error
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self.pid = self._process.pid
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self.write_fd, self.read_fd = self._stdin.fileno(), self._stdout.fileno()
        for fd in (self.write_fd, self.read_fd):
            os.set_blocking(fd, False)
            # The buffer is larger than a pipe's default; where this is impossible, the default works as well.
            with contextlib.suppress(AttributeError, OSError):
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 1 << 20)
        self._said = bytearray()
        self._listener = threading.Thread(target=self._listen, name="rollflex-stderr", daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        """Keeps the last lines of the server's standard error, and logs them."""
        stderr = self._process.stderr
        assert stderr
        with contextlib.suppress(OSError, ValueError):
            while chunk := stderr.read(8192):
                self._said += chunk
                del self._said[:-_kept_stderr]
                if _log.isEnabledFor(logging.INFO):
                    for line in chunk.decode("utf-8", "replace").splitlines():
                        _log.info("%s", line)

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._stdin.close()

    def close(self, grace: float) -> None:
        self.end()
        process = self._process
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            for number in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(1)
                    break
        self._listener.join(0.5)
        with contextlib.suppress(OSError):
            self._stdout.close()
        if not self._listener.is_alive() and process.stderr is not None:
            process.stderr.close()

    def abandon(self) -> None:
        for stream in (self._stdin, self._stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        # The process is not a child of this one.
        self._process.returncode = 0

    def epitaph(self) -> str:
        # The output has ended, so the server is ending; its last messages may still be on the way.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._listener.join(0.5)
        code = self._process.returncode
        if code is None:
            how = "the server closed its output"
        elif code < 0:
            how = f"the server was ended by {_signal_name(-code)}"
        else:
            how = f"the server left with exit code {code}"
        said = bytes(self._said).decode("utf-8", "replace").strip()
        return f"{how}; its last words:\n{said}" if said else how


def _signal_name(number: int) -> str:
    # Signals for real-time use have no names.
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


class SocketLink:
    """A connection to a server that listens."""

    def __init__(self, address: str | tuple[str, int], timeout: float) -> None:
        self._name = address if isinstance(address, str) else f"{address[0]}:{address[1]}"
        try:
            if isinstance(address, str):
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                try:
                    self._socket.settimeout(timeout)
                    self._socket.connect(address)
                except BaseException:
                    self._socket.close()
                    raise
            else:
                self._socket = socket.create_connection(address, timeout)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except OSError as error:
            raise ServerUnavailable(f"cannot connect to {self._name}: {error.strerror or error}") from error
        self._socket.setblocking(False)
        self.read_fd = self.write_fd = self._socket.fileno()

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def close(self, grace: float) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def abandon(self) -> None:
        self._socket.close()

    def epitaph(self) -> str:
        return f"the server at {self._name} closed the connection"
