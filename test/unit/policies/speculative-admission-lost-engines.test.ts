/** Engines that are lost: what ran on them, what was being aborted there, and what comes back. */
import { describe, expect, test } from 'vitest';
import type { SpeculativeAdmissionInput } from '../../../src/policies/speculative-admission/index.ts';
import { bothWays, brief, type Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const add = (session: Rounds, ...ids: string[]) =>
  ids.flatMap((engineId) => session.tell('engine.added', { engineId }));
const places = (decisions: Parameters<typeof brief>[0]) =>
  only(decisions, 'request.launch').map((one) => `${one.requestId} ${one.engineId}`);

describe.each(bothWays)('lost engines, %s', (_how, start) => {
  const placed = (config: Partial<SpeculativeAdmissionInput> = {}) =>
    start({ placement: 'policy', responsesPerPrompt: 1, ...config });

  test('a lost engine: what ran on it is tried again elsewhere as it was launched, what was being aborted there is over', () => {
    const session = placed({
      promptsPerRound: 3,
      responsesPerPrompt: 2,
      responseSpeculation: 1.5,
      maxInFlightPerEngine: 4,
    });
    add(session, 'e0', 'e1');
    // a/0, a/2, b/1 and c/0 run on e0; a/1, b/0, b/2 and c/1 on e1.
    session.open(prompts('a', 'b', 'c'));
    expect(places(session.tell('response.failed', { requestId: 'b/1#0', kind: 'infrastructure' }))).toStrictEqual([
      'b/1#1 e0',
    ]);
    expect(places(session.complete('a/0#0'))).toStrictEqual(['c/2#0 e0']);
    expect(only(session.complete('a/1#0'), 'request.abort')).toMatchObject([{ requestId: 'a/2#0', engineId: 'e0' }]);
    const lost = session.tell('engine.lost', { engineId: 'e0' });
    expect(lost).toMatchObject([
      {
        type: 'request.launch',
        requestId: 'c/0#1',
        engineId: 'e1',
        reason: { code: 'retry_engine_lost', attempt: 1, losses: 1 },
      },
    ]);
    expect(session.state).toMatchObject({ aborting: [], round: { inFlight: 4 } });
    expect(places(session.complete('b/0#0'))).toStrictEqual(['b/1#2 e1']);
    expect(places(session.complete('b/2#0'))).toStrictEqual(['c/2#1 e1']);
    expect(session.tell('engine.drained', { engineId: 'e0' })).toStrictEqual([]);
    session.refuses({ type: 'engine.drained', at: 0, engineId: 'e9' }, 'unknown_id', 'engineId');
  });

  test('a lost engine takes the last of a drained round with it, and its aborts', () => {
    const session = placed({ promptsPerRound: 1, responseSpeculation: 3 });
    add(session, 'e0');
    session.open(prompts('a'));
    session.complete('a/1#0');
    session.at = 4;
    expect(session.tell('engine.lost', { engineId: 'e0' })).toStrictEqual([
      { type: 'round.drained', at: 4, roundId: 'r0', reason: { code: 'all_ended', afterSeconds: 4 } },
    ]);
    expect(brief(session.tell('request.aborted', { requestId: 'a/0#0' }))).toStrictEqual([
      'response.late a/0#0 report',
    ]);
    add(session, 'e0');
    expect(places(session.open(prompts('b')))).toStrictEqual(['b/0#1 e0', 'b/1#1 e0', 'b/2#1 e0']);
  });

  test('a lost engine charges nobody; prompts that have lost three run one request at a time, and then it charges', () => {
    const session = placed({ promptsPerRound: 2, responsesPerPrompt: 2, retry: { infrastructure: 0 } });
    add(session, 'e0');
    session.open(prompts('a', 'b'));
    for (const losses of [1, 2]) {
      session.tell('engine.lost', { engineId: `e${losses - 1}` });
      const again = only(add(session, `e${losses}`), 'request.launch');
      expect(again.map((one) => one.requestId)).toStrictEqual(
        ['a/0', 'a/1', 'b/0', 'b/1'].map((one) => `${one}#${losses}`),
      );
      expect(again[0]!.reason).toStrictEqual({ code: 'retry_engine_lost', attempt: losses, losses });
    }
    session.tell('engine.lost', { engineId: 'e2' });
    expect(places(add(session, 'e3'))).toStrictEqual(['a/0#3 e3']);
    // Its success shows that it was not the one; the next suspect runs alone.
    expect(places(session.complete('a/0#3'))).toStrictEqual(['a/1#3 e3', 'b/0#3 e3']);
    expect(brief(session.tell('engine.lost', { engineId: 'e3' }))).toStrictEqual([
      'response.abandoned b/0#3 infrastructure',
      'prompt.failed b infrastructure',
      'prompts.request r0 failed',
    ]);
    expect(only(add(session, 'e4'), 'request.launch')).toMatchObject([
      { requestId: 'a/1#4', reason: { code: 'retry_engine_lost', attempt: 4, losses: 1 } },
    ]);
  });

  test('more than eight suspects are none: the engines are at fault', () => {
    const session = placed({ promptsPerRound: 9, retry: { infrastructure: 0 } });
    add(session, 'e0');
    session.open(prompts(...'abcdefghi'));
    for (let losses = 1; losses < 9; losses += 1) {
      expect(only(session.tell('engine.lost', { engineId: `e${losses - 1}` }), 'prompt.failed')).toStrictEqual([]);
      expect(places(add(session, `e${losses}`))).toHaveLength(9);
    }
  });

  test('an engine that is lost and added again begins empty, and what is late from before does it no harm', () => {
    const session = placed({ promptsPerRound: 9, maxInFlightPerEngine: 1 });
    add(session, 'e0');
    session.open(prompts('a', 'b'));
    session.tell('engine.lost', { engineId: 'e0' });
    expect(places(add(session, 'e0'))).toStrictEqual(['a/0#1 e0']);
    expect(brief(session.complete('a/0#0'))).toStrictEqual(['response.late a/0#0 completion']);
    expect(places(session.complete('a/0#1'))).toStrictEqual(['b/0#0 e0']);
  });
});
