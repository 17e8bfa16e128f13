/** A host that restarts and has kept the finished turns of its trajectories: they go on under their ids (`onRestart: continue`). */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, type Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const restart = (session: Rounds, idPrefix = 'h1-') => session.tell('host.restarted', { idPrefix });
const goOn = { onRestart: 'continue' } as const;

describe.each(bothWays)('a restart of the host, and trajectories that go on, %s', (_how, start) => {
  test('names each with its prompt and its finished turns, within the limit, before what is launched', () => {
    const session = start({ ...goOn, maxInFlight: 3 });
    session.open([{ promptId: 'a', ref: 'row 7' }, ...prompts('b')]);
    session.tell('turn.finished', { requestId: 'a/1#0', tokens: 40 });
    session.tell('tool.started', { requestId: 'a/1#0', tool: 'bash' });
    // b/1 has the slot of a/1, which waits for its tool.
    expect(restart(session)).toStrictEqual(
      [
        { requestId: 'a/0#0', promptId: 'a', ref: 'row 7', tokens: 0 },
        { requestId: 'a/1#0', promptId: 'a', ref: 'row 7', tokens: 40 },
        { requestId: 'b/0#0', promptId: 'b', tokens: 0 },
      ].map(({ tokens, ...named }, inFlight) => ({
        ...{ type: 'request.resume', at: 0, ...named },
        reason: { code: 'host_restarted', inFlight, tokens },
      })),
    );
    expect(brief(session.complete('a/0#0'))).toStrictEqual([
      'response.accepted a/0#0 held',
      'request.resume b/1#0 host_restarted',
    ]);
    const end = session.complete('a/1#0', 'b/0#0', 'b/1#0');
    expect(
      only(end, 'round.completed')[0]!.prompts.map(({ responses }) => responses.map((one) => one.requestId)),
    ).toEqual([
      ['a/0#0', 'a/1#0'],
      ['b/0#0', 'b/1#0'],
    ]);
  });

  test('those that fail then are tried again under the new prefix, and their old ids are late', () => {
    const session = start(goOn);
    session.open(prompts('a', 'b'));
    restart(session);
    expect(brief(session.tell('response.failed', { requestId: 'a/0#0', kind: 'environment' }))).toStrictEqual([
      'request.launch h1-a/0#1 retry_environment',
    ]);
    expect(brief(session.complete('a/0#0'))).toStrictEqual(['response.late a/0#0 completion']);
    // Once more: the try goes on, and so do the others.
    expect(only(restart(session, 'h2-'), 'request.resume').map((one) => one.requestId)).toEqual([
      'h1-a/0#1',
      'a/1#0',
      'b/0#0',
      'b/1#0',
    ]);
    expect(only(session.complete('h1-a/0#1', 'a/1#0', 'b/0#0', 'b/1#0'), 'round.completed')).toHaveLength(1);
  });

  test('their time begins anew; aborts are over', () => {
    const session = start({ ...goOn, responseTimeoutSeconds: 10, responseSpeculation: 1.5 });
    session.open(prompts('a', 'b'));
    session.at = 2;
    session.complete('a/0#0', 'a/1#0');
    session.at = 8;
    const again = restart(session);
    expect(only(again, 'request.resume').map((one) => one.requestId)).toEqual(['b/0#0', 'b/1#0', 'b/2#0']);
    expect(only(again, 'timer.set')).toMatchObject([{ fireAtSeconds: 18, reason: { code: 'response_timeout' } }]);
    session.at = 18;
    const late = session.tell('timer.fired', { timerId: 'speculative-admission/response-timeout' });
    expect(only(late, 'request.abort').map((one) => one.requestId)).toEqual(['b/0#0', 'b/1#0', 'b/2#0']);
    expect(only(late, 'request.launch').map((one) => one.requestId)).toEqual(['h1-b/0#1', 'h1-b/1#1', 'h1-b/2#1']);
  });

  test('a tool that answers after that resumes as ever', () => {
    const session = start(goOn);
    session.open(prompts('a', 'b'));
    restart(session);
    session.tell('tool.started', { requestId: 'a/0#0', tool: 'bash' });
    expect(session.tell('tool.finished', { requestId: 'a/0#0', outcome: 'success' })).toMatchObject([
      { type: 'request.resume', requestId: 'a/0#0', reason: { code: 'tool_finished' } },
    ]);
  });
});
