/** What `advise` says of prompts that come several times, from a frontier that was measured. */
import { describe, expect, test } from 'vitest';
import { returningOf } from '../../../../src/sim/advise/returning.ts';
import { type TrainerId, trainerOf } from '../../../../src/sim/advise/trainers.ts';
import type { FrontierRow, SweepAdvice, SweepFrontier } from '../../../../src/sim/sweep/result.ts';
import { defineSynchronousSettings, type SynchronousSettings } from '../../../../src/sim/sweep/settings/settings.ts';

const tail = defineSynchronousSettings({ promptSpeculation: 1.25, responseSpeculation: 1.25 });
const window = defineSynchronousSettings({ promptSpeculation: 1, responseSpeculation: 1, windowRounds: 20 });

const rowOf = (settings: SynchronousSettings | 'baseline', secondsPerPrompt: number, kept: number): FrontierRow => ({
  settings,
  label: '',
  secondsPerPrompt,
  gain:
    settings === 'baseline'
      ? null
      : { value: 1 - secondsPerPrompt / 10, low: 0.98 - secondsPerPrompt / 10, high: 1, confidence: 0.95 },
  keptTokenRatio: kept,
  longestTrainedRatio: 1,
  staleShare: 0,
  maxLag: 0,
  isOnFrontier: true,
});

/** Without changes 10 s a prompt, tail batching 7 s with 0.8 of the tokens. */
function asked(
  lossless: number,
  { trainer = 'slime', minKept, ...frontier }: { trainer?: TrainerId; minKept?: number } & Partial<SweepFrontier> = {},
) {
  const measured: Partial<SweepFrontier> = {
    correlationIs: 'measured',
    lossless: { policy: 'rollpacker', config: {} as never },
    dataSetPrompts: 30,
    rows: [rowOf('baseline', 10, 1), rowOf(window, lossless, 1), rowOf(tail, 7, 0.8)],
    ...frontier,
  };
  const objective = { leastKeptTokenRatio: minKept ?? 0.805, given: minKept !== undefined };
  const sweep = { frontier: measured, objective, simulated: { responsesPerPrompt: 8 } };
  return returningOf(sweep as unknown as SweepAdvice, trainerOf(trainer), tail)!;
}

describe('the lossless tail', () => {
  test('is the answer where nothing that may be used is faster, and else an option', () => {
    expect(asked(6.9)).toMatchObject({ verdict: 'best', windowRounds: 20, firstEpochSeconds: 300 });
    expect(asked(7.1)).toMatchObject({ verdict: 'option', windowRounds: 20 });
    expect(asked(7.1).rows.settings).toMatchObject({ settings: tail });
    // Settings that keep fewer tokens than the user allows are neither compared nor advised.
    for (const minKept of [0.81, 1]) {
      const { verdict, rows } = asked(7.1, { minKept });
      expect([verdict, rows.settings]).toEqual(['best', undefined]);
      expect(rows.lossless!.keptTokenRatio).toBeGreaterThanOrEqual(minKept);
    }
    expect(asked(7.1, { minKept: 0.8 }).verdict).toBe('option');
  });

  test.each<[string, ReturnType<typeof asked>]>([
    ['unsure', asked(9.75)],
    ['unsure', asked(7, { lossless: null })],
    ['assumed', asked(7, { correlationIs: 'assumed', lossless: null })],
    ['unknown', asked(7, { correlationIs: 'unknown', lossless: null })],
  ])('is not advised: %s', (verdict, answer) => {
    expect(answer).toMatchObject({ verdict, windowRounds: null, paste: [] });
  });

  test.each<[TrainerId, string]>([
    ['verl', '+data.rollflex.responses_per_prompt=8'],
    ['verl', '+data.rollflex.settings.windowRounds=20'],
    ['slime', 'rollflex_policy: lossless-tail'],
    ['slime', 'rollflex: { windowRounds: 20 }'],
    ['roll', '  recipe, policy = "lossless-tail", {"windowRounds": 20}'],
    ['trl', 'worker = TailBatchingWorker(args, …, recipe="lossless-tail", policy=policy)'],
    ['nemo-rl', 'async_rl.sampler.settings.windowRounds: 20'],
    ['openrlhf', 'policy lossless-tail: { windowRounds: 20 }'],
  ])('%s: %s', (trainer, line) => {
    expect(asked(6, { trainer }).paste).toContain(line);
  });
});

test('nothing is said where it was not asked', () => {
  expect(returningOf({} as SweepAdvice, trainerOf('slime'), tail)).toBe(undefined);
});
