"""As much of HTTP/1.1 as inference engines need: JSON there, JSON or server-sent events back, over asyncio streams."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

_longest_line = 1 << 26


class HttpError(Exception):
    """An unsuccessful answer."""

    def __init__(self, status: int, text: str, path: str) -> None:
        super().__init__(f"{path} answers {status}: {text[:500]}")
        self.status = status
        self.path = path


@dataclass(frozen=True)
class Address:
    """Where a server is."""

    host: str
    port: int
    path: str
    is_secure: bool
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Headers of every request, which may be secret."""

    @classmethod
    def of(cls, url: str) -> Address:
        """Parses a URL. Raises ValueError for a text that is not a server's address."""
        parts = urlsplit(url)
        if parts.username is not None:
            raise ValueError("expected a URL without a user and a password: api_key and headers are for those")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"expected a URL such as http://10.0.0.1:30000, got {url!r}")
        is_secure = parts.scheme == "https"
        return cls(parts.hostname, parts.port or (443 if is_secure else 80), parts.path.rstrip("/"), is_secure)

    def without_secrets(self, text: str) -> str:
        """Removes secrets from a server's answer, because some servers repeat the key."""
        for value in self.headers.values():
            for secret in (value, value.removeprefix("Bearer ")):
                text = text.replace(secret, "…") if len(secret) > 3 else text
        return text


class Answer:
    """An answer whose body is being read. Closing it early closes the connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.status = 0
        self._length: int | None = None
        self._is_chunked = False

    async def head(self) -> None:
        """Raises ConnectionError if the server's answer is not HTTP."""
        words = (await self._line()).split(None, 2)
        if len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdigit():
            raise ConnectionError("the server closed the connection, or does not speak HTTP")
        self.status = int(words[1])
        while line := await self._line():
            name, _, value = line.partition(":")
            if name.lower() == "content-length":
                self._length = int(value)
            elif name.lower() == "transfer-encoding" and "chunked" in value.lower():
                self._is_chunked = True
        if self.status == 100:
            await self.head()

    async def parts(self) -> AsyncIterator[bytes]:
        """Yields the body as it comes. Raises ConnectionError if it is cut short."""
        try:
            if self._is_chunked:
                while size := int((await self._reader.readuntil(b"\n")).split(b";")[0], 16):
                    yield await self._reader.readexactly(size)
                    await self._reader.readexactly(2)
            elif self._length is not None:
                yield await self._reader.readexactly(self._length)
            else:
                while data := await self._reader.read(65536):
                    yield data
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError("the connection was closed in the middle of an answer") from error

    async def body(self) -> bytes:
        return b"".join([part async for part in self.parts()])

    async def events(self) -> AsyncIterator[Any]:
        """Yields parsed server-sent events until ``[DONE]``. Raises ConnectionError if they end earlier."""
        left = b""
        async for part in self.parts():
            *lines, left = (left + part).split(b"\n")
            for line in lines:
                if line.startswith(b"data:"):
                    text = line[5:].strip()
                    if text == b"[DONE]":
                        return
                    yield json.loads(text)
        raise ConnectionResetError("the stream ended without [DONE]")

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), 5)

    async def _line(self) -> str:
        return (await self._reader.readline()).rstrip(b"\r\n").decode("latin-1")


@contextlib.asynccontextmanager
async def request(
    address: Address, method: str, path: str, body: Any = None, *, connect_seconds: float = 10.0
) -> AsyncIterator[Answer]:
    """
    Sends one request on a separate connection. Leaving early closes the connection, which tells vLLM to stop. Raises
    :class:`HttpError` for an unsuccessful answer.
    """
    secure = ssl.create_default_context() if address.is_secure else None
    opening = asyncio.open_connection(address.host, address.port, ssl=secure, limit=_longest_line)
    try:
        reader, writer = await asyncio.wait_for(opening, connect_seconds)
    except asyncio.TimeoutError:
        raise ConnectionError(f"{address.host}:{address.port} takes no connection") from None
    answer = Answer(reader, writer)
    try:
        content = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in address.headers.items())
        head = (
            f"{method} {address.path}{path} HTTP/1.1\r\nHost: {address.host}:{address.port}\r\nConnection: close\r\n"
            f"Accept: */*\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n{more}\r\n"
        )
        writer.write(head.encode("latin-1") + content)
        await writer.drain()
        await answer.head()
        if answer.status >= 300:
            said = address.without_secrets((await answer.body()).decode("utf-8", "replace"))
            raise HttpError(answer.status, said, path)
        yield answer
    finally:
        await answer.close()


async def call(address: Address, method: str, path: str, body: Any = None, *, timeout: float) -> Any:
    """A call with a short answer: JSON, or nothing. Raises :class:`HttpError`, OSError, asyncio.TimeoutError."""

    async def ask() -> Any:
        async with request(address, method, path, body, connect_seconds=timeout) as answer:
            content = await answer.body()
            try:
                return json.loads(content) if content else None
            except ValueError:
                return content.decode("utf-8", "replace")

    return await asyncio.wait_for(ask(), timeout)
