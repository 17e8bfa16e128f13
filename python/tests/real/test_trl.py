"""The real trainer of TRL with the rollout worker, on a CPU; ``trl_job`` says what stands in."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import rollflex
from having import Ran, installed
from mock_engines import MockEngines
from rollflex.adapters.trl import TailBatchingWorker
from rollflex.rollout import VllmEngine
from support import root
from tiny_model import make_tiny_model

version = installed("trl", "1.16.0")
installed("requests")

import trl_job
from trl_job import InProcess, NoWeights, config, low_letters, on_a_cpu, questions


@pytest.fixture(autouse=True)
def cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_cpu(monkeypatch)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return make_tiny_model(tmp_path / "model")


def tokenizer_of(model: Path) -> Any:
    from transformers import AutoTokenizer
    from trl.chat_template_utils import qwen3_template

    tokenizer = AutoTokenizer.from_pretrained(model)
    # TRL's own worker takes no chat template that it does not know, unless it is told how to read answers.
    tokenizer.response_template = qwen3_template
    return tokenizer


def trainer_of(model: Path, args: Any, dataset: Any, worker: Any, weights: Any, reward: Any = low_letters) -> Any:
    from trl.experimental.async_grpo import AsyncGRPOTrainer

    return AsyncGRPOTrainer(
        model=str(model),
        processing_class=tokenizer_of(model),
        reward_funcs=reward,
        args=args,
        train_dataset=dataset,
        rollout_worker=worker,
        weight_transfer=weights,
    )


def worker_of(model: Path, args: Any, dataset: Any, engines: Any, reward: Any = low_letters, **options: Any) -> Any:
    return TailBatchingWorker(
        args, dataset=dataset, reward_funcs=reward, tokenizer=tokenizer_of(model), engines=engines, **options
    )


def logged(trainer: Any, name: str) -> list[float]:
    return [one[name] for one in trainer.state.log_history if name in one]


def test_it_trains_the_model_that_generates(tmp_path: Path, model: Path, ran: Ran) -> None:
    import torch

    args, dataset, engine = config(tmp_path, max_steps=8), questions(1000), InProcess(model)
    worker = worker_of(model, args, dataset, [engine], sampling={"max_new_tokens": 32})
    trainer = trainer_of(model, args, dataset, worker, engine)
    began = time.monotonic()
    trainer.train()
    seconds = time.monotonic() - began
    # The trainer finds the very log-probabilities that the engine has sampled with: no token is out of its place.
    assert logged(trainer, "ratio")[0] == pytest.approx(1, abs=1e-4)
    assert logged(trainer, "kl")[0] == pytest.approx(0, abs=1e-6)
    assert logged(trainer, "batch/samples_per_step") == [16.0] * 8
    assert max(logged(trainer, "sample/staleness_max")) <= args.max_staleness
    assert logged(trainer, "sample/dropped_stale_total") == []
    assert sum(logged(trainer, "rollflex/dropped_total")) == 0
    assert engine.syncs == 9 == trainer.model_version
    trained = dict(trainer.model.named_parameters())
    for name, weight in engine.model.named_parameters():
        assert torch.equal(weight, trained[name])
    assert engine.load == 0
    assert "rollflex-trl" not in {one.name for one in threading.enumerate()}
    trained_groups = trainer._trained_groups
    waiting = {one.group_id for one in worker.rollout_buffer.queue}
    given_back = {one.group_id for one in worker._host._given_back}
    everywhere = trained_groups | waiting | given_back
    assert everywhere == set(range(len(everywhere))) and len(everywhere) > 32
    ran(
        "TRL",
        version,
        real="AsyncGRPOTrainer.train, its data pipeline, packing and loss; generation by the model (HfEngine)",
        stands_in="FlashAttention 3 (the same in PyTorch), the transfer of weights (a copy in the process)",
        steps=8,
        prompts=1 + max(everywhere),
        accounted=len(everywhere),
        seconds=seconds,
    )


def test_a_failure_ends_the_run(tmp_path: Path, model: Path) -> None:
    args, dataset, engine = config(tmp_path, max_steps=2), questions(10), InProcess(model)
    worker = worker_of(model, args, dataset, [engine], trl_job.fails, sampling={"max_new_tokens": 32})
    trainer = trainer_of(model, args, dataset, worker, engine)
    with pytest.raises(RuntimeError, match="the rollout worker has failed: the verifier is not there"):
        trainer.train()
    assert engine.load == 0


own = {"TRL": {}, "TRL, 20 in flight": {"max_inflight_tasks": 20}}
ours = {"rollflex": {}, "rollflex, rounds_ahead 0": {"rounds_ahead": 0}}


@pytest.mark.parametrize("name", [*own, *ours])
def test_beside_its_own_worker(tmp_path: Path, name: str) -> None:
    """The same trainer and engine with both workers: only who decides what is generated differs."""
    steps = 8
    model = make_tiny_model(tmp_path / "model", vocabulary=32_000)
    engines = MockEngines("--api", "vllm", "--speed", "0.1", str(trace(tmp_path)))
    (url,) = engines.engine_urls
    changed = dict({**own, **ours}[name])
    options = {key: changed.pop(key) for key in ("rounds_ahead",) if key in changed}
    args = config(tmp_path, max_steps=steps, max_completion_length=400, vllm_server_base_url=url, **changed)
    dataset = questions(1000)
    worker = None
    if name in ours:
        worker = worker_of(model, args, dataset, [VllmEngine(url, model="mock-model", log_probs=True)], **options)
    try:
        trainer = trainer_of(model, args, dataset, worker, NoWeights(url))
        if worker is None:
            trainer.rollout_worker._loop_kwargs["model_name"] = "mock-model"
        trainer.train()
    finally:
        engines.stop()
    seconds = logged(trainer, "perf/step_s")
    print(
        f"\n{name}: {sum(seconds) / len(seconds):.2f} s a step, of which waiting "
        f"{sum(logged(trainer, 'perf/rollout_wait_s')) / steps:.2f}; stale "
        f"{sum(logged(trainer, 'sample/staleness_mean')) / steps:.2f} on average, "
        f"{max(logged(trainer, 'sample/staleness_max')):.0f} at most; "
        f"dropped {sum(logged(trainer, 'sample/dropped_stale_total')):.0f}; "
        f"{sum(logged(trainer, 'sample/trained_tokens_mean')) / steps:.0f} tokens a response"
    )
    if name in ours:
        assert logged(trainer, "sample/dropped_stale_total") == []


def trace(folder: Path) -> Path:
    """Lengths with a tail: one prompt in eight has responses that are ten times as long."""
    rng, path = random.Random(1), folder / "lengths.jsonl"
    rows = [
        [int(rng.lognormvariate(2.5, 0.5) * (10 if number % 8 == 0 else 1)) + 1 for _ in range(8)]
        for number in range(64)
    ]
    lines = [{"prompt": f"p{i}", "responses": [{"tokens": min(400, n)} for n in row]} for i, row in enumerate(rows)]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def selecting(model: Path, folder: Path, steps: int, **changed: Any) -> Any:
    import trl_selection_job
    from rollflex.adapters.trl_selection import PromptSelectionTrainer

    page = (root / "docs" / "adapters" / "trl.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"```python\n(.*?)```", page.split("## Prompts worth their tokens")[1], re.DOTALL)
    selection = changed.pop("selection", {"threshold": 1.5, "domainFloor": 0})
    given = {
        "model": str(model),
        "args": trl_selection_job.config(folder, max_steps=steps, **changed),
        "dataset": trl_selection_job.rows(),
        "reward": trl_selection_job.of_odd_rows,
        "tokenizer": tokenizer_of(model),
        "PromptSelectionTrainer": PromptSelectionTrainer,
    }
    exec(snippet, given)
    trainer: Any = given["trainer"]
    trainer._settings = selection
    trained: list[list[int]] = []
    score = trainer._calculate_rewards

    def noting(inputs: Any, *rest: Any) -> Any:
        trained.append([one["row"] for one in inputs][:: trainer.num_generations])
        return score(inputs, *rest)

    trainer._calculate_rewards = noting
    trainer.trained = trained
    return trainer


@pytest.mark.parametrize("several", [{}, {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 4}])
def test_the_synchronous_trainer_passes_rows_over_that_teach_nothing(
    tmp_path: Path, model: Path, several: dict[str, int]
) -> None:
    """TRL's own `GRPOTrainer` generates, scores, trains and saves; it goes on from its checkpoint as it was."""
    trainer = selecting(model, tmp_path / "one", 24, **several)
    trainer.train()
    counts = Counter(row for step in trainer.trained for row in step)
    assert len(trainer.trained) == 24 and {len(step) for step in trainer.trained} == {4}
    never, sometimes = ([counts[row] for row in range(first, 16, 2) if row != 3] for first in (0, 1))
    assert fmean(never) < 0.6 * fmean(sometimes) and min(never) > 0
    metrics = [one for one in trainer.state.log_history if "rollflex/passed" in one][-1]
    assert metrics["rollflex/passed"] > 0
    assert metrics["rollflex/offered"] >= metrics["rollflex/passed"] + counts.total()
    again = selecting(model, tmp_path / "one", 24, **several)
    again.train(resume_from_checkpoint=str(tmp_path / "one" / "checkpoint-16"))
    assert again.trained == trainer.trained[16:]


def test_weights_of_the_synchronous_trainer(tmp_path: Path, model: Path) -> None:
    """With `unbiased` advantages are multiplied by the weight of the row."""
    unbiased = {"unbiased": True, "explorationShare": 0.2, "threshold": 1}
    trainer = selecting(model, tmp_path, 16, selection=unbiased, scale_rewards="none")
    seen: list[tuple[Any, Any]] = []
    generate = trainer._generate_and_score_completions

    def noting(inputs: Any) -> Any:
        output = generate(inputs)
        seen.append((list(trainer._of_batch), output["advantages"].tolist()))
        return output

    trainer._generate_and_score_completions = noting
    trainer.train()
    weights = {weight for batch, _ in seen for _, weight in batch}
    assert len(weights) > 1 and min(weights) == 1
    for batch, advantages in seen:
        for place, (row, weight) in enumerate(batch):
            own = 0.5 if row % 2 and row != 3 else 0.0
            assert [abs(one) for one in advantages[4 * place : 4 * place + 4]] == pytest.approx([own * weight] * 4)


def test_several_processes_select_the_same(tmp_path: Path, model: Path) -> None:
    """Each has a policy of its own, and half of the completions."""
    program, source = Path(__file__).with_name("trl_selection_job.py"), str(Path(rollflex.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", str(program)]
    done = subprocess.run([*command, str(tmp_path)], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-5000:]
    one, other = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    assert one["state"] == other["state"] and one["state"]["passed"] > 0
    assert one["drawn"] == other["drawn"]
    assert [[*mine, *theirs] for mine, theirs in zip(one["here"], other["here"], strict=True)] == one["drawn"]
