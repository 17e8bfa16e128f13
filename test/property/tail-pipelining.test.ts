/** The invariants of tail-pipelining, by their numbers in its README: a host whose engines, rewards and trainer fail. */
import { afterAll, describe, expect } from 'vitest';
import { create, isPolicyError, tailBatching } from '../../src/index.ts';
import { scale } from '../support/basics/runs.ts';
import { addTally, play, testEach } from '../support/basics/tape-runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { TailPipeliningHost } from '../support/hosts/tail-pipelining.ts';

const tally = new Map<string, number>();

describe('tail-pipelining', () => {
  const configs = exampleConfigs['tail-pipelining']!;
  testEach('invariants 1 to 6 and 8 hold with %s', configs, 30, (config, tape) =>
    addTally(tally, play(new TailPipeliningHost(config as never, tape), 150).tally),
  );

  const known = (messages: readonly { type: string }[], type: string) =>
    messages.some((message) => message.type === type);
  // Rewards are of no use to an admission without a filter.
  const ofRollout = ({ type }: { type: string }) => known(tailBatching.decisions, type) && type !== 'reward.request';
  const withoutFrontier = configs.filter(({ frontier, filter }) => !frontier && !filter);
  const sameAsAlone = 'invariant 7: without a frontier the rollout is that of tail-batching with %s';
  testEach(sameAsAlone, withoutFrontier, 15, (config, tape) => {
    const { globalBatchSamples: _, pipelining: _own, ...own } = config;
    const host = play(new TailPipeliningHost(config as never, tape), 150);
    const alone = create(tailBatching, own as never);
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
  });

  afterAll(() => {
    // What only happens in trouble has happened, in each part of the recipe; some of it is rare.
    if (scale < 1) return;
    for (const name of [
      'round.planned queue_full',
      'round.planned prompt_overdue',
      'prompt.deferred round_completed',
      'prompt.filtered zero_variance',
      'prompt.failed data',
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
