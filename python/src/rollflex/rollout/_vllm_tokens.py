"""vLLM's ``/inference/v1/generate``: tokens there, tokens back, with the versions of the weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

tokens_path = "/inference/v1/generate"

# The server ignores unknown parameters, so any other parameter is left to /v1/completions.
_of_the_sampling = {
    "allowed_token_ids",
    "bad_words",
    "detokenize",
    "frequency_penalty",
    "ignore_eos",
    "include_stop_str_in_output",
    "logit_bias",
    "logprobs",
    "max_tokens",
    "min_p",
    "min_tokens",
    "presence_penalty",
    "repetition_detection",
    "repetition_penalty",
    "seed",
    "skip_special_tokens",
    "spaces_between_special_tokens",
    "stop",
    "stop_token_ids",
    "structured_outputs",
    "temperature",
    "thinking_token_budget",
    "top_k",
    "top_p",
}
_of_the_body = {"cache_salt", "ec_transfer_params", "kv_transfer_params", "priority"}


def fits_tokens(names: Iterable[str]) -> bool:
    """Whether the route takes these sampling parameters."""
    return not set(names) - _of_the_sampling - _of_the_body


def tokens_question(prompt: Sequence[int], sampling: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the part of the body that differs from ``/v1/completions``."""
    asked = {name: value for name, value in sampling.items() if name in _of_the_sampling}
    return {
        **{name: value for name, value in sampling.items() if name in _of_the_body},
        "token_ids": list(prompt),
        "sampling_params": asked,
        # A server without a tokenizer has no text: `detokenize: False` says that none is wanted.
        "output_mode": "text" if asked.get("detokenize", True) else "tokens",
    }


def log_probs_of(choice: Mapping[str, Any]) -> list[float] | None:
    """Returns the log probabilities of a choice's tokens, from either route."""
    log_probs = choice.get("logprobs")
    if log_probs is None:
        return None
    if "content" in log_probs:
        return [one["logprob"] for one in log_probs["content"] or ()]
    return list(log_probs["token_logprobs"])
