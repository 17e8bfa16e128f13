/** The router of example 13: what it passes through, and what becomes of turns that are held, broken or left. */
import { once } from 'node:events';
import { request as callOf, createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { agent } from '../../../examples/13-agentic-router/agents.ts';
import { sglangLoad, vllmLoad } from '../../../examples/13-agentic-router/engines.ts';
import type { Policy } from '../../../examples/13-agentic-router/programs.ts';
import { roundRobin } from '../../../examples/13-agentic-router/round-robin.ts';
import { Router, type RouterOptions } from '../../../examples/13-agentic-router/router.ts';
import { create, programScheduling } from '../../../src/index.ts';
import { MockHttp } from '../../support/mock-engine/http.ts';

let http: MockHttp;
let router: Router;
let url: string;
afterEach(async () => {
  await router.stop();
  await http.running.stop();
});

type Event = Parameters<Policy['send']>[0];

async function start(
  options: Parameters<typeof MockHttp.start>[0] = {},
  more: Partial<RouterOptions> = {},
  wrap: (policy: Policy) => Policy = (policy) => policy,
): Promise<Event[]> {
  http = await MockHttp.start({ api: 'vllm', speed: 'max', ...options });
  const events: Event[] = [];
  const policy = wrap(roundRobin());
  const send: Policy['send'] = (event) => {
    events.push(event);
    return policy.send(event);
  };
  router = new Router({ engines: http.running.engineUrls, ...more }, { send });
  url = await router.start();
  return events;
}
const turnBody = (tokens: number, more: object = {}) => ({
  messages: [{ role: 'user', content: 'x'.repeat(400) }],
  max_tokens: tokens,
  ignore_eos: true,
  ...more,
});
const ask = (body: object, headers: Record<string, string> = {}, path = '/v1/chat/completions') =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-program-id': 'p', ...headers },
    body: JSON.stringify(body),
  });
const types = (events: readonly Event[]) => events.map(({ type }) => type).filter((one) => one !== 'engine.reported');
const metric = (name: string) => Number(new RegExp(`^router_${name} (\\S+)$`, 'm').exec(router.metrics())![1]);
const until = async (holds: () => boolean): Promise<void> => {
  for (const end = performance.now() + 60_000; !holds(); await sleep(2)) expect(performance.now()).toBeLessThan(end);
};

describe('a turn', () => {
  test('comes back as the engine has sent it, streamed or not; the policy is told of it', async () => {
    const events = await start({ engines: 2 });
    const whole = await ask(turnBody(8), { 'x-request-id': 'r' });
    expect(whole.headers.get('x-engine-id')).toBe('engine-0');
    expect(await whole.json()).toMatchObject({ id: 'chatcmpl-r', usage: { prompt_tokens: 100, completion_tokens: 8 } });
    const streamed = await ask(turnBody(64, { stream: true, seed: 1, stream_options: { include_usage: true } }));
    expect(streamed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const text = await streamed.text();
    expect(text.match(/^data: /gm)!.length).toBeGreaterThan(4);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const requestId = 'p#1';
    const [asked, again] = events.filter(({ type }) => type === 'turn.requested') as { contextTokens: number }[];
    // Its size is a guess until an answer has said how many tokens there were.
    expect(asked!.contextTokens).toBeGreaterThan(100);
    expect(again!.contextTokens).toBeGreaterThan(100);
    expect(events.filter(({ type }) => !type.startsWith('engine'))).toMatchObject([
      { type: 'program.opened', requestId },
      { type: 'turn.requested', requestId },
      { type: 'turn.finished', requestId, tokens: 8 },
      { type: 'tool.started', requestId },
      { type: 'turn.requested', requestId },
      { type: 'turn.finished', requestId, tokens: 72 },
      { type: 'tool.started', requestId },
    ]);
    expect((await fetch(`${url}/programs/p`, { method: 'DELETE' })).status).toBe(204);
    expect((await fetch(`${url}/programs/p`, { method: 'DELETE' })).status).toBe(404);
    expect(events.at(-1)).toMatchObject({ type: 'program.closed', requestId });
  });

  test('of SGLang tells what was cached; a program may be named in the body, or not at all', async () => {
    const events = await start({ api: 'sglang' });
    const body = { text: 'y'.repeat(800), sampling_params: { max_new_tokens: 4, ignore_eos: true } };
    for (const more of [{ program_id: 'q' }, { program_id: 'q' }, {}]) {
      const { meta_info } = (await (await ask({ ...body, ...more }, { 'x-program-id': '' }, '/generate')).json()) as {
        meta_info: object;
      };
      expect(meta_info).toMatchObject({ prompt_tokens: 200, completion_tokens: 4 });
    }
    const finished = events.filter(({ type }) => type === 'turn.finished');
    expect(finished).toMatchObject([
      { requestId: 'q#1', tokens: 4, cachedTokens: 0 },
      { requestId: 'q#1', tokens: 8, cachedTokens: 192 },
      { requestId: 'unnamed 1#2', tokens: 4 },
    ]);
    expect(types(events).at(-1)).toBe('program.closed');
  });

  test('of a program that has one already is refused, and what is too large', async () => {
    await start({ speed: 0 }, { maxBodyBytes: 1000 });
    const first = ask(turnBody(8));
    await until(() => http.engine.counts.accepted === 1);
    expect((await ask(turnBody(8))).status).toBe(409);
    expect((await ask(turnBody(8, { more: 'z'.repeat(1000) }), { 'x-program-id': 'q' })).status).toBe(413);
    http.running.cluster.advanceTo(1000);
    expect((await first).status).toBe(200);
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
  });

  test.each([
    ['the router', { apiKey: 'secret' }, {}],
    ['the client', {}, { authorization: 'Bearer secret' }],
  ])("carries the engine's key if %s has it", async (_, more, headers) => {
    await start({ apiKey: 'secret' }, more);
    expect((await ask(turnBody(4), headers as Record<string, string>)).status).toBe(200);
    if (!('apiKey' in more)) expect((await ask(turnBody(4))).status, "the engine's own answer").toBe(401);
  });
});

describe('an engine that fails', () => {
  test('before it has said anything: the turn runs on another', async () => {
    const events = await start({ engines: 2, speed: 0 });
    const answer = ask(turnBody(20, { stream: true }));
    await until(() => http.engine.counts.accepted === 1);
    http.running.cluster.fault({ fault: 'crash', engine: 0 });
    await until(() => http.running.cluster.engines[1]!.counts.accepted === 1);
    http.running.cluster.advanceTo(1000);
    const { headers, status } = await answer;
    expect([status, headers.get('x-engine-id')]).toEqual([200, 'engine-1']);
    expect(types(events).filter((one) => one.startsWith('engine') || one.startsWith('turn'))).toEqual([
      'engine.added',
      'engine.added',
      'turn.requested',
      'engine.lost',
      'turn.finished',
    ]);
    expect([metric('retries_total'), metric('engines_up')]).toEqual([1, 1]);
  });

  test('by one connection only: the turn is asked for again', async () => {
    const events = await start({ speed: 0 });
    const answer = ask(turnBody(20));
    await until(() => http.engine.counts.accepted === 1);
    http.running.cluster.fault({ fault: 'reset' });
    await until(() => http.engine.counts.accepted === 2);
    http.running.cluster.advanceTo(1000);
    expect((await answer).status).toBe(200);
    expect(types(events).filter((one) => one === 'turn.requested')).toHaveLength(2);
    expect(types(events)).not.toContain('engine.lost');
  });

  test('in the middle of a stream: the client is told so, and nothing is repeated', async () => {
    const events = await start({ engines: 2, speed: 0 });
    const answer = await Promise.all([
      ask(turnBody(200, { stream: true })),
      until(() => http.engine.counts.accepted === 1).then(() => http.running.cluster.advanceTo(50)),
    ]).then(([one]) => one);
    http.running.cluster.fault({ fault: 'crash', engine: 0 });
    const text = await answer.text();
    expect(text).toMatch(
      /data: \{"error":\{"message":"the engine failed: .*","type":"engine_failed","code":502\}\}\n\n$/,
    );
    expect(text).not.toContain('[DONE]');
    await until(() => types(events).includes('engine.lost'));
    const told = types(events);
    expect(told.indexOf('turn.finished')).toBeLessThan(told.indexOf('engine.lost'));
    expect(http.running.cluster.engines[1]!.counts.accepted).toBe(0);
  });

  test('and comes back is asked again; without any the router says that it is ill', async () => {
    const events = await start({}, { pollSeconds: 0.02, holdSeconds: 0.05 });
    http.running.cluster.fault({ fault: 'crash' });
    await until(() => metric('engines_up') === 0);
    expect((await fetch(`${url}/health`)).status).toBe(503);
    expect((await ask(turnBody(4))).status, 'held back').toBe(503);
    http.running.cluster.fault({ fault: 'restart' });
    await until(() => metric('engines_up') === 1);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect(types(events).filter((one) => one.startsWith('engine'))).toEqual([
      'engine.added',
      'engine.lost',
      'engine.added',
    ]);
  });
});

describe('a client that goes away', () => {
  test('in its turn: the engine stops, and the turn is over', async () => {
    const events = await start({ speed: 0 });
    const leaving = new AbortController();
    const left = fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-program-id': 'p' },
      body: JSON.stringify(turnBody(200)),
      signal: leaving.signal,
    }).catch(() => 'left');
    await until(() => http.engine.counts.accepted === 1);
    leaving.abort();
    expect(await left).toBe('left');
    await until(() => types(events).includes('turn.finished'));
    await until(() => {
      http.running.cluster.advanceTo(http.running.cluster.now + 1);
      return http.engine.counts.abort === 1;
    });
    expect(metric('clients_gone_total')).toBe(1);
  });

  test('while it is held back: it leaves nothing that runs', async () => {
    let [held, isOpen] = [undefined as Event | undefined, false];
    const events = await start({}, { pollSeconds: 0.02 }, (policy) => ({
      send: (event) => {
        if (event.type === 'turn.requested') {
          held = event;
          return [];
        }
        if (!isOpen || held === undefined) return policy.send(event);
        const asked = held;
        held = undefined;
        return policy.send(asked);
      },
    }));
    const leaving = new AbortController();
    const left = fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-program-id': 'p' },
      body: '{}',
      signal: leaving.signal,
    }).catch(() => 'left');
    await until(() => metric('turns_held') === 1);
    leaving.abort();
    expect(await left).toBe('left');
    await until(() => metric('clients_gone_total') === 1);
    expect(types(events)).not.toContain('turn.finished');
    isOpen = true;
    await until(() => types(events).includes('turn.finished'));
    expect([metric('turns_held'), http.engine.counts.accepted]).toEqual([0, 0]);
  });

  test('reads slowly: the engine waits for it, and the router holds what sockets hold', async () => {
    let written = 0;
    const engine = createServer((request, response) => {
      if (request.method === 'GET') return void response.end('');
      const piece = Buffer.alloc(64 * 1024, 97);
      const write = (): void => {
        while (written < 32 * 1024 * 1024) {
          written += piece.length;
          if (!response.write(piece)) return void response.once('drain', write);
        }
        response.end();
      };
      write();
    }).listen(0, '127.0.0.1');
    await once(engine, 'listening');
    http = await MockHttp.start();
    router = new Router({ engines: [`http://127.0.0.1:${(engine.address() as AddressInfo).port}`] }, roundRobin());
    url = await router.start();
    const call = callOf(`${url}/generate`, { method: 'POST', headers: { 'x-program-id': 'p' } });
    call.end('{}');
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    // It stands when nothing is written for a while.
    let before: number;
    do {
      before = written;
      await sleep(200);
    } while (written > before);
    expect(before).toBeLessThan(24 * 1024 * 1024);
    let got = 0;
    for await (const piece of answer) got += (piece as Buffer).length;
    expect(got).toBe(32 * 1024 * 1024);
    engine.closeAllConnections();
    engine.close();
  });
});

test('loads are read as the engines write them', async () => {
  await start({ api: 'vllm', speed: 0 });
  void ask(turnBody(50)).catch(() => {});
  await until(() => http.engine.counts.accepted === 1);
  http.running.cluster.advanceTo(3.5);
  const expected = { kvCapacityTokens: 992, running: 1, waiting: 0, preemptions: 0 };
  expect(vllmLoad((await http.get('/metrics')).body)).toMatchObject({ ...expected, kvUsedTokens: 102 });
  expect(vllmLoad('# nothing')).toBeUndefined();
  await http.running.stop();
  http = await MockHttp.start({ api: 'sglang', speed: 0 });
  const loads = (await http.get('/v1/loads?include=core')).body;
  expect(sglangLoad(loads)).toEqual({ ...expected, kvCapacityTokens: 1000, kvUsedTokens: 0, running: 0 });
  expect(sglangLoad({})).toBeUndefined();
});

test('with the policy: turns stay where their cache is, and wait while there is no room', async () => {
  http = await MockHttp.start(
    { api: 'vllm', engines: 2, speed: 'max', promptTokensDetails: true, contextTokens: 600 },
    { kvCapacityTokens: 600, memoryBoundSeconds: 0.01 },
  );
  const policy = create(programScheduling, { kvCapacityTokens: 600 });
  router = new Router({ engines: http.running.engineUrls }, policy);
  url = await router.start();
  const results = await Promise.all(
    Array.from({ length: 6 }, (_, number) =>
      agent(`a${number}`, { url, turns: 3, systemCharacters: 400, toolCharacters: 100, maxTokens: 10, toolMs: 2 }),
    ),
  );
  for (const { engines } of results) expect(engines).toHaveLength(3);
  expect(results.some(({ cachedTokens }) => cachedTokens > 0)).toBe(true);
  expect([metric('turns_total'), metric('programs'), metric('turns_held')]).toEqual([18, 0, 0]);
  expect(metric('policy_seconds_total')).toBeGreaterThan(0);
});
