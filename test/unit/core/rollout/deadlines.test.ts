import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AnyDecision } from '../../../../src/core/machine/definition.ts';
import { registry } from '../../../../src/registry.ts';

/** A policy, its decisions by type, and a host that may lose timers. */
function session(id: string, config: object, { timers = true } = {}) {
  let policy = registry.create(id as never, config as never) as unknown as {
    send(event: object): AnyDecision[];
    snapshot(): { aheadSeconds?: number };
  };
  let now = 0;
  const due = new Map<string, number>();
  const send = (type: string, fields: object = {}, at = now): AnyDecision[] => {
    policy = registry.restore(JSON.parse(JSON.stringify(policy.snapshot()))) as never;
    const decisions = policy.send({ type, at, ...fields });
    for (const one of decisions as (AnyDecision & { timerId: string; fireAtSeconds: number })[])
      if (one.type === 'timer.set') due.set(one.timerId, one.fireAtSeconds);
    return decisions;
  };
  const wait = (seconds: number): AnyDecision[] => {
    now += seconds;
    const fired = timers ? [...due].filter(([, at]) => at <= now) : [];
    return fired.flatMap(([timerId]) => {
      due.delete(timerId);
      return send('timer.fired', { timerId });
    });
  };
  return {
    send,
    wait,
    due,
    snapshot: () => policy.snapshot(),
    types: (all: AnyDecision[]) => all.map((one) => one.type),
  };
}

/** Id of the request that was launched for a prompt. */
const idOf = (decisions: readonly AnyDecision[], promptId: string): string =>
  (decisions as (AnyDecision & { promptId?: string; requestId: string })[]).find(
    (one) => one.type === 'request.launch' && one.promptId === promptId,
  )!.requestId;

const admission = { promptsPerRound: 1, responsesPerPrompt: 1, promptSpeculation: 2, responseSpeculation: 1 };

describe('a timer that is lost', () => {
  test('holds no round up: any later event ends aborts that nobody confirms', () => {
    const one = session('tail-batching', { ...admission, abortGraceSeconds: 30 }, { timers: false });
    one.send('round.requested', { roundId: 'r0', weightVersion: 0 });
    one.send('prompts.supplied', { roundId: 'r0', prompts: [{ promptId: 'a' }, { promptId: 'b' }] });
    const first = one.send('response.completed', { requestId: 'a/0#0', tokens: 9 });
    expect(one.types(first)).toContain('request.abort');
    one.wait(31);
    const late = one.send('response.completed', { requestId: 'a/0#0', tokens: 9 });
    expect(one.types(late)).toEqual(['response.late', 'request.expired', 'round.drained']);
    // The next unconfirmed abort has a timer of its own; between them is a long round.
    const long = one.send('round.requested', { roundId: 'r1', weightVersion: 1 });
    one.send('response.completed', { requestId: idOf(long, 'b'), tokens: 9 });
    one.send('round.requested', { roundId: 'r2', weightVersion: 2 });
    const launched = one.send('prompts.supplied', { roundId: 'r2', prompts: [{ promptId: 'c' }, { promptId: 'd' }] });
    const second = one.send('response.completed', { requestId: idOf(launched, 'c'), tokens: 9 });
    expect(second).toContainEqual(expect.objectContaining({ type: 'timer.set', fireAtSeconds: 61 }));
  });

  test('holds no response up that runs too long', () => {
    const one = session('speculative-admission', { ...admission, responseTimeoutSeconds: 60 }, { timers: false });
    const prompts = [{ promptId: 'a' }, { promptId: 'b' }];
    one.send('round.opened', { roundId: 'r', kind: 'long', weightVersion: 0, prompts });
    one.wait(100);
    const late = one.send('engine.added', { engineId: 'e' });
    expect(one.types(late)).toEqual(['request.abort', 'timer.set', 'request.launch', 'timer.set']);
  });

  test('holds no reward up', () => {
    const one = session('reward-dispatch', {}, { timers: false });
    one.send('reward-worker.added', { workerId: 'w', kind: 'rule', slots: 2 });
    one.send('reward.requested', { requestId: 'a/0#0', kind: 'rule', budgetSeconds: 5 });
    one.wait(1000);
    const late = one.send('reward.requested', { requestId: 'b/0#0', kind: 'rule', budgetSeconds: 5 });
    expect(one.types(late)).toEqual(['reward.cancel', 'reward.dispatch', 'timer.set']);
    const restarted = one.send('host.restarted', { idPrefix: 'again-' });
    expect(one.types(restarted)).toContain('timer.set');
  });

  test('of the watchdog is set again, once a second', () => {
    const one = session('watchdog', { startSeconds: 100, floorSeconds: 10 }, { timers: false });
    const abort = { requestId: 'x/0#0', promptId: 'x', reason: { code: 'round_failed' } };
    expect(one.types(one.send('request.abort', abort))).toEqual(['timer.set']);
    one.wait(11.5);
    const heard = () => one.types(one.send('response.completed', { requestId: 'y/0#0', tokens: 1 }));
    expect(heard()).toEqual(['timer.set']);
    expect(one.due.get('watchdog/check')).toBe(11.5);
    one.wait(0.5);
    expect(heard()).toEqual([]);
  });
});

describe('a clock of the host that begins anew', () => {
  afterEach(() => void vi.restoreAllMocks());

  test('is found at the restart and said, and timers are set on it', () => {
    const said = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const one = session('tail-batching', { ...admission, abortGraceSeconds: 30, responseTimeoutSeconds: 600 });
    one.send('round.requested', { roundId: 'r0', weightVersion: 0 }, 86_400);
    one.send('prompts.supplied', { roundId: 'r0', prompts: [{ promptId: 'a' }, { promptId: 'b' }] }, 86_400);
    one.due.clear();
    const again = one.send('host.restarted', { idPrefix: 'again-' }, 5);
    expect(said).toHaveBeenCalledWith(expect.stringContaining('86395 s before the latest'));
    expect(again).toContainEqual(
      expect.objectContaining({ type: 'timer.set', at: 86_400, fireAtSeconds: 605, aheadSeconds: 86_395 }),
    );
    expect(one.snapshot().aheadSeconds).toBe(86_395);
    one.wait(10);
    one.send('response.completed', { requestId: idOf(again, 'a'), tokens: 9 });
    // The round waits for an abort that nobody confirms: 30 seconds, and not a day.
    expect(one.types(one.wait(30))).toEqual(['request.expired', 'round.drained']);
    // Another restart with the clock of before.
    one.send('host.restarted', { idPrefix: 'anew-' }, 90_000);
    expect(one.snapshot().aheadSeconds).toBeUndefined();
  });

  test('that differs by less than an hour is one of another worker', () => {
    const one = session('tail-batching', admission);
    one.send('round.requested', { roundId: 'r0', weightVersion: 0 }, 7000);
    const again = one.send('host.restarted', { idPrefix: 'again-' }, 3500);
    expect(again.every(({ at }) => at === 7000)).toBe(true);
    expect(one.snapshot().aheadSeconds).toBeUndefined();
  });
});
