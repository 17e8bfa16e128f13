"""
A job of the real TRL on a CPU. TRL runs as it is but for three things that it wants a GPU or vLLM for: the kernel of
FlashAttention 3 is the same attention in PyTorch, the peak of the GPU is not asked for, and vLLM counts as installed
(its own worker asks for that, and only speaks HTTP).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rollflex.rollout import HfEngine


def on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from trl.experimental.async_grpo import async_grpo_trainer, async_rollout_worker, packing

    monkeypatch.setattr(packing, "_flash_attn", lambda: SimpleNamespace(flash_attn_varlen_func=_attention))
    monkeypatch.setattr(async_grpo_trainer, "get_peak_flops_per_device", lambda *_: None)
    monkeypatch.setattr(async_rollout_worker, "is_vllm_available", lambda: True)


def _attention(
    q: Any, k: Any, v: Any, at_q: Any, at_k: Any, most_q: int, most_k: int, *, softmax_scale: float, **_: Any
) -> Any:
    """`flash_attn_varlen_func`, causal: the queries of a sequence are the last of its keys."""
    import torch

    out = torch.empty_like(q)
    shared = q.shape[1] // k.shape[1]
    for begin_q, end_q, begin_k, end_k in zip(at_q[:-1], at_q[1:], at_k[:-1], at_k[1:], strict=True):
        queries, keys = int(end_q - begin_q), int(end_k - begin_k)
        out[begin_q:end_q] = torch.nn.functional.scaled_dot_product_attention(
            q[begin_q:end_q].transpose(0, 1),
            k[begin_k:end_k].transpose(0, 1).repeat_interleave(shared, 0),
            v[begin_k:end_k].transpose(0, 1).repeat_interleave(shared, 0),
            attn_mask=torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries),
            scale=softmax_scale,
        ).transpose(0, 1)
    return out


class InProcess(HfEngine):
    """The package's engine over a model of its own, which TRL gives new weights between two decode steps."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM

        super().__init__(AutoModelForCausalLM.from_pretrained(folder))
        self._lock = threading.Lock()
        self.model.register_forward_pre_hook(lambda *_: self.pause())
        self.model.register_forward_hook(lambda *_: self.resume(), always_call=True)
        self.syncs = 0

    def init_weight_transfer(self) -> None: ...

    def pause(self) -> None:
        self._lock.acquire()

    def send_weights(self, iterator: Iterator[tuple[str, Any]]) -> None:
        import torch

        own = dict(self.model.named_parameters())
        with torch.no_grad():
            for name, tensor in iterator:
                own[name].copy_(tensor)
        self.syncs += 1

    def resume(self) -> None:
        self._lock.release()

    def destroy(self) -> None: ...


class NoWeights:
    """Mock engines have no weights: a sync pauses them over HTTP, as TRL's own does, and sends nothing."""

    def __init__(self, url: str) -> None:
        from trl.experimental.async_grpo.vllm_client import VLLMClient

        self._client = VLLMClient(url)

    def init_weight_transfer(self) -> None:
        self._client.wait_for_server_ready()

    def pause(self) -> None:
        self._client.pause()

    def send_weights(self, iterator: Iterator[tuple[str, Any]]) -> None: ...

    def resume(self) -> None:
        self._client.resume()

    def destroy(self) -> None: ...


def low_letters(completions: list[Any], **_: Any) -> list[float]:
    """The share of characters below 64: a module's function, since TRL's own worker sends it to another process."""
    said = [one if isinstance(one, str) else one[0]["content"] for one in completions]
    return [sum(ord(letter) < 64 for letter in one) / max(1, len(one)) for one in said]


def fails(completions: list[Any], **_: Any) -> list[float]:
    raise OSError("the verifier is not there")


def config(folder: Path, **changed: Any) -> Any:
    from trl.experimental.async_grpo import AsyncGRPOConfig

    return AsyncGRPOConfig(
        str(folder),
        **{
            "use_cpu": True,
            "bf16": False,
            "gradient_checkpointing": False,
            "num_generations": 4,
            "per_device_train_batch_size": 4,
            "gradient_accumulation_steps": 4,
            "max_completion_length": 32,
            "token_budget": 0,
            "learning_rate": 3e-3,
            "report_to": [],
            "save_strategy": "no",
            "disable_tqdm": True,
            **changed,
        },
    )


def questions(count: int) -> Any:
    from datasets import Dataset

    return Dataset.from_dict({"prompt": [[{"role": "user", "content": f"{number}:"}] for number in range(count)]})
