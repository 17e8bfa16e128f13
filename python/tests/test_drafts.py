"""Drafts: from what mock engines say of acceptance to the budgets that they take."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import rollflex
from mock_engines import MockEngines
from rollflex.drafts import by_batch_size, seen_in_sglang, seen_in_vllm, sglang_adaptive_config
from rollflex.models.planners.draft_budget import DraftBudgetInput, DraftBudgetInputSeenItem


def given(seen: list[DraftBudgetInputSeenItem]) -> DraftBudgetInput:
    """A 7B model on an H20, by a roofline."""
    return {
        "groups": [],
        "seen": seen,
        "passSeconds": [
            {"tokens": 1, "seconds": 0.0074},
            {"tokens": 23, "seconds": 0.0074},
            {"tokens": 2000, "seconds": 0.415},
        ],
        "drafter": {"passSeconds": 0.00085, "stepSeconds": 0.00025},
        "maxDraftTokens": 8,
    }


def ask(url: str, body: Any = None) -> str:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        text: str = answer.read().decode()
    return text


def shares(seen: list[DraftBudgetInputSeenItem]) -> list[float]:
    return [one["accepted"] / one["offered"] for one in seen]


def test_vllm_from_metrics_to_a_schedule_that_it_takes() -> None:
    config = {"method": "eagle3", "num_speculative_tokens": 3}
    engines = MockEngines(
        *("--api", "vllm", "--speed", "max", "--speculative-config", json.dumps(config), "--draft-acceptance", "0.7")
    )
    body = {"model": "mock-model", "prompt": "a", "max_tokens": 4000, "ignore_eos": True}
    try:
        before = ask(f"{engines.engine_urls[0]}/metrics")
        assert seen_in_vllm(before) == []
        ask(f"{engines.engine_urls[0]}/v1/completions", body)
        seen = seen_in_vllm(ask(f"{engines.engine_urls[0]}/metrics"), before)
    finally:
        engines.stop()
    assert shares(seen) == pytest.approx([0.7, 0.49, 0.343], abs=0.001)
    with rollflex.Client() as client:
        ranges = by_batch_size(lambda one: client.plan("draft-budget", one), given(seen), 64)
    assert [first for first, _, _ in ranges] == [1, *(last + 1 for _, last, _ in ranges[:-1])]
    assert ranges[0][2] > 3
    assert ranges[-1][1:] == (64, 0)
    # The same server with this schedule: it drafts as planned, and only the first position is sure.
    config = {**config, "num_speculative_tokens": 8, "num_speculative_tokens_per_batch_size": ranges}
    engines = MockEngines(
        *("--api", "vllm", "--speed", "max", "--speculative-config", json.dumps(config), "--draft-acceptance", "0.7")
    )
    try:
        ask(f"{engines.engine_urls[0]}/v1/completions", {**body, "n": 4})
        seen = seen_in_vllm(ask(f"{engines.engine_urls[0]}/metrics"))
    finally:
        engines.stop()
    assert shares(seen) == pytest.approx([0.7], abs=0.001)


def test_sglang_from_responses_to_a_configuration_that_it_takes(tmp_path: Path) -> None:
    engines = MockEngines("--speed", "max", "--speculative-num-steps", "2", "--draft-acceptance", "0.7")
    body = {"text": ["a", "b"], "sampling_params": {"max_new_tokens": 4000, "ignore_eos": True}}
    try:
        metas = [one["meta_info"] for one in json.loads(ask(f"{engines.engine_urls[0]}/generate", body))]
    finally:
        engines.stop()
    seen = seen_in_sglang([*metas, {"completion_tokens": 1}])
    assert shares(seen) == pytest.approx([0.7, 0.49], abs=0.002)
    assert seen_in_sglang([]) == []
    with rollflex.Client() as client:
        config = sglang_adaptive_config(by_batch_size(lambda one: client.plan("draft-budget", one), given(seen), 64))
    path = tmp_path / "adaptive.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    steps = config["1"]["candidate_steps"][0]
    engines = MockEngines(
        *("--speed", "max", "--speculative-num-steps", str(steps), "--speculative-adaptive-config", str(path))
    )
    try:
        info = json.loads(ask(f"{engines.engine_urls[0]}/server_info"))
    finally:
        engines.stop()
    assert (info["speculative_adaptive"], info["speculative_num_draft_tokens"]) == (True, steps + 1)


def test_counters_of_several_engines_are_added_and_others_ignored() -> None:
    text = "\n".join(
        f'vllm:spec_decode_num_{name}{{engine="{engine}",model_name="m"{position}}} {value}'
        for engine in (0, 1)
        for name, position, value in [
            ("drafts_total", "", 10.0),
            ("draft_tokens_total", "", 20.0),
            ("accepted_tokens_total", "", 12.0),
            ("accepted_tokens_per_pos_total", ',position="0"', 8.0),
            ("accepted_tokens_per_pos_total", ',position="1"', 4.0),
            ("drafts_created", "", 1.7e9),
        ]
    )
    assert seen_in_vllm(text) == [{"offered": 20, "accepted": 16}, {"offered": 20, "accepted": 8}]
    assert seen_in_vllm("vllm:num_requests_running 3\n") == []
