/** Response lengths from the decision log of a server, whoever admitted the requests. */
import { expect, test } from 'vitest';
import { type LogLine, logFormat, type ReadLine } from '../../../src/logs/format/decision-log.ts';
import { workloadFromLog } from '../../../src/sim/workload/from-log.ts';
import { lengthsFromDecisionLog } from '../../../src/sim/workload/log-lengths.ts';

type Loose = Record<string, unknown>;

/** Lines of a log, as a reader gives them. */
class Lines {
  readonly all: ReadLine[] = [];
  readonly #seqs = new Map<string, number>();

  constructor() {
    this.#add({ kind: 'log', format: logFormat, version: '1', run: 'r', file: 1, time: 0 });
  }

  session(session: string, shadow = false, seq = 0): this {
    this.#seqs.set(session, seq);
    const policy = { policy: 'any', version: 1, deliver: 'reply', timers: 'host' } as const;
    return this.#add({ kind: 'session', time: 0, session, ...policy, shadow, seq, snapshot: null });
  }

  event(session: string, event: Loose, decisions: Loose[] = []): this {
    const seq = this.#seqs.get(session)! + 1;
    this.#seqs.set(session, seq);
    return this.#add({ kind: 'event', time: 0, session, seq, event: { at: 0, ...event }, decisions } as LogLine);
  }

  /** Events that happened, and are not in the log. */
  miss(session: string, events: number): this {
    this.#seqs.set(session, this.#seqs.get(session)! + events);
    return this;
  }

  #add(line: LogLine): this {
    this.all.push({ where: `log:${this.all.length + 1}`, line });
    return this;
  }
}

const launch = (requestId: string, promptId: string): Loose => ({ type: 'request.launch', requestId, promptId });
const completed = (requestId: string, tokens: number): Loose => ({ type: 'response.completed', requestId, tokens });
const aborted = (requestId: string, tokens?: number): Loose => ({ type: 'request.aborted', requestId, tokens });

test('completed responses are exact, aborted ones censored; sessions keep their prompts apart', () => {
  const lines = new Lines().session('x').session('y');
  for (const session of ['x', 'y']) {
    lines
      .event(session, { type: 'prompts.supplied', prompts: [{ promptId: 'p', promptTokens: 7, domain: 'math' }] }, [
        launch('p/0#0', 'p'),
        launch('p/1#0', 'p'),
        launch('p/2#0', 'p'),
      ])
      .event(session, completed('p/0#0', session === 'x' ? 10 : 20))
      .event(session, aborted('p/1#0', 5));
  }
  const found = lengthsFromDecisionLog(lines.all);
  expect(found).toMatchObject({ completed: 2, censored: 2, unknown: 2, missing: 0 });
  const prompt = (tokens: number) => ({
    promptId: 'p',
    promptTokens: 7,
    domain: 'math',
    responses: [
      { tokens, censored: false },
      { tokens: 5, censored: true },
    ],
  });
  expect(found.prompts).toEqual([prompt(10), prompt(20)]);
  expect(lengthsFromDecisionLog(lines.all, 'y').prompts).toEqual([prompt(20)]);
  expect(() => lengthsFromDecisionLog(lines.all, 'z')).toThrow('a session of the log');
});

test('a host that admits requests by itself: prompts by the request ids', () => {
  const shadow = new Lines()
    .session('gpus', true)
    .event('gpus', completed('a/0#0', 10))
    .event('gpus', completed('a/1#0', 30))
    .event('gpus', aborted('b/0#0', 4))
    .event('gpus', aborted('b/1#0'))
    .event('gpus', completed('alone', 8));
  const { prompts, completed: exact, censored, unknown } = lengthsFromDecisionLog(shadow.all);
  expect([exact, censored, unknown]).toEqual([3, 1, 1]);
  expect(prompts.map(({ promptId, responses }) => [promptId, responses.map(({ tokens }) => tokens)])).toEqual([
    ['a', [10, 30]],
    ['b', [4]],
    ['alone', [8]],
  ]);
  // Where a session of the log has admitted requests, others have only heard of them.
  shadow
    .session('job')
    .event('job', { type: 'x' }, [launch('a/0#0', 'a')])
    .event('job', completed('a/0#0', 10));
  expect(lengthsFromDecisionLog(shadow.all).completed).toBe(1);
});

test('what is missing is counted, and said where the lengths are used', () => {
  const lines = new Lines()
    .session('x', false, 4)
    .event('x', { type: 'x' }, [launch('a/0#0', 'a'), launch('b/0#0', 'b')])
    .event('x', completed('a/0#0', 10))
    .miss('x', 3)
    .event('x', { type: 'y' });
  // Completions of requests that were launched before the log begins say nothing of its prompts.
  lines.event('x', completed('earlier/0#0', 900));
  const found = lengthsFromDecisionLog(lines.all);
  expect(found).toMatchObject({ completed: 1, censored: 0, unknown: 1, missing: 3 });
  const { source } = workloadFromLog(found, { name: 'mine', capTokens: 100, seed: 1 });
  expect(source).toBe(
    'estimate from a log: 1 responses complete, 0 aborted and drawn beyond their abort, 1 without a length left out, 3 events missing in the log',
  );
});
