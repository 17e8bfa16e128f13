"""
One row of the table of JavaScript engines in `docs/python.md`: `python other_engines.py ENGINE`, each in an environment
of its own with that package, after `npm run build:python`. All run the script that the package carries, for the same
events of tail batching.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))
script = Path(__file__).parent.parent / "src/rollflex/_js/embedded.js"
opening = "Object.assign(globalThis, rollflexEmbedded.embed('0.1.0', '{}'))"


def quickjs_call() -> Callable[[str], str]:
    import quickjs

    context = quickjs.Context()
    context.set_max_stack_size(1 << 20)
    context.eval(script.read_text())
    context.eval(f"{opening}; 0")
    return context.get("call")  # type: ignore[no-any-return]


def mini_racer_call() -> Callable[[str], str]:
    from py_mini_racer import MiniRacer

    context = MiniRacer()
    context.eval(script.read_text())
    context.eval(f"{opening}; 0")
    return lambda message: context.call("call", message)


def jsrun_call() -> Callable[[str], str]:
    from jsrun import Runtime

    runtime = Runtime()
    # Functions that it hands out are asynchronous.
    runtime.eval(script.read_text())
    runtime.eval(f"{opening}; 0")
    return lambda message: runtime.eval(f"call({json.dumps(message)})")


engines = {
    "quickjs-ng": quickjs_call,
    "quickjs": quickjs_call,
    "mini-racer": mini_racer_call,
    "jsrun": jsrun_call,
}


def resident() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def main() -> None:
    name = sys.argv[1]
    before, begun = resident(), time.perf_counter()
    call = engines[name]()
    loading, memory = time.perf_counter() - begun, resident() - before

    def result(method: str, **params: Any) -> Any:
        message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, separators=(",", ":"))
        answer = json.loads(call(message).split("\n")[0])
        if "error" in answer:
            sys.exit(f"{name}: {answer['error']}"[:400])
        return answer["result"]

    def play(size: int) -> list[float]:
        """Rounds of 64 prompts, in calls of so many events; seconds of the calls that only end responses."""
        config = {"promptsPerRound": 64, "responsesPerPrompt": 8}
        took = []
        for number in range(6):
            sent = 0
            result("session.open", policy="tail-batching", config=config, session="s", onExisting="replace")
            first = {"type": "round.requested", "at": 0, "roundId": f"r{number}", "weightVersion": number}
            prompts = [{"promptId": f"p{number}-{one}"} for one in range(80)]
            supplied = {"type": "prompts.supplied", "at": 0, "roundId": f"r{number}", "prompts": prompts}
            opened = result("session.send", session="s", producer="bench", firstSeq=sent, events=[first, supplied])
            sent += 2
            ids = [one["requestId"] for one in opened["decisions"] if one["type"] == "request.launch"]
            # Not to the end of a round: that is another kind of call.
            ended = [{"type": "response.completed", "at": 1, "requestId": one, "tokens": 512} for one in ids[:448]]
            for at in range(0, len(ended), size):
                begun = time.perf_counter()
                events = ended[at : at + size]
                result("session.send", session="s", producer="bench", firstSeq=sent, events=events)
                took.append(time.perf_counter() - begun)
                sent += len(events)
        return took

    for _ in range(3):
        play(1)
    single = [one for _ in range(5) for one in play(1)]
    some = [one for _ in range(5) for one in play(64)]
    row = [
        name,
        f"{statistics.median(single) * 1e6:.0f}",
        f"{sorted(single)[int(len(single) * 0.99)] * 1e6:.0f}",
        f"{64 / statistics.median(some):,.0f}",
        f"{loading:.2f}",
        f"{memory:.0f}",
    ]
    print(f"| {' | '.join(row)} |")


main()
