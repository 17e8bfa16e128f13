import { describe, expect, test } from 'vitest';
import { create, type PolicyOf, registry, rollpacker } from '../../../src/index.ts';
import type { RollpackerInput } from '../../../src/recipes/rollpacker/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { smallCluster } from '../../support/examples/configs.ts';
import { only } from '../../support/sessions/session.ts';

type Step = Record<string, unknown> & { type: string };

const small: RollpackerInput = {
  ...smallCluster,
  promptsPerRound: 2,
  promptSpeculation: 1.5,
  responseSpeculation: 1,
};

class Job {
  policy: PolicyOf<typeof rollpacker>;
  at = 0;

  constructor(config: Partial<RollpackerInput> = {}, kind = 'rule') {
    this.policy = create(rollpacker, { ...small, ...config });
    this.send({ type: 'reward-worker.added', workerId: 'w', kind, slots: 100 });
  }

  send(event: Step): VocabularyDecision[] {
    this.at += 1;
    return this.policy.send({ at: this.at, ...event } as never) as VocabularyDecision[];
  }

  open(roundId = 'r0', domain?: string): VocabularyDecision[] {
    const planned = this.send({ type: 'round.requested', roundId, weightVersion: 0 });
    const count = only(planned, 'prompts.request')[0]?.count ?? 0;
    const prompts = Array.from({ length: count }, (_, index) => ({
      promptId: `${roundId}p${index}`,
      ...(domain === undefined ? {} : { domain }),
    }));
    return [...planned, ...this.send({ type: 'prompts.supplied', roundId, prompts })];
  }

  complete(...ids: string[]): VocabularyDecision[] {
    return ids.flatMap((requestId) => this.send({ type: 'response.completed', requestId, tokens: 100 }));
  }

  score(decisions: readonly VocabularyDecision[], rewards: readonly number[] = [1, 0]): VocabularyDecision[] {
    return only(decisions, 'reward.dispatch').flatMap(({ dispatchId }, index) =>
      this.send({
        type: 'reward.finished',
        dispatchId,
        outcome: 'scored',
        reward: rewards[index % rewards.length],
        seconds: 1,
      }),
    );
  }
}
const first = ['r0p0/0#0', 'r0p0/1#0', 'r0p1/0#0', 'r0p1/1#0'];
const types = (list: readonly VocabularyDecision[]): string[] => list.map((one) => one.type);

describe('the workflow', () => {
  test('steps 1 to 7: planned, placed, launched, rewarded, trained, and only then over', () => {
    const job = new Job();
    const opened = job.open();
    expect(types(opened).slice(0, 4)).toEqual(['round.planned', 'kind-tp.set', 'round-tp.set', 'prompts.request']);
    // Invariant 3: the engines of the round are known when its first request is placed.
    expect(new Set(only(opened, 'request.launch').map((one) => one.engineId))).toEqual(
      new Set(['g0', 'g1', 'g2', 'g3']),
    );
    const completed = job.complete(...first);
    expect(only(completed, 'reward.dispatch')).toHaveLength(4);
    expect(only(completed, 'round.completed')).toHaveLength(1);
    // Invariant 4: nothing is trained before the rewards are in.
    expect(only(completed, 'train.finish')).toEqual([]);
    const rewarded = job.score(completed);
    expect(only(rewarded, 'group.rewarded')).toHaveLength(2);
    const [finish] = only(rewarded, 'train.finish');
    expect(finish!.shares.flatMap((share) => share.groups).sort()).toEqual(['r0p0', 'r0p1']);
    const trained = finish!.shares.flatMap(({ fetchId, replica, groups, samples, tokens }) =>
      job.send({ type: 'train.finished', fetchId, replica, groups, samples, tokens, seconds: 5 }),
    );
    expect(only(trained, 'optimizer.step')).toHaveLength(1);
    expect(
      only(job.send({ type: 'optimizer.stepped', roundId: 'r0', updateId: 'update#0' }), 'round.trained'),
    ).toMatchObject([{ groups: ['r0p0', 'r0p1'] }]);
  });

  test('invariant 5: a round is refused while the one before is in flight, and nothing changes', () => {
    const job = new Job();
    job.open();
    const before = JSON.stringify(job.policy.snapshot());
    expect(() => job.send({ type: 'round.requested', roundId: 'r1', weightVersion: 1 })).toThrow(
      expect.objectContaining({ code: 'out_of_order' }),
    );
    expect(JSON.stringify(job.policy.snapshot())).toBe(before);
  });

  test('internal events are refused', () => {
    const job = new Job();
    for (const type of ['round.opened', 'engines.changed', 'engines.placed', 'reward.requested', 'group.completed']) {
      expect(() => job.send({ type })).toThrow(expect.objectContaining({ code: 'invalid_event' }));
    }
  });

  test('goes on from a snapshot at any point of the step', () => {
    const job = new Job();
    const completed = [...job.open(), ...job.complete(...first)];
    const again = new Job();
    again.policy = registry.restore(JSON.parse(JSON.stringify(job.policy.snapshot()))) as never;
    again.at = job.at;
    const [one, two] = [job.score(completed), again.score(completed)];
    expect(two).toEqual(one);
    expect(types(one)).toContain('train.finish');
  });
});

describe('switches', () => {
  test('tailBatching off: as many requests as the round needs, nothing deferred', () => {
    const job = new Job({ tailBatching: false, promptSpeculation: 2, responseSpeculation: 2 });
    expect(only(job.open(), 'request.launch')).toHaveLength(4);
    expect(only(job.complete(...first), 'prompt.deferred')).toEqual([]);
  });

  test('asyncReward off: no reward is asked for before the round is complete', () => {
    const job = new Job({ asyncReward: false });
    job.open();
    expect(only(job.complete(...first.slice(0, 3)), 'reward.dispatch')).toEqual([]);
    expect(only(job.complete(first[3]!), 'reward.dispatch')).toHaveLength(4);
  });

  test('adaptiveTimeout: code is stopped early once a run was correct; off: at its budget', () => {
    const budgets = (adaptiveTimeout: boolean): number[] => {
      const job = new Job({ adaptiveTimeout, rewardKindByDomain: { code: 'sandbox' }, timeoutFactor: 2 }, 'sandbox');
      job.open('r0', 'code');
      const one = job.complete(first[0]!);
      job.score(one, [1]);
      const two = job.complete(first[1]!);
      return [...only(one, 'reward.dispatch'), ...only(two, 'reward.dispatch')].map(
        (dispatch) => dispatch.budgetSeconds,
      );
    };
    expect(budgets(true)).toEqual([30, 2]);
    expect(budgets(false)).toEqual([30, 30]);
  });

  test('a domain is looked up among those that were configured, and nowhere else', () => {
    const job = new Job({ rewardKindByDomain: { code: 'sandbox' } });
    job.open('r0', 'constructor');
    expect(only(job.complete(first[0]!), 'reward.dispatch')).toMatchObject([{ kind: 'rule' }]);
  });

  test('a restart of the host is told to every part that mints ids or waits', () => {
    const job = new Job();
    job.open();
    const again = job.send({ type: 'host.restarted', idPrefix: 'h1-' });
    expect(only(again, 'request.launch').map((one) => one.requestId.slice(0, 3))).toEqual(Array(6).fill('h1-'));
    expect(only(again, 'kind-tp.set')).toMatchObject([{ reason: { code: 'host_restarted' } }]);
    const [dispatch] = only(job.complete('h1-r0p0/0#0'), 'reward.dispatch');
    expect(dispatch!.dispatchId).toMatch(/^h1-/);
  });

  test('adaptiveTp off: the degree that was configured, whatever the preemptions', () => {
    const job = new Job({ adaptiveTp: false, startTp: { short: 2 } });
    expect(only(job.open(), 'round-tp.set')).toMatchObject([{ tp: 2, replicas: [{}, {}] }]);
    const workload = { responses: 9, promptTokens: 1, responseTokens: 5, longestTokens: 9 };
    for (const preemptions of [10, 100, 1000]) {
      const step = { roundId: `x${preemptions}`, kind: 'short', tp: 2, preemptions, seconds: 5, workload };
      expect(only(job.send({ type: 'step.finished', ...step }), 'kind-tp.set')).toEqual([]);
    }
  });

  test('an engine that was drained stays so when GPUs are released', () => {
    const job = new Job({ promptsPerRound: 3, scaleDownTrigger: 0.25, adaptiveTp: false });
    const engines = new Map(only(job.open(), 'request.launch').map((one) => [one.requestId, one.engineId!]));
    for (const engineId of ['g0', 'g1', 'g2', 'g3']) job.send({ type: 'engine.drained', engineId });
    job.send({ type: 'engine.added', engineId: 'g3' });
    job.send({ type: 'engine.added', engineId: 'g1' });
    const [query] = only(job.complete('r0p0/0#0', 'r0p1/0#0'), 'progress.query');
    const requests = [...engines]
      .filter(([id]) => !['r0p0/0#0', 'r0p1/0#0'].includes(id))
      .map(([requestId, engineId]) => ({ requestId, engineId, tokens: 10, promptTokens: 5 }));
    const [release] = only(job.send({ type: 'progress.reported', queryId: query!.queryId, requests }), 'gpus.release');
    const [taking] = release!.keep.filter((id) => ['g1', 'g3'].includes(id));
    const again = job.send({ type: 'response.failed', requestId: 'r0p2/0#0', kind: 'infrastructure' });
    expect(only(again, 'request.launch').map((one) => one.engineId)).toEqual([taking]);
    const more = job.send({ type: 'response.failed', requestId: 'r0p2/1#0', kind: 'infrastructure' });
    expect(only(more, 'request.launch').map((one) => one.engineId)).toEqual([taking]);
  });

  test('streamTraining: GPUs are released during the rollout and train; off: nobody asks', () => {
    const run = (streamTraining: boolean): VocabularyDecision[] => {
      const job = new Job({ streamTraining, scaleDownTrigger: 0.25, adaptiveTp: false });
      const opened = job.open();
      const engines = new Map(only(opened, 'request.launch').map((one) => [one.requestId, one.engineId!]));
      const asked = job.complete(first[0]!);
      const query = only(asked, 'progress.query')[0];
      if (query === undefined) return asked;
      engines.delete(first[0]!);
      const requests = [...engines].map(([requestId, engineId]) => ({
        requestId,
        engineId,
        tokens: 10,
        promptTokens: 5,
      }));
      return job.send({ type: 'progress.reported', queryId: query.queryId, requests });
    };
    const [release] = only(run(true), 'gpus.release');
    expect(release!.release.flatMap((engine) => engine.gpuIds)).toHaveLength(2);
    expect(types(run(false))).not.toContain('progress.query');
  });
});

describe('configurations', () => {
  test('DAPO: prompts of zero variance are replaced, and engines keep their limit (RollPacker §7)', () => {
    const job = new Job({ filter: 'zero-variance', maxInFlightPerEngine: 2, adaptiveTp: false, startTp: { short: 2 } });
    expect(only(job.open(), 'request.launch')).toHaveLength(4);
    const done = job.complete('r0p0/0#0', 'r0p0/1#0');
    const same = job.score(done, [1]);
    expect(only(same, 'prompt.filtered')).toMatchObject([{ promptId: 'r0p0', reason: { code: 'zero_variance' } }]);
    expect(only(same, 'prompts.request')).toMatchObject([{ count: 1, reason: { code: 'filtered' } }]);
  });

  test('a reward that fails for good drops its response where the filter needs it', () => {
    const job = new Job({ promptsPerRound: 3, filter: 'zero-variance', rewardRetry: { infrastructure: 0 } });
    job.open();
    const fail = (decisions: readonly VocabularyDecision[]) => {
      const { dispatchId } = only(decisions, 'reward.dispatch')[0]!;
      job.send({ type: 'reward.finished', dispatchId, outcome: 'infrastructure', seconds: 1 });
    };
    fail(job.complete('r0p0/0#0'));
    // Another is scored since: it is tried again. Four are scored after that: the failure was its own.
    fail(job.score(job.complete('r0p0/1#0')));
    const failed = job.score(job.complete('r0p1/0#0', 'r0p1/1#0', 'r0p2/0#0', 'r0p2/1#0'));
    expect(types(failed)).toEqual(expect.arrayContaining(['reward.failed', 'response.dropped']));
  });

  test('the one-step off-policy pipeline: a round may open while the one before waits for its training (§6.7)', () => {
    const trainer = [{ id: 'd0', gpuIds: ['t0', 't1'] }];
    const job = new Job({ streamTraining: false, trainingReplicas: trainer });
    job.open();
    const done = job.complete(...first);
    const next = { type: 'round.requested', roundId: 'r1', weightVersion: 0 };
    expect(() => job.send(next)).toThrow(expect.objectContaining({ code: 'out_of_order' }));
    const aborted = only(done, 'request.abort').flatMap(({ requestId }) =>
      job.send({ type: 'request.aborted', requestId }),
    );
    expect(only(aborted, 'round.drained')).toHaveLength(1);
    expect(only(job.send(next), 'round.planned')).toHaveLength(1);
    expect(only(job.score(done), 'train.finish')).toMatchObject([{ roundId: 'r0' }]);
    // Before the last round has drained.
    const overlapping = new Job({ streamTraining: false, trainingReplicas: trainer, allowOverlap: true });
    overlapping.open();
    expect(only(overlapping.complete(...first), 'round.drained')).toEqual([]);
    expect(only(overlapping.send(next), 'round.planned')).toHaveLength(1);
  });

  test('prompts that run on into the next round keep their engines; their report is taken', () => {
    const running = { allowOverlap: true, maxStaleness: 1, adaptiveTp: false, experts: 4, startTp: { short: 2 } };
    const job = new Job(running);
    const [used] = only(job.open(), 'round-tp.set');
    expect(used).toMatchObject({ tp: 2, replicas: [{ gpuIds: ['g0', 'g1'] }, { gpuIds: ['g2', 'g3'] }] });
    expect(used).not.toHaveProperty('ep');
    const done = job.complete(...first);
    expect(only(done, 'prompt.carried')).toMatchObject([{ promptId: 'r0p2' }]);
    expect(only(done, 'round.drained')).toHaveLength(1);
    job.score(done);
    const opened = job.open('r1');
    expect(only(opened, 'round-tp.set')).toMatchObject([{ replicas: used!.replicas }]);
    const [query] = only(job.complete('r0p2/0#0'), 'progress.query');
    const requests = [{ requestId: 'r0p2/1#0', engineId: 'g2', tokens: 5, promptTokens: 5 }];
    const answer = job.send({ type: 'progress.reported', queryId: query!.queryId, requests });
    expect(types(answer)).not.toContain('scale-down.late');
    // Engines cannot change under them.
    for (const more of [{}, { experts: undefined }]) {
      expect(() => new Job({ ...running, ...more, adaptiveTp: true })).toThrow(
        expect.objectContaining({ code: 'invalid_config', path: 'adaptiveTp' }),
      );
    }
    expect(() => new Job({ ...running, adaptiveTp: true, partialRollout: true })).not.toThrow();
  });

  test('a prompt that is drawn again before its last round has let go of it: each reward is computed once', () => {
    const job = new Job({ allowOverlap: true, maxStaleness: 1, partialRollout: true });
    job.open();
    job.complete(...first);
    job.send({ type: 'round.requested', roundId: 'r1', weightVersion: 0 });
    // The last prompt of r0 waits for what its aborts leave of it.
    const prompts = ['r0p2', 'new', 'newer'].map((promptId) => ({ promptId }));
    const launched = only(job.send({ type: 'prompts.supplied', roundId: 'r1', prompts }), 'request.launch');
    const again = launched.filter((one) => one.promptId === 'r0p2').map((one) => one.requestId);
    const begun = job.complete(again[0]!);
    job.score(begun);
    const aborted = ['r0p2/0#0', 'r0p2/1#0'].flatMap((requestId) =>
      job.send({ type: 'request.aborted', requestId, tokens: 9 }),
    );
    expect(only(aborted, 'prompt.deferred')).toMatchObject([{ prompt: { promptId: 'r0p2' } }]);
    const ended = job.complete(again[1]!);
    expect(only(ended, 'reward.dispatch').map((one) => one.requestId)).toEqual([again[1]]);
    expect(only(job.score(ended), 'group.rewarded')).toMatchObject([{ promptId: 'r0p2', samples: 2 }]);
  });

  test('what does not go together is refused, with its path', () => {
    const refused = (config: object, path: string, code = 'invalid_config') =>
      expect(() => create(rollpacker, { ...small, ...config } as never)).toThrow(
        expect.objectContaining({ code, path }),
      );
    refused({ filter: 'zero-variance', asyncReward: false }, 'asyncReward');
    refused({ placement: 'host' }, 'placement');
    refused({ trainingReplicas: [{ id: 'd0', gpuIds: ['g0', 't0'] }] }, 'trainingReplicas');
    refused({ epochs: 2 }, 'epochs', 'infeasible');
    refused({ tailbatching: true }, 'tailbatching');
    refused({ kvHeads: 0 }, 'kvHeads');
    // What only a part can know.
    refused({ minTimeoutSeconds: 40 }, 'minTimeoutSeconds');
    refused({ divisor: 2 }, 'divisor');
    refused({ minTp: 4 }, 'maxTp');
  });
});

describe('judgeOffload', () => {
  const judge = {
    layers: 8,
    layerBytes: 1e8,
    sequenceTokens: 8192,
    activationBytes: { perToken: 1e5 },
    layerSeconds: { base: 1e-3, perToken: 1e-6 },
    memoryBytes: 1.1e9,
    pcieBytesPerSecond: 2e10,
    actorSmShare: 0.7,
  };

  test('the greatest length first, then that of the last such round, and longer at once', () => {
    const job = new Job({ judgeOffload: true, judge, allowOverlap: true });
    const [start] = only(job.open(), 'judge.place');
    expect(start).toMatchObject({ sequenceTokens: 8192, reason: { code: 'start' } });
    job.score(job.complete(...first));
    const [smaller] = only(job.open('r1'), 'judge.place');
    expect(smaller).toMatchObject({ sequenceTokens: 1024, reason: { code: 'round_planned', longestTokens: 100 } });
    expect(smaller!.residentLayers).toBeGreaterThan(start!.residentLayers);
    const longer = job.send({ type: 'response.completed', requestId: 'r1p0/0#1', tokens: 3000 });
    // Before the reward of that response is asked for.
    expect(types(longer)[0]).toBe('judge.place');
    expect(longer[0]).toMatchObject({ sequenceTokens: 4096, reason: { code: 'longer_response', plannedTokens: 1024 } });
  });

  test('a judge that never fits is refused at once; so is one without its switch', () => {
    const refused = (config: object, code: string, path: string) =>
      expect(() => create(rollpacker, { ...small, ...config } as never)).toThrow(
        expect.objectContaining({ code, path }),
      );
    refused({ judgeOffload: true, judge: { ...judge, memoryBytes: 1e8 } }, 'infeasible', 'memoryBytes');
    refused({ judge }, 'invalid_config', 'judge');
    refused({ judgeOffload: true }, 'invalid_config', 'judge');
  });
});
