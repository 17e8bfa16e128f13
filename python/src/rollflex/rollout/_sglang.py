"""Servers of SGLang."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._http import call
from ._http_engine import HttpEngine
from .engines import Generated, Prompt


def rid_of(request_id: str) -> str:
    """SGLang aborts every request whose id begins with the one that is named: no id is the beginning of another."""
    return f"{request_id}|"


class SglangEngine(HttpEngine):
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
