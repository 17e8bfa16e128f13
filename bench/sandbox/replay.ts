/**
 * Recorded runs of the same test cases, replayed through sandbox-timeout: what a λ saves, and which correct runs it
 * stops. Programs that never end are put among them, as many as RollPacker's Figure 8a has.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { create, sandboxTimeout } from '../../src/index.ts';
import type { SandboxTimeoutInput } from '../../src/policies/sandbox-timeout/index.ts';
import { uniform } from '../../src/sim/workload/random.ts';

/** Seconds of correct runs of one test case, oldest first. */
export interface Series {
  readonly testCase: string;
  readonly seconds: readonly number[];
}

/** A set of recorded runs. */
export interface Recording {
  readonly name: 'livecodebench' | 'pytest-langflow';
  /** Whether a test case has few runs, of different programs: then either may have been the first. */
  readonly bothOrders: boolean;
  /** How many times the doomed runs are drawn: few runs need many draws. */
  readonly seeds: number;
}

/** The bundled sets. */
export const recordings: readonly Recording[] = [
  { name: 'livecodebench', bothOrders: true, seeds: 20 },
  { name: 'pytest-langflow', bothOrders: false, seeds: 3 },
];

/** Share of runs that never end by themselves (RollPacker Figure 8a). */
export const doomedShare = 0.05;
/** Tmax, and the timeout of the fixed baseline, in seconds. */
export const fixedSeconds = 30;

const read = new Map<string, Series[]>();

/** Reads a bundled set, once. */
export function readSeries({ name }: Recording): Series[] {
  const known = read.get(name) ?? parsed(name);
  read.set(name, known);
  return known;
}

function parsed(name: string): Series[] {
  const file = new URL(`../../examples/traces/sandbox-${name}.jsonl`, import.meta.url);
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { test_case: string; seconds: number[] })
    .map((one) => ({ testCase: one.test_case, seconds: one.seconds }));
}

/** The test cases of one half; which half one is in follows from its name alone. */
export function half(all: readonly Series[], which: 0 | 1): Series[] {
  return all.filter((one) => (createHash('sha256').update(one.testCase).digest()[0]! & 1) === which);
}

/** How a replay differs from the defaults. */
export interface Variant extends SandboxTimeoutInput {
  /** What starting a process adds to every run, in seconds. */
  readonly startSeconds?: number;
  /** From this epoch on every run takes `slowdown` times as long, as on a machine that others use. */
  readonly slowFrom?: number;
  readonly slowdown?: number;
}

/** What replays came to. */
export interface Outcome {
  /** Correct runs of test cases that had been solved before. */
  anchoredRuns: number;
  /** Those among them that were stopped although the fixed timeout would have let them finish. */
  killed: number;
  /** Correct runs, all of them. */
  correctRuns: number;
  /** Correct runs that the fixed timeout stops too. */
  overFixed: number;
  /** Seconds of all runs, doomed ones included. */
  seconds: number;
  /** Seconds of the same runs under the fixed timeout. */
  secondsUnderFixed: number;
}

const nothing = (): Outcome => ({
  anchoredRuns: 0,
  killed: 0,
  correctRuns: 0,
  overFixed: 0,
  seconds: 0,
  secondsUnderFixed: 0,
});

/** Replays all first runs, then all second ones, and so on, as the epochs of a training job would; adds to `into`. */
function replayOnce(all: readonly Series[], variant: Variant, seed: number, into: Outcome): void {
  const { startSeconds = 0, slowFrom = Number.POSITIVE_INFINITY, slowdown = 1, ...config } = variant;
  const policy = create(sandboxTimeout, { maxTimeoutSeconds: fixedSeconds, ...config }, { validate: false });
  let runs = 0;
  const run = (testCaseId: string, needsSeconds: number): void => {
    const runId = `r${runs++}`;
    const [given] = policy.send({ type: 'sandbox.requested', at: 0, runId, testCaseId });
    if (given?.type !== 'sandbox.run') throw new Error('a run that is requested is run');
    const isStopped = needsSeconds > given.timeoutSeconds;
    const seconds = Math.min(needsSeconds, given.timeoutSeconds);
    into.seconds += seconds;
    into.secondsUnderFixed += Math.min(needsSeconds, fixedSeconds);
    if (needsSeconds < Number.POSITIVE_INFINITY) {
      into.correctRuns += 1;
      if (needsSeconds > fixedSeconds) into.overFixed += 1;
      else if (isStopped) into.killed += 1;
      if (given.reason.code !== 'no_anchor') into.anchoredRuns += 1;
    }
    policy.send({ type: 'sandbox.finished', at: 0, runId, outcome: isStopped ? 'timeout' : 'correct', seconds });
  };
  const epochs = Math.max(...all.map((one) => one.seconds.length));
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    const factor = epoch >= slowFrom ? slowdown : 1;
    all.forEach(({ testCase, seconds }, index) => {
      const recorded = seconds[epoch];
      if (recorded === undefined) return;
      const isDoomed = uniform(seed, index, epoch) < doomedShare / (1 - doomedShare);
      if (isDoomed) run(testCase, Number.POSITIVE_INFINITY);
      run(testCase, factor * (recorded + startSeconds));
    });
  }
}

/** Replays one half of a set, with every draw of its doomed runs, and in both orders where either may have been. */
export function replay(recording: Recording, which: 0 | 1, variant: Variant): Outcome {
  const forwards = half(readSeries(recording), which);
  const backwards = forwards.map((one) => ({ ...one, seconds: [...one.seconds].reverse() }));
  const into = nothing();
  for (let seed = 0; seed < recording.seeds; seed += 1) {
    replayOnce(forwards, variant, seed, into);
    if (recording.bothOrders) replayOnce(backwards, variant, seed, into);
  }
  return into;
}

/** Share of the fixed timeout's seconds that was saved. */
export const savedShare = (one: Outcome): number => 1 - one.seconds / one.secondsUnderFixed;
/** Share of correct runs of solved test cases that were stopped for nothing. */
export const killedShare = (one: Outcome): number => one.killed / one.anchoredRuns;
