"""The task: say a word a number of times, and stop. And a small model that can say words, but cannot count."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import count as count_on
from typing import Any

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

end, words = 1, range(5, 9)
times = {2: 3, 3: 8, 4: 24}
"""How many times each of these tokens asks for the word."""
shares = {2: 0.6, 3: 0.3, 4: 0.1}
"""Of the prompts: the lengths of good answers have a tail."""
longest = 48
every_prompt = [[word, count] for count in times for word in words]


def rows_in_epochs(seed: int, rows: int) -> Iterator[tuple[int, int, list[int]]]:
    """Epoch, row and prompt (a word, and a count) of a data set, each epoch in another order. Without an end."""
    source = random.Random(seed)
    counts = source.choices(list(times), list(shares.values()), k=rows)
    data = [[source.choice(words), count] for count in counts]
    for epoch in count_on():
        order = list(range(rows))
        random.Random(f"{seed}/{epoch}").shuffle(order)
        yield from ((epoch, row, data[row]) for row in order)


def reward_of(prompt: Sequence[int], response: Sequence[int]) -> float:
    """
    From 0 to 1: the share of the response that is the word, times how near its length is to what was asked for (too
    short costs as much as too long).
    """
    word, count = prompt
    said = [one for one in response if one != end]
    if not said:
        return 0.0
    near = min(len(said), times[count]) / max(len(said), times[count])
    return said.count(word) / len(said) * near


def new_model(seed: int) -> Any:
    """Random weights, and 40 supervised steps in which the length of an answer has nothing to do with the count."""
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=9,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        bos_token_id=None,
        eos_token_id=end,
        tie_word_embeddings=True,
    )
    model = Qwen2ForCausalLM(config)
    optimizer, source = torch.optim.AdamW(model.parameters(), 5e-3, weight_decay=0.0), random.Random(seed)
    for _ in range(40):
        rows = []
        for _ in range(64):
            word, length = source.choice(words), min(24, 1 + int(source.expovariate(1 / 6)))
            rows.append([word, source.choice(list(times)), *[word] * length, end])
        widest = max(map(len, rows))
        ids = torch.tensor([row + [0] * (widest - len(row)) for row in rows])
        # What is asked, and padding, is not learned.
        labels = torch.tensor([[-100, -100, *row[2:], *[-100] * (widest - len(row))] for row in rows])
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model
