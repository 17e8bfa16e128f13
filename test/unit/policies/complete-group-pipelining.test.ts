import { describe, expect, test } from 'vitest';
import { completeGroupPipelining, create, type PolicyOf, registry } from '../../../src/index.ts';
import type {
  CompleteGroupPipeliningDecision,
  CompleteGroupPipeliningEvent,
  CompleteGroupPipeliningInput,
} from '../../../src/policies/complete-group-pipelining/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { rewardedPipelining } from '../../support/examples/rewarded-pipelining.ts';

type Policy = PolicyOf<typeof completeGroupPipelining>;
type Named<T extends CompleteGroupPipeliningDecision['type']> = Extract<CompleteGroupPipeliningDecision, { type: T }>;

/** A policy with U = 2 groups of 2 responses, and short ways to send the usual events. */
class Session {
  policy: Policy;
  at = 0;
  readonly rewarded = new Map<string, string[]>();
  /** Of the last `weights.publish`. */
  publicationId = 'none';

  constructor(config: Partial<CompleteGroupPipeliningInput> = {}) {
    this.policy = create(completeGroupPipelining, { responsesPerPrompt: 2, globalBatchSamples: 4, ...config });
  }

  send(event: Record<string, unknown>): CompleteGroupPipeliningDecision[] {
    const decisions = this.policy.send({ at: this.at, ...event } as CompleteGroupPipeliningEvent);
    for (const { publicationId } of only(decisions, 'weights.publish')) this.publicationId = publicationId;
    return decisions;
  }

  refuses(event: Record<string, unknown>): [string, string] {
    const before = JSON.stringify(this.policy.snapshot());
    const { code, path } = refusal(() => this.send(event));
    expect(JSON.stringify(this.policy.snapshot())).toBe(before);
    return [code, path];
  }

  open(roundId = 'r', weightVersion = 7): CompleteGroupPipeliningDecision[] {
    this.rewarded.set(roundId, []);
    return this.send({ type: 'round.opened', roundId, kind: 'long', weightVersion, prompts: [] });
  }

  group(
    promptId: string,
    more: Record<string, unknown> = {},
    rewards = [0, 1],
    roundId = 'r',
  ): Record<string, unknown> {
    const responses = rewards.map((reward, index) => ({ requestId: `${promptId}/${index}#0`, tokens: 10, reward }));
    const samples = rewards.length;
    const reason = { code: 'all_rewarded', responses: samples, missing: 0, waitedSeconds: 0 };
    return { type: 'group.rewarded', roundId, promptId, samples, tokens: 10 * samples, responses, reason, ...more };
  }

  reward(
    promptId: string,
    more: Record<string, unknown> = {},
    rewards = [0, 1],
    roundId = 'r',
  ): CompleteGroupPipeliningDecision[] {
    const decisions = this.send(this.group(promptId, more, rewards, roundId));
    const names = this.rewarded.get(roundId);
    if (!names?.includes(promptId)) names?.push(promptId);
    return decisions;
  }

  ending(roundId = 'r', weightVersion = 7): Record<string, unknown> {
    const prompts = this.rewarded.get(roundId)!.map((promptId) => ({
      promptId,
      responses: [{ requestId: `${promptId}/0#0`, index: 0, tokens: 10, weightVersions: [weightVersion], reward: 1 }],
    }));
    const reason = { code: 'all_groups', groups: prompts.length, afterSeconds: 0 };
    return { type: 'round.rewarded', roundId, kind: 'long', weightVersion, prompts, reason };
  }

  close(roundId = 'r', weightVersion = 7): CompleteGroupPipeliningDecision[] {
    return this.send(this.ending(roundId, weightVersion));
  }

  consume({ updateId, groups }: Pick<Named<'train.dispatch'>, 'updateId' | 'groups'>, seconds = 1) {
    return this.send({ type: 'update.consumed', updateId, groups, seconds });
  }

  stepped(updateId: string, roundId = 'r') {
    return this.send({ type: 'optimizer.stepped', roundId, updateId });
  }

  train(update: Named<'train.dispatch'>, roundId = 'r'): CompleteGroupPipeliningDecision[] {
    return [...this.consume(update), ...this.stepped(update.updateId, roundId)];
  }

  published(roundId = 'r', weightVersion = 8, publicationId = this.publicationId) {
    return this.send({ type: 'weights.published', roundId, publicationId, weightVersion });
  }
}

const only = <T extends CompleteGroupPipeliningDecision['type']>(
  decisions: readonly CompleteGroupPipeliningDecision[],
  type: T,
): Named<T>[] => decisions.filter((one) => one.type === type) as Named<T>[];
const types = (decisions: readonly CompleteGroupPipeliningDecision[]): string[] => decisions.map((one) => one.type);

describe('complete-group-pipelining', () => {
  test('a round of five groups: two updates of U, and a smaller one divided by its own count', () => {
    const session = new Session();
    session.open();
    session.at = 10;
    expect(session.reward('a')).toMatchObject([
      {
        type: 'group.trainable',
        groupId: 'a',
        order: 0,
        samples: 2,
        tokens: 20,
        mean: 0.5,
        requestIds: ['a/0#0', 'a/1#0'],
        reason: { code: 'materialized', waiting: 1, groupsPerUpdate: 2 },
      },
    ]);
    session.at = 20;
    const [, first] = session.reward('b') as [unknown, Named<'train.dispatch'>];
    expect(first).toMatchObject({
      type: 'train.dispatch',
      updateId: 'update#0',
      update: 0,
      weightVersion: 7,
      groups: ['a', 'b'],
      samples: 4,
      tokens: 40,
      microBatches: [{ groups: ['a', 'b'], tokens: 40, dynamic: false }],
      reason: { code: 'batch_ready', waiting: 2, groupsPerUpdate: 2 },
    });
    session.at = 30;
    session.reward('c');
    const [second] = only(session.reward('d'), 'train.dispatch');
    session.reward('e');
    session.at = 40;
    const [last] = only(session.close(), 'train.dispatch');
    expect(last).toMatchObject({ update: 2, groups: ['e'], samples: 2, reason: { code: 'round_end', waiting: 1 } });
    expect(session.consume(first, 12)).toMatchObject([
      {
        type: 'optimizer.step',
        updateId: 'update#0',
        samples: 4,
        groups: ['a', 'b'],
        reason: { code: 'update_consumed', update: 0 },
      },
    ]);
    expect(session.refuses({ type: 'update.consumed', updateId: 'update#1', groups: ['c', 'd'], seconds: 1 })).toEqual([
      'out_of_order',
      'updateId',
    ]);
    expect(session.stepped(first.updateId)).toEqual([]);
    session.train(second!);
    session.at = 60;
    const end = session.train(last!);
    expect(end[0]).toMatchObject({ type: 'optimizer.step', samples: 2, reason: { groups: 1, groupsPerUpdate: 2 } });
    expect(end[1]).toMatchObject({
      type: 'weights.publish',
      weightVersion: 7,
      reason: { code: 'all_consumed', groups: 5, updates: 3, afterSeconds: 20 },
    });
    session.at = 65;
    const [trained, measured] = session.published();
    expect(trained).toMatchObject({ type: 'round.trained', groups: ['a', 'b', 'c', 'd', 'e'] });
    expect(measured).toMatchObject({
      type: 'pipeline.measured',
      rolloutSeconds: 40,
      firstBatchSeconds: 20,
      firstDispatchSeconds: 20,
      recoverySeconds: 20,
      trainEndSeconds: 60,
      waitSeconds: 20,
      computeSeconds: 14,
      startWaitingRatio: 20 / 60,
      computeWaitingRatio: 20 / 34,
      wallClockWaitingRatio: 20 / 60,
      reason: { code: 'round_trained', groups: 5, dropped: 0, updates: 3, dispatches: 3 },
    });
  });

  test('the three waiting ratios differ where the trainer also waits in the middle', () => {
    const session = new Session({ globalBatchSamples: 2 });
    session.open();
    session.at = 10;
    const [first] = only(session.reward('a'), 'train.dispatch');
    session.at = 15;
    session.train(first!);
    session.at = 30;
    const [second] = only(session.reward('b'), 'train.dispatch');
    session.close();
    session.at = 40;
    session.train(second!);
    const [measured] = only(session.published(), 'pipeline.measured');
    expect(measured).toMatchObject({
      waitSeconds: 25,
      computeSeconds: 2,
      startWaitingRatio: 10 / 40,
      computeWaitingRatio: 25 / 27,
      wallClockWaitingRatio: 25 / 40,
    });
  });

  test('without pipelining the same updates are dispatched after the rollout', () => {
    const session = new Session({ pipelining: false });
    session.open();
    for (const [at, id] of ['a', 'b', 'c'].entries()) {
      session.at = 10 * (at + 1);
      expect(types(session.reward(id))).toEqual(['group.trainable']);
    }
    session.at = 40;
    const updates = only(session.close(), 'train.dispatch');
    expect(updates.map((one) => [one.groups, one.reason.code])).toEqual([
      [['a', 'b'], 'batch_ready'],
      [['c'], 'round_end'],
    ]);
    session.at = 80;
    for (const update of updates) session.train(update);
    expect(only(session.published(), 'pipeline.measured')[0]).toMatchObject({
      firstBatchSeconds: 20,
      firstDispatchSeconds: 40,
      recoverySeconds: 20,
      startWaitingRatio: 0.5,
      wallClockWaitingRatio: 0.5,
    });
  });

  test('micro-batches: the largest prefix that fits; a group over the budget alone; an update is never split', () => {
    const session = new Session({ globalBatchSamples: 10, maxTokensPerGpu: 50 });
    session.open();
    for (const [id, tokens] of Object.entries({ a: 20, b: 30, c: 1, d: 51 })) session.reward(id, { tokens });
    const [dispatch] = only(session.reward('e', { tokens: 10, promptTokens: 20 }), 'train.dispatch');
    expect(dispatch).toMatchObject({ groups: ['a', 'b', 'c', 'd', 'e'], tokens: 152 });
    expect(dispatch!.microBatches).toEqual([
      { groups: ['a', 'b'], tokens: 50, dynamic: false },
      { groups: ['c'], tokens: 1, dynamic: false },
      { groups: ['d'], tokens: 51, dynamic: true },
      { groups: ['e'], tokens: 50, dynamic: false },
    ]);
  });

  test('advantages are those of equation 1', () => {
    const session = new Session({ responsesPerPrompt: 4, globalBatchSamples: 4, std: 'population', epsilon: 0 });
    session.open();
    const [trainable] = only(session.reward('a', {}, [0, 0, 1, 1]), 'group.trainable');
    expect(trainable).toMatchObject({ mean: 0.5, std: 0.5, advantages: [-1, -1, 1, 1] });
  });

  test('filtered and incomplete groups leave by name, and the round goes on', () => {
    const session = new Session({ filter: 'zero-variance' });
    session.open();
    const [filtered] = session.reward('a', {}, [1, 1]);
    expect(filtered).toMatchObject({ groups: ['a'], reason: { code: 'zero_variance', standardDeviation: 0 } });
    const [missing] = session.reward('b', {}, [1]);
    expect(missing).toMatchObject({ groups: ['b'], reason: { code: 'incomplete', samples: 1, needed: 2 } });
    session.reward('c');
    const [update] = only(session.close(), 'train.dispatch');
    expect(update!.groups).toEqual(['c']);
    session.train(update!);
    expect(only(session.published(), 'pipeline.measured')[0]!.reason).toMatchObject({ groups: 1, dropped: 2 });
  });

  test('a round in which every group was left out is over without a step and without a publication', () => {
    const session = new Session({ filter: 'zero-variance' });
    session.open();
    session.reward('a', {}, [1, 1]);
    session.open('s');
    expect(session.close()).toMatchObject([
      { type: 'round.trained', groups: [], reason: { code: 'nothing_to_train' } },
    ]);
    expect(session.close('s')).toMatchObject([{ type: 'round.trained', roundId: 's' }]);
  });

  test('incomplete groups train where that is configured, and the update counts their samples', () => {
    const session = new Session({ incompleteGroups: 'train' });
    session.open();
    session.reward('a', {}, [1]);
    expect(only(session.reward('b'), 'train.dispatch')[0]).toMatchObject({ groups: ['a', 'b'], samples: 3 });
  });

  test('other weights are refused, or left out by name', () => {
    const versions = { responses: [{ requestId: 'a/0#0', tokens: 1, weightVersions: [6, 7], reward: 1 }], samples: 1 };
    const strict = new Session({ responsesPerPrompt: 1, globalBatchSamples: 1 });
    strict.open();
    expect(strict.refuses(strict.group('a', versions))).toEqual(['invalid_event', 'responses[0].weightVersions']);
    const lenient = new Session({ responsesPerPrompt: 1, globalBatchSamples: 1, otherVersions: 'drop' });
    lenient.open();
    expect(lenient.reward('a', versions)).toMatchObject([
      { type: 'groups.dropped', groups: ['a'], reason: { code: 'other_weights', weightVersion: 7, got: 6 } },
    ]);
    expect(lenient.close()).toMatchObject([{ type: 'round.trained', groups: [] }]);
  });

  test('nothing of the next round is dispatched before the weights of this one are published', () => {
    const session = new Session();
    session.open();
    session.reward('a');
    const [update] = only(session.reward('b'), 'train.dispatch');
    session.close();
    session.open('s', 7);
    session.at = 5;
    expect(types([...session.reward('c', {}, [0, 1], 's'), ...session.reward('d', {}, [0, 1], 's')])).toEqual([
      'group.trainable',
      'group.trainable',
    ]);
    expect(types(session.train(update!))).toEqual(['optimizer.step', 'weights.publish']);
    session.at = 9;
    expect(types(session.published())).toEqual(['round.trained', 'pipeline.measured', 'train.dispatch']);
  });

  test('a lost update is dispatched again, with the same groups, under a new id; late reports change nothing', () => {
    const session = new Session();
    session.open();
    session.reward('a');
    const [update] = only(session.reward('b'), 'train.dispatch');
    session.consume({ ...update!, groups: ['a'] });
    const [again] = only(session.send({ type: 'update.lost', updateId: update!.updateId }), 'train.dispatch');
    expect(again).toMatchObject({
      updateId: 'update#1',
      update: 0,
      groups: ['a', 'b'],
      reason: { code: 'update_lost', attempts: 1, consumed: 1 },
    });
    for (const event of [
      { type: 'update.consumed', groups: ['b'], seconds: 1 },
      { type: 'update.lost' },
      { type: 'optimizer.stepped', roundId: 'r' },
    ]) {
      expect(session.send({ ...event, updateId: update!.updateId })).toMatchObject([
        { type: 'training.late', updateId: update!.updateId, reason: { code: 'update_over' } },
      ]);
    }
    session.consume({ ...again!, groups: ['b'] });
    expect(session.consume({ ...again!, groups: ['b'] })).toMatchObject([{ reason: { code: 'already_consumed' } }]);
    expect(types(session.consume({ ...again!, groups: ['a'] }))).toEqual(['optimizer.step']);
    // The step itself can fail.
    const [third] = only(session.send({ type: 'update.lost', updateId: again!.updateId }), 'train.dispatch');
    expect(third).toMatchObject({ updateId: 'update#2', reason: { attempts: 2, consumed: 2 } });
  });

  test('a trainer that falls back gets the updates that it has lost again, in order', () => {
    const session = new Session({ globalBatchSamples: 2 });
    session.open();
    const updates = ['a', 'b', 'c'].flatMap((id) => only(session.reward(id), 'train.dispatch'));
    session.train(updates[0]!);
    session.train(updates[1]!);
    session.consume(updates[2]!);
    expect(session.refuses({ type: 'trainer.restarted', roundId: 'r', updates: 4 })).toEqual([
      'invalid_event',
      'updates',
    ]);
    const again = only(session.send({ type: 'trainer.restarted', roundId: 'r', updates: 1 }), 'train.dispatch');
    expect(again.map((one) => [one.update, one.groups, one.reason.code])).toEqual([
      [1, ['b'], 'trainer_restarted'],
      [2, ['c'], 'trainer_restarted'],
    ]);
    session.train(again[0]!);
    session.consume(again[1]!);
    // The step was made and only its report is lost: nothing is to be done again.
    expect(session.send({ type: 'trainer.restarted', roundId: 'r', updates: 3 })).toEqual([]);
    expect(types(session.close())).toEqual(['weights.publish']);
    const [publish] = session.send({ type: 'trainer.restarted', roundId: 'r', updates: 3 });
    expect(publish).toMatchObject({ type: 'weights.publish', reason: { code: 'trainer_restarted', updates: 3 } });
    const [last] = only(session.send({ type: 'trainer.restarted', roundId: 'r', updates: 2 }), 'train.dispatch');
    expect(session.published()).toMatchObject([{ type: 'training.late', reason: { code: 'publication_over' } }]);
    expect(types(session.train(last!))).toEqual(['optimizer.step', 'weights.publish']);
    expect(types(session.published())).toEqual(['round.trained', 'pipeline.measured']);
    expect(session.send({ type: 'trainer.restarted', roundId: 'r', updates: 2 })).toMatchObject([
      { type: 'training.late', reason: { code: 'round_over' } },
    ]);
  });

  test('a late report of a step, or of a publication, that was given up does not count for the next one', () => {
    const session = new Session({ globalBatchSamples: 2 });
    session.open();
    const [update] = only(session.reward('a'), 'train.dispatch');
    session.consume(update!);
    const [again] = only(session.send({ type: 'update.lost', updateId: update!.updateId }), 'train.dispatch');
    session.consume(again!);
    const before = JSON.stringify(session.policy.snapshot().state);
    const withdrawn = { type: 'training.late', updateId: 'update#0', reason: { code: 'step_withdrawn' } };
    expect(session.stepped('update#0')).toMatchObject([withdrawn]);
    expect(JSON.stringify(session.policy.snapshot().state)).toBe(before);
    session.policy = registry.restore(JSON.parse(JSON.stringify(session.policy.snapshot()))) as never;
    session.stepped('update#1');
    expect(session.stepped('update#1')).toMatchObject([{ reason: { code: 'update_over' } }]);
    expect(session.stepped('update#0')).toMatchObject([withdrawn]);

    session.close();
    const [last] = only(session.send({ type: 'trainer.restarted', roundId: 'r', updates: 0 }), 'train.dispatch');
    expect(types(session.train(last!))).toEqual(['optimizer.step', 'weights.publish']);
    expect(session.publicationId).toBe('publication#1');
    expect(session.published('r', 8, 'publication#0')).toMatchObject([
      { type: 'training.late', publicationId: 'publication#0', reason: { code: 'publication_over' } },
    ]);
    expect(types(session.published())).toEqual(['round.trained', 'pipeline.measured']);
    expect(session.published()).toMatchObject([{ reason: { code: 'publication_over' } }]);
  });

  test('a snapshot of version 1, in which publications had no id, is migrated', () => {
    const session = new Session({ globalBatchSamples: 2 });
    session.open();
    session.train(only(session.reward('a'), 'train.dispatch')[0]!);
    session.close();
    session.open('s', 8);
    const { version, state, ...rest } = JSON.parse(JSON.stringify(session.policy.snapshot()));
    const { rounds, nextPublication, withdrawnSteps, ...before } = state;
    expect([version, nextPublication, withdrawnSteps]).toEqual([2, 1, []]);
    const old = rounds.map(({ publicationId, ...round }: { publicationId: string | null }) => {
      return { ...round, isPublishing: publicationId !== null, wasPublished: publicationId !== null };
    });
    session.policy = registry.restore({ ...rest, version: 1, state: { ...before, rounds: old } }) as never;
    expect(JSON.parse(JSON.stringify(session.policy.snapshot())).state).toEqual(state);
  });

  test('a host that restarts has nothing in flight: updates and the publication are given again', () => {
    const session = new Session();
    session.open();
    session.reward('a');
    session.reward('b');
    const restarted = session.send({ type: 'host.restarted', idPrefix: 'h-' });
    // The round waits for its end: whoever is to end it hears of it, and of what is in it.
    expect(only(restarted, 'round.resumed')).toMatchObject([
      { roundId: 'r', weightVersion: 7, promptIds: ['a', 'b'], reason: { prompts: 2 } },
    ]);
    const [again] = only(restarted, 'train.dispatch');
    expect(again).toMatchObject({ updateId: 'h-update#1', reason: { code: 'host_restarted' } });
    session.policy = registry.restore(JSON.parse(JSON.stringify(session.policy.snapshot()))) as never;
    session.train(again!);
    session.close();
    expect(session.send({ type: 'host.restarted', idPrefix: 'i-' })).toMatchObject([
      { type: 'weights.publish', reason: { code: 'host_restarted' } },
    ]);
    expect(session.refuses({ type: 'host.restarted', idPrefix: 'h-' })).toEqual(['duplicate_id', 'idPrefix']);
  });

  test('a failed round: what is in the weights is published, everything else leaves by name', () => {
    const session = new Session({ globalBatchSamples: 2 });
    session.open();
    const updates = ['a', 'b', 'c', 'd'].flatMap((id) => only(session.reward(id), 'train.dispatch'));
    session.train(updates[0]!);
    session.consume(updates[1]!);
    expect(session.send({ type: 'round.failed', roundId: 'r' })).toMatchObject([
      { type: 'groups.dropped', groups: ['c', 'd'], reason: { code: 'round_failed' } },
      { type: 'update.cancel', updateIds: ['update#2', 'update#3'], reason: { groups: 2 } },
    ]);
    expect(session.reward('e')).toMatchObject([{ type: 'group.late', reason: { code: 'round_over' } }]);
    expect(session.stepped('update#1')).toMatchObject([{ type: 'weights.publish', reason: { code: 'round_failed' } }]);
    expect(session.published()).toMatchObject([{ type: 'round.trained', groups: ['a', 'b'] }]);
  });

  test('a failed round whose last step is lost, or whose trainer falls back to its beginning, is over', () => {
    for (const event of [
      { type: 'update.lost', updateId: 'update#0' },
      { type: 'trainer.restarted', roundId: 'r', updates: 0 },
    ]) {
      const session = new Session({ globalBatchSamples: 2 });
      session.open();
      session.consume(only(session.reward('a'), 'train.dispatch')[0]!);
      session.send({ type: 'round.failed', roundId: 'r' });
      expect(session.send(event)).toMatchObject([{ type: 'groups.dropped', groups: ['a'] }]);
      expect(session.policy.snapshot().state).toMatchObject({ rounds: [] });
    }
    const session = new Session({ globalBatchSamples: 2 });
    session.open();
    session.train(only(session.reward('a'), 'train.dispatch')[0]!);
    session.open('s');
    const failed = { ...session.ending(), prompts: [], reason: { code: 'round_failed' } };
    expect(types(session.send(failed))).toEqual(['weights.publish']);
    expect(types(session.send({ type: 'trainer.restarted', roundId: 'r', updates: 0 }))).toEqual(['groups.dropped']);
    expect(session.published()).toMatchObject([{ type: 'training.late', reason: { code: 'publication_over' } }]);
    expect(types(session.reward('b', {}, [0, 1], 's'))).toEqual(['group.trainable', 'train.dispatch']);
  });

  test('late groups and rounds', () => {
    const session = new Session();
    session.open();
    session.reward('a');
    expect(session.reward('a')).toMatchObject([{ type: 'group.late', groupId: 'a', reason: { code: 'known' } }]);
    const [update] = only(session.close(), 'train.dispatch');
    expect(session.reward('b')).toMatchObject([{ type: 'group.late', reason: { code: 'round_completed' } }]);
    expect(session.close()).toMatchObject([{ type: 'training.late', reason: { code: 'round_completed' } }]);
    session.train(update!);
    session.published();
    expect(session.reward('b')).toMatchObject([{ type: 'group.late', reason: { code: 'round_over' } }]);
    for (const event of [session.ending(), { type: 'round.failed', roundId: 'r' }])
      expect(session.send(event)).toMatchObject([{ type: 'training.late', reason: { code: 'round_over' } }]);
  });

  test('bad input', () => {
    const config = (input: unknown) => {
      const { code, path } = refusal(() => create(completeGroupPipelining, input as CompleteGroupPipeliningInput));
      return [code, path];
    };
    expect(config({ responsesPerPrompt: 3, globalBatchSamples: 16 })).toEqual(['invalid_config', 'globalBatchSamples']);
    expect(config({ responsesPerPrompt: 8 })[0]).toBe('invalid_config');
    const session = new Session();
    expect(session.refuses(session.group('a'))).toEqual(['unknown_id', 'roundId']);
    session.open();
    expect(
      session.refuses({ type: 'round.opened', roundId: 'r', kind: 'long', weightVersion: 7, prompts: [] }),
    ).toEqual(['duplicate_id', 'roundId']);
    expect(
      session.refuses({ type: 'round.opened', roundId: 's', kind: 'long', weightVersion: 6, prompts: [] }),
    ).toEqual(['out_of_order', 'weightVersion']);
    expect(session.refuses(session.group('a', {}, [0, 1, 1]))).toEqual(['invalid_event', 'responses']);
    expect(session.refuses(session.group('a', { samples: 1 }))).toEqual(['invalid_event', 'samples']);
    expect(session.refuses(session.group('a', {}, [0, 1e200]))).toEqual(['invalid_event', 'responses[1].reward']);
    session.reward('a');
    expect(session.refuses({ ...session.ending(), weightVersion: 8 })).toEqual(['invalid_event', 'weightVersion']);
    expect(session.refuses({ ...session.ending(), prompts: [] })).toEqual(['invalid_event', 'prompts']);
    const [prompt] = session.ending().prompts as { promptId: string }[];
    expect(session.refuses({ ...session.ending(), prompts: [prompt, prompt] })).toEqual([
      'duplicate_id',
      'prompts[1].promptId',
    ]);
    expect(session.refuses({ ...session.ending(), prompts: [{ ...prompt, promptId: 'x' }] })).toEqual([
      'unknown_id',
      'prompts[0].promptId',
    ]);
    const [update] = only(session.reward('b'), 'train.dispatch');
    const consumed = { type: 'update.consumed', updateId: update!.updateId, seconds: 1 };
    expect(session.refuses({ ...consumed, updateId: 'update#9', groups: ['a'] })).toEqual(['unknown_id', 'updateId']);
    // Not of the form of a minted id, so not of an earlier round either.
    for (const updateId of ['update', 'update#', 'update#x0', 'update#0x', 'update#00', '0', 'x-update#0'])
      expect(session.refuses({ ...consumed, updateId, groups: ['a'] })).toEqual(['unknown_id', 'updateId']);
    expect(session.refuses({ ...consumed, groups: [...update!.groups, 'c'] })).toEqual(['invalid_event', 'groups[2]']);
    expect(session.refuses({ ...consumed, groups: ['c'] })).toEqual(['invalid_event', 'groups[0]']);
    expect(session.refuses({ ...consumed, groups: ['a', 'a'] })).toEqual(['invalid_event', 'groups[1]']);
    session.send({ ...consumed, groups: ['a'] });
    expect(session.refuses({ ...consumed, groups: ['b', 'a'] })).toEqual(['invalid_event', 'groups[1]']);
    const stepped = { type: 'optimizer.stepped', roundId: 'r' };
    expect(session.refuses(stepped)).toEqual(['invalid_event', 'updateId']);
    expect(session.refuses({ ...stepped, updateId: update!.updateId })).toEqual(['out_of_order', 'updateId']);
    const published = { type: 'weights.published', roundId: 'r', publicationId: 'publication#0', weightVersion: 8 };
    expect(session.refuses(published)).toEqual(['unknown_id', 'publicationId']);
    session.open('s');
    expect(session.refuses({ type: 'trainer.restarted', roundId: 's', updates: 0 })).toEqual([
      'out_of_order',
      'roundId',
    ]);
    session.consume({ ...update!, groups: ['b'] });
    expect(session.refuses({ ...stepped, roundId: 's', updateId: update!.updateId })).toEqual([
      'invalid_event',
      'roundId',
    ]);
    session.stepped(update!.updateId);
    session.close();
    expect(session.refuses({ ...published, weightVersion: 7 })).toEqual(['invalid_event', 'weightVersion']);
    expect(session.refuses({ ...published, roundId: 's' })).toEqual(['invalid_event', 'roundId']);
    for (const publicationId of ['publication#1', 'publication#00'])
      expect(session.refuses({ ...published, publicationId })).toEqual(['unknown_id', 'publicationId']);
  });

  test('behind group-assembly: rewards come one by one, in any order, and updates go out', () => {
    const recipe = create(rewardedPipelining, { responsesPerPrompt: 2, globalBatchSamples: 4 });
    const send = (event: Record<string, unknown>) => recipe.send({ at: 1, ...event } as never) as { type: string }[];
    send({ type: 'round.opened', roundId: 'r', kind: 'long', weightVersion: 3, prompts: [] });
    const counted = (promptId: string, weightVersions?: number[]) => {
      const responses = [0, 1].map((index) => ({
        requestId: `${promptId}/${index}#0`,
        tokens: 5,
        ...(weightVersions === undefined ? {} : { weightVersions }),
      }));
      const reason = { code: 'no_filter', counted: 1, needed: 2 };
      for (const { requestId } of responses)
        send({ type: 'response.accepted', requestId, promptId, reason: { code: 'held', held: 1, needed: 2 } });
      return send({ type: 'prompt.counted', promptId, roundId: 'r', promptTokens: 2, responses, reason });
    };
    counted('a', [3]);
    counted('b');
    for (const requestId of ['b/1#0', 'a/0#0', 'b/0#0']) send({ type: 'reward.ready', requestId, reward: 1 });
    const out = send({ type: 'reward.ready', requestId: 'a/1#0', reward: 0 });
    expect(out).toMatchObject([
      { type: 'group.trainable', groupId: 'a', tokens: 14 },
      { type: 'train.dispatch', groups: ['b', 'a'], tokens: 28 },
    ]);
  });
});
