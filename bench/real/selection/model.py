"""A transformer as small and as fast on one core as it can be, and sampling from it in batches."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

Cache = list[tuple[Tensor, Tensor]]
"""Keys and values of each layer: rows, heads, positions, width of a head."""


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.all, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor, cached: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        rows, tokens, width = x.shape
        split = self.all(self.before(x)).view(rows, tokens, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        if cached is not None:
            key, value = torch.cat([cached[0], key], 2), torch.cat([cached[1], value], 2)
        # A later token alone sees all that is cached.
        seen = scaled_dot_product_attention(query, key, value, is_causal=cached is None)
        x = x + self.out(seen.transpose(1, 2).reshape(rows, tokens, width))
        return x + self.down(gelu(self.up(self.after(x)))), (key, value)


class Model(nn.Module):
    def __init__(self, vocabulary: int, positions: int, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        for table in (self.token, self.position):
            nn.init.normal_(table.weight, std=0.3)

    def forward(self, ids: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Logits of each position, and what a later call needs. With a cache: one token a row."""
        first = cache[0][0].shape[2] if cache else 0
        x, kept = self.token(ids) + self.position.weight[first : first + ids.shape[1]], Cache()
        for n, block in enumerate(self.blocks):
            x, one = block(x, cache[n] if cache else None)
            kept.append(one)
        return self.head(self.norm(x)), kept


@torch.no_grad()
def sample(model: Model, prompts: Tensor, end: int, longest: int, source: torch.Generator) -> list[list[int]]:
    """
    A response to each prompt (all equally long), at temperature 1: up to and including its end, or `longest` tokens.
    """
    responses: list[list[int]] = [[] for _ in prompts]
    active, ids, cache = torch.arange(len(prompts)), prompts, None
    for _ in range(longest):
        logits, cache = model(ids, cache)
        drawn = torch.multinomial(logits[:, -1].softmax(-1), 1, generator=source)
        for row, token in zip(active.tolist(), drawn[:, 0].tolist(), strict=True):
            responses[row].append(token)
        going = (drawn[:, 0] != end).nonzero()[:, 0]
        if len(going) == 0:
            break
        if len(going) < len(active):
            active, drawn = active[going], drawn[going]
            cache = [(key[going], value[going]) for key, value in cache]
        ids = drawn
    return responses


def log_probs_of(model: Model, ids: Tensor, labels: Tensor) -> Tensor:
    """Of each row: the sum over its labels (-100: none)."""
    logits, _ = model(ids[:, :-1])
    return -nn.functional.cross_entropy(logits.transpose(1, 2), labels[:, 1:], reduction="none").sum(1)


def repeated(prompts: Sequence[Sequence[int]], times: int) -> Tensor:
    return torch.tensor([list(prompt) for prompt in prompts for _ in range(times)])
