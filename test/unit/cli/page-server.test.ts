/** The server of pages: who gets an answer, who does not, and what a browser is told. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PageServer, servePage } from '../../../src/cli/page-server.ts';
import { refuse } from '../../../src/errors.ts';
import { Folders } from '../../support/servers/decision-log.ts';

const folders = new Folders();
let server: PageServer;
let key = '';
let steps = 0;
let gone: AbortSignal | undefined;
const page = { title: 'a page', body: '<p>hello</p>', style: 'p{color:red}', script: 'const a = "</script>";' };
const answers = {
  echo: (query: URLSearchParams) => Object.fromEntries(query),
  wrong: () => refuse('invalid_input', 'seq', 'a whole number', 'x'),
  unknown: () => refuse('unknown_id', 'id', 'an id of the log', 'x'),
  broken: () => {
    throw new Error('a defect');
  },
  later: (_: URLSearchParams, signal: AbortSignal) => {
    gone = signal;
    return new Promise((resolve) => setTimeout(() => resolve('late'), 500));
  },
  *slow() {
    for (steps = 0; steps < 1_000_000; steps += 1) {
      const until = performance.now() + 1;
      while (performance.now() < until);
      yield;
    }
    return 'done';
  },
};
const serve = (more: object = {}) => servePage({ page, answers, port: 0, host: '127.0.0.1', ...more });
beforeAll(async () => {
  server = await serve();
  key = server.url.split('#key=')[1]!;
});
afterAll(async () => {
  await server.close();
  folders.remove();
});

interface Got {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

function get(
  path: string,
  headers: OutgoingHttpHeaders = {},
  { method = 'GET', at = server, body = '' } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request({ port: at.port, host: '127.0.0.1', path, method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
const withKey = (more: OutgoingHttpHeaders = {}) => ({ authorization: `Bearer ${key}`, ...more });
const status = async (...args: Parameters<typeof get>): Promise<number> => (await get(...args)).status;

describe('who gets an answer', () => {
  test('the page is for everybody, what it asks for needs the key of the URL', async () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#key=[\w-]{24}$/);
    expect(await get('/')).toMatchObject({ status: 200, body: expect.stringContaining('<p>hello</p>') });
    expect(await get('/api/echo?a=1&b=%3C', withKey())).toMatchObject({ status: 200, body: '{"a":"1","b":"<"}' });
    for (const authorization of ['', 'Bearer', 'Bearer x', `Basic ${key}`, `Bearer ${key}x`]) {
      const answer = await get('/api/echo', { authorization });
      expect(answer.status, authorization).toBe(401);
      expect(answer.body).not.toContain(key);
    }
    expect(await status(`/api/echo?key=${key}`)).toBe(401);
  });

  test.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example', '192.168.1.9', 'localhost.', 'a@127.0.0.1'])(
    'a foreign name that points here gets nothing: %s',
    async (host) => {
      expect(await status('/', { host })).toBe(421);
      expect(await status('/api/echo', withKey({ host }))).toBe(421);
    },
  );

  test.each(['localhost', 'LOCALHOST:9000', '127.0.0.1', '[::1]:8080'])(
    'this machine has the name %s',
    async (host) => {
      expect(await status('/api/echo', withKey({ host }))).toBe(200);
    },
  );

  test('a foreign page gets nothing, even with the key; a link to the page may stand anywhere', async () => {
    const host = `127.0.0.1:${server.port}`;
    const own = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
    expect(await status('/api/echo', withKey(own))).toBe(200);
    for (const origin of ['http://evil.example', 'null', `https://${host}`, `http://localhost:${server.port}`])
      expect(await status('/api/echo', withKey({ host, origin })), origin).toBe(403);
    for (const site of ['cross-site', 'same-site']) {
      expect(await status('/api/echo', withKey({ 'sec-fetch-site': site }))).toBe(403);
      expect(await status('/', { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' })).toBe(403);
      expect(await status('/', { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' })).toBe(200);
    }
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'])('nothing can be changed: %s', async (method) => {
    expect(await status('/api/echo', withKey(), { method })).toBe(405);
  });

  test('a body is not read', async () => {
    expect(await status('/api/echo', withKey({ 'content-length': 5 }), { body: 'hello' })).toBe(405);
    expect(await status('/api/echo', withKey({ 'transfer-encoding': 'chunked' }), { body: 'hello' })).toBe(405);
  });

  test.each(['/api/', '/api/nothing', '/api/constructor', '/api/__proto__', '/index.html', '/../etc/passwd', '//'])(
    'there is nothing else: %s',
    async (path) => {
      expect(await status(path, withKey())).toBe(404);
    },
  );
});

test('a browser runs nothing but the script of the page, and loads nothing', async () => {
  const { headers, body } = await get('/');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|\*|http/);
  expect(policy.match(/'sha256-[\w+/=]{44}'/g)).toHaveLength(2);
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  expect(body.match(/<\/script>/g)).toHaveLength(1);
});

test('an error says what was expected, and leaves the server running', async () => {
  expect(await get('/api/wrong', withKey())).toMatchObject({
    status: 400,
    body: '{"error":"seq: expected a whole number, got \\"x\\""}',
  });
  expect(await status('/api/unknown', withKey())).toBe(404);
  expect(await get('/api/broken', withKey())).toMatchObject({ status: 500, body: '{"error":"a defect"}' });
  expect(await status('/api/echo', withKey())).toBe(200);
});

describe('limits', () => {
  test('long heads, too many connections, too many questions', async () => {
    const small = await serve({ limits: { headBytes: 2000, connections: 2, waiting: 0 } });
    const of = { at: small };
    const authorization = `Bearer ${small.url.split('#key=')[1]}`;
    try {
      expect(await status(`/?${'x'.repeat(3000)}`, {}, of)).toBe(431);
      expect(await status('/', { cookie: 'x'.repeat(3000) }, of)).toBe(431);
      expect(await status('/api/echo', { authorization }, of)).toBe(503);
      const held = [1, 2].map(() => connect(small.port, '127.0.0.1'));
      await Promise.all(held.map((one) => new Promise((resolve) => one.once('connect', resolve))));
      await expect(get('/', {}, of)).rejects.toThrow();
      for (const one of held) one.destroy();
      await expect.poll(() => status('/nothing', {}, of).catch(() => 0)).toBe(404);
    } finally {
      await small.close();
    }
  });

  test('who asks for more before the answer is cut off; who is refused again and again waits for it', async () => {
    const strict = await serve({ limits: { refusals: 1 } });
    try {
      const socket = connect(strict.port, '127.0.0.1').on('error', () => undefined);
      const asked = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
      socket.write(asked.repeat(1000));
      let got = 0;
      await new Promise((resolve) => socket.on('data', (bytes) => (got += bytes.length)).once('close', resolve));
      expect(got).toBeLessThan(asked.length * 100);
      const refused = () => status('/nothing', {}, { at: strict });
      expect(await refused()).toBe(404);
      const begun = performance.now();
      expect(await Promise.all([refused(), refused()])).toEqual([404, 404]);
      expect(performance.now() - begun).toBeGreaterThan(200);
    } finally {
      await strict.close();
    }
  });

  test('answers take no more than their share of the time, one after the other', async () => {
    let [spent, under, most] = [0, 0, 0];
    const busy = (milliseconds: number): void => {
      const until = performance.now() + milliseconds;
      while (performance.now() < until);
      spent += milliseconds;
    };
    const modest = await serve({
      limits: { share: 0.2, turnMilliseconds: 3 },
      answers: {
        at_once: () => busy(5),
        *slow() {
          most = Math.max(most, (under += 1));
          for (let step = 0; step < 5; step += 1) yield busy(2);
          under -= 1;
        },
      },
    });
    try {
      const headers = { authorization: `Bearer ${modest.url.split('#key=')[1]}` };
      const begun = performance.now();
      const all = ['at_once', 'slow', 'slow', 'at_once', 'slow'];
      await Promise.all(all.map((one) => get(`/api/${one}`, headers, { at: modest })));
      expect(spent / (performance.now() - begun)).toBeLessThan(0.3);
      expect(most).toBe(1);
    } finally {
      await modest.close();
    }
  });

  test('a request that does not end is cut off', async () => {
    const quick = await serve({ limits: { milliseconds: 200 } });
    try {
      const socket = connect(quick.port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
      await new Promise((resolve) => socket.once('close', resolve).resume());
    } finally {
      await quick.close();
    }
  });

  test('a long search holds nobody up, and ends when nobody waits for it', async () => {
    const sent = request({ port: server.port, host: '127.0.0.1', path: '/api/slow', headers: withKey(), agent: false });
    sent.on('error', () => undefined);
    sent.end();
    await expect.poll(() => steps).toBeGreaterThan(0);
    expect(await status('/api/echo', withKey())).toBe(200);
    sent.destroy();
    await expect.poll(() => status('/api/echo', withKey())).toBe(200);
    const [before] = [steps, await new Promise((resolve) => setTimeout(resolve, 100))];
    const after = steps;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([steps - after, after - before < 100]).toEqual([0, true]);
  });
});

test('what a thread works out may take longer than a reader may, and is told when nobody waits for it', async () => {
  const hasty = await serve({ limits: { milliseconds: 200 } });
  const headers = { authorization: `Bearer ${hasty.url.split('#key=')[1]!}` };
  try {
    const waits = get('/api/later', headers, { at: hasty });
    await expect.poll(() => gone?.aborted).toBe(false);
    // Others are answered meanwhile.
    expect(await status('/api/echo', headers, { at: hasty })).toBe(200);
    expect(await waits).toMatchObject({ status: 200, body: '"late"' });
    const sent = request({ port: hasty.port, host: '127.0.0.1', path: '/api/later', headers, agent: false });
    sent.on('error', () => undefined);
    sent.end();
    const before = gone;
    await expect.poll(() => gone !== before).toBe(true);
    expect(gone?.aborted).toBe(false);
    sent.destroy();
    await expect.poll(() => gone?.aborted).toBe(true);
  } finally {
    await hasty.close();
  }
});

describe('an address that others can reach', () => {
  test('needs a token file', async () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.evil.example'])
      await expect(serve({ host })).rejects.toThrow('--token-file beside --host');
  });

  test('asks for the token, which is not in the URL, and takes names that no foreign page has', async () => {
    const folder = folders.next();
    mkdirSync(folder);
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'a token of the user\n', { mode: 0o600 });
    const open = await serve({ host: '0.0.0.0', tokenFile });
    const ask = (host: string, token = 'a token of the user') =>
      status('/api/echo', { authorization: `Bearer ${token}`, host }, { at: open });
    try {
      expect(open.url).toBe(`http://0.0.0.0:${open.port}/`);
      expect(await ask('192.168.1.9:80')).toBe(200);
      expect(await ask('localhost')).toBe(200);
      expect(await ask('localhost', 'a token')).toBe(401);
      expect(await ask('evil.example')).toBe(421);
    } finally {
      await open.close();
    }
    writeFileSync(tokenFile, 'short');
    await expect(serve({ host: '0.0.0.0', tokenFile })).rejects.toThrow('at least 16 characters');
  });

  test('a port in use is an error of the system', async () => {
    await expect(serve({ port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
