"""Servers of vLLM."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ._http import HttpError
from ._http_engine import HttpEngine, no_such_route
from ._vllm_tokens import fits_tokens, log_probs_of, tokens_path, tokens_question
from .engines import Generated, Prompt, WeightSpan

# A server without --enable-scale-out answers 403, and an older server 404.
_not_served = (403, *no_such_route)
# Defaults of the route for tokens. /v1/completions would use those of the model's generation_config.json.
_neutral = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}


class VllmEngine(HttpEngine):
    """
    A server of vLLM. Prompts of tokens go to ``/inference/v1/generate`` where the server has it
    (``--enable-scale-out``), which tells the versions of the weights; text goes to ``/v1/completions``. Sampling
    parameters are fields of the body of the latter; those that are left out do nothing (temperature 1, no top-p …).

    Aborts go to ``/inference/v1/abort_requests`` or ``/abort_requests``; where neither exists, closing the connection
    is how vLLM is told to stop. ``options`` are those of :class:`SglangEngine`.
    """

    server = "vLLM"

    def __init__(self, url: str, *, model: str, stream: bool = True, **options: Any) -> None:
        super().__init__(url, stream=stream, **options)
        self._model = model
        self._has_tokens_route = True
        self._abort_routes = ["/inference/v1/abort_requests", "/abort_requests"]
        self._asking: dict[str, tuple[str, asyncio.Task[None]]] = {}

    async def _ask(self, found: Generated, path: str, body: dict[str, Any]) -> None:
        id = body["request_id"]
        task = asyncio.get_running_loop().create_task(super()._ask(found, path, body))
        # The id in the form that the server makes of it.
        self._asking[id] = (f"generate-tokens-{id}" if path == tokens_path else f"cmpl-{id}-0", task)
        try:
            await asyncio.wait([task])
        finally:
            del self._asking[id]
            # The connection is closed before anybody is told that the request is over.
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if task.cancelled():
            found.finish = "abort"
        else:
            task.result()

    async def _run(self, found: Generated, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> None:
        body: dict[str, Any] = {"model": self._model, "request_id": request_id, "stream": self._stream}
        if self._stream:
            body["stream_options"] = {"include_usage": True, "continuous_usage_stats": True}
        if self._log_probs:
            sampling = {**sampling, "logprobs": 0}
        if not isinstance(prompt, str) and self._has_tokens_route and fits_tokens(sampling):
            try:
                return await self._ask(found, tokens_path, {**tokens_question(prompt, sampling), **body})
            except HttpError as error:
                # A wrong key or model shows on the other route, too.
                if error.status not in _not_served:
                    raise
                self._has_tokens_route = False
        prompt = prompt if isinstance(prompt, str) else list(prompt)
        body |= {"prompt": prompt, "return_token_ids": True}
        await self._ask(found, "/v1/completions", {**_neutral, **sampling, **body})

    def _read(self, found: Generated, answer: Any) -> None:
        for choice in answer.get("choices", ()):
            found.text += choice.get("text", "")
            ids = choice.get("token_ids")
            if ids is not None:
                found.token_ids += ids
            log_probs = log_probs_of(choice)
            if log_probs is not None:
                found.log_probs = [*(found.log_probs or ()), *log_probs]
            spans = choice.get("weight_versions")
            if spans is not None:
                found.weight_spans = [WeightSpan(str(one["version"]), one["start"], one["end"]) for one in spans]
            reason = choice.get("finish_reason")
            if reason is not None:
                found.finish = reason if reason in ("length", "abort") else "stop"
        usage = answer.get("usage")
        found.tokens = int(usage["completion_tokens"]) if usage else len(found.token_ids)

    async def _ask_abort(self, request_id: str) -> None:
        asking = self._asking.get(request_id)
        if asking is None:
            return
        name, task = asking
        while self._abort_routes:
            try:
                await self._call("POST", self._abort_routes[0], {"request_ids": [name]})
                return
            except HttpError as error:
                if error.status not in _not_served:
                    raise
                self._abort_routes.pop(0)
        task.cancel()

    async def _missing(self, error: HttpError) -> str:
        try:
            served = await self._call("GET", "/v1/models")
            names = ", ".join(one["id"] for one in served["data"])
        except (OSError, HttpError, asyncio.TimeoutError, KeyError, TypeError):
            return await super()._missing(error)
        return f"model={self._model!r} of VllmEngine is not served there, but {names}"
