/** Engines: where requests go, what limits hold, and engines that come and are drained. */
import { describe, expect, test } from 'vitest';
import type { SpeculativeAdmissionInput } from '../../../src/policies/speculative-admission/index.ts';
import { bothWays, brief, type Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const add = (session: Rounds, ...ids: string[]) =>
  ids.flatMap((engineId) => session.tell('engine.added', { engineId }));
const places = (decisions: Parameters<typeof brief>[0]) =>
  only(decisions, 'request.launch').map((one) => `${one.requestId} ${one.engineId}`);

describe.each(bothWays)('placement, %s', (_how, start) => {
  const placed = (config: Partial<SpeculativeAdmissionInput> = {}) =>
    start({ placement: 'policy', responsesPerPrompt: 1, ...config });

  test('a request goes to the fewest tokens in flight, its prompt included, then the fewest requests, then the lowest id', () => {
    const session = placed({ promptsPerRound: 9 });
    add(session, 'e2', 'e0', 'e1');
    const tokens = { a: 50, b: 30, c: 20, d: 10, e: 0, f: 15, g: 0 };
    const opened = session.open(Object.entries(tokens).map(([promptId, promptTokens]) => ({ promptId, promptTokens })));
    expect(places(opened)).toStrictEqual([
      'a/0#0 e0', // 50, 0, 0
      'b/0#0 e1', // 50, 30, 0
      'c/0#0 e2', // 50, 30, 20
      'd/0#0 e2', // 50, 30, 30
      'e/0#0 e1', // equal tokens with e2, which has two requests
      'f/0#0 e1', // equal tokens and requests with e2: the lowest id
      'g/0#0 e2',
    ]);
  });

  test('turns that are reported weigh on their engine, and leave it with their request', () => {
    const session = placed({ promptsPerRound: 9 });
    add(session, 'e0', 'e1');
    session.open([
      { promptId: 'a', promptTokens: 10 },
      { promptId: 'b', promptTokens: 20 },
    ]);
    session.tell('turn.finished', { requestId: 'a/0#0', tokens: 5 });
    expect(places(session.supply('r0', { promptId: 'c' }))).toStrictEqual(['c/0#1 e0']); // 15, 20
    session.tell('turn.finished', { requestId: 'a/0#0', tokens: 11 });
    expect(places(session.supply('r0', { promptId: 'd', promptTokens: 1 }))).toStrictEqual(['d/0#2 e1']); // 21, 20
    session.complete('a/0#0');
    expect(places(session.supply('r0', { promptId: 'f' }))).toStrictEqual(['f/0#3 e0']); // 0, 21
    session.complete('d/0#2', 'b/0#0', 'f/0#3', 'c/0#1');
    // Nothing is left anywhere: the lowest id again.
    expect(places(session.supply('r0', { promptId: 'g', promptTokens: 4 }, { promptId: 'h' }))).toStrictEqual([
      'g/0#4 e0',
      'h/0#4 e1',
    ]);
  });

  test('a resumed prompt weighs what it has generated already', () => {
    const session = placed({ promptsPerRound: 3, partialRollout: true, maxStaleness: 1 });
    add(session, 'e0', 'e1');
    const kept = [{ requestId: 'a/0#0', index: 0, tokens: 25, weightVersions: [0], finished: false }];
    expect(
      places(session.open([{ promptId: 'a', kept }, { promptId: 'b', promptTokens: 24 }, { promptId: 'c' }])),
    ).toStrictEqual(['a/0#0 e0', 'b/0#0 e1', 'c/0#0 e1']);
  });

  test('nothing is launched without an engine; the limits of each and of all hold, and count what is in flight', () => {
    const session = placed({ promptsPerRound: 9, maxInFlight: 5, maxInFlightPerEngine: 2 });
    expect(brief(session.open(prompts('a', 'b', 'c', 'd', 'e', 'f', 'g')))).toStrictEqual([
      'prompts.request r0 round_opened',
    ]);
    expect(places(add(session, 'e0'))).toStrictEqual(['a/0#0 e0', 'b/0#0 e0']);
    const more = add(session, 'e1', 'e2');
    expect(places(more)).toStrictEqual(['c/0#0 e1', 'd/0#0 e1', 'e/0#0 e2']);
    expect(only(more, 'request.launch').map((one) => one.reason)).toStrictEqual(
      [2, 3, 4].map((inFlight) => ({ code: 'planned', inFlight })),
    );
    expect(places(session.complete('d/0#0'))).toStrictEqual(['f/0#0 e1']);
    expect(places(session.complete('c/0#0'))).toStrictEqual(['g/0#0 e1']);
  });

  test('an abort holds its slot until it is confirmed', () => {
    const session = placed({ promptsPerRound: 2, responseSpeculation: 2, maxInFlight: 2 });
    add(session, 'e0');
    session.open(prompts('a', 'b'));
    const collected = session.complete('a/0#0');
    expect(only(collected, 'request.abort')).toMatchObject([{ requestId: 'a/1#0', engineId: 'e0' }]);
    expect(places(collected)).toStrictEqual(['b/0#0 e0']);
    expect(places(session.tell('request.aborted', { requestId: 'a/1#0' }))).toStrictEqual(['b/1#0 e0']);
  });

  test('a drained engine finishes what it has, takes nothing, and comes back with what it still has', () => {
    const session = placed({ promptsPerRound: 9, maxInFlightPerEngine: 2 });
    add(session, 'e0', 'e1');
    session.open(prompts('a', 'b'));
    session.tell('engine.drained', { engineId: 'e0' });
    session.tell('turn.finished', { requestId: 'a/0#0', tokens: 3 });
    expect(places(session.supply('r0', ...prompts('c', 'd')))).toStrictEqual(['c/0#1 e1']);
    expect(places(session.complete('b/0#0'))).toStrictEqual(['d/0#1 e1']);
    expect(places(session.supply('r0', ...prompts('e', 'f')))).toStrictEqual([]);
    expect(places(add(session, 'e0'))).toStrictEqual(['e/0#2 e0']);
    expect(places(session.complete('a/0#0'))).toStrictEqual(['f/0#2 e0']);
    session.tell('engine.drained', { engineId: 'e0' });
    session.complete('e/0#2', 'f/0#2');
    expect(places(session.supply('r0', { promptId: 'g' }))).toStrictEqual([]);
    expect(session.state).toMatchObject({
      engines: [
        { id: 'e0', active: false },
        { id: 'e1', active: true },
      ],
    });
  });

  test('other engines than before: those not named drain, those named come, or come back', () => {
    const session = placed({ promptsPerRound: 9, maxInFlightPerEngine: 1 });
    add(session, 'e0', 'e1');
    session.tell('engine.drained', { engineId: 'e1' });
    session.open(prompts('a', 'b', 'c', 'd'));
    expect(places(session.tell('engines.changed', { engineIds: ['e2', 'e1'] }))).toStrictEqual([
      'b/0#0 e1',
      'c/0#0 e2',
    ]);
    session.complete('a/0#0');
    expect(places(session.complete('c/0#0'))).toStrictEqual(['d/0#0 e2']);
  });
});
