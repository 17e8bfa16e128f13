/** Faults that tries share, where they meet collections, restarts, kept responses and engines that come and go. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, keep, type Rounds } from '../../support/sessions/rounds.ts';
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

describe.each(bothWays)('shared faults, %s', (_how, start) => {
  test('a response with several failures is given up once', () => {
    const session = start({ promptsPerRound: 4, responseSpeculation: 1.5, retry: { infrastructure: 1 } });
    session.open(prompts('a', 'b', 'c', 'd'));
    fail(session, ['a/0#0', 'a/0#1']);
    fail(session, ['b/1#0'], 'data');
    session.complete('b/1#1');
    fire(session, 60);
    fail(session, ['a/0#2']);
    fire(session, 120);
    fail(session, ['a/0#3']);
    fail(session, ['b/2#0', 'c/1#0', 'c/2#0', 'd/1#0'], 'data');
    const judged = session.complete('b/2#1', 'c/1#1', 'c/2#1', 'd/1#1');
    expect(only(judged, 'response.abandoned')).toHaveLength(1);
  });

  test('a prompt that comes back beyond its budget is compared where it failed', () => {
    const session = start({
      promptsPerRound: 1,
      promptSpeculation: 2,
      responsesPerPrompt: 1,
      retry: { environment: 0 },
    });
    session.open(prompts('a', 'b'));
    fail(session, ['a/0#0'], 'environment');
    expect(brief(session.complete('b/0#0'))).toContain('prompt.deferred a round_completed');
    const opened = session.open(prompts('a'));
    expect(only(opened, 'tries.suspended')).toMatchObject([{ scope: 'environment' }]);
  });

  test('a spare that is set aside stays out once its prompt is collected', () => {
    const session = start({ responseSpeculation: 1.5, filter: 'host', retry: { infrastructure: 0 } });
    session.open(prompts('a', 'b'));
    fail(session, ['a/2#0']);
    session.complete('a/0#0', 'a/1#0');
    fail(session, ['b/0#0']);
    expect(launched(fail(session, ['b/1#0']))).toStrictEqual([]);
    expect(launched(fire(session, 1))).toStrictEqual(['a/3#0 probe']);
  });

  test('a control ends with the host that ran it, and a prompt never has more responses than it needs', () => {
    const session = start({ onRestart: 'continue' });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    fail(session, ['b/0#0', 'b/1#0', 'b/0#1', 'b/1#1']);
    const [control] = only(fire(session, 5), 'request.launch');
    expect(control).toMatchObject({ requestId: 'a/2#0', reason: { code: 'probe' } });
    session.tell('host.restarted', { idPrefix: 'h-' });
    expect(only(session.complete('a/2#0'), 'response.accepted')).toStrictEqual([]);
    let tried = launched(fire(session, 6));
    for (let turn = 0; turn < 4 && tried.length > 0; turn += 1) {
      const after = session.complete(...tried.map((one) => one.split(' ')[0]!));
      for (const { prompts: trained } of only(after, 'round.completed')) {
        expect(trained.map((one) => one.responses.length)).toStrictEqual([2, 2]);
      }
      tried = launched(after);
    }
    session.complete('b/0#1');
    expect(session.state).toMatchObject({ round: null });
  });

  test('a control is never kept for a later round', () => {
    const session = start({ ...keep, filter: 'host', promptSpeculation: 1.5 });
    session.open(prompts('a', 'b', 'c'));
    session.complete('a/0#0', 'a/1#0', 'c/0#0', 'c/1#0');
    fail(session, ['b/0#0', 'b/1#0', 'b/0#1', 'b/1#1']);
    expect(launched(fire(session, 5))).toStrictEqual(['a/2#0 probe']);
    session.tell('request.progressed', { requestId: 'a/2#0', tokens: 7 });
    session.complete('a/2#0', 'b/0#2', 'b/1#2');
    session.tell('prompt.judged', { roundId: 'r0', promptId: 'c', keep: true });
    const [left] = only(session.tell('prompt.judged', { roundId: 'r0', promptId: 'b', keep: true }), 'prompt.deferred');
    expect(left!.prompt.kept!.map((one) => one.requestId)).toStrictEqual(['a/0#0', 'a/1#0']);
  });

  test('a control runs where the others fail, and nowhere else', () => {
    const session = start({
      ...{ promptsPerRound: 10, responsesPerPrompt: 1, retry: { environment: 0, infrastructure: 0 } },
    });
    session.open([...'abcduvwxyz'].map((promptId) => ({ promptId, domain: promptId < 'c' ? 'p1' : 'p2' })));
    session.complete('c/0#0', 'd/0#0');
    fail(session, first('ab'), 'environment');
    const [probe] = only(fire(session, 1), 'request.launch');
    const next = only(fail(session, [probe!.requestId]), 'request.launch');
    const last = fail(
      session,
      next.map((one) => one.requestId),
    );
    expect(launched(last).filter((one) => 'cd'.includes(one[0]!))).toStrictEqual([]);
  });

  test('a trajectory that resumes keeps away from an engine that is suspended', () => {
    const session = start({ promptsPerRound: 6, responsesPerPrompt: 1, placement: 'policy' });
    for (const engineId of ['e0', 'e1']) session.tell('engine.added', { engineId });
    const at = only(session.open(prompts(...'abcdef')), 'request.launch');
    const on = (engineId: string) => at.filter((one) => one.engineId === engineId).map((one) => one.requestId);
    session.each('tool.started', on('e1'), { tool: 'bash' });
    expect(brief(fail(session, on('e0')))).toContain('tries.suspended - failing');
    session.at = 9;
    const resumed = session.each('tool.finished', on('e1'), { outcome: 'success' });
    expect(only(resumed, 'request.resume').map((one) => one.engineId)).toStrictEqual(['e1', 'e1', 'e1']);
  });

  test('no attempt is above its budget, whatever is forgotten of another kind', () => {
    const session = start({
      ...{ promptsPerRound: 2, responsesPerPrompt: 1, responseSpeculation: 2, filter: 'zero-variance' },
      retry: { infrastructure: 0 },
    });
    session.open(prompts('a', 'b'));
    fail(session, ['a/0#0']);
    session.complete('a/1#0');
    const dropped = session.tell('reward.failed' as never, { requestId: 'a/1#0', kind: 'judge' });
    for (const { reason } of only(dropped, 'request.launch')) {
      const { attempt = 0, budget = 0 } = reason as { attempt?: number; budget?: number };
      expect(attempt).toBeLessThanOrEqual(budget);
    }
  });

  test('limits hold as they were said, whatever the pace is later', () => {
    const session = start({ promptsPerRound: 4, responsesPerPrompt: 1, responseTimeoutSeconds: 100 });
    session.open([{ promptId: 'a' }, { promptId: 'b', expectedTokens: 1000 }, { promptId: 'c' }, { promptId: 'd' }]);
    session.at = 90;
    session.tell('response.completed', { requestId: 'c/0#0', tokens: 90 });
    // A second a token: 2,000 s.
    fail(session, ['b/0#0'], 'data');
    session.at = 91;
    session.tell('response.completed', { requestId: 'd/0#0', tokens: 91_000 });
    session.complete('a/0#0');
    session.at = 300;
    const late = session.tell('timer.fired', { timerId: 'speculative-admission/response-timeout' });
    expect(only(late, 'request.abort')).toStrictEqual([]);
    expect(only(late, 'timer.set')).toMatchObject([{ fireAtSeconds: 2090 }]);
  });

  test('the pace is that of responses that ran to their end in time', () => {
    const session = start({ promptsPerRound: 3, responsesPerPrompt: 1, responseTimeoutSeconds: 100 });
    session.open(prompts('a', 'b', 'c'));
    session.at = 100;
    session.tell('timer.fired', { timerId: 'speculative-admission/response-timeout' });
    session.at = 101;
    session.tell('response.completed', { requestId: 'a/0#0', tokens: 2000 });
    const { pace } = session.state as unknown as { pace: { tokens: number; seconds: number } };
    expect(pace.tokens === 0 || pace.seconds >= 100).toBe(true);
  });
});

describe('restored or not, it goes on alike', () => {
  const both = (play: (start: (typeof bothWays)[0][1]) => string[]) => {
    const [[, live], [, restored]] = bothWays;
    const told = play(live);
    expect(play(restored)).toStrictEqual(told);
    return told;
  };

  test('when a single try of a prompt that has left completes after all', () => {
    both((start) => {
      const session = start({ promptsPerRound: 4, responsesPerPrompt: 1 });
      session.open([...'abcd'].map((promptId) => ({ promptId, domain: 'pool' })));
      fail(session, first('abcd'), 'environment');
      fail(session, ['a/0#1'], 'environment');
      const [probe] = only(fire(session, 1), 'request.launch');
      expect(probe!.reason.code).toBe('probe');
      session.tell('round.failed', { roundId: 'r0' });
      return brief(session.complete(probe!.requestId));
    });
  });
});
