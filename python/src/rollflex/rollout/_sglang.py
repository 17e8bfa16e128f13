"""Servers of SGLang."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._http import HttpError
from ._http_engine import HttpEngine
from .engines import Generated, Prompt, WeightSpan


def rid_of(request_id: str) -> str:
    """SGLang aborts every request whose id begins with the given id, so no id may be the beginning of another."""
    return f"{request_id}|"


class SglangEngine(HttpEngine):
    """A server of SGLang: ``/generate`` and ``/abort_request``. Sampling is what ``sampling_params`` has."""

    server = "SGLang"
    _of_access = "; a server with --admin-api-key takes aborts with that key alone: give it the same as --api-key"

    async def _run(self, found: Generated, request_id: str, prompt: Prompt, sampling: Mapping[str, Any]) -> None:
        body: dict[str, Any] = {"rid": rid_of(request_id), "sampling_params": dict(sampling), "stream": self._stream}
        body |= {"text": prompt} if isinstance(prompt, str) else {"input_ids": list(prompt)}
        if self._log_probs:
            body["return_logprob"] = True
        await self._ask(found, "/generate", body)

    def _read(self, found: Generated, answer: Any) -> None:
        meta = answer["meta_info"]
        ids = answer.get("output_ids")
        before = found.tokens
        found.tokens = int(meta.get("completion_tokens", found.tokens))
        # Some servers stream all tokens so far, others only new tokens.
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
        self._read_versions(found, meta, before)
        reason = meta.get("finish_reason")
        if reason is not None:
            kind = reason["type"] if isinstance(reason, dict) else reason
            status = reason.get("status_code") if isinstance(reason, dict) else None
            if kind == "abort" and status is not None:
                # The request was refused, not aborted; a stream has its HTTP status already.
                raise HttpError(int(status), str(reason.get("message")), "/generate")
            found.finish = kind if kind in ("length", "abort") else "stop"

    def _read_versions(self, found: Generated, meta: Mapping[str, Any], before: int) -> None:
        """
        Weight spans, if the server has them (0.5.23); older servers give the version at the time of the answer or
        event.
        """
        spans = meta.get("weight_versions")
        version = meta.get("weight_version")
        if spans is not None:
            found.weight_spans = [WeightSpan(str(one["version"]), one["start"], one["end"]) for one in spans]
        elif version is not None and found.tokens > before:
            told = found.weight_spans
            start = told.pop().start if told and told[-1].version == str(version) else before
            told.append(WeightSpan(str(version), start, found.tokens))

    async def _ask_abort(self, request_id: str) -> None:
        await self._call("POST", "/abort_request", {"rid": rid_of(request_id)})
