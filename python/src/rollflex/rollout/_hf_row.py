"""What a model is asked to generate: a request, checked."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .engines import Prompt
from .host import GenerationFailed

_defaults: dict[str, Any] = {
    "max_new_tokens": None,
    "temperature": 1.0,
    "top_p": 1.0,
    "top_k": 0,
    "stop_token_ids": None,
    "ignore_eos": False,
}


@dataclass(eq=False)
class Row:
    """A response: what is requested, and what is generated so far."""

    request_id: str
    prompt: list[int]
    max_new_tokens: int
    temperature: float
    top_k: int
    """Number of candidate tokens; 0: no limit."""
    top_p: float
    stop: frozenset[int]
    random: random.Random
    tokens: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)


def row_of(
    model: Any, tokenizer: Any, request_id: str, prompt: Prompt, sampling: Mapping[str, Any], seed: int | None
) -> Row:
    """Raises GenerationFailed: ``setup`` for sampling that no prompt can have, ``data`` for a prompt."""
    unknown = sorted(set(sampling) - set(_defaults))
    if unknown:
        expected = ", ".join(_defaults)
        raise GenerationFailed(f"sampling of HfEngine: expected some of {expected}, got {', '.join(unknown)}", "setup")
    given = {**_defaults, **sampling}
    limit, temperature, top_p, top_k = (given[name] for name in ("max_new_tokens", "temperature", "top_p", "top_k"))
    for name, fits, expected in (
        ("max_new_tokens", isinstance(limit, int) and limit > 0, "a whole number above 0"),
        ("temperature", isinstance(temperature, int | float) and temperature >= 0, "a number, 0 or more"),
        ("top_p", isinstance(top_p, int | float) and 0 < top_p <= 1, "a number above 0, up to 1"),
        ("top_k", isinstance(top_k, int), "a whole number"),
    ):
        if not fits:
            raise GenerationFailed(f"{name}: expected {expected}, got {given[name]!r}", "setup")
    ids = _ids(model, tokenizer, prompt)
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if positions is not None and len(ids) + limit > positions:
        total = f"{len(ids)} tokens of the prompt and {limit} new ones"
        raise GenerationFailed(f"expected at most {positions} positions, got {total}: lower max_new_tokens", "data")
    stop = given["stop_token_ids"]
    if stop is None:
        stop = (getattr(model, "generation_config", None) or model.config).eos_token_id
    if given["ignore_eos"] or stop is None:
        stop = ()
    return Row(
        request_id=request_id,
        prompt=ids,
        max_new_tokens=limit,
        temperature=float(temperature),
        # Servers use -1 for all tokens.
        top_k=max(0, top_k),
        top_p=float(top_p),
        stop=frozenset([stop] if isinstance(stop, int) else stop),
        random=random.Random(None if seed is None else f"{seed}/{request_id}"),
    )


def _ids(model: Any, tokenizer: Any, prompt: Prompt) -> list[int]:
    if not isinstance(prompt, str):
        ids = [int(one) for one in prompt]
    elif tokenizer is None:
        what = "a prompt is text, and there is no tokenizer: give HfEngine one, or prompts as ids of tokens"
        raise GenerationFailed(what, "setup")
    else:
        ids = list(tokenizer.encode(prompt))
    vocabulary = model.config.get_text_config().vocab_size
    if not ids or min(ids) < 0 or max(ids) >= vocabulary:
        expected = f"one id of a token or more, from 0 to {vocabulary - 1}"
        raise GenerationFailed(f"a prompt: expected {expected}, got {ids[:8]}", "data")
    return ids
