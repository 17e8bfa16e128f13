"""A terminal of 24 lines, 120 columns or as many as the argument says, with a shell in it, driven by steps: ["send", text], ["wait", seconds], ["expect", pattern, seconds].

The steps come as JSON on standard input. What was seen until the end of each pattern, and the seconds until then, goes out as
JSON. A pattern that does not come is an error.
"""

import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

steps = json.load(sys.stdin)
columns = int(sys.argv[1]) if len(sys.argv) > 1 else 120
pid, terminal = pty.fork()
if pid == 0:
    os.environ["PS1"] = "ready> "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

seen = ""
results = []
for kind, what, *rest in steps:
    if kind == "send":
        os.write(terminal, what.encode())
    elif kind == "wait":
        time.sleep(what)
    else:
        begun = time.monotonic()
        while (found := re.search(what, seen, re.DOTALL)) is None:
            if time.monotonic() - begun > rest[0]:
                sys.exit(f"{what!r} did not come, but {seen!r}")
            if select.select([terminal], [], [], 0.05)[0]:
                seen += os.read(terminal, 65536).decode("utf-8", "replace")
        results.append({"seen": seen[: found.end()], "seconds": time.monotonic() - begun})
        seen = seen[found.end() :]
print(json.dumps(results))
os.close(terminal)
