#!/usr/bin/env bash
# The wheel as somebody uses it: `scripts/check-wheel.sh [--wheel FILE] PYTHON…`, the newest last; without a file it is built, with
# the sdist. Each Python gets a fresh environment with the wheel, and nothing on the PATH beside it; it runs the Python of the
# pages. Then the newest gets Node.js on the PATH: every plan by a server, the command line, and its pages in Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wheel=''
if [ "${1:-}" = --wheel ]; then
  wheel=$(realpath "$2")
  shift 2
fi
newest=${*: -1}
# The pip of the newest fills the other environments: a copy in each takes seconds to make.
pip="$work/build/bin/pip"
"$newest" -m venv "$work/build"
if [ -z "$wheel" ]; then
  "$pip" install --quiet --disable-pip-version-check build
  PYTHON="$work/build/bin/python" npm run --silent wheel >"$work/wheel.log" 2>&1 || { cat "$work/wheel.log"; exit 1; }
  wheel=$(ls "$root"/python/dist/*.whl)
fi
# With the engine, which is 2.6 MB, under 6.
size=$(stat -c %s "$wheel" 2>/dev/null || stat -f %z "$wheel")
[ "$size" -lt 3400000 ] || { echo "$wheel has $size bytes"; exit 1; }
tar tzf "$(dirname "$wheel")"/*.tar.gz | grep '_js/embedded.js' >/dev/null || { echo 'the sdist has no script'; exit 1; }

for python in "$@"; do
  from=$SECONDS
  here="$work/$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
  "$python" -m venv --without-pip "$here"
  "$pip" --python "$here/bin/python" install --quiet --disable-pip-version-check "$wheel"
  (cd "$here" && env -i PATH="$here/bin" HOME="$work" "$here/bin/python" -I - "$root"/{README,docs/python,python/README}.md <<'EXAMPLES'
import contextlib, io, re, shutil, sys
import rollflex
assert shutil.which("node") is None, "this is to be a machine without Node.js"
assert "site-packages" in rollflex.__file__
text = "".join(open(path, encoding="utf-8").read() for path in sys.argv[1:])
examples = re.findall(r"^```python\n(.*?)^```\n+^```text\n(.*?)^```", text, re.M | re.S)
assert examples
for program, printed in examples:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(program, {"__name__": "__main__"})
    assert said.getvalue() == printed, said.getvalue()
try:
    rollflex.Client.spawn()
except rollflex.NodeNotFound as error:
    assert "rollflex[node]" in str(error)
else:
    raise AssertionError("a server without Node.js")
print(len(examples), "examples")
EXAMPLES
  )
  seconds=$((SECONDS - from))
  echo "$("$python" --version): installed and ran in $seconds s"
  # A minute is much, but machines are slow and busy.
  [ "$seconds" -lt 300 ]
done

# A trainer of one's own, as `new` makes it without Node.js.
"$pip" --python "$here/bin/python" install --quiet --disable-pip-version-check pytest mypy
(cd "$here" && PATH="$here/bin" && python -m rollflex new trainer own && cd own && python trainer.py && pytest -q)

# With Node.js, and nothing else beside it: no package of npm.
mkdir "$work/node"
ln -s "$(command -v node)" "$work/node/node"
installed=(env -i PATH="$here/bin:$work/node" HOME="$work" "$here/bin/python" -I)
cd "$here"
"${installed[@]}" - "$root/python/tests" <<'PLANS'
import sys
import rollflex
sys.path.append(sys.argv[1])
from plans import plans
with rollflex.Client.spawn() as server, rollflex.Client.embedded() as embedded:
    assert "site-packages" in rollflex.server_command()[-1]
    planners = {one["id"] for one in server.server_info()["planners"]}
    assert planners == set(plans), planners
    for planner, (given, _) in plans.items():
        made = server.plan(rollflex.Untyped(planner), given)
        assert made and made == embedded.plan(rollflex.Untyped(planner), given), planner
print(len(plans), "planners, spawned and embedded")
PLANS
traces=$(echo lib/python*/site-packages/rollflex/_js/examples/traces)
head -n 40 "$traces/castillo-qwen2.5-7b-instruct-1m.jsonl" >some.jsonl
"${installed[@]}" -m rollflex advise some.jsonl --preset qwen2.5-7b-8k --prompts-per-round 2 --engines 1 --steps 2 --quiet |
  grep '^waits'
status=0
(cd "$root" && node_modules/.bin/tsx scripts/smoke-product.ts "${installed[@]}" -m rollflex) || status=$?
[ "$status" -eq 0 ] || [ "$status" -eq 77 ]
