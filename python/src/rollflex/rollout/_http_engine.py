"""What clients of SGLang and vLLM share: requests over plain HTTP, whole or as a stream."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from ._headers import has_key, headers_of, key_variable
from ._http import Address, HttpError, call, request
from .engines import Engine, Generated, Prompt
from .host import GenerationFailed

_fault_of_the_prompt = (400, 413, 422)
_no_access = (401, 403)
no_such_route = (404, 405, 501)


class HttpEngine(Engine):
    """
    A server at a URL. ``api_key`` is sent as a bearer token, and ``headers`` unchanged, with every request; without
    either, those of the pool are used, or the key in ``ROLLFLEX_ENGINE_API_KEY``. With ``stream``, an engine that has
    requests and streams nothing to any of them for ``stall_seconds`` is not healthy (None: there is no such limit).
    Raises ValueError for an invalid URL, key or header.
    """

    server = ""
    """Name of the server software, for messages."""

    def __init__(
        self,
        url: str,
        *,
        engine_id: str | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
        log_probs: bool = False,
        call_seconds: float = 10.0,
        poll_seconds: float = 0.5,
        stall_seconds: float | None = 600.0,
    ) -> None:
        address = Address.of(url)
        if "?" in url:
            # The URL is the id of the engine, and a query may have a key.
            raise ValueError("expected a URL without a query: api_key and headers are for keys")
        super().__init__(engine_id or url, poll_seconds=poll_seconds)
        self.url = url
        self._has_own_headers = api_key is not None or headers is not None
        self._address = replace(address, headers=headers_of(api_key, headers, environment=True))
        self._stream = stream
        self._log_probs = log_probs
        self._call_seconds = call_seconds
        self._stall_seconds = stall_seconds
        self._last_progress = 0.0

    def use_headers(self, headers: Mapping[str, str]) -> None:
        """Sets the pool's headers for an engine without its own."""
        if headers and not self._has_own_headers:
            self._address = replace(self._address, headers=headers)

    async def is_healthy(self) -> bool:
        self.trouble = await self._trouble()
        return not self.trouble

    async def _trouble(self) -> str:
        try:
            await self._call("GET", "/health")
        except asyncio.TimeoutError:
            return f"/health has no answer in {self._call_seconds:g} s"
        except HttpError as error:
            return str(error)
        except OSError as error:
            return f"/health: {error or type(error).__name__}"
        silence = time.monotonic() - self._last_progress
        if self._stream and self._stall_seconds is not None and self.load > 0 and silence > self._stall_seconds:
            return f"/health answers, but it has streamed nothing to its {self.load} requests for {silence:.0f} s"
        return ""

    async def _generate(self, found: Generated, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> None:
        if self.load == 1:
            self._last_progress = time.monotonic()
        try:
            await self._run(found, request_id, prompt, sampling)
        except HttpError as error:
            raise await self._failed(error) from error
        except ssl.SSLError as error:
            raise GenerationFailed(f"{self.id}: TLS: {error}: is it an https server, and trusted?", "setup") from error
        except OSError as error:
            raise GenerationFailed(f"{self.id}: {error or type(error).__name__}") from error

    async def _ask(self, found: Generated, path: str, body: dict[str, Any]) -> None:
        async with request(self._address, "POST", path, body, connect_seconds=self._call_seconds) as answer:
            if self._stream:
                await self._read_stream(found, answer.events(), path)
            else:
                self._read(found, json.loads(await answer.body()))

    async def _read_stream(self, found: Generated, events: AsyncIterator[Any], path: str) -> None:
        async for event in events:
            self._last_progress = time.monotonic()
            error = event.get("error") if isinstance(event, dict) else None
            if error is not None:
                status = error.get("code") if isinstance(error, dict) else None
                # An answer without a code comes from an older SGLang, which reports only bad prompts in this way.
                raise HttpError(status if isinstance(status, int) else 400, json.dumps(error), path)
            self._read(found, event)

    async def _call(self, method: str, path: str, body: Any = None) -> Any:
        return await call(self._address, method, path, body, timeout=self._call_seconds)

    async def _abort(self, request_id: str) -> None:
        try:
            await self._ask_abort(request_id)
        except HttpError as error:
            if error.status in _no_access:
                raise await self._failed(error) from error
            raise

    async def _failed(self, error: HttpError) -> GenerationFailed:
        """Returns the error, and advice if no further try can help."""
        said = f"{self.id}: {error}"
        if error.status in _fault_of_the_prompt:
            return GenerationFailed(said, "data")
        if error.status in _no_access:
            has = has_key(self._address.headers)
            sent = "the server does not accept the key that it was given" if has else "no key was given"
            where = f"api_key or headers of {type(self).__name__} or EnginePool, or {key_variable}"
            return GenerationFailed(f"{said}: {sent}: set {where}{self._of_access}", "setup")
        if error.status in no_such_route:
            return GenerationFailed(f"{said}: {await self._missing(error)}", "setup")
        return GenerationFailed(said)

    _of_access = ""
    """Returns other possible causes of a 401 or 403."""

    async def _missing(self, error: HttpError) -> str:
        """Returns the meaning of a 404."""
        return f"give the URL of a server of {self.server}, without the path of a route"

    async def _ask_abort(self, request_id: str) -> None:
        raise NotImplementedError

    async def _run(self, found: Generated, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> None:
        """Asks for a response by :meth:`_ask`. Raises :class:`HttpError`."""
        raise NotImplementedError

    def _read(self, found: Generated, answer: Any) -> None:
        """Takes an answer, or an event of a stream."""
        raise NotImplementedError
