"""The rows that a model decodes together: they join and leave between steps. Imported where there is torch."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache

from ._hf_row import Row


class Batch:
    """
    Keys and values of the running rows, padded on the left to one length. Joining rows are prefilled by a separate pass
    in the step in which they join.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._rows: list[Row] = []
        self._cache: Any = None
        takes = inspect.signature(model.forward).parameters
        # Renamed in transformers 5.
        self._cache_name = "cache" if "cache" in takes else "past_key_values"
        self._takes_positions = "position_ids" in takes
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in takes else {}

    def step(self, rows: Sequence[Row]) -> None:
        """Generates one token for each of these rows; any other row leaves."""
        if self._model.training:
            self._model.eval()
        with torch.inference_mode():
            self._keep(set(rows))
            joining = [row for row in rows if row not in self._rows]
            logits = []
            if self._rows:
                logits.append(self._forward(self._rows, self._cache, [row.tokens[-1:] for row in self._rows]))
            if joining:
                cache = DynamicCache()
                logits.append(self._forward(joining, cache, [row.prompt for row in joining]))
                self._cache = cache if self._cache is None else _join(self._cache, cache)
                self._rows += joining
            tokens, log_probs = sample(torch.cat(logits), self._rows)
            for row, token, log_prob in zip(self._rows, tokens, log_probs, strict=True):
                row.tokens.append(token)
                row.log_probs.append(log_prob)

    def _keep(self, wanted: set[Row]) -> None:
        kept = [index for index, row in enumerate(self._rows) if row in wanted]
        if len(kept) == len(self._rows):
            return
        self._rows = [self._rows[index] for index in kept]
        if not kept:
            self._cache = None
            return
        # The cache has all tokens of each row except the last. Columns that only pad are dropped, too.
        longest = max(len(row.prompt) + len(row.tokens) for row in self._rows) - 1
        for layer in self._cache.layers:
            layer.keys = layer.keys[kept, :, -longest:]
            layer.values = layer.values[kept, :, -longest:]

    def _forward(self, rows: Sequence[Row], cache: Any, inputs: Sequence[Sequence[int]]) -> torch.Tensor:
        """Returns the logits for the next token of each row."""
        device = self._model.device
        fed = max(map(len, inputs))
        width = cache.get_seq_length() + fed
        lengths = torch.tensor([len(row.prompt) + len(row.tokens) for row in rows], device=device)
        positions = torch.arange(width, device=device) - (width - lengths)[:, None]
        ids = torch.tensor([[0] * (fed - len(one)) + list(one) for one in inputs], device=device)
        options: dict[str, Any] = {self._cache_name: cache, **self._last_only}
        if self._takes_positions:
            options["position_ids"] = positions[:, -fed:].clamp(min=0)
        mask = (positions >= 0).long()
        output = self._model(input_ids=ids, attention_mask=mask, use_cache=True, **options)
        logits: torch.Tensor = output.logits[:, -1]
        return logits


def _join(cache: Any, other: Any) -> Any:
    """Joins the rows of two caches."""
    width = max(cache.get_seq_length(), other.get_seq_length())
    for layer, new in zip(cache.layers, other.layers, strict=True):
        layer.keys = torch.cat([_widen(layer.keys, width), _widen(new.keys, width)])
        layer.values = torch.cat([_widen(layer.values, width), _widen(new.values, width)])
    return cache


def _widen(values: torch.Tensor, width: int) -> torch.Tensor:
    return torch.nn.functional.pad(values, (0, 0, width - values.shape[-2], 0))


def sample(logits: torch.Tensor, rows: Sequence[Row]) -> tuple[list[int], list[float]]:
    """
    Returns the next token of each row with its log probability by softmax(logits / temperature) over the whole
    vocabulary; with temperature 0 the likeliest token, with its log probability at temperature 1.
    """
    device = logits.device
    temperatures = torch.tensor([row.temperature or 1.0 for row in rows], device=device)
    log_probs = torch.log_softmax(logits.float() / temperatures[:, None], dim=-1)
    # Each row draws from its own random numbers, so that its tokens do not depend on its neighbours.
    drawn = [row.random.random() if row.temperature > 0 else -1.0 for row in rows]
    if max(drawn) < 0:
        tokens = log_probs.argmax(-1)
    else:
        below = _cut(log_probs.double().exp(), rows).cumsum(-1)
        at = torch.tensor(drawn, dtype=torch.float64, device=device)[:, None]
        found = torch.searchsorted(below, at * below[:, -1:], right=True)[:, 0]
        tokens = torch.where(at[:, 0] < 0, log_probs.argmax(-1), found)
    chosen = log_probs.gather(-1, tokens[:, None])[:, 0]
    return tokens.tolist(), chosen.tolist()


def _cut(probs: torch.Tensor, rows: Sequence[Row]) -> torch.Tensor:
    """Removes tokens outside ``top_k`` and ``top_p``."""
    if all(row.top_k == 0 and row.top_p == 1 for row in rows):
        return probs
    most = probs.shape[-1]
    ordered, order = probs.sort(-1, descending=True)
    ranks = torch.arange(most, device=probs.device)
    top_k = torch.tensor([row.top_k or most for row in rows], device=probs.device)[:, None]
    top_p = torch.tensor([row.top_p for row in rows], dtype=probs.dtype, device=probs.device)[:, None]
    ordered = ordered * (ranks < top_k)
    total = ordered.sum(-1, keepdim=True)
    # The likeliest tokens that together have the share top_p; the first token is always among them.
    is_in = (ordered.cumsum(-1) - ordered) < top_p * total
    return torch.zeros_like(probs).scatter(-1, order, ordered * is_in)
