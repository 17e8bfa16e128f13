/** `rollflex what-if` at the first event of a log, beside `rollflex simulate --from-log` of it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { jobOfOptions } from '../../../src/cli/job/job.ts';
import { openLog } from '../../../src/logs/node.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import { losslessTailScheduler, type Scheduler, tailBatchingScheduler } from '../../../src/sim/colocated/scheduler.ts';
import { whatIf } from '../../../src/sim/what-if/ask.ts';
import { longTailQuantile, marginalWorkload } from '../../../src/sim/workload/marginal.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { Folders } from '../../support/servers/decision-log.ts';
import { plainJob, recording } from '../../support/simulator/host.ts';

const folders = new Folders();
afterAll(() => folders.remove());

const job = plainJob({ engines: 3, promptsPerRound: 8, responsesPerPrompt: 4 });
const shape = { medianTokens: 80, sigma: 0.6, tailWeight: 0.1, tailStartTokens: 200, tailExponent: 0.8 };
const workload = marginalWorkload({
  name: 'truth',
  responseTokens: longTailQuantile(shape),
  promptTokens: () => 30,
  correlation: 0.3,
  capTokens: 2000,
  seed: 5,
});

/** The log of a job: `until` so many of its 48 prompts are trained. */
function logOf(scheduler: Scheduler, until = 48): string {
  const lines: string[] = [];
  simulate(job, recording(scheduler, lines), workload, { prompts: 48, until, seed: 5, timeline: false });
  const path = join(folders.next(), 'run.jsonl');
  mkdirSync(join(path, '..'), { recursive: true });
  // Engines have names of their own.
  writeFileSync(path, `${lines.join('\n').replaceAll('"engine-', '"vllm:')}\n`);
  return path;
}

/** The same as a decision log that lacks an event. */
function decisionsOf(path: string): string {
  const entries = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { snapshot } = entries.shift();
  const session = {
    session: 's',
    policy: snapshot.policy,
    version: snapshot.version,
    deliver: 'reply',
    timers: 'host',
  };
  const lines = [
    { kind: 'log', format: 1, version: '0', run: 'r', file: 1, time: 1 },
    { kind: 'session', time: 1, ...session, shadow: false, seq: 0, snapshot },
    ...entries.map((entry, index) => ({ kind: 'event', time: 1, session: 's', seq: index + 1, ...entry })),
  ];
  const written = join(folders.next(), 'decisions-00000001.jsonl');
  mkdirSync(join(written, '..'), { recursive: true });
  writeFileSync(
    written,
    lines
      .filter((_, index) => index !== 40)
      .map((one) => `${JSON.stringify(one)}\n`)
      .join(''),
  );
  return written;
}

interface Run {
  readonly steps: readonly Record<'startSeconds' | 'rolloutSeconds' | 'keptTokens' | 'generatedTokens', number>[];
  readonly keptTokens: number;
  readonly generatedTokens: number;
  readonly meanResponseTokens: number;
  readonly maxLag: number;
}

async function json(...parts: string[]) {
  const { code, out, err } = await rollflex(...parts, '--cap', '2000', '--json');
  expect(code, err).toBe(0);
  return JSON.parse(out);
}

describe.each([
  ['tail batching', tailBatchingScheduler(job)],
  ['partial rollout', tailBatchingScheduler(job, { partialRollout: true, maxStaleness: 2, promptSpeculation: 1.5 })],
  ['lossless tail', losslessTailScheduler(job, { windowRounds: 2 })],
  ['lossless tail, off policy', losslessTailScheduler(job, { maxStaleness: 2, windowRounds: 2 })],
])('a log of a job that has ended: %s', (_, scheduler) => {
  test('what-if at the first event is what simulate --from-log says', async () => {
    const path = logOf(scheduler);
    const { asItWas } = await json('what-if', path, '--seeds', '3');
    const { comparisons } = await json('simulate', '--from-log', path, '--no-report');
    const { schedulers, workload: of } = comparisons[0];
    expect(of).toMatchObject({ prompts: 48, source: expect.stringContaining('its prompts in their order') });
    const { runs } = schedulers.find((one: { scheduler: string }) => one.scheduler === 'as-logged') as { runs: Run[] };
    const told = runs.map(({ steps, keptTokens, generatedTokens, meanResponseTokens, maxLag }) => {
      const last = steps.at(-1)!;
      const seconds = last.startSeconds + last.rolloutSeconds;
      return { seconds, rounds: steps.length, keptTokens, generatedTokens, meanResponseTokens, maxLag };
    });
    expect(told.map((one) => one.rounds)).toEqual([6, 6, 6]);
    for (const [index, one] of told.entries()) expect(asItWas[index]).toMatchObject(one);
  });
});

test('the library answers as the command does', async () => {
  const path = logOf(tailBatchingScheduler(job));
  const asked = ['--seeds', '2', '--at', '60', '--set', 'promptSpeculation=1.5'];
  const { file, settings, otherPolicy, ...answer } = await json('what-if', path, ...asked);
  expect([file, settings, otherPolicy]).toEqual([path, { promptSpeculation: 1.5 }, null]);
  const log = openLog(path);
  const change = { settings, at: { seq: 60 }, seeds: [1, 2], ...jobOfOptions({ cap: 2000 }), fits: true };
  expect(JSON.parse(JSON.stringify(whatIf(log, change)))).toEqual(answer);
  log.close();
});

test('of a log that ends before its prompts are trained, it says why simulate --from-log takes longer', async () => {
  const path = logOf(tailBatchingScheduler(job), 24);
  const { out } = await rollflex('what-if', path, '--seeds', '1', '--cap', '2000');
  expect(out.replace(/\s+/g, ' ')).toMatch(
    /simulate --from-log takes longer .* also trains the [1-9]\d* prompts that this log leaves/,
  );
});

test('of a log with a gap, simulate --from-log takes the lengths alone', async () => {
  const path = logOf(tailBatchingScheduler(job));
  const { out } = await rollflex('what-if', path, '--seeds', '1', '--cap', '2000');
  expect(out.replace(/\s+/g, ' ')).toContain('simulate --from-log says the same of "as logged"');
  const { comparisons } = await json(
    'simulate',
    '--from-log',
    decisionsOf(path),
    '--no-report',
    '--steps',
    '2',
    '--seeds',
    '1',
  );
  expect(comparisons[0].workload.source).toMatch(/1 events missing in the log$/);
  expect(comparisons[0].schedulers).toHaveLength(2);
});
