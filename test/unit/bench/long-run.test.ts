/** The long run: what it does with a policy that breaks a law, and that a killed one ends as if it had never been. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { reportOf } from '../../../bench/long-run/report.ts';
import { LongRun } from '../../../bench/long-run/run.ts';
import { type AnyDecision, type AnyPolicyDefinition, sealDefinition } from '../../../src/core/machine/definition.ts';
import { registry } from '../../../src/registry.ts';
import { program } from '../../support/command-line/in-process.ts';
import { root } from '../../support/command-line/process.ts';
import { exampleConfigs } from '../../support/examples/configs.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-long-run-'));
// Of clocks that begin anew, as in the command itself.
beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const options = { definitions: registry.policies, configs: exampleConfigs, events: 5000, seed: 7, life: 150 };
/** What must not depend on how often a run was stopped. */
const essence = (run: LongRun, definitions: readonly AnyPolicyDefinition[]): unknown => {
  const lanes = run.record.lanes.map(({ seconds, ...one }) => one);
  return JSON.parse(JSON.stringify({ lanes, digest: reportOf(run.record, definitions).digest }));
};
const toTheEnd = (run: LongRun): LongRun => {
  while (!run.isDone) run.advance();
  return run;
};

test('a run that was killed goes on, and ends in the state of one that was not', async () => {
  const ids = ['sandbox-timeout', 'reward-dispatch', 'tail-batching'];
  const definitions = registry.policies.filter(({ id }) => ids.includes(id));
  const some = { ...options, definitions, events: 1500 };
  const state = join(folder, 'killed.json');
  const shape = ['--events', '1500', '--seed', '7', '--life', '150', '--only', ids.join(',')];
  const given = [...shape, '--save-seconds', '0', '--state', state];
  // With the loader of the tests.
  const child = spawn(process.execPath, [...process.execArgv, 'bench/long-run.ts', ...given], { cwd: root });
  const over = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
  while (!existsSync(state) && child.exitCode === null) await sleep(5);
  child.kill('SIGKILL');
  expect(await over).toBe('SIGKILL');

  const resumed = new LongRun({ ...some, state });
  expect(resumed.done).toBeGreaterThan(0);
  expect(resumed.isDone).toBe(false);
  const whole = toTheEnd(new LongRun(some));
  expect(essence(toTheEnd(resumed), definitions)).toEqual(essence(whole, definitions));
});

test('every policy goes on deciding to the end', () => {
  const whole = toTheEnd(new LongRun(options));
  const { events, policies, decisions, restores } = reportOf(whole.record, registry.policies);
  expect(events).toBe(5000);
  expect(decisions).toBeGreaterThan(2500);
  expect(restores).toBeGreaterThan(50);
  for (const { policy, coverage, decisionsByQuarter, lives } of policies) {
    expect(decisionsByQuarter, policy).toHaveLength(4);
    // A handful of events, a fiftieth of what the others get: what they lead to depends on who else is in the registry.
    if (policy === 'flexrl') continue;
    // No policy ends in a state in which nothing happens any more.
    for (const decided of decisionsByQuarter) expect(decided, policy).toBeGreaterThan(0);
    expect(coverage.decisions.seen / coverage.decisions.declared, policy).toBeGreaterThan(0.15);
    expect(lives, policy).toBeGreaterThanOrEqual(2);
  }
});

test('a run that was over before says that it has run nothing', async () => {
  const state = join(folder, 'over.json');
  const definitions = registry.policies.filter((one) => one.id === 'sandbox-timeout');
  toTheEnd(new LongRun({ ...options, definitions, events: 300, state })).save();
  const shape = ['--events', '300', '--seed', '7', '--life', '150'];
  const given = [...shape, '--only', 'sandbox-timeout', '--state', state];
  const { out } = await program('bench/long-run.ts', ...given);
  expect(out).toMatch(/nothing was run: the run in .*over\.json was over before/);
});

test('the file of another run is refused, and so is what is no run', () => {
  const state = join(folder, 'other.json');
  const small = { ...options, events: 500, state };
  const run = new LongRun(small);
  run.advance();
  run.save();
  expect(() => new LongRun({ ...small, seed: 8 })).toThrow(
    /other\.json: expected a run with seed 8, or no file, got 7/,
  );
  expect(() => new LongRun({ ...small, definitions: registry.policies.slice(1) })).toThrow(/a run with of rollflex/);
  writeFileSync(state, readFileSync(state, 'utf8').slice(0, 100));
  expect(() => new LongRun(small)).toThrow(/a file of a long run/);
  writeFileSync(state, '{"format":"something else"}');
  expect(() => new LongRun(small)).toThrow(/rollflex-long-run/);
});

const queue = registry.policies.find((one) => one.id === 'long-prompt-queue')!;
const runOf = (change: Partial<AnyPolicyDefinition>): (() => LongRun) => {
  const definitions = [sealDefinition<AnyPolicyDefinition>({ ...queue, ...change })];
  return () => toTheEnd(new LongRun({ ...options, definitions, events: 3000 }));
};

/** The n-th time is otherwise. */
function once<T extends unknown[], R>(n: number, usual: (...all: T) => R, then: (...all: T) => R): (...all: T) => R {
  let calls = 0;
  return (...all) => (++calls === n ? then(...all) : usual(...all));
}

test('a law that is broken once in thousands of events is noticed, and named', () => {
  expect(runOf({})).not.toThrow();
  const { apply, check, load, save, ledgers } = queue;
  // The 1503rd application is of an event that changes something.
  expect(runOf({ apply: once(1503, apply, () => undefined) })).toThrow(
    /long-prompt-queue, configuration \d, event \d+: laws 1/,
  );
  const noReason: typeof apply = (state, event, context) =>
    apply(state, event, { ...context, emit: (one: AnyDecision) => context.emit({ ...one, reason: { code: 'no' } }) });
  expect(runOf({ apply: noReason })).toThrow(/reason of its closed set/);
  const clock: typeof apply = (...all) => {
    if (Date.now() > 0) apply(...all);
  };
  expect(runOf({ apply: clock })).toThrow(/law 1: it uses now/);
  const noEntry = once(700, ledgers[0]!.entered, () => ['nobody']);
  expect(runOf({ ledgers: [{ ...ledgers[0]!, entered: noEntry }] })).toThrow(/law 2: ledger/);
  const touching: typeof check = (state, event) => {
    check(state, event);
    apply(state, event, { at: event.at, emit: () => undefined });
  };
  expect(runOf({ check: touching })).toThrow(/laws? [1-5]/);
  const shared: unknown[] = [];
  const forgetful: typeof load = (saved, config) => load({ ...(saved as object), entries: shared }, config);
  expect(runOf({ load: forgetful })).toThrow(/laws 1, 4, 5, 6|law 2/);
  expect(runOf({ save: (state) => ({ ...save(state), unknown: 1 }) })).toThrow(/snapshot|unknown/);
});
