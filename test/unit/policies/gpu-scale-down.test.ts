import { describe, expect, test } from 'vitest';
import { create, gpuScaleDown, registry } from '../../../src/index.ts';
import type {
  GpuScaleDownDecision,
  GpuScaleDownEvent,
  GpuScaleDownInput,
} from '../../../src/policies/gpu-scale-down/index.ts';
import type { RunningRequest } from '../../../src/schemas/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import {
  accept,
  cluster,
  type Engines,
  movesOf,
  open,
  type Release,
  report,
  type ScaleDown,
  untilQuery,
} from '../../support/oracles/scale-down.ts';

type Unstamped<E> = E extends unknown ? Omit<E, 'at'> : never;

const config = (more: Partial<GpuScaleDownInput> = {}) => ({
  promptsPerRound: 10,
  responsesPerPrompt: 2,
  maxResponseTokens: 1000,
  engines: cluster(8, 1e6),
  ...more,
});
const start = (more: Partial<GpuScaleDownInput> = {}): ScaleDown => create(gpuScaleDown, config(more));
const send = (policy: ScaleDown, event: Unstamped<GpuScaleDownEvent>): GpuScaleDownDecision[] =>
  policy.send({ at: 0, ...event } as GpuScaleDownEvent);
const types = (decisions: readonly GpuScaleDownDecision[]) => decisions.map((one) => one.type);
const running = (...places: [id: string, engineId: string, tokens?: number][]): RunningRequest[] =>
  places.map(([requestId, engineId, tokens = 100]) => ({ requestId, engineId, tokens, promptTokens: 10 }));
const complete = (policy: ScaleDown, roundId: string) =>
  send(policy, {
    type: 'round.completed',
    roundId,
    kind: 'long',
    weightVersion: 0,
    prompts: [],
    openedSeconds: 0,
    deferred: 0,
    reason: { code: 'quota_reached', counted: 10, needed: 10 },
  });
const abort = (policy: ScaleDown, requestId: string) =>
  send(policy, {
    type: 'request.abort',
    requestId,
    promptId: 'p',
    reason: { code: 'prompt_collected', held: 2, needed: 2 },
  });

/** The GPUs of the release that is open are back. */
function returned(policy: ScaleDown, releaseId: string) {
  const { release } = policy.snapshot().state as { release?: { engines: number[] } };
  const gpuIds = (release?.engines ?? []).map((place) => `g${place}`);
  return { type: 'gpus.returned', roundId: 'r', releaseId, gpuIds } as const;
}

/** A round with a release under way: a and b move from e0 and e1, c runs on e7. */
function releasing(more: Partial<GpuScaleDownInput> = {}) {
  const policy = start(more);
  open(policy, 'r');
  const [release] = report(policy, untilQuery(policy), running(['a', 'e0'], ['b', 'e1'], ['c', 'e7', 900])) as [
    Release,
  ];
  expect(
    movesOf(release)
      .map((one) => one.requestId)
      .sort(),
  ).toEqual(['a', 'b']);
  return { policy, release, releaseId: release.releaseId };
}
const freed = ({ policy, release, releaseId }: ReturnType<typeof releasing>) => {
  const gpuIds = release.release.flatMap((one) => one.gpuIds);
  return send(policy, { type: 'gpus.released', roundId: 'r', releaseId, gpuIds });
};

describe('milestones', () => {
  /** Counts finished at which it asks; each time the answer is a rejection. */
  function asksAt(more: Partial<GpuScaleDownInput>, count: number): number[] {
    const policy = start({ engines: cluster(8, 1), ...more });
    open(policy, 'r');
    const asked: number[] = [];
    for (let finished = 1; finished <= count; finished += 1) {
      for (const decision of accept(policy)) {
        if (decision.type !== 'progress.query') continue;
        asked.push(finished);
        expect(types(report(policy, decision.queryId, running(['a', 'e0'])))).toEqual(['scale-down.rejected']);
      }
    }
    return asked;
  }

  test('from 0.20 to 0.50, both included, at least 0.05 apart', () => {
    expect(asksAt({}, 20)).toEqual([4, 5, 6, 7, 8, 9, 10]);
    expect(asksAt({ promptsPerRound: 128, responsesPerPrompt: 8 }, 1024)).toEqual([205, 257, 309, 361, 413, 465]);
    expect(asksAt({ promptsPerRound: 100, responsesPerPrompt: 1 }, 100)).toEqual([20, 25, 30, 35, 40, 45, 50]);
    expect(asksAt({ promptsPerRound: 1, responsesPerPrompt: 2 }, 2)).toEqual([1]);
    expect(asksAt({ promptsPerRound: 1, responsesPerPrompt: 1 }, 1)).toEqual([]);
  });

  test('prompts are counted instead of responses where that is the unit', () => {
    const policy = start({ progressUnit: 'prompts' });
    open(policy, 'r');
    for (let index = 0; index < 20; index += 1) expect(accept(policy)).toEqual([]);
    const counted = (roundId: string) =>
      send(policy, {
        type: 'prompt.counted',
        promptId: 'p',
        roundId,
        responses: [],
        reason: { code: 'no_filter', counted: 1, needed: 10 },
      });
    expect(counted('r')).toEqual([]);
    expect(counted('another')).toEqual([]);
    expect(counted('r')).toMatchObject([{ type: 'progress.query', reason: { finished: 2, target: 10, sinceLast: 2 } }]);
  });

  test('nothing is asked while a query is open or before a round; later milestones ask again', () => {
    const policy = start();
    expect(accept(policy)).toEqual([]);
    open(policy, 'r');
    const queryId = untilQuery(policy);
    for (let index = 0; index < 3; index += 1) expect(accept(policy)).toEqual([]);
    expect(types(report(policy, queryId, running(['a', 'e0'])))).toEqual(['gpus.release']);
  });

  test('a fixed fraction asks once and does not look at the KV cache (§6.6)', () => {
    expect(asksAt({ trigger: 0.3, engines: cluster(1, 1) }, 20)).toEqual([6]);
    const policy = start({ trigger: 0.3, engines: cluster(4, 1) });
    open(policy, 'r');
    expect(report(policy, untilQuery(policy), running(['a', 'e0']))).toMatchObject([
      { type: 'gpus.release', reason: { code: 'fixed_fraction', finished: 6, target: 20, capacityTokens: 1 } },
    ]);
  });
});

describe('which GPUs', () => {
  test('where the best choice leaves too little room, the next ones are tried in their order', () => {
    const [e0, e1] = cluster(2, 5000);
    const engines = [e0!, { ...e1!, serverId: 's1', kvCapacityTokens: 1500 }];
    const policy = start({ engines, maxResponseTokens: 1000 });
    open(policy, 'r');
    // To release e0 moves fewer tokens, but e1 cannot hold both.
    expect(report(policy, untilQuery(policy), running(['a', 'e0', 100], ['b', 'e1', 500]))).toMatchObject([
      { type: 'gpus.release', release: [{ engineId: 'e1' }], keep: ['e0'], reason: { projectedTokens: 1620 } },
    ]);
    const small = start({
      engines: engines.map((one) => ({ ...one, kvCapacityTokens: 1500 })),
      maxResponseTokens: 1000,
    });
    open(small, 'r');
    // None fits: the numbers are those of the best.
    expect(report(small, untilQuery(small), running(['a', 'e0', 100], ['b', 'e1', 500]))).toMatchObject([
      { type: 'scale-down.rejected', reason: { code: 'kv_cache_together', expectedTokens: 1620 } },
    ]);
  });

  test('whole servers first, then the fewest tokens, then the first engines', () => {
    const policy = start();
    open(policy, 'r');
    const all = running(['a', 'e0', 500], ['b', 'e1', 0], ['c', 'e4', 90], ['d', 'e5', 90]);
    expect(report(policy, untilQuery(policy), all)).toMatchObject([
      { release: ['e4', 'e5', 'e6', 'e7'].map((engineId) => ({ engineId })), keep: ['e0', 'e1', 'e2', 'e3'] },
    ]);
    const empty = start();
    open(empty, 'r');
    expect(report(empty, untilQuery(empty), [])).toMatchObject([{ keep: ['e4', 'e5', 'e6', 'e7'], migrations: [] }]);
  });

  test('one group over all GPUs cannot be halved, nor three engines of two GPUs', () => {
    const fsdp = start({ communicationGroups: [cluster(8, 1).flatMap((one) => one.gpuIds)] });
    open(fsdp, 'r');
    expect(report(fsdp, untilQuery(fsdp), [])).toMatchObject([
      { type: 'scale-down.rejected', roundId: 'r', reason: { code: 'no_partition', gpus: 8, wanted: 4 } },
    ]);
    const engines = [0, 1, 2].map((n) => ({
      engineId: `e${n}`,
      serverId: 's',
      gpuIds: [`g${n}a`, `g${n}b`],
      kvCapacityTokens: 100,
    }));
    const odd = start({ engines });
    open(odd, 'r');
    expect(report(odd, untilQuery(odd), [])).toMatchObject([{ reason: { code: 'no_partition', gpus: 6, wanted: 3 } }]);
  });

  test('of an odd number of GPUs the smaller half goes', () => {
    const policy = start({ engines: cluster(5, 1e6) });
    open(policy, 'r');
    const [release] = report(policy, untilQuery(policy), []) as [Release];
    expect(release.release).toHaveLength(2);
  });

  test('replicas that stride over all servers keep together', () => {
    const engines = cluster(16, 1e6);
    const strided = [0, 1, 2, 3].map((at) =>
      engines.filter((_, index) => index % 4 === at).flatMap((one) => one.gpuIds),
    );
    const policy = start({ engines, communicationGroups: strided });
    open(policy, 'r');
    const [release] = report(policy, untilQuery(policy), running(['a', 'e0'], ['b', 'e5'])) as [Release];
    const gone = new Set(release.release.flatMap((one) => one.gpuIds));
    for (const group of strided) expect([0, 4]).toContain(group.filter((gpu) => gone.has(gpu)).length);
    expect(gone).toEqual(new Set([...strided[2]!, ...strided[3]!]));
  });

  test('a large cluster is decided in its full size', () => {
    const engines = cluster(256, 1e6);
    const policy = start({ engines });
    open(policy, 'r');
    const all = engines.map(({ engineId }, index): RunningRequest => {
      return { requestId: `q${index}`, engineId, tokens: (index >> 2) % 3, promptTokens: 0 };
    });
    const [release] = report(policy, untilQuery(policy), all) as [Release];
    expect(release.release).toHaveLength(128);
    // 22 servers hold nothing, and 10 of the 21 with one token an engine go with them.
    expect(release.migrations.flatMap((one) => one.tokens).reduce((sum, one) => sum + one, 0)).toBe(40);
  });

  test('engines that are lost neither go nor stay, those that are drained are no target', () => {
    const policy = start();
    send(policy, { type: 'engine.lost', engineId: 'e7' });
    send(policy, { type: 'engine.drained', engineId: 'e6' });
    open(policy, 'r');
    const all = running(['a', 'e0', 10], ['b', 'e6', 900], ['c', 'e7', 5]);
    const [release] = report(policy, untilQuery(policy), all) as [Release];
    // Seven GPUs are left: three go. Of the second server that would be the whole rest of it.
    expect(release.release).toHaveLength(3);
    expect([...release.keep, ...release.release.map((one) => one.engineId)]).not.toContain('e7');
    expect(movesOf(release).map((one) => one.requestId)).not.toContain('c');
    for (const { to } of release.migrations) expect(to).not.toBe('e6');
    const drained = start({ engines: cluster(2, 1e6) });
    send(drained, { type: 'engine.drained', engineId: 'e1' });
    open(drained, 'r');
    expect(report(drained, untilQuery(drained), running(['a', 'e1', 50]))).toMatchObject([
      { reason: { code: 'no_target', engines: 1 } },
    ]);
    send(drained, { type: 'engine.added', engineId: 'e1' });
    expect(report(drained, untilQuery(drained), running(['a', 'e1', 50]))).toMatchObject([{ type: 'gpus.release' }]);
  });
});

describe('when', () => {
  test('without a history every request is taken to run to the cap', () => {
    const engines = cluster(2, 2020);
    const fits = start({ engines });
    open(fits, 'r');
    expect(report(fits, untilQuery(fits), running(['a', 'e0'], ['b', 'e1']))).toMatchObject([
      { type: 'gpus.release', reason: { code: 'fits', projectedTokens: 2020, capacityTokens: 2020 } },
    ]);
    const not = start({ engines: cluster(2, 2019) });
    open(not, 'r');
    expect(report(not, untilQuery(not), running(['a', 'e0'], ['b', 'e1']))).toMatchObject([
      {
        type: 'scale-down.rejected',
        reason: { code: 'kv_cache_together', expectedTokens: 2020, capacityTokens: 2019 },
      },
    ]);
  });

  test('what does not fit on one engine is rejected although it fits on all together', () => {
    const policy = start({ engines: cluster(4, 900) });
    open(policy, 'r');
    expect(report(policy, untilQuery(policy), running(['a', 'e0', 5]))).toMatchObject([
      { type: 'scale-down.rejected', reason: { code: 'kv_cache', projectedTokens: 1010, capacityTokens: 900 } },
    ]);
  });

  test('a history of short responses lets go of more, each kind of round by its own', () => {
    const policy = start({ engines: cluster(2, 5000) });
    open(policy, 'h', 'short');
    for (let index = 0; index < 5000; index += 1) {
      send(policy, { type: 'response.completed', requestId: `h${index}`, tokens: 100 + (index % 100) });
    }
    const all = Array.from({ length: 20 }, (_, index) => running([`q${index}`, `e${index % 2}`])[0]!);
    open(policy, 'long', 'long');
    expect(types(report(policy, untilQuery(policy), all))).toEqual(['scale-down.rejected']);
    open(policy, 'short', 'short');
    const [release] = report(policy, untilQuery(policy), all) as [Release];
    expect(release.reason.projectedTokens).toBeGreaterThan(20 * 110);
    expect(release.reason.projectedTokens).toBeLessThan(20 * 210);
  });

  test('the open round does not count yet, and an abort counts as an end', () => {
    const policy = start({ engines: cluster(2, 5000) });
    open(policy, 'a', 'short');
    const all = Array.from({ length: 10 }, (_, index) => running([`q${index}`, `e${index % 2}`])[0]!);
    for (let index = 0; index < 2000; index += 1) {
      send(policy, { type: 'request.aborted', requestId: `h${index}`, tokens: 150 });
    }
    expect(types(report(policy, untilQuery(policy), all))).toEqual(['scale-down.rejected']);
    open(policy, 'b', 'short');
    expect(types(report(policy, untilQuery(policy), all))).toEqual(['gpus.release']);
  });

  test('capacity in bytes', () => {
    const engines = cluster(2, 1).map(({ kvCapacityTokens: _, ...one }) => ({ ...one, kvCapacityBytes: 2048 * 2020 }));
    const policy = start({ engines, bytesPerToken: 2048 });
    open(policy, 'r');
    expect(report(policy, untilQuery(policy), running(['a', 'e0'], ['b', 'e1']))).toMatchObject([
      { reason: { code: 'fits', capacityTokens: 2020 } },
    ]);
  });

  test('requests beyond the cap, and none at all', () => {
    const policy = start({ engines: cluster(2, 5000) });
    open(policy, 'r');
    expect(report(policy, untilQuery(policy), running(['a', 'e0', 4000]))).toMatchObject([
      { reason: { projectedTokens: expect.any(Number) } },
    ]);
    const none = start();
    open(none, 'r');
    expect(report(none, untilQuery(none), [])).toMatchObject([{ reason: { code: 'fits', projectedTokens: 0 } }]);
  });
});

describe('where to', () => {
  test('the largest first, to the engine with most projected KV free', () => {
    const policy = start({ engines: cluster(4, 1e5).map((one, index) => ({ ...one, serverId: `s${index >> 1}` })) });
    open(policy, 'r');
    const all = running(['a', 'e0', 10], ['b', 'e1', 20], ['c', 'e2', 900], ['d', 'e2', 900], ['e', 'e3', 900]);
    const [release] = report(policy, untilQuery(policy), all) as [Release];
    expect(release.keep).toEqual(['e2', 'e3']);
    expect(
      movesOf(release)
        .map((one) => one.to)
        .sort(),
    ).toEqual(['e3', 'e3']);
  });
});

describe('a release', () => {
  test('only gpus.released counts: then there is none more in the round, and the GPUs come back at its end', () => {
    const begun = releasing();
    const { policy, release, releaseId } = begun;
    for (const { requestId } of movesOf(release)) {
      expect(send(policy, { type: 'request.migrated', releaseId, requestId })).toEqual([]);
    }
    expect(freed(begun)).toEqual([]);
    for (let index = 0; index < 20; index += 1) expect(accept(policy)).toEqual([]);
    const gpuIds = release.release.flatMap((one) => one.gpuIds);
    expect(complete(policy, 'r')).toMatchObject([
      { type: 'gpus.reclaim', releaseId, gpuIds, reason: { code: 'round_completed' } },
    ]);
    open(policy, 'next');
    const asked = Array.from({ length: 4 }, () => accept(policy)).flat();
    expect(asked).toMatchObject([{ type: 'scale-down.rejected', reason: { code: 'not_returned', releaseId } }]);
    expect(send(policy, returned(policy, releaseId))).toEqual([]);
    expect(types(report(policy, untilQuery(policy), []))).toEqual(['gpus.release']);
  });

  test('one that fails is taken back, and the next milestone tries again', () => {
    const { policy, releaseId } = releasing();
    expect(send(policy, { type: 'gpus.release.failed', releaseId })).toMatchObject([
      { type: 'gpus.reclaim', releaseId, reason: { code: 'release_failed' } },
    ]);
    send(policy, returned(policy, releaseId));
    expect(types(report(policy, untilQuery(policy), running(['a', 'e0'])))).toEqual(['gpus.release']);
  });

  test('a migration that fails is tried on another engine, then the release is given up', () => {
    const { policy, release, releaseId } = releasing();
    const { requestId, from, to, tokens } = movesOf(release)[0]!;
    const again = send(policy, { type: 'migration.failed', releaseId, requestId, message: 'out of memory' });
    expect(again).toMatchObject([
      { type: 'request.migrate', requestId, from, tokens, attempt: 2, reason: { attempts: 1, budget: 2 } },
    ]);
    expect((again[0] as { to: string }).to).not.toBe(to);
    expect(release.keep).toContain((again[0] as { to: string }).to);
    expect(send(policy, { type: 'migration.failed', releaseId, requestId, attempt: 2 })).toMatchObject([
      { type: 'gpus.reclaim', reason: { code: 'migration_failed', requestId, attempts: 2 } },
    ]);
    const other = movesOf(release)[1]!.requestId;
    // On the way back the others stay where they are, or have arrived: both are fine.
    expect(send(policy, { type: 'migration.failed', releaseId, requestId: other })).toEqual([]);
  });

  test('a report of the first try does not count for the second', () => {
    const { policy, release, releaseId } = releasing();
    const { requestId } = movesOf(release)[0]!;
    send(policy, { type: 'migration.failed', releaseId, requestId });
    const before = policy.snapshot().state;
    for (const type of ['migration.failed', 'request.migrated'] as const) {
      expect(send(policy, { type, releaseId, requestId })).toMatchObject([
        { type: 'scale-down.late', id: requestId, reason: { code: 'migration_closed' } },
      ]);
      expect(policy.snapshot().state).toEqual(before);
      expect(refusal(() => send(policy, { type, releaseId, requestId, attempt: 3 }))).toMatchObject({
        code: 'invalid_event',
        path: 'attempt',
      });
    }
    expect(send(policy, { type: 'request.migrated', releaseId, requestId, attempt: 2 })).toEqual([]);
  });

  test('a migration that fails after the GPUs are gone is tried elsewhere, then abandoned by name', () => {
    const begun = releasing();
    const { policy, release, releaseId } = begun;
    const { requestId } = movesOf(release)[0]!;
    freed(begun);
    expect(types(send(policy, { type: 'migration.failed', releaseId, requestId }))).toEqual(['request.migrate']);
    expect(send(policy, { type: 'migration.failed', releaseId, requestId, attempt: 2 })).toMatchObject([
      { type: 'migration.abandoned', requestId, reason: { code: 'tries_used_up', attempts: 2, budget: 2 } },
    ]);
    expect(types(complete(policy, 'r'))).toEqual(['gpus.reclaim']);
  });

  test('without an engine to try, it is abandoned at once', () => {
    const begun = releasing();
    const { policy, release, releaseId } = begun;
    freed(begun);
    for (const engineId of release.keep) send(policy, { type: 'engine.drained', engineId });
    expect(send(policy, { type: 'migration.failed', releaseId, requestId: 'a' })).toMatchObject([
      { type: 'migration.abandoned', reason: { code: 'no_engine', attempts: 1 } },
    ]);
  });

  test('with one engine left, the same one is tried again', () => {
    const policy = start({ engines: cluster(2, 1e6) });
    open(policy, 'r');
    const [release] = report(policy, untilQuery(policy), running(['a', 'e0', 1], ['b', 'e1'])) as [Release];
    const { releaseId } = release;
    expect(send(policy, { type: 'migration.failed', releaseId, requestId: 'a' })).toMatchObject([
      { type: 'request.migrate', requestId: 'a', to: 'e1' },
    ]);
  });

  test.each(['abort', 'aborted', 'completed'] as const)(
    'a request that ended (%s) while it moves stays ended',
    (how) => {
      const { policy, releaseId } = releasing();
      const ended =
        how === 'abort'
          ? abort(policy, 'a')
          : how === 'aborted'
            ? send(policy, { type: 'request.aborted', requestId: 'a' })
            : send(policy, { type: 'response.completed', requestId: 'a', tokens: 120 });
      const code = how === 'completed' ? 'completed' : 'aborted';
      expect(ended).toMatchObject([{ type: 'migration.cancel', releaseId, requestId: 'a', reason: { code } }]);
      const again = registry.restore(JSON.parse(JSON.stringify(policy.snapshot()))) as unknown as ScaleDown;
      expect(send(again, { type: 'request.migrated', releaseId, requestId: 'a' })).toMatchObject([
        { type: 'migration.cancel', requestId: 'a', reason: { code: 'migrated_after_end' } },
      ]);
      // Its confirmation, or the failure of its migration, changes nothing.
      expect(send(policy, { type: 'request.aborted', requestId: 'a', tokens: 120 })).toEqual([]);
      expect(send(policy, { type: 'migration.failed', releaseId, requestId: 'a' })).toEqual([]);
    },
  );

  test('a request that ended between the query and the report, or whose abort is not confirmed, does not move', () => {
    const policy = start();
    open(policy, 'r');
    abort(policy, 'a');
    abort(policy, 'd');
    send(policy, { type: 'request.aborted', requestId: 'd', tokens: 5 });
    const queryId = untilQuery(policy);
    send(policy, { type: 'response.completed', requestId: 'b', tokens: 100 });
    const all = running(['a', 'e0'], ['b', 'e0'], ['c', 'e1'], ['d', 'e1'], ['x', 'e7', 900]);
    const [release] = report(policy, queryId, all) as [Release];
    expect(
      movesOf(release)
        .map((one) => one.requestId)
        .sort(),
    ).toEqual(['c', 'd']);
  });

  test('requests that have ended since the query are as if the report did not name them', () => {
    const decided = (gone: number, named: boolean) => {
      const policy = start();
      open(policy, 'r');
      const queryId = untilQuery(policy);
      for (let index = 0; index < gone; index += 1) send(policy, { type: 'request.aborted', requestId: `q${index}` });
      const all = Array.from({ length: 400 }, (_, index): RunningRequest => {
        return { requestId: `q${index}`, engineId: `e${index % 8}`, tokens: 10 + index, promptTokens: 5 };
      });
      return report(policy, queryId, named ? all : all.slice(gone));
    };
    for (const gone of [1, 6, 9, 200]) expect(decided(gone, true)).toEqual(decided(gone, false));
  });

  test.each(['e0', 'e7'])('an engine that is lost during the migration (%s) ends it', (engineId) => {
    const { policy, releaseId } = releasing();
    expect(send(policy, { type: 'engine.lost', engineId })).toMatchObject([
      { type: 'gpus.reclaim', releaseId, reason: { code: 'engine_lost', engineId } },
    ]);
    expect(send(policy, { type: 'engine.lost', engineId: 'e3' })).toEqual([]);
  });

  test('engines that are lost later matter only when none is left to roll out', () => {
    const begun = releasing();
    const { policy, release } = begun;
    freed(begun);
    expect(send(policy, { type: 'engine.lost', engineId: release.release[0]!.engineId })).toEqual([]);
    const [last, ...others] = release.keep;
    for (const engineId of others) expect(send(policy, { type: 'engine.lost', engineId })).toEqual([]);
    expect(send(policy, { type: 'engine.lost', engineId: last! })).toMatchObject([
      { type: 'gpus.reclaim', reason: { code: 'engines_lost', engineId: last } },
    ]);
  });

  test('a round that is over first, or replaced, takes the release back', () => {
    const first = releasing();
    expect(complete(first.policy, 'r')).toMatchObject([{ reason: { code: 'ended_before_release' } }]);
    expect(freed(first)).toMatchObject([{ type: 'scale-down.late', reason: { code: 'released_late' } }]);
    const second = releasing();
    freed(second);
    expect(open(second.policy, 'next')).toMatchObject([{ type: 'gpus.reclaim', reason: { code: 'round_replaced' } }]);
  });

  test('a restarted host is asked for everything back, and ids are new', () => {
    const first = releasing();
    const { policy, releaseId } = first;
    const restart = (idPrefix: string) => send(policy, { type: 'host.restarted', idPrefix });
    expect(restart('h1-')).toMatchObject([{ reason: { code: 'restarted_before_release' } }]);
    expect(restart('h2-')).toMatchObject([{ reason: { code: 'asked_again' } }]);
    expect(send(policy, { type: 'request.migrated', releaseId, requestId: 'a' })).toMatchObject([
      { type: 'scale-down.late', id: 'a', reason: { code: 'migration_closed' } },
    ]);
    send(policy, returned(policy, releaseId));
    expect(untilQuery(policy)).toMatch(/^h2-query-\d+$/);
    const second = releasing();
    freed(second);
    expect(send(second.policy, { type: 'host.restarted', idPrefix: 'h' })).toMatchObject([
      { reason: { code: 'host_restarted' } },
    ]);
  });
});

describe('ids over restarts', () => {
  const restart = (policy: ScaleDown, idPrefix: string) => send(policy, { type: 'host.restarted', idPrefix });
  const codeOf = (policy: ScaleDown, releaseId: string) => {
    try {
      const [first] = send(policy, { type: 'gpus.release.failed', releaseId });
      return first?.reason.code;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  test('what was minted under a prefix that is remembered is late, and nothing else', () => {
    const { policy, releaseId } = releasing();
    expect(releaseId).toBe('release-1');
    restart(policy, 'h1-');
    send(policy, returned(policy, releaseId));
    for (const id of ['release-1', 'query-0', 'h1-release-1']) expect(codeOf(policy, id)).toBe('release_closed');
    // Of another prefix, of a number that is still to come, and of another spelling.
    for (const id of ['h2-release-1', 'release-2', 'h1-release-2', 'release-01', 'h1-other-1']) {
      expect(codeOf(policy, id)).toBe('unknown_id');
    }
    for (let host = 2; host <= 65; host += 1) restart(policy, `h${host}-`);
    expect(codeOf(policy, 'h1-release-1')).toBe('release_closed');
    expect(codeOf(policy, 'release-1')).toBe('unknown_id');
  });

  test('a prefix that was used before is refused, as far as that is remembered', () => {
    const policy = start();
    restart(policy, 'h1-');
    for (const idPrefix of ['', 'h1-']) {
      expect(refusal(() => restart(policy, idPrefix))).toMatchObject({ code: 'duplicate_id', path: 'idPrefix' });
    }
    expect(restart(policy, 'h2-')).toEqual([]);
  });
});

test('a snapshot whose moves are columns of different lengths is refused', () => {
  const { policy } = releasing();
  const saved = JSON.parse(JSON.stringify(policy.snapshot()));
  expect(saved.state.release.moves.from.length).toBeGreaterThan(0);
  registry.restore(saved);
  saved.state.release.moves.from.pop();
  expect(refusal(() => registry.restore(saved))).toMatchObject({
    code: 'snapshot_mismatch',
    path: 'snapshot.state.release.moves',
    expected: 'columns of one length',
  });
});

describe('engines that change between rounds', () => {
  /** The same eight GPUs in engines of two. */
  const pairs = (kvCapacityTokens = 2e6) =>
    [0, 1, 2, 3].map((n) => ({
      engineId: `pair${n}`,
      serverId: `s${n >> 1}`,
      gpuIds: [`g${2 * n}`, `g${2 * n + 1}`],
      kvCapacityTokens,
    }));
  const place = (policy: ScaleDown, engines: Engines) => send(policy, { type: 'engines.placed', engines });

  test('without engines nothing is asked; once they are placed the next one finished asks', () => {
    const policy = start({ engines: [] });
    open(policy, 'r');
    for (let index = 0; index < 6; index += 1) expect(accept(policy)).toEqual([]);
    expect(place(policy, pairs())).toEqual([]);
    expect(accept(policy)).toMatchObject([{ type: 'progress.query', reason: { finished: 7, sinceLast: 7 } }]);
    expect(report(policy, 'query-0', running(['a', 'pair0'], ['b', 'pair3', 500]))).toMatchObject([
      { type: 'gpus.release', release: [{ engineId: 'pair0', gpuIds: ['g0', 'g1'] }, { engineId: 'pair1' }] },
    ]);
    const late = start({ engines: [], trigger: 0.2 });
    open(late, 'r');
    for (let index = 0; index < 12; index += 1) expect(accept(late)).toEqual([]);
    place(late, pairs());
    expect(types(accept(late))).toEqual(['progress.query']);
  });

  test('a new layout replaces engines, GPUs and capacities, with or without a round; a restart keeps it', () => {
    const policy = start();
    send(policy, { type: 'engine.lost', engineId: 'e7' });
    place(policy, pairs(900));
    open(policy, 'r');
    const restored = registry.restore(JSON.parse(JSON.stringify(policy.snapshot()))) as unknown as ScaleDown;
    for (const one of [policy, restored]) {
      const queryId = untilQuery(one);
      expect(refusal(() => report(one, queryId, running(['a', 'e0'])))).toMatchObject({ code: 'unknown_id' });
      expect(report(one, queryId, running(['a', 'pair0']))).toMatchObject([
        { type: 'scale-down.rejected', reason: { code: 'kv_cache', projectedTokens: 1010, capacityTokens: 900 } },
      ]);
      complete(one, 'r');
      expect(place(one, cluster(2, 5e6))).toEqual([]);
      open(one, 'next');
      expect(report(one, untilQuery(one), running(['a', 'e0'], ['b', 'e1', 200]))).toMatchObject([
        { release: [{ engineId: 'e0', gpuIds: ['g0'] }], keep: ['e1'], reason: { capacityTokens: 5e6 } },
      ]);
    }
  });

  test('what was learnt of lengths stays', () => {
    const answerAfter = (engines: Engines, later?: Engines) => {
      const policy = start({ engines });
      open(policy, 'r1');
      for (let index = 0; index < 400; index += 1) {
        send(policy, { type: 'response.completed', requestId: `h${index}`, tokens: 40 + (index % 20) });
      }
      if (later !== undefined) place(policy, later);
      open(policy, 'r2');
      const ids = Array.from({ length: 80 }, (_, index) => index);
      const all = running(...ids.map((n): [string, string, number] => [`q${n}`, `pair${n % 4}`, n % 30]));
      return report(policy, untilQuery(policy), all);
    };
    const decisions = answerAfter([], pairs(5000));
    expect(types(decisions)).toEqual(['gpus.release']);
    expect(decisions).toEqual(answerAfter(pairs(5000)));
    expect(decisions).toEqual(answerAfter(cluster(3, 7), pairs(5000)));
  });

  test('refused while a release is under way or trains, and after the first evaluation of a round', () => {
    const given = releasing();
    const { policy, release, releaseId } = given;
    const attempt = () => refusal(() => place(policy, pairs()));
    expect(attempt()).toMatchObject({ code: 'out_of_order', got: '"a release that is releasing"' });
    freed(given);
    expect(attempt()).toMatchObject({ code: 'out_of_order', got: '"a release that is released"' });
    complete(policy, 'r');
    expect(attempt()).toMatchObject({ code: 'out_of_order', got: '"a release that is reclaiming"' });
    const gpuIds = release.release.flatMap((one) => one.gpuIds);
    send(policy, { type: 'gpus.returned', roundId: 'r', releaseId, gpuIds });
    expect(place(policy, pairs())).toEqual([]);
    open(policy, 'next');
    expect(place(policy, pairs())).toEqual([]);
    untilQuery(policy);
    expect(attempt()).toMatchObject({ code: 'out_of_order', got: '"a round that was evaluated at 4 finished"' });
    // After a restart there is nothing in flight that runs on the engines of before.
    send(policy, { type: 'host.restarted', idPrefix: 'h-' });
    expect(place(policy, cluster(8, 1e6))).toEqual([]);
    expect(types(report(policy, untilQuery(policy), running(['a', 'e0'])))).toEqual(['gpus.release']);
  });

  test('reports about engines of the layout before are late; others are wrong', () => {
    const policy = start();
    place(policy, [...pairs().slice(0, 3), ...cluster(8, 1e6).slice(6)]);
    const codes = (engineId: string) =>
      (['engine.lost', 'engine.drained', 'engine.added'] as const).flatMap((type) => send(policy, { type, engineId }));
    expect(codes('e0').map((one) => one.reason.code)).toEqual(Array(3).fill('engine_replaced'));
    expect(codes('e7')).toEqual([]);
    expect(refusal(() => codes('pair3'))).toMatchObject({ code: 'unknown_id', path: 'engineId' });
    place(policy, pairs());
    place(policy, pairs());
    expect(codes('e7').map((one) => one.reason.code)).toEqual(Array(3).fill('engine_replaced'));
    expect(refusal(() => codes('e0'))).toMatchObject({ code: 'unknown_id', path: 'engineId' });
  });

  test('bad layouts are refused', () => {
    const policy = start({ communicationGroups: [['g0', 'g7']] });
    const attempt = (engines: Engines) => refusal(() => place(policy, engines));
    expect([
      attempt([]),
      attempt([...cluster(8, 5), { ...pairs()[0]!, gpuIds: ['g3'] }]),
      attempt([...cluster(8, 5), { ...cluster(1, 5)[0]!, gpuIds: ['x'] }]),
      attempt(cluster(8, 5).map(({ kvCapacityTokens: _, ...one }) => ({ ...one, kvCapacityBytes: 10 }))),
      attempt(cluster(7, 5)),
    ]).toMatchObject([
      { code: 'invalid_event', path: 'engines' },
      { code: 'invalid_event', path: 'engines[8].gpuIds[0]' },
      { code: 'invalid_event', path: 'engines[8].engineId' },
      { code: 'invalid_event', path: 'engines[0].kvCapacityBytes' },
      { code: 'invalid_event', path: 'engines', expected: 'an engine on g7, which a communication group names' },
    ]);
    const unknown = start({ engines: [], communicationGroups: [['g0', 'g9']] });
    expect(refusal(() => place(unknown, cluster(8, 5)))).toMatchObject({ code: 'invalid_event', path: 'engines' });
    expect(place(unknown, cluster(10, 5))).toEqual([]);
  });
});

describe('late reports change nothing', () => {
  test('a report for a query that is closed', () => {
    const policy = start();
    open(policy, 'r');
    const queryId = untilQuery(policy);
    complete(policy, 'r');
    expect(report(policy, queryId, running(['a', 'unheard-of']))).toMatchObject([
      { type: 'scale-down.late', id: queryId, reason: { code: 'query_closed' } },
    ]);
  });

  test('of rounds, releases and requests', () => {
    const { policy, releaseId } = releasing();
    send(policy, { type: 'request.migrated', releaseId, requestId: 'a' });
    const codes = (event: Unstamped<GpuScaleDownEvent>) =>
      send(policy, event).map((one) => (one.type === 'scale-down.late' ? one.reason.code : one.type));
    expect(codes({ type: 'request.migrated', releaseId, requestId: 'a' })).toEqual(['migration_closed']);
    expect(codes({ type: 'migration.failed', releaseId, requestId: 'a' })).toEqual(['migration_closed']);
    expect(codes(returned(policy, releaseId))).toEqual(['release_closed']);
    send(policy, { type: 'gpus.release.failed', releaseId });
    expect(codes({ type: 'gpus.release.failed', releaseId })).toEqual(['release_closed']);
    send(policy, returned(policy, releaseId));
    expect(codes({ type: 'gpus.released', roundId: 'r', releaseId, gpuIds: [] })).toEqual(['released_late']);
    expect(codes({ type: 'request.migrated', releaseId, requestId: 'b' })).toEqual(['migration_closed']);
    complete(policy, 'r');
    expect(types(complete(policy, 'r'))).toEqual(['scale-down.late']);
  });
});

describe('bad input', () => {
  test.each<[string, Partial<GpuScaleDownInput>, string]>([
    [
      'an engine twice',
      { engines: [...cluster(2, 5), { ...cluster(1, 5)[0]!, gpuIds: ['x'] }] },
      'engines[2].engineId',
    ],
    ['a GPU twice', { engines: [...cluster(2, 5), { ...cluster(3, 5)[2]!, gpuIds: ['g1'] }] }, 'engines[2].gpuIds[0]'],
    ['a group with a GPU of no engine', { communicationGroups: [['g0', 'g99']] }, 'communicationGroups[0][1]'],
    [
      'two capacities',
      { engines: cluster(2, 5).map((one) => ({ ...one, kvCapacityBytes: 10 })), bytesPerToken: 2 },
      'engines[0].kvCapacityTokens',
    ],
    [
      'bytes without the size of a token',
      { engines: cluster(2, 5).map(({ kvCapacityTokens: _, ...one }) => ({ ...one, kvCapacityBytes: 10 })) },
      'bytesPerToken',
    ],
    ['milestones that end before they begin', { firstFraction: 0.6 }, 'lastFraction'],
    ['a certain quantile', { quantile: 1 }, 'quantile'],
    ['a fraction of nothing', { trigger: 0 }, 'trigger'],
  ])('a configuration with %s', (_name, more, path) => {
    expect(refusal(() => start(more))).toMatchObject({ code: 'invalid_config', path });
  });

  test('events that do not fit, and nothing changes', () => {
    const { policy, releaseId } = releasing();
    const before = JSON.stringify(policy.snapshot());
    const refused = (event: Unstamped<GpuScaleDownEvent>) => refusal(() => send(policy, event));
    expect([
      refused({ type: 'round.opened', roundId: 'r', kind: 'long', weightVersion: 0, prompts: [] }),
      refusal(() => complete(policy, 'unheard-of')),
      refusal(() => report(policy, 'query-77', [])),
      refusal(() => report(policy, 'nonsense', [])),
      refused({ type: 'request.migrated', releaseId, requestId: 'c' }),
      refused({ type: 'migration.failed', releaseId: 'release-99', requestId: 'a' }),
      refused({ type: 'gpus.released', roundId: 'r', releaseId, gpuIds: ['g0'] }),
      refused({ type: 'gpus.returned', roundId: 'r', releaseId: 'release-99', gpuIds: [] }),
      refused({ type: 'gpus.returned', roundId: 'r', gpuIds: [] }),
      refused({ type: 'gpus.release.failed', releaseId: 'release-99' }),
      refused({ type: 'gpus.release.failed', releaseId: 'nonsense' }),
      refused({ type: 'engine.lost', engineId: 'e99' }),
    ]).toMatchObject([
      { code: 'duplicate_id', path: 'roundId' },
      { code: 'unknown_id', path: 'roundId' },
      { code: 'unknown_id', path: 'queryId' },
      { code: 'unknown_id', path: 'queryId' },
      { code: 'unknown_id', path: 'requestId' },
      { code: 'unknown_id', path: 'releaseId' },
      { code: 'invalid_event', path: 'gpuIds' },
      { code: 'unknown_id', path: 'releaseId' },
      { code: 'unknown_id', path: 'releaseId' },
      { code: 'unknown_id', path: 'releaseId' },
      { code: 'unknown_id', path: 'releaseId' },
      { code: 'unknown_id', path: 'engineId' },
    ]);
    expect(JSON.stringify(policy.snapshot())).toBe(before);
  });

  test('a report with an engine that is not known, or with a request twice', () => {
    const policy = start();
    open(policy, 'r');
    const queryId = untilQuery(policy);
    expect(refusal(() => report(policy, queryId, running(['a', 'e0'], ['b', 'e9'])))).toMatchObject({
      code: 'unknown_id',
      path: 'requests[1].engineId',
    });
    // The first of several.
    const strays = running(['a', 'e8'], ['b', 'e0'], ['c', 'e9']);
    expect(refusal(() => report(policy, queryId, strays))).toMatchObject({ path: 'requests[0].engineId', got: '"e8"' });
    expect(refusal(() => report(policy, queryId, running(['a', 'e0'], ['a', 'e1'])))).toMatchObject({
      code: 'invalid_event',
      path: 'requests',
    });
    // A host that is trusted is taken at its word, and the first report about such a request is the one that counts.
    const trusted = create(gpuScaleDown, config(), { validate: false });
    open(trusted, 'r');
    const [release] = report(trusted, untilQuery(trusted), running(['a', 'e0'], ['a', 'e1'], ['b', 'e7', 900])) as [
      Release,
    ];
    expect(movesOf(release).map((one) => one.requestId)).toEqual(['a', 'a']);
    const { releaseId } = release;
    const arrived = { type: 'request.migrated', at: 0, releaseId, requestId: 'a' } as const;
    expect(trusted.send(arrived)).toEqual([]);
    expect(trusted.send(arrived)).toMatchObject([{ type: 'scale-down.late' }]);
  });
});
