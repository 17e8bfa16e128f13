"""
The client whose policies run in its process, as a server on standard input and output: what kills servers can kill it.

    python embedded_server.py serve --state-dir DIR [--snapshot-events N] [--fsync WHEN] [--log-dir DIR]
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from typing import Any

from rollflex import Client
from rollflex._opening import Embedding

_printing = threading.Lock()


def say(message: dict[str, Any]) -> None:
    with _printing:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


class Relay:
    """Hands on what is streamed of a session."""

    def notified(self, method: str, params: dict[str, Any]) -> None:
        say({"jsonrpc": "2.0", "method": method, "params": params})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("--stdio", action="store_true")
    parser.add_argument("--state-dir")
    parser.add_argument("--log-dir")
    parser.add_argument("--snapshot-events", type=int, default=10_000)
    parser.add_argument("--fsync", choices=["always", "interval"], default="always")
    given = parser.parse_args()
    made = Embedding(
        {},
        None,
        None,
        60.0,
        state_dir=given.state_dir,
        fsync=given.fsync,
        log_dir=given.log_dir,
        snapshot_events=given.snapshot_events,
    )
    with Client(made) as client:
        core = client._core
        for line in sys.stdin:
            call = json.loads(line)
            if call["method"] == "session.subscribe":
                core.readers[call["params"]["session"]] = Relay()
            pending = core.start(call["method"], call["params"])
            pending.wait(None)
            say({**pending.take(), "id": call["id"]})


if __name__ == "__main__":
    main()
