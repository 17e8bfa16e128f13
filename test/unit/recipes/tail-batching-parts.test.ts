/** Tail batching as a composition: what goes to which part, what comes out, and what is neither lost nor counted twice. */
import { describe, expect, test } from 'vitest';
import { create, tailBatching } from '../../../src/index.ts';
import type { TailBatchingInput } from '../../../src/recipes/tail-batching/index.ts';
import { brief } from '../../support/sessions/rounds.ts';
import { only, prompts, Session } from '../../support/sessions/session.ts';

const start = (config: Partial<TailBatchingInput> = {}) =>
  new Session(
    create(tailBatching, {
      promptsPerRound: 1,
      responsesPerPrompt: 1,
      promptSpeculation: 2,
      responseSpeculation: 1,
      ...config,
    }) as never,
  );
const request = (session: Session, weightVersion = 0) =>
  session.send({ type: 'round.requested', roundId: `r${session.rounds++}`, weightVersion } as never);
const tell = (session: Session, type: string, fields: object = {}) => session.send({ type, ...fields } as never);
const parts = (session: Session) =>
  (session.policy.snapshot() as { state: { parts: Record<string, { state: Record<string, unknown> }> } }).state.parts;

describe('what goes where', () => {
  test('a round is planned by the queue and opened by the admission, which alone asks for prompts', () => {
    const session = start();
    expect(request(session, 4)).toStrictEqual([
      {
        type: 'round.planned',
        at: 0,
        roundId: 'r0',
        kind: 'short',
        weightVersion: 4,
        queued: [],
        reason: { code: 'queue_below_threshold', queued: 0, promptsPerRound: 1 },
      },
      {
        type: 'prompts.request',
        at: 0,
        roundId: 'r0',
        count: 2,
        reason: { code: 'round_opened', target: 2, known: 0 },
      },
    ]);
  });

  test('a deferred prompt is told, and queued; so is one that comes back', () => {
    const session = start({ maxInFlight: 2 });
    request(session);
    tell(session, 'prompts.supplied', { roundId: 'r0', prompts: prompts('a', 'b', 'c') });
    const all = session.complete('a/0#0');
    expect(brief(all).filter((one) => one.startsWith('prompt.'))).toStrictEqual([
      'prompt.collected a responses_held',
      'prompt.counted a no_filter',
      'prompt.deferred b round_completed',
      'prompt.returned c not_started',
    ]);
    expect(parts(session).queue!.state).toMatchObject({
      entries: [{ prompt: { promptId: 'b' } }],
      unused: [{ promptId: 'c' }],
    });
    session.confirm(all);
    const next = request(session);
    expect(brief(next)).toStrictEqual(['round.planned r1 queue_full', 'request.launch b/0#1 planned']);
  });

  test('the end of a source, and its beginning again, reach the queue and the admission', () => {
    const session = start();
    tell(session, 'source.exhausted');
    expect(parts(session)).toMatchObject({
      queue: { state: { exhausted: true } },
      admission: { state: { exhausted: { all: true } } },
    });
    expect(brief(request(session))).toStrictEqual(['source.drained r0 source_exhausted']);
    tell(session, 'source.reopened');
    expect(parts(session)).toMatchObject({
      queue: { state: { exhausted: false } },
      admission: { state: { exhausted: { all: false } } },
    });
    expect(brief(request(session))).toStrictEqual([
      'round.planned r1 queue_below_threshold',
      'prompts.request r1 round_opened',
    ]);
  });

  test('what the host is told of queued prompts is not what the parts hold', () => {
    const session = start({ partialRollout: true, maxStaleness: 1 });
    request(session);
    tell(session, 'prompts.supplied', { roundId: 'r0', prompts: prompts('a', 'b') });
    session.confirm(session.complete('a/0#0'));
    const [planned] = only(request(session, 1), 'round.planned');
    planned!.queued[0]!.deferral!.count = 99;
    planned!.queued[0]!.kept![0]!.tokens = 99;
    expect(parts(session).admission!.state).toMatchObject({
      prompts: [{ spec: { deferral: { count: 1 }, kept: [{ tokens: 4 }] } }],
    });
  });
});

test('a snapshot says whose it is, and whose its parts are', () => {
  expect(start().policy.snapshot()).toMatchObject({ policy: 'tail-batching', version: 2 });
  expect(Object.keys(parts(start()))).toStrictEqual(['queue', 'admission', 'selection']);
});

describe('what is refused', () => {
  test('a round that the admission would not open, by its path, and the queue has planned nothing', () => {
    const session = start();
    request(session, 5);
    const next = (more: object = {}) => ({ type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 5, ...more });
    session.refuses(next(), 'out_of_order', 'roundId');
    tell(session, 'round.failed', { roundId: 'r0' });
    session.refuses(next({ weightVersion: 4 }), 'out_of_order', 'weightVersion');
    session.refuses(next({ roundId: 'r0' }), 'duplicate_id', 'roundId');
    expect(brief(session.send(next() as never))[0]).toBe('round.planned r1 queue_below_threshold');
  });

  test.each([
    [{ order: 'shortest' }, 'order'],
    [{ maxDeferrals: 0 }, 'maxDeferrals'],
    [{ maxWaitRounds: -1 }, 'maxWaitRounds'],
    [{ quotas: { math: 2 } }, 'quotas'],
    [{ partialRollout: true }, 'partialRollout'],
    [{ queue: {} }, 'queue'],
  ])('configuration %j', (config, path) => {
    expect(() => start(config as never)).toThrow(expect.objectContaining({ code: 'invalid_config', path }));
  });
});

describe('settings of the queue', () => {
  const deferred = (config: Partial<TailBatchingInput>) => {
    const session = start({ promptsPerRound: 2, promptSpeculation: 2, ...config });
    request(session);
    tell(session, 'prompts.supplied', { roundId: 'r0', prompts: prompts('a', 'b', 'c', 'd') });
    tell(session, 'turn.finished', { requestId: 'd/0#0', tokens: 50 });
    session.confirm(session.complete('a/0#0', 'b/0#0'));
    return session;
  };

  test('order, maxDeferrals and maxWaitRounds are its own', () => {
    const queued = (config: Partial<TailBatchingInput>) =>
      only(request(deferred(config)), 'round.planned').map((one) => [
        one.reason.code,
        ...one.queued.map((two) => two.promptId),
      ]);
    expect(queued({})).toStrictEqual([['queue_full', 'c', 'd']]);
    expect(queued({ order: 'longest-expected-first' })).toStrictEqual([['queue_full', 'd', 'c']]);
    const alone = (config: Partial<TailBatchingInput>) => {
      const session = start({ promptsPerRound: 2, promptSpeculation: 1.5, ...config });
      request(session);
      tell(session, 'prompts.supplied', { roundId: 'r0', prompts: prompts('a', 'b', 'c') });
      session.confirm(session.complete('a/0#0', 'b/0#0'));
      return brief(request(session));
    };
    expect(alone({})).toStrictEqual(['round.planned r1 queue_below_threshold', 'prompts.request r1 round_opened']);
    for (const config of [{ maxDeferrals: 1 }, { maxWaitRounds: 1 }]) {
      expect(alone(config)).toStrictEqual([
        'round.planned r1 prompt_overdue',
        'prompts.request r1 round_opened',
        'request.launch c/0#1 planned',
      ]);
    }
  });

  test('the factor for prompts is given once, for both; with `speculation: auto` there is none to give', () => {
    expect(tailBatching.config.parse({ promptsPerRound: 4, responsesPerPrompt: 1 })).not.toHaveProperty(
      'promptSpeculation',
    );
    const session = new Session(
      create(tailBatching, { promptsPerRound: 10, responsesPerPrompt: 1, speculation: 'auto' }) as never,
    );
    expect(request(session)).toMatchObject([
      { type: 'round.planned' },
      { type: 'speculation.chosen', promptSpeculation: 1.1 },
      { type: 'prompts.request', count: 11 },
    ]);
  });
});

describe('ledgers', () => {
  const [promptLedger, responseLedger] = tailBatching.ledgers;
  const both = (what: 'entered' | 'left', given: object) => [
    promptLedger![what](given as never),
    responseLedger![what](given as never),
  ];
  const kept = [{ requestId: 'a/0#0', finished: true }];
  const dropped = [{ requestId: 'a/1#0' }];

  test('what goes from one part to the other has not left; what is dropped on the way has', () => {
    expect([promptLedger!.name, responseLedger!.name]).toStrictEqual(['prompts', 'responses']);
    for (const type of ['prompt.deferred', 'prompt.returned']) {
      expect(both('left', { type, prompt: { promptId: 'a', kept }, dropped })).toStrictEqual([[], ['a/1#0']]);
    }
    expect(both('left', { type: 'round.planned', queued: [{ promptId: 'a', kept }] })).toStrictEqual([[], []]);
  });

  test('everything else is as in the admission', () => {
    expect(both('entered', { type: 'prompts.supplied', prompts: [{ promptId: 'a', kept }] })).toStrictEqual([
      ['a'],
      ['a/0#0'],
    ]);
    expect(both('left', { type: 'prompt.merged', promptId: 'a', dropped })).toStrictEqual([['a'], ['a/1#0']]);
    expect(both('left', { type: 'response.surplus', requestId: 'a/0#0' })).toStrictEqual([[], ['a/0#0']]);
  });

  test('both parts hold', () => {
    const session = start({ partialRollout: true, maxStaleness: 1, promptSpeculation: 3 });
    request(session);
    tell(session, 'prompts.supplied', { roundId: 'r0', prompts: prompts('a', 'b', 'c') });
    // c completes although it was aborted, b does not: both are queued.
    session.complete('a/0#0');
    tell(session, 'request.aborted', { requestId: 'b/0#0', tokens: 3 });
    session.complete('c/0#0');
    request(session, 1);
    const saved = (session.policy.snapshot() as { state: never }).state;
    expect([[...promptLedger!.held(saved)].sort(), responseLedger!.held(saved)]).toStrictEqual([['b', 'c'], ['c/0#0']]);
  });
});
