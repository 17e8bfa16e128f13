import { describe, expect, test } from 'vitest';
import { create, dividedRollout, losslessTail } from '../../../src/index.ts';
import type { DividedRolloutInput } from '../../../src/policies/divided-rollout/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { Session } from '../../support/sessions/session.ts';

/** A session with short ways to report what requests do. */
class Requests extends Session {
  constructor(config: DividedRolloutInput = {}, engines = ['e0', 'e1']) {
    super(create(dividedRollout, config) as never);
    for (const engineId of engines) this.send({ type: 'engine.added', engineId });
  }

  /** Opens requests of prompts, and asks for all: `p/0` is the first of prompt p. */
  begin(ids: readonly string[], promptTokens = 100) {
    for (const requestId of ids) this.send({ type: 'request.opened', requestId, promptId: requestId.split('/')[0] });
    return this.ask(ids, promptTokens);
  }

  ask(ids: readonly string[], promptTokens = 100, tokens?: number) {
    const kept = tokens === undefined ? {} : { tokens };
    return this.send({
      type: 'chunks.requested',
      requests: ids.map((requestId) => ({ requestId, promptTokens, ...kept })),
    });
  }

  finish(requestId: string, tokens: number) {
    return this.send({ type: 'chunk.finished', requestId, tokens });
  }

  over(requestId: string, tokens: number) {
    return this.send({ type: 'response.completed', requestId, tokens });
  }
}

/** Chunks in brief: request, engine, reason. */
const chunks = (decisions: readonly unknown[]): string[] =>
  (decisions as VocabularyDecision[]).flatMap((one) =>
    one.type === 'chunk.continue' ? [`${one.requestId} ${one.engineId} ${one.reason.code}`] : [],
  );

describe('divided-rollout', () => {
  test('one response of each prompt is first, whatever the order in which they ask', () => {
    const requests = new Requests();
    expect(chunks(requests.begin(['p/0', 'p/1', 'q/0', 'q/1']))).toEqual([
      'p/0 e0 probe',
      'q/0 e1 probe',
      'p/1 e0 first',
      'q/1 e1 first',
    ]);
  });

  test('what has no room waits, and begins where another one has left', () => {
    const requests = new Requests({ kvCapacityTokens: 1000 }, ['e0']);
    expect(chunks(requests.begin(['p/0', 'q/0'], 600))).toEqual(['p/0 e0 probe']);
    expect(chunks(requests.finish('p/0', 60))).toEqual(['p/0 e0 stays']);
    expect(chunks(requests.over('p/0', 70))).toEqual(['q/0 e0 probe']);
  });

  test('of those that wait the longest is first, by what its siblings have become', () => {
    const requests = new Requests({ kvCapacityTokens: 1000 }, ['e0']);
    // Two rounds of history: responses to p are long, those to q short.
    for (const round of ['a', 'b'])
      for (const [prompt, tokens] of [
        ['p', 400],
        ['q', 20],
      ] as const) {
        const requestId = `${prompt}/${round}`;
        requests.begin([requestId]);
        requests.over(requestId, tokens);
      }
    requests.begin(['x/0'], 800);
    expect(chunks(requests.begin(['q/1', 'q/2', 'p/1', 'p/2'], 700))).toEqual([]);
    const order: string[] = [];
    for (let last = 'x/0'; order.length < 4; last = order.at(-1)!) {
      order.push(...chunks(requests.over(last, 10)).map((one) => one.split(' ')[0]!));
    }
    expect(order.slice(0, 2).sort(), 'the probes of both').toEqual(['p/1', 'q/1']);
    expect(order.slice(2)).toEqual(['p/2', 'q/2']);
  });

  test('a response moves when its engine is drained, and goes on from its last chunk when its engine is lost', () => {
    const requests = new Requests();
    requests.begin(['p/0']);
    requests.send({ type: 'engine.drained', engineId: 'e0' });
    expect(chunks(requests.finish('p/0', 64))).toEqual(['p/0 e1 moved']);
    expect(requests.send({ type: 'engine.added', engineId: 'e2' })).toEqual([]);
    const again = requests.send({ type: 'engine.lost', engineId: 'e1' });
    expect(again).toMatchObject([
      { type: 'chunk.continue', engineId: 'e2', fromTokens: 64, reason: { code: 'engine_lost' } },
    ]);
  });

  test('a host that has lost what was generated asks again', () => {
    const requests = new Requests();
    requests.begin(['p/0']);
    requests.send({ type: 'request.opened', requestId: 'late' });
    requests.finish('p/0', 64);
    const told = requests.send({ type: 'host.restarted', idPrefix: 'again-' });
    expect(told).toMatchObject([
      { type: 'chunk.awaited', requestId: 'late' },
      { type: 'chunk.continue', requestId: 'p/0', fromTokens: 64, reason: { code: 'host_restarted' } },
    ]);
    expect(requests.ask(['p/0'], 100, 0)).toMatchObject([{ type: 'chunk.continue', requestId: 'p/0', fromTokens: 0 }]);
  });

  test('an engine that has less room than was thought gives no chunk beyond it', () => {
    const requests = new Requests({ kvCapacityTokens: 2000 }, ['e0']);
    expect(chunks(requests.begin(['p/0', 'q/0'], 700))).toHaveLength(2);
    const load = { kvUsedTokens: 900, running: 2, waiting: 0, preemptions: 1 };
    requests.send({ type: 'engine.reported', engineId: 'e0', kvCapacityTokens: 1000, ...load });
    expect(chunks(requests.finish('p/0', 60))).toEqual([]);
    expect(chunks(requests.over('q/0', 10))).toEqual(['p/0 e0 resumed']);
  });

  test('wrong reports are refused, late ones are not', () => {
    const requests = new Requests();
    requests.begin(['p/0']);
    expect(refusal(() => requests.finish('x', 1))).toMatchObject({ code: 'unknown_id', path: 'requestId' });
    expect(refusal(() => requests.ask(['p/0', 'x']))).toMatchObject({
      code: 'unknown_id',
      path: 'requests[1].requestId',
    });
    const full = { requestId: 'p/0', promptTokens: 1, tokens: 5, maxTokens: 5 };
    const asking = { type: 'chunks.requested' as const, requests: [full] };
    expect(refusal(() => requests.send(asking))).toMatchObject({ code: 'invalid_event', path: 'requests[0].tokens' });
    requests.over('p/0', 3);
    expect(requests.finish('p/0', 3)).toMatchObject([{ type: 'chunk.late', reason: { code: 'already_ended' } }]);
  });
});

test('lossless-tail divided: the host places no request itself', () => {
  const shape = { promptsPerRound: 2, responsesPerPrompt: 2, dividedRollout: {} } as const;
  const wrong = refusal(() => create(losslessTail, { ...shape, placement: 'policy' }));
  expect(wrong).toMatchObject({ code: 'invalid_config', path: 'placement' });
  expect(refusal(() => create(losslessTail, { ...shape, onRestart: 'launch' }))).toMatchObject({ path: 'onRestart' });
});

test('why names the end of the response where a chunk is its last one', () => {
  const all = new Requests({}, ['e0']);
  all.send({ type: 'request.opened', requestId: 'a' });
  all.send({ type: 'chunks.requested', requests: [{ requestId: 'a', promptTokens: 10, maxTokens: 20 }] });
  expect(all.why('a').at(-1)).toContain('response.completed');
});
