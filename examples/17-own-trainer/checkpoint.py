"""What outlives the process: the checkpoint of the trainer, and the bodies of the responses."""

import json
import os
from pathlib import Path
from typing import TypedDict

from rollflex.models import RoundCompleted, TailBatchingEvent


class Sample(TypedDict):
    """A response as the trainer needs it."""

    text: str
    reward: float


class Call(TypedDict):
    """A call to the policy that may not be answered yet: sent again with its number, it is applied once."""

    first_seq: int
    events: list[TailBatchingEvent]


class Checkpoint(TypedDict):
    """What the trainer knows. A real one has its weights and its optimizer in the same file, or under the same step."""

    step: int
    cursor: int
    trained: list[str]
    due: list[RoundCompleted]
    """Rounds that are complete and not trained yet. After their call the policy names them no more."""
    gone: list[str]
    """Prompts that the policy has given up."""
    call: Call | None


class Kept:
    """The checkpoint and the responses, in a folder; read when it is made."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "checkpoint.json"
        self.checkpoint: Checkpoint = {"step": 0, "cursor": 0, "trained": [], "due": [], "gone": [], "call": None}
        if self.file.exists():
            self.checkpoint = json.loads(self.file.read_text())
        self.bodies = (folder / "responses.jsonl").open("a+")
        self.bodies.seek(0)
        # The last line may have been cut off, and then nobody was told of it.
        whole = self.bodies.read().rpartition("\n")[0]
        self.bodies.truncate(len(whole.encode()) + 1 if whole else 0)
        self.samples: dict[str, Sample] = {}
        self.samples.update(json.loads(line) for line in whole.splitlines())

    def keep(self, request: str, sample: Sample) -> None:
        print(json.dumps([request, sample]), file=self.bodies, flush=True)
        self.samples[request] = sample

    def save(self) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.checkpoint))
        os.replace(new, self.file)
