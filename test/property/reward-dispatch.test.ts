/** The invariants of reward-dispatch, by their numbers in its README, under random events and restored snapshots. */

import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { create, type PolicyOf } from '../../src/core/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { arbitrary } from '../../src/policies/reward-dispatch/arbitrary.ts';
import { type RewardDispatchEvent, rewardDispatch } from '../../src/policies/reward-dispatch/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs, scale } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { RewardHost } from '../support/hosts/reward.ts';

const seen = new Map<string, number>();

interface Saved {
  samples: { requestId: string }[];
  dispatches: unknown[];
}

class Run {
  readonly host: RewardHost;
  policy: PolicyOf<typeof rewardDispatch>;

  constructor(config: Record<string, unknown>) {
    this.host = new RewardHost(rewardDispatch.config.parse(config));
    this.policy = create(rewardDispatch, config);
  }

  send(event: RewardDispatchEvent): void {
    const decisions = this.policy.send(event);
    for (const { type, reason } of decisions) {
      seen.set(`${type} ${reason.code}`, (seen.get(`${type} ${reason.code}`) ?? 0) + 1);
    }
    this.host.step(event, decisions, this.policy.at);
    const saved = this.policy.snapshot().state as Saved;
    // Invariant 1.
    expect(saved.samples.map((one) => one.requestId)).toEqual(this.host.samples.map((one) => one.requestId));
    expect(saved.dispatches.length).toBe(this.host.running.length);
  }

  restore(): void {
    this.policy = create(rewardDispatch, { snapshot: JSON.parse(JSON.stringify(this.policy.snapshot())) });
  }

  /** With workers that answer, every response comes to its end. */
  finish(): void {
    const { at } = this.policy;
    for (const kind of ['rule', 'sandbox', 'judge'] as const) {
      this.send({ type: 'reward-worker.added', at, workerId: `last-${kind}`, kind, slots: 2 });
    }
    for (let step = 0; this.host.running.length > 0; step += 1) {
      const { id, cancelled } = this.host.running[step % this.host.running.length]!;
      const how = cancelled ? ({ outcome: 'cancelled' } as const) : ({ outcome: 'scored', reward: 1 } as const);
      this.send({ type: 'reward.finished', at, dispatchId: id, seconds: 1, ...how });
    }
    expect(this.host.samples).toEqual([]);
  }
}

function run(config: Record<string, unknown>, tape: readonly number[]): void {
  const shadow = rewardDispatch.init(rewardDispatch.config.parse(config));
  const choices = choicesFrom(tape);
  const one = new Run(config);
  for (let index = 0; index < 120; index += 1) {
    const event = arbitrary(shadow, choices);
    try {
      rewardDispatch.check(shadow, event);
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      continue;
    }
    one.send(event);
    rewardDispatch.apply(shadow, event, { at: one.policy.at, emit: () => undefined });
    if (choices.below(10) === 0) one.restore();
  }
  one.finish();
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
    expect(unseen).toEqual(['timer.set abort_grace', 'timer.set response_timeout']);
  });
});
