/** The router in front of several engines, faults as connections feel them, and the clock. */
import { afterEach, describe, expect, test } from 'vitest';
import { type Answer, chunksIn, MockHttp } from '../../support/mock-engine/http.ts';

let http: MockHttp;
const start = async (...given: Parameters<typeof MockHttp.start>): Promise<MockHttp> =>
  (http = await MockHttp.start(...given));
afterEach(() => http.running.stop());

const generate = (rid: string, text: string, url?: string, more: object = {}) =>
  http.send(
    'POST',
    '/generate',
    { rid, text, sampling_params: { max_new_tokens: 500, sampling_seed: 0 }, ...more },
    url,
  );
const fault = (body: object) => http.post('/fault', body, http.running.url);
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

describe('the router', () => {
  test('lists workers, takes them out and in again', async () => {
    await start({ engines: 3 });
    const { url, engineUrls } = http.running;
    const { body } = await http.get('/workers', url);
    expect(body).toMatchObject({ total: 3, stats: { prefill_count: 0, decode_count: 0, regular_count: 3 } });
    expect(body.workers.map((one: Answer) => one.url)).toEqual(engineUrls);
    expect(body.workers[1]).toMatchObject({ id: 'engine-1', is_healthy: true, load: 0, worker_type: 'regular' });
    const remove = await http.send('DELETE', '/workers/engine-1', undefined, url).reply;
    expect([remove.status, remove.body.status]).toEqual([202, 'accepted']);
    expect((await http.get('/list_workers', url)).body).toEqual({ urls: [engineUrls[0], engineUrls[2]] });
    expect((await http.get('/workers/engine-1', url)).status).toBe(404);
    expect((await http.post('/workers', { url: engineUrls[1] }, url)).status).toBe(202);
    expect((await http.get(`/workers/${encodeURIComponent(engineUrls[1]!)}`, url)).body.id).toBe('engine-1');
    expect((await http.post('/workers', { url: 'http://elsewhere' }, url)).status).toBe(404);
  });

  test('passes requests on to the engine with the fewest, and says when there is none', async () => {
    await start({ engines: 2 });
    const { url, cluster } = http.running;
    for (const rid of ['a', 'b', 'c', 'd']) {
      void generate(rid, '50', url);
      await http.until(() => cluster.engines.some((one) => one.requestIds.includes(rid)));
    }
    expect(cluster.engines.map(({ requestIds }) => requestIds)).toEqual([
      ['a', 'c'],
      ['b', 'd'],
    ]);
    expect((await http.post('/abort_request', { abort_all: true }, url)).status, 'aborts are for each engine').toBe(
      404,
    );
    expect((await http.get('/get_loads', url)).body.workers.map((one: Answer) => one.load)).toEqual([2, 2]);
    await fault({ fault: 'crash' });
    expect((await generate('e', '5', url).reply).status).toBe(503);
    expect((await http.get('/readiness', url)).status).toBe(503);
    expect((await http.get('/workers', url)).body.workers.map((one: Answer) => one.is_healthy)).toEqual([false, false]);
  });
});

describe('faults', () => {
  test('a crash resets connections and refuses new ones, until the restart', async () => {
    await start({ engines: 2 });
    const [dead, alive] = http.running.engineUrls as [string, string];
    const streamed = generate('a', '50', dead, { stream: true });
    const whole = generate('b', '50', dead);
    const routed = generate('c', '5', alive);
    await http.have(3);
    await http.advance(3);
    await fault({ fault: 'crash', engine: 0, restartAfterSeconds: 10 });
    expect(codeOf(await streamed.reply.catch((error) => error))).toBe('ECONNRESET');
    expect(codeOf(await whole.reply.catch((error) => error))).toBe('ECONNRESET');
    expect(codeOf(await http.get('/health', dead).catch((error) => error))).toBe('ECONNREFUSED');
    await http.advance(10);
    expect((await routed.reply).body.meta_info.completion_tokens).toBe(5);
    let status = 0;
    for (let tries = 0; status !== 200 && tries < 200; tries += 1) {
      status = await http.get('/health', dead).then(
        (reply) => reply.status,
        () => 0,
      );
    }
    expect(status).toBe(200);
    expect((await http.get('/stats', http.running.url)).body.engines[0]).toMatchObject({
      lost: 2,
      lostTokens: 6,
      inFlight: 0,
    });
  });

  test('a reset breaks the connections that it names; the engine goes on until it finds out', async () => {
    await start({ disconnectSeconds: 2 });
    const broken = generate('x1', '50', undefined, { stream: true });
    const whole = generate('y1', '9');
    await http.have(2);
    await http.advance(3);
    await fault({ fault: 'reset', rid: 'x' });
    expect(codeOf(await broken.reply.catch((error) => error))).toBe('ECONNRESET');
    await http.until(() => Number.isFinite(http.running.cluster.agenda.nextAt()));
    expect(http.engine.load().running).toBe(2);
    await http.advance(10);
    expect((await whole.reply).body.meta_info.completion_tokens).toBe(9);
    expect(http.engine.counts).toMatchObject({ abort: 1, abortedTokens: 5, stop: 1 });
  });

  test('one that hangs answers nothing, and everything once it goes on', async () => {
    await start();
    const before = generate('a', '5');
    await http.have(1);
    await http.advance(2);
    await fault({ fault: 'hang' });
    let answered = 0;
    const health = http.get('/health').then(() => (answered += 1));
    const later = generate('b', '3');
    void later.reply.then(() => (answered += 1));
    await http.advance(50);
    expect([answered, http.engine.counts.accepted]).toEqual([0, 1]);
    await fault({ fault: 'resume' });
    await health;
    await http.have(2);
    await http.advance(10);
    expect((await before.reply).body.meta_info.e2e_latency).toBe(55);
    expect((await later.reply).body.meta_info.e2e_latency).toBe(3);
  });

  test('refusals and ignored aborts are counted', async () => {
    await start();
    await fault({ fault: 'refuse', count: 2, status: 500 });
    expect((await generate('a', '5').reply).status).toBe(500);
    const { status, body } = await generate('b', '5').reply;
    expect([status, body.error.message]).toEqual([500, 'the engine refuses, as it was told to']);
    const third = generate('c', '5');
    await http.have(1);
    await fault({ fault: 'ignore-aborts', count: 1 });
    await http.post('/abort_request', { abort_all: true });
    await http.advance(10);
    expect((await third.reply).body.meta_info.finish_reason.type).toBe('stop');
  });

  test('may be planned; what is no fault is refused with what would be one', async () => {
    await start({ engines: 2 });
    expect((await fault({ fault: 'slow', factor: 3, at: 8 })).body).toEqual({ fault: 'slow', at: 8 });
    const { reply } = generate('a', '10');
    await http.have(1);
    await http.advance(20);
    expect((await reply).body.meta_info.e2e_latency).toBe(14);
    const refused = async (body: object) => (await fault(body)).body.error.message;
    expect(await refused({ fault: 'crush' })).toMatch(/one of crash, restart, reset/);
    expect(await refused({ fault: 'hang', engine: 2 })).toMatch(/a number from 0 to 1/);
    expect(await refused({ fault: 'hang', second: 2 })).toMatch(/no other keys/);
    expect(await refused({ fault: 'slow', factor: 0 })).toMatch(/factor/);
  });
});

describe('the clock', () => {
  test('stands, is moved by hand, and runs at any speed', async () => {
    await start();
    const clock = async () => (await http.get('/clock', http.running.url)).body;
    const { reply } = generate('a', '40');
    await http.have(1);
    expect(await clock()).toEqual({ seconds: 0, speed: 0, nextEventAt: 0 });
    expect((await http.post('/clock', { advanceTo: 12.5 }, http.running.url)).body).toEqual({
      seconds: 12.5,
      speed: 0,
      nextEventAt: 40,
    });
    await http.post('/clock', { speed: 200 }, http.running.url);
    expect((await http.post('/clock', { advanceSeconds: 1 }, http.running.url)).status).toBe(400);
    const { body, headers } = await reply;
    expect([body.meta_info.e2e_latency, headers['x-simulated-seconds']]).toEqual([40, '40']);
    await http.post('/clock', { speed: 'max' }, http.running.url);
    const fast = (await generate('b', '300').reply).body.meta_info;
    expect(fast.e2e_latency).toBe(300);
    expect((await http.post('/clock', { speed: 'fast' }, http.running.url)).status).toBe(400);
  });

  test('runs as fast as the wall clock says', async () => {
    await start({ speed: 100 });
    const startedAt = performance.now();
    await generate('a', '30').reply;
    // 30 seconds, a hundred times as fast.
    expect(performance.now() - startedAt).toBeGreaterThan(295);
  });

  test('two runs in which the same is asked come out the same, however their connections are read', async () => {
    const run = async (order: readonly number[]) => {
      await start({ engines: 1, streamInterval: 2 }, { maxRunningSequences: 3, secondsPerContextToken: 0.01 });
      const replies = order.map(
        (index) => generate(`r${index}`, `${10 + index}`, undefined, { stream: index % 2 === 0 }).reply,
      );
      await http.have(order.length);
      await http.advance(200);
      const answers = (await Promise.all(replies)).map(({ body }) =>
        typeof body === 'string' ? chunksIn(body).at(-1) : body,
      );
      await http.running.stop();
      return answers.sort((a, b) => (a.meta_info.id < b.meta_info.id ? -1 : 1));
    };
    const forwards = await run([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await run([7, 3, 1, 5, 0, 2, 6, 4])).toEqual(forwards);
  });
});
