/** Faults of responses: retry budgets, responses that are given up, and prompts that cannot get theirs any more. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, type Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const timerId = 'speculative-admission/pause';
/** Fails responses for their data, and lets the tries that follow succeed: these were launched after all that has failed before. */
const succeedSince = (session: Rounds, ...responses: readonly string[]) =>
  responses.flatMap((one) => {
    session.tell('response.failed', { requestId: `${one}#0`, kind: 'data' });
    return session.complete(`${one}#1`);
  });

describe.each(bothWays)('faults, %s', (_how, start) => {
  test.each([
    ['infrastructure', 5, 'engine'],
    ['environment', 3, 'environment'],
  ] as const)('a response is tried again after %s faults %i times by default, after pauses', (kind, budget, scope) => {
    const session = start({ promptsPerRound: 8 });
    session.open(prompts(...'abcdefgh'));
    const fail = (attempt: number) => session.tell('response.failed', { requestId: `a/0#${attempt}`, kind });
    for (let attempt = 1; attempt <= budget; attempt += 1) {
      const pauseSeconds = [0, 1, 2, 4, 8][attempt - 1]!;
      const failed = fail(attempt - 1);
      session.at += pauseSeconds;
      const again = pauseSeconds === 0 ? failed : session.tell('timer.fired', { timerId });
      expect(only(again, 'request.launch')).toMatchObject([
        {
          requestId: `a/0#${attempt}`,
          index: 0,
          reason: { code: `retry_${kind}`, attempt, budget, pauseSeconds, scope },
        },
      ]);
    }
    // Beyond the budget it is set aside, until a try of another prompt, launched since, ends the row of failures.
    expect(fail(budget)).toStrictEqual([]);
    expect(only(succeedSince(session, 'b/0'), 'request.launch')).toMatchObject([
      { requestId: `a/0#${budget + 1}`, reason: { code: `retry_${kind}`, attempt: 0, budget } },
    ]);
    // It may have been an outage; what fails again is its own, after four successes of others.
    for (let attempt = 1; attempt <= budget; attempt += 1) {
      fail(budget + attempt);
      session.at += 60;
      session.tell('timer.fired', { timerId });
    }
    expect(fail(2 * budget + 1)).toStrictEqual([]);
    expect(only(succeedSince(session, 'c/0', 'd/0', 'e/0'), 'prompt.failed')).toStrictEqual([]);
    expect(only(succeedSince(session, 'f/0'), 'prompt.failed')).toStrictEqual([
      {
        type: 'prompt.failed',
        at: session.at,
        promptId: 'a',
        roundId: 'r0',
        dropped: [],
        reason: { code: kind, failures: budget + 1, budget },
      },
    ]);
  });

  test('a response is tried again after data faults once by default, at once', () => {
    const session = start();
    session.open(prompts('a', 'b'));
    const fail = (attempt: number) => session.tell('response.failed', { requestId: `a/0#${attempt}`, kind: 'data' });
    expect(only(fail(0), 'request.launch')).toMatchObject([
      { requestId: 'a/0#1', index: 0, reason: { code: 'retry_data', attempt: 1, budget: 1 } },
    ]);
    expect(only(fail(1), 'prompt.failed')).toMatchObject([{ reason: { code: 'data', failures: 2, budget: 1 } }]);
  });

  test('one response that is given up leaves its prompt the others, as long as they are enough', () => {
    const session = start({ promptsPerRound: 4, responseSpeculation: 1.5, retry: { environment: 0 } });
    session.open([{ promptId: 'a', ref: 'row 7' }, ...prompts('b', 'c', 'd')]);
    expect(session.tell('response.failed', { requestId: 'a/0#0', kind: 'environment' })).toStrictEqual([]);
    expect(brief(succeedSince(session, 'b/2'))).toContain('request.launch a/0#1 retry_environment');
    expect(session.tell('response.failed', { requestId: 'a/0#1', kind: 'environment' })).toStrictEqual([]);
    // Tries of other prompts, launched since, show that it was its own fault.
    expect(only(succeedSince(session, 'c/0', 'c/2', 'd/0', 'd/2'), 'response.abandoned')[0]).toStrictEqual({
      type: 'response.abandoned',
      at: 0,
      requestId: 'a/0#1',
      promptId: 'a',
      reason: { code: 'environment', failures: 1, budget: 0 },
    });
    session.complete('a/1#0');
    expect(brief(session.complete('a/2#0'))).toStrictEqual([
      'response.accepted a/2#0 held',
      'prompt.collected a responses_held',
      'prompt.counted a no_filter',
    ]);
  });

  test('a prompt leaves with the response that is one too many, and another takes its place', () => {
    const session = start({ promptsPerRound: 4, responseSpeculation: 1.5, retry: { environment: 0 } });
    session.open(prompts('a', 'b', 'c', 'd'));
    session.each('response.failed', ['b/2#0', 'b/0#0'], { kind: 'environment' });
    // The first success of another forgets these: it may have been an outage.
    expect(brief(succeedSince(session, 'a/0'))).toEqual(
      expect.arrayContaining(['request.launch b/2#1 retry_environment', 'request.launch b/0#1 retry_environment']),
    );
    session.each('response.failed', ['b/2#1', 'b/0#1'], { kind: 'environment' });
    succeedSince(session, 'c/0', 'd/0', 'c/1');
    session.tell('response.failed', { requestId: 'd/2#0', kind: 'data' });
    const last = session.complete('d/2#1');
    expect(brief(last.slice(0, 4))).toStrictEqual([
      'response.abandoned b/2#1 environment',
      'response.abandoned b/0#1 environment',
      'request.abort b/1#0 prompt_failed',
      'prompt.failed b environment',
    ]);
    expect(only(last, 'prompts.request')).toMatchObject([{ count: 1, reason: { target: 4, admitted: 3 } }]);
  });

  test('faults of the data take the whole prompt out once too few responses are left, and stop what runs of it', () => {
    const session = start({ responseSpeculation: 1.5, retry: { data: 0 } });
    session.open([{ promptId: 'a', ref: 'row 7' }, { promptId: 'b' }]);
    const first = session.tell('response.failed', { requestId: 'a/1#0', kind: 'data' });
    expect(brief(first)).toStrictEqual(['response.abandoned a/1#0 data']);
    const failed = session.tell('response.failed', { requestId: 'a/0#0', kind: 'data' });
    expect(failed).toStrictEqual([
      {
        type: 'request.abort',
        at: 0,
        requestId: 'a/2#0',
        promptId: 'a',
        reason: { code: 'prompt_failed', held: 0 },
      },
      expect.objectContaining({ type: 'timer.set', fireAtSeconds: 30 }),
      {
        type: 'prompt.failed',
        at: 0,
        promptId: 'a',
        roundId: 'r0',
        ref: 'row 7',
        dropped: [],
        reason: { code: 'data', failures: 1, budget: 0 },
      },
      {
        type: 'prompts.request',
        at: 0,
        roundId: 'r0',
        count: 1,
        reason: { code: 'failed', target: 2, admitted: 1 },
      },
    ]);
    expect(brief(session.tell('request.aborted', { requestId: 'a/2#0' }))).toStrictEqual([]);
    expect(brief(session.tell('response.failed', { requestId: 'a/2#0', kind: 'data' }))).toStrictEqual([
      'response.late a/2#0 report',
    ]);
  });

  test('tries again come before first tries, in the order of the faults', () => {
    const session = start({ maxInFlight: 2 });
    session.open(prompts('a', 'b'));
    const fail = (requestId: string) => session.tell('response.failed', { requestId, kind: 'infrastructure' });
    expect(brief(fail('a/1#0'))).toStrictEqual(['request.launch a/1#1 retry_infrastructure']);
    expect(brief(session.complete('a/0#0'))).toStrictEqual([
      'response.accepted a/0#0 held',
      'request.launch b/0#0 planned',
    ]);
    expect(only(fail('b/0#0'), 'request.launch')).toMatchObject([
      { requestId: 'b/0#1', reason: { code: 'retry_infrastructure', attempt: 1, budget: 5 } },
    ]);
    expect(only(session.complete('a/1#1'), 'request.launch')).toMatchObject([
      { requestId: 'b/1#0', reason: { code: 'planned', inFlight: 1 } },
    ]);
  });

  test('what waits for another try is passed over when its prompt has left', () => {
    const session = start({ placement: 'policy', retry: { data: 0 } });
    session.tell('engine.added', { engineId: 'e0' });
    session.open(prompts('a', 'b'));
    session.tell('engine.drained', { engineId: 'e0' });
    expect(session.tell('response.failed', { requestId: 'a/0#0', kind: 'infrastructure' })).toStrictEqual([]);
    session.tell('response.failed', { requestId: 'a/1#0', kind: 'data' });
    expect(session.tell('engine.added', { engineId: 'e0' })).toStrictEqual([]);
    expect(only(session.supply('r0', { promptId: 'c' }), 'request.launch').map((one) => one.requestId)).toStrictEqual([
      'c/0#1',
      'c/1#1',
    ]);
  });

  test('a fault of a carried trajectory between rounds waits for the next round', () => {
    const session = start({ promptsPerRound: 1, promptSpeculation: 2, maxStaleness: 1, retry: { data: 0 } });
    session.open(prompts('a', 'b', 'c'));
    session.complete('a/0#0', 'a/1#0');
    expect(session.tell('response.failed', { requestId: 'b/0#0', kind: 'infrastructure' })).toStrictEqual([]);
    expect(brief(session.open([]))).toStrictEqual([
      'prompts.request r1 round_opened',
      'request.launch b/0#1 retry_infrastructure',
    ]);
    session.complete('b/1#0', 'b/0#1');
    expect(session.state).toMatchObject({ round: null, rounds: 2 });
  });
});
