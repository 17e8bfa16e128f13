"""
A trainer of your own: asyncio, tail batching in this process, and a state that outlives `kill -9` at any moment.

`python trainer.py [STATE] [STEPS]`; started again with the same STATE, it goes on where it was killed.
"""

import asyncio
import json
import os
import random
import sys
from pathlib import Path
from typing import TypedDict

import rollflex
from rollflex import models
from rollflex.models import Prompt, TailBatchingDecision, TailBatchingEvent

Session = rollflex.AsyncSession[TailBatchingEvent, TailBatchingDecision]

# Six prompts for four places: the two slowest of a short round wait for a long round.
CONFIG: models.TailBatchingConfig = {"promptsPerRound": 4, "responsesPerPrompt": 2, "promptSpeculation": 1.5}


class Call(TypedDict):
    """The last call to the policy: sent again with its number after a crash, it is applied once."""

    first_seq: int
    events: list[TailBatchingEvent]


class Checkpoint(TypedDict):
    """What the trainer knows. A real one has its weights and its optimizer in the same file, or under the same step."""

    step: int
    cursor: int
    trained: list[str]
    call: Call | None


class Trainer:
    def __init__(self, session: Session, folder: Path) -> None:
        self.session = session
        self.file = folder / "checkpoint.json"
        self.bodies = (folder / "responses.jsonl").open("a+")
        self.checkpoint: Checkpoint = {"step": 0, "cursor": 0, "trained": [], "call": None}
        self.drawn = 0
        self.texts: dict[str, str] = {}
        self.reports: asyncio.Queue[TailBatchingEvent] = asyncio.Queue()
        self.running: dict[str, asyncio.Task[None]] = {}
        self.is_idle = True

    async def run(self, steps: int) -> None:
        await self.resume()
        while not self.is_idle or self.checkpoint["step"] < steps:
            if self.is_idle:
                self.is_idle = False
                step = self.checkpoint["step"]
                await self.tell([{"type": "round.requested", "roundId": f"step-{step}", "weightVersion": step}])
            events = [await self.reports.get()]
            while not self.reports.empty():
                events.append(self.reports.get_nowait())
            await self.tell(events)

    async def resume(self) -> None:
        """Goes on from any state, also from none."""
        if self.file.exists():
            self.checkpoint = json.loads(self.file.read_text())
        self.drawn = self.checkpoint["cursor"]
        self.bodies.seek(0)
        # The last line may have been cut off, and then nobody was told of it.
        whole = self.bodies.read().rpartition("\n")[0]
        self.bodies.truncate(len(whole.encode()) + 1 if whole else 0)
        self.texts.update(json.loads(line) for line in whole.splitlines())
        call = self.checkpoint["call"]
        if call is not None:
            # Its answer may not have been carried out. What was launched is gone; what is complete is trained.
            for decision in await self.session.send(call["events"], first_seq=call["first_seq"]):
                if decision["type"] == "round.completed":
                    self.train(decision)
        if self.session.seq > 0:
            await self.tell([{"type": "host.restarted", "idPrefix": f"{os.urandom(4).hex()}:"}])
        rounds = (await self.session.why())["rounds"]
        self.is_idle = not rounds
        for one in rounds:
            print(f"goes on with {one['id']}: {one['stands']}", file=sys.stderr)

    async def tell(self, events: list[TailBatchingEvent]) -> None:
        """Sends events, and carries out what the policy decides. The call is on disk before it is sent."""
        # Saved with the call that supplies them: no prompt is drawn twice, and none is passed over.
        self.checkpoint["cursor"] += sum(len(one["prompts"]) for one in events if one["type"] == "prompts.supplied")
        self.save({"first_seq": self.session.next_seq, "events": events})
        for decision in await self.session.send(events):
            await self.carry_out(decision)

    async def carry_out(self, decision: TailBatchingDecision) -> None:
        if decision["type"] == "prompts.request":
            prompts: list[Prompt] = [{"promptId": f"p{self.drawn + n}"} for n in range(decision["count"])]
            self.drawn += decision["count"]
            self.reports.put_nowait({"type": "prompts.supplied", "roundId": decision["roundId"], "prompts": prompts})
        elif decision["type"] == "request.launch":
            self.running[decision["requestId"]] = asyncio.create_task(self.generate(decision))
        elif decision["type"] == "request.abort":
            if (task := self.running.pop(decision["requestId"], None)) is not None:
                task.cancel()
                self.reports.put_nowait({"type": "request.aborted", "requestId": decision["requestId"], "tokens": 0})
        elif decision["type"] == "timer.set":
            fired: TailBatchingEvent = {"type": "timer.fired", "timerId": decision["timerId"]}
            loop = asyncio.get_running_loop()
            loop.call_later(decision["fireAtSeconds"] - decision["at"], self.reports.put_nowait, fired)
        elif decision["type"] == "round.completed":
            self.train(decision)
        elif decision["type"] == "round.drained":
            self.is_idle = True

    async def generate(self, launch: models.RequestLaunch) -> None:
        """The engine: yours takes seconds, and a few requests take minutes."""
        tokens = int(random.lognormvariate(3, 1)) + 1
        await asyncio.sleep(tokens / 2000)
        del self.running[launch["requestId"]]
        # The policy may name a response as soon as it has been told of it, so its body is kept first.
        body = f"{tokens} tokens for {launch['promptId']}"
        print(json.dumps([launch["requestId"], body]), file=self.bodies, flush=True)
        self.texts[launch["requestId"]] = body
        self.reports.put_nowait({"type": "response.completed", "requestId": launch["requestId"], "tokens": tokens})

    def train(self, done: models.RoundCompleted) -> None:
        texts = [self.texts[one["requestId"]] for prompt in done["prompts"] for one in prompt["responses"]]
        self.checkpoint["step"] += 1
        self.checkpoint["trained"] += [one["promptId"] for one in done["prompts"]]
        self.save(None)
        sizes = f"{len(done['prompts'])} prompts, {len(texts)} responses"
        print(f"{done['roundId']}: {done['kind']} round, {sizes}", flush=True)

    def save(self, call: Call | None) -> None:
        self.checkpoint["call"] = call
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.checkpoint))
        os.replace(new, self.file)


async def main(folder: Path, steps: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    async with rollflex.AsyncClient.embedded(state_dir=folder / "policy") as client:
        session = await client.open("tail-batching", CONFIG, session="job", on_existing="attach", producer="job")
        await Trainer(session, folder).run(steps)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "state"), int((sys.argv[2:] or ["5"])[0])))
