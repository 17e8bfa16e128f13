/** The page of a running job beside clients that mean harm: what they get, and that the host of the job goes on meanwhile. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LineClient } from '../../support/servers/line-client.ts';
import { LiveServer } from '../../support/servers/live-server.ts';

let server: LiveServer;
let host: LineClient;
const tail = { policy: 'tail-batching', config: { promptsPerRound: 2, responsesPerPrompt: 2 } };
beforeAll(async () => {
  server = await LiveServer.start();
  host = await server.connect();
  await host.call('session.open', { session: 'job', ...tail });
});
afterAll(() => server.stop());

const status = async (...args: Parameters<LiveServer['get']>): Promise<number> => (await server.get(...args)).status;
/** Events of the host, one a call. */
async function work(calls: number): Promise<void> {
  for (let at = 0; at < calls; at += 1)
    await host.call('session.send', { session: 'job', events: [{ type: 'engine.added', engineId: `e${at % 4}` }] });
}

describe('what is asked wrongly', () => {
  test.each([
    ['__proto__', 404],
    ['constructor', 404],
    ['toString', 404],
    ['', 404],
    ['job\0', 404],
    ['JOB', 404],
  ])('there is no such session: %j', async (session, expected) => {
    for (const name of ['session', 'timeline', 'requests', 'why'])
      expect(await status(`/api/${name}?session=${encodeURIComponent(session)}`), name).toBe(expected);
  });

  test.each(['level=-1', 'level=1e9', 'level=99', 'level=', 'level=__proto__', 'since=-1', 'since=NaN'])(
    'there is no such timeline: %s',
    async (query) => expect(await status(`/api/timeline?session=job&${query}`)).toBe(400),
  );

  test('ids that nothing has, and what is too long', async () => {
    for (const id of ['__proto__', 'constructor', '\0', '<b>', '%'])
      expect(await status(`/api/why?session=job&id=${encodeURIComponent(id)}`), id).toBe(404);
    expect(await status(`/api/why?session=job&what=__proto__&id=x`)).toBe(404);
    expect(await status(`/api/why?session=${'s'.repeat(3000)}`)).toBe(400);
    expect(await status(`/api/job?after=${'r'.repeat(9000)}`)).toBe(431);
    expect(await status('/api/job?after=%')).toBe(200);
  });

  test.each(['/api/__proto__', '/api/constructor', '/api/../api/job/', '/..%2f..%2fetc/passwd', '/api/job%00'])(
    'there is no such answer: %s',
    async (path) => expect(await status(path)).toBe(404),
  );

  test('a foreign name, a foreign page, another method, no key', async () => {
    expect(await status('/api/job', { host: 'evil.example' })).toBe(421);
    expect(await status('/api/job', { origin: 'http://evil.example' })).toBe(403);
    expect(await status('/api/job', { 'sec-fetch-site': 'cross-site' })).toBe(403);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await status('/api/job', {}, { method }), method).toBe(405);
    expect(await status('/api/job', { 'content-length': 2 }, { body: '{}' })).toBe(405);
    for (const authorization of ['', 'Bearer', `Bearer ${server.key}x`])
      expect(await status('/api/job', { authorization })).toBe(401);
    expect((await server.get('/', { authorization: '' })).body).not.toContain(server.key);
  });
});

test('the host goes on beside floods, pipelines, readers that do not read, and heads without end', async () => {
  const ask = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
  const manners: ((socket: Socket) => void)[] = [
    (socket) => socket.on('data', () => socket.write(ask('/api/session?session=job'))).write(ask('/api/job')),
    (socket) => socket.write(ask('/').repeat(200)),
    (socket) => socket.pause().write(ask('/')),
    (socket) => socket.write('GET / HTTP/1.1\r\nX: '),
    (socket) => socket.write('\0\x16\x03\x01 no HTTP at all\r\n\r\n'),
    (socket) => socket.on('data', () => socket.write(ask('/nothing'))).write(ask('/nothing')),
  ];
  const open = new Set<Socket>();
  let [isOver, count] = [false, 0];
  const attack = (): void => {
    if (isOver) return;
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    open.add(socket);
    // Who is cut off comes again.
    socket.on('close', () => {
      open.delete(socket);
      setTimeout(attack, 10);
    });
    manners[(count += 1) % manners.length]!(socket);
  };
  for (let at = 0; at < 60; at += 1) attack();
  await work(500);
  isOver = true;
  for (const one of open) one.destroy();
  expect(count).toBeGreaterThanOrEqual(60);
  await expect.poll(() => status('/api/session?session=job').catch(() => 0)).toBe(200);
  expect((await host.call('session.list', {})).sessions).toHaveLength(1);
});
