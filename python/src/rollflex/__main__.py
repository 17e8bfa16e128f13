"""
``python -m rollflex …``: the command line (``rollflex --help``), from the bundle that this package carries, on Node.js.

Exit code 1 where there is none to run it with, else that of the command line. ``new trainer NAME`` needs no Node.js;
exit code 2 for a name or a kind that it refuses.
"""

from __future__ import annotations

import os
import sys

from ._command import carried_command
from ._new import WrongUse, is_for_python, make_trainer
from .errors import ServerUnavailable


def main() -> None:
    words = sys.argv[1:]
    try:
        if is_for_python(words):
            print(make_trainer(words[2:]))
            return
    except WrongUse as error:
        print(f"rollflex: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        sys.exit(f"rollflex: {error}")
    try:
        command = carried_command()
    except ServerUnavailable as error:
        sys.exit(f"rollflex: {error}")
    sys.stdout.flush()
    os.execv(command[0], [*command, *words])


if __name__ == "__main__":
    main()
