/** What a prompt has kept of more than one round, and while the next one runs. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, keep, kept } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

describe.each(bothWays)('kept over rounds, %s', (_how, start) => {
  test('what was kept before and never launched again is kept as it was; the deferral counts on', () => {
    const session = start({ ...keep, maxStaleness: 2, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 3 });
    const deferral = { count: 2, sinceRound: 0, sinceSeconds: 1.5 };
    const before = [kept(0, 30, false, { reward: 0.5 }), kept(1, 20, false)];
    session.at = 9;
    const opened = session.open(
      [{ promptId: 'b' }, { promptId: 'a', expectedTokens: 90, deferral, kept: before }],
      'short',
      1,
    );
    expect(only(opened, 'request.launch').map((one) => one.requestId)).toStrictEqual(['b/0#0', 'b/1#0', 'a/0#0']);
    const all = session.complete('b/0#0');
    expect(only(all, 'request.launch')).toMatchObject([{ requestId: 'a/1#0', resumeFrom: before[1] }]);
    session.tell('response.failed', { requestId: 'a/1#0', kind: 'infrastructure' });
    session.complete('b/1#0');
    session.tell('request.aborted', { requestId: 'a/0#0', tokens: 35 });
    const [deferred] = only(session.tell('request.aborted', { requestId: 'a/1#1', tokens: 20 }), 'prompt.deferred');
    expect(deferred!.prompt).toStrictEqual({
      promptId: 'a',
      expectedTokens: 90,
      deferral: { count: 3, sinceRound: 0, sinceSeconds: 1.5 },
      kept: [
        { requestId: 'a/0#0', index: 0, tokens: 35, weightVersions: [0, 1], finished: false },
        { requestId: 'a/1#1', index: 1, tokens: 20, weightVersions: [0, 1], finished: false },
      ],
    });
  });

  test('weights that are too old: nothing is kept any more, and what was held is named', () => {
    // One round in between in which the prompt waits for its slot.
    const session = start({ maxStaleness: 1, promptsPerRound: 1, promptSpeculation: 2 });
    session.open([{ promptId: 'a' }, { promptId: 'b', ref: 'row 2' }], 'short', 1);
    session.complete('b/0#0', 'a/0#0', 'a/1#0');
    const stale = session.open([], 'short', 3);
    expect(stale.slice(0, 3)).toStrictEqual([
      {
        type: 'request.abort',
        at: 0,
        requestId: 'b/1#0',
        promptId: 'b',
        reason: { code: 'stale_weights', startVersion: 1, weightVersion: 3 },
      },
      expect.objectContaining({ type: 'timer.set' }),
      {
        type: 'prompt.deferred',
        at: 0,
        prompt: {
          promptId: 'b',
          ref: 'row 2',
          expectedTokens: 10,
          deferral: { count: 1, sinceRound: 1, sinceSeconds: 0 },
        },
        roundId: 'r1',
        dropped: [{ requestId: 'b/0#0', tokens: 10, cause: 'stale_weights' }],
        reason: { code: 'stale_weights', startVersion: 1, weightVersion: 3, maxStaleness: 1 },
      },
    ]);
  });

  test('waits for its aborts while the next round runs, and may come into that one meanwhile', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, allowOverlap: true });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    expect(brief(session.open(prompts('b'), 'long', 1))).toStrictEqual([
      'request.launch b/0#1 planned',
      'request.launch b/1#1 planned',
    ]);
    session.tell('request.aborted', { requestId: 'b/1#0', tokens: 3 });
    const settled = session.tell('request.aborted', { requestId: 'b/0#0', tokens: 2 });
    expect(brief(settled)).toStrictEqual(['prompt.deferred b round_completed', 'round.drained r0 all_ended']);
    // Rounds are counted: this one was deferred since the second had begun.
    expect(settled[0]).toMatchObject({ prompt: { deferral: { sinceRound: 1 }, kept: [{ tokens: 2 }, { tokens: 3 }] } });
    expect(brief(session.complete('b/0#1', 'b/1#1')).at(-1)).toBe('round.drained r1 all_ended');
  });

  test('what was kept before and still stands in line at the end is kept as it was', () => {
    const session = start({ ...keep, promptsPerRound: 1, promptSpeculation: 2, maxInFlight: 2 });
    const before = [kept(0, 30, false), kept(1, 20, false, { reward: 0.5 })];
    const first = { promptId: 'b', kept: [kept(0, 9, true, { requestId: 'b/0#0' })] };
    const opened = session.open([first, { promptId: 'a', kept: before }], 'short', 1);
    expect(brief(opened)).toStrictEqual(['request.launch b/1#0 planned', 'request.launch a/0#0 planned']);
    session.complete('b/1#0');
    const [deferred] = only(session.tell('request.aborted', { requestId: 'a/0#0', tokens: 33 }), 'prompt.deferred');
    expect(deferred!.prompt.kept).toStrictEqual([
      { requestId: 'a/0#0', index: 0, tokens: 33, weightVersions: [0, 1], finished: false },
      before[1],
    ]);
  });
});
