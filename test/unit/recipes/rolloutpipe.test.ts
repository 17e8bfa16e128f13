import { describe, expect, test } from 'vitest';
import { create, type PolicyOf, registry, rolloutPipe } from '../../../src/index.ts';
import type { RolloutPipeInput } from '../../../src/recipes/rolloutpipe/index.ts';
import { partConfigs, rolloutPipeConfig } from '../../../src/recipes/rolloutpipe/schema.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { only } from '../../support/sessions/session.ts';

type Job = PolicyOf<typeof rolloutPipe>;
const small = { responsesPerPrompt: 2, globalBatchSamples: 2, width: 1 } as const;

/** A recipe with short ways to send the usual events. */
class Session {
  job: Job;
  at = 0;

  constructor(config: Partial<RolloutPipeInput> = {}) {
    this.job = create(rolloutPipe, { ...small, ...config });
  }

  send(event: { type: string; [key: string]: unknown }): VocabularyDecision[] {
    return this.job.send({ at: this.at, ...event } as never) as VocabularyDecision[];
  }

  open(roundId: string, ...ids: string[]): VocabularyDecision[] {
    const prompts = ids.map((promptId) => ({ promptId, domain: 'math', promptTokens: 5 }));
    return this.send({ type: 'round.opened', roundId, kind: 'long', weightVersion: 7, prompts });
  }

  /** Both requests of each prompt. */
  arrive(roundId: string, ...ids: string[]): VocabularyDecision[] {
    const one = (promptId: string, index: number) =>
      this.send({ type: 'request.arrived', requestId: `${promptId}/${index}#0`, promptId, roundId, index });
    return ids.flatMap((promptId) => [...one(promptId, 0), ...one(promptId, 1)]);
  }

  complete(...requestIds: string[]): VocabularyDecision[] {
    return requestIds.flatMap((requestId) => this.send({ type: 'response.completed', requestId, tokens: 10 }));
  }

  reward(...requestIds: string[]): VocabularyDecision[] {
    return requestIds.flatMap((requestId, index) => this.send({ type: 'reward.ready', requestId, reward: index }));
  }

  /** Generates and rewards a whole group. */
  group(promptId: string): VocabularyDecision[] {
    const ids = [`${promptId}/0#0`, `${promptId}/1#0`];
    return [...this.complete(...ids), ...this.reward(...ids)];
  }

  train(...decisions: VocabularyDecision[]): VocabularyDecision[] {
    return only(decisions, 'train.dispatch').flatMap(({ updateId, groups, roundId }) => [
      ...this.send({ type: 'update.consumed', updateId, groups, seconds: 4 }),
      ...this.send({ type: 'optimizer.stepped', roundId, updateId }),
    ]);
  }

  get parts(): Record<string, { state: Record<string, unknown> }> {
    return (this.job.snapshot() as unknown as { state: { parts: never } }).state.parts;
  }

  refused(event: { type: string; [key: string]: unknown }): { code: string; path: string } {
    const before = JSON.stringify(this.job.snapshot());
    const error = refusal(() => this.send(event));
    expect(JSON.stringify(this.job.snapshot())).toBe(before);
    return error;
  }
}

const types = (decisions: readonly VocabularyDecision[]): string[] => decisions.map((one) => one.type);

describe('rolloutpipe', () => {
  test('a round: groups are admitted one after the other, trained as they are complete, and published once', () => {
    const session = new Session();
    expect(session.open('r', 'a', 'b')).toEqual([]);
    expect(types(session.arrive('r', 'a', 'b'))).toEqual([
      'request.admit',
      'request.admit',
      'request.deferred',
      'request.deferred',
    ]);
    session.at = 10;
    expect(session.complete('a/0#0')).toMatchObject([
      { type: 'response.accepted', promptId: 'a', domain: 'math', reason: { code: 'held', held: 1, needed: 2 } },
    ]);
    expect(session.reward('a/0#0')).toEqual([]);
    expect(session.complete('a/1#0')).toMatchObject([
      { type: 'response.accepted' },
      { type: 'group.left', promptId: 'a' },
      { type: 'request.admit', requestId: 'b/0#0' },
      { type: 'request.admit', requestId: 'b/1#0' },
      {
        ...{ type: 'prompt.counted', promptId: 'a', promptTokens: 5 },
        responses: [0, 1].map((index) => ({ requestId: `a/${index}#0`, tokens: 10 })),
        reason: { code: 'no_filter', counted: 1, needed: 2 },
      },
    ]);
    const first = session.reward('a/1#0');
    expect(first).toMatchObject([
      { type: 'group.rewarded', promptId: 'a', samples: 2 },
      { type: 'group.trainable', groupId: 'a', order: 0, tokens: 30 },
      { type: 'train.dispatch', groups: ['a'], weightVersion: 7 },
    ]);
    session.at = 16;
    expect(types(session.train(...first))).toEqual(['optimizer.step']);
    session.at = 30;
    session.complete('b/0#0', 'b/1#0');
    session.at = 32;
    const last = session.reward('b/0#0', 'b/1#0');
    expect(types(last)).toEqual(['group.rewarded', 'round.rewarded', 'group.trainable', 'train.dispatch']);
    session.at = 36;
    expect(types(session.train(...last))).toEqual(['optimizer.step', 'weights.publish']);
    session.at = 40;
    expect(
      session.send({ type: 'weights.published', roundId: 'r', publicationId: 'publication#0', weightVersion: 8 }),
    ).toMatchObject([
      { type: 'round.trained', groups: ['a', 'b'] },
      {
        type: 'pipeline.measured',
        rolloutSeconds: 32,
        firstDispatchSeconds: 10,
        recoverySeconds: 22,
        trainEndSeconds: 36,
        waitSeconds: 26,
        computeSeconds: 8,
        startWaitingRatio: 10 / 36,
        computeWaitingRatio: 26 / 34,
        wallClockWaitingRatio: 26 / 36,
      },
    ]);
    expect(session.parts.collection!.state).toEqual({ rounds: [], responses: [] });
  });

  test.each([
    { pipelining: true, frontier: true, deferred: 2, early: 1 },
    { pipelining: true, frontier: false, deferred: 0, early: 1 },
    { pipelining: false, frontier: true, deferred: 2, early: 0 },
    { pipelining: false, frontier: false, deferred: 0, early: 0 },
  ])('pipelining $pipelining, frontier $frontier', ({ pipelining, frontier, deferred, early }) => {
    const session = new Session({ pipelining, frontier });
    session.open('r', 'a', 'b');
    expect(only(session.arrive('r', 'a', 'b'), 'request.deferred')).toHaveLength(deferred);
    const first = only(session.group('a'), 'train.dispatch');
    expect(first).toHaveLength(early);
    const last = only(session.group('b'), 'train.dispatch');
    expect([...first, ...last].map((one) => one.groups)).toEqual([['a'], ['b']]);
    expect(types(session.train(...first, ...last))).toEqual(['optimizer.step', 'optimizer.step', 'weights.publish']);
  });

  test('with `frontier: false` its settings mean nothing; U of the frontier is B / K', () => {
    const off = partConfigs(rolloutPipeConfig.parse({ ...small, globalBatchSamples: 8, frontier: false }));
    expect(off.frontier).toMatchObject({ width: Number.MAX_SAFE_INTEGER, groupsPerUpdate: 4, responsesPerPrompt: 2 });
    const bare = create(rolloutPipe, { responsesPerPrompt: 1, globalBatchSamples: 1, frontier: false });
    expect(bare.config).toMatchObject({ frontier: false, pipelining: true, otherVersions: 'refuse' });
  });

  test('bad configurations are refused by their path', () => {
    const of = (config: object) => refusal(() => create(rolloutPipe, config as RolloutPipeInput));
    expect(of({ responsesPerPrompt: 2, globalBatchSamples: 2 })).toMatchObject({
      code: 'invalid_config',
      path: 'width',
    });
    expect(of({ ...small, globalBatchSamples: 3 })).toMatchObject({ path: 'globalBatchSamples' });
    expect(of({ ...small, width: 0 })).toMatchObject({ code: 'invalid_config', path: 'width' });
    expect(of({ ...small, groupsPerUpdate: 1 })).toMatchObject({ code: 'invalid_config' });
  });

  test('events of one part for another are refused from outside', () => {
    const outside = new Set(rolloutPipe.events.map((message) => message.type as string));
    const internal = ['group.rewarded', 'round.rewarded', 'prompt.counted', 'round.completed', 'train.consumed'];
    for (const type of [...internal, 'request.admit', 'group.left', 'response.accepted', 'request.launch']) {
      expect(outside.has(type)).toBe(false);
      expect(new Session().refused({ type })).toMatchObject({ code: 'invalid_event', path: 'type' });
    }
  });

  test('a round and its requests have to fit each other', () => {
    const session = new Session();
    session.open('r', 'a', 'b');
    const opened = { type: 'round.opened', roundId: 's', kind: 'long', weightVersion: 7 };
    const round = (...prompts: object[]) => session.refused({ ...opened, prompts });
    expect(round({ promptId: 'a' })).toMatchObject({ code: 'duplicate_id', path: 'prompts[0].promptId' });
    expect(round({ promptId: 'c' }, { promptId: 'c' })).toMatchObject({ path: 'prompts[1].promptId' });
    const kept = [{ requestId: 'c/0#0', index: 0, tokens: 3, weightVersions: [6], finished: false }];
    expect(round({ promptId: 'c', kept })).toMatchObject({ code: 'invalid_event', path: 'prompts[0].kept' });
    expect(session.refused({ ...opened, roundId: 'r', prompts: [] })).toMatchObject({ code: 'duplicate_id' });
    expect(session.refused({ ...opened, weightVersion: 6, prompts: [] })).toMatchObject({ code: 'out_of_order' });

    const arrived = { type: 'request.arrived', requestId: 'a/0#0', promptId: 'a', roundId: 'r', index: 0 };
    expect(session.refused({ ...arrived, roundId: 's' })).toMatchObject({ code: 'unknown_id', path: 'roundId' });
    expect(session.refused({ ...arrived, promptId: 'c' })).toMatchObject({ code: 'unknown_id', path: 'promptId' });
    expect(session.refused({ ...arrived, index: 2 })).toMatchObject({ code: 'invalid_event', path: 'index' });
    session.arrive('r', 'a', 'b');
    expect(session.refused(arrived)).toMatchObject({ code: 'duplicate_id', path: 'requestId' });
    session.complete('a/0#0', 'a/1#0');
    // Its group has left; its responses are still known.
    expect(session.refused({ ...arrived, requestId: 'a/0#1' })).toMatchObject({ code: 'out_of_order' });
    const taken = { ...arrived, promptId: 'b', index: 1 };
    expect(session.refused(taken)).toMatchObject({ code: 'duplicate_id', path: 'requestId' });
  });

  test('rewards and weights that no trainer could take are refused as they come in', () => {
    const session = new Session();
    session.open('r', 'a');
    session.arrive('r', 'a');
    const completed = { type: 'response.completed', requestId: 'a/0#0', tokens: 9 };
    expect(session.refused({ ...completed, weightVersions: [7, 8] })).toMatchObject({
      code: 'invalid_event',
      path: 'weightVersions[1]',
    });
    expect(types(session.send({ ...completed, weightVersions: [7] }))).toEqual(['response.accepted']);
    // Late: not looked at.
    expect(types(session.send({ ...completed, weightVersions: [8] }))).toEqual(['response.late']);
    expect(session.refused({ type: 'reward.ready', requestId: 'a/0#0', reward: 1e200 })).toMatchObject({
      code: 'invalid_event',
      path: 'reward',
    });
  });

  test('`otherVersions: drop`: a group with other weights is left out by name, and the round ends', () => {
    const session = new Session({ otherVersions: 'drop' });
    session.open('r', 'a');
    session.arrive('r', 'a');
    session.send({ type: 'response.completed', requestId: 'a/0#0', tokens: 9, weightVersions: [6, 7] });
    const end = [...session.complete('a/1#0'), ...session.reward('a/0#0', 'a/1#0')];
    expect(end).toContainEqual(expect.objectContaining({ type: 'groups.dropped', groups: ['a'] }));
    expect(end.at(-1)).toMatchObject({ type: 'round.trained', reason: { code: 'nothing_to_train' } });
  });

  test('failed responses and rewards do not hold up the round', () => {
    const session = new Session({ incompleteGroups: 'train', width: 3 });
    session.open('r', 'a', 'b', 'c');
    session.arrive('r', 'a', 'b', 'c');
    const failed = (requestId: string) => session.send({ type: 'response.failed', requestId, kind: 'data' });
    expect([...failed('a/0#0'), ...failed('a/1#0')]).toMatchObject([
      { type: 'group.left', promptId: 'a' },
      { type: 'group.unrewarded', promptId: 'a', reason: { code: 'no_response', givenUp: 2 } },
    ]);
    const reason = { code: 'timeout', timeouts: 1, budget: 0 };
    session.complete('b/0#0', 'b/1#0', 'c/0#0');
    for (const requestId of ['b/0#0', 'b/1#0'])
      session.send({ type: 'reward.failed', requestId, kind: 'rule', reason });
    expect(types(failed('c/1#0'))).toEqual(['group.left', 'prompt.counted', 'round.completed']);
    const last = session.reward('c/0#0');
    expect(types(last)).toEqual(['group.rewarded', 'round.rewarded', 'group.trainable', 'train.dispatch']);
    expect(only(last, 'train.dispatch')).toMatchObject([{ groups: ['c'], samples: 1 }]);
    expect(types(session.train(...last))).toEqual(['optimizer.step', 'weights.publish']);
  });

  test('a round without prompts is over at once; requests of a round that is complete are refused', () => {
    const session = new Session();
    expect(types(session.open('r'))).toEqual(['round.completed', 'round.rewarded', 'round.trained']);
    const arrived = { type: 'request.arrived', requestId: 'a/0#0', promptId: 'a', roundId: 'r', index: 0 };
    expect(session.refused(arrived)).toMatchObject({ path: 'roundId' });
  });

  test('retries: with `awaitRetries` another request takes the place of one that failed', () => {
    const session = new Session({ awaitRetries: true });
    session.open('r', 'a');
    session.arrive('r', 'a');
    session.send({ type: 'response.failed', requestId: 'a/0#0', kind: 'infrastructure' });
    expect(types(session.complete('a/1#0'))).toEqual(['response.accepted']);
    const again = { type: 'request.arrived', requestId: 'a/0#1', promptId: 'a', roundId: 'r', index: 0 };
    expect(types(session.send(again))).toEqual(['request.dropped', 'request.admit']);
    expect(only(session.complete('a/0#1'), 'prompt.counted')).toMatchObject([
      { responses: [{ requestId: 'a/0#1' }, { requestId: 'a/1#0' }] },
    ]);
  });

  describe('a round that fails', () => {
    const failed = { type: 'round.failed', roundId: 'r' };

    test('while it is generated, rewarded and trained: each prompt is named once, and may come again at once', () => {
      const session = new Session({ width: 3, globalBatchSamples: 4 });
      session.open('r', 'a', 'b', 'c', 'd');
      session.arrive('r', 'a', 'b', 'c', 'd');
      session.group('a');
      session.complete('b/0#0', 'b/1#0', 'c/0#0');
      const decisions = session.send(failed);
      expect(only(decisions, 'prompt.returned').map((one) => [one.prompt.promptId, one.dropped.length])).toEqual([
        ['b', 2],
        ['c', 1],
        ['d', 0],
      ]);
      expect(only(decisions, 'request.abort').map((one) => one.requestId)).toEqual(['c/1#0', 'd/0#0', 'd/1#0']);
      expect(only(decisions, 'groups.dropped')).toMatchObject([{ groups: ['a'], reason: { code: 'round_failed' } }]);
      expect(types(decisions)).not.toContain('group.withdrawn');
      session.open('s', 'c', 'd', 'b', 'e');
      const requests = ['c', 'd', 'b'].flatMap((promptId) =>
        [0, 1].flatMap((index) => {
          const requestId = `${promptId}/${index}#1`;
          return session.send({ type: 'request.arrived', requestId, promptId, roundId: 's', index });
        }),
      );
      expect(types(requests)).toEqual(Array.from({ length: 6 }, () => 'request.admit'));
      // What the old requests bring is late.
      expect(types(session.complete('c/1#0'))).toEqual(['response.late']);
      expect(types(session.send({ type: 'request.aborted', requestId: 'd/0#0' }))).toEqual(['response.late']);
      expect(types(session.reward('b/0#0'))).toEqual(['reward.unused']);
    });

    test('after its rollout, while it waits for rewards', () => {
      const session = new Session();
      session.open('r', 'a');
      session.arrive('r', 'a');
      session.complete('a/0#0', 'a/1#0');
      expect(types(session.send(failed))).toEqual(['prompt.returned', 'round.rewarded']);
      expect(types(session.send(failed))).toEqual(['training.late']);
      expect(session.refused({ ...failed, roundId: 's' })).toMatchObject({ code: 'unknown_id' });
      expect(session.parts.assembly!.state).toEqual({ open: [], rounds: [] });
    });

    test('with a step made: what is in the weights is published', () => {
      const session = new Session();
      session.open('r', 'a', 'b');
      session.arrive('r', 'a', 'b');
      session.train(...session.group('a'));
      expect(types(session.send(failed))).toEqual([
        'request.abort',
        'request.abort',
        'prompt.returned',
        'weights.publish',
        'group.left',
      ]);
    });
  });

  test('after a restart of the host, requests are dropped by name and rewards are asked for again', () => {
    const session = new Session();
    session.open('r', 'a', 'b');
    session.arrive('r', 'a', 'b');
    session.complete('a/0#0', 'a/1#0', 'b/0#0');
    session.reward('a/0#0');
    const decisions = session.send({ type: 'host.restarted', idPrefix: 'h-' });
    expect(decisions).toMatchObject([
      { type: 'request.dropped', requestId: 'b/1#0', reason: { code: 'host_restarted' } },
      { type: 'reward.request', requestId: 'a/1#0', domain: 'math', reason: { code: 'host_restarted' } },
      { type: 'reward.request', requestId: 'b/0#0' },
    ]);
    const again = { type: 'request.arrived', requestId: 'h-b/1#0', promptId: 'b', roundId: 'r', index: 1 };
    expect(types(session.send(again))).toEqual(['request.admit']);
  });

  const places = (decisions: readonly VocabularyDecision[]): string[] => {
    const asked = only(decisions, 'request.awaited').map((one) => `${one.promptId}/${one.index}`);
    const dropped = only(decisions, 'request.dropped').filter((one) => one.reason.code === 'host_restarted');
    return [...asked, ...dropped.map((one) => `${one.promptId}/${one.index}`)].sort();
  };

  test('and every response of an open round that has no request is named, once', () => {
    const session = new Session({ awaitRetries: true });
    const prompts = ['a', 'b', 'c'].map((promptId) => ({ promptId, ref: `body of ${promptId}` }));
    session.send({ type: 'round.opened', roundId: 'r', kind: 'long', weightVersion: 7, prompts });
    const arrive = (promptId: string, index: number, id = `${promptId}/${index}#0`) =>
      session.send({ type: 'request.arrived', requestId: id, promptId, roundId: 'r', index });
    // Of a one has failed and one has not come, of b one waits, of c nothing is here.
    arrive('a', 1);
    session.send({ type: 'response.failed', requestId: 'a/1#0', kind: 'infrastructure' });
    arrive('b', 0);
    session.job = registry.restore(JSON.parse(JSON.stringify(session.job.snapshot()))) as never;
    const decisions = session.send({ type: 'host.restarted', idPrefix: 'h-' });
    expect(places(decisions)).toEqual(['a/0', 'a/1', 'b/0', 'b/1', 'c/0', 'c/1']);
    const awaited = only(decisions, 'request.awaited');
    expect(awaited.filter((one) => one.promptId === 'c')).toMatchObject([{ ref: 'body of c' }, { ref: 'body of c' }]);
    for (const { promptId, index } of awaited) arrive(promptId, index, `h-${promptId}/${index}`);
    arrive('b', 0, 'h-b/0');
    const ids = ['a', 'b', 'c'].flatMap((id) => [`h-${id}/0`, `h-${id}/1`]);
    expect(only(session.complete(...ids), 'round.completed')).toHaveLength(1);
    expect(only(session.reward(...ids), 'train.dispatch')).toHaveLength(3);
  });

  test('a snapshot of which the collection has version 1: what may not have come is asked for', () => {
    const session = new Session();
    session.open('r', 'a', 'b', 'c');
    session.arrive('r', 'a');
    session.complete('a/0#0', 'a/1#0');
    session.send({ type: 'request.arrived', requestId: 'b/0#0', promptId: 'b', roundId: 'r', index: 0 });
    const saved = JSON.parse(JSON.stringify(session.job.snapshot()));
    const { collection } = saved.state.parts;
    collection.version = 1;
    for (const group of collection.state.rounds[0].groups) if (group.status === 'opened') group.status = 'generating';
    session.job = registry.restore(saved) as never;
    expect(places(session.send({ type: 'host.restarted', idPrefix: 'h-' }))).toEqual(['b/0', 'b/1', 'c/0', 'c/1']);
    for (const state of [
      null,
      { rounds: [null], responses: [] },
      { rounds: [{ groups: [null] }], responses: [null] },
    ]) {
      collection.state = state;
      expect(refusal(() => registry.restore(saved))).toMatchObject({ code: 'snapshot_mismatch' });
    }
  });

  test('what the trainer worked on reaches the frontier once, in whatever reports', () => {
    const session = new Session({ globalBatchSamples: 4, width: 2 });
    session.open('r', 'a', 'b', 'c');
    session.arrive('r', 'a', 'b', 'c');
    const trainer = () => (session.parts.frontier!.state as { pace: { trainer: unknown } }).pace.trainer;
    session.at = 10;
    const { updateId } = only([...session.group('a'), ...session.group('b')], 'train.dispatch')[0]!;
    const part = (groups: string[], seconds: number) =>
      session.send({ type: 'update.consumed', updateId, groups, seconds });
    session.at = 20;
    expect(part(['a'], 3)).toEqual([]);
    expect(types(part(['a'], 3))).toEqual(['training.late']);
    expect(trainer()).toMatchObject({ groups: 0 });
    expect(part(['b'], 4)).toMatchObject([
      { type: 'optimizer.step', groups: ['a', 'b'], samples: 4, reason: { code: 'update_consumed', seconds: 7 } },
    ]);
    expect(trainer()).toMatchObject({ groups: 2, busySeconds: 7 });
    expect(types(part(['a', 'b'], 7))).toEqual(['training.late']);
    expect(trainer()).toMatchObject({ groups: 2, busySeconds: 7 });
  });

  test('a snapshot in the middle of everything goes on as if nothing had been', () => {
    const session = new Session();
    session.open('r', 'a', 'b');
    session.arrive('r', 'a', 'b');
    session.complete('a/0#0', 'a/1#0', 'b/0#0');
    session.reward('a/0#0');
    const saved = JSON.parse(JSON.stringify(session.job.snapshot()));
    const rest = (): VocabularyDecision[] => [...session.reward('a/1#0'), ...session.complete('b/1#0')];
    const expected = rest();
    session.job = registry.restore(saved) as never;
    expect(session.job.snapshot()).toEqual(saved);
    expect(rest()).toEqual(expected);
  });
});
