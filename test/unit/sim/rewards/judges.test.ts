/** Judges by hand: on GPUs of their own, and beside an actor that is slowed and loses memory. */
import { describe, expect, test } from 'vitest';
import { judgeOffload, runPlanner } from '../../../../src/index.ts';
import type { JudgeOffloadInput } from '../../../../src/planners/judge-offload/index.ts';
import type { VocabularyDecision } from '../../../../src/schemas/index.ts';
import { type JudgeSettings, judgeSettings } from '../../../../src/sim/rewards/judge-settings.ts';
import { Judges, type SharedGpus } from '../../../../src/sim/rewards/judges.ts';

const model: JudgeOffloadInput = {
  layers: 4,
  layerBytes: 10,
  fixedBytes: 5,
  sequenceTokens: 1000,
  activationBytes: { base: 0, perToken: 0.01 },
  layerSeconds: { base: 0.5, perToken: 0.01 },
  memoryBytes: 45,
  pcieBytesPerSecond: 5,
  actorSmShare: 0.75,
  judgeSmShare: 0.5,
};
const settings = (extra: Partial<JudgeSettings> = {}): JudgeSettings => judgeSettings.parse({ model, ...extra });
const decided = (decision: object) => decision as VocabularyDecision;
const ask = (id: string, workerId = 'j0', tokens = 50) =>
  decided({ type: 'reward.dispatch', dispatchId: id, requestId: `${tokens}`, workerId, kind: 'judge' });
const judged = (requestId: string) => ({ tokens: Number(requestId), reward: 1 as const });

/** An actor that writes down what it is told. */
class Actor implements SharedGpus {
  busy = true;
  readonly told: string[] = [];

  isBusy(): boolean {
    return this.busy;
  }

  slow(gpu: number, factor: number, at: number): void {
    this.told.push(`${at.toFixed(2)} gpu ${gpu} × ${factor.toFixed(2)}`);
  }

  reserve(bytes: number, at: number): void {
    this.told.push(`${at.toFixed(2)} reserve ${bytes.toFixed(1)}`);
  }
}

/** Runs until nothing is computed, and gives what finished. */
function drain(judges: Judges): string[] {
  const ended: string[] = [];
  for (let at = judges.nextAt(); at < Number.POSITIVE_INFINITY; at = judges.nextAt()) {
    for (const event of judges.advanceTo(at)) {
      if (event.type !== 'reward.finished') continue;
      const { dispatchId, outcome, seconds } = event as unknown as Record<string, never>;
      ended.push(`${dispatchId} ${outcome} ${event.at.toFixed(2)} after ${Number(seconds).toFixed(2)}`);
    }
  }
  return ended;
}

describe('a judge on GPUs of its own', () => {
  test('has slots, and judges one response after the other by its length', () => {
    const judges = new Judges(['j0', 'j1'], settings({ slots: 3 }), judged);
    expect(judges.joining()).toMatchObject([
      { workerId: 'j0', kind: 'judge', slots: 3 },
      { workerId: 'j1', kind: 'judge', slots: 3 },
    ]);
    judges.carryOut(ask('a'), 0);
    judges.carryOut(ask('b', 'j0', 100), 1);
    judges.carryOut(ask('c', 'j1', 0), 1);
    // 4 layers of 0.5 s and 0.01 s a token.
    expect(drain(judges)).toEqual([
      'c scored 3.00 after 2.00',
      'a scored 4.00 after 4.00',
      'b scored 10.00 after 6.00',
    ]);
  });

  test('cancels what waits and what runs, and goes on with the next', () => {
    const judges = new Judges(['j0'], settings(), judged);
    for (const id of ['a', 'b', 'c']) judges.carryOut(ask(id), 0);
    judges.carryOut(decided({ type: 'reward.cancel', dispatchId: 'b' }), 1);
    judges.carryOut(decided({ type: 'reward.cancel', dispatchId: 'a' }), 3);
    judges.carryOut(decided({ type: 'reward.cancel', dispatchId: 'never' }), 3);
    expect(drain(judges)).toEqual([
      'b cancelled 1.00 after 0.00',
      'a cancelled 3.00 after 3.00',
      'c scored 7.00 after 4.00',
    ]);
  });

  test('other kinds of rewards are not its business', () => {
    const judges = new Judges(['j0'], settings(), judged);
    judges.carryOut(decided({ ...ask('a'), kind: 'rule' }), 0);
    expect(judges.nextAt()).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a judge beside the actor', () => {
  const place = (sequenceTokens: number) =>
    decided({ type: 'judge.place', sequenceTokens, ...runPlanner(judgeOffload, { ...model, sequenceTokens }) });

  test('takes memory as it is laid out, and SMs while it computes', () => {
    const actor = new Actor();
    const judges = new Judges(['j0'], settings({ placement: 'colocated' }), judged, actor);
    judges.carryOut(place(1000), 0);
    judges.carryOut(ask('a'), 2);
    judges.carryOut(ask('b'), 2);
    // 30 of 45 bytes are for layers. A quarter of the SMs, where it could fill one half: 2 s a layer, transfers hidden.
    const { pipelinedSeconds, mpsShare } = runPlanner(judgeOffload, {
      ...model,
      sequenceTokens: 1000,
      layerSeconds: { base: 1 },
    });
    expect([pipelinedSeconds, mpsShare]).toEqual([8, 0.25]);
    expect(drain(judges)).toEqual(['a scored 10.00 after 8.00', 'b scored 18.00 after 8.00']);
    expect(actor.told).toEqual(['0.00 reserve 45.0', '2.00 gpu 0 × 1.33', '10.00 gpu 0 × 1.33', '18.00 gpu 0 × 1.00']);
  });

  test('without pipelining each streamed layer is fetched before it runs', () => {
    const judges = new Judges(['j0'], settings({ placement: 'colocated', pipelined: false }), judged, new Actor());
    judges.carryOut(place(1000), 0);
    judges.carryOut(ask('a'), 0);
    const { streamedLayers } = runPlanner(judgeOffload, { ...model, sequenceTokens: 1000 });
    expect(streamedLayers.length).toBeGreaterThan(0);
    expect(drain(judges)).toEqual([
      `a scored ${(8 + 2 * streamedLayers.length).toFixed(2)} after ${8 + 2 * streamedLayers.length}.00`,
    ]);
  });

  test('without a layout it waits for the end of the rollout, and is loaded once in each', () => {
    const actor = new Actor();
    const judges = new Judges(['j0'], settings({ placement: 'colocated' }), judged, actor);
    judges.carryOut(decided({ type: 'round.planned' }), 0);
    judges.carryOut(ask('a'), 1);
    judges.carryOut(ask('b'), 1);
    expect(judges.nextAt()).toBe(Number.POSITIVE_INFINITY);
    judges.carryOut(decided({ type: 'round.drained' }), 20);
    // 45 bytes at 5 a second.
    expect(drain(judges)).toEqual(['a scored 33.00 after 4.00', 'b scored 37.00 after 4.00']);
    judges.carryOut(ask('c'), 40);
    expect(drain(judges)).toEqual(['c scored 44.00 after 4.00']);
    judges.carryOut(decided({ type: 'round.planned' }), 50);
    judges.carryOut(decided({ type: 'round.drained' }), 60);
    judges.carryOut(ask('d'), 70);
    expect(drain(judges)).toEqual(['d scored 83.00 after 4.00']);
    expect(actor.told.every((line) => line.endsWith('× 1.00'))).toBe(true);
  });

  test('resident without MPS, it takes turns with a busy actor', () => {
    const actor = new Actor();
    const judges = new Judges(['j0'], settings({ placement: 'colocated', withoutOffload: 'resident' }), judged, actor);
    judges.carryOut(decided({ type: 'round.planned' }), 0);
    judges.carryOut(ask('a'), 0);
    expect(drain(judges)).toEqual(['a scored 8.00 after 8.00']);
    actor.busy = false;
    judges.carryOut(ask('b'), 10);
    expect(drain(judges)).toEqual(['b scored 14.00 after 4.00']);
    expect(actor.told.slice(0, 3)).toEqual(['0.00 reserve 55.0', '0.00 gpu 0 × 2.00', '8.00 gpu 0 × 1.00']);
  });
});
