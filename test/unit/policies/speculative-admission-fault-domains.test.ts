/** Where tries fail together: engines, environments, rewards and the data; and what a restart of the host leaves of it. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, giveUp, type Rounds, reward } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const timerId = 'speculative-admission/pause';
const fire = (session: Rounds, at: number) => {
  session.at = at;
  return session.tell('timer.fired', { timerId });
};
const fail = (session: Rounds, requestIds: readonly string[], kind = 'infrastructure') =>
  session.each('response.failed', requestIds, { kind });
const launches = (decisions: Parameters<typeof brief>[0]) => only(decisions, 'request.launch');
const first = (ids: string) => [...ids].map((id) => `${id}/0#0`);
const pauseOf = (session: Rounds) => (session.state as unknown as { timers: { pause: number } }).timers.pause;

describe.each(bothWays)('engines that fail alone, %s', (_how, start) => {
  const placed = () => {
    const session = start({
      promptsPerRound: 8,
      responsesPerPrompt: 1,
      placement: 'policy',
      retry: { infrastructure: 0 },
    });
    for (const engineId of ['e0', 'e1']) session.tell('engine.added', { engineId });
    const at = launches(session.open(prompts(...'abcdefgh')));
    const on = (engineId: string) => at.filter((one) => one.engineId === engineId).map((one) => one.requestId);
    return { session, on };
  };

  test('are avoided, and their failures forgotten: no prompt is charged', () => {
    const { session, on } = placed();
    const failed = fail(session, on('e0'));
    expect(only(failed, 'tries.suspended')).toMatchObject([
      { scope: 'engine', id: 'e0', reason: { code: 'failing', retrySeconds: 1 } },
    ]);
    expect(launches(failed).map((one) => one.engineId)).toStrictEqual(launches(failed).map(() => 'e1'));
    // With nothing to launch no timer is set for it. What is launched next goes there as a single try, if it is due.
    expect(pauseOf(session)).toBeNull();
    session.at = 0.5;
    const early = fail(session, on('e1').slice(0, 1), 'data');
    expect(launches(early)).toMatchObject([{ engineId: 'e1', reason: { code: 'retry_data' } }]);
    session.at = 2;
    const [probe] = launches(fail(session, on('e1').slice(1, 2), 'data'));
    expect(probe).toMatchObject({ engineId: 'e0', reason: { code: 'probe', scope: 'engine', id: 'e0' } });
    expect(only(session.complete(probe!.requestId), 'tries.recovered')).toMatchObject([{ scope: 'engine', id: 'e0' }]);
    const all = JSON.stringify(session.state.prompts);
    expect(all).not.toContain('"infrastructure":1');
  });

  test('where all of them fail, all are suspended, and nothing is launched but single tries', () => {
    const { session, on } = placed();
    const told = [...fail(session, [...on('e0'), ...on('e1')])];
    for (let turn = 0; turn < 8; turn += 1) {
      const next = launches(told.splice(0)).map((one) => one.requestId);
      if (next.length > 0) told.push(...fail(session, next));
    }
    const { faults } = session.state as unknown as {
      faults: { domains: { scope: string; id: string | null; suspension: object | null }[] };
    };
    const suspended = faults.domains.filter((one) => one.suspension !== null);
    expect(suspended.map((one) => one.id).sort()).toEqual(expect.arrayContaining(['e0', 'e1']));
    let count = 0;
    while (session.at < 600) {
      const again = launches(fire(session, Math.max(session.at, pauseOf(session))));
      expect(again.length).toBeLessThanOrEqual(2);
      count += again.length;
      fail(
        session,
        again.map((one) => one.requestId),
      );
    }
    // Seven tries until the pauses are a minute, then ten a domain.
    expect(count).toBeLessThanOrEqual(2 * (7 + 600 / 60));
    expect(only(session.tell('engine.added', { engineId: 'e2' }), 'prompt.failed')).toStrictEqual([]);
  });
});

describe.each(bothWays)('environments, %s', (_how, start) => {
  test('a pool that fails is suspended by its domain; prompts of others go on', () => {
    const session = start({ promptsPerRound: 6, responsesPerPrompt: 1, retry: { environment: 0 } });
    session.open([...'abcdef'].map((promptId) => ({ promptId, domain: promptId < 'd' ? 'code' : 'web' })));
    const failed = fail(session, first('abc'), 'environment');
    expect(only(failed, 'tries.suspended')).toMatchObject([{ scope: 'environment', id: 'code' }]);
    expect(brief(session.complete('d/0#0', 'e/0#0'))).toContain('prompt.counted e no_filter');
    fail(session, ['f/0#0'], 'data');
    expect(only(session.complete('f/0#1'), 'tries.recovered')).toStrictEqual([]);
    const [probe] = launches(fire(session, 1));
    expect(probe).toMatchObject({ reason: { code: 'probe', scope: 'environment', id: 'code' } });
    expect(brief(session.complete(probe!.requestId))).toContain('tries.recovered - succeeded');
  });
});

describe.each(bothWays)('faults of the data, %s', (_how, start) => {
  const eight = () => {
    const session = start({ promptsPerRound: 9, responsesPerPrompt: 1, retry: { data: 0 } });
    session.open(prompts(...'abcdefghi'));
    return { session, failed: fail(session, first('abcdefgh'), 'data') };
  };

  test('eight prompts in a row are given up, and no more are asked for', () => {
    const { session, failed } = eight();
    expect(only(failed, 'prompt.failed')).toHaveLength(8);
    expect(only(failed, 'tries.suspended')).toStrictEqual([
      { type: 'tries.suspended', at: 0, scope: 'prompt', reason: { code: 'failing', items: 8, failures: 8 } },
    ]);
    expect(only(failed, 'prompts.request').reduce((sum, one) => sum + one.count, 0)).toBe(7);
    const more = session.supply('r0', ...prompts('j', 'k'));
    const again = fail(
      session,
      launches(more).map((one) => one.requestId),
      'data',
    );
    expect(only(again, 'prompt.failed')).toHaveLength(2);
    expect(only(again, 'prompts.request')).toStrictEqual([]);
  });

  test.each([
    ['source.reopened', {}, 'told'],
    ['host.restarted', { idPrefix: 'h-' }, 'told'],
    ['response.completed', { requestId: 'i/0#0', tokens: 9 }, 'succeeded'],
  ] as const)('until %s', (type, fields, code) => {
    const { session } = eight();
    session.at = 4;
    const again = session.tell(type, fields);
    expect(only(again, 'tries.recovered')).toMatchObject([{ scope: 'prompt', reason: { code, suspendedSeconds: 4 } }]);
    expect(only(again, 'prompts.request')).toHaveLength(1);
  });

  test('or until a round opens', () => {
    const { session } = eight();
    session.confirm(session.tell('round.failed', { roundId: 'r0' }));
    const opened = session.open([]);
    expect(brief(opened)).toContain('tries.recovered - told');
    expect(only(opened, 'prompts.request')).toMatchObject([{ count: 9 }]);
  });
});

describe.each(bothWays)('rewards that fail for all, %s', (_how, start) => {
  test('charge no prompt: single tries after pauses, until a reward comes', () => {
    const session = start({
      ...{ promptsPerRound: 4, responsesPerPrompt: 1, filter: 'zero-variance', retry: { environment: 0 } },
    });
    session.open(prompts('a', 'b', 'c', 'd'));
    session.complete(...first('abcd'));
    const failed = first('abcd').flatMap((id) => giveUp(session, id));
    expect(only(failed, 'tries.suspended')).toMatchObject([{ scope: 'reward', reason: { code: 'failing' } }]);
    let count = 0;
    let probe = launches(failed);
    while (session.at < 300) {
      for (const { requestId } of probe) {
        session.complete(requestId);
        failed.push(...giveUp(session, requestId));
      }
      probe = launches(fire(session, Math.max(session.at, pauseOf(session))));
      count += probe.length;
    }
    expect(only(failed, 'prompt.failed')).toStrictEqual([]);
    expect(count).toBeLessThanOrEqual(4 + 7 + 300 / 60);
    expect(probe).toMatchObject([{ reason: { code: 'probe', scope: 'reward' } }]);
    const { requestId } = probe[0]!;
    session.complete(requestId);
    const after = reward(session, requestId, 1);
    expect(only(after, 'tries.recovered')).toMatchObject([{ scope: 'reward', reason: { code: 'succeeded' } }]);
    expect(launches(after)).toHaveLength(3);
  });
});

describe.each(bothWays)('a host that restarts in an outage, %s', (_how, start) => {
  test('finds the suspension as it was, with a timer: it launches one try, a second later', () => {
    const session = start({ promptsPerRound: 12, responsesPerPrompt: 1 });
    session.open(prompts(...'abcdefghijkl'));
    fail(session, first('abcdefgh'));
    session.at = 100;
    const again = session.tell('host.restarted', { idPrefix: 'h-' });
    expect(launches(again)).toStrictEqual([]);
    expect(only(again, 'tries.recovered')).toStrictEqual([]);
    expect(only(again, 'timer.set')).toMatchObject([{ timerId, fireAtSeconds: 101 }]);
    const [probe, ...others] = launches(fire(session, 101));
    expect(probe!.reason.code).toBe('probe');
    expect(others).toStrictEqual([]);
    const after = session.complete(probe!.requestId);
    expect(launches(after)).toHaveLength(11);
    expect(new Set(launches(after).map((one) => one.requestId)).size).toBe(11);
  });
});

describe.each(bothWays)('time limits, %s', (_how, start) => {
  const timeout = 'speculative-admission/response-timeout';
  const limitOf = (decisions: Parameters<typeof brief>[0]) =>
    only(decisions, 'timer.set').find((one) => one.timerId === timeout)?.fireAtSeconds;
  const late = (session: Rounds, at: number) => {
    session.at = at;
    return session.tell('timer.fired', { timerId: timeout });
  };

  test('double with each try that was too slow', () => {
    const session = start({ promptsPerRound: 4, responsesPerPrompt: 1, responseTimeoutSeconds: 10 });
    session.open(prompts('a', 'b', 'c', 'd'));
    const heard = (tokens: number) => session.each('request.progressed', first('bcd'), { tokens });
    session.at = 9;
    heard(1);
    expect(launches(late(session, 10))).toMatchObject([{ requestId: 'a/0#1', reason: { code: 'retry_timeout' } }]);
    for (const at of [15, 22, 29]) {
      session.at = at;
      heard(at);
    }
    expect(only(late(session, 30), 'request.abort')).toMatchObject([
      { requestId: 'a/0#1', reason: { ranSeconds: 20, limitSeconds: 20 } },
    ]);
    const again = launches(fire(session, 31));
    expect(again).toMatchObject([
      { requestId: 'a/0#2', reason: { code: 'retry_timeout', attempt: 2, pauseSeconds: 1 } },
    ]);
    session.complete(...first('bcd'));
    expect(limitOf(late(session, 40))).toBe(71);
  });

  test('follow the length that is expected, at twice the time that such a length has taken', () => {
    const session = start({ promptsPerRound: 3, responsesPerPrompt: 1, responseTimeoutSeconds: 10 });
    session.open(prompts('a', 'b'));
    session.at = 5;
    session.tell('response.completed', { requestId: 'a/0#0', tokens: 50 });
    // Ten tokens a second.
    session.supply('r0', { promptId: 'c', expectedTokens: 1000 });
    session.complete('b/0#0');
    const { timers, pace } = session.state as unknown as { timers: Record<string, number>; pace: object };
    expect(pace).not.toMatchObject({ tokens: 0 });
    session.at = 10;
    expect(limitOf(session.tell('timer.fired', { timerId: timeout }))).toBe(205);
    expect(timers.responseTimeout).toBe(10);
  });

  test.each(['request.progressed', 'turn.finished'] as const)(
    'are extended by %s, as long as there is more',
    (type) => {
      const session = start({ promptsPerRound: 1, responsesPerPrompt: 1, responseTimeoutSeconds: 10 });
      session.open(prompts('a'));
      session.at = 8;
      session.tell(type, { requestId: 'a/0#0', tokens: 5 });
      expect(limitOf(late(session, 10))).toBe(18);
      session.at = 15;
      session.tell(type, { requestId: 'a/0#0', tokens: 5 });
      expect(only(late(session, 18), 'request.abort')).toMatchObject([
        { reason: { ranSeconds: 18, limitSeconds: 10 } },
      ]);
    },
  );
});
