"""Clients of SGLang and vLLM servers, over plain HTTP: generate, abort one request, health."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ._http import Address, HttpError, call, request
from .host import GenerationFailed

Prompt = str | Sequence[int]
"""Text, or ids of tokens."""
Finish = Literal["stop", "length", "abort"]
_no_such_route = (404, 405, 501)
_fault_of_the_prompt = (400, 413, 422)


@dataclass
class Generated:
    """What an engine has generated."""

    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    tokens: int = 0
    """Those that this request has generated."""
    finish: Finish | None = None
    """None while it runs."""
    log_probs: list[float] | None = None
    weight_version: str | None = None
    engine_id: str = ""


class Engine:
    """One server."""

    def __init__(
        self,
        url: str,
        *,
        engine_id: str | None = None,
        stream: bool = False,
        log_probs: bool = False,
        call_seconds: float = 10.0,
        poll_seconds: float = 0.5,
    ) -> None:
        self.url = url
        self.id = engine_id or url
        self._address = Address.of(url)
        self._stream = stream
        self._log_probs = log_probs
        self._call_seconds = call_seconds
        self._poll_seconds = poll_seconds
        self._running: dict[str, asyncio.Event] = {}
        self._partial: dict[str, Generated] = {}

    @property
    def load(self) -> int:
        """Requests of this client that run there."""
        return len(self._running)

    async def generate(self, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> Generated:
        """
        Generates one response; ``sampling`` is in the words of the server. What was aborted ends with ``abort``, and
        has what was generated until then. A cancellation closes the connection. Raises
        :class:`~rollflex.rollout.GenerationFailed`.
        """
        if request_id in self._running:
            raise ValueError(f"request {request_id} runs already")
        over = self._running[request_id] = asyncio.Event()
        found = self._partial[request_id] = Generated(engine_id=self.id)
        try:
            await self._ask(found, *self._question(request_id, prompt, sampling))
            return found
        except HttpError as error:
            kind: Literal["data", "infrastructure"] = "infrastructure"
            if error.status in _fault_of_the_prompt:
                kind = "data"
            raise GenerationFailed(f"{self.id}: {error}", kind) from error
        finally:
            over.set()
            del self._running[request_id], self._partial[request_id]

    async def abort(self, request_id: str) -> None:
        """Aborts one request, and asks again until it has ended: an engine may miss the first time."""
        over = self._running.get(request_id)
        while over is not None and not over.is_set():
            await self._abort(request_id)
            try:
                await asyncio.wait_for(over.wait(), self._poll_seconds)
            except asyncio.TimeoutError:
                continue

    async def is_healthy(self) -> bool:
        try:
            await call(self._address, "GET", "/health", timeout=self._call_seconds)
        except (OSError, HttpError, asyncio.TimeoutError):
            return False
        return True

    def running(self) -> list[str]:
        return list(self._running)

    async def _ask(self, found: Generated, path: str, body: dict[str, Any]) -> None:
        async with request(self._address, "POST", path, body, connect_seconds=self._call_seconds) as answer:
            if answer.status >= 300:
                raise HttpError(answer.status, (await answer.body()).decode("utf-8", "replace"))
            if self._stream:
                await self._read_stream(found, answer.events())
            else:
                self._read(found, json.loads(await answer.body()))

    async def _read_stream(self, found: Generated, events: AsyncIterator[Any]) -> None:
        async for event in events:
            if isinstance(event, dict) and "error" in event:
                raise GenerationFailed(f"{self.id}: {event['error']}", "data")
            self._read(found, event)

    def _question(self, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        raise NotImplementedError

    def _read(self, found: Generated, answer: Any) -> None:
        """Takes an answer, or an event of a stream."""
        raise NotImplementedError

    async def _abort(self, request_id: str) -> None:
        raise NotImplementedError


def rid_of(request_id: str) -> str:
    """SGLang aborts every request whose id begins with the one that is named: no id is the beginning of another."""
    return f"{request_id}|"


class SglangEngine(Engine):
    """A server of SGLang: ``/generate`` and ``/abort_request``. Sampling is what ``sampling_params`` has."""

    def _question(self, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {"rid": rid_of(request_id), "sampling_params": dict(sampling), "stream": self._stream}
        body |= {"text": prompt} if isinstance(prompt, str) else {"input_ids": list(prompt)}
        if self._log_probs:
            body["return_logprob"] = True
        return "/generate", body

    def _read(self, found: Generated, answer: Any) -> None:
        meta = answer["meta_info"]
        ids = answer.get("output_ids")
        found.tokens = int(meta.get("completion_tokens", found.tokens))
        # Servers stream either all so far, or what is new.
        if ids is None or len(ids) >= found.tokens or not self._stream:
            found.text, found.token_ids = answer["text"], list(ids or ())
        else:
            found.text += answer["text"]
            found.token_ids += ids
        if "output_token_logprobs" in meta:
            listed = meta["output_token_logprobs"]
            log_probs = [float(one[0]) for one in listed]
            is_whole = len(log_probs) >= found.tokens or found.log_probs is None
            found.log_probs = log_probs if is_whole else [*(found.log_probs or ()), *log_probs]
            if ids is None:
                found.token_ids = [int(one[1]) for one in listed]
        found.weight_version = meta.get("weight_version")
        reason = meta.get("finish_reason")
        if reason is not None:
            kind = reason["type"] if isinstance(reason, dict) else reason
            found.finish = kind if kind in ("length", "abort") else "stop"

    async def _abort(self, request_id: str) -> None:
        await call(self._address, "POST", "/abort_request", {"rid": rid_of(request_id)}, timeout=self._call_seconds)


class VllmEngine(Engine):
    """
    A server of vLLM: ``/v1/completions``. Sampling parameters are fields of its body. Aborts go to ``/abort_requests``
    where that route exists; elsewhere closing the connection is how vLLM is told to stop.
    """

    def __init__(self, url: str, *, model: str, stream: bool = True, **options: Any) -> None:
        super().__init__(url, stream=stream, **options)
        self._model = model
        self._has_route = True
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def _ask(self, found: Generated, path: str, body: dict[str, Any]) -> None:
        id = body["request_id"]
        task = self._asking[id] = asyncio.get_running_loop().create_task(super()._ask(found, path, body))
        try:
            await asyncio.wait([task])
        finally:
            del self._asking[id]
            # The connection is closed before anybody is told that it is over.
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if task.cancelled():
            found.finish = "abort"
        else:
            task.result()

    def _question(self, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {
            **sampling,
            "model": self._model,
            "prompt": prompt if isinstance(prompt, str) else list(prompt),
            "stream": self._stream,
            "request_id": request_id,
            "return_token_ids": True,
        }
        if self._stream:
            body["stream_options"] = {"include_usage": True, "continuous_usage_stats": True}
        if self._log_probs:
            body["logprobs"] = 0
        return "/v1/completions", body

    def _read(self, found: Generated, answer: Any) -> None:
        for choice in answer.get("choices", ()):
            found.text += choice["text"]
            ids = choice.get("token_ids")
            if ids is not None:
                found.token_ids += ids
            log_probs = choice.get("logprobs")
            if log_probs is not None:
                found.log_probs = [*(found.log_probs or ()), *log_probs["token_logprobs"]]
            reason = choice.get("finish_reason")
            if reason is not None:
                found.finish = reason if reason in ("length", "abort") else "stop"
        usage = answer.get("usage")
        found.tokens = int(usage["completion_tokens"]) if usage else len(found.token_ids)

    async def _abort(self, request_id: str) -> None:
        if self._has_route:
            ids = {"request_ids": [f"cmpl-{request_id}-0"]}
            try:
                await call(self._address, "POST", "/abort_requests", ids, timeout=self._call_seconds)
                return
            except HttpError as error:
                if error.status not in _no_such_route:
                    raise
                self._has_route = False
        asking = self._asking.get(request_id)
        if asking is not None:
            asking.cancel()
