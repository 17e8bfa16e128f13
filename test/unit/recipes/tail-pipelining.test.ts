import { describe, expect, test } from 'vitest';
import { create, tailPipelining } from '../../../src/index.ts';
import type { TailPipeliningInput } from '../../../src/recipes/tail-pipelining/index.ts';
import { partConfigs, tailPipeliningConfig } from '../../../src/recipes/tail-pipelining/schema.ts';
import type { Prompt, VocabularyDecision } from '../../../src/schemas/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { only, Session } from '../../support/sessions/session.ts';

/** Two prompts count of three, two responses of three. */
const small = {
  promptsPerRound: 2,
  responsesPerPrompt: 2,
  promptSpeculation: 1.5,
  responseSpeculation: 1.5,
  globalBatchSamples: 2,
} as const;

type Event = { type: string; [key: string]: unknown };

class Job extends Session {
  constructor(config: Partial<TailPipeliningInput> = {}) {
    super(create(tailPipelining, { ...small, ...config }) as never);
  }

  tell(event: Event): VocabularyDecision[] {
    return this.send(event as never);
  }

  /** Opens a round, and supplies what it asks for. */
  request(weightVersion: number, ...prompts: Prompt[]): VocabularyDecision[] {
    const roundId = `r${this.rounds++}`;
    const decisions = this.tell({ type: 'round.requested', roundId, weightVersion });
    if (prompts.length > 0) decisions.push(...this.tell({ type: 'prompts.supplied', roundId, prompts }));
    return decisions;
  }

  reward(...requestIds: string[]): VocabularyDecision[] {
    return requestIds.flatMap((requestId, index) => this.tell({ type: 'reward.ready', requestId, reward: index }));
  }

  train(decisions: readonly VocabularyDecision[]): VocabularyDecision[] {
    return only(decisions, 'train.dispatch').flatMap(({ updateId, groups, roundId }) => [
      ...this.tell({ type: 'update.consumed', updateId, groups, seconds: 4 }),
      ...this.tell({ type: 'optimizer.stepped', roundId, updateId }),
    ]);
  }

  get parts(): Record<string, { state: Record<string, unknown[]> }> {
    return (this.policy.snapshot() as { state: { parts: never } }).state.parts;
  }
}

const three: Prompt[] = ['a', 'b', 'c'].map((promptId) => ({ promptId, ref: `body of ${promptId}`, promptTokens: 5 }));
const types = (decisions: readonly VocabularyDecision[]): string[] => decisions.map((one) => one.type);
const ids = (decisions: readonly { readonly requestId: string }[]): string[] => decisions.map((one) => one.requestId);

describe('tail-pipelining', () => {
  test('a short round: what counts is trained while the rest is generated, what is late goes to a long round', () => {
    const job = new Job();
    const opened = job.request(7, ...three);
    expect(types(opened).slice(0, 2)).toEqual(['round.planned', 'prompts.request']);
    expect(only(opened, 'request.launch')).toHaveLength(9);
    job.at = 5;
    expect(types(job.complete('a/0#0'))).toEqual(['response.accepted']);
    expect(job.reward('a/0#0')).toEqual([]);
    const collected = job.complete('a/2#0');
    expect(types(collected)).toEqual([
      'response.accepted',
      'prompt.collected',
      'request.abort',
      'timer.set',
      'prompt.counted',
    ]);
    const first = job.reward('a/2#0');
    expect(first).toMatchObject([
      { type: 'group.rewarded', promptId: 'a', samples: 2, promptTokens: 5 },
      { type: 'group.trainable', groupId: 'a', tokens: 30 },
      { type: 'train.dispatch', groups: ['a'], weightVersion: 7, reason: { code: 'batch_ready' } },
    ]);
    expect(types(job.train(first))).toEqual(['optimizer.step']);
    job.at = 9;
    const last = job.complete('b/0#0', 'b/1#0');
    expect(only(last, 'round.completed')).toMatchObject([{ kind: 'short', reason: { code: 'quota_reached' } }]);
    expect(only(last, 'prompt.deferred')).toMatchObject([{ prompt: { promptId: 'c', ref: 'body of c' } }]);
    job.confirm([...collected, ...last]);
    // Counted, and no reward yet: nothing is published.
    const rest = job.reward('b/0#0', 'b/1#0');
    expect(types(rest)).toEqual(['group.rewarded', 'round.rewarded', 'group.trainable', 'train.dispatch']);
    expect(types(job.train(rest))).toEqual(['optimizer.step', 'weights.publish']);
    expect(
      types(job.tell({ type: 'weights.published', roundId: 'r0', publicationId: 'publication#0', weightVersion: 8 })),
    ).toEqual(['round.trained', 'pipeline.measured']);
    // One is queued, and two are needed for a long round.
    const next = job.request(8, { promptId: 'd' }, { promptId: 'e' }, { promptId: 'f' });
    expect(only(next, 'round.planned')).toMatchObject([{ kind: 'short', queued: [] }]);
    job.complete('d/0#1', 'd/1#1', 'e/0#1', 'e/1#1');
    expect(job.parts.queue!.state.entries).toHaveLength(2);
  });

  test('a long round is trained as it is generated, too: P0 prompts, R0 responses, no speculation', () => {
    const job = new Job();
    job.request(0, ...three);
    const short = [...job.complete('a/0#0', 'a/1#0'), ...job.complete('b/0#0', 'b/1#0')];
    job.confirm(short);
    const dispatched = job.reward('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    job.train(dispatched);
    job.tell({ type: 'weights.published', roundId: 'r0', publicationId: 'publication#0', weightVersion: 1 });
    job.tell({ type: 'source.exhausted' });
    const long = job.request(1);
    expect(only(long, 'round.planned')).toMatchObject([{ kind: 'long', reason: { code: 'source_exhausted' } }]);
    expect(ids(only(long, 'request.launch'))).toEqual(['c/0#1', 'c/1#1']);
    job.complete('c/0#1', 'c/1#1');
    const trained = job.reward('c/0#1', 'c/1#1');
    expect(types(job.train(trained))).toEqual(['optimizer.step', 'weights.publish']);
    job.tell({ type: 'weights.published', roundId: 'r1', publicationId: 'publication#1', weightVersion: 2 });
    expect(types(job.request(2))).toEqual(['source.drained']);
  });

  test('a last update is smaller where P0 is no multiple of U, and with `pipelining: false` all come after the rollout', () => {
    for (const pipelining of [true, false]) {
      const job = new Job({ promptsPerRound: 3, promptSpeculation: 1, globalBatchSamples: 4, pipelining });
      job.request(0, ...three);
      const decisions = ['a', 'b', 'c'].flatMap((id) => {
        job.complete(`${id}/0#0`, `${id}/1#0`);
        return job.reward(`${id}/0#0`, `${id}/1#0`);
      });
      expect(only(decisions, 'train.dispatch')).toMatchObject([
        { groups: ['a', 'b'], reason: { code: 'batch_ready' } },
        { groups: ['c'], reason: { code: 'round_end' } },
      ]);
      const dispatched = decisions.findIndex((one) => one.type === 'train.dispatch');
      expect(types(decisions.slice(0, dispatched)).includes('round.rewarded')).toBe(!pipelining);
    }
  });

  test('with a filter a prompt counts after its rewards, and one without variance is replaced', () => {
    const job = new Job({ filter: 'zero-variance' });
    job.request(0, ...three);
    job.complete('a/0#0', 'a/1#0');
    const equal = ['a/0#0', 'a/1#0'].flatMap((requestId) => job.tell({ type: 'reward.ready', requestId, reward: 1 }));
    expect(types(equal)).toEqual(['prompt.filtered', 'prompts.request']);
    expect(job.parts.assembly!.state.open).toEqual([]);
    expect(types(job.complete('b/0#0', 'b/1#0'))).not.toContain('prompt.counted');
    expect(types(job.reward('b/0#0', 'b/1#0'))).toEqual([
      'prompt.counted',
      'group.rewarded',
      'group.trainable',
      'train.dispatch',
    ]);
  });
});

describe('a frontier', () => {
  const narrow = { frontier: true, width: 1 } as const;

  test('requests come to an engine as their prompts come into service; launches stay inside', () => {
    const job = new Job(narrow);
    const opened = job.request(7, ...three);
    expect(only(opened, 'request.launch')).toEqual([]);
    expect(only(opened, 'request.admit')).toMatchObject([0, 1, 2].map((index) => ({ index, ref: 'body of a' })));
    expect(only(opened, 'request.deferred')).toHaveLength(6);
    job.complete('a/0#0');
    // Its slot is free as its siblings are aborted, not when that is confirmed.
    const left = job.complete('a/1#0');
    expect(ids(only(left, 'request.abort'))).toEqual(['a/2#0']);
    expect(only(left, 'group.left')).toMatchObject([{ promptId: 'a', reason: { completed: 2, givenUp: 1 } }]);
    expect(ids(only(left, 'request.admit'))).toEqual(['b/0#0', 'b/1#0', 'b/2#0']);
  });

  test('what was never admitted is dropped with its round, deferred, and its abort needs no answer', () => {
    const job = new Job(narrow);
    job.request(7, ...three);
    const decisions = job.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    expect(only(decisions, 'round.completed')).toHaveLength(1);
    expect(ids(only(decisions, 'request.dropped'))).toEqual(['c/0#0', 'c/1#0', 'c/2#0']);
    expect(only(decisions, 'request.dropped').every((one) => !one.admitted && one.reason.code === 'aborted')).toBe(
      true,
    );
    expect(only(decisions, 'prompt.deferred')).toMatchObject([{ prompt: { promptId: 'c' } }]);
    expect(job.parts.frontier!.state.groups).toEqual([]);
    // Two that ran were aborted: the round drains when they are confirmed.
    expect(only(decisions, 'round.drained')).toEqual([]);
    expect(types(job.tell({ type: 'request.aborted', requestId: 'a/2#0' }))).toEqual([]);
    expect(types(job.tell({ type: 'request.aborted', requestId: 'b/2#0' }))).toEqual(['round.drained']);
    expect(types(job.tell({ type: 'request.aborted', requestId: 'c/2#0' }))).toEqual(['response.late']);
  });

  test('a request that fails keeps its place for the next try; one whose tries are used up gives it up', () => {
    const retry = { infrastructure: 1, data: 0, environment: 0 };
    const job = new Job({ ...narrow, retry });
    job.request(7, ...three);
    const failed = (requestId: string) => job.tell({ type: 'response.failed', requestId, kind: 'infrastructure' });
    expect(failed('a/0#0')).toMatchObject([
      { type: 'request.dropped', requestId: 'a/0#0', admitted: false, reason: { code: 'replaced', ended: true } },
      { type: 'request.admit', requestId: 'a/0#1' },
    ]);
    // A fault of the data gives up the response.
    const data = (requestId: string) => job.tell({ type: 'response.failed', requestId, kind: 'data' });
    expect(types(data('a/0#1'))).toEqual(['response.abandoned']);
    // Too few are left: the prompt goes, its slot too, and what runs is stopped.
    const gone = data('a/1#0');
    expect(types(gone)).toContain('prompt.failed');
    expect(ids(only(gone, 'request.admit'))).toEqual(['b/0#0', 'b/1#0', 'b/2#0']);
    expect(types(data('b/1#0'))).toEqual(['response.abandoned']);
    expect(ids(only(data('b/2#0'), 'request.admit'))).toEqual(['c/0#0', 'c/1#0', 'c/2#0']);
  });

  test('an engine that gives up a request has not got it any more, and its prompt keeps its slot', () => {
    const job = new Job(narrow);
    job.request(7, ...three);
    expect(job.tell({ type: 'request.aborted', requestId: 'a/0#0' })).toMatchObject([
      { type: 'request.dropped', requestId: 'a/0#0', admitted: false, reason: { code: 'replaced', ended: true } },
      { type: 'request.admit', requestId: 'a/0#1' },
    ]);
  });

  test('after a restart what runs is launched again in its slot, and nothing else is asked for', () => {
    const job = new Job(narrow);
    job.request(7, ...three);
    job.complete('a/0#0');
    const decisions = job.tell({ type: 'host.restarted', idPrefix: 'h-' });
    expect(types(decisions)).not.toContain('request.awaited');
    expect(ids(only(decisions, 'request.admit'))).toEqual(['h-a/1#0', 'h-a/2#0']);
    const left = job.complete('h-a/1#0');
    expect(ids(only(left, 'request.admit'))).toEqual(['h-b/0#0', 'h-b/1#0', 'h-b/2#0']);
  });

  test('a prompt with responses of the same weights leaves its slot when it has enough of them', () => {
    const job = new Job(narrow);
    const kept = [{ requestId: 'x/0#0', index: 0, tokens: 9, weightVersions: [7], finished: true }];
    job.request(7, { promptId: 'a', kept }, ...three.slice(1));
    const left = job.complete('a/1#0');
    expect(only(left, 'group.left')).toMatchObject([{ promptId: 'a', reason: { completed: 1 } }]);
    expect(only(left, 'reward.request')).toMatchObject([{ requestId: 'x/0#0' }]);
  });

  test('the frontier hears what the trainer has worked on', () => {
    const job = new Job({ frontier: true, width: 'auto', startRequests: 2 });
    job.request(0, ...three);
    job.complete('a/0#0', 'a/1#0');
    job.train(job.reward('a/0#0', 'a/1#0'));
    const { pace } = job.parts.frontier!.state as never as { pace: { trainer: { groups: number } } };
    expect(pace.trainer.groups).toBe(1);
  });
});

describe('trouble', () => {
  test('a round that is open fails: its prompts come back, and what had become groups is left out', () => {
    const job = new Job({ frontier: true, width: 2 });
    job.request(0, ...three);
    job.complete('a/0#0', 'a/1#0');
    job.reward('a/0#0', 'a/1#0');
    const failed = job.tell({ type: 'round.failed', roundId: 'r0' });
    expect(only(failed, 'prompt.returned').map((one) => one.prompt.promptId)).toEqual(['a', 'b', 'c']);
    expect(only(failed, 'groups.dropped')).toMatchObject([{ groups: ['a'], reason: { code: 'round_failed' } }]);
    expect(only(failed, 'update.cancel')).toHaveLength(1);
    expect(only(failed, 'round.rewarded')).toMatchObject([{ prompts: [], reason: { code: 'round_failed' } }]);
    expect(job.parts.frontier!.state.groups).toEqual([]);
    expect(job.parts.assembly!.state.open).toEqual([]);
    expect(job.parts.assembly!.state.rounds).toEqual([]);
    job.refuses({ type: 'round.failed', at: 0, roundId: 'never' }, 'unknown_id', 'roundId');
    expect(types(job.tell({ type: 'round.failed', roundId: 'r0' }))).toEqual(['training.late']);
  });

  test('a round that has left the rollout fails in the trainer', () => {
    const job = new Job({ promptsPerRound: 2, promptSpeculation: 1 });
    job.request(0, ...three.slice(0, 2));
    job.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    job.reward('a/0#0', 'a/1#0');
    const failed = job.tell({ type: 'round.failed', roundId: 'r0' });
    expect(types(failed)).toEqual([
      'group.withdrawn',
      'group.withdrawn',
      'round.rewarded',
      'groups.dropped',
      'update.cancel',
    ]);
    expect(types(job.reward('b/0#0'))).toEqual(['reward.unused']);
  });

  test('a restarted host: requests are issued again, rewards are asked for again, updates too', () => {
    const job = new Job({ frontier: true, width: 2, idPrefix: 'x-' });
    job.request(0, ...three);
    const aborts = job.complete('x-a/0#0', 'x-a/1#0', 'x-b/0#0');
    job.reward('x-a/0#0', 'x-a/1#0');
    const again = job.tell({ type: 'host.restarted', idPrefix: 'y-' });
    expect(only(again, 'reward.request')).toMatchObject([{ requestId: 'x-b/0#0', reason: { code: 'host_restarted' } }]);
    expect(only(again, 'train.dispatch')).toMatchObject([{ groups: ['a'], reason: { code: 'host_restarted' } }]);
    expect(ids(only(again, 'request.admit')).sort()).toEqual(
      ['b/1', 'b/2', 'c/0', 'c/1', 'c/2'].map((place) => `y-${place}#0`),
    );
    expect(only(aborts, 'request.abort')).toHaveLength(1);
    job.refuses({ type: 'host.restarted', at: 0, idPrefix: 'x-' }, 'duplicate_id', 'idPrefix');
  });

  test('internal events, reports that are not known, and rounds that come too early are refused', () => {
    const job = new Job();
    for (const type of ['round.opened', 'prompt.deferred', 'prompt.counted', 'group.rewarded', 'request.launch'])
      job.refuses({ type, at: 0 }, 'invalid_event', 'type');
    job.request(3, ...three);
    job.refuses({ type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 3 }, 'out_of_order', 'roundId');
    job.refuses({ type: 'response.completed', at: 0, requestId: 'q/0#9', tokens: 1 }, 'unknown_id', 'requestId');
    job.refuses({ type: 'update.lost', at: 0, updateId: 'update#4' }, 'unknown_id', 'updateId');
  });
});

describe('configuration', () => {
  test.each([
    [{ globalBatchSamples: 3 }, 'globalBatchSamples'],
    [{ frontier: true }, 'width'],
    [{ frontier: true, width: 2, maxInFlight: 4 }, 'maxInFlight'],
    [{ frontier: true, width: 2, placement: 'policy' }, 'placement'],
    [{ frontier: true, width: 2, responseTimeoutSeconds: 4 }, 'responseTimeoutSeconds'],
    [{ maxStaleness: 1 }, 'maxStaleness'],
    [{ partialRollout: true }, 'partialRollout'],
    [{ quotas: { code: 1 } }, 'quotas'],
    [{ normalisation: 'none' }, 'normalisation'],
  ] as const)('%j is refused', (config, path) => {
    const error = refusal(() => create(tailPipelining, { ...small, ...config } as never));
    expect(error.code).toBe('invalid_config');
    expect(`${error.path}${error.got}${error.expected}`).toContain(path);
  });

  test('each part gets what it knows, and its own filter alone decides what counts', () => {
    const config = tailPipeliningConfig.parse({
      ...small,
      filter: 'zero-variance',
      varianceTolerance: 0.1,
      order: 'fifo',
    });
    const parts = partConfigs(config);
    expect(parts.queue).toMatchObject({ promptsPerRound: 2, promptSpeculation: 1.5, order: 'fifo' });
    expect(parts.admission).toMatchObject({ filter: 'zero-variance', maxStaleness: 0, varianceTolerance: 0.1 });
    expect(parts.frontier).toMatchObject({ groupsPerUpdate: 1, awaitRetries: true, closeAtOnce: true });
    expect(parts.pipelining).toMatchObject({ filter: 'none', otherVersions: 'drop', varianceTolerance: 0.1 });
    expect(tailPipelining.decisions.map((one) => one.type)).toContain('request.admit');
  });
});
