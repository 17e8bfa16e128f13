/** The search and its rules, against jobs whose answer is known: times and kept tokens are formulas, with noise by seed. */

import { describe, expect, test } from 'vitest';
import { registry } from '../../../../src/index.ts';
import { unmeasuredMachine } from '../../../../src/sim/calibration/machine.ts';
import {
  jobPreset,
  type PoolsProblem,
  rolloutpipeJob,
  rolloutpipeWorkload,
  type SweepAdvice,
  type SweepOptions,
  type SweepProblem,
  type SweepRun,
  type SweepTask,
  type SynchronousProblem,
  type SynchronousSettings,
  sweep,
  sweeping,
} from '../../../../src/sim/node.ts';
import { poolsLengths } from '../../../../src/sim/pools/presets.ts';
import { keyOf } from '../../../../src/sim/sweep/settings/settings.ts';
import { sweepingAlone } from '../../../../src/sim/sweep/sweep.ts';
import { normal } from '../../../../src/sim/workload/random.ts';
import { refusal } from '../../../support/basics/refusal.ts';

const problem: SynchronousProblem = {
  kind: 'synchronous',
  // Small: beside the formulas, the seconds of a synchronous step are simulated.
  job: { ...jobPreset('qwen2.5-14b-16k').job, promptsPerRound: 4, responsesPerPrompt: 2, engines: 4 },
  workload: (seed) => rolloutpipeWorkload('sci-xw', seed),
  steps: 10,
};
const pools: PoolsProblem = {
  kind: 'pools',
  job: rolloutpipeJob(32),
  workload: (seed) => rolloutpipeWorkload('lsat-ar', seed),
  steps: 4,
};

type Formula = (
  settings: SynchronousSettings,
) => { seconds: number; kept: number; top1?: number; lag?: number } | string;

/** A job of formulas: what all settings have in common with a seed is large, what is their own is small. */
function runOf(formula: Formula, own = 0.002): (task: SweepTask) => SweepRun {
  return ({ settings, seed }) => {
    const common = 1 + 0.1 * normal(seed, 1);
    const rates = (seconds: number, kept: number, top1 = 1, lag = 0): SweepRun => ({
      secondsPerPrompt: common * seconds,
      roundVariance: 0,
      tokensPerResponse: 1000 * kept,
      cappedShare: settings === 'baseline' ? 0.1 : 0,
      staleShare: lag > 0 ? 0.5 : 0,
      maxLag: lag,
      longFixed: 1000,
      longTrained: 1000 * top1,
    });
    if (settings === 'baseline') return rates(1, 1);
    if (settings === 'oracle') return rates(0.5, 1);
    const found = formula(settings as SynchronousSettings);
    if (typeof found === 'string') return { infeasible: found };
    const letters = [...keyOf(settings)].map((one) => one.charCodeAt(0));
    const noise = own === 0 ? 0 : own * normal(seed, 2, ...letters);
    return rates(found.seconds * (1 + noise), found.kept, found.top1, found.lag);
  };
}

/** The search alone, which simulates nothing; `sweeping` simulates a synchronous step, and goes on to other machines. */
function run(
  evaluate: (task: SweepTask) => SweepRun,
  options: SweepOptions = {},
  of: SweepProblem = problem,
  searching: typeof sweepingAlone = sweepingAlone,
) {
  const search = searching(of, options);
  const tasks: SweepTask[] = [];
  let next = search.next();
  while (next.done !== true) {
    tasks.push(...next.value.tasks);
    next = search.next(next.value.tasks.map(evaluate));
  }
  return { advice: next.value, tasks };
}

test('the interval over machines is as wide as what is saved differs between them, and that of runs is in it', () => {
  const even = runOf(({ promptSpeculation }) => ({ seconds: promptSpeculation > 1 ? 0.7 : 1, kept: 1 }));
  // On each machine the settings save less by another two points.
  const on = (task: SweepTask): SweepRun => {
    const made = even(task);
    const isSlower = task.settings !== 'baseline' && 'secondsPerPrompt' in made;
    return isSlower ? { ...made, secondsPerPrompt: made.secondsPerPrompt * (1 + 0.03 * (task.machine ?? 0)) } : made;
  };
  const effort = { coarseSeeds: 1, semifinalSeeds: 1, finalSeeds: 2, confirmationSeeds: 2, fineRounds: 0 };
  const { advice } = run(on, { effort }, problem, sweeping);
  const { gain, measuredPoints } = advice.overMachines!;
  const { gain: sampling } = advice.recommended;
  expect(measuredPoints).toBe(0);
  expect(gain.value).toBe(sampling.value);
  expect(gain.low).toBeLessThan(sampling.low);
  const alone = run(even, { effort }, problem, sweeping).advice.overMachines!.gain;
  expect(alone.high - alone.low).toBeCloseTo(sampling.high - sampling.low, 1);
  expect(advice.meaning.at(-1)).toContain('engines that nobody has measured');
  const measured = { ...problem.job, machine: { ...unmeasuredMachine(), points: 3 } };
  const after = run(even, { effort }, { ...problem, job: measured }, sweeping).advice;
  expect(after.meaning.at(-1)).toContain('as 3 points measured them');
});

/** Speculation saves time, and tokens with it; a threshold of 0.35 and TP 4 are best. */
const usual: Formula = ({ promptSpeculation: p, responseSpeculation: r, threshold, tp }) => {
  const scaling = typeof threshold === 'number' ? 0.3 * Math.abs(threshold - 0.35) : threshold === 'off' ? 0.2 : 0.08;
  const degree = tp === 4 ? 0 : tp === 'adaptive' ? 0.03 : 0.06;
  return { seconds: 0.8 - 0.3 * (p - 1) - 0.5 * (r - 1) + scaling + degree, kept: 1 - 0.4 * (p - 1) - 1.0 * (r - 1) };
};

describe('the search', () => {
  test('finds the best settings among those that keep as many tokens as the papers do', () => {
    const { advice } = run(runOf(usual));
    const settings = advice.recommended.settings as SynchronousSettings;
    expect(advice.verdict).toBe('tuned');
    expect(settings.tp).toBe(4);
    expect(Math.abs((settings.threshold as number) - 0.35)).toBeLessThanOrEqual(0.05);
    // 0.65 is kept at 1.25 / 1.25. Prompts are the cheaper way to give tokens up: all of it goes to them.
    expect(advice.recommended.keptTokenRatio.value).toBeGreaterThanOrEqual(0.65 * 0.99);
    expect(settings.promptSpeculation).toBeGreaterThan(1.25);
    expect(advice.gainOverPublished.low).toBeGreaterThan(0.05);
    expect(advice.gainOfTailBatching!.low).toBeGreaterThan(0);
  });

  test('what throws long responses away is not recommended, however fast it is', () => {
    const greedy: Formula = (one) => {
      const { seconds, kept } = usual(one) as { seconds: number; kept: number };
      return one.responseSpeculation > 1.25 ? { seconds: 0.1, kept: 0.3 } : { seconds, kept };
    };
    const { advice } = run(runOf(greedy));
    expect((advice.recommended.settings as SynchronousSettings).responseSpeculation).toBeLessThanOrEqual(1.25);
    const [fastest] = advice.tried;
    expect(fastest).toMatchObject({ admissible: false });
    expect(fastest!.gain).toBeGreaterThan(0.8);
  });

  test('noise is not taken for a gain: where nothing differs, the papers stay', () => {
    const same: Formula = () => ({ seconds: 0.7, kept: 0.7 });
    const verdicts = Array.from(
      { length: 6 },
      (_, index) => run(runOf(same, 0.02), { seed: 100 * index }).advice.verdict,
    );
    expect(verdicts.filter((one) => one === 'published').length).toBeGreaterThanOrEqual(5);
  });

  test('what is surely faster is preferred to what may be the fastest', () => {
    const evaluate = runOf(({ threshold }) => ({ seconds: threshold === 0.3 ? 0.66 : 0.7, kept: 0.7 }), 0);
    const risky = runOf(() => ({ seconds: 0.63, kept: 0.7 }), 0);
    const { advice } = run((task) => {
      const { settings, seed } = task;
      if (settings === 'baseline' || (settings as SynchronousSettings).threshold !== 0.4) return evaluate(task);
      const found = risky(task) as { secondsPerPrompt: number };
      return { ...found, secondsPerPrompt: found.secondsPerPrompt * (1 + 0.12 * normal(seed, 5)) } as SweepRun;
    });
    expect(advice.recommended.settings).toMatchObject({ threshold: 0.3 });
    expect(advice.gainOverPublished.low).toBeGreaterThan(0.05);
  });

  test('where nothing pays, it says so and gives the baseline', () => {
    const { advice } = run(runOf(() => ({ seconds: 1.05, kept: 1 })));
    expect(advice.verdict).toBe('baseline');
    expect(advice.meaning[0]).toMatch(/^None of it pays here/);
    expect(advice.config).toMatchObject({ tailBatching: false, streamTraining: false, adaptiveTp: false });
    expect(advice.recommended.gain.value).toBe(0);
  });

  test('where tail batching does not pay, it says so', () => {
    const withoutTail: Formula = ({ promptSpeculation: p, responseSpeculation: r, threshold }) => ({
      seconds: 0.7 + 0.2 * (p - 1) + 0.2 * (r - 1) + (threshold === 0.3 ? 0 : 0.05),
      kept: 1 - 0.1 * (p - 1),
    });
    const { advice } = run(runOf(withoutTail));
    expect(advice.recommended.settings).toMatchObject({ promptSpeculation: 1, responseSpeculation: 1, threshold: 0.3 });
    expect(advice.gainOfTailBatching).toBeUndefined();
    expect(advice.meaning.join(' ')).toContain('Tail batching does not pay on this trace');
  });

  test("within a budget it finds settings far from the papers', in noise, and none that keep fewer tokens", () => {
    // Best at 1.75 / 1.75, where as many tokens are kept as at 1.25 / 1.25: what a grid near the papers' settings does not show.
    const far: Formula = ({ promptSpeculation: p, responseSpeculation: r, tp }) => ({
      seconds: 0.7 + 0.3 * ((p - 1.75) ** 2 + (r - 1.75) ** 2) + (tp === 4 ? 0 : 0.05),
      kept: 0.9 - 0.1 * (r - p),
    });
    const big = { ...problem, job: { ...problem.job, promptsPerRound: 64, responsesPerPrompt: 8 } };
    const evaluate = (task: SweepTask): SweepRun => {
      const made = runOf(far, 0.04)(task);
      const letters = [...JSON.stringify(task.settings)].map((one) => one.charCodeAt(0));
      const noise = 1 + 0.02 * normal(task.seed, 3, ...letters);
      return 'infeasible' in made ? made : { ...made, tokensPerResponse: noise * made.tokensPerResponse };
    };
    for (const seed of [1, 101, 201, 301]) {
      const { settings } = run(evaluate, { seed, budget: 600_000 }, big).advice.recommended;
      const { seconds, kept } = far(settings as SynchronousSettings) as { seconds: number; kept: number };
      expect(seconds).toBeLessThan(0.7 + 0.03);
      expect(kept).toBeGreaterThan(0.9 - 0.025);
    }
  });

  test('what looked faster and is not recommended is named, with the reason', () => {
    const few: Formula = ({ promptSpeculation: p, responseSpeculation: r }) => ({
      seconds: p * r < 1.5 ? 0.685 : 0.7,
      kept: 0.7,
    });
    const { advice } = run(runOf(few, 0));
    expect(advice.verdict).toBe('published');
    expect(advice.meaning.join(' ')).toMatch(
      /In \d+ runs of the search \S+ .* was 1\.46x as fast as synchronous \(3[12]% of the time saved\)\. It is not recommended: it speculates less than the papers'/,
    );
    expect(run(runOf(usual)).advice.meaning.join(' ')).not.toContain('not recommended');
  });

  test('settings that cannot run are left out and named', () => {
    const narrow: Formula = (one) => (one.tp === 4 ? 'no room' : usual(one));
    const { advice } = run(runOf(narrow));
    expect((advice.recommended.settings as SynchronousSettings).tp).not.toBe(4);
    expect(advice.infeasible).toContainEqual({ settings: expect.objectContaining({ tp: 4 }), why: 'no room' });
  });

  test('more kept tokens may be asked for', () => {
    const { advice } = run(runOf(usual), { minKept: 0.9 });
    expect(advice.objective).toMatchObject({ leastKeptTokenRatio: 0.9, given: true });
    expect(advice.recommended.keptTokenRatio.value).toBeGreaterThanOrEqual(0.9);
    expect(advice.tried.filter((one) => one.admissible).every((one) => one.keptTokenRatio >= 0.9 - 1e-6)).toBe(true);
    const all = run(
      runOf(({ promptSpeculation: p }) => ({ seconds: 0.7, kept: 2 - p })),
      { minKept: 1 },
    );
    expect(all.advice.verdict).toBe('unspeculative');
  });

  describe('under limits', () => {
    /** Speculation of responses costs the longest of them, that of prompts does not; a low threshold is stale. */
    const priced: Formula = (one) => {
      const { seconds, kept } = usual(one) as { seconds: number; kept: number };
      return { seconds, kept, top1: 1 - 2 * (one.responseSpeculation - 1), lag: one.threshold === 0.2 ? 2 : 0 };
    };

    test('what breaks one is not chosen, in the search and in the confirmation', () => {
      const { advice } = run(runOf(priced), { minTop1: 0.9 });
      expect(advice.objective.limits).toMatchObject({ minTop1: 0.9 });
      expect((advice.recommended.settings as SynchronousSettings).responseSpeculation).toBeLessThanOrEqual(1.05);
      expect(advice.recommended.longestTrainedRatio).toBeGreaterThanOrEqual(0.9);
      const admissible = advice.tried.filter((one) => one.admissible);
      expect(admissible.every((one) => one.longestTrainedRatio >= 0.9 - 1e-6)).toBe(true);
      // On the prompts of the search it looks good, on those of the confirmation it is not.
      const evaluate = runOf((one) => ({ seconds: one.tp === 4 ? 0.6 : 0.7, kept: 0.7, top1: 0.95 }), 0);
      const flattering = run(
        (task) => {
          const found = evaluate(task);
          const isWorse = task.part === 'confirmation' && (task.settings as SynchronousSettings).tp === 4;
          return isWorse ? ({ ...found, longTrained: 800 } as SweepRun) : found;
        },
        { minTop1: 0.9 },
      );
      expect(flattering.advice.verdict).toBe('published');
      expect(flattering.advice.tried[0]).toMatchObject({ admissible: true, settings: { tp: 4 } });
    });

    test('stale weights are a limit, too', () => {
      const stale: Formula = (one) => {
        const { seconds, kept } = usual(one) as { seconds: number; kept: number };
        return one.threshold === 0.2 ? { seconds: 0.2, kept, lag: 2 } : { seconds, kept };
      };
      expect(run(runOf(stale)).advice.recommended).toMatchObject({
        settings: { threshold: 0.2 },
        maxLag: 2,
        staleShare: 0.5,
      });
      const { advice } = run(runOf(stale), { maxLag: 1 });
      expect((advice.recommended.settings as SynchronousSettings).threshold).not.toBe(0.2);
      expect(advice.recommended.maxLag).toBe(0);
    });

    test('partial rollout is tried with a lag only, and recommended with its stale tokens beside its gain', () => {
      const formula: Formula = ({ maxStaleness, promptSpeculation: p, responseSpeculation: r }) =>
        maxStaleness === undefined
          ? { seconds: 1 - 0.2 * (p + r - 2), kept: 1.5 - 0.25 * (p + r) }
          : { seconds: 0.6 + (p - 1.25) ** 2, kept: 1, lag: maxStaleness };
      const isPartial = ({ settings }: { settings: unknown }): boolean => 'maxStaleness' in (settings as object);
      const without = run(runOf(formula)).advice;
      expect([without.recommended.maxLag, without.tried.some(isPartial)]).toEqual([0, false]);
      const { advice } = run(runOf(formula), { maxLag: 2, minKept: 0.99 });
      expect(advice.recommended.settings).toMatchObject({ maxStaleness: 2, promptSpeculation: 1.25 });
      expect([advice.recommended.maxLag, advice.recommended.staleShare]).toEqual([2, 0.5]);
      expect(advice.config).toMatchObject({ partialRollout: true, maxStaleness: 2 });
      expect(advice.meaning.join(' ')).toContain('50.0 % of the tokens are stale, by up to 2 versions');
    });

    test('where nothing within them is faster, the baseline stays', () => {
      const costly: Formula = ({ promptSpeculation: p, responseSpeculation: r }) => ({
        seconds: 1.02 - 0.1 * (p * r - 1),
        kept: 1,
        top1: p * r > 1 ? 0.5 : 1,
      });
      expect(run(runOf(costly)).advice.verdict).not.toBe('baseline');
      const { advice } = run(runOf(costly), { minTop1: 0.8, minKept: 0.9, maxLag: 0 });
      expect(advice.verdict).toBe('baseline');
      expect(advice.meaning[0]).toBe(
        'Nothing within the limits (kept tokens at least 0.9, longest 1 % trained at least 0.8, lag at most 0) beats synchronous for sure. Stay with synchronous.',
      );
    });
  });

  test('gains stand beside what they cost, and beside the oracle', () => {
    const { advice } = run(runOf(() => ({ seconds: 0.8, kept: 0.9, top1: 0.85 }), 0));
    expect(advice.recommended.equalTokenSpeedup.value).toBeCloseTo(0.9 / 0.8, 9);
    expect(advice.recommended.longestTrainedRatio).toBeCloseTo(0.85, 9);
    // It takes 0.5 for all tokens, and the recommendation 0.8 for 0.9 of them.
    expect(advice.oracle!.equalTokenSpeedup).toBeCloseTo(2, 9);
    expect(advice.recommended.ofOracle).toBeCloseTo(0.5 / (0.8 / 0.9), 9);
    expect(advice.search).toMatchObject({ confirmationSteps: 40, prompts: { kind: 'generated' } });
  });

  test('a job that cannot run at all is refused', () => {
    expect(
      refusal(() =>
        run(
          runOf(() => 'no room'),
          {},
          problem,
          sweeping,
        ),
      ),
    ).toMatchObject({ code: 'infeasible', got: '"no room"' });
  });

  test('no run is asked for twice; the confirmation has seeds of its own', () => {
    const { advice, tasks } = run(runOf(usual), { seed: 7 }, problem, sweeping);
    const keys = tasks.map(
      ({ settings, seed, machine }) =>
        `${typeof settings === 'string' ? settings : keyOf(settings)} ${seed} ${machine ?? ''}`,
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(advice.search.runs).toBe(tasks.filter(({ machine }) => machine === undefined).length);
    expect(advice.search.searchSeeds[0]).toBe(7);
    expect(advice.search.confirmationSeeds.some((one) => advice.search.searchSeeds.includes(one))).toBe(false);
  });

  test('options that are none are refused', () => {
    const path = (options: SweepOptions, of = problem): string => refusal(() => sweep(of, options)).path;
    expect(path({ seed: 0.5 })).toBe('seed');
    expect(path({ minKept: 1.2 })).toBe('minKept');
    expect(path({ minTop1: -0.1 })).toBe('minTop1');
    expect(path({ maxLag: 0.5 })).toBe('maxLag');
    const effort = { coarseSeeds: 1, semifinalSeeds: 1, finalSeeds: 1, confirmationSeeds: 1, fineRounds: 0 };
    expect(path({ effort })).toBe('effort.confirmationSeeds');
    expect(path({ effort: 'much' as never })).toBe('effort');
    expect(path({}, { ...problem, steps: 0 })).toBe('steps');
  });
});

describe('pools', () => {
  const width: Formula = (one) => {
    const { promptSpeculation: p, responseSpeculation: r } = one;
    const { width: given } = one as unknown as { width: number | string };
    const far = typeof given === 'number' ? Math.abs(given - 20) / 100 : 0.1;
    return { seconds: 0.6 + far - 0.2 * (p - 1) - 0.2 * (r - 1), kept: 3 - p - r };
  };

  test('F_w is tuned, and nothing is thrown away for it', () => {
    const { advice } = run(runOf(width), {}, pools);
    expect(advice.policy).toBe('rolloutpipe');
    expect(advice.recommended.settings).toMatchObject({ promptSpeculation: 1, responseSpeculation: 1 });
    expect(Math.abs((advice.config as { width: number }).width - 20)).toBeLessThanOrEqual(2);
  });

  test('tail batching comes with fewer tokens, where they may go', () => {
    const { advice } = run(runOf(width), { minKept: 0.8 }, pools);
    expect(advice.policy).toBe('tail-pipelining');
    expect(advice.recommended.keptTokenRatio.value).toBeGreaterThanOrEqual(0.8);
    expect(registry.create('tail-pipelining', advice.config as never).id).toBe('tail-pipelining');
  });
});

describe('with the simulator', () => {
  const { job } = jobPreset('qwen2.5-7b-8k');
  const small: SynchronousProblem = {
    kind: 'synchronous',
    job: { ...job, promptsPerRound: 4, responsesPerPrompt: 4, engines: 2 },
    workload: (seed) => rolloutpipeWorkload('sci-xw', seed),
    steps: 3,
  };
  const pasted = ({ policy, config }: SweepAdvice): string =>
    registry.create(policy, JSON.parse(JSON.stringify(config)) as never).id;

  test('the recommendation is one for registry.create', () => {
    const effort = { coarseSeeds: 1, semifinalSeeds: 1, finalSeeds: 2, confirmationSeeds: 2, fineRounds: 0 };
    const phases: string[] = [];
    const advice = sweep(small, { effort, progress: ({ phase }) => phases.push(phase) });
    expect(pasted(advice)).toBe('rollpacker');
    expect(phases[0]).toBe('coarse');
    expect(phases).toContain('confirmation');
    expect(advice.published.gain.value).toBeGreaterThan(0);
    expect(advice.oracle!.equalTokenSpeedup).toBeGreaterThan(1);
    expect(advice.recommended.ofOracle).toBeGreaterThan(0);
    expect(advice.recommended.ofOracle).toBeLessThan(1.2);
  });

  test('a budget of work is kept, the same twice, and what there is so far has an interval', () => {
    const budget = 6000;
    const smaller: SynchronousProblem = { ...small, job: { ...small.job, responsesPerPrompt: 2 } };
    const found: number[] = [];
    const asked = { effort: 'fast' as const, budget };
    const advice = sweep(smaller, { ...asked, progress: (batch) => found.push(batch.found?.seeds ?? 0) });
    expect(sweep(smaller, asked)).toEqual(advice);
    expect(found[0]).toBe(0);
    expect(Math.min(...found.slice(1))).toBeGreaterThanOrEqual(3);
    const { responses, thoroughResponses, confirmationSteps, confirmationSeeds } = advice.search;
    expect(responses).toBeLessThan(1.1 * budget);
    expect(thoroughResponses).toBeGreaterThan(2 * responses);
    expect(confirmationSteps).toBeLessThan(40);
    expect(confirmationSeeds.length).toBeGreaterThanOrEqual(4);
  });

  test('for pools, too, and the same twice', () => {
    const effort = { coarseSeeds: 1, semifinalSeeds: 1, finalSeeds: 2, confirmationSeeds: 2, fineRounds: 0 };
    const few: SweepProblem = { ...pools, job: rolloutpipeJob(4), steps: 2 };
    const advice = sweep(few, { effort });
    expect(sweep(few, { effort })).toEqual(advice);
    expect(pasted(advice)).toBe(advice.policy);
    expect(advice.published.keptTokenRatio.value).toBe(1);
    expect(poolsLengths.correlation).toBe(advice.workload.correlation);
  });
});
