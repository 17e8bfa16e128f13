/** Responses that run too long: one timer, for the earliest. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, type Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const grace = 'speculative-admission/abort-grace';
const timeout = 'speculative-admission/response-timeout';
const pause = 'speculative-admission/pause';
const fire = (session: Rounds, timerId: string, at: number) => {
  session.at = at;
  return session.tell('timer.fired', { timerId });
};

describe.each(bothWays)('responses that run too long, %s', (_how, start) => {
  const limited = (config = {}) => start({ responseTimeoutSeconds: 10, ...config });

  test('are aborted and tried again with twice the limit; the timer goes on for the next one', () => {
    const session = limited({ maxInFlight: 3 });
    expect(session.open(prompts('a', 'b')).at(1)).toStrictEqual({
      type: 'timer.set',
      at: 0,
      timerId: timeout,
      fireAtSeconds: 10,
      reason: { code: 'response_timeout', limitSeconds: 10 },
    });
    session.at = 4;
    expect(brief(session.complete('a/0#0'))).toStrictEqual([
      'response.accepted a/0#0 held',
      'request.launch b/1#0 planned',
    ]);
    session.at = 5;
    session.tell('request.progressed', { requestId: 'b/0#0', tokens: 3 });
    expect(fire(session, timeout, 12)).toStrictEqual([
      {
        type: 'timer.set',
        at: 12,
        timerId: timeout,
        fireAtSeconds: 14,
        reason: { code: 'response_timeout', limitSeconds: 10 },
      },
      {
        type: 'request.abort',
        at: 12,
        requestId: 'a/1#0',
        promptId: 'a',
        reason: { code: 'response_timeout', ranSeconds: 12, limitSeconds: 10 },
      },
      expect.objectContaining({ type: 'timer.set', timerId: grace, fireAtSeconds: 42 }),
    ]);
    // Its slot is free once it has ended.
    expect(only(session.tell('request.aborted', { requestId: 'a/1#0' }), 'request.launch')).toMatchObject([
      {
        requestId: 'a/1#1',
        reason: { code: 'retry_timeout', attempt: 1, budget: 5, pauseSeconds: 0, scope: 'engine' },
      },
    ]);
    session.complete('b/1#0');
    // What was heard of later is late later.
    expect(only(fire(session, timeout, 14), 'timer.set')).toMatchObject([{ fireAtSeconds: 15 }]);
    const last = fire(session, timeout, 15.5);
    expect(only(last, 'request.abort')).toMatchObject([
      { requestId: 'b/0#0', reason: { ranSeconds: 15.5, limitSeconds: 10 } },
    ]);
    expect(only(last, 'timer.set')[0]).toMatchObject({ fireAtSeconds: 32, reason: { limitSeconds: 20 } });
  });

  test('those that have ended, or are tried again, are not looked for any more', () => {
    const session = limited({ promptsPerRound: 4, responsesPerPrompt: 1 });
    session.open(prompts('a', 'b', 'c', 'd'));
    session.complete('a/0#0');
    session.at = 6;
    session.tell('response.failed', { requestId: 'b/0#0', kind: 'infrastructure' });
    session.at = 9;
    session.tell('request.progressed', { requestId: 'd/0#0', tokens: 3 });
    const fired = fire(session, timeout, 10);
    expect(only(fired, 'request.abort').map((one) => one.requestId)).toStrictEqual(['c/0#0']);
    expect(only(fired, 'timer.set')[0]).toMatchObject({ timerId: timeout, fireAtSeconds: 16 });
    // Two prompts have failed one after the other: both wait for a second.
    expect(brief(only(fire(session, pause, 11), 'request.launch'))).toStrictEqual([
      'request.launch c/0#1 retry_timeout',
    ]);
    session.complete('b/0#1', 'd/0#0');
    // Nothing runs but the second try of c, since 11.
    expect(only(fire(session, timeout, 16), 'timer.set')).toMatchObject([{ timerId: timeout, fireAtSeconds: 31 }]);
    session.complete('c/0#1');
    expect(fire(session, timeout, 31)).toStrictEqual([]);
  });

  test('a trajectory that waits for its environment runs too long as well', () => {
    const session = limited({ promptsPerRound: 1, responsesPerPrompt: 1 });
    session.open(prompts('a'));
    session.tell('tool.started', { requestId: 'a/0#0', tool: 'bash' });
    expect(brief(fire(session, timeout, 10))).toStrictEqual([
      'request.abort a/0#0 response_timeout',
      `timer.set ${grace} abort_grace`,
      'request.launch a/0#1 retry_timeout',
      `timer.set ${timeout} response_timeout`,
    ]);
  });

  test('a response that comes after its time is surplus: another try runs', () => {
    const session = limited({ promptsPerRound: 1 });
    session.open(prompts('a'));
    session.complete('a/0#0');
    fire(session, timeout, 10);
    expect(brief(session.complete('a/1#0'))).toStrictEqual(['response.surplus a/1#0 after_abort']);
    expect(brief(session.complete('a/1#1'))).toStrictEqual([
      'response.accepted a/1#1 held',
      'prompt.collected a responses_held',
      'prompt.counted a no_filter',
      'round.completed r0 quota_reached',
      'round.drained r0 all_ended',
    ]);
  });

  test('beyond the budget the prompt leaves, once others succeed; what of it was late as well is not named twice', () => {
    const session = limited({ promptsPerRound: 4, retry: { infrastructure: 0 } });
    session.open(prompts('a', 'b', 'c', 'd'));
    session.at = 5;
    session.each('request.progressed', ['b/0#0', 'b/1#0', 'c/0#0', 'c/1#0', 'd/0#0', 'd/1#0'], { tokens: 3 });
    expect(brief(fire(session, timeout, 10))).toStrictEqual([
      `timer.set ${timeout} response_timeout`,
      'request.abort a/0#0 response_timeout',
      `timer.set ${grace} abort_grace`,
      'request.abort a/1#0 response_timeout',
    ]);
    session.tell('response.failed', { requestId: 'b/0#0', kind: 'data' });
    expect(brief(session.complete('b/0#1'))).toStrictEqual([
      'response.accepted b/0#1 held',
      'request.launch a/0#1 retry_timeout',
      'request.launch a/1#1 retry_timeout',
    ]);
    session.at = 14;
    session.each('request.progressed', ['b/1#0', 'c/0#0', 'c/1#0', 'd/0#0', 'd/1#0'], { tokens: 4 });
    expect(only(fire(session, timeout, 20), 'request.abort')).toMatchObject([{ promptId: 'a' }, { promptId: 'a' }]);
    session.each('response.failed', ['b/1#0', 'c/0#0', 'c/1#0', 'd/0#0'], { kind: 'data' });
    session.complete('b/1#1', 'c/0#1', 'c/1#1');
    expect(brief(session.complete('d/0#1'))).toStrictEqual([
      'response.abandoned a/0#1 timeout',
      'prompt.failed a timeout',
      'response.accepted d/0#1 held',
      'prompts.request r0 failed',
    ]);
  });

  test('what was kept before is taken up again by the next try', () => {
    const session = limited({ promptsPerRound: 1, responsesPerPrompt: 1, partialRollout: true, maxStaleness: 1 });
    const kept = [{ requestId: 'a/0#0', index: 0, tokens: 5, weightVersions: [0], finished: false }];
    session.open([{ promptId: 'a', kept }]);
    session.tell('turn.finished', { requestId: 'a/0#0', tokens: 9 });
    expect(only(fire(session, timeout, 10), 'request.launch')).toMatchObject([
      { requestId: 'a/0#1', resumeFrom: kept[0] },
    ]);
  });

  test('of those that began together the earlier prompt comes first, then the lower index', () => {
    const session = limited({ promptsPerRound: 2, responseSpeculation: 1.5 });
    session.open(prompts('a', 'b'));
    expect(only(fire(session, timeout, 10), 'request.abort').map((one) => one.requestId)).toStrictEqual([
      'a/0#0',
      'a/1#0',
      'a/2#0',
      'b/0#0',
      'b/1#0',
      'b/2#0',
    ]);
  });

  test('tries that began later come later, and those that began together by their prompts, not as they were launched', () => {
    const session = limited({ promptsPerRound: 4, responsesPerPrompt: 1 });
    session.open(prompts('a', 'b', 'c', 'd'));
    session.tell('response.failed', { requestId: 'c/0#0', kind: 'infrastructure' });
    session.at = 3;
    session.tell('response.failed', { requestId: 'a/0#0', kind: 'data' });
    expect(only(fire(session, timeout, 30), 'request.abort').map((one) => one.requestId)).toStrictEqual([
      'b/0#0',
      'c/0#1',
      'd/0#0',
      'a/0#1',
    ]);
  });

  test('a trajectory is timed from its launch, also where it has resumed since', () => {
    const session = limited({ promptsPerRound: 2, responsesPerPrompt: 1 });
    session.open(prompts('a'));
    session.at = 4;
    session.supply('r0', { promptId: 'b' });
    session.tell('tool.started', { requestId: 'a/0#0', tool: 'bash' });
    session.tell('tool.finished', { requestId: 'a/0#0', outcome: 'success' });
    const fired = fire(session, timeout, 10);
    expect(only(fired, 'timer.set')[0]).toMatchObject({ timerId: timeout, fireAtSeconds: 14 });
    expect(only(fired, 'request.abort').map((one) => one.requestId)).toStrictEqual(['a/0#0']);
  });

  test('without a limit nothing is too late', () => {
    const session = start();
    expect(only(session.open(prompts('a', 'b')), 'timer.set')).toStrictEqual([]);
    expect(fire(session, timeout, 1e9)).toStrictEqual([]);
  });
});
