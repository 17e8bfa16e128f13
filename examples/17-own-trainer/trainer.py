"""
A trainer of your own: asyncio, tail batching in this process, training beside the rollout, and a state that outlives
`kill -9` at any moment.

`python trainer.py [STATE] [STEPS]`; started again with the same STATE, it goes on where it was killed.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import rollflex
from rollflex import models
from rollflex.models import Prompt, TailBatchingDecision, TailBatchingEvent, TailBatchingNotice

from checkpoint import Call, Kept, Sample
from job import engine, optimize, reward

Session = rollflex.AsyncSession[TailBatchingEvent, TailBatchingDecision]

# Six prompts for four places: the two slowest of a short round wait for a long round.
CONFIG: models.TailBatchingConfig = {"promptsPerRound": 4, "responsesPerPrompt": 2, "promptSpeculation": 1.5}


class Trainer(Kept):
    def __init__(self, session: Session, folder: Path, steps: int) -> None:
        super().__init__(folder)
        self.session = session
        self.steps = steps
        self.drawn = 0
        # What the loop is woken by: a report for the policy, what a task has raised, or `None` at the end.
        self.reports: asyncio.Queue[TailBatchingEvent | BaseException | None] = asyncio.Queue()
        self.running: dict[str, asyncio.Task[None]] = {}
        self.training: asyncio.Task[None] | None = None
        self.is_drained = True

    async def run(self) -> None:
        await self.resume()
        while True:
            events: list[TailBatchingEvent] = []
            while not events or not self.reports.empty():
                one = await self.reports.get()
                if one is None:
                    return
                if isinstance(one, BaseException):
                    raise one
                events.append(one)
            await self.tell(events)
            self.go_on()

    async def resume(self) -> None:
        """Goes on from any state, also from none."""
        if (call := self.checkpoint["call"]) is not None:
            # Its answer may not have been noted. What it launches is gone, and launched anew below.
            await self.answer_to(call)
        self.drawn = self.checkpoint["cursor"]
        if self.session.seq > 0:
            await self.tell([{"type": "host.restarted", "idPrefix": f"{os.urandom(4).hex()}:"}])
        rounds = (await self.session.why())["rounds"]
        self.is_drained = not rounds
        for one in rounds:
            print(f"goes on with {one['id']}: {one['stands']}", file=sys.stderr)
        self.go_on()

    async def tell(self, events: list[TailBatchingEvent]) -> None:
        """Sends events, and carries out what the policy decides. The call is on disk before it is sent."""
        call: Call = {"first_seq": self.session.next_seq, "events": events}
        self.checkpoint["call"] = call
        self.save()
        for decision in await self.answer_to(call):
            self.carry_out(decision)

    async def answer_to(self, call: Call) -> list[TailBatchingDecision]:
        """Sends a call, and notes in the checkpoint what no later answer repeats: it is saved with the next call."""
        applied, refusal = call["events"], None
        try:
            decisions = await self.session.send(applied, first_seq=call["first_seq"])
        except rollflex.PolicyError as error:
            if error.index is None:
                raise
            # A defect of this program. The events before the refused one are applied, and their decisions count.
            applied, decisions, refusal = applied[: error.index], error.decisions, error
        # Cursor and call change together: no prompt is drawn twice, and none is passed over.
        self.checkpoint["cursor"] += sum(len(one["prompts"]) for one in applied if one["type"] == "prompts.supplied")
        for decision in decisions:
            if decision["type"] == "round.completed":
                self.checkpoint["due"].append(decision)
            elif decision["type"] == "prompt.failed" or decision["type"] == "prompt.filtered":
                self.checkpoint["gone"].append(decision["promptId"])
        self.checkpoint["call"] = None
        if refusal:
            self.save()
            raise refusal
        return decisions

    def carry_out(self, decision: TailBatchingDecision) -> None:
        if decision["type"] == "prompts.request":
            prompts: list[Prompt] = [{"promptId": f"p{self.drawn + n}"} for n in range(decision["count"])]
            self.drawn += decision["count"]
            self.reports.put_nowait({"type": "prompts.supplied", "roundId": decision["roundId"], "prompts": prompts})
        elif decision["type"] == "request.launch":
            self.running[decision["requestId"]] = self.start(self.generate(decision))
        elif decision["type"] == "request.abort":
            if (task := self.running.pop(decision["requestId"], None)) is not None:
                task.cancel()
                self.reports.put_nowait({"type": "request.aborted", "requestId": decision["requestId"], "tokens": 0})
        elif decision["type"] == "timer.set":
            fired: TailBatchingEvent = {"type": "timer.fired", "timerId": decision["timerId"]}
            loop = asyncio.get_running_loop()
            loop.call_later(decision["fireAtSeconds"] - decision["at"], self.reports.put_nowait, fired)
        elif (
            decision["type"] == "request.resume"
            or decision["type"] == "reward.request"
            or decision["type"] == "judgement.request"
        ):
            raise NotImplementedError(f"only with turns or with a filter: {decision}")
        elif decision["type"] == "round.drained":
            self.is_drained = True
        else:
            log(decision)

    def go_on(self) -> None:
        """Trains what is due; then, once no request runs with the old weights, begins the next round, or ends."""
        step = self.checkpoint["step"]
        if self.checkpoint["due"]:
            if self.training is None:
                self.training = self.start(self.train())
        elif self.is_drained:
            self.is_drained = False
            event: TailBatchingEvent = {"type": "round.requested", "roundId": f"step-{step}", "weightVersion": step}
            self.reports.put_nowait(event if step < self.steps else None)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """A task whose error ends the loop: nobody else awaits it."""
        task = asyncio.create_task(work)
        task.add_done_callback(self.ended)
        return task

    def ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.reports.put_nowait(error)

    async def generate(self, launch: models.RequestLaunch) -> None:
        """A request, and its reward. Whatever happens, the policy hears of its end."""
        request = launch["requestId"]
        try:
            text = await engine(launch["promptId"])
            sample: Sample = {"text": text, "reward": reward(text)}
        except Exception as error:
            # Yours tells a prompt that cannot work ("data") from an engine that fell over.
            report: TailBatchingEvent = {
                "type": "response.failed",
                "requestId": request,
                "kind": "infrastructure",
                "message": repr(error)[:200],
            }
        else:
            # The policy may name a response as soon as it has been told of it, so its body is kept first.
            self.keep(request, sample)
            report = {"type": "response.completed", "requestId": request, "tokens": len(text)}
        self.running.pop(request, None)
        self.reports.put_nowait(report)

    async def train(self) -> None:
        """Trains a round in a thread, while the loop goes on: aborts are confirmed meanwhile."""
        done = self.checkpoint["due"][0]
        samples = [self.samples[one["requestId"]] for prompt in done["prompts"] for one in prompt["responses"]]
        await asyncio.to_thread(optimize, samples)
        self.checkpoint["step"] += 1
        self.checkpoint["trained"] += [one["promptId"] for one in done["prompts"]]
        del self.checkpoint["due"][0]
        self.save()
        sizes = f"{len(done['prompts'])} prompts, {len(samples)} responses"
        print(f"{done['roundId']}: {done['kind']} round, {sizes}", flush=True)
        self.training = None
        self.go_on()


def log(notice: TailBatchingNotice) -> None:
    """Takes no command: a type checker finds one that `carry_out` has no line for."""
    logging.getLogger("trainer").debug("%s", notice)


async def main(folder: Path, steps: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    async with rollflex.AsyncClient.embedded(state_dir=folder / "policy") as client:
        session = await client.open("tail-batching", CONFIG, session="job", on_existing="attach", producer="job")
        await Trainer(session, folder, steps).run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "state"), int((sys.argv[2:] or ["5"])[0])))
