/** The invariants of reward-dispatch, by their numbers in its README, under random events and restored snapshots. */

import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { arbitrary } from '../../src/policies/reward-dispatch/arbitrary.ts';
import { deadlines } from '../../src/policies/reward-dispatch/faults.ts';
import { rewardDispatch } from '../../src/policies/reward-dispatch/index.ts';
import { tapes } from '../../src/testing/index.ts';
import { playEvents } from '../support/basics/play-events.ts';
import { runs, scale } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { RewardHost } from '../support/hosts/reward.ts';

const seen = new Map<string, number>();

interface Saved {
  samples: { requestId: string }[];
  dispatches: unknown[];
}

function run(config: Record<string, unknown>, tape: readonly number[]): void {
  const host = new RewardHost(rewardDispatch.config.parse(config));
  let at = 0;
  const send = playEvents(rewardDispatch, arbitrary, { config, tape, steps: 120 }, (event, decisions, policy) => {
    for (const { type, reason } of decisions) {
      seen.set(`${type} ${reason.code}`, (seen.get(`${type} ${reason.code}`) ?? 0) + 1);
    }
    at = policy.at;
    host.step(event, decisions, at);
    const saved = policy.snapshot().state as Saved;
    // Invariant 1.
    expect(saved.samples.map((one) => one.requestId)).toEqual(host.samples.map((one) => one.requestId));
    expect(saved.dispatches.length).toBe(host.running.length);
  });
  // With workers that answer, every response comes to its end.
  for (const kind of ['rule', 'sandbox', 'judge'] as const) {
    send({ type: 'reward-worker.added', at, workerId: `last-${kind}`, kind, slots: 2 });
  }
  for (let step = 0; host.samples.length > 0 || host.running.length > 0; step += 1) {
    if (host.running.length === 0) {
      at = host.timerAt!;
      send({ type: 'timer.fired', at, timerId: deadlines.timerId });
      continue;
    }
    const { id, cancelled } = host.running[step % host.running.length]!;
    const how = cancelled ? ({ outcome: 'cancelled' } as const) : ({ outcome: 'scored', reward: 1 } as const);
    send({ type: 'reward.finished', at, dispatchId: id, seconds: 1, ...how });
  }
  expect(host.samples).toEqual([]);
}

describe('reward-dispatch', () => {
  test.each(exampleConfigs['reward-dispatch']!.map((config) => [JSON.stringify(config), config] as const))(
    'invariants 1 to 8 hold with %s',
    (_name, config) => {
      fc.assert(
        fc.property(tapes(), (tape) => run(config, tape)),
        runs(70),
      );
    },
  );

  afterAll(() => {
    // Random events that reach only a part of what can be decided prove little; few runs reach less.
    if (scale < 1) return;
    const unseen = rewardDispatch.decisions.flatMap((message) =>
      message.reasons.map((code) => `${message.type} ${code}`).filter((one) => !seen.has(one)),
    );
    const ofOthers = /^timer.set (?!reward_|retry_pause)|^tries.recovered told/;
    // Without `giveUpSeconds` nothing is given up for want of others.
    expect(unseen.filter((one) => !ofOthers.test(one))).toEqual(['reward.failed not_compared']);
  });
});
