import { describe, expect, test } from 'vitest';
import {
  type AnyEvent,
  create,
  defineRecipe,
  registry,
  rewardDispatch,
  speculativeAdmission,
  z,
} from '../../../src/index.ts';
import type { RewardDispatchDecision, RewardDispatchInput } from '../../../src/policies/reward-dispatch/index.ts';
import * as e from '../../../src/schemas/events/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { only, Session } from '../../support/sessions/session.ts';

type Kind = 'rule' | 'sandbox' | 'judge';
type Decisions = VocabularyDecision[];

/** A session with short ways to send what a reward host sends. */
class Rewards extends Session {
  constructor(config: RewardDispatchInput = {}) {
    super(create(rewardDispatch, config) as never);
  }

  add(workerId: string, kind: Kind = 'rule', slots = 1): Decisions {
    return this.send({ type: 'reward-worker.added', workerId, kind, slots } as never);
  }

  want(requestId: string, more: object = {}): Decisions {
    return this.send({ type: 'reward.requested', requestId, ...more } as never);
  }

  score(dispatchId: string, reward = 1): Decisions {
    return this.send({ type: 'reward.finished', dispatchId, outcome: 'scored', reward, seconds: 1 } as never);
  }

  finish(dispatchId: string, outcome: 'timeout' | 'infrastructure' | 'cancelled', seconds = 1): Decisions {
    return this.send({ type: 'reward.finished', dispatchId, outcome, seconds } as never);
  }

  fire(): Decisions {
    return this.send({ type: 'timer.fired', timerId: 'reward-dispatch/deadline' } as never);
  }
}

const placed = (decisions: Decisions) =>
  only(decisions, 'reward.dispatch').map((one) => `${one.requestId} on ${one.workerId}`);
const types = (decisions: Decisions) => decisions.map((one) => one.type);

describe('dispatch', () => {
  test('each response as it comes, each result as it comes', () => {
    const session = new Rewards();
    session.add('m1', 'rule', 2);
    expect(session.want('a', { promptId: 'p' })).toMatchObject([
      {
        type: 'reward.dispatch',
        dispatchId: 'reward/0',
        workerId: 'm1',
        requestId: 'a',
        promptId: 'p',
        kind: 'rule',
        budgetSeconds: 2,
        reason: { code: 'requested', waitedSeconds: 0, running: 0 },
      },
      { type: 'timer.set', fireAtSeconds: 12, reason: { code: 'reward_budget', budgetSeconds: 2, graceSeconds: 10 } },
    ]);
    session.want('b');
    expect(session.score('reward/1', 0.5)).toMatchObject([
      { type: 'reward.scored', requestId: 'b', reward: 0.5, reason: { code: 'scored', attempts: 1 } },
    ]);
    expect(session.score('reward/0', 0.25)).toMatchObject([{ requestId: 'a', promptId: 'p', reward: 0.25 }]);
  });

  test('the least loaded worker: fewest running, then fewest assigned seconds, then the lowest id', () => {
    const session = new Rewards();
    for (const id of ['w2', 'w10', 'w1']) session.add(id, 'sandbox', 4);
    const sent = ['a', 'b', 'c', 'd'].flatMap((id, index) =>
      session.want(id, { kind: 'sandbox', budgetSeconds: [5, 20, 10, 30][index] }),
    );
    // Ids compare as text. Three run one each, then w1 has the fewest seconds.
    expect(placed(sent)).toEqual(['a on w1', 'b on w10', 'c on w2', 'd on w1']);
    expect(placed(session.want('e', { kind: 'sandbox' }))).toEqual(['e on w2']);
    session.restore();
    expect(placed(session.want('f', { kind: 'sandbox' }))).toEqual(['f on w10']);
  });

  test('assigned seconds are exact: 0.1 + 0.2 leaves nothing behind', () => {
    const session = new Rewards();
    session.add('w1', 'rule', 3);
    session.add('w2', 'rule', 3);
    for (const [id, budgetSeconds] of [
      ['a', 0.1],
      ['b', 0.3],
      ['c', 0.2],
    ] as const)
      session.want(id, { budgetSeconds });
    session.score('reward/0');
    session.score('reward/2');
    session.score('reward/1');
    expect(placed(session.want('d'))).toEqual(['d on w1']);
  });

  test('budgets: 2 s for rules, 30 s for sandboxes, 120 s for judges, or what the request brings', () => {
    const session = new Rewards();
    for (const kind of ['rule', 'sandbox', 'judge'] as const) session.add(kind, kind, 8);
    const budget = (more: object) => only(session.want(`q${session.at++}`, more), 'reward.dispatch')[0]?.budgetSeconds;
    expect(budget({})).toBe(2);
    expect(budget({ kind: 'sandbox' })).toBe(30);
    expect(budget({ kind: 'judge' })).toBe(120);
    expect(budget({ kind: 'sandbox', budgetSeconds: 4.5 })).toBe(4.5);
  });

  test('the kind: as asked for, else by the domain, else the default', () => {
    const session = new Rewards({ defaultKind: 'judge', kindByDomain: { code: 'sandbox', math: 'rule' } });
    for (const kind of ['rule', 'sandbox', 'judge'] as const) session.add(kind, kind, 8);
    const kind = (more: object) => only(session.want(`q${session.at++}`, more), 'reward.dispatch')[0]?.kind;
    expect(kind({ domain: 'code', kind: 'rule' })).toBe('rule');
    expect(kind({ domain: 'code' })).toBe('sandbox');
    expect(kind({ domain: 'chat' })).toBe('judge');
    expect(kind({ domain: 'constructor' })).toBe('judge');
    expect(kind({})).toBe('judge');
  });

  test('in the order in which they were asked for; a retry goes before all that came later', () => {
    const session = new Rewards();
    session.add('w');
    for (const id of ['a', 'b', 'c']) session.want(id);
    expect(placed(session.finish('reward/0', 'infrastructure'))).toEqual(['a on w']);
    expect(placed(session.score('reward/1'))).toEqual(['b on w']);
    session.restore();
    expect(placed(session.score('reward/2'))).toEqual(['c on w']);
  });

  test('a judge that is busy keeps no rule waiting', () => {
    const session = new Rewards();
    session.add('j', 'judge');
    session.add('r', 'rule');
    session.want('a', { kind: 'judge' });
    session.want('b', { kind: 'judge' });
    expect(placed(session.want('c'))).toEqual(['c on r']);
  });

  test('the same response asked for again is computed once', () => {
    const session = new Rewards();
    session.want('a');
    session.at = 3;
    expect(session.want('a', { kind: 'judge' })).toMatchObject([
      { type: 'reward.merged', requestId: 'a', reason: { code: 'already_requested', afterSeconds: 3 } },
    ]);
    expect(placed(session.add('w', 'rule', 2))).toEqual(['a on w']);
  });
});

describe('timeouts and faults', () => {
  test('a timeout is worth 0, and is named as such', () => {
    const session = new Rewards();
    session.add('s', 'sandbox');
    session.want('a', { kind: 'sandbox' });
    expect(session.finish('reward/0', 'timeout', 30)).toMatchObject([
      { type: 'reward.scored', reward: 0, reason: { code: 'timeout', seconds: 30, budgetSeconds: 30, timeouts: 1 } },
    ]);
  });

  test('another reward for a timeout, or none at all', () => {
    const session = new Rewards({ timeoutReward: -1 });
    session.add('s');
    session.want('a');
    expect(session.finish('reward/0', 'timeout')).toMatchObject([{ type: 'reward.scored', reward: -1 }]);
    const strict = new Rewards({ onTimeout: 'fail' });
    strict.add('s');
    strict.want('a');
    expect(strict.finish('reward/0', 'timeout')).toMatchObject([
      { type: 'reward.failed', requestId: 'a', reason: { code: 'timeout', timeouts: 1, budget: 0 } },
    ]);
  });

  test('faults of workers are tried again and never score (RollPacker artifact); timeouts are counted apart', () => {
    const session = new Rewards({ retry: { infrastructure: 2, timeout: 1 } });
    session.add('w');
    session.want('a');
    expect(session.finish('reward/0', 'infrastructure')).toMatchObject([
      { type: 'reward.dispatch', dispatchId: 'reward/1', reason: { code: 'retry_infrastructure', attempt: 1 } },
    ]);
    expect(session.finish('reward/1', 'timeout')).toMatchObject([
      { type: 'reward.dispatch', reason: { code: 'retry_timeout', attempt: 1, budget: 1 } },
    ]);
    // A cancellation that nobody asked for is the worker's doing.
    expect(session.finish('reward/2', 'cancelled')).toMatchObject([
      // Since it was answered, what had failed before was none of its own.
      { type: 'reward.dispatch', reason: { code: 'retry_infrastructure', attempt: 1, budget: 2 } },
    ]);
  });

  test('failures are charged that come after others have succeeded, and four succeed since', () => {
    const session = new Rewards({ retry: { infrastructure: 1 } });
    session.add('w');
    session.want('a');
    expect(session.finish('reward/0', 'infrastructure')).toMatchObject([
      { type: 'reward.dispatch', reason: { code: 'retry_infrastructure', attempt: 1, budget: 1, id: 'w' } },
    ]);
    session.want('b');
    expect(placed(session.finish('reward/1', 'infrastructure'))).toEqual(['b on w']);
    // It may have been the worker, until now: nothing is charged, and it is tried at once.
    expect(session.score('reward/2')).toMatchObject([
      { type: 'reward.scored', requestId: 'b' },
      { type: 'reward.dispatch', requestId: 'a', reason: { code: 'retry_infrastructure', attempt: 0 } },
    ]);
    session.finish('reward/3', 'infrastructure');
    session.at += 1;
    session.fire();
    session.finish('reward/4', 'infrastructure');
    const ended = [5, 6, 7, 8].map((number) => {
      session.want(`c${number}`);
      return session.score(`reward/${number}`).filter(({ type }) => type !== 'timer.set' && type !== 'tries.recovered');
    });
    expect(ended.slice(0, 3).flat()).toMatchObject([
      { type: 'reward.scored', requestId: 'c5' },
      { type: 'reward.scored', requestId: 'c6' },
      { type: 'reward.scored', requestId: 'c7' },
    ]);
    expect(ended[3]).toMatchObject([
      { type: 'reward.failed', requestId: 'a', reason: { code: 'infrastructure', failures: 2, budget: 1 } },
      { type: 'reward.scored', requestId: 'c8' },
    ]);
  });

  test('a worker that never answers: cancelled and tried elsewhere, its slot free after the grace', () => {
    const session = new Rewards({ answerGraceSeconds: 1, cancelGraceSeconds: 5 });
    session.add('w1');
    session.want('a');
    session.at = 2.5;
    // Too early: the timer is set again.
    expect(session.fire()).toMatchObject([{ type: 'timer.set', fireAtSeconds: 3 }]);
    session.at = 3;
    session.restore();
    expect(session.fire()).toMatchObject([
      { type: 'reward.cancel', dispatchId: 'reward/0', reason: { code: 'no_answer', ranSeconds: 3, budgetSeconds: 2 } },
      { type: 'timer.set', fireAtSeconds: 8, reason: { code: 'reward_cancel_grace', graceSeconds: 5 } },
    ]);
    expect(placed(session.add('w2'))).toEqual(['a on w2']);
    session.want('b');
    session.at = 8;
    expect(session.fire()).toMatchObject([
      // The earlier deadline first.
      { type: 'reward.cancel', dispatchId: 'reward/1', reason: { code: 'no_answer' } },
      { type: 'reward.expired', dispatchId: 'reward/0', workerId: 'w1', reason: { graceSeconds: 5 } },
      // The second retry is put off for a second.
      { type: 'reward.dispatch', requestId: 'b', workerId: 'w1' },
      { type: 'timer.set', fireAtSeconds: 9, reason: { code: 'retry_pause' } },
    ]);
  });

  test('the budget runs from reward.started, once', () => {
    const session = new Rewards({ answerGraceSeconds: 1 });
    session.add('w');
    session.want('a');
    session.at = 2;
    session.send({ type: 'reward.started', dispatchId: 'reward/0' } as never);
    session.at = 3;
    session.send({ type: 'reward.started', dispatchId: 'reward/0' } as never);
    expect(session.fire()).toMatchObject([{ type: 'timer.set', fireAtSeconds: 5 }]);
  });

  test('the timer comes forward for a shorter budget, and is not set anew for each dispatch', () => {
    const session = new Rewards();
    session.add('s', 'sandbox', 9);
    session.add('r', 'rule', 9);
    expect(only(session.want('a', { kind: 'sandbox' }), 'timer.set')).toMatchObject([{ fireAtSeconds: 40 }]);
    expect(only(session.want('b', { kind: 'sandbox' }), 'timer.set')).toEqual([]);
    expect(only(session.want('c'), 'timer.set')).toMatchObject([{ fireAtSeconds: 12 }]);
    session.score('reward/2');
    session.at = 12;
    expect(only(session.fire(), 'timer.set')).toMatchObject([{ fireAtSeconds: 40 }]);
  });
});

describe('workers', () => {
  test('what ran on a lost worker is dispatched elsewhere; its late answers change nothing', () => {
    const session = new Rewards();
    session.add('w1', 'rule', 2);
    session.want('a');
    session.want('b');
    session.add('w2', 'rule', 2);
    const lost = session.send({ type: 'reward-worker.lost', workerId: 'w1' } as never);
    expect(placed(lost)).toEqual(['a on w2', 'b on w2']);
    expect(session.score('reward/0', 7)).toMatchObject([
      { type: 'reward.late', dispatchId: 'reward/0', reward: 7, reason: { code: 'result', seconds: 1 } },
    ]);
    expect(types(session.score('reward/2'))).toEqual(['reward.scored']);
    session.refuses({ type: 'reward-worker.lost', at: 0, workerId: 'w1' }, 'unknown_id', 'workerId');
  });

  test('a response that takes its worker down with it does not do so for ever', () => {
    const session = new Rewards({ retry: { infrastructure: 1 } });
    session.want('poison');
    // Three losses say little: the workers may be at fault. From then on it runs alone, and they are its own.
    for (const id of ['w1', 'w2', 'w3', 'w4', 'w5']) session.add(id);
    for (const workerId of ['w1', 'w2', 'w3', 'w4']) {
      expect(placed(session.send({ type: 'reward-worker.lost', workerId } as never))).toHaveLength(1);
    }
    expect(session.send({ type: 'reward-worker.lost', workerId: 'w5' } as never)).toMatchObject([
      { type: 'reward.failed', requestId: 'poison', reason: { failures: 2, budget: 1 } },
    ]);
  });

  test('a drained worker finishes what it has; added again it takes more, with other slots', () => {
    const session = new Rewards();
    session.add('w', 'rule', 2);
    session.want('a');
    session.send({ type: 'reward-worker.drained', workerId: 'w' } as never);
    expect(types(session.want('b'))).toEqual(['rewards.saturated']);
    expect(types(session.score('reward/0'))).toEqual(['reward.scored']);
    expect(placed(session.add('w', 'rule', 1))).toEqual(['b on w']);
    expect(placed(session.want('c'))).toEqual([]);
    expect(placed(session.add('w', 'rule', 2))).toEqual(['c on w']);
    // Fewer slots than it runs: nothing new until it has come down.
    session.add('w', 'rule', 1);
    session.want('d');
    expect(placed(session.score('reward/1'))).toEqual([]);
    expect(placed(session.score('reward/2'))).toEqual(['d on w']);
  });

  test('a worker has one kind', () => {
    const session = new Rewards();
    session.add('w', 'rule');
    session.refuses(
      { type: 'reward-worker.added', at: 0, workerId: 'w', kind: 'judge', slots: 1 },
      'duplicate_id',
      'kind',
    );
  });
});

describe('what is no longer needed', () => {
  const final = (...ids: string[]) => ({
    type: 'round.completed',
    roundId: 'r1',
    kind: 'short',
    weightVersion: 0,
    prompts: ids.map((requestId) => ({
      promptId: requestId.split('/')[0],
      responses: [{ requestId, index: 0, tokens: 9, weightVersions: [0] }],
    })),
    openedSeconds: 0,
    deferred: 0,
    reason: { code: 'quota_reached', counted: 1, needed: 1 },
  });
  const deferred = (promptId: string, roundId: string, more: object = {}) => ({
    type: 'prompt.deferred',
    prompt: { promptId, ...more },
    roundId,
    dropped: [],
    reason: { code: 'round_completed', held: 0, needed: 1 },
  });

  test('a round that is over waits for no slow judge (slime #2176): it is cancelled, and its slot comes back', () => {
    const session = new Rewards({ defaultKind: 'judge' });
    session.add('j', 'judge', 2);
    for (const id of ['a/0', 'b/0', 'c/0']) session.want(id, { promptId: id[0], roundId: 'r1' });
    session.at = 5;
    expect(session.send(final('a/0') as never)).toMatchObject([
      { type: 'reward.cancelled', requestId: 'b/0', reason: { code: 'round_completed', afterSeconds: 5 } },
      { type: 'reward.cancel', dispatchId: 'reward/1', workerId: 'j', requestId: 'b/0' },
      { type: 'reward.cancelled', requestId: 'c/0', reason: { code: 'round_completed' } },
      { type: 'timer.set', fireAtSeconds: 35, reason: { code: 'reward_cancel_grace' } },
    ]);
    // The slot is taken until the judge has stopped.
    expect(placed(session.want('next'))).toEqual([]);
    expect(types(session.finish('reward/1', 'cancelled'))).toEqual(['reward.dispatch']);
    expect(types(session.score('reward/0'))).toEqual(['reward.scored']);
  });

  test('a result that comes after the cancellation is a notice, and frees the slot', () => {
    const session = new Rewards();
    session.add('w');
    session.want('a', { roundId: 'r1' });
    session.send({ type: 'round.failed', roundId: 'r1' } as never);
    session.want('b');
    session.restore();
    expect(session.score('reward/0', 3)).toMatchObject([
      { type: 'reward.late', reward: 3, reason: { code: 'after_cancel' } },
      { type: 'reward.dispatch', requestId: 'b' },
    ]);
    expect(session.send({ type: 'reward.started', dispatchId: 'reward/0' } as never)).toMatchObject([
      { type: 'reward.late', reason: { code: 'report' } },
    ]);
  });

  test('what the round trains on is safe from whatever happens to its prompt later', () => {
    const session = new Rewards();
    session.want('a/0', { promptId: 'a', roundId: 'r1' });
    session.send(final('a/0') as never);
    session.want('a/1', { promptId: 'a', roundId: 'r2' });
    session.restore();
    expect(types(session.send({ type: 'round.failed', roundId: 'r1' } as never))).toEqual([]);
    expect(session.send(deferred('a', 'r2') as never)).toMatchObject([
      { type: 'reward.cancelled', requestId: 'a/1', reason: { code: 'prompt_deferred' } },
    ]);
    expect(placed(session.add('w'))).toEqual(['a/0 on w']);
  });

  test('a prompt that leaves takes along what it names, and what was asked for it in that round', () => {
    const session = new Rewards();
    session.want('named');
    session.want('kept');
    session.want('here', { promptId: 'a', roundId: 'r1' });
    session.want('drawn again', { promptId: 'a', roundId: 'r2' });
    session.want('other', { promptId: 'b', roundId: 'r1' });
    const kept = [{ requestId: 'kept', index: 0, tokens: 3, weightVersions: [0], finished: true }];
    const dropped = [{ requestId: 'named', tokens: 3, cause: 'stale_weights' }];
    const decisions = session.send({ ...deferred('a', 'r1', { kept }), dropped } as never);
    expect(only(decisions, 'reward.cancelled').map((one) => one.requestId)).toEqual(['named', 'kept', 'here']);
    // It comes back with what it kept, and its reward is wanted again.
    session.send({
      type: 'reward.request',
      requestId: 'kept',
      promptId: 'a',
      reason: { code: 'kept_without_reward' },
    } as never);
    expect(placed(session.add('w', 'rule', 9))).toEqual(['drawn again on w', 'other on w', 'kept on w']);
  });

  test.each([
    ['prompt.returned', { prompt: { promptId: 'p' }, reason: { code: 'round_failed' } }, 'prompt_returned'],
    ['prompt.filtered', { promptId: 'p', reason: { code: 'host' } }, 'prompt_filtered'],
    ['prompt.failed', { promptId: 'p', reason: { code: 'data', failures: 2, budget: 1 } }, 'prompt_failed'],
  ])('%s cancels', (type, fields, code) => {
    const session = new Rewards();
    session.want('a', { promptId: 'p', roundId: 'r' });
    expect(session.send({ type, roundId: 'r', dropped: [], ...fields } as never)).toMatchObject([
      { type: 'reward.cancelled', requestId: 'a', promptId: 'p', reason: { code } },
      { type: 'rewards.resumed' },
    ]);
  });

  test('single responses: merged, dropped, withdrawn', () => {
    const session = new Rewards();
    for (const id of ['a', 'b', 'c', 'd']) session.want(id, { promptId: 'p' });
    const dropped = [{ requestId: 'a', tokens: 1, cause: 'merged' }];
    const merged = { type: 'prompt.merged', promptId: 'p', dropped, reason: { code: 'already_in_round' } };
    const reason = { code: 'beyond_round', needed: 1 };
    const gone = { type: 'response.dropped', requestId: 'b', promptId: 'p', tokens: 1, finished: true, reason };
    const withdrawn = { type: 'reward.withdrawn', requestId: 'c' };
    const decisions = [merged, gone, withdrawn, withdrawn].flatMap((event) => session.send(event as never));
    expect(decisions.map((one) => ('requestId' in one ? one.requestId : ''))).toEqual(['a', 'b', 'c']);
    expect(decisions.map((one) => one.reason.code)).toEqual(['prompt_merged', 'response_dropped', 'withdrawn']);
    expect(placed(session.add('w', 'rule', 9))).toEqual(['d on w']);
  });
});

describe('back-pressure', () => {
  test('a long queue is told once, and once when it is short again', () => {
    const session = new Rewards({ saturatedQueued: 3, resumedQueued: 1 });
    session.add('w');
    const told = (decisions: Decisions) =>
      decisions.filter((one) => one.type.startsWith('rewards.')).map((one) => one.reason);
    expect(['a', 'b', 'c'].flatMap((id) => told(session.want(id)))).toEqual([]);
    expect(told(session.want('d'))).toEqual([{ code: 'queue_long', queued: 3, saturatedQueued: 3 }]);
    expect(told(session.want('e'))).toEqual([]);
    session.restore();
    expect(told(session.score('reward/0'))).toEqual([]);
    expect(told(session.score('reward/1'))).toEqual([]);
    expect(told(session.score('reward/2'))).toEqual([{ code: 'queue_short', queued: 1, resumedQueued: 1 }]);
  });

  test('no worker of a kind is told at once', () => {
    const session = new Rewards();
    expect(session.want('a', { kind: 'judge' })).toMatchObject([
      { type: 'rewards.saturated', kind: 'judge', reason: { code: 'no_worker', queued: 1 } },
    ]);
    expect(types(session.add('j', 'judge'))).toEqual(['reward.dispatch', 'rewards.resumed', 'timer.set']);
  });

  test('beyond maxQueued a request is refused; what the admission has accepted is taken', () => {
    const session = new Rewards({ maxQueued: 2 });
    session.want('a');
    session.want('b');
    session.refuses({ type: 'reward.requested', at: 0, requestId: 'c' }, 'limit_exceeded', 'requestId');
    // One that is in already needs no room, and another kind has its own.
    expect(types(session.want('a'))).toEqual(['reward.merged']);
    session.want('d', { kind: 'judge' });
    const reason = { code: 'held', held: 1, needed: 2 };
    session.send({ type: 'response.accepted', requestId: 'e', promptId: 'p', reason } as never);
    expect(placed(session.add('w', 'rule', 9))).toEqual(['a on w', 'b on w', 'e on w']);
  });
});

test('in a recipe with the admission: what it accepts is dispatched, what is scored is its reward', () => {
  const events = [e.roundOpened, e.responseCompleted, e.requestAborted, e.rewardWorkerAdded, e.rewardFinished] as const;
  const recipe = defineRecipe({
    id: 'acme/rewarded-admission',
    version: 1,
    summary: 'Admission with rewards.',
    source: 'a test',
    config: z.strictObject({}),
    parts: { admission: speculativeAdmission, rewards: rewardDispatch },
    configure: () => ({
      admission: { promptsPerRound: 1, responsesPerPrompt: 2, promptSpeculation: 2, filter: 'zero-variance' },
      rewards: { kindByDomain: { code: 'sandbox' } },
    }),
    events,
    decisions: [...speculativeAdmission.decisions, ...rewardDispatch.decisions],
    // Each response that is accepted has one reward.
    deliver: (event) => [event.type.startsWith('reward') ? 'rewards' : 'admission'],
    routes: {
      rewards: {
        'reward.scored': {
          to: (decision) => {
            const { at, requestId, reward } = decision as Extract<RewardDispatchDecision, { type: 'reward.scored' }>;
            return [{ part: 'admission', event: { type: 'reward.ready', at, requestId, reward } as AnyEvent }];
          },
        },
      },
    },
    ledgers: [],
  });
  const policy = create(recipe, {});
  const send = (event: object) => policy.send({ at: 0, ...event } as never) as Decisions;
  const prompts = ['a', 'b'].map((promptId) => ({ promptId, domain: 'code' }));
  send({ type: 'reward-worker.added', workerId: 's', kind: 'sandbox', slots: 3 });
  send({ type: 'round.opened', roundId: 'r', kind: 'short', weightVersion: 0, prompts });
  const complete = (requestId: string) => send({ type: 'response.completed', requestId, tokens: 9 });
  const score = (number: number, reward: number) =>
    send({ type: 'reward.finished', dispatchId: `reward/${number}`, outcome: 'scored', reward, seconds: 1 });
  expect(placed(['a/0#0', 'b/0#0', 'a/1#0'].flatMap(complete))).toEqual(['a/0#0 on s', 'b/0#0 on s', 'a/1#0 on s']);
  score(0, 1);
  const last = score(2, 0);
  expect(only(last, 'round.completed')[0]?.prompts[0]).toMatchObject({
    promptId: 'a',
    responses: [{ reward: 1 }, { reward: 0 }],
  });
  expect(only(last, 'reward.cancel')).toMatchObject([{ requestId: 'b/0#0', reason: { code: 'prompt_deferred' } }]);
});

describe('restarts and snapshots', () => {
  test('host.restarted: what ran is dispatched again under the new prefix, no retry is charged', () => {
    const session = new Rewards({ retry: { infrastructure: 0 } });
    session.add('w', 'rule', 2);
    for (const id of ['a', 'b', 'c']) session.want(id);
    session.send({ type: 'reward.withdrawn', requestId: 'b' } as never);
    session.at = 4;
    const again = session.send({ type: 'host.restarted', idPrefix: 'h2-' } as never);
    expect(again).toMatchObject([
      { type: 'reward.dispatch', dispatchId: 'h2-reward/2', requestId: 'a', reason: { code: 'host_restarted' } },
      { type: 'reward.dispatch', dispatchId: 'h2-reward/3', requestId: 'c', reason: { waitedSeconds: 4 } },
      { type: 'timer.set', fireAtSeconds: 16 },
    ]);
    session.restore();
    expect(types(session.score('reward/0'))).toEqual(['reward.late']);
    expect(types(session.score('h2-reward/2'))).toEqual(['reward.scored']);
    session.refuses({ type: 'host.restarted', at: 0, idPrefix: '' }, 'duplicate_id', 'idPrefix');
  });

  test('a snapshot whose parts do not belong together is refused', () => {
    const session = new Rewards();
    session.add('w');
    session.want('a');
    const snapshot = JSON.parse(JSON.stringify(session.policy.snapshot()));
    const damage = (change: (state: typeof snapshot.state) => void) => {
      const copy = structuredClone(snapshot);
      change(copy.state);
      return refusal(() => registry.restore(copy));
    };
    expect(damage((state) => (state.workers = []))).toMatchObject({
      code: 'snapshot_mismatch',
      path: 'snapshot.state.dispatches[0].workerId',
    });
    expect(damage((state) => (state.samples = []))).toMatchObject({
      code: 'snapshot_mismatch',
      path: 'snapshot.state.dispatches[0].requestId',
    });
    expect(damage((state) => state.dispatches.push({ ...state.dispatches[0], id: 'reward/1' }))).toMatchObject({
      code: 'snapshot_mismatch',
      path: 'snapshot.state.dispatches[1].requestId',
    });
  });
});

test('bad input', () => {
  const config = (input: object) => refusal(() => create(rewardDispatch, input));
  expect(config({ budgetSeconds: { rule: 0 } })).toMatchObject({ code: 'invalid_config', path: 'budgetSeconds.rule' });
  expect(config({ saturatedQueued: 5, maxQueued: 4 })).toMatchObject({
    code: 'invalid_config',
    path: 'saturatedQueued',
    expected: 'at most maxQueued 4',
  });
  expect(config({ saturatedQueued: 5, resumedQueued: 5 })).toMatchObject({ path: 'resumedQueued' });
  expect(config({ kindByDomain: { code: 'gpu' } })).toMatchObject({ path: 'kindByDomain.code' });

  const session = new Rewards();
  session.add('w');
  session.want('a');
  const finished = { type: 'reward.finished', at: 0, dispatchId: 'reward/0', outcome: 'scored', seconds: 1 };
  session.refuses(finished, 'invalid_event', 'reward');
  session.refuses({ ...finished, outcome: 'timeout', reward: 0 }, 'invalid_event', 'reward');
  session.refuses({ ...finished, reward: Number.NaN }, 'invalid_event', 'reward');
  for (const dispatchId of ['reward/1', 'reward/00', 'reward/-1', 'reward/', 'x-reward/0', 'reward/0.0']) {
    session.refuses({ ...finished, dispatchId, reward: 1 }, 'unknown_id', 'dispatchId');
    session.refuses({ type: 'reward.started', at: 0, dispatchId }, 'unknown_id', 'dispatchId');
  }
  session.refuses({ type: 'timer.fired', at: 0, timerId: 'other' }, 'unknown_id', 'timerId');
  session.refuses({ type: 'reward-worker.drained', at: 0, workerId: 'nobody' }, 'unknown_id', 'workerId');
  session.refuses(
    { type: 'reward-worker.added', at: 0, workerId: 'x', kind: 'rule', slots: 0 },
    'invalid_event',
    'slots',
  );
  session.refuses(
    { type: 'reward.requested', at: 0, requestId: 'b', budgetSeconds: 0 },
    'invalid_event',
    'budgetSeconds',
  );
});

describe('why a reward waits', () => {
  test('for active workers of its kind, and for no others', () => {
    const session = new Rewards();
    const timer = 'timer: timer.fired reward-dispatch/deadline';
    session.add('drained');
    session.want('a');
    session.send({ type: 'reward-worker.drained', workerId: 'drained' } as never);
    session.add('judge', 'judge');
    session.want('b', { kind: 'judge' });
    session.want('c');
    expect(session.why('c')).toEqual(['c waits for a reward worker (rule)', 'host: reward-worker.added rule']);
    expect(session.why('drained')).toEqual([
      'drained takes no new dispatches (rule)',
      'reward/0 runs on reward worker drained',
      'reward worker drained: reward.finished reward/0',
      timer,
    ]);
    session.add('m1');
    session.want('d');
    session.send({ type: 'reward.withdrawn', requestId: 'c' } as never);
    // A reward that nobody needs holds the slot until it has ended.
    expect(session.why('d')).toEqual([
      'd waits for a reward worker (rule)',
      'rule workers have no free slot',
      'reward/2 is being cancelled on reward worker m1',
      'reward worker m1: reward.finished reward/2',
      timer,
    ]);
  });
});
