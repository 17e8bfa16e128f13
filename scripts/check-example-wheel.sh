#!/usr/bin/env bash
# The loop of examples/12-real-grpo with the wheel, in a fresh environment with torch and transformers of PyPI:
# `scripts/check-example-wheel.sh PYTHON`. It needs 6 GB, and minutes; `npm run wheel` makes the wheel.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wheel=$(ls python/dist/*.whl)
"$1" -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check "$wheel[hf]"
cp examples/12-real-grpo/*.py "$work"
cd "$work"
env -u PYTHONPATH "$work/env/bin/python" -c 'import rollflex; assert "site-packages" in rollflex.__file__'
env -u PYTHONPATH "$work/env/bin/python" main.py --quick
