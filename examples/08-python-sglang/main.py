"""Tail batching over two engines without a GPU, one of which dies."""

from __future__ import annotations

import asyncio
import json
import subprocess
import urllib.request
from typing import Any

from rollflex import AsyncClient, server_command
from rollflex.rollout import EngineHost, EnginePool, Response, Rollout, SglangEngine, Supplied

config = {"promptsPerRound": 6, "responsesPerPrompt": 3, "promptSpeculation": 1.5, "placement": "policy"}


class Trainer(EngineHost[str]):
    """Questions, and a reward for odd lengths."""

    def __init__(self, pool: EnginePool) -> None:
        super().__init__(pool, {"max_new_tokens": 4096})
        self.questions = [f"What is {n} + {n}?" for n in range(60)]

    async def supply(self, count: int, domains: object) -> list[Supplied[str]]:
        taken, self.questions = self.questions[:count], self.questions[count:]
        return [Supplied(prompt_id=one, body=one) for one in taken]

    async def give_back(self, prompts: Any) -> None:
        self.questions = [one.body for one in prompts] + self.questions

    async def reward(self, launch: Any, response: Response[Any]) -> float:
        return float(response.tokens % 2)


class Engines:
    """`rollflex mock-engine`."""

    def __init__(self) -> None:
        args = ["mock-engine", "--engines", "2", "--control-port", "0", "--speed", "50", "--cap", "4000", "--json"]
        self.process = subprocess.Popen([*server_command(), *args], stdout=subprocess.PIPE)
        said = json.loads(self.process.stdout.readline())
        self.url, self.engine_urls = said["url"], said["engineUrls"]

    async def ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"})
        return json.loads(await asyncio.to_thread(lambda: urllib.request.urlopen(request).read()))


async def train(engines: Engines) -> None:
    pool = EnginePool([SglangEngine(url, engine_id=f"engine-{n}") for n, url in enumerate(engines.engine_urls)])
    host = Trainer(pool)
    trained: list[str] = []
    async with AsyncClient.spawn() as client:
        rollout = await Rollout.open(client, host, config, send_interval_seconds=0.0)
        async with host.watching(rollout, every_seconds=0.1):
            sampling = {"max_new_tokens": 6000, "ignore_eos": True}
            work = pool.generate("evaluation", "Who are you?", sampling, engine_id="engine-1")
            evaluation = asyncio.ensure_future(work)
            for step in range(1, 5):
                began = (await engines.ask("/clock"))["seconds"]
                round = asyncio.ensure_future(rollout.round(weight_version=step))
                if step == 3:
                    while pool.engines["engine-0"].load == 0:
                        await asyncio.sleep(0.01)
                    await engines.ask("/fault", {"fault": "crash", "engine": 0, "restartAfterSeconds": 20})
                done = await round
                seconds = (await engines.ask("/clock"))["seconds"] - began
                again = f"; {done.failures} tried again" if done.failures else ""
                print(
                    f"round {step}: {done.kind}, {len(done.groups)} prompts in {seconds:.1f} s; {done.deferred} deferred, "
                    f"{done.aborted} requests aborted{again}"
                )
                assert len(done.groups) == 6 and all(len(group.samples) == 3 for group in done.groups)
                assert all(one.reward == one.tokens % 2 for group in done.groups for one in group.samples)
                assert rollout.in_flight == 0
                trained += [group.prompt_id for group in done.groups]
            found = await evaluation
            assert (found.finish, found.tokens) == ("length", 6000), "evaluation survives aborts"
        waiting = [one.prompt_id for one in rollout.waiting()]
        assert len(set(trained)) == len(trained) == 24, "nothing is trained on twice"
        assert len({*trained, *waiting, *host.questions}) == 60, "no prompt is lost"
        await rollout.close()


engines = Engines()
try:
    asyncio.run(asyncio.wait_for(train(engines), 120))
finally:
    engines.process.terminate()
    engines.process.wait()
