"""Servers of vLLM."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ._http import HttpError, call
from ._http_engine import HttpEngine
from .engines import Generated, Prompt

_no_such_route = (404, 405, 501)


class VllmEngine(HttpEngine):
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
