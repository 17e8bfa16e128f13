/** Many clients at once, for a moment; bench/rpc/soak.ts does it for minutes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listenOn, RpcServer, tokenFromFile } from '../../../src/rpc/index.ts';
import { Fleet } from '../../support/servers/soak.ts';
import { playedInProcess } from '../../support/servers/soak-host.ts';
import { bytesFor, slowReader, withoutToken } from '../../support/servers/soak-trouble.ts';
import { overSocket } from '../../support/wire/grounds.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-soak-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('every session is told what the same policy tells in process, and a slow reader holds up nobody', async () => {
  const limits = { stallSeconds: 0.5, maxOutputBytes: 1 << 20 };
  const served = await overSocket({ limits }, folder, 'soak');
  const fleet = new Fleet();
  try {
    const path = join(folder, 'soak.sock');
    await fleet.open(path, 8, 12);
    const slow = await slowReader(path);
    await fleet.rounds(20);
    const until = Date.now() + 1500;
    await fleet.run(() => Date.now() > until);
    expect(await slow.read()).toBeLessThan(slow.due);
    const { sessions, decisions } = fleet.check();
    expect(sessions).toBe(96);
    expect(decisions).toBeGreaterThan(2000);
    expect(fleet.retries).toBeGreaterThan(50);
    expect(playedInProcess('client-0-session-0', 9)).not.toBe(playedInProcess('client-0-session-1', 9));
  } finally {
    fleet.close();
    await served.end();
  }
});

test('without the token nothing comes back', async () => {
  const token = 'a-token-of-some-length';
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 });
  const server = new RpcServer({ isToken: tokenFromFile(join(folder, 'token')) });
  const listening = await listenOn(server, { port: 0 });
  for (const first of withoutToken(token)) expect(await bytesFor(listening.port!, first), first).toBe(0);
  expect([server.connections, server.sessions.size]).toEqual([0, 0]);
  await listening.close();
});
