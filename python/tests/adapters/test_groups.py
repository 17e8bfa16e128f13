"""Groups that a framework has given up."""

from __future__ import annotations

import rollflex
from rollflex.adapters._groups import Group, GroupRounds, Settings


def test_groups_that_fail_one_after_the_other_do_not_hold_up_a_round() -> None:
    with rollflex.Client.embedded() as client:
        session = client.open("tail-batching", config=Settings(1.25, 0).config(4))
        rounds = GroupRounds()
        rounds.apply(session.send(rounds.open(0)))
        groups: dict[str, Group] = {}
        for step in range(60):
            if not rounds.is_open:
                break
            for number in range(rounds.missing):
                groups[f"g{step}-{number}"] = Group("running")
            for prompt in [one for one in groups if groups[one].status == "running"]:
                # The framework gives up all that it has tried in the first steps.
                groups[prompt] = Group("failed") if step < 20 else Group("finished", 7)
            while events := rounds.progress(groups):
                rounds.apply(session.send(events))
        assert len(rounds.chosen) == 4
        assert all(groups[one].status == "finished" for one in rounds.chosen)
        assert len(rounds.failed) > 8
