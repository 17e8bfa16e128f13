"""
TRL's synchronous trainer with selected prompts, as one of several processes: `torchrun trl_selection_job.py FOLDER`.
`FOLDER/model` is its model, `FOLDER/<rank>.json` says what was drawn, and what is known at the end.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from datasets import Dataset
from transformers import AutoTokenizer
from trl import GRPOConfig

from rollflex.adapters.trl_selection import PromptSelectionTrainer


def of_odd_rows(row: list[int], completions: list[Any], **_: Any) -> list[float | None]:
    """Of odd rows one completion in two is right, of the others none; one row has no verifier."""
    return [None if one == 3 else float(one % 2 and index % 2) for index, one in enumerate(row)]


def config(folder: Path, **changed: Any) -> Any:
    usual = {
        "use_cpu": True,
        "bf16": False,
        "max_steps": 24,
        "save_steps": 8,
        "num_generations": 4,
        "per_device_train_batch_size": 16,
        "max_completion_length": 4,
        "temperature": 1.0,
        "logging_steps": 1,
        "report_to": [],
        "seed": 5,
    }
    return GRPOConfig(str(folder), **{**usual, **changed})


def rows() -> Any:
    columns = {"prompt": [f"question {row}" for row in range(16)], "row": [*range(16)], "domain": ["math"] * 16}
    return Dataset.from_dict(columns)


def main(folder: Path) -> None:
    trainer: Any = PromptSelectionTrainer(
        model=str(folder / "model"),
        args=config(folder / "out", max_steps=12, per_device_train_batch_size=8, ddp_backend="gloo"),
        train_dataset=rows(),
        reward_funcs=of_odd_rows,
        processing_class=AutoTokenizer.from_pretrained(folder / "model"),
        selection={"threshold": 1.5, "domainFloor": 0},
    )
    here: list[list[int]] = []
    drawn: list[list[int]] = []
    generate = trainer._generate_and_score_completions

    def noting(inputs: Any) -> Any:
        output = generate(inputs)
        here.append([one["row"] for one in inputs][:: trainer.num_generations])
        drawn.append([row for row, _ in trainer._of_batch])
        return output

    trainer._generate_and_score_completions = noting
    trainer.train()
    found = {"here": here, "drawn": drawn, "state": trainer._order.state()}
    (folder / f"{os.environ['RANK']}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
