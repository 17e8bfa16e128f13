/** Every reward that reward-dispatch holds comes to its end with a host that has forgotten all of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Choices } from '../../src/core/generators/choices.ts';
import { create, type PolicyOf } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import {
  type RewardDispatchDecision,
  type RewardDispatchEvent,
  rewardDispatch,
} from '../../src/policies/reward-dispatch/index.ts';
import { choicesFrom, likelyEvents, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

interface Saved {
  samples: { requestId: string; kind: 'rule' | 'sandbox' | 'judge' }[];
  dispatches: { requestId: string; cancelled: boolean }[];
  workers: { id: string; kind: string; active: boolean }[];
}
type DecisionOf<T extends RewardDispatchDecision['type']> = Extract<RewardDispatchDecision, { type: T }>;
type Unstamped = RewardDispatchEvent extends infer E ? (E extends RewardDispatchEvent ? Omit<E, 'at'> : never) : never;

const restored = (snapshot: unknown) => create(rewardDispatch, { snapshot: JSON.parse(JSON.stringify(snapshot)) });

/** Workers do what they are told, with faults now and then, some in silence; nothing is known but what was decided. */
class ForgetfulHost {
  policy: PolicyOf<typeof rewardDispatch>;
  readonly #choices: Choices;
  readonly #running = new Map<string, DecisionOf<'reward.dispatch'>>();
  readonly #cancelled: string[] = [];
  readonly ended = new Set<string>();
  readonly dispatched = new Set<string>();
  readonly saturated = new Set<string>();
  /** Kinds of which it has lost a worker: that it knows by itself. */
  readonly #lost = new Set<string>();
  #timerAt: number | undefined;
  #at: number;
  #workers = 0;
  /** So that an end is in sight. */
  #faults = 20;

  constructor(snapshot: unknown, choices: Choices) {
    this.policy = restored(snapshot);
    this.#choices = choices;
    this.#at = this.policy.at;
  }

  send(event: Unstamped): void {
    if (this.#choices.below(8) === 0) this.policy = restored(this.policy.snapshot());
    for (const decision of this.policy.send({ at: this.#at, ...event } as RewardDispatchEvent)) this.#told(decision);
  }

  #told(decision: RewardDispatchDecision): void {
    switch (decision.type) {
      case 'reward.dispatch':
        this.dispatched.add(decision.requestId);
        this.#running.set(decision.dispatchId, decision);
        return;
      case 'reward.cancel':
        this.#cancelled.push(decision.dispatchId);
        this.#running.delete(decision.dispatchId);
        return;
      case 'reward.scored':
      case 'reward.failed':
      case 'reward.cancelled':
        this.ended.add(decision.requestId);
        return;
      case 'rewards.saturated':
        this.saturated.add(decision.kind);
        return;
      case 'rewards.resumed':
        this.saturated.delete(decision.kind);
        return;
      case 'timer.set':
        this.#timerAt = decision.fireAtSeconds;
    }
  }

  addWorker(kind: 'rule' | 'sandbox' | 'judge'): void {
    this.send({
      type: 'reward-worker.added',
      workerId: `m${this.#workers++}`,
      kind,
      slots: 1 + this.#choices.below(2),
    });
  }

  /** Something that can happen does; whether there was anything. */
  step(): boolean {
    const { below } = this.#choices;
    const [dispatchId] = this.#cancelled.splice(below(Math.max(1, this.#cancelled.length)), 1);
    if (dispatchId !== undefined) {
      // What is never confirmed expires.
      if (below(3) > 0) this.send({ type: 'reward.finished', dispatchId, outcome: 'cancelled', seconds: 1 });
      return true;
    }
    const running = [...this.#running.values()];
    const one = running[below(Math.max(1, running.length))];
    if (one !== undefined) {
      this.#running.delete(one.dispatchId);
      this.#report(one);
      return true;
    }
    if (this.#timerAt !== undefined) {
      this.#at = Math.max(this.#at, this.#timerAt);
      this.#timerAt = undefined;
      this.send({ type: 'timer.fired', timerId: 'reward-dispatch/deadline' });
      return true;
    }
    const [kind] = [...this.saturated, ...this.#lost];
    if (kind === undefined) return false;
    this.saturated.delete(kind);
    this.#lost.delete(kind);
    this.addWorker(kind as 'rule');
    return true;
  }

  #report({ dispatchId, workerId, kind }: DecisionOf<'reward.dispatch'>): void {
    const how = this.#faults > 0 ? this.#choices.below(8) : 7;
    if (how < 5) this.#faults -= 1;
    if (how === 0) return;
    if (how === 1) {
      this.send({ type: 'reward-worker.lost', workerId });
      for (const [id, one] of this.#running) if (one.workerId === workerId) this.#running.delete(id);
      this.#lost.add(kind);
      return;
    }
    if (how === 5) this.send({ type: 'reward.started', dispatchId });
    const end = { type: 'reward.finished', dispatchId, seconds: 1 } as const;
    if (how === 2) this.send({ ...end, outcome: 'infrastructure' });
    else if (how === 3) this.send({ ...end, outcome: 'timeout' });
    else this.send({ ...end, outcome: 'scored', reward: 1 });
  }
}

function run(config: object, tape: readonly number[]): number {
  const choices = choicesFrom(tape);
  const before = create(rewardDispatch, config as never);
  for (const event of likelyEvents(rewardDispatch, config, tape, 1 + choices.below(200))) {
    try {
      before.send(event as RewardDispatchEvent);
    } catch (error) {
      if (!isPolicyError(error)) throw error;
    }
  }
  const held = before.snapshot().state as Saved;
  const host = new ForgetfulHost(before.snapshot(), choices);
  host.send({ type: 'host.restarted', idPrefix: 'again-' });

  // What ran runs again, or its place is taken by what was asked for before it.
  const after = host.policy.snapshot().state as Saved;
  expect(after.samples.map((one) => one.requestId)).toEqual(held.samples.map((one) => one.requestId));
  const running = new Set(after.dispatches.filter((one) => !one.cancelled).map((one) => one.requestId));
  for (const { requestId } of after.samples) expect(host.dispatched.has(requestId)).toBe(running.has(requestId));
  expect(after.dispatches.length).toBe(host.dispatched.size);
  for (const { requestId, kind } of after.samples) {
    if (running.has(requestId) || after.workers.some((one) => one.active && one.kind === kind)) continue;
    expect([...host.saturated], 'that there is no worker is said').toContain(kind);
  }

  for (let steps = 0; host.step(); steps += 1) expect(steps, 'an end').toBeLessThan(5000);
  expect(host.policy.snapshot().state).toMatchObject({ samples: [], dispatches: [] });
  expect([...host.ended].sort()).toEqual(held.samples.map((one) => one.requestId).sort());
  return held.samples.length;
}

function anyConfig({ below }: Choices): object {
  const saturatedQueued = 1 + below(4);
  return {
    defaultKind: (['rule', 'sandbox', 'judge'] as const)[below(3)]!,
    retry: { infrastructure: below(3), timeout: below(3) },
    onTimeout: (['reward', 'fail'] as const)[below(2)]!,
    answerGraceSeconds: 1 + below(20),
    cancelGraceSeconds: 1 + below(20),
    ...{ maxQueued: saturatedQueued + below(3), saturatedQueued, resumedQueued: below(saturatedQueued) },
  };
}

describe('a host without memory finishes', () => {
  test.each(exampleConfigs['reward-dispatch']!.map((config, index) => [index, config] as const))(
    'reward-dispatch with configuration %i: invariants 1, 4, 7 and 8',
    (_index, config) => {
      let samples = 0;
      fc.assert(
        fc.property(tapes(), (tape) => {
          samples += run(config, tape);
        }),
        runs(15),
      );
      expect(samples).toBeGreaterThan(met(50));
    },
  );

  test('reward-dispatch with any configuration', () => {
    fc.assert(
      fc.property(tapes(), (tape) => void run(anyConfig(choicesFrom(tape)), tape)),
      runs(30),
    );
  });
});
