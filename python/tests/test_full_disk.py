"""A full disk, for which a limit of files stands in: what an operator reads, and that no prompt is lost."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import rollflex
from rollflex.rollout import Host, Launch, PolicyUnavailable, Response, Rollout, Supplied
from support import command_with_store

limit = 1 << 17


class Trainer(Host[str, str]):
    """Has 3,000 prompts, whose records are long."""

    def __init__(self) -> None:
        self.source = [f"prompt {index}" for index in range(3000)]

    async def supply(self, count: int, domains: Mapping[str, int] | None) -> Sequence[Supplied[str]]:
        taken, self.source = self.source[:count], self.source[count:]
        return [Supplied(one, one, ref="r" * 250) for one in taken]

    async def give_back(self, prompts: Sequence[Supplied[str]]) -> None:
        self.source = [one.body for one in prompts] + self.source

    async def generate(self, launch: Launch[str, str]) -> Response[str]:
        return Response("a response", 5)

    async def abort(self, launch: Launch[str, str]) -> bool:
        return False


@pytest.fixture
def full() -> Iterator[None]:
    """This process writes no file longer than the limit, nor do those that it starts."""
    # Its copy is made while there is room.
    command_with_store()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def rounds(client: rollflex.AsyncClient, host: Trainer, count: int) -> list[str]:
    """What was trained on, until that many rounds are over or the policy is out of reach."""
    trained: list[str] = []
    config: Any = {"promptsPerRound": 32, "responsesPerPrompt": 1}
    rollout = await Rollout.open(client, host, config, unreachable_seconds=2)
    try:
        for step in range(count):
            trained += [one.prompt_id for one in (await rollout.round(step)).groups]
    except PolicyUnavailable:
        assert sorted([*trained, *host.source]) == sorted(f"prompt {index}" for index in range(3000))
        raise
    finally:
        await rollout.close()
    return trained


# A server would be ended by the signal of the limit; the disk gives it an error.
without_signal = ["sh", "-c", 'trap "" XFSZ; exec "$@"', "sh"]


@pytest.mark.parametrize(
    "kind, said", [("embedded", "state cannot be written any more"), ("spawned", "File too large")]
)
def test_of_the_state_directory_ends_the_rollout(kind: str, said: str, short: Path, full: None) -> None:
    async def test() -> None:
        state: dict[str, Any] = {"state_dir": short / "state", "fsync": "interval"}
        if kind == "embedded":
            made = rollflex.AsyncClient.embedded(**state)
        else:
            made = rollflex.AsyncClient.spawn([*without_signal, *command_with_store()], **state)
        async with made as client:
            if kind == "spawned":
                # The disk stays full: a server that is started again cannot write what it has kept, either.
                resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
            with pytest.raises(PolicyUnavailable, match=f"the policy could not be reached: [^$]*{said}"):
                await rounds(client, Trainer(), 80)

    asyncio.run(asyncio.wait_for(test(), 60))


def test_of_the_decision_log_only_costs_its_lines(short: Path, full: None, caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with rollflex.AsyncClient.embedded(log_dir=short / "log") as client:
            assert len(await rounds(client, Trainer(), 15)) == 15 * 32

    asyncio.run(asyncio.wait_for(test(), 60))
    assert "decision log: lines are dropped: [Errno 27] File too large" in caplog.text
