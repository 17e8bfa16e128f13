#!/usr/bin/env bash
# The wheel and the sdist, built and then used as somebody does who has no Node.js: `scripts/check-wheel.sh PYTHON…`, the
# newest last. Each Python gets a fresh environment with the wheel, and nothing on the PATH beside it; it runs the Python
# of the pages.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The pip of the newest fills the other environments: a copy in each takes seconds to make.
pip="$work/build/bin/pip"
"${@: -1}" -m venv "$work/build"
"$pip" install --quiet --disable-pip-version-check build
PYTHON="$work/build/bin/python" npm run --silent wheel >"$work/wheel.log" 2>&1 || { cat "$work/wheel.log"; exit 1; }
wheel=$(ls python/dist/*.whl)
# With the engine, which is 2.6 MB, under 6.
size=$(stat -c %s "$wheel" 2>/dev/null || stat -f %z "$wheel")
[ "$size" -lt 3400000 ] || { echo "$wheel has $size bytes"; exit 1; }
tar tzf python/dist/*.tar.gz | grep '_js/embedded.js' >/dev/null || { echo 'the sdist has no script'; exit 1; }

for python in "$@"; do
  from=$SECONDS
  here="$work/$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
  "$python" -m venv --without-pip "$here"
  "$pip" --python "$here/bin/python" install --quiet --disable-pip-version-check "$wheel"
  (cd "$here" && env -i PATH="$here/bin" HOME="$work" "$here/bin/python" -I - "$OLDPWD"/{README,docs/python,python/README}.md <<'EXAMPLES'
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
print(len(examples), "examples")
EXAMPLES
  )
  seconds=$((SECONDS - from))
  echo "$("$python" --version): installed and ran in $seconds s"
  # A minute is much, but machines are slow and busy.
  [ "$seconds" -lt 300 ]
done
