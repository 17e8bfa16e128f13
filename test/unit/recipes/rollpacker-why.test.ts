import { describe, expect, test } from 'vitest';
import { create, type PolicyOf, rollpacker } from '../../../src/index.ts';
import type { RollpackerInput } from '../../../src/recipes/rollpacker/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { smallCluster } from '../../support/examples/configs.ts';
import { only } from '../../support/sessions/session.ts';
import { owedBy, told } from '../../support/sessions/why.ts';

const small = { ...smallCluster, promptsPerRound: 2, promptSpeculation: 1.5, responseSpeculation: 1 };

class Job {
  readonly policy: PolicyOf<typeof rollpacker>;
  at = 0;

  constructor(config: Partial<RollpackerInput> = {}) {
    this.policy = create(rollpacker, { ...small, ...config });
  }

  send(...events: readonly object[]): VocabularyDecision[] {
    return events.flatMap((event) => {
      this.at += 1;
      return this.policy.send({ at: this.at, ...event } as never) as VocabularyDecision[];
    });
  }

  worker(kind = 'rule'): VocabularyDecision[] {
    return this.send({ type: 'reward-worker.added', workerId: 'w3', kind, slots: 1 });
  }

  /** Opens a round, with the prompts p0, p1 and so on. */
  open(): VocabularyDecision[] {
    const planned = this.send({ type: 'round.requested', roundId: 'r0', weightVersion: 0 });
    const count = only(planned, 'prompts.request')[0]!.count;
    const prompts = Array.from({ length: count }, (_, index) => ({ promptId: `p${index}` }));
    return this.send({ type: 'prompts.supplied', roundId: 'r0', prompts });
  }

  /** Completes both responses of these prompts. */
  complete(...ids: string[]): VocabularyDecision[] {
    const requests = ids.flatMap((id) => [`${id}/0#0`, `${id}/1#0`]);
    return this.send(...requests.map((requestId) => ({ type: 'response.completed', requestId, tokens: 100 })));
  }

  /** Scores rewards until all are computed. */
  score(): VocabularyDecision[] {
    const said: VocabularyDecision[] = [];
    for (let [next] = this.dispatches(); next !== undefined; [next] = this.dispatches())
      said.push(...this.send({ ...next, outcome: 'scored', reward: said.length % 2, seconds: 1 }));
    return said;
  }

  dispatches(): readonly { readonly type: string }[] {
    return this.policy.why().owed.flatMap(({ event }) => (event.type === 'reward.finished' ? [event] : []));
  }

  why(id: string, what?: string): string[] {
    return told(this.policy.why(id, what));
  }
}

const aborts = (decisions: readonly VocabularyDecision[]) =>
  only(decisions, 'request.abort').map(({ requestId }) => ({ type: 'request.aborted', requestId }));

describe('why, through the parts of rollpacker', () => {
  test('a prompt that is filtered waits for its rewards, and these for a worker', () => {
    const job = new Job({ defaultRewardKind: 'sandbox', filter: 'zero-variance' });
    job.open();
    expect(job.why('p0')).toEqual([
      'p0 has 0 of 2 responses',
      'p0/0#0 runs on engine g0',
      'engine g0: response.completed p0/0#0',
      'engine g1: response.completed p0/1#0',
    ]);
    job.complete('p0');
    expect(job.why('p0')).toEqual([
      'p0 has its responses, and is not judged yet',
      'p0/0#0 waits for a reward worker (sandbox)',
      'host: reward-worker.added sandbox',
    ]);
    job.worker('sandbox');
    const worker = 'reward worker w3: reward.finished reward/0';
    const timer = 'timer: timer.fired reward-dispatch/deadline';
    expect(job.why('p0')).toEqual([
      'p0 has its responses, and is not judged yet',
      'p0/0#0 is with reward worker w3',
      worker,
      timer,
    ]);
    // The part that gives timeouts waits for the same worker, and so does the response behind it.
    expect(job.why('p0/0#0', 'runs').slice(1)).toEqual(['p0/0#0 is with reward worker w3', worker, timer]);
    expect(job.why('p0/1#0', 'samples')).toEqual([
      'p0/1#0 waits for a reward worker (sandbox)',
      'sandbox workers have no free slot',
      'reward/0 runs on reward worker w3',
      worker,
      timer,
    ]);
  });

  test('a complete round waits for rewards; the next round waits only for what its opening needs', () => {
    const job = new Job();
    job.worker();
    job.open();
    const over = job.complete('p0', 'p1');
    expect(job.why('r0').slice(0, 6)).toEqual([
      'r0 is over, with 2 requests in flight',
      'p0 has 0 of 2 rewards',
      'p0/0#0 has no reward',
      'p0/0#0 is with reward worker w3',
      'reward worker w3: reward.finished reward/0',
      'engine g0: request.aborted p2/0#0',
    ]);
    expect(job.why('p2')).toEqual([
      'p2 is queued for a long round, with 1 of 2 prompts',
      'r0 is over, with 2 requests in flight',
      'p2/0#0 is being aborted on engine g0',
      'engine g0: request.aborted p2/0#0',
      'engine g1: request.aborted p2/1#0',
      'timer: timer.fired speculative-admission/abort-grace',
    ]);
    job.send(...aborts(over));
    expect(job.why('p2').slice(1)).toEqual(['host: round.requested']);
  });

  test('groups wait for the trainer, and then for the optimizer', () => {
    const job = new Job();
    job.worker();
    job.open();
    job.send(...aborts(job.complete('p0', 'p1')));
    const [finish] = only(job.score(), 'train.finish');
    const [first, last] = finish!.shares.map((share) => ({ type: 'train.finished', ...share, seconds: 3 }));
    expect(job.why('p0')).toEqual(['p0 is trained by replica d0', 'trainer d0: train.finished d0#0 d0']);
    job.send(first!);
    expect(job.why('p0')).toEqual([
      'p0 is in the gradients of replica d0',
      'r0 is complete, and its last groups are trained',
      'd1#1 is trained by replica d1',
      'trainer d1: train.finished d1#1 d1',
    ]);
    job.send(last!);
    expect(job.why('g0')).toContain('trainer: optimizer.stepped r0 update#0');
    job.send({ type: 'optimizer.stepped', roundId: 'r0', updateId: 'update#0' });
    expect(owedBy(job.policy.why())).toEqual(['host: round.requested']);
  });

  test('rewards that are computed after the round wait for its other prompts', () => {
    const job = new Job({ asyncReward: false });
    job.open();
    job.complete('p0');
    expect(job.why('p0', 'groups').slice(0, 3)).toEqual([
      'p0 has 0 of 2 rewards',
      'p0/0#0 has no reward',
      'p0/0#0 is complete',
    ]);
    expect(job.why('p0', 'groups')).toContain('engine g2: response.completed p1/0#0');
  });

  test('GPUs on their way to training, and back', () => {
    const job = new Job({ promptsPerRound: 3, kvBytesPerToken: 1 });
    const launched = only(job.open(), 'request.launch').filter(({ promptId }) => promptId !== 'p0');
    const [query] = only(job.complete('p0'), 'progress.query');
    const { queryId } = query!;
    expect(job.why(queryId)).toContain('engine: progress.reported query-0');
    const requests = launched.map(({ requestId, engineId }) => ({ requestId, engineId, tokens: 5, promptTokens: 5 }));
    const [release] = only(job.send({ type: 'progress.reported', queryId, requests }), 'gpus.release');
    const { releaseId, migrations } = release!;
    expect(job.why('g0').slice(0, 4)).toEqual([
      'g0 is to leave the rollout',
      'release-1 takes its GPUs from the rollout',
      'p2/0#0 moves from engine g0 to engine g2',
      'engine g2: request.migrated release-1 p2/0#0',
    ]);
    const moved = migrations.flatMap(({ requestIds }) => requestIds);
    job.send(...moved.map((requestId) => ({ type: 'request.migrated', releaseId, requestId })));
    expect(job.why('g0').slice(2)).toEqual(['host: gpus.released r0 release-1']);
    job.send({ type: 'gpus.released', roundId: 'r0', releaseId, gpuIds: ['g0', 'g1'] });
    expect(job.why(releaseId)).toContain('engine g2: response.completed p1/0#0');
    job.send(...aborts(job.complete('p1', 'p2')));
    expect(job.why('p3').slice(1)).toEqual(['release-1 wants its GPUs back', 'host: gpus.returned release-1']);
  });

  test('a composed round waits for the prompts of its window, and its prompts for the next round', () => {
    const { promptSpeculation: _, responseSpeculation: __, ...plain } = small;
    const job = { policy: create(rollpacker, { ...plain, tailBatching: false, composition: true, windowRounds: 2 }) };
    job.policy.send({ type: 'round.requested', at: 0, roundId: 'r0', weightVersion: 0 });
    const supply = (...ids: string[]) =>
      job.policy.send({
        type: 'prompts.supplied',
        at: 1,
        roundId: 'r0',
        prompts: ids.map((promptId) => ({ promptId })),
      });
    supply('a');
    expect(told(job.policy.why('a')).slice(1)).toEqual([
      'r0 is not planned: prompts that its window lacks: 3',
      'data source: prompts.supplied r0',
    ]);
    supply('b', 'c', 'd');
    expect(told(job.policy.why('d')).slice(0, 3)).toEqual([
      'd is in the window, and longer ones go first',
      'r0 has 0 of 2 prompts',
      'a has 0 of 2 responses',
    ]);
  });
});
