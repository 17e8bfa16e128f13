/** The engines of the job: who gets a request, what ends when, and the books of the GPUs that they stand on. */
import { describe, expect, it } from 'vitest';
import { EnginePool } from '../../../../../src/sim/cluster/engines/engine-pool.ts';
import type { Job } from '../../../../../src/sim/colocated/job.ts';
import { refusal } from '../../../../support/basics/refusal.ts';
import { plainJob } from '../../../../support/simulator/host.ts';

const cost = (extra: Partial<Job['cost']> = {}) => plainJob({ promptsPerRound: 1, responsesPerPrompt: 1 }, extra).cost;
const ask = (requestId: string, responseTokens: number) => ({ requestId, promptTokens: 10, responseTokens });

/** Runs the pool to its end and gives what ended, in order. */
function drain(pool: EnginePool): string[] {
  const ended = pool.advanceTo(0);
  for (let at = pool.nextEventAt(); at < Number.POSITIVE_INFINITY; at = pool.nextEventAt()) {
    ended.push(...pool.advanceTo(at));
  }
  return ended.map(({ requestId, kind, at }) => `${requestId} ${kind} ${at.toFixed(2)}`);
}

describe('the pool', () => {
  it('numbers its engines so that ids sort like numbers', () => {
    expect(new EnginePool(2, cost(), false).engineIds).toEqual(['engine-0', 'engine-1']);
    expect(new EnginePool(11, cost(), false).engineIds[3]).toBe('engine-03');
  });

  it('gives a request to the engine named, or to the emptiest, the first of equals', () => {
    const pool = new EnginePool(3, cost(), false);
    pool.launch(ask('a', 10), 'engine-0', 0);
    for (const id of ['b', 'c', 'd', 'e']) pool.launch(ask(id, 10), undefined, 0);
    expect(pool.size).toBe(5);
    drain(pool);
    expect(pool.size).toBe(0);
    pool.collect();
    expect(pool.rows.map((row) => row.busySeconds)).toEqual([0.1, 0.1, 0.1].map((one) => expect.closeTo(one, 9)));
    expect(refusal(() => pool.launch(ask('f', 1), 'engine-9', 1))).toMatchObject({
      code: 'unknown_id',
      path: 'engineId',
    });
  });

  it('gives what ends at one moment by the number of the engine, and ignores an abort of what is over', () => {
    const pool = new EnginePool(3, cost(), false);
    pool.launch(ask('two', 5), 'engine-2', 0);
    pool.launch(ask('zero', 5), 'engine-0', 0);
    pool.launch(ask('one', 3), 'engine-1', 0);
    pool.launch(ask('gone', 90), 'engine-1', 0);
    pool.abort('gone', 0.015);
    expect(drain(pool)).toEqual([
      'gone aborted 0.02',
      'one completed 0.03',
      'zero completed 0.05',
      'two completed 0.05',
    ]);
    pool.abort('gone', 0.06);
    expect([pool.advanceTo(0.06), pool.nextEventAt()]).toEqual([[], Number.POSITIVE_INFINITY]);
  });

  it('releases an engine with what it had, and uses it again once it is reclaimed', () => {
    const pool = new EnginePool(2, cost(), false);
    pool.launch(ask('short', 2), 'engine-0', 0);
    pool.launch(ask('long', 50), 'engine-0', 0);
    pool.launch(ask('other', 4), 'engine-1', 0);
    expect(pool.release('engine-0', 0.104)).toEqual([{ requestId: 'long', tokens: 10 }]);
    for (const id of ['x', 'y']) pool.launch(ask(id, 1), undefined, 0.104);
    // What was complete when it was released is still told.
    expect(drain(pool)).toEqual([
      'short completed 0.02',
      'other completed 0.04',
      'x completed 0.11',
      'y completed 0.11',
    ]);
    pool.reclaim();
    pool.launch(ask('z', 1), undefined, 1);
    expect(drain(pool)).toEqual(['z completed 1.01']);
    pool.collect();
    expect(pool.rows[0]!.busySeconds).toBeCloseTo(0.114, 9);
  });
});

describe('rows of GPUs', () => {
  it('keep their books when engines of another size take their place', () => {
    const pool = new EnginePool(4, cost(), true);
    pool.launch(ask('a', 10), 'engine-3', 0);
    drain(pool);
    const places = [
      { engineId: 'wide', rows: [0, 1] },
      { engineId: 'other', rows: [2, 3] },
    ];
    pool.configure(places, cost({ memoryBoundSeconds: 0.005 }));
    expect(pool.engineIds).toEqual(['wide', 'other']);
    pool.launch(ask('b', 20), 'other', 1);
    expect(drain(pool)).toEqual(['b completed 1.10']);
    pool.collect();
    pool.collect();
    expect(pool.rows.map((row) => Number(row.busySeconds.toFixed(9)))).toEqual([0, 0, 0.1, 0.2]);
    expect(
      pool.rows.map((row) => row.segments.map((one) => [one.startSeconds, Number(one.endSeconds.toFixed(9))])),
    ).toEqual([
      [],
      [],
      [[1, 1.1]],
      [
        [0, 0.1],
        [1, 1.1],
      ],
    ]);
  });

  it('count the preemptions of an engine once, in its first row', () => {
    const pool = new EnginePool(2, cost({ kvCapacityTokens: 48 }), false);
    pool.configure([{ engineId: 'wide', rows: [1, 0] }], cost({ kvCapacityTokens: 48 }));
    for (const id of ['a', 'b']) pool.launch(ask(id, 30), 'wide', 0);
    drain(pool);
    pool.collect();
    expect(pool.rows.map((row) => row.preemptions)).toEqual([0, 1]);
  });
});
