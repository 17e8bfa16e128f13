/** Plans of a server that computes them in threads: what may overtake them, deadlines, limits, and clients that leave. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { planThreads, RpcServer } from 'rollflex/rpc';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runPlanner } from '../../../src/core/machine/start.ts';
import { type FlexUlyssesPlan, flexUlysses } from '../../../src/planners/flex-ulysses/index.ts';
import type { Planning } from '../../../src/rpc/methods/planning.ts';
import type { ServerOptions } from '../../../src/rpc/service.ts';
import * as sources from '../../../src/rpc/transports/plan-threads.ts';
import { asUsersModule, root } from '../../support/command-line/process.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const call = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const plan = (id: number, planner: string, input: object, more: object = {}) =>
  call(id, 'plan', { planner, input, ...more });
/** Several seconds of search. */
const long = {
  lengths: Array.from({ length: 1000 }, (_, index) => (index % 10 === 0 ? 20_000 + 97 * index : 100 + 3 * index)),
  devices: 128,
  effort: 'thorough',
} as const;
const short = { lengths: [32_768, 16_384, 4096, 4096], devices: 4 };
const folder = mkdtempSync(join(tmpdir(), 'rollflex-plans-'));
const ownPlanners = join(root, 'test/support/servers/own-planners.mjs');
const definitions = pathToFileURL(asUsersModule(folder, ownPlanners)).href;

const threads = planThreads({ threads: 1, definitions });
const servers: RpcServer[] = [];
// Deadlines, and what a thread has after them, wait for a clock that the tests move. What is computed takes real time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => {
  for (const one of servers.splice(0)) one.close();
  vi.useRealTimers();
});
/** Lets time pass for a server, when its threads had some to begin what they have to do. */
async function pass(seconds: number): Promise<void> {
  await sleep(100);
  await vi.advanceTimersByTimeAsync(1000 * seconds);
}
/** Seconds that a thread has to end after a deadline. */
const grace = 2;
afterAll(() => {
  threads.close();
  rmSync(folder, { recursive: true });
});

type Answer = {
  id: number;
  result?: { plan: FlexUlyssesPlan };
  error?: { code: number; data: Record<string, string> };
};

/** A server, and a client that notes its answers in the order in which they come. */
function served(options: ServerOptions = {}) {
  const planning = options.planning ?? { plan: (job) => threads.plan(job), close: () => undefined };
  const one = new RpcServer({ ...options, planning });
  servers.push(one);
  const client = () => {
    const answers: Answer[] = [];
    let told = (): void => undefined;
    const connection = one.connect({
      write: (text) => {
        answers.push(...[JSON.parse(text)].flat());
        told();
      },
      waiting: 0,
      drained: () => Promise.resolve(),
      destroy: () => undefined,
    })!;
    const until = async (count: number): Promise<Answer[]> => {
      while (answers.length < count) await new Promise<void>((resolve) => (told = resolve));
      return answers;
    };
    return { connection, answers, until, send: (text: string) => connection.receive(bytesOf(text)) };
  };
  return { client };
}

describe('plans in threads', () => {
  test('are those of the planner, and other answers overtake them', async () => {
    const { send, until } = served().client();
    await send(plan(1, 'flex-ulysses', short) + call(2, 'session.list'));
    const answers = await until(2);
    expect(answers.map((one) => one.id)).toEqual([2, 1]);
    expect(answers[1]!.result!.plan).toEqual(JSON.parse(JSON.stringify(runPlanner(flexUlysses, short))));
  });

  test('of a batch are in its answer, in the order of its calls', async () => {
    const { send, answers } = served().client();
    const calls = [plan(1, 'flex-ulysses', short), call(2, 'session.list'), plan(3, 'no-such', {})];
    await send(`[${calls.map((one) => one.trim()).join(',')}]\n`);
    expect(answers.map((one) => one.id)).toEqual([1, 2, 3]);
    expect(answers[2]!.error!.data.code).toBe('unknown_id');
  });

  test('that are refused say what a planner says in process', async () => {
    const { send, until } = served().client();
    await send(plan(1, 'flex-ulysses', { lengths: [-1], devices: 4 }));
    const [answer] = await until(1);
    expect(answer!.error).toMatchObject({
      code: -32000,
      data: { code: 'invalid_input', path: 'lengths[0]', got: '-1' },
    });
  });

  test('without an id are not computed', async () => {
    const planning: Planning = { plan: () => Promise.reject(new Error('asked')), close: () => undefined };
    const { send, answers, connection } = served({ planning }).client();
    await send(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'plan', params: { planner: 'flex-ulysses', input: short } })}\n`,
    );
    await connection.settled();
    expect(answers).toEqual([]);
  });

  test('are answered before the end of input is', async () => {
    const { send, answers, connection } = served().client();
    await send(plan(1, 'flex-ulysses', short));
    await connection.finish();
    expect(answers.map((one) => one.id)).toEqual([1]);
  });

  test('from the sources, too', async () => {
    const planning = sources.planThreads({ threads: 1, definitions: pathToFileURL(ownPlanners).href });
    const plan = await planning.plan({ planner: 'own-sum', input: { terms: [1, 2] } });
    planning.close();
    expect(plan.json).toBe('{"sum":3}');
  });

  test('of own planners are computed there too', async () => {
    const { send, until } = served().client();
    await send(plan(1, 'own-sum', { terms: [1, 2] }));
    expect((await until(1))[0]!.result).toEqual({ plan: { sum: 3 } });
  });
});

describe('a deadline', () => {
  test('ends a search with the best plan so far, and the plan says what was cut short', async () => {
    const { send, until } = served().client();
    await send(plan(1, 'flex-ulysses', short));
    await until(1);
    await send(plan(2, 'flex-ulysses', long, { deadlineSeconds: 0.3 }));
    await sleep(200);
    await pass(0.3);
    const { result } = (await until(2))[1]!;
    // On a busy machine the deadline may come while the compute is still balanced.
    expect(result!.plan.cut!.by).toBe('deadline');
    expect(result!.plan.cut!.parts).toContain('communication');
    expect(result!.plan.metrics.maxCompute).toBeLessThanOrEqual(result!.plan.limits.compute * (1 + 1e-8));
  });

  test('ends a planner that does not ask by an error, and the next plan has a new thread', async () => {
    const { send, until, answers } = served().client();
    await send(plan(1, 'own-endless', {}, { deadlineSeconds: 0.1 }) + plan(2, 'flex-ulysses', short));
    await pass(0.1 + grace - 0.01);
    await sleep(50);
    expect(answers).toEqual([]);
    await pass(0.01);
    const [first, second] = await until(2);
    expect(first).toMatchObject({ id: 1, error: { data: { code: 'limit_exceeded', path: 'deadlineSeconds' } } });
    expect(first!.error!.data.expected).toBe('a plan within 0.1 seconds');
    expect(second!.result!.plan.assignments).toHaveLength(4);
  });

  test('counts while a plan waits for a thread', async () => {
    const { send, until } = served().client();
    await send(
      plan(1, 'own-endless', {}, { deadlineSeconds: 1 }) + plan(2, 'flex-ulysses', short, { deadlineSeconds: 0.2 }),
    );
    await pass(0.2);
    const [first] = await until(1);
    expect(first).toMatchObject({ id: 2, error: { data: { code: 'limit_exceeded', got: '"no thread was free"' } } });
    // The thread is free for the next test.
    await pass(1 + grace);
    await until(2);
  });

  test('ends a search in the same thread, too', async () => {
    const one = new RpcServer();
    const lines: Answer[] = [];
    const link = { waiting: 0, drained: () => Promise.resolve(), destroy: () => undefined };
    const connection = one.connect({ ...link, write: (text) => void lines.push(JSON.parse(text)) })!;
    await connection.receive(bytesOf(plan(1, 'flex-ulysses', long, { deadlineSeconds: 0.05 })));
    expect(lines[0]!.result!.plan.cut).toMatchObject({ by: 'deadline' });
  });
});

describe('limits', () => {
  test('more plans than may wait are refused, until one is answered', async () => {
    const { client } = served({ limits: { maxPlans: 1 } });
    const { send, until } = client();
    await send(plan(1, 'flex-ulysses', short));
    const other = client();
    await other.send(plan(2, 'flex-ulysses', short));
    expect((await other.until(1))[0]).toMatchObject({
      id: 2,
      error: { data: { code: 'limit_exceeded', path: 'plan' } },
    });
    await until(1);
    await other.send(plan(3, 'flex-ulysses', short));
    expect((await other.until(2))[1]!.result).toBeDefined();
  });

  test('the plans of connections take turns', async () => {
    const { client } = served();
    const [greedy, other] = [client(), client()];
    const sum = (id: number) => plan(id, 'own-sum', { terms: [id] });
    await greedy.send(plan(1, 'own-endless', {}, { deadlineSeconds: 0.1 }) + sum(2) + sum(3) + sum(4));
    await other.send(sum(5));
    await pass(0.1 + grace);
    await other.until(1);
    expect(greedy.answers.map((one) => one.id)).toEqual([1, 2]);
    await greedy.until(4);
  });

  test('the plans of a client that has left make room for those of others', async () => {
    const { client } = served();
    const gone = client();
    await gone.send(plan(1, 'own-endless', {}) + plan(2, 'own-endless', {}));
    gone.connection.close();
    const { send, until } = client();
    await send(plan(3, 'flex-ulysses', short));
    await pass(grace);
    expect((await until(1))[0]!.result).toBeDefined();
    expect(gone.answers).toEqual([]);
  });

  test('a thread that has failed is replaced', async () => {
    const { send, until } = served().client();
    await send(plan(1, 'own-exit', {}) + plan(2, 'flex-ulysses', short));
    const [first, second] = await until(2);
    expect(first).toMatchObject({ id: 1, error: { data: { code: 'internal' } } });
    expect(second!.result).toBeDefined();
  });
});
