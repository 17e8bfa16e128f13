/**
 * Shows events a second of sandbox-timeout, against bare emits of eventemitter3 in the same process, bytes of the
 * snapshot, and the tables of src/policies/sandbox-timeout/README.md from recorded runs, against those on the page.
 * `npx tsx bench/sandbox/timeout.ts [--write]`: with `--write` the page gets its tables anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { create, type PolicyOf, sandboxTimeout } from '../../src/index.ts';
import { emitsPerSecond } from '../rates/emits.ts';
import { thousands } from '../rates/print.ts';
import { machine, median } from '../support.ts';
import { measure } from './tables.ts';

const inFlight = 64;
const runsEachPass = 200_000;

type Policy = PolicyOf<typeof sandboxTimeout>;
type Sent = Parameters<Policy['send']>[0];

/** Events of some runs, 64 in flight at a time. Each has strings of its own, as those read from a wire have. */
function eventsOf(from: number, runs: number, testCases: number): Sent[] {
  const events: Sent[] = [];
  for (let run = from; run < from + runs; run += 1) {
    const testCaseId = `problem-${(run * 7919) % testCases}/case-3`;
    events.push({ type: 'sandbox.requested', at: run, runId: `step-7/run-${run}`, testCaseId });
    const done = run - inFlight;
    if (done < 0) continue;
    const outcome = done % 20 === 0 ? 'timeout' : done % 3 === 0 ? 'wrong' : 'correct';
    const seconds = 0.1 + (done % 7) / 10;
    events.push({ type: 'sandbox.finished', at: run, runId: `step-7/run-${done}`, outcome, seconds });
  }
  return events;
}

/** A policy that is warmed up by one pass; each call measures another. Making the events is not in the time. */
function eventsPerSecond(validate: boolean, testCases: number): () => number {
  const policy = create(sandboxTimeout, {}, { validate });
  let from = 0;
  const pass = (): number => {
    const events = eventsOf(from, runsEachPass, testCases);
    from += runsEachPass;
    let decisions = 0;
    const start = performance.now();
    for (const event of events) decisions += policy.send(event).length;
    const took = performance.now() - start;
    if (decisions !== events.length) throw new Error('every event here has one decision');
    return events.length / (took / 1000);
  };
  pass();
  return pass;
}

function snapshotBytes(testCases: number): number {
  const policy = create(sandboxTimeout, {}, { validate: false });
  for (const event of eventsOf(0, testCases, testCases)) policy.send(event);
  return JSON.stringify(policy.snapshot()).length;
}

console.log(machine());
emitsPerSecond(1e6);
// The last forgets a test case for each new one.
for (const testCases of [1000, 100_000, 1_000_000]) {
  for (const validate of [false, true]) {
    const pass = eventsPerSecond(validate, testCases);
    // One after the other, so that what else the machine does falls on both.
    const turns = Array.from({ length: 5 }, () => ({ emits: emitsPerSecond(5e6), events: pass() }));
    const ratio = median(turns.map((one) => one.emits / one.events));
    console.log(
      `${testCases.toLocaleString('en').padStart(9)} test cases, ${validate ? 'validated' : 'trusted  '} ` +
        `${thousands(median(turns.map((one) => one.events))).padStart(9)} events/s, 1/${ratio.toFixed(0)} of bare emits ` +
        `(${thousands(median(turns.map((one) => one.emits)))}/s)`,
    );
  }
}
for (const testCases of [10_000, 100_000, 1_000_000]) {
  console.log(
    `${testCases.toLocaleString('en').padStart(9)} test cases seen: snapshot ${thousands(snapshotBytes(testCases))} bytes`,
  );
}

const file = new URL('../../src/policies/sandbox-timeout/README.md', import.meta.url);
const page = readFileSync(file, 'utf8');
const measured = measure(page);
if (process.argv.includes('--write')) writeFileSync(file, measured);
else if (measured === page) console.log('src/policies/sandbox-timeout/README.md is up to date');
else {
  console.log(`src/policies/sandbox-timeout/README.md is not up to date (--write):\n${measured}`);
  process.exitCode = 1;
}
