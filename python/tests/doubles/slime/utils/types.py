"""Samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


@dataclass
class Sample:
    group_index: int | None = None
    index: int | None = None
    rollout_id: int | None = None
    prompt: Any = ""
    tokens: list[int] = field(default_factory=list)
    multimodal_inputs: dict[str, Any] | None = None
    multimodal_train_inputs: dict[str, Any] | None = None
    apply_chat_template_kwargs: dict[str, Any] = field(default_factory=dict)
    response: str = ""
    response_length: int = 0
    label: str | None = None
    reward: Any = None
    loss_mask: list[int] | None = None
    weight_versions: list[str] = field(default_factory=list)
    rollout_log_probs: list[float] | None = None
    remove_sample: bool = False

    class Status(Enum):
        PENDING = "pending"
        COMPLETED = "completed"
        TRUNCATED = "truncated"
        ABORTED = "aborted"
        FAILED = "failed"

    status: Status = Status.PENDING
    metadata: dict[str, Any] = field(default_factory=dict)
    generate_function_path: str | None = None
    custom_rm_path: str | None = None
    train_metadata: dict[str, Any] | None = None
    session_id: str | None = None

    def get_reward_value(self, args: Any) -> Any:
        return self.reward[args.reward_key] if args.reward_key else self.reward

    def append_response_tokens(
        self, args: Any, *, tokens: list[int], log_probs: list[float], trainable: bool, meta_info: Any, text: str
    ) -> None:
        """What an answer of the engine adds; a resumed response keeps what it had."""
        before = self.response_length
        self.response += text
        self.tokens = self.tokens + tokens
        self.response_length += len(tokens)
        if tokens:
            self.loss_mask = [*(self.loss_mask or [1] * before), *([int(trainable)] * len(tokens))]
        self.rollout_log_probs = [*(self.rollout_log_probs or [0.0] * before), *log_probs]
        if "weight_version" in meta_info:
            self.weight_versions.append(meta_info["weight_version"])
        ends = {"stop": "COMPLETED", "length": "TRUNCATED", "abort": "ABORTED"}
        self.status = Sample.Status[ends[meta_info["finish_reason"]["type"]]]
        assert self.loss_mask is None or len(self.loss_mask) == self.response_length
