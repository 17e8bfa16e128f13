"""Actors and tasks with the policies in their own process: what a job needs where nobody shares a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'rollflex[ray]'")

import rollflex
from support import opening, tail

if TYPE_CHECKING:
    from cluster import Nodes


def test_actors_and_tasks_have_clients_of_their_own(nodes: Nodes) -> None:
    # Workers cannot import this module: what they run is sent to them, and so stands here.
    config, remote = tail, ray.remote

    class Controller:
        def __init__(self) -> None:
            self.client = rollflex.Client()
            self.session = self.client.open("tail-batching", config=config)

        def send(self, events: Any) -> list[Any]:
            return self.session.send(events)

    def task(events: Any) -> list[Any]:
        with rollflex.Client() as client:
            return client.open("tail-batching", config=config).send(events)

    with rollflex.Client() as client:
        expected = client.open("tail-batching", config=config).send(opening())
        actors = [remote(Controller).remote() for _ in range(2)]
        assert ray.get([one.send.remote(opening()) for one in actors]) == [expected, expected]
        assert ray.get(remote(task).remote(opening())) == expected
        with pytest.raises(TypeError, match="belong to their process"):
            ray.put(client)
