/** The invariants of rolloutpipe, by their numbers in its README: a host with engines, rewards and a trainer that fail. */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { create, rolloutPipe } from '../../src/index.ts';
import { runs, scale } from '../support/basics/runs.ts';
import { addTally, play, testEach } from '../support/basics/tape-runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { RolloutPipeHost } from '../support/hosts/rolloutpipe.ts';
import { only } from '../support/sessions/session.ts';

const tally = new Map<string, number>();

describe('rolloutpipe', () => {
  const title = 'invariants 1 to 6 and 8 hold with %s';
  testEach(title, exampleConfigs.rolloutpipe!, 40, (config, tape) =>
    addTally(tally, play(new RolloutPipeHost(config as never, tape), 150).tally),
  );

  const round = fc.record({
    perPrompt: fc.integer({ min: 1, max: 3 }),
    groupsPerUpdate: fc.integer({ min: 1, max: 3 }),
    groups: fc.integer({ min: 1, max: 9 }),
    order: fc.infiniteStream(fc.nat(999)),
  });
  test('invariant 7: with both switches off it is serial, and what each step trains on depends on no switch', () => {
    fc.assert(
      fc.property(round, ({ perPrompt, groupsPerUpdate, groups, order }) => {
        const next = (below: number): number => order.next().value! % below;
        const ids = Array.from({ length: groups }, (_, index) => `p${index}`);
        const requests = ids.flatMap((id) => Array.from({ length: perPrompt }, (_, index) => `${id}/${index}#0`));
        const shuffled = (list: readonly string[]): string[] => {
          const rest = [...list];
          return list.map(() => rest.splice(next(rest.length), 1)[0]!);
        };
        const [completions, rewards] = [shuffled(requests), shuffled(requests)];
        // A serial trainer: groups in the order in which their last reward came, cut into updates.
        const promptOf = (requestId: string): string => requestId.slice(0, requestId.indexOf('/'));
        const ready = ids
          .map((id) => ({ id, at: rewards.findLastIndex((one) => promptOf(one) === id) }))
          .sort((a, b) => a.at - b.at);
        const updates: string[][] = [];
        for (let at = 0; at < groups; at += groupsPerUpdate)
          updates.push(ready.slice(at, at + groupsPerUpdate).map((one) => one.id));

        for (const pipelining of [false, true]) {
          const policy = create(rolloutPipe, {
            responsesPerPrompt: perPrompt,
            globalBatchSamples: perPrompt * groupsPerUpdate,
            pipelining,
            frontier: false,
          });
          const prompts = ids.map((promptId) => ({ promptId }));
          policy.send({ type: 'round.opened', at: 0, roundId: 'r', kind: 'long', weightVersion: 3, prompts });
          for (const requestId of requests) {
            const promptId = promptOf(requestId);
            const index = Number(requestId.slice(promptId.length + 1, -2));
            const arrived = { type: 'request.arrived', at: 0, requestId, promptId, roundId: 'r', index } as const;
            expect(policy.send(arrived)).toMatchObject([{ type: 'request.admit', requestId }]);
          }
          let decisions = completions.flatMap((requestId) =>
            policy.send({ type: 'response.completed', at: 1, requestId, tokens: 5 }),
          );
          expect(only(decisions, 'round.completed')).toHaveLength(1);
          decisions = rewards.slice(0, -1).flatMap((requestId) => {
            return policy.send({ type: 'reward.ready', at: 2, requestId, reward: next(2) });
          });
          if (!pipelining)
            expect(decisions.every((one) => one.type === 'group.rewarded' || one.type === 'group.trainable')).toBe(
              true,
            );
          decisions.push(...policy.send({ type: 'reward.ready', at: 3, requestId: rewards.at(-1)!, reward: 0 }));
          const dispatched = only(decisions, 'train.dispatch');
          expect(dispatched.map((one) => one.groups)).toEqual(updates);
          const steps = dispatched.flatMap(({ updateId, groups: of }) => {
            const consumed = policy.send({ type: 'update.consumed', at: 4, updateId, groups: of, seconds: 1 });
            return [...consumed, ...policy.send({ type: 'optimizer.stepped', at: 5, roundId: 'r', updateId })];
          });
          expect(only(steps, 'optimizer.step').map((one) => one.groups)).toEqual(updates);
          expect(steps.at(-1)).toMatchObject({ type: 'weights.publish', weightVersion: 3 });
          expect(only(steps, 'weights.publish')).toHaveLength(1);
        }
      }),
      runs(60),
    );
  });

  afterAll(() => {
    // What only happens in trouble has happened, in each part of the recipe; some of it is rare.
    if (scale < 1) return;
    for (const name of [
      'request.dropped host_restarted',
      'request.abort round_failed',
      'prompt.returned round_failed',
      'group.left closed',
      'group.unrewarded no_response',
      'group.unrewarded no_reward',
      'reward.request host_restarted',
      'round.rewarded round_failed',
      'groups.dropped incomplete',
      'groups.dropped zero_variance',
      'groups.dropped other_weights',
      'groups.dropped round_failed',
      'train.dispatch round_end',
      'train.dispatch update_lost',
      'train.dispatch trainer_restarted',
      'train.dispatch host_restarted',
      'weights.publish round_failed',
      'repeated',
    ])
      expect(tally.get(name) ?? 0, name).toBeGreaterThan(4);
  });
});
