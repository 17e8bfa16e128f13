/**
 * A prompt that is drawn again before its earlier copy has left is open twice. The host of these tests computes the reward
 * of each response once, as soon as it is accepted: whatever is asked for a second time never comes.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { create, groupAssembly, type PolicyOf } from '../../../src/index.ts';
import { choicesFrom, tapes } from '../../../src/testing/index.ts';
import { runs } from '../../support/basics/runs.ts';

type Assembly = PolicyOf<typeof groupAssembly>;
type Decision = ReturnType<Assembly['send']>[number];

/** A host that gives every reward once. */
class Host {
  readonly #assembly = create(groupAssembly, {});
  readonly told: Decision[] = [];
  /** Rewards that are being computed. */
  readonly computing: string[] = [];
  readonly #asked = new Set<string>();

  get state() {
    return this.#assembly.snapshot().state;
  }

  #send(event: Parameters<Assembly['send']>[0]): void {
    const decisions = this.#assembly.send(event);
    this.told.push(...decisions);
    for (const one of decisions) if (one.type === 'reward.request') this.#ask(one.requestId);
  }

  #ask(requestId: string): void {
    expect(this.#asked.has(requestId), `the reward of ${requestId} is asked for once`).toBe(false);
    this.#asked.add(requestId);
    this.computing.push(requestId);
  }

  accept(requestId: string): void {
    const reason = { code: 'held', held: 1, needed: 2 } as const;
    this.#send({ type: 'response.accepted', at: 1, requestId, promptId: 'p', reason });
    this.#ask(requestId);
  }

  give(index: number): void {
    const [requestId] = this.computing.splice(index, 1);
    this.#send({ type: 'reward.ready', at: 2, requestId: requestId!, reward: 1 });
  }

  count(roundId: string, ids: readonly string[]): void {
    const responses = ids.map((requestId) => ({ requestId, tokens: 1 }));
    const reason = { code: 'no_filter', counted: 1, needed: 1 } as const;
    this.#send({ type: 'prompt.counted', at: 3, promptId: 'p', roundId, responses, reason });
    const final = ids.map((requestId, index) => ({ requestId, index, tokens: 1, weightVersions: [0] }));
    this.#send({
      type: 'round.completed',
      at: 3,
      roundId,
      kind: 'short',
      weightVersion: 0,
      prompts: [{ promptId: 'p', responses: final }],
      openedSeconds: 0,
      deferred: 0,
      reason: { code: 'quota_reached', counted: 1, needed: 1 },
    });
  }

  leave(type: 'prompt.filtered' | 'prompt.failed', ids: readonly string[]): void {
    const cause = type === 'prompt.filtered' ? ('filtered' as const) : ('failed' as const);
    const dropped = ids.map((requestId) => ({ requestId, tokens: 1, cause }));
    const left = { at: 3, promptId: 'p', roundId: 'r', dropped };
    if (type === 'prompt.filtered') this.#send({ type, ...left, reason: { code: 'host' } });
    else this.#send({ type, ...left, reason: { code: 'data', failures: 2, budget: 1 } });
  }

  /** Samples of the rounds that are ready to be trained. */
  get trained(): Record<string, number> {
    const ready = this.told.flatMap((one) => (one.type === 'round.rewarded' ? [one] : []));
    return Object.fromEntries(ready.map((one) => [one.roundId, one.prompts[0]!.responses.length]));
  }
}

const first = ['p/0#0', 'p/1#0'];
const second = ['p/0#5', 'p/1#5'];

describe('group-assembly, with two copies of a prompt open', () => {
  test('invariant 5: each copy trains with its own rewards, in whatever order responses, rewards and rounds come', () => {
    const property = fc.property(tapes(), (tape) => {
      const choices = choicesFrom(tape);
      const host = new Host();
      const copies = [
        { roundId: 'r', ids: first, accepted: 0, counts: false },
        { roundId: 's', ids: second, accepted: 0, counts: false },
      ];
      for (;;) {
        const doings: (() => void)[] = host.computing.map((_, index) => () => host.give(index));
        for (const copy of copies) {
          if (copy.accepted < copy.ids.length) doings.push(() => host.accept(copy.ids[copy.accepted++]!));
          else if (!copy.counts) {
            doings.push(() => {
              copy.counts = true;
              host.count(copy.roundId, copy.ids);
            });
          }
        }
        if (doings.length === 0) break;
        doings[choices.below(doings.length)]!();
      }
      expect(host.trained).toEqual({ r: 2, s: 2 });
      expect(host.told.filter((one) => one.type === 'reward.unused')).toEqual([]);
      expect(host.state).toEqual({ rounds: [], open: [] });
    });
    fc.assert(property, runs(200));
  });

  test.each(['prompt.filtered', 'prompt.failed'] as const)(
    'invariant 4: %s of one takes nothing of the other',
    (type) => {
      const host = new Host();
      for (const id of [...first, ...second]) host.accept(id);
      host.give(2);
      host.leave(type, first);
      host.count('s', second);
      while (host.computing.length > 0) host.give(0);
      expect(host.trained).toEqual({ s: 2 });
      const unused = host.told.flatMap((one) => (one.type === 'reward.unused' ? [one.requestId] : []));
      expect(unused).toEqual(first);
      expect(host.state).toEqual({ rounds: [], open: [] });
    },
  );
});
