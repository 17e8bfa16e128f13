"""`rollflex mock-engine`: inference engines without a GPU."""

from __future__ import annotations

import asyncio
import json
import subprocess
import urllib.request
from typing import Any

from support import command


class MockEngines:
    """Engines, and the router in front of them."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            [*command(), "mock-engine", "--json", "--control-port", "0", *args], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        said = json.loads(self.process.stdout.readline())
        self.url: str = said["url"]
        self.engine_urls: list[str] = said["engineUrls"]

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=120) as answer:
            return json.load(answer)

    def post(self, path: str, body: Any) -> Any:
        asked = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"content-type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(asked, timeout=120) as answer:
            return json.load(answer)

    async def told(self, path: str, body: Any) -> Any:
        """The same, beside what else is under way."""
        return await asyncio.to_thread(self.post, path, body)

    @property
    def seconds(self) -> float:
        """Simulated."""
        return float(self.get("/clock")["seconds"])

    def stats(self) -> list[dict[str, Any]]:
        engines: list[dict[str, Any]] = self.get("/stats")["engines"]
        return engines

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(120)
        assert self.process.stdout
        self.process.stdout.close()
