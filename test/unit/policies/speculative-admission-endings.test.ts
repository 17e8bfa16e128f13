/** How a round ends, and how a domain of it does: what is final, what is deferred, what goes back, what fails. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

describe.each(bothWays)('the end of a round, %s', (_how, start) => {
  test('final prompts in the order in which they came, when it was opened, and how many were deferred', () => {
    const session = start({ promptSpeculation: 2 });
    session.at = 2;
    const deferral = { count: 1, sinceRound: 0, sinceSeconds: 1 };
    session.open(
      [
        { promptId: 'c' },
        { promptId: 'a', ref: 'row 1', deferral },
        { promptId: 'b' },
        { promptId: 'd' },
        { promptId: 'e' },
      ],
      'short',
      7,
    );
    session.at = 5;
    session.complete('a/1#0');
    const all = session.complete('b/0#0', 'b/1#0', 'a/0#0');
    expect(only(all, 'round.completed')).toStrictEqual([
      {
        type: 'round.completed',
        at: 5,
        roundId: 'r0',
        kind: 'short',
        weightVersion: 7,
        prompts: [
          {
            promptId: 'a',
            ref: 'row 1',
            deferral,
            responses: [
              { requestId: 'a/0#0', index: 0, tokens: 10, weightVersions: [7] },
              { requestId: 'a/1#0', index: 1, tokens: 10, weightVersions: [7] },
            ],
          },
          {
            promptId: 'b',
            responses: [
              { requestId: 'b/0#0', index: 0, tokens: 10, weightVersions: [7] },
              { requestId: 'b/1#0', index: 1, tokens: 10, weightVersions: [7] },
            ],
          },
        ],
        openedSeconds: 2,
        // c and d; e was never started.
        deferred: 2,
        reason: { code: 'quota_reached', counted: 2, needed: 2 },
      },
    ]);
    expect(brief(all).slice(-9)).toStrictEqual([
      'round.completed r0 quota_reached',
      'request.abort c/0#0 round_completed',
      'timer.set speculative-admission/abort-grace abort_grace',
      'request.abort c/1#0 round_completed',
      'prompt.deferred c round_completed',
      'request.abort d/0#0 round_completed',
      'request.abort d/1#0 round_completed',
      'prompt.deferred d round_completed',
      'prompt.returned e not_started',
    ]);
    expect(only(all, 'prompt.deferred')[0]).toStrictEqual({
      type: 'prompt.deferred',
      at: 5,
      prompt: { promptId: 'c', deferral: { count: 1, sinceRound: 0, sinceSeconds: 5 } },
      roundId: 'r0',
      dropped: [],
      reason: { code: 'round_completed', held: 0, needed: 2 },
    });
    session.at = 6;
    expect(brief(session.each('request.aborted', ['c/0#0', 'd/1#0', 'c/1#0', 'd/0#0']))).toStrictEqual([
      'round.drained r0 all_ended',
    ]);
  });

  test('the tokens of the longest response, or what was expected, are expected of a deferred prompt', () => {
    const session = start({ promptSpeculation: 2, responsesPerPrompt: 3 });
    session.open([
      { promptId: 'a' },
      { promptId: 'b' },
      { promptId: 'c', expectedTokens: 40 },
      { promptId: 'd', expectedTokens: 40 },
    ]);
    session.tell('turn.finished', { requestId: 'c/0#0', tokens: 60 });
    session.tell('turn.finished', { requestId: 'd/0#0', tokens: 30 });
    session.tell('response.completed', { requestId: 'c/1#0', tokens: 50 });
    const all = session.complete('a/0#0', 'a/1#0', 'a/2#0', 'b/0#0', 'b/1#0', 'b/2#0');
    expect(only(all, 'prompt.deferred').map((one) => one.prompt.expectedTokens)).toStrictEqual([60, 40]);
  });

  test('a round may open while one drains, with allowOverlap: each drains by itself', () => {
    const session = start({ responseSpeculation: 1.5, allowOverlap: true });
    session.open(prompts('a', 'b'));
    session.at = 4;
    session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    session.open(prompts('c', 'd'));
    session.at = 5;
    session.complete('c/0#1', 'c/1#1', 'd/0#1', 'd/1#1');
    session.at = 7;
    expect(session.each('request.aborted', ['c/2#1', 'd/2#1'])).toStrictEqual([
      { type: 'round.drained', at: 7, roundId: 'r1', reason: { code: 'all_ended', afterSeconds: 2 } },
    ]);
    expect(session.each('request.aborted', ['a/2#0', 'b/2#0'])).toStrictEqual([
      { type: 'round.drained', at: 7, roundId: 'r0', reason: { code: 'all_ended', afterSeconds: 3 } },
    ]);
  });

  test('a prompt that is deferred may come again while its old requests drain; they are kept apart', () => {
    const session = start({ promptsPerRound: 1, promptSpeculation: 2, allowOverlap: true });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    expect(only(session.open(prompts('b')), 'request.launch').map((one) => one.requestId)).toStrictEqual([
      'b/0#1',
      'b/1#1',
    ]);
    expect(brief(session.complete('b/0#0'))).toStrictEqual(['response.surplus b/0#0 after_abort']);
    expect(brief(session.tell('request.aborted', { requestId: 'b/1#0' }))).toStrictEqual([
      'round.drained r0 all_ended',
    ]);
    expect(brief(session.complete('b/0#1', 'b/1#1')).slice(-2)).toStrictEqual([
      'round.completed r1 quota_reached',
      'round.drained r1 all_ended',
    ]);
  });

  test('a round that the host gives up: all is stopped, all goes back, in their order, those that stood by too', () => {
    const session = start({ maxInFlight: 3 });
    session.open([{ promptId: 'a' }, { promptId: 'b', ref: 'row 2' }, { promptId: 'c' }], 'short', 3);
    session.complete('a/0#0', 'a/1#0', 'b/0#0');
    session.at = 8;
    const failed = session.tell('round.failed', { roundId: 'r0' });
    expect(failed).toStrictEqual([
      {
        type: 'round.completed',
        at: 8,
        roundId: 'r0',
        kind: 'short',
        weightVersion: 3,
        prompts: [],
        openedSeconds: 0,
        deferred: 0,
        reason: { code: 'round_failed', counted: 0, needed: 2 },
      },
      {
        type: 'prompt.returned',
        at: 8,
        prompt: { promptId: 'a' },
        roundId: 'r0',
        dropped: [
          { requestId: 'a/0#0', tokens: 10, cause: 'round_failed' },
          { requestId: 'a/1#0', tokens: 10, cause: 'round_failed' },
        ],
        reason: { code: 'round_failed' },
      },
      { type: 'request.abort', at: 8, requestId: 'b/1#0', promptId: 'b', reason: { code: 'round_failed' } },
      expect.objectContaining({ type: 'timer.set', fireAtSeconds: 38 }),
      {
        type: 'prompt.returned',
        at: 8,
        prompt: { promptId: 'b', ref: 'row 2' },
        roundId: 'r0',
        dropped: [{ requestId: 'b/0#0', tokens: 10, cause: 'round_failed' }],
        reason: { code: 'round_failed' },
      },
      {
        type: 'prompt.returned',
        at: 8,
        prompt: { promptId: 'c' },
        roundId: 'r0',
        dropped: [],
        reason: { code: 'round_failed' },
      },
    ]);
    expect(brief(session.tell('request.aborted', { requestId: 'b/1#0' }))).toStrictEqual([
      'round.drained r0 all_ended',
    ]);
    const empty = start();
    empty.open([]);
    expect(brief(empty.tell('round.failed', { roundId: 'r0' }))).toStrictEqual([
      'round.completed r0 round_failed',
      'round.drained r0 all_ended',
    ]);
  });
});
