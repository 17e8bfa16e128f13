"""
``python -m rollflex …``: the command line (``rollflex --help``), from the bundle that this package carries, on Node.js.

Exit code 1 where there is none to run it with, else that of the command line.
"""

from __future__ import annotations

import os
import sys

from ._command import carried_command
from .errors import ServerUnavailable


def main() -> None:
    try:
        command = carried_command()
    except ServerUnavailable as error:
        sys.exit(f"rollflex: {error}")
    sys.stdout.flush()
    os.execv(command[0], [*command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
