/** Times and reasons of what a policy waits for. */
import { describe, expect, test } from 'vitest';
import { OpenCommands } from '../../../../src/core/why/open-commands.ts';
import { WaitingTimes } from '../../../../src/core/why/waiting-times.ts';
import { allOwed, inOneGo } from '../../../../src/core/why/why.ts';
import { create, rewardDispatch, tailBatching, watch } from '../../../../src/index.ts';

const settings = {
  promptsPerRound: 2,
  responsesPerPrompt: 2,
  promptSpeculation: 1,
  responseSpeculation: 1,
  filter: 'zero-variance',
} as const;

function started() {
  const tail = create(tailBatching, settings);
  const times = watch(tail);
  tail.send({ type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 0 });
  tail.send({ type: 'prompts.supplied', at: 1, roundId: 'r1', prompts: [{ promptId: 'p1' }, { promptId: 'p2' }] });
  return { tail, times };
}

describe('why, with times', () => {
  test('says who asked, for which reason, since when, and how long it usually takes', () => {
    const { tail, times } = started();
    tail.send({ type: 'response.completed', at: 11, requestId: 'p1/0#0', tokens: 5 });
    tail.send({ type: 'reward.ready', at: 13, requestId: 'p1/0#0', reward: 1 });
    tail.send({ type: 'response.completed', at: 21, requestId: 'p1/1#0', tokens: 5 });
    const { owed, stands } = tail.why('p1', 'prompts', times);
    expect(stands).toBe('has its responses, and is not judged yet');
    expect(owed).toHaveLength(1);
    expect(owed[0]).toMatchObject({
      who: 'host',
      event: { type: 'reward.ready', requestId: 'p1/1#0' },
      since: 21,
      asked: { type: 'response.accepted', reason: { code: 'held', held: 2, needed: 2 } },
      usual: { answers: 1 },
    });
    expect(owed[0]!.usual!.medianSeconds).toBeGreaterThanOrEqual(2);
    expect(owed[0]!.usual!.medianSeconds).toBeLessThan(2.4);
  });

  test('puts what is late before what is old', () => {
    const { tail, times } = started();
    tail.send({ type: 'response.completed', at: 1000, requestId: 'p1/0#0', tokens: 5 });
    tail.send({ type: 'reward.ready', at: 1002, requestId: 'p1/0#0', reward: 1 });
    tail.send({ type: 'response.completed', at: 1003, requestId: 'p1/1#0', tokens: 5 });
    tail.send({ type: 'response.completed', at: 1400, requestId: 'p2/1#0', tokens: 5 });
    tail.send({ type: 'reward.ready', at: 1401, requestId: 'p2/1#0', reward: 1 });
    const first = (withTimes?: typeof times) => tail.why('r1', 'rounds', withTimes).owed[0]!.event;
    expect(first()).toEqual({ type: 'response.completed', requestId: 'p2/0#0' });
    expect(first(times)).toEqual({ type: 'reward.ready', requestId: 'p1/1#0' });
  });

  test('lists all that is owed, and nothing twice', () => {
    const { tail, times } = started();
    const { owed, more } = tail.why(undefined, undefined, times);
    expect(owed.map(({ event }) => event)).toEqual(
      ['p1/0#0', 'p1/1#0', 'p2/0#0', 'p2/1#0'].map((requestId) => ({ type: 'response.completed', requestId })),
    );
    expect(more).toBe(0);
  });

  test('does not change the policy, and ends with stop', () => {
    const { tail, times } = started();
    const before = JSON.stringify(tail.snapshot());
    tail.why('p1', 'prompts', times);
    expect(JSON.stringify(tail.snapshot())).toBe(before);
    times.stop();
    tail.send({ type: 'response.completed', at: 11, requestId: 'p1/0#0', tokens: 5 });
    expect(times.usual('response.completed')).toBeUndefined();
  });

  test('refuses what is not held, with the nearest id', () => {
    const { tail } = started();
    expect(() => tail.why('p1/00#0')).toThrow('(did you mean "p1/0#0"?)');
    expect(() => tail.why('p1', 'rounds')).toThrow(expect.objectContaining({ code: 'unknown_id' }));
  });
});

describe('open commands', () => {
  const dispatched = (dispatchId: string, workerId: string, at: number) =>
    ({
      type: 'reward.dispatch',
      at,
      dispatchId,
      workerId,
      requestId: dispatchId,
      reason: { code: 'requested' },
    }) as never;

  test('what a lost worker was told is not open any more', () => {
    const commands = new OpenCommands(rewardDispatch, 10);
    commands.told(dispatched('d1', 'w1', 1));
    commands.told(dispatched('d2', 'w2', 2));
    commands.heard({ type: 'reward-worker.lost', at: 3, workerId: 'w1' } as never, 3);
    expect([...commands.open].map(({ ids }) => ids)).toEqual([{ dispatchId: 'd2' }]);
    commands.heard({ type: 'host.restarted', at: 4 }, 4);
    expect([...commands.open]).toEqual([]);
  });

  test('an abort replaces the request, and its answer is no completion that is late', () => {
    const commands = new OpenCommands(tailBatching, 10);
    const command = (type: string, at: number) => ({ type, at, requestId: 'p/0#0', reason: { code: 'any' } }) as never;
    commands.told(command('request.launch', 1));
    commands.told(command('request.abort', 5));
    expect([...commands.open].map(({ type }) => type)).toEqual(['request.abort']);
    commands.heard({ type: 'response.completed', at: 6, requestId: 'p/0#0' } as never, 6);
    expect([...commands.open]).toEqual([]);
    expect(commands.usual('response.completed')).toBeUndefined();
    expect(commands.usual('request.aborted')).toMatchObject({ answers: 1 });
  });

  test('memory is bounded: the oldest are forgotten', () => {
    const commands = new OpenCommands(rewardDispatch, 3);
    for (let index = 0; index < 10; index += 1) commands.told(dispatched(`d${index}`, 'w', index));
    expect([...commands.open].map(({ ids }) => ids.dispatchId)).toEqual(['d7', 'd8', 'd9']);
  });

  test('prompts that were asked for and have not come are awaited beside those that are asked for after them', () => {
    const commands = new OpenCommands(tailBatching);
    const ask = (at: number, count: number, code: string) => {
      const reason = { code, target: 4, admitted: 0 };
      commands.told({ type: 'prompts.request', at, roundId: 'r', count, reason } as never);
    };
    const supply = (at: number, ...ids: string[]) => {
      const prompts = ids.map((promptId) => ({ promptId }));
      commands.heard({ type: 'prompts.supplied', at, roundId: 'r', prompts } as never, at);
    };
    ask(1, 4, 'round_opened');
    ask(5, 1, 'filtered');
    supply(7, 'a');
    expect(commands.open).toMatchObject([{ since: 7, missing: 4 }]);
    supply(8, 'b', 'c', 'd', 'e');
    expect(commands.open).toEqual([]);
  });

  test('what is asked for again is as old as that', () => {
    const commands = new OpenCommands(rewardDispatch);
    commands.told(dispatched('d1', 'w1', 50));
    const waits = { what: 'things', id: 'x' };
    const event = { type: 'reward.finished', dispatchId: 'd1' };
    const of = () => ({ stands: 'waits', for: [{ event, since: 1 }] });
    const holdings = { at: 60, kinds: ['things'], ids: () => [waits.id], of, times: commands };
    expect(inOneGo(allOwed(holdings)).owed).toMatchObject([{ since: 50 }]);
  });

  test('the saved state makes the same', () => {
    const commands = new OpenCommands(rewardDispatch, 10);
    commands.told(dispatched('d1', 'w1', 1));
    commands.told(dispatched('d2', 'w2', 2));
    commands.heard({ type: 'reward.finished', at: 9, dispatchId: 'd1' } as never, 9);
    const again = new OpenCommands(rewardDispatch, 10, JSON.parse(JSON.stringify(commands.save())));
    expect(again.save()).toEqual(commands.save());
    expect(again.usual('reward.finished')).toEqual(commands.usual('reward.finished'));
    expect(again.answeredBy({ type: 'reward.finished', dispatchId: 'd2' } as never)?.since).toBe(2);
  });
});

describe('times', () => {
  test('quantiles are at most 19 percent too long, and never too short', () => {
    const times = new WaitingTimes();
    const all = Array.from({ length: 1000 }, (_, index) => 0.01 * 1.01 ** index).sort((a, b) => a - b);
    for (const one of all) times.add(one);
    for (const part of [0.01, 0.5, 0.9, 0.99]) {
      const exact = all[Math.ceil(part * all.length) - 1]!;
      expect(times.quantile(part)).toBeGreaterThanOrEqual(exact);
      expect(times.quantile(part)).toBeLessThanOrEqual(exact * 2 ** 0.25 * (1 + 1e-9));
    }
  });

  test('what lasts longer now becomes usual', () => {
    const times = new WaitingTimes();
    for (let index = 0; index < 10_000; index += 1) times.add(1);
    for (let index = 0; index < 5_000; index += 1) times.add(60);
    expect(times.quantile(0.5)).toBeGreaterThanOrEqual(60);
    expect(times.weight).toBeLessThanOrEqual(4096);
  });
});
