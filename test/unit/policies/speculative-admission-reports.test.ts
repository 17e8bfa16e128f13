/** What engines report about requests: too late, unasked, twice, or after the abort was decided. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const aboutOne: readonly [Parameters<ReturnType<(typeof bothWays)[0][1]>['tell']>[0], object][] = [
  ['response.failed', { kind: 'infrastructure' }],
  ['response.failed', { kind: 'data' }],
  ['request.aborted', { tokens: 7 }],
  ['request.started', { engineId: 'e9' }],
  ['turn.finished', { tokens: 50 }],
  ['tool.started', { tool: 'bash' }],
  ['tool.finished', { outcome: 'success' }],
  ['response.failed', { kind: 'environment' }],
];

describe.each(bothWays)('reports about requests, %s', (_how, start) => {
  test('a report about a request that is over is late, and changes nothing', () => {
    const session = start();
    session.open(prompts('a', 'b'));
    session.complete('a/0#0');
    const before = session.state;
    for (const [type, fields] of aboutOne) {
      expect(session.tell(type, { requestId: 'a/0#0', ...fields })).toStrictEqual([
        { type: 'response.late', at: 0, requestId: 'a/0#0', reason: { code: 'report' } },
      ]);
    }
    expect(session.tell('response.completed', { requestId: 'a/0#0', tokens: 99 })).toStrictEqual([
      { type: 'response.late', at: 0, requestId: 'a/0#0', reason: { code: 'completion', tokens: 99 } },
    ]);
    expect(session.state).toStrictEqual(before);
  });

  test('what a request that is being aborted reports on its way is late', () => {
    const session = start({ responseSpeculation: 1.5 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    const before = session.state;
    for (const [type, fields] of [
      ['turn.finished', { tokens: 5 }],
      ['tool.started', { tool: 'bash' }],
      ['tool.finished', { outcome: 'success' }],
    ] as const) {
      expect(brief(session.tell(type, { requestId: 'a/2#0', ...fields } as never))).toStrictEqual([
        'response.late a/2#0 report',
      ]);
    }
    expect(session.state).toStrictEqual(before);
  });

  test.each([
    ['request.aborted', {}],
    ['response.failed', { kind: 'infrastructure' }],
    ['response.failed', { kind: 'data' }],
    ['response.failed', { kind: 'environment' }],
  ] as const)('an abort ends by %s %j: no fault of anybody, and the next report is late', (type, fields) => {
    const session = start({ responseSpeculation: 1.5, retry: { infrastructure: 0, data: 0, environment: 0 } });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    expect(session.tell(type, { requestId: 'a/2#0', ...fields })).toStrictEqual([]);
    expect(brief(session.tell('request.aborted', { requestId: 'a/2#0' }))).toStrictEqual([
      'response.late a/2#0 report',
    ]);
    session.at = 3;
    expect(session.tell(type, { requestId: 'b/2#0', ...fields })).toStrictEqual([
      { type: 'round.drained', at: 3, roundId: 'r0', reason: { code: 'all_ended', afterSeconds: 3 } },
    ]);
    expect(session.state).toMatchObject({ aborting: [], draining: [] });
  });

  test('a response that is complete before its abort arrives is surplus, named with its tokens', () => {
    const session = start({ responseSpeculation: 1.5 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    expect(session.tell('response.completed', { requestId: 'a/2#0', tokens: 33 })).toStrictEqual([
      {
        type: 'response.surplus',
        at: 0,
        requestId: 'a/2#0',
        promptId: 'a',
        reason: { code: 'after_abort', tokens: 33 },
      },
    ]);
    expect(brief(session.complete('a/2#0'))).toStrictEqual(['response.late a/2#0 completion']);
  });

  test('an abort that nobody asked for is an infrastructure fault: tried again, its tokens lost', () => {
    const session = start();
    session.open(prompts('a', 'b'));
    session.tell('turn.finished', { requestId: 'a/0#0', tokens: 20 });
    expect(session.tell('request.aborted', { requestId: 'a/0#0', tokens: 25 })).toStrictEqual([
      {
        type: 'request.launch',
        at: 0,
        requestId: 'a/0#1',
        promptId: 'a',
        roundId: 'r0',
        index: 0,
        weightVersion: 0,
        reason: { code: 'retry_infrastructure', attempt: 1, budget: 5, pauseSeconds: 0, scope: 'engine' },
      },
    ]);
  });

  test('an accepted response names its domain, and how many are held of how many are needed', () => {
    const session = start();
    session.open([{ promptId: 'a', domain: 'math' }, { promptId: 'b' }]);
    expect(session.complete('a/0#0')).toStrictEqual([
      {
        type: 'response.accepted',
        at: 0,
        requestId: 'a/0#0',
        promptId: 'a',
        domain: 'math',
        reason: { code: 'held', held: 1, needed: 2 },
      },
    ]);
    expect(only(session.complete('b/0#0'), 'response.accepted')[0]).not.toHaveProperty('domain');
  });

  test('a prompt is collected with the ids of its held responses, of those launched, and aborts say why', () => {
    const session = start({ responseSpeculation: 2 });
    session.open(prompts('a', 'b'));
    session.complete('a/3#0');
    const [, collected, abort] = session.complete('a/1#0');
    expect(collected).toStrictEqual({
      type: 'prompt.collected',
      at: 0,
      promptId: 'a',
      roundId: 'r0',
      requestIds: ['a/1#0', 'a/3#0'],
      reason: { code: 'responses_held', held: 2, launched: 4 },
    });
    expect(abort).toStrictEqual({
      type: 'request.abort',
      at: 0,
      requestId: 'a/0#0',
      promptId: 'a',
      reason: { code: 'prompt_collected', held: 2, needed: 2 },
    });
  });

  test('what stands in line of a collected prompt is passed over', () => {
    const session = start({ responseSpeculation: 2, maxInFlight: 2 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0');
    expect(brief(session.complete('a/1#0'))).toStrictEqual([
      'response.accepted a/1#0 held',
      'prompt.collected a responses_held',
      'request.abort a/2#0 prompt_collected',
      'timer.set speculative-admission/abort-grace abort_grace',
      'prompt.counted a no_filter',
      'request.launch b/0#0 planned',
    ]);
  });
});
