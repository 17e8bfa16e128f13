/** `partialRollout`: what a later round takes up of what was kept of a prompt. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, keep, kept } from '../../support/sessions/rounds.ts';
import { only } from '../../support/sessions/session.ts';

describe.each(bothWays)('what a later round takes up, %s', (_how, start) => {
  test('finished ones first, then the longest; beyond what the round runs they are dropped by name', () => {
    const session = start({ ...keep, promptsPerRound: 1, responseSpeculation: 1.5 });
    const list = [kept(0, 5, false), kept(1, 8, true), kept(2, 9, false), kept(3, 2, false), kept(4, 8, false)];
    const opened = session.open([{ promptId: 'a', kept: list }], 'short', 1);
    expect(brief(opened)).toStrictEqual([
      'response.dropped a/0#0 beyond_round',
      'response.dropped a/3#0 beyond_round',
      'request.launch a/2#0 planned',
      'request.launch a/4#0 planned',
    ]);
    expect(opened[0]).toStrictEqual({
      type: 'response.dropped',
      at: 0,
      requestId: 'a/0#0',
      promptId: 'a',
      tokens: 5,
      finished: false,
      reason: { code: 'beyond_round', needed: 3 },
    });
    expect(only(opened, 'request.launch')).toMatchObject([
      { index: 2, resumeFrom: list[2] },
      { index: 4, resumeFrom: list[4] },
    ]);
    const done = session.complete('a/4#0');
    expect(only(done, 'round.completed')[0]!.prompts[0]!.responses).toStrictEqual([
      { requestId: 'a/1#0', index: 1, tokens: 8, weightVersions: [0] },
      { requestId: 'a/4#0', index: 4, tokens: 10, weightVersions: [0, 1] },
    ]);
  });

  test('of finished ones no more than the prompt needs, of equal ones the lower index; the rest is new', () => {
    const session = start({ ...keep, promptsPerRound: 1, responsesPerPrompt: 3, responseSpeculation: 1 });
    const opened = session.open(
      [
        {
          promptId: 'a',
          kept: [kept(6, 4, true), kept(5, 4, true), kept(3, 4, true), kept(2, 4, true), kept(2, 3, false)],
        },
      ],
      'short',
      1,
    );
    expect(brief(opened)).toStrictEqual([
      'response.dropped a/6#0 beyond_round',
      'response.dropped a/2#0 beyond_round',
      'prompt.collected a responses_held',
      'prompt.counted a no_filter',
      'round.completed r0 quota_reached',
      'round.drained r0 all_ended',
    ]);
    expect(opened[0]).toMatchObject({ finished: true, reason: { needed: 3 } });
    expect(only(opened, 'prompt.collected')).toMatchObject([{ requestIds: ['a/2#0', 'a/3#0', 'a/5#0'] }]);
  });

  test('responses are numbered around those that are kept', () => {
    const session = start({ ...keep, promptsPerRound: 1, responsesPerPrompt: 4 });
    const opened = session.open([{ promptId: 'a', kept: [kept(1, 4, true), kept(3, 7, false)] }], 'short', 1);
    expect(only(opened, 'request.launch').map((one) => [one.index, one.resumeFrom?.tokens])).toStrictEqual([
      [0, undefined],
      [2, undefined],
      [3, 7],
    ]);
  });

  test('versions too old are dropped by the oldest of them; as old as allowed they are taken', () => {
    const session = start({ ...keep, promptsPerRound: 1 });
    const opened = session.open(
      [
        {
          promptId: 'a',
          kept: [kept(0, 4, true, { weightVersions: [2, 4] }), kept(1, 6, false, { weightVersions: [3, 4] })],
        },
      ],
      'short',
      4,
    );
    expect(opened[0]).toStrictEqual({
      type: 'response.dropped',
      at: 0,
      requestId: 'a/0#0',
      promptId: 'a',
      tokens: 4,
      finished: true,
      reason: { code: 'stale_weights', oldestVersion: 2, weightVersion: 4, maxStaleness: 1 },
    });
    // The same version is not named twice.
    session.complete('a/0#0');
    expect(only(session.complete('a/1#0'), 'round.completed')[0]!.prompts[0]!.responses).toMatchObject([
      { requestId: 'a/0#0', weightVersions: [4] },
      { requestId: 'a/1#0', weightVersions: [3, 4] },
    ]);
  });

  test('of two with one index the finished or longer one, although there is room for both', () => {
    const session = start({ ...keep, promptsPerRound: 1, responsesPerPrompt: 3 });
    const twice = [
      kept(0, 5, false, { requestId: 'a/0#1' }),
      kept(0, 9, false, { requestId: 'a/0#2' }),
      kept(2, 8, false, { requestId: 'a/2#1' }),
      kept(2, 3, true, { requestId: 'a/2#2' }),
    ];
    const opened = session.open([{ promptId: 'a', kept: twice }], 'short', 1);
    expect(only(opened, 'response.dropped').map((one) => [one.requestId, one.reason.code])).toStrictEqual([
      ['a/2#1', 'beyond_round'],
      ['a/0#1', 'beyond_round'],
    ]);
    expect(only(opened, 'request.launch').map((one) => [one.index, one.resumeFrom?.requestId])).toStrictEqual([
      [0, 'a/0#2'],
      [1, undefined],
    ]);
  });

  test('a response is found by its index, where those before it are not all there', () => {
    const session = start({ ...keep, promptsPerRound: 1, responsesPerPrompt: 3 });
    session.open([{ promptId: 'a', kept: [kept(1, 5, false), kept(2, 6, false), kept(4, 7, false)] }], 'short', 1);
    expect(brief(session.complete('a/2#0', 'a/1#0', 'a/4#0')).slice(0, 4)).toStrictEqual([
      'response.accepted a/2#0 held',
      'response.accepted a/1#0 held',
      'response.accepted a/4#0 held',
      'prompt.collected a responses_held',
    ]);
  });
});
