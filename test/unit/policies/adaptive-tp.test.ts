import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { adaptiveTp, create } from '../../../src/index.ts';
import { type AdaptiveTpInput, selectTp } from '../../../src/policies/adaptive-tp/index.ts';
import type { ProfileRow, VocabularyDecision } from '../../../src/schemas/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { only, Session } from '../../support/sessions/session.ts';

const server = (serverId: string, gpus: number) => ({
  serverId,
  gpuIds: Array.from({ length: gpus }, (_, at) => `${serverId}${at}`),
});
const base: AdaptiveTpInput = { servers: [server('a', 8)], kvHeads: 8, modelBytes: 10, gpuMemoryBytes: 100 };
const workload = { responses: 100, promptTokens: 10, responseTokens: 90, longestTokens: 200 };
const times = (factor: number) => ({ ...workload, responses: Math.round(workload.responses * factor) });

/** A row for every TP whose decode steps take what is given; little memory. */
const flatProfile = (seconds: Record<number, number>, more: Partial<ProfileRow> = {}): ProfileRow[] =>
  Object.entries(seconds).map(([tp, decodeStepSeconds]) => ({
    tp: Number(tp),
    batchSize: 1,
    sequenceLength: 1,
    decodeStepSeconds,
    prefillSeconds: 0,
    bytes: 1,
    ...more,
  }));

class Job extends Session {
  tp: Record<string, { tp: number; ep?: number | undefined }> = {};

  constructor(config: Partial<AdaptiveTpInput> = {}, kinds: readonly ('short' | 'long')[] = ['short']) {
    super(create(adaptiveTp, { ...base, ...config }) as never);
    for (const kind of kinds) this.plan(kind);
  }

  take(decisions: VocabularyDecision[]): VocabularyDecision[] {
    for (const one of only(decisions, 'kind-tp.set'))
      this.tp[one.kind] = { tp: one.tp, ...(one.ep ? { ep: one.ep } : {}) };
    return decisions;
  }

  plan(kind: 'short' | 'long' = 'short'): VocabularyDecision[] {
    const reason = { code: 'queue_full', queued: 0, promptsPerRound: 1 };
    const roundId = `r${this.rounds++}`;
    return this.take(
      this.send({ type: 'round.planned', roundId, kind, weightVersion: 0, queued: [], reason } as never),
    );
  }

  /** Ends a step with the TP that was told, and gives the code of the answer and the TP after it. */
  step(preemptions: number, more: object = {}): string {
    const kind = (more as { kind?: 'short' }).kind ?? 'short';
    const event = { type: 'step.finished', roundId: `r${this.rounds++}`, kind, ...this.tp[kind], preemptions };
    const answers = this.take(this.send({ ...event, seconds: 10, workload, ...more } as never));
    expect(answers.filter((one) => one.type !== 'profile.measure')).toHaveLength(1);
    return `${answers[0]!.reason.code} ${this.tp[kind]?.tp}`;
  }
}

describe('the start', () => {
  test('the least degree that fits the memory, or the one configured, for each kind apart', () => {
    expect(only(new Job().plan('long'), 'kind-tp.set')).toMatchObject([{ tp: 1, reason: { code: 'start_smallest' } }]);
    expect(new Job({ modelBytes: 150 }).tp.short).toEqual({ tp: 2 });
    expect(new Job({ modelBytes: 80, sequenceBytes: 120 }).tp.short).toEqual({ tp: 4 });
    const configured = new Job({ startTp: { long: 4 } }, ['short', 'long']);
    expect(configured.tp).toEqual({ short: { tp: 1 }, long: { tp: 4 } });
  });

  test('is told once, again after a restart of the host, and names replicas and GPU groups inside servers', () => {
    const job = new Job({ servers: [server('a', 4), server('b', 8)], startTp: { short: 4 } });
    expect(job.plan()).toMatchObject([
      { type: 'round-tp.set', kind: 'short', tp: 4, reason: { code: 'round_planned' } },
    ]);
    const again = job.send({ type: 'host.restarted', idPrefix: 'x' } as never);
    expect(only(again, 'round-tp.set')).toMatchObject([{ kind: 'short', tp: 4, reason: { code: 'host_restarted' } }]);
    expect(only(again, 'kind-tp.set')).toEqual([
      {
        type: 'kind-tp.set',
        at: 0,
        kind: 'short',
        tp: 4,
        replicas: [
          { replica: 0, serverId: 'a', gpuIds: ['a0', 'a1', 'a2', 'a3'] },
          { replica: 1, serverId: 'b', gpuIds: ['b0', 'b1', 'b2', 'b3'] },
          { replica: 2, serverId: 'b', gpuIds: ['b4', 'b5', 'b6', 'b7'] },
        ],
        reason: { code: 'host_restarted' },
      },
    ]);
  });

  test('the profile chooses it for the load that is expected, and chooses again if the real one is another', () => {
    const profile = flatProfile({ 1: 5, 2: 4, 4: 3, 8: 3.5 });
    expect(new Job({ profile, expectedWorkload: { short: workload } }).tp.short).toEqual({ tp: 4 });
    const unexpected = new Job({ profile });
    expect(unexpected.tp.short).toEqual({ tp: 1 });
    expect(unexpected.step(0)).toBe('profile_selected 4');
  });

  test('a step of a kind that nothing was told of yet is answered by the start', () => {
    const job = new Job({ profile: flatProfile({ 1: 5, 2: 4 }) }, []);
    expect(job.step(0, { tp: 1 })).toBe('start_profile 2');
    expect(new Job({}, []).step(0, { tp: 1 })).toBe('start_smallest 1');
  });
});

describe('the rule on preemptions', () => {
  test('more than 1.05 times those of the step before, of the same kind and TP, double the TP', () => {
    const job = new Job();
    expect(job.step(100)).toBe('first_step 1');
    expect(job.step(105)).toBe('steady 1');
    expect(job.step(111)).toBe('preemptions_rose 2');
    expect(job.step(500)).toBe('cooldown 2');
    expect(job.step(500)).toBe('steady 2');
    expect(job.step(526)).toBe('preemptions_rose 4');
  });

  test('from none to any is a rise only above the floor', () => {
    const job = new Job({ preemptionFloor: 20 });
    job.step(0);
    expect(job.step(20)).toBe('steady 1');
    expect(job.step(0)).toBe('steady 1');
    expect(job.step(21)).toBe('preemptions_rose 2');
    const none = new Job({ preemptionFloor: 0 });
    none.step(0);
    expect(none.step(1)).toBe('preemptions_rose 2');
  });

  test('four steps in a row without one halve it; the cool-down counts among them, but changes nothing', () => {
    const job = new Job({ startTp: { short: 8 } });
    expect([0, 0, 0].map((count) => job.step(count))).toEqual(['first_step 8', 'steady 8', 'steady 8']);
    expect(job.step(3)).toBe('steady 8');
    expect([0, 0, 0, 0].map((count) => job.step(count)).at(-1)).toBe('preemption_free 4');
    expect([0, 0, 0, 0].map((count) => job.step(count))).toEqual([
      'cooldown 4',
      'steady 4',
      'steady 4',
      'preemption_free 2',
    ]);
  });

  test('short and long rounds keep their own TP and their own counts', () => {
    const job = new Job({}, ['short', 'long']);
    job.step(100);
    job.step(0, { kind: 'long' });
    expect(job.step(200)).toBe('preemptions_rose 2');
    expect(job.step(0, { kind: 'long' })).toBe('steady 1');
    expect(job.step(200, { kind: 'long' })).toBe('preemptions_rose 2');
    expect(job.tp).toEqual({ short: { tp: 2 }, long: { tp: 2 } });
  });

  test('a longer cool-down', () => {
    const job = new Job({ cooldownSteps: 3 });
    job.step(10);
    expect(job.step(20)).toBe('preemptions_rose 2');
    expect([30, 60, 90].map((count) => job.step(count))).toEqual(['cooldown 2', 'cooldown 2', 'cooldown 2']);
    expect(job.step(180)).toBe('preemptions_rose 4');
  });

  test('bounds: one server, the GPUs of each, the KV heads, the memory, minTp and maxTp', () => {
    const up = (config: Partial<AdaptiveTpInput>) => {
      const job = new Job(config);
      job.step(10);
      for (let count = 20; count < 1e5; count *= 2) job.step(count);
      return job.tp.short!.tp;
    };
    expect(up({})).toBe(8);
    expect(up({ servers: [server('a', 8), server('b', 4)] })).toBe(4);
    expect(up({ servers: [server('a', 6)] })).toBe(2);
    expect(up({ kvHeads: 4 })).toBe(4);
    expect(up({ maxTp: 5 })).toBe(4);
    const down = new Job({ modelBytes: 150, startTp: { short: 2 } });
    expect([0, 0, 0, 0].map((count) => down.step(count)).at(-1)).toBe('at_bound 2');
    const least = new Job({ minTp: 4 });
    expect([0, 0, 0, 0].map((count) => least.step(count)).at(-1)).toBe('at_bound 4');
  });

  test('a step with another TP, or one that is told twice, changes nothing', () => {
    const job = new Job();
    job.step(10);
    expect(job.step(99, { tp: 2 })).toBe('other_parallelism 1');
    expect(job.step(10)).toBe('steady 1');
    job.rounds -= 1;
    expect(job.step(99)).toBe('repeated 1');
  });
});

describe('the veto', () => {
  test('a step that the profile predicts to be slower is not taken, and says by how much', () => {
    const job = new Job({ profile: flatProfile({ 1: 1, 2: 2 }) });
    job.step(10);
    const event = { type: 'step.finished', roundId: 'x', kind: 'short', tp: 1, preemptions: 50, seconds: 10, workload };
    const [kept] = only(job.send(event as never), 'kind-tp.kept');
    expect(kept).toMatchObject({ tp: 1, reason: { code: 'vetoed', wantedTp: 2 } });
    const { wantedPredictedSeconds, predictedSeconds } = kept!.reason as never as Record<string, number>;
    expect(wantedPredictedSeconds! / predictedSeconds!).toBeCloseTo(2);
    expect(job.step(100)).toBe('vetoed 1');
    const down = new Job({ profile: flatProfile({ 1: 2, 2: 1, 4: 1.5, 8: 1.5 }), startTp: { short: 2 } });
    expect([0, 0, 0, 0].map((count) => down.step(count)).at(-1)).toBe('vetoed 2');
  });

  test('no veto where the profile does not know the TP', () => {
    const job = new Job({ profile: flatProfile({ 1: 1 }) });
    job.step(10);
    expect(job.step(50)).toBe('preemptions_rose 2');
  });

  test('not down to where the longest response does not fit by the profile', () => {
    const rows = [...flatProfile({ 1: 1 }, { bytes: 95 }), ...flatProfile({ 2: 2 }, { bytes: 50 })];
    const job = new Job({ profile: rows, startTp: { short: 2 }, maxTp: 2 });
    expect([0, 0, 0, 0].map((count) => job.step(count)).at(-1)).toBe('does_not_fit 2');
  });
});

describe('undo and retry', () => {
  const raised = (config: Partial<AdaptiveTpInput> = {}) => {
    const job = new Job(config);
    job.step(10);
    job.step(10);
    expect(job.step(50)).toBe('preemptions_rose 2');
    return job;
  };

  test('a change is undone if the first step after it is more than 5 % slower than was to be expected', () => {
    expect(raised().step(0, { seconds: 10.5 })).toBe('cooldown 2');
    expect(raised().step(0, { seconds: 10.51 })).toBe('undone 1');
    // The load has grown by a fifth, and so have the seconds that are expected.
    expect(raised().step(0, { seconds: 12.5, workload: times(1.2) })).toBe('cooldown 2');
    expect(raised().step(0, { seconds: 12.7, workload: times(1.2) })).toBe('undone 1');
  });

  test('expected is what the profile says of the TP that was left', () => {
    // A fifth more steps of the longest response, and as many tokens as before.
    const job = new Job({ profile: flatProfile({ 1: 1, 2: 1, 4: 2, 8: 2 }) });
    for (const count of [10, 10]) job.step(count, { seconds: 300 });
    expect(job.step(50, { seconds: 300 })).toBe('preemptions_rose 2');
    const longer = { ...workload, longestTokens: 240 };
    expect(job.step(0, { seconds: 370, workload: longer })).toBe('cooldown 2');
  });

  test('one quick step by chance does not make the next one slow', () => {
    const job = new Job();
    for (const seconds of [10, 10, 10]) job.step(10, { seconds });
    expect(job.step(50, { seconds: 9.7 })).toBe('preemptions_rose 2');
    expect(job.step(0, { seconds: 10.3 })).toBe('cooldown 2');
  });

  test('what was undone is tried again only after the load has moved by more than 25 %', () => {
    const job = raised();
    expect(job.step(0, { seconds: 20 })).toBe('undone 1');
    expect(job.step(50)).toBe('cooldown 1');
    expect(job.step(100)).toBe('load_unchanged 1');
    expect(job.step(200, { workload: times(1.25) })).toBe('load_unchanged 1');
    expect(job.step(400, { workload: times(1.26) })).toBe('preemptions_rose 2');
  });

  test('a TP that was left for its preemptions is not gone back to for quiet steps at the same load', () => {
    const job = raised();
    expect([0, 0, 0, 0].map((count) => job.step(count)).at(-1)).toBe('load_unchanged 2');
    const less = [0, 0, 0, 0].map((count) => job.step(count, { workload: times(0.7) }));
    expect(less.at(-1)).toBe('preemption_free 1');
  });

  test('at one load there are at most log2(maxTp / minTp) + 1 changes, the last one kept back for an undo', () => {
    const job = new Job({ maxTp: 2, startTp: { short: 2 } });
    expect([0, 0, 0, 0].map((count) => job.step(count)).at(-1)).toBe('preemption_free 1');
    job.step(0);
    // Back to what was used at this load before.
    expect(job.step(99)).toBe('preemptions_rose 2');
    const wide = new Job({ maxTp: 4, startTp: { short: 2 } });
    for (const count of [0, 0, 0, 0, 0]) wide.step(count);
    expect(wide.step(99)).toBe('preemptions_rose 2');
    wide.step(99);
    expect(wide.step(999)).toBe('settled 2');
    expect(wide.step(9999, { workload: times(1.5) })).toBe('preemptions_rose 4');
  });

  test('the state of a change survives a restart', () => {
    const job = raised();
    job.restore();
    expect(job.step(0, { seconds: 20 })).toBe('undone 1');
    job.restore();
    job.step(50);
    expect(job.step(100)).toBe('load_unchanged 1');
  });
});

describe('another load', () => {
  // Quick steps with one sequence at TP 8, and with many at TP 1.
  const profile = [1, 8].flatMap((tp) =>
    [1, 1000].map((batchSize) => ({
      tp,
      batchSize,
      sequenceLength: 1,
      decodeStepSeconds: 1 / tp + (batchSize * tp) / 100,
      prefillSeconds: 0,
      bytes: 1,
    })),
  );

  test('the profile is asked again once the load has moved by more than 25 %', () => {
    const job = new Job({ profile, expectedWorkload: { short: workload } });
    expect(job.tp.short).toEqual({ tp: 1 });
    expect(job.step(0, { workload: times(0.8) })).toBe('first_step 1');
    expect(job.step(0, { workload: times(0.02) })).toBe('profile_selected 8');
  });

  test('a gain within the margin changes nothing', () => {
    const job = new Job({ profile, expectedWorkload: { short: workload }, selectionMargin: 0.99 });
    expect(job.step(0, { workload: times(0.02) })).toBe('first_step 1');
  });
});

describe('what cannot be set up', () => {
  test('the TP before comes back, and the other one waits for another load', () => {
    const job = new Job();
    job.step(10);
    job.step(50);
    const told = job.take(job.send({ type: 'kind-tp.failed', kind: 'short', tp: 2, message: 'no memory' } as never));
    expect(told).toMatchObject([{ type: 'kind-tp.set', tp: 1, reason: { code: 'not_applied', fromTp: 2 } }]);
    job.step(50);
    expect(job.step(99)).toBe('load_unchanged 1');
  });

  test('a start that fails gives the next larger TP, then a smaller one, until none is left', () => {
    const job = new Job({ startTp: { short: 4 } });
    const fail = (tp: number) => job.take(job.send({ type: 'kind-tp.failed', kind: 'short', tp } as never))[0];
    expect(fail(4)).toMatchObject({ tp: 8 });
    expect(fail(8)).toMatchObject({ tp: 2 });
    expect(fail(2)).toMatchObject({ tp: 1 });
    expect(fail(1)).toMatchObject({ type: 'kind-tp.kept', tp: 1, reason: { code: 'not_applied', failedTp: 1 } });
  });

  test('of several smaller, or larger, ones the nearest comes first', () => {
    for (const order of [
      [8, 4, 2, 1],
      [1, 2, 4, 8],
    ] as const) {
      const job = new Job({ startTp: { short: order[0] } });
      const told = order.map((tp) => job.send({ type: 'kind-tp.failed', kind: 'short', tp } as never)[0]);
      expect(told).toMatchObject([{ tp: order[1] }, { tp: order[2] }, { tp: order[3] }, { type: 'kind-tp.kept' }]);
    }
  });

  test('what fails late is noticed', () => {
    const late = new Job().send({ type: 'kind-tp.failed', kind: 'short', tp: 8 } as never);
    expect(late).toMatchObject([{ type: 'kind-tp.kept', tp: 1, reason: { code: 'late', failedTp: 8 } }]);
  });
});

describe('observations', () => {
  const rows = [1, 8].flatMap((batchSize) =>
    [1, 100].map((sequenceLength) => ({
      tp: 1,
      batchSize,
      sequenceLength,
      decodeStepSeconds: 1,
      prefillSeconds: 0,
      bytes: 1,
    })),
  );
  const seen = (job: Job, roundId: string, decodeStepSeconds: number, more: object = {}) =>
    job.send({
      type: 'profile.observed',
      roundId,
      tp: 1,
      batchSize: 4,
      sequenceLength: 50,
      decodeStepSeconds,
      ...more,
    } as never);

  test('more than 25 % from the profile for three rounds in a row: measure the point and those around it', () => {
    const job = new Job({ profile: rows });
    expect(seen(job, 'r1', 1.26)).toEqual([]);
    expect(seen(job, 'r1', 1.3)).toEqual([]);
    expect(seen(job, 'r2', 0.7)).toEqual([]);
    job.restore();
    expect(seen(job, 'r3', 1.5)).toMatchObject([
      {
        type: 'profile.measure',
        configurations: [
          { tp: 1, batchSize: 1, sequenceLength: 1 },
          { tp: 1, batchSize: 1, sequenceLength: 100 },
          { tp: 1, batchSize: 4, sequenceLength: 50 },
          { tp: 1, batchSize: 8, sequenceLength: 1 },
          { tp: 1, batchSize: 8, sequenceLength: 100 },
        ],
        reason: { code: 'observed_far', rounds: 3, observedSeconds: 1.5, profileSeconds: 1 },
      },
    ]);
  });

  test('one that is near begins the count anew; another parallelism has its own', () => {
    const job = new Job({ profile: rows });
    seen(job, 'r1', 2);
    seen(job, 'r2', 2);
    expect(seen(job, 'r3', 1.25)).toEqual([]);
    seen(job, 'r4', 2);
    seen(job, 'r5', 2, { tp: 2 });
    expect(seen(job, 'r5', 2)).toEqual([]);
    expect(seen(job, 'r6', 2)).toMatchObject([{ reason: { code: 'observed_far' } }]);
    seen(job, 'r7', 2, { tp: 2 });
    const configurations = [{ tp: 2, batchSize: 4, sequenceLength: 50 }];
    expect(seen(job, 'r8', 2, { tp: 2 })).toMatchObject([{ configurations, reason: { code: 'not_profiled' } }]);
  });

  test('measured rows replace those of the same point, add others, and the profile is asked again', () => {
    const job = new Job({ profile: flatProfile({ 1: 1, 2: 2 }), expectedWorkload: { short: workload } });
    expect(job.step(0)).toBe('first_step 1');
    job.send({ type: 'profile.measured', rows: flatProfile({ 1: 3, 4: 1 }) } as never);
    job.restore();
    expect(job.step(0)).toBe('profile_selected 4');
  });
});

test('at most 20,000 points are measured: known ones may be measured again, new ones are refused', () => {
  const job = new Job();
  const points = (from: number, count: number) =>
    flatProfile({ 1: 1 }).flatMap((row) =>
      Array.from({ length: count }, (_, at) => ({ ...row, batchSize: from + at })),
    );
  const measure = (rows: ProfileRow[]) => job.send({ type: 'profile.measured', rows } as never);
  for (let from = 1; from < 20_000; from += 1000) measure(points(from, 1000));
  measure(points(500, 1000));
  expect(refusal(() => measure(points(20_000, 2)))).toMatchObject({
    code: 'limit_exceeded',
    path: 'rows',
    expected: 'at most 20000 measured points',
    got: '20001',
  });
});

describe('expert parallelism', () => {
  const row = (tp: number, ep: number, routingSkew: number, decodeStepSeconds: number): ProfileRow => ({
    tp,
    ep,
    routingSkew,
    batchSize: 1,
    sequenceLength: 1,
    decodeStepSeconds,
    prefillSeconds: 0,
    bytes: 1,
  });
  // Spreading experts pays while the routing is even, and not where one rank has most tokens.
  const profile = [2, 4].flatMap((tp) => [
    row(tp, 1, 1, 2.2 - tp / 10),
    row(tp, 1, 3, 2.2 - tp / 10),
    row(tp, 2, 1, 1.5),
    row(tp, 2, 3, 2.5),
    row(tp, tp, 1, tp === 2 ? 1.5 : 1),
    row(tp, tp, 3, tp === 2 ? 2.5 : 4),
  ]);
  const moe: Partial<AdaptiveTpInput> = { profile, experts: 4, minTp: 2, maxTp: 4 };
  const skewed = (routingSkew: number) => ({ ...workload, routingSkew });

  test('the profile chooses EP beside TP, and again when the routing becomes skewed', () => {
    const job = new Job({ ...moe, expectedWorkload: { short: skewed(1) } });
    expect(job.tp.short).toEqual({ tp: 4, ep: 4 });
    job.step(0, { workload: skewed(1) });
    expect(job.step(0, { workload: skewed(3) })).toBe('routing_skewed 4');
    expect(job.tp.short).toEqual({ tp: 4, ep: 1 });
  });

  test('it divides TP and experts, and follows the TP without a profile', () => {
    const job = new Job({ experts: 2, startTp: { short: 2 } });
    expect(job.tp.short).toEqual({ tp: 2, ep: 1 });
    job.step(10);
    job.step(50);
    expect(job.tp.short).toEqual({ tp: 4, ep: 1 });
    expect(() => job.step(0, { ep: 3 })).toThrow(expect.objectContaining({ code: 'invalid_event', path: 'ep' }));
  });

  test('without experts in the configuration EP is not touched, whatever the host reports', () => {
    const job = new Job();
    job.step(10, { ep: 1 });
    expect(job.step(50, { ep: 1 })).toBe('preemptions_rose 2');
    expect(job.tp.short).toEqual({ tp: 2 });
  });
});

describe('selectTp', () => {
  const demand = { gpus: 8, ...workload };

  test('is a plain function: the least predicted seconds that fit the memory, ties to the least TP', () => {
    const rows = [...flatProfile({ 1: 1 }, { bytes: 91 }), ...flatProfile({ 2: 3, 4: 2, 8: 2 })];
    const chosen = selectTp({ rows, gpuMemoryBytes: 100 }, demand);
    expect(chosen.tp).toBe(4);
    expect(chosen.candidates.map((one) => one.tp)).toEqual([1, 2, 4, 8]);
    expect(chosen.candidates[0]).toEqual({ tp: 1 });
    expect(selectTp({ rows, gpuMemoryBytes: 100, memoryUtilization: 0.95 }, demand).tp).toBe(1);
    expect(selectTp({ rows, gpuMemoryBytes: 100 }, { ...demand, gpus: 2 }).tp).toBe(2);
  });

  test('one sequence takes prefill and its decode steps; values between the points are interpolated linearly', () => {
    const at = (batchSize: number, sequenceLength: number, value: number) => ({
      tp: 1,
      batchSize,
      sequenceLength,
      decodeStepSeconds: value,
      prefillSeconds: value * 10,
      bytes: 1,
    });
    const rows = [at(1, 100, 1), at(1, 300, 3), at(3, 100, 5), at(3, 300, 7)];
    const predict = (change: object) =>
      selectTp(
        { rows, gpuMemoryBytes: 100 },
        { gpus: 1, responses: 1, promptTokens: 100, responseTokens: 50, longestTokens: 50, ...change },
      ).predictedSeconds;
    // Prefill at 100 tokens, 50 steps at 125 tokens in the middle.
    expect(predict({})).toBeCloseTo(10 + 50 * 1.25);
    // Below the first point its value holds; beyond the last the line goes on.
    expect(predict({ promptTokens: 0 })).toBeCloseTo(10 + 50 * 1);
    expect(predict({ promptTokens: 375 })).toBeCloseTo(37.5 + 50 * 4);
    // Three of equal lengths: admitted apart, decoding together.
    expect(predict({ responses: 3 })).toBeGreaterThan(50 * 5.25);
    expect(predict({ responses: 5 })).toBeGreaterThan(50 * 9.25);
  });

  test('what does not fit the KV cache takes turns', () => {
    const rows = [1, 10].flatMap((batchSize) =>
      [1, 100].map((sequenceLength) => ({
        tp: 1,
        batchSize,
        sequenceLength,
        decodeStepSeconds: 1,
        prefillSeconds: 0,
        bytes: batchSize * sequenceLength,
      })),
    );
    const load = { gpus: 1, responses: 10, promptTokens: 1, responseTokens: 99, longestTokens: 99 };
    const predict = (gpuMemoryBytes: number) =>
      selectTp({ rows, gpuMemoryBytes, memoryUtilization: 1 }, load).predictedSeconds;
    expect(predict(1000)).toBeCloseTo(99);
    // All run until they fill it, half of them to the end, and then the rest of the others.
    expect(predict(500)).toBeCloseTo(99 + 50);
    // One at a time in the end, a few together while they are short.
    expect(predict(100)).toBeGreaterThan(500);
    expect(predict(100)).toBeLessThan(990);
  });

  test('on figures measured for Llama 2 70B on H100: TP 4 beats 8, which is no quicker, and 2, which has no memory left', () => {
    const url = new URL('../../../examples/traces/profile-llama2-70b-h100.json', import.meta.url);
    const rows = JSON.parse(readFileSync(url, 'utf8')) as ProfileRow[];
    const chosen = selectTp(
      { rows, gpuMemoryBytes: 80e9 },
      { gpus: 8, responses: 64, promptTokens: 512, responseTokens: 400, longestTokens: 1500 },
    );
    expect(chosen.tp).toBe(4);
    const [two, four, eight] = chosen.candidates.map((one) => one.predictedSeconds!);
    expect(two).toBeGreaterThan(four!);
    expect(eight).toBeGreaterThan(four!);
  });

  test('refuses what makes no sense', () => {
    const rows = flatProfile({ 1: 1 });
    const of = (profile: object, change: object = {}) =>
      refusal(() => selectTp({ rows, gpuMemoryBytes: 100, ...profile }, { ...demand, ...change }));
    expect(of({ rows: [] })).toMatchObject({ code: 'invalid_input', path: 'profile.rows' });
    expect(of({ rows: [{ ...rows[0], decodeStepSeconds: 0 }] })).toMatchObject({
      code: 'invalid_input',
      path: 'profile.rows[0].decodeStepSeconds',
    });
    expect(of({ rows: [{ ...rows[0], ep: 2 }] })).toMatchObject({ code: 'invalid_input', path: 'profile.rows[0].ep' });
    expect(of({}, { responses: 0 })).toMatchObject({ code: 'invalid_input', path: 'workload.responses' });
    expect(of({}, { longestTokens: 5 })).toMatchObject({ code: 'invalid_input', path: 'workload.longestTokens' });
    expect(of({}, { more: 5 })).toMatchObject({ code: 'invalid_input', path: 'workload.more' });
    expect(of({ gpuMemoryBytes: 1 })).toMatchObject({ code: 'infeasible', path: 'profile.rows' });
    expect(of({ rows: flatProfile({ 16: 1 }) })).toMatchObject({ code: 'infeasible' });
  });

  test('a great many requests take no longer to predict', () => {
    const chosen = selectTp({ rows: flatProfile({ 1: 1 }), gpuMemoryBytes: 100 }, { ...demand, responses: 1e12 });
    expect(Number.isFinite(chosen.predictedSeconds)).toBe(true);
  });
});

describe('bad input', () => {
  test.each<[string, Partial<AdaptiveTpInput>, string]>([
    ['no server', { servers: [] }, 'servers'],
    ['a GPU twice', { servers: [{ serverId: 'a', gpuIds: ['x', 'x'] }] }, 'servers[0].gpuIds[1]'],
    ['a GPU on two servers', { servers: [server('a', 2), { serverId: 'b', gpuIds: ['a1'] }] }, 'servers[1].gpuIds[0]'],
    ['a server twice', { servers: [server('a', 2), server('a', 2)] }, 'servers[1].serverId'],
    ['a model that fits nowhere', { modelBytes: 8000 }, 'maxTp'],
    ['bounds with no degree between', { minTp: 3, maxTp: 3 }, 'maxTp'],
    ['a start out of bounds', { startTp: { long: 3 } }, 'startTp.long'],
    ['a start that does not fit', { modelBytes: 150, startTp: { short: 1 } }, 'startTp.short'],
    [
      'a mean over the longest',
      { expectedWorkload: { short: { ...workload, longestTokens: 9 } } },
      'expectedWorkload.short.longestTokens',
    ],
    ['EP that does not divide TP', { profile: [{ ...flatProfile({ 4: 1 })[0]!, ep: 3 }] }, 'profile[0].ep'],
    ['a factor below 1', { riseFactor: 0.9 }, 'riseFactor'],
    ['an unknown setting', { more: 1 } as never, 'more'],
  ])('configuration with %s', (_title, change, path) => {
    expect(refusal(() => create(adaptiveTp, { ...base, ...change }))).toMatchObject({ code: 'invalid_config', path });
  });

  test('events', () => {
    const job = new Job();
    const event = {
      type: 'step.finished',
      at: 0,
      roundId: 'x',
      kind: 'short',
      tp: 1,
      preemptions: 1,
      seconds: 1,
      workload,
    };
    job.refuses({ ...event, preemptions: -1 }, 'invalid_event', 'preemptions');
    job.refuses({ ...event, seconds: 0 }, 'invalid_event', 'seconds');
    job.refuses({ ...event, kind: 'medium' }, 'invalid_event', 'kind');
    job.refuses({ ...event, ep: 2 }, 'invalid_event', 'ep');
    job.refuses({ ...event, workload: { ...workload, longestTokens: 1 } }, 'invalid_event', 'workload.longestTokens');
    job.refuses({ ...event, workload: { ...workload, routingSkew: 0.5 } }, 'invalid_event', 'workload.routingSkew');
    job.refuses({ type: 'profile.measured', at: 0, rows: [] }, 'invalid_event', 'rows');
    const row = { ...flatProfile({ 2: 1 })[0]!, ep: 4 };
    job.refuses({ type: 'profile.measured', at: 0, rows: [row] }, 'invalid_event', 'rows[0].ep');
    job.refuses({ type: 'kind-tp.failed', at: 0, kind: 'short', tp: 2, ep: 4 }, 'invalid_event', 'ep');
  });
});
