"""Called by `bench/python/same-decisions.ts`: answers each line as the policies in this process do."""

from __future__ import annotations

import sys

from rollflex._engine import QuickJs


def main() -> None:
    engine = QuickJs({}, None, None)
    for line in sys.stdin:
        sys.stdout.write(engine.call(line.rstrip("\n")) + "\n")
        sys.stdout.flush()


main()
