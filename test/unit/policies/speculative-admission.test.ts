import { describe, expect, test } from 'vitest';
import { scaledCount } from '../../../src/core/rollout/prompts.ts';
import { admission, only, prompts, type Session } from '../../support/sessions/session.ts';

const ids = (list: readonly { requestId: string }[]) => list.map((one) => one.requestId);
const three = prompts('a', 'b', 'c');

/** Completes two prompts of the round, hence the round. */
const finish = (session: Session) => session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');

describe('launching', () => {
  test('counts from a factor forgive its rounding: 1.1 · 100 is 110', () => {
    expect([scaledCount(1.1, 100), scaledCount(1.25, 128), scaledCount(1.25, 8), scaledCount(1, 7)]).toEqual([
      110, 160, 10, 7,
    ]);
  });

  test('a short round launches ceil(eta · P0) prompts with ceil(eta · R0) responses, a long one P0 with R0', () => {
    expect(only(admission().open(three), 'request.launch')).toHaveLength(9);
    const long = admission().open(three, 'long');
    expect(ids(only(long, 'request.launch'))).toEqual(['a/0#0', 'a/1#0', 'b/0#0', 'b/1#0']);
  });

  test('asks for the prompts that are missing, and takes them in any portions', () => {
    const session = admission();
    expect(only(session.open(prompts('a')), 'prompts.request')).toMatchObject([
      { count: 2, reason: { code: 'round_opened' } },
    ]);
    const first = session.send({ type: 'prompts.supplied', roundId: 'r0', prompts: prompts('b') } as never);
    expect(only(first, 'request.launch')).toHaveLength(3);
    expect(only(first, 'prompts.request')).toEqual([]);
    expect(
      only(session.send({ type: 'prompts.supplied', roundId: 'r0', prompts: prompts('c') } as never), 'request.launch'),
    ).toHaveLength(3);
  });

  test('places by fewest tokens in flight, then fewest requests, then the lowest id', () => {
    const session = admission({
      placement: 'policy',
      promptsPerRound: 1,
      promptSpeculation: 1,
      responsesPerPrompt: 1,
      responseSpeculation: 1,
      allowOverlap: true,
    });
    session.open([{ promptId: 'a', promptTokens: 100 }]);
    expect(only(session.send({ type: 'engine.added', engineId: 'e1' } as never), 'request.launch')[0]!.engineId).toBe(
      'e1',
    );
    session.send({ type: 'engine.added', engineId: 'e0' } as never);
    session.send({ type: 'engine.added', engineId: 'e2' } as never);
    session.complete('a/0#0');
    const where = (tokens: number, id: string) =>
      only(session.open([{ promptId: id, promptTokens: tokens }]), 'request.launch')[0]!.engineId;
    expect(where(0, 'b')).toBe('e0');
  });

  test('keeps the limits while prompts stream in, and launches as slots free (verl #6090)', () => {
    const session = admission({ placement: 'policy', maxInFlightPerEngine: 2, maxInFlight: 3 });
    session.send({ type: 'engine.added', engineId: 'e0' } as never);
    session.send({ type: 'engine.added', engineId: 'e1' } as never);
    expect(only(session.open(three), 'request.launch').map((one) => one.engineId)).toEqual(['e0', 'e1', 'e0']);
    expect(ids(only(session.complete('a/0#0'), 'request.launch'))).toEqual(['b/0#0']);
  });

  test('a drained engine takes nothing new, and may come back', () => {
    const session = admission({ placement: 'policy' });
    session.send({ type: 'engine.added', engineId: 'e0' } as never);
    session.send({ type: 'engine.drained', engineId: 'e0' } as never);
    expect(only(session.open(three), 'request.launch')).toEqual([]);
    expect(only(session.send({ type: 'engine.added', engineId: 'e0' } as never), 'request.launch')).toHaveLength(9);
  });

  test('when the engines change, those that are not named finish what they have', () => {
    const session = admission({ placement: 'policy', promptsPerRound: 2, responsesPerPrompt: 1 });
    session.send({ type: 'engine.added', engineId: 'e0' } as never);
    session.open(prompts('a'), 'long');
    session.send({ type: 'engines.changed', engineIds: ['e1', 'e2'] } as never);
    const more = session.send({ type: 'prompts.supplied', roundId: 'r0', prompts: prompts('b') } as never);
    expect(only(more, 'request.launch')).toMatchObject([{ promptId: 'b', engineId: 'e1' }]);
    expect(session.complete('a/0#0')).toMatchObject([{ type: 'response.accepted' }, {}, {}]);
    expect(() => session.send({ type: 'engines.changed', engineIds: ['e1', 'e1'] } as never)).toThrow(
      expect.objectContaining({ code: 'invalid_event', path: 'engineIds' }),
    );
  });
});

describe('collecting', () => {
  test('the R0-th held response collects the prompt and aborts its siblings', () => {
    const session = admission();
    session.open(three);
    expect(session.complete('a/2#0').map((one) => one.type)).toEqual(['response.accepted']);
    expect(session.complete('a/0#0').map((one) => one.type)).toEqual([
      'response.accepted',
      'prompt.collected',
      'request.abort',
      'timer.set',
      'prompt.counted',
    ]);
  });

  test('the P0-th prompt completes the round: final ids, aborts, deferrals by name, then the drain', () => {
    const session = admission();
    session.open(three);
    session.complete('c/0#0');
    const all = finish(session);
    const [round] = only(all, 'round.completed');
    expect(round!.prompts.map((one) => [one.promptId, ...ids(one.responses)])).toEqual([
      ['a', 'a/0#0', 'a/1#0'],
      ['b', 'b/0#0', 'b/1#0'],
    ]);
    expect(only(all, 'prompt.deferred')).toMatchObject([
      {
        prompt: { promptId: 'c', expectedTokens: 10, deferral: { count: 1 } },
        dropped: [{ requestId: 'c/0#0', tokens: 10, cause: 'stale_weights' }],
      },
    ]);
    expect(ids(only(all, 'request.abort'))).toEqual(['a/2#0', 'b/2#0', 'c/1#0', 'c/2#0']);
    expect(only(session.confirm(all), 'round.drained')).toMatchObject([{ roundId: 'r0' }]);
  });

  test('the next round opens once the last has drained, or earlier with allowOverlap', () => {
    const session = admission();
    session.open(three);
    const all = finish(session);
    session.refuses(
      { type: 'round.opened', at: 0, roundId: 'r1', kind: 'short', weightVersion: 1, prompts: [] },
      'out_of_order',
      'roundId',
    );
    session.confirm(all);
    session.open(three);
    const overlapping = admission({ allowOverlap: true });
    overlapping.open(three);
    finish(overlapping);
    // Ids are new: a/0#0 may still be running.
    expect(ids(only(overlapping.open(three), 'request.launch'))[0]).toBe('a/0#1');
  });

  test('finished groups are not dropped by draining (slime #2238): what finishes late is surplus, by name', () => {
    const session = admission();
    session.open(three);
    finish(session);
    expect(session.complete('c/0#0')).toMatchObject([{ type: 'response.surplus', requestId: 'c/0#0' }]);
    expect(session.complete('c/0#0')).toMatchObject([{ type: 'response.late', reason: { code: 'completion' } }]);
  });
});

describe('what goes wrong on engines', () => {
  test('an abort that is never confirmed frees its slot after the grace', () => {
    const session = admission({ maxInFlight: 9 });
    session.open(three);
    const all = finish(session);
    expect(only(all, 'timer.set')).toMatchObject([{ fireAtSeconds: 30 }]);
    session.at = 30;
    const expired = session.send({ type: 'timer.fired', timerId: 'speculative-admission/abort-grace' } as never);
    expect(only(expired, 'request.expired')).toHaveLength(5);
    expect(only(expired, 'round.drained')).toHaveLength(1);
    // A generation that outlived its abort sweep (slime #2056, vLLM #33926), and agents that keep sending (miles #1639).
    for (const event of [
      { type: 'request.aborted', requestId: 'c/0#0' },
      { type: 'turn.finished', requestId: 'c/0#0', tokens: 3 },
      { type: 'tool.started', requestId: 'c/0#0', tool: 'bash' },
    ]) {
      expect(session.send(event as never)).toMatchObject([{ type: 'response.late', reason: { code: 'report' } }]);
    }
  });

  test('an engine that dies loses nothing: its requests are launched elsewhere under new ids', () => {
    const session = admission({ placement: 'policy', promptSpeculation: 1, responseSpeculation: 1 });
    session.send({ type: 'engine.added', engineId: 'e0' } as never);
    session.open(prompts('a', 'b'));
    session.send({ type: 'engine.added', engineId: 'e1' } as never);
    const lost = only(session.send({ type: 'engine.lost', engineId: 'e0' } as never), 'request.launch');
    expect(lost.map((one) => [one.requestId, one.engineId, one.reason.code])).toEqual([
      ['a/0#1', 'e1', 'retry_engine_lost'],
      ['a/1#1', 'e1', 'retry_engine_lost'],
      ['b/0#1', 'e1', 'retry_engine_lost'],
      ['b/1#1', 'e1', 'retry_engine_lost'],
    ]);
    expect(session.send({ type: 'engine.lost', engineId: 'e0' } as never)).toEqual([]);
    session.refuses({ type: 'engine.lost', at: 0, engineId: 'e9' }, 'unknown_id', 'engineId');
  });

  test('an exception frees its slot (SkyRL #1691)', () => {
    const session = admission({ maxInFlight: 1 });
    session.open(three);
    const retried = session.send({ type: 'response.failed', requestId: 'a/0#0', kind: 'infrastructure' } as never);
    expect(ids(only(retried, 'request.launch'))).toEqual(['a/0#1']);
  });

  test('budgets for infrastructure, data and environment are apart', () => {
    const session = admission({
      retry: { infrastructure: 1, data: 1, environment: 1 },
      promptsPerRound: 4,
      promptSpeculation: 1,
      responseSpeculation: 1,
    });
    session.open(prompts('a', 'b', 'c', 'd'));
    const fail = (requestId: string, kind: string) =>
      session.send({ type: 'response.failed', requestId, kind } as never);
    expect(only(fail('a/0#0', 'infrastructure'), 'request.launch')).toHaveLength(1);
    expect(only(fail('a/0#1', 'data'), 'request.launch')).toHaveLength(1);
    expect(only(fail('a/0#2', 'environment'), 'timer.set')).toMatchObject([{ fireAtSeconds: 2 }]);
    session.at = 2;
    const third = session.send({ type: 'timer.fired', timerId: 'speculative-admission/pause' } as never);
    expect(ids(only(third, 'request.launch'))).toEqual(['a/0#3']);
    fail('a/0#3', 'infrastructure');
    // A prompt that is tried later, and succeeds, forgets these once: it may have been an outage.
    fail('d/0#0', 'data');
    expect(ids(only(session.complete('d/0#1'), 'request.launch'))).toEqual(['a/0#4']);
    fail('a/0#4', 'infrastructure');
    session.at = 60;
    session.send({ type: 'timer.fired', timerId: 'speculative-admission/pause' } as never);
    fail('a/0#5', 'infrastructure');
    // Four more show whose fault it is.
    for (const id of ['b/0', 'b/1', 'c/0', 'c/1']) fail(`${id}#0`, 'data');
    const last = session.complete('b/0#1', 'b/1#1', 'c/0#1', 'c/1#1');
    expect(only(last, 'response.abandoned')).toMatchObject([{ reason: { failures: 2, budget: 1 } }]);
    expect(only(last, 'prompt.failed')).toMatchObject([{ promptId: 'a', reason: { code: 'infrastructure' } }]);
  });

  test('a prompt that fails for good leaves no hole (NeMo-RL #3938): it is named, and replaced', () => {
    const session = admission({ retry: { data: 0 }, promptSpeculation: 1, responseSpeculation: 1 });
    session.open(prompts('a', 'b'));
    session.complete('a/1#0');
    const failed = session.send({ type: 'response.failed', requestId: 'a/0#0', kind: 'data' } as never);
    expect(only(failed, 'prompt.failed')).toMatchObject([
      { promptId: 'a', dropped: [{ requestId: 'a/1#0', cause: 'failed' }] },
    ]);
    expect(only(failed, 'prompts.request')).toMatchObject([{ count: 1, reason: { code: 'failed' } }]);
    session.send({ type: 'prompts.supplied', roundId: 'r0', prompts: prompts('c') } as never);
    expect(only(session.complete('b/0#0', 'b/1#0', 'c/0#1', 'c/1#1'), 'round.completed')).toHaveLength(1);
  });

  test('a straggler does not wedge a long round (NeMo-RL #3238): it is aborted and tried again', () => {
    const session = admission({ responseTimeoutSeconds: 100 });
    const opened = session.open(prompts('a', 'b'), 'long');
    expect(only(opened, 'timer.set')).toMatchObject([{ fireAtSeconds: 100 }]);
    session.complete('a/0#0', 'a/1#0', 'b/0#0');
    session.at = 100;
    const fired = session.send({ type: 'timer.fired', timerId: 'speculative-admission/response-timeout' } as never);
    expect(only(fired, 'request.abort')).toMatchObject([
      { requestId: 'b/1#0', reason: { code: 'response_timeout', ranSeconds: 100 } },
    ]);
    expect(ids(only(fired, 'request.launch'))).toEqual(['b/1#1']);
  });
});

describe('filters', () => {
  const rewarded = (session: Session, rewards: Record<string, number>) =>
    Object.entries(rewards).flatMap(([requestId, reward]) =>
      session.send({ type: 'reward.ready', requestId, reward } as never),
    );

  test('a rejected group uses up no quota, is not queued, and is replaced (RollPacker artifact, SkyRL #1802, AReaL #450)', () => {
    const session = admission({ filter: 'zero-variance', promptSpeculation: 1, responseSpeculation: 1 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    const filtered = rewarded(session, { 'a/0#0': 1, 'a/1#0': 1 });
    expect(only(filtered, 'prompt.filtered')).toMatchObject([
      { promptId: 'a', reason: { code: 'zero_variance', standardDeviation: 0 } },
    ]);
    expect(only(filtered, 'prompts.request')).toMatchObject([{ count: 1, reason: { code: 'filtered' } }]);
    session.send({ type: 'prompts.supplied', roundId: 'r0', prompts: prompts('c') } as never);
    session.complete('b/0#0', 'b/1#0', 'c/0#1', 'c/1#1');
    rewarded(session, { 'b/0#0': 0, 'b/1#0': 1, 'c/0#1': 0 });
    expect(only(rewarded(session, { 'c/1#1': 1 }), 'round.completed')[0]!.prompts.map((one) => one.promptId)).toEqual([
      'b',
      'c',
    ]);
  });

  test('variance is taken in float64 with a tolerance (slime #1674, NeMo-RL #4158)', () => {
    const session = admission({
      filter: 'zero-variance',
      promptsPerRound: 1,
      promptSpeculation: 1,
      responsesPerPrompt: 3,
      responseSpeculation: 1,
    });
    session.open(prompts('a'));
    session.complete('a/0#0', 'a/1#0', 'a/2#0');
    expect(
      only(rewarded(session, { 'a/0#0': 0.1, 'a/1#0': 0.1 + 1e-9, 'a/2#0': 0.1 }), 'prompt.filtered'),
    ).toHaveLength(1);
  });

  test('one response a prompt has no variance, which is not zero variance', () => {
    const session = admission({
      filter: 'zero-variance',
      promptsPerRound: 1,
      responsesPerPrompt: 1,
      responseSpeculation: 1,
    });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0');
    expect(only(rewarded(session, { 'a/0#0': 1 }), 'round.completed')).toHaveLength(1);
  });

  test('with `host` a prompt counts when the host keeps it, in that order', () => {
    const session = admission({ filter: 'host' });
    session.open(three);
    finish(session);
    const judge = (promptId: string, keep: boolean) =>
      session.send({ type: 'prompt.judged', roundId: 'r0', promptId, keep } as never);
    session.refuses(
      { type: 'prompt.judged', at: 0, roundId: 'r0', promptId: 'c', keep: true },
      'out_of_order',
      'promptId',
    );
    expect(judge('b', true).map((one) => one.type)).toEqual(['prompt.counted']);
    expect(judge('b', true)).toMatchObject([{ type: 'judgement.late' }]);
    expect(only(judge('a', true), 'round.completed')[0]!.prompts.map((one) => one.promptId)).toEqual(['a', 'b']);
  });
});

describe('quotas and the source', () => {
  const quotas = { code: 1, math: 1 };
  const of = (domain: string, ...list: string[]) => list.map((promptId) => ({ promptId, domain }));

  test('each domain has its quota; a full one sends its rest away at once', () => {
    const session = admission({ quotas });
    expect(only(session.open([]), 'prompts.request')).toMatchObject([{ count: 4, domains: { code: 2, math: 2 } }]);
    session.send({
      type: 'prompts.supplied',
      roundId: 'r0',
      prompts: [...of('code', 'a', 'b'), ...of('math', 'c', 'd')],
    } as never);
    session.refuses(
      { type: 'prompts.supplied', at: 0, roundId: 'r0', prompts: of('law', 'x') },
      'invalid_event',
      'prompts[0].domain',
    );
    const filled = session.complete('a/0#0', 'a/1#0');
    expect(only(filled, 'prompt.deferred')).toMatchObject([
      { prompt: { promptId: 'b' }, reason: { code: 'quota_filled' } },
    ]);
    expect(only(session.complete('c/0#0', 'c/1#0'), 'round.completed')).toHaveLength(1);
  });

  test('a long round takes any mix, so that quotas cannot block it (RollPacker artifact)', () => {
    const session = admission({ quotas });
    session.open(of('math', 'a', 'b'), 'long');
    expect(only(finish(session), 'round.completed')).toMatchObject([{ reason: { code: 'quota_reached' } }]);
  });

  test('an exhausted source ends the round with what was accepted, and says so (OpenRLHF #1310, #1320, #1297)', () => {
    const session = admission();
    session.open(prompts('a'));
    session.complete('a/0#0', 'a/1#0');
    const ended = session.send({ type: 'source.exhausted' } as never);
    expect(only(ended, 'round.completed')).toMatchObject([
      { prompts: [{ promptId: 'a' }], reason: { code: 'source_exhausted', counted: 1, needed: 2 } },
    ]);
  });

  test('an exhausted source still waits for what runs', () => {
    const session = admission();
    session.open(prompts('a'));
    expect(session.send({ type: 'source.exhausted' } as never)).toEqual([]);
    expect(only(session.complete('a/0#0', 'a/1#0'), 'round.completed')).toHaveLength(1);
  });

  test('a duplicate in the round is the same prompt, and is replaced; a source of duplicates only ends the round', () => {
    const session = admission();
    session.open(prompts('a', 'b'));
    const again = session.send({ type: 'prompts.supplied', roundId: 'r0', prompts: prompts('a') } as never);
    expect(again).toMatchObject([
      { type: 'prompt.merged', promptId: 'a' },
      { type: 'prompts.request', count: 1, reason: { code: 'merged' } },
    ]);
    const endless = session.send({
      type: 'prompts.supplied',
      roundId: 'r0',
      prompts: prompts('a', 'b', 'a', 'b'),
    } as never);
    expect(only(endless, 'prompts.request')).toEqual([]);
    expect(only(session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0'), 'round.completed')).toHaveLength(1);
  });

  test('prompts that come after the round has ended are handed back', () => {
    const session = admission();
    session.open(three);
    finish(session);
    const late = session.send({ type: 'prompts.supplied', roundId: 'r0', prompts: prompts('z') } as never);
    expect(late).toMatchObject([
      { type: 'prompt.returned', prompt: { promptId: 'z' }, reason: { code: 'round_closed' } },
    ]);
  });

  test('a prompt of which nothing was started is handed back, not deferred', () => {
    const session = admission({ maxInFlight: 1 });
    session.open(three);
    expect(only(finish(session), 'prompt.returned')).toMatchObject([
      { prompt: { promptId: 'c' }, reason: { code: 'not_started' } },
    ]);
  });
});

describe('partial rollouts and staleness', () => {
  test('a deferred prompt keeps its tokens and resumes, its budget cumulative (slime #2261)', () => {
    const session = admission({ partialRollout: true, maxStaleness: 1 });
    session.open(three);
    session.complete('c/0#0');
    const all = finish(session);
    expect(only(all, 'prompt.deferred')).toEqual([]);
    const [deferred] = only(session.confirm(all), 'prompt.deferred');
    expect(deferred!.prompt.kept).toMatchObject([
      { requestId: 'c/0#0', tokens: 10, finished: true },
      { requestId: 'c/1#0', tokens: 4, finished: false },
      { requestId: 'c/2#0', tokens: 4, finished: false },
    ]);
    const launches = only(session.open([deferred!.prompt, { promptId: 'd' }], 'long'), 'request.launch');
    expect(launches[0]).toMatchObject({ requestId: 'c/1#1', resumeFrom: { tokens: 4, weightVersions: [0] } });
    const last = session.complete('c/1#1', 'd/0#1', 'd/1#1');
    // Weights are named where they are not those of the round.
    expect(only(last, 'prompt.counted').map((one) => one.responses)).toEqual([
      [
        { requestId: 'c/0#0', tokens: 10, weightVersions: [0] },
        { requestId: 'c/1#1', tokens: 10, weightVersions: [0, 1] },
      ],
      [
        { requestId: 'd/0#1', tokens: 10 },
        { requestId: 'd/1#1', tokens: 10 },
      ],
    ]);
    const done = only(last, 'round.completed')[0]!;
    expect(done.prompts[0]!.responses).toMatchObject([
      { requestId: 'c/0#0', weightVersions: [0] },
      { requestId: 'c/1#1', weightVersions: [0, 1] },
    ]);
  });

  test('no sample is older than maxStaleness (slime #2092)', () => {
    const session = admission({ partialRollout: true, maxStaleness: 1 });
    const kept = [{ requestId: 'a/0#0', index: 0, tokens: 5, weightVersions: [0], finished: true }];
    const opened = session.open([{ promptId: 'a', kept }], 'long', 2);
    expect(only(opened, 'response.dropped')).toMatchObject([
      { requestId: 'a/0#0', reason: { code: 'stale_weights', oldestVersion: 0, weightVersion: 2 } },
    ]);
    expect(only(opened, 'request.launch')).toHaveLength(2);
  });

  test('with staleness allowed unfinished prompts run on into the next round (RollPacker §6.7)', () => {
    const session = admission({ maxStaleness: 1 });
    session.open(three);
    const all = finish(session);
    expect(only(all, 'prompt.carried')).toMatchObject([{ promptId: 'c' }]);
    expect(only(all, 'prompt.deferred')).toEqual([]);
    session.confirm(all);
    expect(only(session.open(prompts('d')), 'prompts.request')).toMatchObject([{ count: 1 }]);
    const next = only(session.complete('c/0#0', 'c/1#0', 'd/0#1', 'd/1#1'), 'round.completed')[0]!;
    expect(next.prompts[0]).toMatchObject({
      promptId: 'c',
      responses: [{ weightVersions: [0, 1] }, { weightVersions: [0, 1] }],
    });
  });
});

describe('agents', () => {
  test('a trajectory that waits for its environment frees its slot, and resumes when there is one', () => {
    const session = admission({ maxInFlight: 1 });
    session.open(three);
    expect(
      ids(only(session.send({ type: 'tool.started', requestId: 'a/0#0', tool: 'bash' } as never), 'request.launch')),
    ).toEqual(['a/1#0']);
    expect(session.send({ type: 'tool.finished', requestId: 'a/0#0', outcome: 'success' } as never)).toEqual([]);
    expect(ids(only(session.complete('a/1#0'), 'request.resume'))).toEqual(['a/0#0']);
    session.refuses(
      { type: 'tool.finished', at: 0, requestId: 'a/0#0', outcome: 'success' },
      'out_of_order',
      'requestId',
    );
  });
});

describe('the host', () => {
  test('a restart issues what was in flight again under the new prefix, without charging any budget', () => {
    const session = admission({ retry: { infrastructure: 0 } });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0');
    session.restore();
    const again = session.send({ type: 'host.restarted', idPrefix: 'h1-' } as never);
    expect(only(again, 'prompts.request')).toMatchObject([{ count: 1, reason: { code: 'host_restarted' } }]);
    expect(ids(only(again, 'request.launch'))).toEqual(['h1-a/1#0', 'h1-a/2#0', 'h1-b/0#0', 'h1-b/1#0', 'h1-b/2#0']);
    expect(session.complete('a/1#0')).toMatchObject([{ type: 'response.late' }]);
    session.refuses({ type: 'host.restarted', at: 0, idPrefix: 'h1-' }, 'duplicate_id', 'idPrefix');
  });

  test('a round that the host gives up puts its prompts back as they came', () => {
    const session = admission();
    const deferral = { count: 2, sinceRound: 0, sinceSeconds: 5 };
    session.open([{ promptId: 'a', deferral }, { promptId: 'b' }], 'long');
    session.complete('a/0#0', 'a/1#0');
    const failed = session.send({ type: 'round.failed', roundId: 'r0' } as never);
    expect(only(failed, 'prompt.returned').map((one) => [one.prompt, one.dropped.length])).toEqual([
      [{ promptId: 'a', deferral }, 2],
      [{ promptId: 'b' }, 0],
    ]);
  });

  test('`speculation: auto` tries every factor, then keeps the fastest', () => {
    const session = admission({
      speculation: 'auto',
      promptSpeculation: undefined,
      responseSpeculation: undefined,
      promptsPerRound: 10,
      responsesPerPrompt: 1,
    });
    const chosen: unknown[] = [];
    for (let round = 0; round < 14 && chosen.length === 0; round += 1) {
      const launches = only(
        session.open(prompts(...Array.from({ length: 14 }, (_, index) => `p${round}-${index}`))),
        'request.launch',
      );
      // The more prompts, the sooner ten are done, up to 13.
      session.at += launches.length >= 26 ? 5 : 20;
      const first = [...new Set(launches.map((one) => one.promptId))].slice(0, 10);
      const all = first.flatMap((promptId) =>
        session.complete(launches.find((one) => one.promptId === promptId)!.requestId),
      );
      session.confirm(all);
      chosen.push(...only(all, 'speculation.chosen').filter((one) => one.reason.code === 'fixed'));
      if (round % 4 === 3 && chosen.length === 0) {
        const long = only(
          session.open(prompts(...Array.from({ length: 10 }, (_, index) => `l${round}-${index}`)), 'long'),
          'request.launch',
        );
        session.at += 5;
        session.confirm(session.complete(...ids(long)));
      }
    }
    expect(chosen).toMatchObject([{ promptSpeculation: 1.3 }]);
  });
});

describe('bad input is refused, and changes nothing', () => {
  test.each([
    [{ eta: 1 }, 'eta'],
    [{ promptSpeculation: 0.9 }, 'promptSpeculation'],
    [{ promptSpeculation: Number.NaN }, 'promptSpeculation'],
    [{ promptsPerRound: 0 }, 'promptsPerRound'],
    [{ promptsPerRound: 1.5 }, 'promptsPerRound'],
    [{ promptsPerRound: -2 }, 'promptsPerRound'],
    [{ quotas: { code: 1 } }, 'quotas'],
    [{ partialRollout: true }, 'partialRollout'],
    [{ maxInFlightPerEngine: 2 }, 'maxInFlightPerEngine'],
    [{ speculation: 'auto' }, 'promptSpeculation'],
    [{ retry: { infrastructure: -1 } }, 'retry.infrastructure'],
  ])('configuration %j', (config, path) => {
    expect(() => admission(config as never)).toThrow(expect.objectContaining({ code: 'invalid_config', path }));
  });

  test('events', () => {
    const session = admission();
    session.refuses({ type: 'prompts.supplied', at: 0, roundId: 'r0', prompts: [] }, 'out_of_order', 'roundId');
    session.refuses({ type: 'round.failed', at: 0, roundId: 'r0' }, 'out_of_order', 'roundId');
    session.open(three);
    session.refuses({ type: 'response.completed', at: 0, requestId: 'a/0#0', tokens: 1.5 }, 'invalid_event', 'tokens');
    session.refuses({ type: 'response.completed', at: 0, requestId: 'a/0#0', tokens: -1 }, 'invalid_event', 'tokens');
    session.refuses(
      { type: 'response.completed', at: Number.NaN, requestId: 'a/0#0', tokens: 1 },
      'invalid_event',
      'at',
    );
    session.refuses(
      { type: 'response.completed', at: 0, requestId: 'a/0#0', tokens: 1, extra: 1 },
      'invalid_event',
      'extra',
    );
    session.refuses({ type: 'response.completed', at: 0, requestId: 'nobody', tokens: 1 }, 'unknown_id', 'requestId');
    session.refuses({ type: 'response.completed', at: 0, requestId: 'a/0#7', tokens: 1 }, 'unknown_id', 'requestId');
    session.refuses({ type: 'reward.ready', at: 0, requestId: 'a/0#0', reward: 1 }, 'out_of_order', 'requestId');
    session.refuses({ type: 'no.such', at: 0 }, 'invalid_event', 'type');
    session.refuses({ type: 'timer.fired', at: 0, timerId: 'x' }, 'unknown_id', 'timerId');
    session.refuses(
      { type: 'round.opened', at: 0, roundId: 'r9', kind: 'short', weightVersion: 0, prompts: [] },
      'out_of_order',
      'roundId',
    );
    session.refuses({ type: 'prompts.supplied', at: 0, roundId: 'r7', prompts: [] }, 'unknown_id', 'roundId');
    session.refuses(
      { type: 'prompts.supplied', at: 0, roundId: 'r0', prompts: [{ promptId: '' }] },
      'invalid_event',
      'prompts[0].promptId',
    );
  });
});
