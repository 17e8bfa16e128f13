/** A host that restarts: all that was in flight is gone, is issued again under the new prefix, and charges nobody. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, type Rounds, rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const restart = (session: Rounds, idPrefix = 'h1-') => session.tell('host.restarted', { idPrefix });

describe.each(bothWays)('a restart of the host, %s', (_how, start) => {
  test('issues again what was in flight, by prompt and index, before what was in line; budgets stay as they were', () => {
    const session = start({ maxInFlight: 3, retry: { infrastructure: 1 } });
    session.open(prompts('a', 'b'));
    session.tell('response.failed', { requestId: 'a/0#0', kind: 'infrastructure' });
    session.tell('tool.started', { requestId: 'a/1#0', tool: 'bash' });
    const again = restart(session);
    // b/1 had taken the slot that a/1 gave away.
    expect(again).toStrictEqual(
      ['a/0#1', 'a/1#0', 'b/0#0'].map((id, inFlight) => ({
        type: 'request.launch',
        at: 0,
        requestId: `h1-${id}`,
        promptId: id[0],
        roundId: 'r0',
        index: Number(id[2]),
        weightVersion: 0,
        reason: { code: 'host_restarted', inFlight },
      })),
    );
    // Both failures count: it is beyond its budget, and set aside until another prompt has a later success.
    expect(brief(session.tell('response.failed', { requestId: 'h1-a/0#1', kind: 'infrastructure' }))).toStrictEqual([
      'request.launch h1-b/1#0 host_restarted',
    ]);
    session.tell('response.failed', { requestId: 'h1-b/0#0', kind: 'data' });
    session.complete('h1-b/0#1');
    session.at = 60;
    expect(only(session.tell('timer.fired', { timerId: 'speculative-admission/pause' }), 'request.launch')).toEqual([]);
  });

  test('aborts are over: their round drains, their slots are free, and no timer is left of them', () => {
    const session = start({ responseSpeculation: 1.5, maxInFlight: 6 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    session.at = 2;
    expect(restart(session)).toStrictEqual([
      { type: 'round.drained', at: 2, roundId: 'r0', reason: { code: 'all_ended', afterSeconds: 2 } },
    ]);
    expect(session.state).toMatchObject({ aborting: [], timers: { abortGrace: null, responseTimeout: null } });
    expect(brief(session.tell('request.aborted', { requestId: 'a/2#0' }))).toStrictEqual([
      'response.late a/2#0 report',
    ]);
    session.at = 3;
    expect(only(session.open(prompts('c', 'd')), 'request.launch')).toHaveLength(6);
    expect(only(session.complete('h1-c/0#1', 'h1-c/1#1'), 'timer.set')).toMatchObject([{ fireAtSeconds: 33 }]);
  });

  test('an abort of a prompt that is still here is over, and its response stays given up', () => {
    const session = start({ responseSpeculation: 1.5 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    expect(brief(restart(session))).toStrictEqual(
      ['request.launch h1-b/0#0', 'request.launch h1-b/1#0', 'request.launch h1-b/2#0'].map(
        (one) => `${one} host_restarted`,
      ),
    );
    expect(session.state).toMatchObject({
      prompts: [{ responses: [{ status: 'held' }, { status: 'held' }, { status: 'abandoned', awaited: false }] }, {}],
    });
    const all = session.complete('h1-b/0#0', 'h1-b/2#0');
    expect(brief(session.confirm(all))).toStrictEqual(['round.drained r0 all_ended']);
  });

  test('prompts whose aborts were awaited leave with what is known of them', () => {
    const session = start({ partialRollout: true, maxStaleness: 1, promptsPerRound: 1, promptSpeculation: 3 });
    session.open(prompts('a', 'b', 'c'));
    session.tell('turn.finished', { requestId: 'b/1#0', tokens: 7 });
    session.complete('c/0#0', 'a/0#0', 'a/1#0');
    session.tell('request.aborted', { requestId: 'b/0#0', tokens: 3 });
    const gone = restart(session);
    expect(brief(gone)).toStrictEqual([
      'prompt.deferred b round_completed',
      'prompt.deferred c round_completed',
      'round.drained r0 all_ended',
    ]);
    expect(
      only(gone, 'prompt.deferred').map((one) => one.prompt.kept?.map(({ requestId, tokens }) => [requestId, tokens])),
    ).toStrictEqual([
      [
        ['b/0#0', 3],
        ['b/1#0', 7],
      ],
      [['c/0#0', 10]],
    ]);
  });

  test('what runs on between rounds is launched when the next one opens; engines keep nothing of it', () => {
    const session = start({ maxStaleness: 1, promptsPerRound: 1, promptSpeculation: 2, placement: 'policy' });
    session.tell('engine.added', { engineId: 'e0' });
    session.tell('engine.added', { engineId: 'e1' });
    session.open([
      { promptId: 'a', promptTokens: 10 },
      { promptId: 'b', promptTokens: 1 },
    ]);
    session.complete('a/0#0', 'a/1#0');
    expect(restart(session)).toStrictEqual([]);
    const opened = only(session.open([], 'long', 1), 'request.launch');
    expect(opened.map((one) => [one.requestId, one.engineId, one.reason.code])).toStrictEqual([
      ['h1-b/0#0', 'e0', 'host_restarted'],
      ['h1-b/1#0', 'e1', 'host_restarted'],
    ]);
    expect(session.state).toMatchObject({ round: { inFlight: 2 } });
  });

  test('prompts that were on their way are asked for again', () => {
    const session = start({ promptsPerRound: 3 });
    session.open(prompts('a'));
    const again = restart(session);
    expect(only(again, 'prompts.request')).toStrictEqual([
      {
        type: 'prompts.request',
        at: 0,
        roundId: 'r0',
        count: 2,
        reason: { code: 'host_restarted', target: 3, admitted: 1 },
      },
    ]);
  });

  test('what was kept is resumed from again; responses that run are timed anew', () => {
    const session = start({ partialRollout: true, maxStaleness: 1, promptsPerRound: 1, responseTimeoutSeconds: 10 });
    const kept = [{ requestId: 'x-a/0#0', index: 0, tokens: 5, weightVersions: [0], finished: false }];
    session.open([{ promptId: 'a', kept }]);
    session.tell('turn.finished', { requestId: 'a/0#0', tokens: 9 });
    session.at = 6;
    const again = restart(session);
    expect(only(again, 'request.launch')).toMatchObject([{ requestId: 'h1-a/0#0', resumeFrom: kept[0] }, { index: 1 }]);
    expect(only(again, 'timer.set')).toMatchObject([{ fireAtSeconds: 16 }]);
    session.at = 16;
    expect(
      only(session.tell('timer.fired', { timerId: 'speculative-admission/response-timeout' }), 'request.abort'),
    ).toHaveLength(2);
  });

  test('old prefixes stay known, each of them: what comes under them is late', () => {
    const session = start({ idPrefix: 'h0-' });
    session.open(prompts('a', 'b'));
    restart(session, 'h1-');
    restart(session, 'h2-');
    for (const prefix of ['h0-', 'h1-']) {
      expect(brief(session.complete(`${prefix}a/0#0`))).toStrictEqual([`response.late ${prefix}a/0#0 completion`]);
    }
    expect(brief(session.complete('h2-a/0#0'))).toStrictEqual(['response.accepted h2-a/0#0 held']);
    session.refuses({ type: 'response.completed', at: 0, requestId: 'h3-a/0#0', tokens: 1 }, 'unknown_id', 'requestId');
  });
});

test('a snapshot says whose it is', () => {
  expect(rounds().policy.snapshot()).toMatchObject({ policy: 'speculative-admission', version: 5, seq: 0, at: 0 });
});
