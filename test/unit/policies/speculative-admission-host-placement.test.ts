/** Engines that the host chooses: known from what it reports. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

describe.each(bothWays)('placement by the host, %s', (_how, start) => {
  test('launches name no engine; aborts and losses know it from what was reported', () => {
    const session = start({ responseSpeculation: 1.5 });
    expect(only(session.open(prompts('a', 'b')), 'request.launch')[0]).not.toHaveProperty('engineId');
    session.tell('request.started', { requestId: 'a/2#0', engineId: 'x' });
    session.tell('request.started', { requestId: 'b/0#0', engineId: 'x' });
    session.tell('request.started', { requestId: 'b/1#0', engineId: 'x' });
    // It has moved on.
    session.tell('request.started', { requestId: 'b/0#0', engineId: 'y' });
    session.complete('a/1#0');
    const aborted = only(session.complete('a/0#0'), 'request.abort');
    expect(aborted).toMatchObject([{ requestId: 'a/2#0', engineId: 'x' }]);
    expect(brief(session.tell('engine.lost', { engineId: 'x' }))).toStrictEqual([
      'request.launch b/1#1 retry_engine_lost',
    ]);
    expect(brief(session.tell('engine.lost', { engineId: 'y' }))).toStrictEqual([
      'request.launch b/0#1 retry_engine_lost',
    ]);
    expect(session.state).toMatchObject({ engines: [], aborting: [] });
  });

  test('a slot is a slot wherever it is: told twice, or moved, a request takes one', () => {
    const session = start({ maxInFlight: 2 });
    session.open(prompts('a', 'b'));
    for (const engineId of ['x', 'x', 'y', 'y']) {
      expect(session.tell('request.started', { requestId: 'a/0#0', engineId })).toStrictEqual([]);
    }
    expect(brief(session.complete('a/0#0'))).toStrictEqual([
      'response.accepted a/0#0 held',
      'request.launch b/0#0 planned',
    ]);
  });

  test('what waits for its environment is nowhere, whatever is reported of its engine', () => {
    const session = start({ maxInFlight: 3 });
    session.open(prompts('a', 'b'));
    session.tell('request.started', { requestId: 'a/0#0', engineId: 'x' });
    session.tell('tool.started', { requestId: 'a/0#0', tool: 'bash' });
    session.tell('request.started', { requestId: 'a/0#0', engineId: 'y' });
    expect(session.tell('engine.lost', { engineId: 'x' })).toStrictEqual([]);
    expect(session.tell('engine.lost', { engineId: 'y' })).toStrictEqual([]);
    // As before it waited, unless it is reported elsewhere.
    session.complete('a/1#0');
    session.tell('tool.finished', { requestId: 'a/0#0', outcome: 'success' });
    session.tell('request.started', { requestId: 'a/0#0', engineId: 'z' });
    expect(brief(session.tell('engine.lost', { engineId: 'z' }))).toStrictEqual([
      'request.launch a/0#1 retry_engine_lost',
    ]);
  });
});
