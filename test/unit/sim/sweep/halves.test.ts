/** Halves by prompt; and, with few seeds, what bench/advice.ts shows in full: advice holds on the half that it has not seen. */
import { join } from 'node:path';
import {
  jobPreset,
  rolloutpipeJob,
  rolloutpipeWorkload,
  type SweepProblem,
  sweep,
  sweepEvaluator,
  tracedWorkload,
} from 'rollflex/sim';
import { describe, expect, test } from 'vitest';
import { packageRoot, readTraceFile } from '../../../../src/cli/files.ts';
import { gainInterval, keptRatio, type Measured, type Pair } from '../../../../src/sim/sweep/book.ts';
import { drawnHalf, halfOf, halfOfWorkload, halvesOf } from '../../../../src/sim/sweep/halves.ts';

const { trace } = readTraceFile(join(packageRoot(), 'examples/traces/castillo-qwen2.5-7b-instruct-1m.jsonl'));
const prompts = trace.kind === 'prompts' ? trace.prompts : [];
const halves = halvesOf(prompts, ({ prompt }) => prompt);

describe('halves', () => {
  test('a prompt is in one of them, by its id alone, and they are about even', () => {
    expect(halves[0].length + halves[1].length).toBe(prompts.length);
    const [backwards] = halvesOf([...prompts].reverse(), ({ prompt }) => prompt);
    expect(new Set(backwards)).toEqual(new Set(halves[0]));
    for (const ids of [
      prompts.map((one) => one.prompt),
      Array.from({ length: 3000 }, (_, index) => `prompt-${index}`),
    ]) {
      const share = ids.filter((id) => halfOf(id) === 0).length / ids.length;
      expect(Math.abs(share - 0.5)).toBeLessThan(0.04);
    }
  });

  test('of a workload without end they are its own prompts, in their order', () => {
    const whole = rolloutpipeWorkload('lsat-ar', 1);
    const [zero, one] = [halfOfWorkload(whole, 0), halfOfWorkload(whole, 1)];
    const ids = (of: typeof whole) => Array.from({ length: 40 }, (_, index) => of.prompt(index).promptId);
    const all = Array.from({ length: 200 }, (_, index) => whole.prompt(index).promptId);
    expect(ids(zero)).toEqual(all.filter((id) => halfOf(id) === 0).slice(0, 40));
    expect(ids(one)).toEqual(all.filter((id) => halfOf(id) === 1).slice(0, 40));
    // Whatever is asked for first.
    expect(halfOfWorkload(whole, 0).prompt(30).promptId).toBe(zero.prompt(30).promptId);
  });
});

describe('the half that a seed draws', () => {
  const traced = (count: number) =>
    tracedWorkload({
      name: 'lengths',
      prompts: Array.from({ length: count }, (_, index) => ({
        prompt: `q${index}`,
        responses: [{ tokens: 1 + index }],
      })),
      capTokens: 1000,
      seed: 1,
    });
  const base = (promptId: string): string => promptId.replace(/@+\d+$/, '');
  const drawn = (seed: number, count = 200): Set<string> => {
    const half = drawnHalf(traced(200), seed);
    return new Set(Array.from({ length: count }, (_, index) => base(half.prompt(index).promptId)));
  };

  test('is another one for each seed, the same in every epoch, and about a half', () => {
    const [one, other] = [drawn(1), drawn(2)];
    expect(one.size).toBeGreaterThan(75);
    expect(one.size).toBeLessThan(125);
    // Two hundred prompts are more than an epoch: no other ones come with further epochs.
    expect(drawn(1, 600)).toEqual(one);
    const shared = [...one].filter((id) => other.has(id)).length;
    expect(shared).toBeGreaterThan(25);
    expect(shared).toBeLessThan(75);
  });

  test('is all of a trace that is small, and of what is generated', () => {
    const [small, endless] = [traced(20), rolloutpipeWorkload('lsat-ar', 1)];
    expect(drawnHalf(small, 1)).toBe(small);
    expect(drawnHalf(endless, 1)).toBe(endless);
  });
});

describe('advice on prompts that it has not seen', () => {
  const effort = { coarseSeeds: 1, semifinalSeeds: 1, finalSeeds: 3, confirmationSeeds: 5, fineRounds: 1 };
  const { job } = jobPreset('qwen2.5-14b-16k');
  const problems: Record<string, (half: 0 | 1) => SweepProblem> = {
    'a synchronous job': (half) => ({
      kind: 'synchronous',
      job: { ...job, promptsPerRound: 16, engines: 4 },
      workload: (seed) =>
        tracedWorkload({ name: 'castillo', prompts: halves[half], resampling: 'copula', capTokens: 16_384, seed }),
      steps: 5,
    }),
    pools: (half) => ({
      kind: 'pools',
      job: rolloutpipeJob(32),
      workload: (seed) => halfOfWorkload(rolloutpipeWorkload('olyphys', seed), half),
      steps: 4,
    }),
  };

  test.each(Object.keys(problems))('%s: no worse than the papers’ settings by more than 1 %', (name) => {
    const problemOf = problems[name]!;
    const advice = sweep(problemOf(0), { effort });
    const evaluate = sweepEvaluator(problemOf(1));
    const runs = (settings: typeof advice.recommended.settings): Measured[] =>
      Array.from({ length: 8 }, (_, index) => evaluate({ settings, seed: 900 + index }) as Measured);
    const theirs = runs(advice.published.settings);
    const pairs = runs(advice.recommended.settings).map((one, index): Pair => ({ one, other: theirs[index]! }));
    expect(gainInterval(pairs).low).toBeGreaterThanOrEqual(-0.01);
    expect(keptRatio(pairs)).toBeGreaterThan(0.97);
  });
});
