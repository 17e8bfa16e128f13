#!/usr/bin/env bash
# Packs the package and uses it as others will. Prints one line a check; ends with "package: N passed, N failed".
# Options: --node-versions "22 24" also runs it on these versions of Node, where they can be fetched; --keep FILE leaves the
# tarball there as soon as it is packed.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
versions=''
keep=''
while [ $# -gt 1 ]; do
  case $1 in
    --node-versions) versions=$2 ;;
    --keep) keep=$2 ;;
  esac
  shift 2
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # name, command …: 77 says that it cannot be checked here; its last line says why
  local name=$1 from=$SECONDS status
  shift
  "$@" >"$work/log" 2>&1
  status=$?
  if [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
    echo "passed $name ($((SECONDS - from)) s)"
  elif [ "$status" -eq 77 ]; then
    echo "skipped $name: $(tail -n 1 "$work/log")"
  else
    failed=$((failed + 1))
    echo "FAILED $name ($((SECONDS - from)) s)"
    tail -n 30 "$work/log"
  fi
}

# Of a simulation, as little as shows that it runs. (Words, not quoted.)
small='--steps 2 --prompts-per-round 8 --seeds 1'

install_quietly() { npm install --no-audit --no-fund --prefer-offline --loglevel=error --omit-lockfile-registry-resolved=false "$@"; }

new_project() { # folder, packages …
  local folder=$work/$1
  shift
  mkdir -p "$folder" && printf '{ "name": "consumer", "private": true }' >"$folder/package.json" &&
    (cd "$folder" && install_quietly "$@") && cp "$root"/scripts/package-smoke/{smoke.*,tsconfig.json} "$folder"
}

in_project() { # folder, command …
  (cd "$work/$1" && "${@:2}")
}
in_consumer() { in_project consumer "$@"; }

# What a build says is a mistake: with nothing wrong it says nothing.
build() {
  ROLLFLEX_PROGRESS=off npm run --silent build >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
  ! grep -v '^npm ' "$work/said"
}
pack() {
  npm pack --ignore-scripts --pack-destination "$work" && mv "$work"/rollflex-*.tgz "$work/rollflex.tgz" || return 1
  # In one go: somebody may wait for it.
  [ -z "$keep" ] || { cp "$work/rollflex.tgz" "$keep.part" && mv "$keep.part" "$keep"; }
}
# What must be inside, and what must not.
contents() {
  tar -tzf "$work/rollflex.tgz" | sed 's|^package/||' >"$work/files"
  for file in dist/index.js dist/index.cjs dist/index.d.ts dist/index.d.cts dist/rpc.js dist/rpc.cjs dist/rpc.d.ts dist/rpc.d.cts \
    dist/mock-engine.js dist/mock-engine.cjs dist/mock-engine.d.ts dist/mock-engine.d.cts dist/cli.js dist/worker.js \
    dist/plan-worker.js dist/plan-worker.cjs dist/page-charts.js dist/report-client.js dist/debug-client.js dist/dashboard-client.js dist/THIRD-PARTY-LICENSES.txt examples/traces/PROVENANCE.md LICENSE README.md; do
    grep -qx "$file" "$work/files" || { echo "missing: $file"; return 1; }
  done
  ! grep -E '^(src|test|bench|scripts|docs)/|^dist/.*\.test\.|\.map$' "$work/files"
}
# The built package, imported as a whole and one by one: within budgets, without Node, and without what was not asked for.
sizes() { "$root/node_modules/.bin/tsx" "$root/scripts/sizes.ts" --check; }
# The simulator, bundled for a browser as a user's bundler does it: without what needs files.
sim_bundle() {
  printf "import { compare, jobPreset, readTrace } from 'rollflex/sim';\nconsole.log(compare, jobPreset, readTrace);" >"$work/consumer/sim.mjs"
  in_consumer "$root/node_modules/.bin/esbuild" sim.mjs --bundle --minify --platform=browser --format=esm --outfile="$work/sim.js" || return 1
  if grep -oE "[\"'\`]node:[a-z_/]+" "$work/sim.js"; then echo 'rollflex/sim uses Node'; return 1; fi
}
# A page of the consumer's, by Vite: its build, and what a browser shows of it.
page() { # build, preview or dev
  cp -r "$root/scripts/package-smoke/page" "$work/consumer" &&
    "$root/node_modules/.bin/tsx" "$root/scripts/smoke-page.ts" "$work/consumer" "$1"
}
# A consumer's TypeScript, each file as ESM (.mts) and as CommonJS (.cts). Twice: with the consumer's own zod, and with
# the z of rollflex in its place.
sources() { # folder, names …
  local folder=$work/$1 name kind
  for name in "${@:2}"; do
    for kind in mts cts; do
      case $name in
        *-z) sed "s/from 'zod'/from 'rollflex'/" "$root/scripts/package-smoke/${name%-z}.mts" >"$folder/$name.$kind" ;;
        *) cp "$root/scripts/package-smoke/$name.mts" "$folder/$name.$kind" ;;
      esac || return 1
    done
  done
}
# The declarations themselves are checked once, what is made of them, with `--skipLibCheck`, each time.
nodenext_types() { # folder, options
  in_project "$1" node "$root/node_modules/typescript/bin/tsc" -p . --module nodenext "${@:2}"
}
bundler_types() {
  in_project "$1" node "$root/node_modules/typescript/bin/tsc" -p . --module esnext --moduleResolution bundler --noEmit --skipLibCheck
}
runs_compiled() { # folder, mjs or cjs
  local file
  for file in "$work/$1"/out/*."$2"; do
    case $file in */types.*) ;; *) node "$file" || return 1 ;; esac
  done
}
runs_without_fast_check() {
  in_consumer node --input-type=module -e "
    import('rollflex/testing').then(() => process.exit(1), (error) => process.exit(/fast-check/.test(error.message) ? 0 : 1))"
}
binary() {
  in_consumer npx --no-install rollflex --version &&
    in_consumer npx --no-install rollflex schema tail-batching &&
    echo '{"groups":[{"rewards":[1,0]}]}' | in_consumer npx --no-install rollflex plan grpo-advantages --input - --json &&
    echo '{"jsonrpc":"2.0","id":1,"method":"server.info"}' | in_consumer npx --no-install rollflex serve --stdio | grep -q tail-batching &&
    in_consumer npx --no-install rollflex simulate $small --report "$work/report.html" --quiet &&
    grep -q '</html>' "$work/report.html"
}
# What nobody asked for is not there: no packages beside what the root needs, nothing native, and not much of it.
lean() {
  in_project lean bash -c 'ls node_modules | xargs' | grep -qx 'eventemitter3 rollflex zod' || { ls "$work/lean/node_modules"; return 1; }
  if find "$work/lean/node_modules" -name '*.node' -o -name binding.gyp | grep .; then return 1; fi
  local kib
  kib=$(du -sk "$work/lean/node_modules" | cut -f1)
  echo "$kib KiB"
  [ "$kib" -lt 26000 ]
}
# Declarations name only packages that are there, or that who imports them has installed.
declares() {
  ! grep -ohE "(from|import\() ?['\"][a-z@][^'\"]*['\"]" "$root"/dist/*.d.ts "$root"/dist/*.d.cts |
    grep -vE "['\"](zod|eventemitter3|fast-check|node:[a-z/_]+|$(node -p "require('node:module').builtinModules.join('|')"))['\"/]"
}
# Every package that is built in is in the table of licences; of tsup there are a few lines for CommonJS.
licensed() {
  node -e "
    const { readFileSync } = require('node:fs');
    const table = readFileSync('docs/package.md', 'utf8');
    const built = readFileSync('dist/THIRD-PARTY-LICENSES.txt', 'utf8').split(/^-{80}\n\n/m).map((one) => one.split('\n', 1)[0]);
    const missing = built.filter((name) => name !== 'tsup' && !table.includes('| ' + name + ' '));
    if (built.length < 10 || missing.length > 0) throw new Error(built.length + ' built in, not in the table: ' + missing);"
}
lean_rollflex() { in_project lean npx --no-install rollflex "$@"; }
lean_commands() {
  local traces=$work/lean/node_modules/rollflex/examples/traces
  head -n 40 "$traces/castillo-qwen2.5-7b-instruct-1m.jsonl" >"$work/some.jsonl"
  lean_rollflex --help | grep -q 'rollflex advise' &&
    lean_rollflex simulate "$traces/servegen-deepseek-r1.jsonl" $small --no-report --quiet &&
    lean_rollflex advise "$work/some.jsonl" --preset qwen2.5-7b-8k --prompts-per-round 2 --engines 1 --steps 2 --quiet | grep '^waits' &&
    echo '{"jsonrpc":"2.0","id":1,"method":"server.info"}' | lean_rollflex serve --stdio --metrics-port 0 | grep -q tail-batching
}
# Plans in threads, from modules of both kinds.
lean_threads() {
  local plan="const threads = planThreads(), plan = { planner: 'grpo-advantages', input: { groups: [{ rewards: [1, 0] }] } };
    threads.plan(plan).then(({ json }) => { console.log(json); threads.close(); });"
  in_project lean node --input-type=module -e "import { planThreads } from 'rollflex/rpc'; $plan" | grep -q advantages &&
    in_project lean node -e "const { planThreads } = require('rollflex/rpc'); $plan" | grep -q advantages
}
# Every planner, and pages in Chromium.
lean_product() {
  "$root/node_modules/.bin/tsx" "$root/scripts/smoke-product.ts" node "$work/lean/node_modules/rollflex/dist/cli.js"
}
# A new folder installs the package beside it, runs, and tests itself.
new_folder() { # kind
  in_consumer npx --no-install rollflex new "$1" "my-$1" &&
    (cd "$work/consumer/my-$1" && install_quietly && npm start && npm test | tee "$work/said" && grep -E '^(#|ℹ) tests [1-9]' "$work/said")
}
# What is not there is asked for by the command that installs it.
asks_for() { # package, command …
  "${@:2}" >"$work/said" 2>&1 </dev/null && { echo "worked without $1"; return 1; }
  grep -F "expected the package $1 beside the npm package rollflex (npm install $1)" "$work/said"
}
lean_errors() {
  asks_for classic-level lean_rollflex serve --stdio --state-dir "$work/state" &&
    asks_for classic-level in_project lean node --input-type=module -e "
      import { openDurableServer } from 'rollflex/rpc'; await openDurableServer({ stateDir: '$work/state' })" &&
    asks_for prom-client in_project lean node --input-type=module -e "import { prometheus } from 'rollflex/rpc'; await prometheus()" &&
    asks_for prom-client in_project lean node -e "require('rollflex/rpc').prometheus()"
}
# The store's binary comes with its package, and works without any script at installation.
durable() {
  local open='{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"policy":"tail-batching","config":{"promptsPerRound":2,"responsesPerPrompt":2},"session":"kept"}}'
  echo "$open" | in_consumer npx --no-install rollflex serve --stdio --state-dir "$work/state" &&
    echo '{"jsonrpc":"2.0","id":1,"method":"session.list"}' |
    in_consumer npx --no-install rollflex serve --stdio --state-dir "$work/state" | grep -q '"kept"'
}
measured() { in_consumer node --input-type=module -e "import { prometheus } from 'rollflex/rpc'; await prometheus()"; }
wrong_use() {
  in_consumer npx --no-install rollflex simulate --eta 0.5
  [ $? -eq 2 ]
}
# Nothing is fetched from elsewhere, and what has a script works without it.
from_registry() { node "$root/scripts/check-installed.mjs" "$work/$1" "$(npm config get registry)"; }
# The version that a project asked for is the one it gets, whatever rollflex brings along.
own_zod() { # folder, major version
  in_project "$1" node -p "require('zod/package.json').version" | grep -q "^$2\."
}
on_node() { # version
  local node
  node=$(ls "$work/node$1"/node_modules/.bin/node 2>/dev/null) || return 1
  "$node" --version | grep -q "^v$1\." || return 1
  in_consumer "$node" smoke.mjs && in_consumer "$node" smoke.cjs &&
    in_consumer "$node" node_modules/rollflex/dist/cli.js simulate $small --no-report --quiet
}

# What else installs packages, and runs them. None of it can see what the package does not name as its own dependency:
# pnpm links only those, Yarn has no node_modules at all.
tool() { # name, arguments …
  "$work/tools/node_modules/.bin/$1" "${@:2}"
}
runs_smoke() { # folder, command …
  cp "$root"/scripts/package-smoke/smoke.* "$work/$1" && in_project "$1" "${@:2}" smoke.mjs && in_project "$1" "${@:2}" smoke.cjs
}
with_pnpm() {
  mkdir -p "$work/pnpm" && echo '{ "private": true }' >"$work/pnpm/package.json" &&
    in_project pnpm tool pnpm add --ignore-scripts zod@4 "$work/rollflex.tgz" && runs_smoke pnpm node
}
with_yarn() {
  mkdir -p "$work/yarn" && echo '{ "name": "consumer", "private": true }' >"$work/yarn/package.json" && touch "$work/yarn/yarn.lock"
  export YARN_NPM_REGISTRY_SERVER YARN_UNSAFE_HTTP_WHITELIST='*' YARN_ENABLE_TELEMETRY=0
  YARN_NPM_REGISTRY_SERVER=$(npm config get registry)
  in_project yarn tool yarn add zod@4 "rollflex@file:$work/rollflex.tgz" && runs_smoke yarn tool yarn node &&
    in_project yarn tool yarn rollflex simulate $small --no-report --quiet
}
with_bun() {
  mkdir -p "$work/bun" && echo '{ "private": true }' >"$work/bun/package.json" &&
    in_project bun tool bun add --ignore-scripts zod@4 "$work/rollflex.tgz" && runs_smoke bun tool bun
}
with_deno() { runs_smoke consumer tool deno run --allow-all --node-modules-dir=manual; }

typed_project() { # folder, name, options: the declarations themselves, and with a bundler, need to be checked once only
  check "$2: types by nodenext" nodenext_types "$1" "${@:3}"
  [ $# -gt 2 ] || check "$2: types with a bundler" bundler_types "$1"
  check "$2: own policies run as ESM" runs_compiled "$1" mjs
  check "$2: own policies run as CommonJS" runs_compiled "$1" cjs
}

check 'builds, without a word' build
check 'packs' pack
check 'holds what it should, and nothing else' contents
check 'publint --strict' npx --no-install publint run --strict "$work/rollflex.tgz"
check 'types resolve in every mode (attw)' npx --no-install attw "$work/rollflex.tgz" --profile node16 --no-color
check 'sizes: for browsers, within budgets, nothing in tow' sizes
check 'licences of what is built in are told' licensed
check 'declarations name only what is there' declares
check 'lean: installs, without scripts' new_project lean --ignore-scripts "$work/rollflex.tgz"
check 'lean: three packages, none native' lean
check 'lean: runs as ESM' in_project lean node smoke.mjs
check 'lean: runs as CommonJS' in_project lean node smoke.cjs
check 'lean: the command line' lean_commands
check 'lean: plans in threads' lean_threads
check 'lean: every planner, and the pages in Chromium' lean_product
check 'lean: what is absent is asked for' lean_errors
# The consumer on zod 4 installs without any script, the one on zod 3 as npm does it by itself.
check 'installs beside zod 4, without scripts' new_project consumer --ignore-scripts zod@4 "$work/rollflex.tgz"
check 'simulator: for browsers' sim_bundle
check 'Vite: builds a page' page build
check 'Vite: the page in Chromium, as in Node' page preview
check 'Vite: the page from the development server' page dev
check 'runs as ESM' in_consumer node smoke.mjs
check 'runs as CommonJS, and beside the ESM copy' in_consumer node smoke.cjs
check 'binary runs' binary
check 'installs beside what is optional' in_consumer install_quietly --ignore-scripts classic-level@3 prom-client@15
check 'sessions are kept in a state directory' durable
check 'metrics are served by the package for them' measured
check 'binary exits with 2 for wrong use' wrong_use
check 'fast-check is optional, and asked for by name' runs_without_fast_check
check 'installs beside fast-check' in_consumer install_quietly --ignore-scripts fast-check@4
check 'everything is from the registry, and needs no script' from_registry consumer
check 'zod 4 is the one that was asked for' own_zod consumer 4
check 'rollflex new host: runs, and tests itself' new_folder host
check 'rollflex new policy: runs, and tests itself' new_folder policy
sources consumer types own-policy own-policy-z
typed_project consumer 'zod 4'
check 'installs beside zod 3' new_project zod3 zod@3 fast-check@4 "$work/rollflex.tgz"
check 'zod 3: everything is from the registry' from_registry zod3
check 'zod 3 is the one that was asked for' own_zod zod3 3
sources zod3 types zod-3 own-policy-z
typed_project zod3 'zod 3' --skipLibCheck
check 'zod 3: runs as ESM' in_project zod3 node smoke.mjs
check 'zod 3: runs as CommonJS' in_project zod3 node smoke.cjs
if new_project tools pnpm@10 @yarnpkg/cli-dist@4 bun@1 deno@2 >"$work/log" 2>&1; then
  check 'pnpm: installs, and runs' with_pnpm
  check 'Yarn without node_modules: installs, and runs' with_yarn
  check 'Bun: installs, and runs' with_bun
  check 'Deno: runs' with_deno
else
  echo 'skipped pnpm, Yarn, Bun and Deno: they could not be fetched'
fi
for version in $versions; do
  if (mkdir -p "$work/node$version" && cd "$work/node$version" && printf '{}' >package.json && install_quietly "node@$version") >"$work/log" 2>&1; then
    check "runs on Node $version" on_node "$version"
  else
    echo "skipped Node $version: it could not be fetched"
  fi
done

echo "package: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
