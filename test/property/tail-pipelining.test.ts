/** The invariants of tail-pipelining, by their numbers in its README: a host whose engines, rewards and trainer fail. */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  createTailBatching,
  isPolicyError,
  type TailBatchingInput,
  type TailPipeliningInput,
  tailBatching,
} from '../../src/index.ts';
import { tapes } from '../../src/testing/index.ts';
import { exampleConfigs } from '../support/example-configs.ts';
import { TailPipeliningHost } from '../support/tail-pipelining-host.ts';

const scale = Number(process.env.ROLLFLEX_RUNS ?? 1);
const tally = new Map<string, number>();

describe('tail-pipelining', () => {
  test.each(exampleConfigs['tail-pipelining']!.map((config) => [JSON.stringify(config), config] as const))(
    'invariants 1 to 6 and 8 hold with %s',
    { timeout: 60_000 * scale },
    (_name, config) => {
      fc.assert(
        fc.property(tapes(), (tape) => {
          const host = new TailPipeliningHost(config as TailPipeliningInput, tape);
          for (let step = 0; step < 150; step += 1) host.step();
          host.finish();
          for (const [name, times] of host.tally) tally.set(name, (tally.get(name) ?? 0) + times);
        }),
        { numRuns: 30 * scale, endOnFailure: true },
      );
    },
  );

  const withoutFrontier = exampleConfigs['tail-pipelining']!.filter(({ frontier, filter }) => !frontier && !filter);
  test.each(withoutFrontier.map((config) => [JSON.stringify(config), config] as const))(
    'invariant 7: without a frontier the rollout is that of tail-batching with %s',
    { timeout: 60_000 * scale },
    (_name, config) => {
      const known = (words: readonly { type: string }[], type: string) => words.some((word) => word.type === type);
      // Rewards are of no use to an admission without a filter.
      const ofRollout = ({ type }: { type: string }) =>
        known(tailBatching.decisions, type) && type !== 'reward.request';
      const { globalBatchSamples: _, pipelining: _own, ...own } = config;
      fc.assert(
        fc.property(tapes(), (tape) => {
          const host = new TailPipeliningHost(config as TailPipeliningInput, tape);
          for (let step = 0; step < 150; step += 1) host.step();
          host.finish();
          const alone = createTailBatching(own as TailBatchingInput);
          const decisions = host.taken.flatMap((event) => {
            if (!known(tailBatching.events, event.type) || event.type.startsWith('reward.')) return [];
            try {
              return alone.send(event as never);
            } catch (error) {
              // A round that has left the rollout fails in the trainer alone.
              if (event.type === 'round.failed' && isPolicyError(error)) return [];
              throw error;
            }
          });
          expect(decisions.filter(ofRollout)).toEqual(host.log.filter(ofRollout));
        }),
        { numRuns: 15 * scale, endOnFailure: true },
      );
    },
  );

  afterAll(() => {
    // What only happens in trouble has happened, in each part of the recipe.
    for (const name of [
      'round.planned queue_full',
      'round.planned prompt_overdue',
      'prompt.deferred round_completed',
      'prompt.filtered zero_variance',
      'prompt.quarantined data',
      'prompt.returned round_failed',
      'request.dropped aborted',
      'request.dropped host_restarted',
      'request.dropped replaced',
      'request.expired abort_unconfirmed',
      'group.left all_ended',
      'group.unrewarded no_reward',
      'group.withdrawn round_failed',
      'reward.request host_restarted',
      'round.rewarded round_failed',
      'groups.dropped incomplete',
      'groups.dropped round_failed',
      'train.dispatch round_end',
      'train.dispatch update_lost',
      'train.dispatch trainer_restarted',
      'train.dispatch host_restarted',
      'weights.publish round_failed',
      'repeated',
    ])
      expect(tally.get(name) ?? 0, name).toBeGreaterThan(2);
  });
});
