"""The controller of the job: it carries out the decisions of the policy, and acknowledges them."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import ray
from engine import Engine
from ray.exceptions import RayError

from rollflex import PolicyError
from rollflex.models import TailBatchingConfig
from rollflex.ray import Reporter, RollflexHandle

Lengths = Mapping[str, Sequence[int]]


class Controller:
    """One epoch over the prompts, round after round."""

    def __init__(
        self, policy: RollflexHandle, lengths: Lengths, config: TailBatchingConfig, seconds_per_token: float
    ) -> None:
        self.policy = policy
        self.lengths = lengths
        self.seconds_per_token = seconds_per_token
        self.session: Any = policy.open(
            "tail-batching", config=config, session="job", deliver="stream", producer="controller"
        )
        self.refused: list[tuple[Any, str]] = []
        self.never_added: list[str] = []
        self.reporter = Reporter(self.session, on_refusal=self._refused)
        self.engines: dict[str, Any] = {}
        self.lost: list[str] = []
        self.over = False
        self.reported = 0
        self.trained: list[list[tuple[str, tuple[str, ...]]]] = []
        """Prompts of each round, with the requests whose responses were trained on."""
        self.accepted = 0
        self.on_progress: Callable[[int], None] = lambda accepted: None
        self._prompts = iter(lengths)
        self._timers: dict[str, threading.Timer] = {}
        self._launches: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._aborts: dict[str, list[str]] = defaultdict(list)
        self._reporting = threading.Lock()

    def add_engine(self, **options: Any) -> str:
        """An engine somewhere; where it dies, another one takes its place on a node that is there."""
        engine_id = f"engine-{len(self.engines)}"
        engine = ray.remote(Engine).options(num_cpus=1, **options).remote(engine_id, self.seconds_per_token)
        self.engines[engine_id] = engine
        threading.Thread(target=self._tend, args=(engine_id, engine), daemon=True).start()
        return engine_id

    def run(self, deadline: float) -> None:
        """Until the prompts are used up, and every one of them was trained on."""
        self._request_round()
        last = 0
        for number, decision in self._decisions(deadline):
            assert number == last + 1, f"decision {number} came after {last}"
            last = number
            if decision["type"] == "source.drained":
                break
            self._carry_out(decision)
        self.over = True
        for timer in self._timers.values():
            timer.cancel()

    def finish(self) -> dict[str, int]:
        """How many events each has reported that is still there, once the policy has all of them."""
        self.reporter.close()
        living = {name: engine for name, engine in self.engines.items() if name not in self.lost}
        counts = ray.get([engine.finish.remote() for engine in living.values()])
        return {"controller": self.reported - len(self.never_added), **dict(zip(living, counts, strict=True))}

    def stop(self) -> None:
        self.over = True
        for engine in self.engines.values():
            ray.kill(engine)

    def _decisions(self, deadline: float) -> Iterator[tuple[int, dict[str, Any]]]:
        subscription = self.session.subscribe()
        while True:
            number, decision = subscription.get(timeout=deadline - time.monotonic())
            yield number, decision
            if not subscription.waiting:
                # Sent to the engines before it is acknowledged: an acknowledged decision does not come again.
                self._dispatch()
                subscription.ack(number)

    def _carry_out(self, decision: dict[str, Any]) -> None:
        kind = decision["type"]
        if kind == "request.launch":
            tokens = self.lengths[decision["promptId"]]
            chosen = tokens[decision["index"] % len(tokens)]
            self._launches[decision["engineId"]].append((decision["requestId"], chosen))
        elif kind == "request.abort":
            self._aborts[decision["engineId"]].append(decision["requestId"])
        elif kind == "prompts.request":
            self._supply(decision)
        elif kind == "timer.set":
            self._set_timer(decision)
        elif kind == "response.accepted":
            self.accepted += 1
            self.on_progress(self.accepted)
        elif kind == "round.completed":
            self.trained.append([(one["promptId"], _requests(one)) for one in decision["prompts"]])
        elif kind == "round.drained":
            # Here the batch is trained on, and the engines get the new weights.
            self._request_round()

    def _supply(self, decision: dict[str, Any]) -> None:
        prompts = [{"promptId": one} for _, one in zip(range(decision["count"]), self._prompts, strict=False)]
        if prompts:
            self._report({"type": "prompts.supplied", "roundId": decision["roundId"], "prompts": prompts})
        if len(prompts) < decision["count"]:
            self._report({"type": "source.exhausted"})

    def _request_round(self) -> None:
        version = len(self.trained)
        self._report({"type": "round.requested", "roundId": f"step-{version}", "weightVersion": version})

    def _set_timer(self, decision: dict[str, Any]) -> None:
        timer_id = decision["timerId"]
        if timer_id in self._timers:
            self._timers[timer_id].cancel()
        fired = {"type": "timer.fired", "timerId": timer_id}
        timer = threading.Timer(max(0.0, decision["fireAtSeconds"] - time.time()), self._report, [fired])
        timer.daemon = True
        self._timers[timer_id] = timer
        timer.start()

    def _dispatch(self) -> None:
        for engine_id, requests in self._launches.items():
            self.engines[engine_id].launch.remote(requests)
        for engine_id, aborted in self._aborts.items():
            self.engines[engine_id].abort.remote(aborted)
        self._launches.clear()
        self._aborts.clear()

    def _tend(self, engine_id: str, engine: Any) -> None:
        try:
            ray.get(engine.start.remote(self.policy, self.session.id))
            ray.get(engine.until_death.remote())
        except RayError:
            if not self.over:
                self.lost.append(engine_id)
                self._report({"type": "engine.lost", "engineId": engine_id})
                self.add_engine()

    def _refused(self, event: dict[str, Any], why: PolicyError) -> None:
        if event["type"] == "engine.lost":
            # An engine may die before it has said that it is there.
            self.never_added.append(event["engineId"])
        else:
            self.refused.append((event, str(why)))

    def _report(self, event: dict[str, Any]) -> None:
        with self._reporting:
            self.reporter.report(event)
            self.reported += 1


def _requests(prompt: dict[str, Any]) -> tuple[str, ...]:
    return tuple(one["requestId"] for one in prompt["responses"])
