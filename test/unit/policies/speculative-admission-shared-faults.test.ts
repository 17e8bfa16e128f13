/** Faults that tries share: what is charged, what is forgotten, what is suspended, and how it goes on. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, type Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const timerId = 'speculative-admission/pause';
const fire = (session: Rounds, at: number) => {
  session.at = at;
  return session.tell('timer.fired', { timerId });
};
const fail = (session: Rounds, requestIds: readonly string[], kind = 'infrastructure') =>
  session.each('response.failed', requestIds, { kind });
const launched = (decisions: Parameters<typeof brief>[0]) =>
  only(decisions, 'request.launch').map((one) => `${one.requestId} ${one.reason.code}`);
const first = (ids: string) => [...ids].map((id) => `${id}/0#0`);

describe.each(bothWays)('faults that tries share, %s', (_how, start) => {
  /** One response of each prompt. */
  const single = (ids: string, config: object = {}) => {
    const session = start({ promptsPerRound: ids.length, responsesPerPrompt: 1, ...config });
    session.open(prompts(...ids));
    return session;
  };

  test('a failure alone is retried at once; a second prompt that fails waits for a second', () => {
    const session = single('abcdefgh');
    const [again] = fail(session, ['a/0#0']);
    expect(again).toMatchObject({
      type: 'request.launch',
      requestId: 'a/0#1',
      reason: { code: 'retry_infrastructure', attempt: 1, budget: 5, pauseSeconds: 0, scope: 'engine' },
    });
    expect(fail(session, ['b/0#0'])).toStrictEqual([
      { type: 'timer.set', at: 0, timerId, fireAtSeconds: 1, reason: expect.objectContaining({ code: 'retry_pause' }) },
    ]);
    expect(launched(fire(session, 1))).toStrictEqual(['b/0#1 retry_infrastructure']);
  });

  test('eight prompts that fail one after the other suspend the engines; seven do not', () => {
    const session = single('abcdefghijklmnopqrst');
    const seven = fail(session, first('abcdefg'));
    expect(only(seven, 'tries.suspended')).toStrictEqual([]);
    expect(only(fail(session, ['h/0#0']), 'tries.suspended')).toStrictEqual([
      {
        type: 'tries.suspended',
        at: 0,
        scope: 'engine',
        reason: { code: 'failing', items: 8, failures: 8, retrySeconds: 1 },
      },
    ]);
  });

  test('fewer suspend them if every prompt in flight has failed, or half more tries than are in flight', () => {
    const session = start({ responsesPerPrompt: 4 });
    session.open(prompts('a', 'b'));
    expect(only(fail(session, ['a/0#0', 'a/1#0']), 'tries.suspended')).toStrictEqual([]);
    expect(brief(fail(session, ['b/0#0']))).toContain('tries.suspended - failing');
    const four = single('abcd');
    expect(only(fail(four, first('abc')), 'tries.suspended')).toStrictEqual([]);
    expect(brief(fail(four, ['a/0#1']))).toContain('tries.suspended - failing');
  });

  test('then there are single tries, of the prompts in turn, after pauses that double up to a minute', () => {
    const session = single('abc');
    fail(session, first('abc'));
    // The first retry, of a, was launched before the suspension.
    fail(session, ['a/0#1']);
    const tried: string[] = [];
    const waited: number[] = [];
    for (let since = 0; tried.length < 10; ) {
      const { timers } = session.state as unknown as { timers: { pause: number } };
      const probes = only(fire(session, timers.pause), 'request.launch');
      // A pause that ends meanwhile changes nothing.
      if (probes.length === 0) continue;
      expect(probes).toMatchObject([{ reason: { code: 'probe', scope: 'engine' } }]);
      tried.push(probes[0]!.promptId);
      waited.push(session.at - since);
      since = session.at;
      fail(session, [probes[0]!.requestId]);
    }
    expect(tried.join('')).toMatch(/^(.)(.)(.)\1\2\3\1\2\3/);
    expect(new Set(tried)).toStrictEqual(new Set('abc'));
    expect(waited).toStrictEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
    expect(session.state).toMatchObject({ prompts: [{}, {}, {}] });
  });

  test('the success of a try that was launched since ends it, and lets all go on; no prompt is charged', () => {
    const session = single('abcdefghijklmnopqrst', { retry: { infrastructure: 0 } });
    fail(session, first('abcdefgh'));
    // Launched before.
    expect(brief(session.complete('i/0#0'))).not.toContain('tries.recovered - succeeded');
    const [probe] = only(fire(session, 1), 'request.launch');
    expect(probe).toMatchObject({ requestId: 'i/1#0', reason: { code: 'probe', failures: 8, pauseSeconds: 1 } });
    session.at = 3;
    const after = session.complete('i/1#0');
    expect(after[0]).toStrictEqual({
      type: 'tries.recovered',
      at: 3,
      scope: 'engine',
      reason: { code: 'succeeded', suspendedSeconds: 3 },
    });
    expect(launched(after)).toStrictEqual([...'abcdefgh'].map((one) => `${one}/0#1 retry_infrastructure`));
    expect(only(after, 'prompt.failed')).toStrictEqual([]);
  });

  test('where all that is left has failed, a prompt that has its response is compared with, and its response is surplus', () => {
    const session = single('abc');
    session.complete('c/0#0');
    fail(session, first('ab'));
    fail(session, ['a/0#1']);
    const probe = fire(session, 1);
    expect(launched(probe)).toStrictEqual(['c/1#0 probe']);
    // It fails: one of the others is tried; then it is tried once more.
    fail(session, ['c/1#0']);
    const next: string[] = [];
    for (const at of [3, 8, 17, 34, 67]) {
      const again = only(fire(session, at), 'request.launch');
      next.push(...again.map((one) => one.requestId));
      if (again.some((one) => one.promptId === 'c' && one.requestId !== 'c/1#1')) break;
      for (const { requestId } of again) if (requestId !== 'c/1#1') fail(session, [requestId]);
      if (next.includes('c/1#1')) break;
    }
    expect(next.at(-1)).toBe('c/1#1');
    const after = session.complete('c/1#1');
    expect(brief(after)).toContain('response.surplus c/1#1 control');
    expect(only(after, 'tries.recovered')).toHaveLength(1);
    expect(launched(after).map((one) => one[0])).toStrictEqual(expect.arrayContaining(['a', 'b']));
    const rest = only(after, 'request.launch').map((one) => one.requestId);
    expect(only(session.complete(...rest), 'round.completed')[0]!.prompts.map((one) => one.responses.length)).toEqual([
      1, 1, 1,
    ]);
  });

  test('without one, a further prompt is asked for', () => {
    const session = single('ab');
    fail(session, first('ab'));
    fail(session, ['a/0#1']);
    const asked = fire(session, 1);
    expect(only(asked, 'prompts.request')).toMatchObject([{ count: 1, reason: { code: 'to_compare', admitted: 2 } }]);
    const [probe, ...others] = only(asked, 'request.launch');
    expect(others).toStrictEqual([]);
    expect(launched(session.supply('r0', { promptId: 'x' }))).toStrictEqual([]);
    // It has not failed yet: it needs no pause.
    const next = fail(session, [probe!.requestId]);
    expect(launched(next)).toStrictEqual(['x/0#2 probe']);
    expect(brief(session.complete('x/0#2'))).toContain('tries.recovered - succeeded');
  });

  test('a failure is charged if the others succeed, and forgotten if they fail as well', () => {
    const poisoned = single('abcdefgh', { retry: { infrastructure: 1 } });
    fail(poisoned, ['a/0#0']);
    expect(fail(poisoned, ['a/0#1'])).toStrictEqual([]);
    fail(poisoned, ['b/0#0'], 'data');
    // It may have been an outage, for once.
    expect(launched(poisoned.complete('b/0#1'))).toStrictEqual(['a/0#2 retry_infrastructure']);
    fail(poisoned, ['a/0#2']);
    fire(poisoned, 60);
    expect(fail(poisoned, ['a/0#3'])).toStrictEqual([]);
    fail(poisoned, first('cdef'), 'data');
    expect(only(poisoned.complete('c/0#1', 'd/0#1', 'e/0#1'), 'prompt.failed')).toStrictEqual([]);
    expect(only(poisoned.complete('f/0#1'), 'prompt.failed')).toMatchObject([
      { promptId: 'a', reason: { code: 'infrastructure', failures: 2, budget: 1 } },
    ]);
    const innocent = start({ promptsPerRound: 9, retry: { infrastructure: 0 } });
    innocent.open(prompts(...'abcdefghi'));
    innocent.complete('g/0#0', 'h/0#0');
    fail(innocent, ['g/1#0', 'h/1#0', 'a/0#0']);
    fail(innocent, ['i/0#0'], 'data');
    // Prompts that can succeed have failed as well: all are tried again.
    const after = innocent.complete('i/0#1');
    expect(only(after, 'prompt.failed')).toStrictEqual([]);
    expect(launched(after)).toStrictEqual(['g/1', 'h/1', 'a/0'].map((one) => `${one}#1 retry_infrastructure`));
    expect(only(after, 'request.launch')[0]!.reason).toMatchObject({ attempt: 0, budget: 0 });
  });

  test('with nothing to compare with, a response is given up only where a limit is set', () => {
    const session = single('a', { retry: { infrastructure: 0, giveUpSeconds: 100 } });
    session.tell('source.exhausted');
    let failed = fail(session, ['a/0#0']);
    for (let turn = 0; turn < 30 && only(failed, 'prompt.failed').length === 0; turn += 1) {
      const { timers } = session.state as unknown as { timers: { pause: number } };
      failed = fire(session, timers.pause);
      for (const { requestId } of only(failed, 'request.launch')) failed = fail(session, [requestId]);
    }
    expect(only(failed, 'prompt.failed')).toMatchObject([
      { promptId: 'a', reason: { code: 'not_compared', limitSeconds: 100 } },
    ]);
    expect(session.at).toBeGreaterThanOrEqual(100);
    expect(session.at).toBeLessThan(165);
    expect(only(failed, 'round.completed')).toMatchObject([{ prompts: [] }]);
    const patient = single('a', { retry: { infrastructure: 0 } });
    fail(patient, ['a/0#0']);
    expect(only(fire(patient, 1e6), 'prompt.failed')).toStrictEqual([]);
  });
});
