"""A model that takes no download: a two-layer Qwen2 with random weights, and a tokenizer of bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

vocabulary = 258
eos, pad = "<eos>", "<pad>"


def make_tiny_model(folder: Path, *, vocabulary: int = vocabulary) -> Path:
    """
    Writes a model (float32, 4,096 positions) and its tokenizer into ``folder``, as ``from_pretrained`` reads them. The
    same weights every time. Needs ``torch`` and ``transformers``, and no network.
    """
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    tokenizer = _tokenizer()
    config = Qwen2Config(
        vocab_size=vocabulary,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        dtype="float32",
    )
    torch.manual_seed(0)
    Qwen2ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    ids = {byte: index for index, byte in enumerate([*sorted(pre_tokenizers.ByteLevel.alphabet()), eos, pad])}
    assert len(ids) == vocabulary
    of_bytes = Tokenizer(models.BPE(vocab=ids, merges=[]))
    of_bytes.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    of_bytes.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=of_bytes,
        eos_token=eos,
        pad_token=pad,
        # Otherwise ``AutoTokenizer`` adds one, which the vocabulary has no place for.
        unk_token=pad,
        chat_template="{% for message in messages %}{{ message['content'] }}\n{% endfor %}",
    )
