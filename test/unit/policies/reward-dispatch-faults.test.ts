/** Faults that reward workers share, and faults of a response: who is given up, who is tried when, and who is named. */
import { describe, expect, test } from 'vitest';
import { RewardCluster, type RewardDay } from '../../support/hosts/reward-cluster.ts';
import { told } from '../../support/sessions/why.ts';

const four = { w0: 8, w1: 8, w2: 8, w3: 8 };
const ids = (count: number, name = 'q') => Array.from({ length: count }, (_, index) => `${name}${index}`);
const unique = (all: readonly { requestId: string }[]) => [...new Set(all.map((one) => one.requestId))].sort();

function day(more: Partial<RewardDay>): RewardCluster {
  return new RewardCluster({ workers: four, fails: () => false, ...more });
}

describe.each([false, true])('reward-dispatch, restored before every seventh event: %s', (restores) => {
  test.each([
    ['a minute', 60, four],
    ['an hour', 3600, four],
    ['an hour, with one slot for each worker', 3600, { w0: 1, w1: 1, w2: 1, w3: 1 }],
    ['an hour, with one worker', 3600, { w0: 32 }],
  ])(
    'all workers fail for %s: every reward is computed, and few dispatches are made meanwhile',
    (_, seconds, workers) => {
      const cluster = day({ restores, workers, fails: (_one, at) => at >= 1 && at < 1 + seconds });
      cluster.want(...ids(48));
      cluster.until(1.5);
      cluster.want(...ids(16, 'late'));
      cluster.until(1 + seconds);
      const meanwhile = cluster.of('reward.dispatch').filter(({ at }) => at >= 1).length;
      const domains = 1 + Object.keys(workers).length;
      expect(meanwhile).toBeLessThanOrEqual(2 * 32 + domains * (8 + seconds / 60));
      cluster.until(seconds + 120);
      expect(cluster.of('reward.failed')).toEqual([]);
      expect(unique(cluster.of('reward.scored'))).toEqual([...ids(48), ...ids(16, 'late')].sort());
      expect(cluster.of('reward.scored')).toHaveLength(64);
      const suspended = cluster.of('tries.suspended').map(({ scope, id }) => `${scope} ${id}`);
      expect(suspended).toContain(Object.keys(workers).length === 1 ? 'reward rule' : suspended[0]);
      expect(cluster.of('tries.recovered')).toHaveLength(suspended.length);
      // The last of all is computed at most a minute, a pause, and some computations after the outage.
      expect(cluster.of('reward.scored').at(-1)!.at).toBeLessThan(1 + seconds + 60 + 20);
    },
  );

  test('nine of ten dispatches fail for ten minutes: nothing is given up', () => {
    let tries = 0;
    const cluster = day({ restores, fails: (_one, at) => at < 600 && ++tries % 10 !== 0 });
    cluster.want(...ids(64));
    cluster.until(900);
    expect(cluster.of('reward.failed')).toEqual([]);
    expect(cluster.of('reward.scored')).toHaveLength(64);
  });

  test.each([1, 7])(
    '%i poisoned responses of 64: exactly these are given up, each for failures that are proven',
    (poisoned) => {
      const bad = new Set(
        ids(64)
          .filter((_, index) => index % 9 === 4)
          .slice(0, poisoned),
      );
      const cluster = day({
        restores,
        workers: { w0: 2, w1: 2, w2: 2, w3: 2 },
        fails: ({ requestId }) => bad.has(requestId),
      });
      cluster.want(...ids(64));
      // The next rounds.
      for (let round = 1; round <= 6; round += 1) {
        cluster.until(20 * round);
        cluster.want(...ids(64, `r${round}-`));
      }
      cluster.until(300);
      expect(unique(cluster.of('reward.failed'))).toEqual([...bad].sort());
      for (const { reason } of cluster.of('reward.failed')) {
        expect(reason).toEqual({ code: 'infrastructure', failures: 4, budget: 3 });
      }
      expect(cluster.of('reward.scored')).toHaveLength(7 * 64 - poisoned);
      for (const { reason } of cluster.of('reward.dispatch')) {
        if (reason.code === 'retry_infrastructure') expect(reason.attempt).toBeLessThanOrEqual(reason.budget);
      }
    },
  );

  test('a poisoned response around an outage is given up, and no other', () => {
    const cluster = day({ restores, fails: ({ requestId }, at) => requestId === 'q5' || (at >= 2 && at < 62) });
    cluster.want(...ids(64));
    cluster.until(150);
    cluster.want(...ids(64, 'next'));
    cluster.until(400);
    cluster.want(...ids(64, 'last'));
    cluster.until(600);
    expect(unique(cluster.of('reward.failed'))).toEqual(['q5']);
    expect(cluster.of('reward.scored')).toHaveLength(191);
  });

  test('one dead worker of four: it gets single tries only, and others take the work', () => {
    const cluster = day({ restores, fails: ({ workerId }) => workerId === 'w1' });
    for (let at = 0; at < 120; at += 1) {
      cluster.want(...ids(12, `t${at}-`));
      cluster.until(at + 1);
    }
    cluster.until(130);
    expect(cluster.of('reward.failed')).toEqual([]);
    expect(cluster.of('reward.scored')).toHaveLength(120 * 12);
    expect(cluster.of('tries.suspended').map(({ id }) => id)).toEqual(['w1']);
    const there = cluster.of('reward.dispatch').filter(({ workerId }) => workerId === 'w1');
    expect(there.length).toBeLessThan(8 + 16 + 10);
    expect(there.at(-1)!.reason).toMatchObject({ code: 'probe', scope: 'reward', id: 'w1' });
  });

  test('a restart amid an outage: nothing is dispatched at once, and nothing is given up', () => {
    const cluster = day({ restores, fails: (_one, at) => at < 300 });
    cluster.want(...ids(64));
    cluster.until(50);
    const before = cluster.of('reward.dispatch').length;
    cluster.restart();
    expect(cluster.of('reward.dispatch').length).toBe(before);
    cluster.until(52);
    expect(cluster.of('reward.dispatch').length - before).toBeLessThanOrEqual(5);
    cluster.until(500);
    expect(cluster.of('reward.scored')).toHaveLength(64);
  });
});

test('between two single tries, `why` of each response that waits names the timer of the next', () => {
  const cluster = day({ fails: () => true });
  cluster.want(...ids(48));
  cluster.until(30.5);
  const { fireAtSeconds } = cluster.of('timer.set').at(-1)!;
  expect(fireAtSeconds).toBeGreaterThan(30.5);
  for (const id of ids(48)) {
    const lines = told(cluster.policy.why(id)).join('\n');
    expect(lines).toContain('has single tries only');
    expect(lines).toContain('timer.fired');
  }
});

test('responses that are set aside leave room for others, which are compared with them, up to as many again', () => {
  const bad = ids(5, 'bad');
  const config = { maxQueued: 3, retry: { infrastructure: 0 } };
  const cluster = day({ config, workers: { w0: 8 }, fails: ({ requestId }) => bad.includes(requestId) });
  for (const [index, one] of bad.entries()) {
    cluster.want(one);
    cluster.until(index + 0.5);
  }
  for (let minute = 1; minute <= 15; minute += 1) {
    cluster.want(`good${minute}`);
    cluster.until(60 * minute);
  }
  expect(unique(cluster.of('reward.failed'))).toEqual(bad);
});

describe('a response that is alone', () => {
  const alone = (giveUpSeconds?: number) => {
    const retry = giveUpSeconds === undefined ? {} : { retry: { giveUpSeconds } };
    const cluster = day({ config: retry, fails: () => true });
    cluster.want('q');
    return cluster;
  };

  test('is never given up, for nothing can be compared with it, and `why` names the timer', () => {
    const cluster = alone().until(86_400);
    expect(cluster.of('reward.failed')).toEqual([]);
    expect(cluster.of('reward.dispatch').length).toBeLessThan(10 + 86_400 / 60);
    expect(JSON.stringify(cluster.policy.snapshot()).length).toBeLessThan(5000);
    const [first] = told(cluster.policy.why('q'));
    expect(first).toMatch(/has failed \d+ times, last on reward worker w\d; 4 failures wait to be compared/);
    expect(told(cluster.policy.why('q')).join('\n')).toContain('timer.fired');
  });

  test('is given up after `giveUpSeconds`', () => {
    const cluster = alone(100).until(1000);
    const [failed] = cluster.of('reward.failed');
    expect(failed).toMatchObject({ requestId: 'q', reason: { code: 'not_compared', limitSeconds: 100, seconds: 100 } });
    expect(cluster.of('timer.set').at(-1)!.at).toBeLessThan(120);
  });
});
