/** reward-dispatch: what a completed round trains on, what is said again after a restart, and earlier snapshots. */
import { describe, expect, test } from 'vitest';
import { create, registry, rewardDispatch, rollpacker } from '../../../src/index.ts';
import type { RewardDispatchInput } from '../../../src/policies/reward-dispatch/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { smallCluster } from '../../support/examples/configs.ts';
import { only, Session } from '../../support/sessions/session.ts';

const rewards = (config: RewardDispatchInput = {}) => new Session(create(rewardDispatch, config) as never);
const added = (workerId: string) => ({ type: 'reward-worker.added', workerId, kind: 'rule', slots: 1 });
const wanted = (requestId: string, more: object = {}) => ({ type: 'reward.requested', requestId, ...more });
const completed = (...ids: string[]) => ({
  type: 'round.completed',
  roundId: 'r',
  kind: 'short',
  weightVersion: 0,
  openedSeconds: 0,
  deferred: 0,
  prompts: [
    { promptId: 'p', responses: ids.map((requestId) => ({ requestId, index: 0, tokens: 1, weightVersions: [0] })) },
  ],
  reason: { code: 'quota_reached', counted: 1, needed: 1 },
});
const dropped = [{ requestId: 'p/0', tokens: 1, cause: 'stale_weights' }];
const kept = [{ requestId: 'p/0', index: 0, tokens: 1, weightVersions: [0], finished: true }];
const inRound = { promptId: 'p', roundId: 'r' };

/** Whatever may take a reward away, by its name and by its prompt and round. */
const later: Record<string, object> = {
  'prompt.filtered': { ...inRound, dropped, reason: { code: 'host' } },
  'prompt.failed': { ...inRound, dropped, reason: { code: 'data', failures: 1, budget: 0 } },
  'prompt.merged': { ...inRound, dropped, reason: { code: 'already_in_round' } },
  'prompt.deferred': {
    prompt: { promptId: 'p', kept },
    roundId: 'r',
    dropped,
    reason: { code: 'round_completed', held: 1, needed: 2 },
  },
  'prompt.returned': { prompt: { promptId: 'p', kept }, roundId: 'r', dropped, reason: { code: 'round_failed' } },
  'response.dropped': {
    ...{ requestId: 'p/0', promptId: 'p', tokens: 1, finished: true },
    reason: { code: 'beyond_round', needed: 1 },
  },
  'reward.withdrawn': { requestId: 'p/0' },
  'round.failed': { roundId: 'r' },
  'round.completed': completed('p/1'),
};

describe.each(Object.entries(later))('%s', (type, fields) => {
  test.each(['before it is dispatched', 'while it is computed'])('a reward of a completed round stays, %s', (when) => {
    const session = rewards();
    if (when === 'while it is computed') session.send(added('w') as never);
    session.send(wanted('p/0', inRound) as never);
    session.send(completed('p/0') as never);
    session.restore();
    expect(session.send({ ...fields, type } as never)).toEqual([]);
    if (when === 'before it is dispatched') session.send(added('w') as never);
    const scored = { type: 'reward.finished', dispatchId: 'reward/0', outcome: 'scored', reward: 1, seconds: 1 };
    expect(only(session.send(scored as never), 'reward.scored')).toMatchObject([{ requestId: 'p/0', reward: 1 }]);
  });

  test('one that no completed round names is cancelled', () => {
    const session = rewards();
    session.send(wanted('p/0', inRound) as never);
    expect(only(session.send({ ...fields, type } as never), 'reward.cancelled')).toMatchObject([{ requestId: 'p/0' }]);
  });
});

describe('back-pressure after a restart', () => {
  const restart = (session: Session) => {
    session.restore();
    return only(session.send({ type: 'host.restarted', idPrefix: 'h-' } as never), 'rewards.saturated');
  };

  test('that there is no worker is said again', () => {
    const session = rewards();
    session.send(wanted('a') as never);
    expect(restart(session)).toMatchObject([{ kind: 'rule', reason: { code: 'no_worker', queued: 1 } }]);
  });

  test('that a queue is long is said again until it is short, with the mark that it must come to', () => {
    const session = rewards({ saturatedQueued: 3, resumedQueued: 1 });
    session.send(added('w') as never);
    for (const id of ['a', 'b', 'c', 'd']) session.send(wanted(id) as never);
    const score = (dispatchId: string) =>
      session.send({ type: 'reward.finished', dispatchId, outcome: 'scored', reward: 1, seconds: 1 } as never);
    expect(only(score('reward/0'), 'rewards.resumed')).toEqual([]);
    const [again, ...others] = restart(session);
    expect([again, others]).toMatchObject([{ reason: { code: 'host_restarted', queued: 2, resumedQueued: 1 } }, []]);
    expect(only(score('h-reward/2'), 'rewards.resumed')).toMatchObject([
      { reason: { code: 'queue_short', queued: 1 } },
    ]);
  });

  test('nothing is said where nobody was told to hold back', () => {
    const session = rewards({ saturatedQueued: 3, resumedQueued: 1 });
    session.send(added('w') as never);
    for (const id of ['a', 'b', 'c']) session.send(wanted(id) as never);
    expect(restart(session)).toEqual([]);
  });
});

test('snapshots of earlier versions are refused by name, alone and inside rollpacker', () => {
  const inVersion = (version: number, snapshot: object) => ({ ...snapshot, version });
  const refused = (snapshot: unknown) => refusal(() => registry.restore(snapshot));
  const snapshot = create(rewardDispatch, {}).snapshot();
  const job = JSON.parse(JSON.stringify(create(rollpacker, smallCluster).snapshot()));
  for (const version of [1, 2]) {
    expect(refused(inVersion(version, snapshot))).toMatchObject({ code: 'snapshot_mismatch' });
    const { rewards: part, ...others } = job.state.parts;
    const parts = { ...others, rewards: inVersion(version, part) };
    expect(refused({ ...job, state: { ...job.state, parts } })).toMatchObject({ code: 'snapshot_mismatch' });
  }
});
