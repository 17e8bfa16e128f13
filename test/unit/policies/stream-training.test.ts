import { describe, expect, test } from 'vitest';
import { create, registry, streamTraining } from '../../../src/index.ts';
import type { StreamTrainingInput } from '../../../src/policies/stream-training/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { only, Session } from '../../support/sessions/session.ts';

const replicas = [
  { id: 'a', gpuIds: ['g0', 'g1'] },
  { id: 'b', gpuIds: ['g2', 'g3'] },
];

class Trainer extends Session {
  /** Of the last `optimizer.step`. */
  updateId = 'none';

  override send(event: never): VocabularyDecision[] {
    const decisions = super.send(event);
    for (const { updateId } of only(decisions, 'optimizer.step')) this.updateId = updateId;
    return decisions;
  }

  override open(_prompts: unknown = [], _kind: unknown = 'long', weightVersion = this.rounds): VocabularyDecision[] {
    const roundId = `r${this.rounds++}`;
    return this.send({ type: 'round.opened', roundId, kind: 'long', weightVersion, prompts: [] } as never);
  }

  group(groupId: string, tokens = 100, roundId = `r${this.rounds - 1}`): VocabularyDecision[] {
    return this.send({ type: 'group.completed', roundId, groupId, samples: 2, tokens } as never);
  }

  groups(...ids: string[]): VocabularyDecision[] {
    return ids.flatMap((id) => this.group(id));
  }

  release(...gpuIds: string[]): VocabularyDecision[] {
    return this.send({ type: 'gpus.released', roundId: `r${this.rounds - 1}`, gpuIds } as never);
  }

  /** Ends every fetch among the decisions, 0.01 s a token. */
  consume(decisions: readonly VocabularyDecision[], more: object = {}): VocabularyDecision[] {
    return only(decisions, 'train.fetch').flatMap(({ fetchId, replica, groups, samples, tokens }) => {
      const report = { fetchId, replica, groups, samples, tokens, seconds: tokens / 100 };
      return this.send({ type: 'train.consumed', ...report, ...more } as never);
    });
  }

  finish(decisions: readonly VocabularyDecision[]): VocabularyDecision[] {
    return only(decisions, 'train.finish').flatMap(({ shares }) =>
      shares.flatMap((share) => this.send({ type: 'train.finished', ...share, seconds: share.tokens / 100 } as never)),
    );
  }

  override complete(...ids: string[]): VocabularyDecision[] {
    const prompts = ids.map((promptId) => {
      return { promptId, responses: [{ requestId: `${promptId}/0#0`, index: 0, tokens: 1, weightVersions: [0] }] };
    });
    const reason = { code: 'quota_reached', counted: ids.length, needed: ids.length };
    const round = { roundId: `r${this.rounds - 1}`, kind: 'long', weightVersion: 0, openedSeconds: 0, deferred: 0 };
    return this.send({ type: 'round.completed', ...round, prompts, reason } as never);
  }

  stepped(roundId = 'r0', updateId = this.updateId): VocabularyDecision[] {
    return this.send({ type: 'optimizer.stepped', roundId, updateId } as never);
  }

  lose(replica: string): VocabularyDecision[] {
    return this.send({ type: 'replica.lost', replica } as never);
  }
}

function trainer(config: Partial<StreamTrainingInput> = {}): Trainer {
  const session = new Trainer(create(streamTraining, { replicas, groupsPerRound: 6, ...config }) as never);
  session.open();
  return session;
}

const types = (decisions: readonly VocabularyDecision[]) => decisions.map((one) => one.type);
const fetched = (decisions: readonly VocabularyDecision[]) =>
  only(decisions, 'train.fetch').map(({ replica, groups }) => [replica, ...groups]);
const shares = (decisions: readonly VocabularyDecision[]) =>
  only(decisions, 'train.finish').flatMap((one) => one.shares.map(({ replica, groups }) => [replica, ...groups]));
const factors = (decisions: readonly VocabularyDecision[]) =>
  only(decisions, 'gradient.scale').map(({ replica, factor }) => [replica, factor]);

describe('stream-training', () => {
  test('without a release the same events give synchronous training: one finish, all groups, one step', () => {
    const session = trainer();
    expect(session.groups('p0', 'p1', 'p2', 'p3', 'p4', 'p5')).toEqual([]);
    const finish = session.complete('p0', 'p1', 'p2', 'p3', 'p4', 'p5');
    expect(finish).toMatchObject([
      { type: 'train.finish', remaining: 6, reason: { code: 'round_completed', streamed: 0, replicas: 2 } },
    ]);
    expect(shares(finish)).toEqual([
      ['a', 'p0', 'p2', 'p4'],
      ['b', 'p1', 'p3', 'p5'],
    ]);
    expect(only(finish, 'train.finish')[0]).not.toHaveProperty('expectedSeconds');
    const end = session.finish(finish);
    expect(types(end)).toEqual(['gradient.scale', 'gradient.scale', 'optimizer.step']);
    expect(end.at(-1)).toMatchObject({ replicas: ['a', 'b'], samples: 12, tokens: 600, reason: { groups: 6 } });
    expect(session.stepped()).toMatchObject([
      { type: 'round.trained', groups: ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'], reason: { code: 'stepped', streamed: 0 } },
    ]);
  });

  test('a replica streams when all its GPUs are released; gradients are neither synchronised nor applied', () => {
    const session = trainer();
    session.groups('p0', 'p1');
    expect(session.release('g0', 'g2')).toEqual([]);
    const [first] = session.release('g1');
    expect(first).toMatchObject({
      type: 'train.fetch',
      replica: 'a',
      groups: ['p0'],
      samples: 2,
      tokens: 100,
      gradientSync: false,
      optimizerLoaded: false,
      reason: { code: 'probe', waitingGroups: 2 },
    });
    expect(fetched(session.release('g0', 'g1', 'g3'))).toEqual([['b', 'p1']]);
    const last = session.groups('p2', 'p3', 'p4');
    expect(types([...last, ...session.consume([first!])])).not.toContain('optimizer.step');
  });

  test('fetches take the fair share of what waits, and no more than fits the rest of the round', () => {
    const session = trainer({ groupsPerRound: 20 });
    session.at = 10;
    const probe = session.group('p0').concat(session.release('g0', 'g1', 'g2', 'g3'));
    expect(fetched(probe)).toEqual([['a', 'p0']]);
    expect(fetched(session.group('p1'))).toEqual([['b', 'p1']]);
    session.groups('p2', 'p3', 'p4', 'p5');
    // Completions so far came at once: the round seems to be over at any moment.
    const short = session.consume(probe);
    expect(short).toMatchObject([{ groups: ['p2'], reason: { code: 'round_end', restSeconds: 0, missingGroups: 14 } }]);
    session.at = 110;
    session.group('p6');
    session.at = 210;
    session.group('p7');
    const fair = session.consume(short);
    expect(fair).toMatchObject([
      { groups: ['p3', 'p4'], reason: { code: 'fair_share', waitingGroups: 5, waitingTokens: 500, replicas: 2 } },
    ]);
  });

  test('minFetchGroups: nothing is fetched before a micro-batch can be filled', () => {
    const session = trainer({ minFetchGroups: 3 });
    session.release('g0', 'g1');
    expect(session.groups('p0', 'p1')).toEqual([]);
    expect(fetched(session.group('p2'))).toEqual([['a', 'p0', 'p1', 'p2']]);
  });

  test('the last groups of a round are left for all replicas', () => {
    const session = trainer({ groupsPerRound: 2 });
    session.release('g0', 'g1');
    const first = session.group('p0');
    expect(session.group('p1')).toEqual([]);
    expect(session.consume(first)).toEqual([]);
    expect(shares(session.complete('p0', 'p1'))).toEqual([['a', 'p1'], ['b']]);
  });

  test('`once`: a single fetch of what is there, up to the fraction, over the replicas that stream', () => {
    const session = trainer({ fetch: { once: 0.5 } });
    session.group('p0', 10);
    session.group('p1', 90);
    session.groups('p2', 'p3');
    const once = session.release('g0', 'g1', 'g2', 'g3');
    expect(fetched(once)).toEqual([
      ['a', 'p2'],
      ['b', 'p0', 'p1'],
    ]);
    expect(once[0]).toMatchObject({ reason: { code: 'once', waitingGroups: 4, capGroups: 3 } });
    session.groups('p4');
    expect(types(session.consume(once))).toEqual(['gradients.offload', 'gradients.offload']);
    const finish = session.complete('p0', 'p1', 'p2', 'p3', 'p4');
    expect(only(finish, 'train.finish')[0]).toMatchObject({ remaining: 2, reason: { streamed: 3 } });
  });

  test('`once` with a fraction below one group never fetches', () => {
    const session = trainer({ fetch: { once: 0.1 } });
    session.groups('p0', 'p1');
    expect(session.release('g0', 'g1')).toEqual([]);
  });

  test('what remains is spread so that all end together: busy and slower replicas get less', () => {
    const session = trainer({ groupsPerRound: 8, gradientOffload: 'never' });
    const both = [...session.groups('p0', 'p1'), ...session.release('g0', 'g1', 'g2', 'g3')];
    const [one, two] = only(both, 'train.fetch');
    session.consume([one!], { seconds: 1 });
    session.consume([two!], { seconds: 3 });
    const finish = session.complete(
      ...['p0', 'p1', 'p2', 'p3', 'p4', 'p5'].map((id) => {
        if (id > 'p1') session.group(id, id === 'p2' ? 450 : 100);
        return id;
      }),
    );
    // a has p2 in flight, 450 tokens at 0.01 s; b has p3, 100 at 0.03 s.
    expect(shares(finish)).toEqual([
      ['a', 'p4'],
      ['b', 'p5'],
    ]);
    expect(only(finish, 'train.finish')[0]!.expectedSeconds).toBeCloseTo(6);
  });

  test('`pace: shared`: equal replicas are not told apart by the lengths that each of them happened to get', () => {
    const expected = (pace: 'replica' | 'shared') => {
      const session = trainer({ groupsPerRound: 6, gradientOffload: 'never', pace });
      const both = [...session.groups('p0', 'p1'), ...session.release('g0', 'g1', 'g2', 'g3')];
      const [one, two] = only(both, 'train.fetch');
      session.consume([one!], { seconds: 1 });
      session.consume([two!], { seconds: 3 });
      session.groups('p2', 'p3', 'p4', 'p5');
      return only(session.complete('p0', 'p1', 'p2', 'p3', 'p4', 'p5'), 'train.finish')[0]!;
    };
    // Two replicas, one group in flight on each and one left for each: by each one's pace, or by the 3.75 s for 175 tokens of both.
    expect(expected('replica').expectedSeconds).not.toBeCloseTo(expected('shared').expectedSeconds!);
    expect(expected('shared').shares.map((one) => one.groups.length)).toEqual([1, 1]);
    expect(expected('shared').expectedSeconds).toBeCloseTo((2 * 100 * 3.75) / 175);
  });

  test('gradients are offloaded when a replica falls idle, and come back before it adds to them', () => {
    const session = trainer();
    session.release('g0', 'g1');
    const offload = session.consume(session.group('p0'));
    expect(offload).toMatchObject([{ type: 'gradients.offload', replica: 'a', reason: { code: 'idle', groups: 1 } }]);
    const next = session.group('p1');
    expect(types(next)).toEqual(['gradients.reload', 'train.fetch']);
    session.consume(next);
    session.restore();
    const finish = session.complete('p0', 'p1');
    expect(types(finish)).toEqual(['gradients.reload', 'train.finish']);
    expect(shares(finish)).toEqual([['a'], ['b']]);
  });

  test('`gradientOffload: never` keeps them, but not on GPUs that go back to the rollout', () => {
    const session = trainer({ gradientOffload: 'never' });
    session.release('g0', 'g1', 'g2', 'g3');
    const first = session.group('p0');
    expect(session.consume(first)).toEqual([]);
    const back = (gpuId: string) => session.send({ type: 'gpus.returned', roundId: 'r0', gpuIds: [gpuId] } as never);
    expect(back('g1')).toMatchObject([{ type: 'gradients.offload', replica: 'a', reason: { code: 'gpus_returned' } }]);
    const second = session.group('p1');
    expect(fetched(second)).toEqual([['b', 'p1']]);
    expect(back('g2')).toEqual([]);
    expect(session.consume(second)).toMatchObject([{ type: 'gradients.offload', replica: 'b' }]);
    expect(session.group('p2')).toEqual([]);
  });

  test('`reference: swap`: the weights are swapped around the pass, for fetches and for shares', () => {
    const session = trainer({ reference: 'swap' });
    session.release('g0', 'g1');
    const fetch = session.group('p0');
    expect(fetch).toMatchObject([
      { type: 'weights.swap', to: 'reference', replica: 'a' },
      { type: 'reference.compute', groups: ['p0'], fetchId: 'a#0' },
      { type: 'weights.swap', to: 'actor' },
      { type: 'train.fetch', fetchId: 'a#0' },
    ]);
    session.group('p1');
    const finish = session.complete('p0', 'p1');
    expect(types(finish)).toEqual(['weights.swap', 'reference.compute', 'weights.swap', 'train.finish']);
    expect(finish[0]).toMatchObject({ replica: 'b' });
  });

  test.each([
    [
      'mean',
      'sum',
      [
        ['a', 0.25],
        ['b', 0.75],
      ],
    ],
    [
      'mean',
      'mean',
      [
        ['a', 0.5],
        ['b', 1.5],
      ],
    ],
    [
      'sum',
      'sum',
      [
        ['a', 1 / 8],
        ['b', 1 / 8],
      ],
    ],
    [
      'sum',
      'mean',
      [
        ['a', 2 / 8],
        ['b', 2 / 8],
      ],
    ],
  ] as const)('factors of local %s and collective %s', (reduction, collective, expected) => {
    const session = trainer({ reduction, collective });
    session.group('p0', 300);
    session.groups('p1', 'p2', 'p3');
    const end = session.finish(session.complete('p0', 'p1', 'p2', 'p3'));
    expect(factors(end)).toEqual(expected);
    expect(end[0]).toMatchObject({ reason: { code: `local_${reduction}`, units: 2, total: 8, replicas: 2 } });
  });

  test('units: tokens and samples as reported, groups, a constant; replicas without any take part', () => {
    const end = (config: Partial<StreamTrainingInput>) => {
      const session = trainer({ collective: 'sum', ...config });
      session.group('p0');
      return factors(session.finish(session.complete('p0')));
    };
    expect(end({ unit: 'tokens', reduction: 'mean' })).toEqual([
      ['a', 1],
      ['b', 0],
    ]);
    expect(end({ unit: 'tokens' })).toEqual([
      ['a', 0.01],
      ['b', 0.01],
    ]);
    expect(end({ unit: 'groups' })).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    expect(end({ unit: 'constant', divisor: 64, collective: 'mean' })).toEqual([
      ['a', 2 / 64],
      ['b', 2 / 64],
    ]);
  });

  test('a round whose loss counts nothing has factors of 0, not of NaN (NeMo-RL #212)', () => {
    const session = trainer({ unit: 'tokens' });
    session.group('p0', 0);
    expect(factors(session.finish(session.complete('p0')))).toEqual([
      ['a', 0],
      ['b', 0],
    ]);
  });

  test('a lost replica takes its gradients with it: all its groups are fetched again elsewhere, and first', () => {
    const session = trainer({ gradientOffload: 'never' });
    const all = [...session.groups('p0', 'p1'), ...session.release('g0', 'g1', 'g2', 'g3')];
    const [one, two] = only(all, 'train.fetch');
    session.group('p2');
    session.consume([one!]);
    const lost = session.lose('a');
    expect(lost).toMatchObject([
      { type: 'train.requeued', replica: 'a', groups: ['p0', 'p2'], reason: { consumed: 1, inFlight: 1 } },
    ]);
    session.group('p3');
    expect(fetched(session.consume([two!]))).toEqual([['b', 'p0']]);
    expect(session.lose('a')).toEqual([]);
    const finish = session.complete('p0', 'p1', 'p2', 'p3');
    expect(shares(finish)).toEqual([['b', 'p2', 'p3']]);
  });

  test('a replica that comes back streams again; one that is lost at the end gives its share to the others', () => {
    const session = trainer();
    session.release('g0', 'g1');
    session.lose('a');
    session.restore();
    expect(session.groups('p0', 'p1')).toEqual([]);
    const fetch = session.send({ type: 'replica.added', replica: 'a' } as never);
    expect(fetched(fetch)).toEqual([['a', 'p0']]);
    session.consume(fetch);
    const finish = session.complete('p0', 'p1');
    session.finish(finish);
    // p1 was in flight on a: it falls to b, and what a had trained too.
    const again = session.lose('a');
    expect(types(again)).toEqual(['train.requeued', 'train.finish']);
    expect(again[1]).toMatchObject({ remaining: 2, reason: { code: 'replica_lost' } });
    expect(shares(again)).toEqual([['b', 'p0', 'p1']]);
    const end = session.finish(again);
    expect(end.at(-1)).toMatchObject({ type: 'optimizer.step', replicas: ['b'] });
  });

  test('all replicas lost: groups wait until one is there', () => {
    const session = trainer();
    session.groups('p0');
    session.lose('a');
    session.lose('b');
    expect(session.complete('p0')).toEqual([]);
    const finish = session.send({ type: 'replica.added', replica: 'b' } as never);
    expect(shares(finish)).toEqual([['b', 'p0']]);
    session.lose('b');
    expect(shares(session.send({ type: 'replica.added', replica: 'a' } as never))).toEqual([['a', 'p0']]);
  });

  test('a replica lost while gradients are synchronised: the step has failed, and the whole round is trained again', () => {
    const session = trainer();
    session.groups('p0', 'p1');
    session.finish(session.complete('p0', 'p1'));
    const failed = session.lose('b');
    expect(types(failed)).toEqual(['gradients.discard', 'train.requeued', 'train.requeued', 'train.finish']);
    expect(failed[0]).toMatchObject({ replica: 'a', reason: { code: 'step_failed', groups: 1 } });
    expect(shares(failed)).toEqual([['a', 'p0', 'p1']]);
    expect(factors(session.finish(failed))).toEqual([['a', 1 / 4]]);
    expect(session.stepped()).toMatchObject([{ groups: ['p0', 'p1'] }]);
    // After the step there is nothing left to lose.
    expect(session.lose('a')).toEqual([]);
  });

  const stateOf = (session: Trainer) => JSON.parse(JSON.stringify(session.policy.snapshot())).state;

  test('a late report of a step that was given up does not count for the next one, and says so', () => {
    const session = trainer();
    session.groups('p0', 'p1');
    session.finish(session.complete('p0', 'p1'));
    session.lose('b');
    const again = session.send({ type: 'replica.added', replica: 'b' } as never);
    expect(again).toEqual([]);
    const [share] = only(session.send({ type: 'host.restarted', idPrefix: 'h-' } as never), 'train.finish');
    expect(types(session.finish([share!]))).toContain('optimizer.step');
    expect(session.updateId).toBe('h-update#1');
    const before = stateOf(session);
    const withdrawn = { type: 'training.late', updateId: 'update#0', reason: { code: 'step_withdrawn' } };
    expect(session.stepped('r0', 'update#0')).toMatchObject([withdrawn]);
    expect(stateOf(session)).toEqual(before);
    session.restore();
    expect(session.stepped()).toMatchObject([{ type: 'round.trained', groups: ['p0', 'p1'] }]);
    // Whether the report of a step comes twice or the trainer has stepped twice, is told apart after the round, too.
    expect(session.stepped()).toMatchObject([{ type: 'training.late', reason: { code: 'update_over' } }]);
    expect(session.stepped('r0', 'update#0')).toMatchObject([withdrawn]);
    expect(() => session.stepped('r0', 'update#00')).toThrow(expect.objectContaining({ code: 'unknown_id' }));
  });

  test('a round that fails while the optimizer steps: that step has been given up', () => {
    const session = trainer();
    session.groups('p0');
    session.finish(session.complete('p0'));
    session.send({ type: 'round.failed', roundId: 'r0' } as never);
    expect(session.stepped()).toMatchObject([{ type: 'training.late', reason: { code: 'step_withdrawn' } }]);
  });

  test('a snapshot while the optimizer steps; one of an earlier version is refused by name', () => {
    const session = trainer();
    session.groups('p0');
    session.finish(session.complete('p0'));
    const snapshot = JSON.parse(JSON.stringify(session.policy.snapshot()));
    session.policy = registry.restore(snapshot) as never;
    expect(stateOf(session)).toEqual(snapshot.state);
    expect(types(session.send({ type: 'host.restarted', idPrefix: 'h-' } as never))).toContain('train.finish');
    for (const version of [1, 2]) {
      expect(refusal(() => registry.restore({ ...snapshot, version }))).toMatchObject({
        code: 'snapshot_mismatch',
        path: 'snapshot.version',
      });
    }
  });

  test('part of a fetch: the groups left are trained in another one', () => {
    const session = trainer({ minFetchGroups: 2 });
    session.release('g0', 'g1');
    const fetch = session.groups('p0', 'p1');
    const rest = session.consume(fetch, { groups: ['p1'], samples: 2, tokens: 100 });
    expect(rest[0]).toMatchObject({ type: 'train.requeued', groups: ['p0'], reason: { code: 'partly_consumed' } });
    const finish = session.complete('p0', 'p1');
    expect(shares(finish)).toEqual([['a', 'p0'], ['b']]);
    expect(session.finish(finish).at(-1)).toMatchObject({ type: 'optimizer.step', samples: 4, tokens: 200 });
  });

  test('groups that are not final are not in the step: gradients that they are part of are dropped', () => {
    const session = trainer();
    session.release('g0', 'g1', 'g2', 'g3');
    const fetches = session.groups('p0', 'p1', 'p2');
    session.consume(fetches.slice(0, 1));
    const finish = session.complete('p0', 'p1');
    // p0 was consumed and p2 is in flight on a.
    expect(types(finish)).toEqual(['gradients.discard', 'train.requeued', 'groups.dropped', 'train.finish']);
    expect(finish[0]).toMatchObject({ replica: 'a', reason: { code: 'not_final' } });
    expect(finish[2]).toMatchObject({ groups: ['p2'], reason: { code: 'not_final', groups: 1 } });
    expect(shares(finish)).toEqual([['a', 'p0'], ['b']]);
    expect(session.consume([{ ...fetches[0]!, fetchId: 'a#2' } as never])).toMatchObject([{ type: 'training.late' }]);
  });

  test('a round that fails drops its groups by name, and the gradients', () => {
    const session = trainer();
    session.release('g0', 'g1');
    session.groups('p0', 'p1');
    const failed = session.send({ type: 'round.failed', roundId: 'r0' } as never);
    expect(failed).toMatchObject([
      { type: 'gradients.discard', replica: 'a', reason: { code: 'round_failed' } },
      { type: 'groups.dropped', groups: ['p0', 'p1'], reason: { code: 'round_failed', groups: 2 } },
    ]);
    expect(session.send({ type: 'round.failed', roundId: 'r0' } as never)).toMatchObject([{ type: 'training.late' }]);
    session.open();
    expect(session.group('p0')).toEqual([]);
  });

  test('a restarted host: gradients are gone; groups, losses and releases are as they were', () => {
    const session = trainer();
    session.release('g0', 'g1', 'g2', 'g3');
    const fetch = session.groups('p0', 'p1');
    session.lose('b');
    const restarted = session.send({ type: 'host.restarted', idPrefix: 'h1-' } as never);
    expect(types(restarted)).toEqual(['train.requeued', 'round.resumed', 'train.fetch']);
    expect(restarted[1]).toMatchObject({ roundId: 'r0', promptIds: ['p0', 'p1'], reason: { prompts: 2 } });
    expect(fetched(restarted)).toEqual([['a', 'p1']]);
    expect(session.consume(fetch.slice(0, 1))).toMatchObject([{ type: 'training.late', fetchId: 'a#0' }]);
    expect(fetched(session.send({ type: 'replica.added', replica: 'b' } as never))).toEqual([['b', 'p0']]);
    session.lose('b');
    const finish = session.complete('p0', 'p1');
    expect(only(finish, 'train.finish')[0]!.shares.map((one) => one.fetchId)).toEqual(['h1-a#4']);
    const again = session.send({ type: 'host.restarted', idPrefix: 'h2-' } as never);
    expect(again.at(-1)).toMatchObject({ type: 'train.finish', remaining: 2, reason: { code: 'host_restarted' } });
    session.finish(again);
    // Between the command and its report the step may not have happened.
    const twice = session.send({ type: 'host.restarted', idPrefix: 'h3-' } as never);
    expect(twice.at(-1)).toMatchObject({ type: 'train.finish', remaining: 2 });
  });

  test('a round that opens while the last one trains waits for its step (one-step off-policy pipelines)', () => {
    const session = trainer();
    session.groups('p0');
    const finish = session.complete('p0');
    session.open();
    session.release('g0', 'g1');
    expect(session.group('p0')).toEqual([]);
    expect(types(session.finish(finish))).toContain('optimizer.step');
    session.restore();
    const next = session.stepped();
    expect(types(next)).toEqual(['round.trained', 'train.fetch']);
    expect(next[1]).toMatchObject({ roundId: 'r1', groups: ['p0'] });
    session.open();
    session.group('q0');
    session.complete('q0');
    session.consume(next);
    expect(session.send({ type: 'round.failed', roundId: 'r1' } as never).at(-1)).toMatchObject({
      type: 'train.finish',
      roundId: 'r2',
    });
  });

  test('a round without groups takes no step', () => {
    const session = trainer();
    expect(session.complete()).toMatchObject([{ type: 'round.trained', reason: { code: 'nothing_to_train' } }]);
  });

  test('what is repeated or late changes nothing, and says so', () => {
    const session = trainer();
    session.release('g0', 'g1');
    const fetch = session.group('p0');
    expect(session.group('p0')).toMatchObject([{ type: 'group.late', reason: { code: 'known' } }]);
    session.consume(fetch);
    expect(session.consume(fetch)).toMatchObject([{ type: 'training.late', reason: { code: 'fetch_over' } }]);
    const finish = session.complete('p0');
    expect(session.complete('p0')).toMatchObject([{ type: 'training.late', reason: { code: 'round_completed' } }]);
    expect(session.group('p9')).toMatchObject([{ type: 'group.late', reason: { code: 'round_completed' } }]);
    expect(session.release('g2', 'g3')).toEqual([]);
    session.finish(finish);
    session.stepped();
    expect(session.stepped()).toMatchObject([{ type: 'training.late', reason: { code: 'update_over' } }]);
    expect(session.group('p9')).toMatchObject([{ type: 'group.late', reason: { code: 'round_over' } }]);
    expect(session.complete('p0')).toMatchObject([{ type: 'training.late', reason: { code: 'round_over' } }]);
    expect(session.release('g0')).toMatchObject([{ type: 'training.late', reason: { code: 'round_over' } }]);
    // GPUs go back after the step: that is the usual order.
    expect(session.send({ type: 'gpus.returned', roundId: 'r0', gpuIds: ['g0'] } as never)).toEqual([]);
  });

  test('a host that has forgotten the round of its GPUs gives them back without it', () => {
    const session = trainer();
    session.release('g0', 'g1');
    session.send({ type: 'gpus.returned', gpuIds: ['g0', 'g1'] } as never);
    expect(only(session.group('p0'), 'train.fetch')).toEqual([]);
  });

  test('a release that has gone back is over, whatever is said of it again', () => {
    const session = trainer();
    const gpus = (type: string, releaseId: string) =>
      session.send({ type, roundId: 'r0', releaseId, gpuIds: ['g0', 'g1'] } as never);
    gpus('gpus.released', 'x');
    gpus('gpus.returned', 'x');
    session.restore();
    expect(gpus('gpus.released', 'x')).toMatchObject([{ type: 'training.late', reason: { code: 'release_over' } }]);
    expect(session.group('p0')).toEqual([]);
    expect(only(gpus('gpus.released', 'y'), 'train.fetch')).toHaveLength(1);
    // The return of the first one, once more: these GPUs belong to the second.
    gpus('gpus.returned', 'x');
    expect(session.group('p1')).toEqual([]);
    const { rounds } = JSON.parse(JSON.stringify(session.policy.snapshot())).state as ReturnType<
      typeof streamTraining.save
    >;
    expect(rounds).toMatchObject([{ released: ['g0', 'g1'], endedReleases: ['x'] }]);
  });

  test('a snapshot with gradients and no round is damaged', () => {
    const session = trainer();
    session.release('g0', 'g1');
    session.group('p0');
    const snapshot = session.policy.snapshot() as { state: { rounds: unknown[] } };
    snapshot.state.rounds = [];
    expect(refusal(() => registry.restore(snapshot))).toMatchObject({
      code: 'snapshot_mismatch',
      path: 'snapshot.state.replicas',
    });
  });

  test('what streaming cannot keep exact is infeasible', () => {
    const refused = (config: Partial<StreamTrainingInput>) => {
      const { code, path } = refusal(() => trainer(config));
      return [code, path];
    };
    expect(refused({ optimizerStepsPerRound: 2 })).toEqual(['infeasible', 'optimizerStepsPerRound']);
    expect(refused({ epochs: 2 })).toEqual(['infeasible', 'epochs']);
    expect(refused({ advantageNormalization: 'batch' })).toEqual(['infeasible', 'advantageNormalization']);
  });

  test('a configuration that makes no sense is refused', () => {
    const refused = (config: object) => {
      const { code, path } = refusal(() => trainer(config));
      return [code, path];
    };
    expect(refused({ replicas: [] })).toEqual(['invalid_config', 'replicas']);
    expect(refused({ replicas: [replicas[0], replicas[0]] })).toEqual(['invalid_config', 'replicas[1].id']);
    const overlap = [replicas[0], { id: 'b', gpuIds: ['g1'] }];
    expect(refused({ replicas: overlap })).toEqual(['invalid_config', 'replicas[1].gpuIds[0]']);
    expect(refused({ groupsPerRound: 0 })).toEqual(['invalid_config', 'groupsPerRound']);
    expect(refused({ fetch: { once: 0 } })[0]).toBe('invalid_config');
    expect(refused({ unit: 'constant' })).toEqual(['invalid_config', 'divisor']);
    expect(refused({ divisor: 3 })).toEqual(['invalid_config', 'divisor']);
    expect(refused({ unit: 'constant', divisor: 3, reduction: 'mean' })).toEqual(['invalid_config', 'reduction']);
  });

  test('bad input', () => {
    const session = trainer({ minFetchGroups: 2 });
    session.release('g0', 'g1');
    const [fetch] = only(session.groups('p0', 'p1'), 'train.fetch');
    const { fetchId, replica, groups, samples, tokens } = fetch!;
    const report = { type: 'train.consumed', at: 0, fetchId, replica, groups, samples, tokens, seconds: 1 };
    for (const other of ['a#7', 'a#00', 'zzz', 'nobody#0'])
      session.refuses({ ...report, fetchId: other }, 'unknown_id', 'fetchId');
    session.refuses({ ...report, replica: 'nobody' }, 'unknown_id', 'replica');
    session.refuses({ ...report, replica: 'b' }, 'invalid_event', 'replica');
    session.refuses({ ...report, type: 'train.finished' }, 'invalid_event', 'type');
    session.refuses({ ...report, groups: [] }, 'invalid_event', 'groups');
    session.refuses({ ...report, groups: ['p0', 'p9'] }, 'invalid_event', 'groups[1]');
    session.refuses({ ...report, groups: ['p0', 'p0'] }, 'invalid_event', 'groups[1]');
    session.refuses({ ...report, seconds: -1 }, 'invalid_event', 'seconds');
    session.refuses(
      { type: 'round.opened', at: 0, roundId: 'r0', kind: 'long', weightVersion: 0, prompts: [] },
      'duplicate_id',
      'roundId',
    );
    session.refuses(
      { type: 'group.completed', at: 0, roundId: 'x', groupId: 'p', samples: 1, tokens: 1 },
      'unknown_id',
      'roundId',
    );
    session.refuses({ type: 'gpus.released', at: 0, roundId: 'r0', gpuIds: ['g0', 'g9'] }, 'unknown_id', 'gpuIds[1]');
    session.refuses({ type: 'replica.lost', at: 0, replica: 'z' }, 'unknown_id', 'replica');
    const stepped = { type: 'optimizer.stepped', at: 0, roundId: 'r0' };
    session.refuses(stepped, 'invalid_event', 'updateId');
    for (const updateId of ['update#0', 'update', 'x-update#0', 'a#0'])
      session.refuses({ ...stepped, updateId }, 'unknown_id', 'updateId');
    session.refuses({ type: 'host.restarted', at: 0, idPrefix: '' }, 'duplicate_id', 'idPrefix');
    expect(refusal(() => session.complete('p0', 'p7'))).toMatchObject({
      code: 'unknown_id',
      path: 'prompts[1].promptId',
    });
    expect(refusal(() => session.complete('p0', 'p0'))).toMatchObject({
      code: 'duplicate_id',
      path: 'prompts[1].promptId',
    });
  });
});

describe('why a group waits', () => {
  const config = { replicas, groupsPerRound: 4, minFetchGroups: 2 };
  const trainer = (more: Partial<StreamTrainingInput> = {}): Trainer => {
    const one = new Trainer(create(streamTraining, { ...config, ...more }) as never);
    one.open();
    return one;
  };

  test('without GPUs for its training it waits for the end of its round', () => {
    const one = trainer();
    one.group('x');
    expect(one.why('x')).toEqual(['x is for the end of its round', 'r0 has 1 of 4 groups', 'host: round.completed r0']);
    expect(one.why('g0')).toEqual(['g0 belongs to replica a']);
    expect(one.why('a').slice(0, 2)).toEqual(['a is in the rollout', 'r0 has 1 of 4 groups']);
  });

  test('with them it waits for more groups, for a replica, and for its fetch', () => {
    const one = trainer();
    one.release('g0', 'g1');
    one.group('x');
    expect(one.why('x')).toEqual([
      'x is one of 1 that wait, of 2 for a fetch',
      'host: group.completed r0',
      'host: round.completed r0',
    ]);
    one.group('y');
    one.group('z');
    expect(one.why('y')).toEqual(['y is trained by replica a', 'trainer a: train.consumed a#0 a']);
    expect(one.why('z')).toEqual([
      'z waits for a replica',
      'a#0 is trained by replica a',
      'trainer a: train.consumed a#0 a',
      'host: round.completed r0',
    ]);
    // The last groups are left for all replicas.
    one.group('last');
    expect(one.why('last')[0]).toBe('last is for the end of its round');
    one.lose('b');
    one.complete('x', 'y', 'z', 'last');
    expect(one.why('z')).toEqual([
      'z is next on replica a',
      'a#0 is trained by replica a',
      'trainer a: train.consumed a#0 a',
    ]);
  });

  test('the groups of the next round wait for the round before, and all wait for a replica where none is left', () => {
    const one = trainer();
    one.group('x');
    one.complete('x');
    one.lose('a');
    one.lose('b');
    const none = ['host: replica.added a', 'host: replica.added b'];
    expect(one.why('x')).toEqual([
      'x is for the end of its round',
      'r0 is complete, and its last groups are trained',
      ...none,
    ]);
    expect(one.why('b')).toEqual(['b is lost', ...none]);
    one.open();
    one.group('y');
    // A group of an older round goes by its own id, a younger one with this id by that of its ledger.
    one.group('x');
    const before = ['r0 is complete, and its last groups are trained', ...none];
    expect(one.why('y')).toEqual(['y waits until round r0 is trained', ...before]);
    expect(one.why('r1\nx')[0]).toBe('r1\nx waits until round r0 is trained');
    expect(one.why('x')[0]).toBe('x is for the end of its round');
    one.send({ type: 'replica.added', replica: 'b' } as never);
    expect(one.why('r1')).toEqual([
      'r1 waits until round r0 is trained',
      'r0 is complete, and its last groups are trained',
      'b#3 is trained by replica b',
      'trainer b: train.finished b#3 b',
      'host: round.completed r1',
    ]);
  });
});
