/** `partialRollout`: what a deferred prompt takes with it into a later round. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, keep } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

describe.each(bothWays)('what a deferred prompt keeps, %s', (_how, start) => {
  test('waits for every abort of it, and keeps what has tokens, each with its versions and its reward', () => {
    const session = start({ ...keep, promptSpeculation: 1.5, responsesPerPrompt: 3 });
    session.open(prompts('a', 'b', 'c'), 'short', 4);
    session.complete('c/1#0');
    session.tell('reward.ready', { requestId: 'c/1#0', reward: 0.5 });
    session.tell('turn.finished', { requestId: 'c/2#0', tokens: 9 });
    session.at = 6;
    const all = session.complete('a/0#0', 'a/1#0', 'a/2#0', 'b/0#0', 'b/1#0', 'b/2#0');
    expect(brief(all).slice(-5)).toStrictEqual([
      'prompt.counted b no_filter',
      'round.completed r0 quota_reached',
      'request.abort c/0#0 round_completed',
      'timer.set speculative-admission/abort-grace abort_grace',
      'request.abort c/2#0 round_completed',
    ]);
    expect(only(all, 'request.abort')[0]).toStrictEqual({
      type: 'request.abort',
      at: 6,
      requestId: 'c/0#0',
      promptId: 'c',
      reason: { code: 'round_completed', counted: 2 },
    });
    session.at = 7;
    // Confirmed without a number: what was reported last counts.
    expect(session.tell('request.aborted', { requestId: 'c/2#0' })).toStrictEqual([]);
    session.at = 8;
    expect(session.tell('request.aborted', { requestId: 'c/0#0', tokens: 0 })).toStrictEqual([
      {
        type: 'prompt.deferred',
        at: 8,
        prompt: {
          promptId: 'c',
          expectedTokens: 10,
          deferral: { count: 1, sinceRound: 0, sinceSeconds: 8 },
          kept: [
            { requestId: 'c/1#0', index: 1, tokens: 10, weightVersions: [4], finished: true, reward: 0.5 },
            { requestId: 'c/2#0', index: 2, tokens: 9, weightVersions: [4], finished: false },
          ],
        },
        roundId: 'r0',
        dropped: [],
        reason: { code: 'round_completed', held: 1, needed: 3 },
      },
      { type: 'round.drained', at: 8, roundId: 'r0', reason: { code: 'all_ended', afterSeconds: 2 } },
    ]);
  });

  test('a response that is complete while its abort is on its way is kept, complete', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    expect(session.tell('response.completed', { requestId: 'b/1#0', tokens: 70 })).toStrictEqual([
      {
        type: 'response.accepted',
        at: 0,
        requestId: 'b/1#0',
        promptId: 'b',
        reason: { code: 'held', held: 1, needed: 2 },
      },
    ]);
    const last = session.tell('response.completed', { requestId: 'b/0#0', tokens: 50 });
    expect(brief(last)).toStrictEqual([
      'response.accepted b/0#0 held',
      'prompt.deferred b round_completed',
      'round.drained r0 all_ended',
    ]);
    expect(last[1]).toMatchObject({
      prompt: {
        expectedTokens: 70,
        kept: [
          { requestId: 'b/0#0', tokens: 50, finished: true },
          { requestId: 'b/1#0', tokens: 70, finished: true },
        ],
      },
    });
    expect(brief(session.complete('b/0#0'))).toStrictEqual(['response.late b/0#0 completion']);
  });

  test('an abort that fails or is never confirmed keeps the tokens that were reported', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2 });
    session.open(prompts('a', 'b'));
    session.tell('turn.finished', { requestId: 'b/0#0', tokens: 3 });
    session.tell('turn.finished', { requestId: 'b/1#0', tokens: 5 });
    session.complete('a/0#0', 'a/1#0');
    expect(session.tell('response.failed', { requestId: 'b/0#0', kind: 'data' })).toStrictEqual([]);
    session.at = 30;
    const expired = session.tell('timer.fired', { timerId: 'speculative-admission/abort-grace' });
    expect(brief(expired)).toStrictEqual([
      'request.expired b/1#0 abort_unconfirmed',
      'prompt.deferred b round_completed',
      'round.drained r0 all_ended',
    ]);
    expect(only(expired, 'prompt.deferred')[0]!.prompt.kept).toMatchObject([{ tokens: 3 }, { tokens: 5 }]);
  });

  test('what was given up or waits to be tried again from nothing is not kept; nothing kept is not a list', () => {
    const session = start({
      ...keep,
      promptsPerRound: 1,
      promptSpeculation: 2,
      responseSpeculation: 2,
      maxInFlight: 8,
      retry: { environment: 0 },
    });
    session.open(prompts('a', 'b'));
    session.tell('turn.finished', { requestId: 'b/0#0', tokens: 40 });
    session.tell('response.failed', { requestId: 'b/0#0', kind: 'environment' });
    const all = session.complete('a/0#0', 'a/1#0');
    session.each('request.aborted', ['b/1#0', 'b/2#0']);
    const [deferred] = only(session.tell('request.aborted', { requestId: 'b/3#0' }), 'prompt.deferred');
    expect(deferred!.prompt).toStrictEqual({ promptId: 'b', deferral: { count: 1, sinceRound: 0, sinceSeconds: 0 } });
    expect(only(all, 'prompt.deferred')).toStrictEqual([]);
  });
});
