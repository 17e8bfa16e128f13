/** What users get wrong: no stack trace, the exit code, and a message that says where it is and what was meant. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isPolicyError } from '../../../src/index.ts';
import { registry } from '../../../src/registry.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { root } from '../../support/command-line/process.ts';
import { type Reply, rpc } from '../../support/servers/clocked.ts';
import { wrongCalls, wrongCommands, wrongFiles, wrongLines } from './wrong-inputs.data.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-wrong-'));
afterAll(() => rmSync(folder, { recursive: true }));
for (const [name, text] of Object.entries(wrongFiles)) {
  if (text === null) mkdirSync(join(folder, name));
  else writeFileSync(join(folder, name), text);
}
chmodSync(join(folder, 'short-token'), 0o600);
const placed = (text: string): string => text.replaceAll('%', folder);

function expectForgiving(message: string, says: readonly string[]): void {
  for (const one of says) expect(message).toContain(placed(one));
  // No stack trace, no code of the system, no digits of floating point.
  expect(message).not.toMatch(/^ +at |\bE[A-Z]{4,}\b|\d\.\d{13}/m);
}

test('there are a hundred and more', () => {
  expect(wrongCommands.length).toBeGreaterThanOrEqual(100);
});

describe('command lines', () => {
  // They are wrong where the Python package is installed, too, which reads pickles.
  beforeAll(() => void vi.stubEnv('PYTHONPATH', join(root, 'python', 'src')));
  afterAll(() => vi.unstubAllEnvs());
  const cases = wrongCommands.map(([line, code, ...says]) => ({ line, code, says }));
  test.each(cases)('rollflex $line', async ({ line, code, says }) => {
    const [command = '', ...args] = placed(line).split(' ');
    const writes = ['simulate', 'vlm', 'pools'].includes(command) && !line.includes('-report');
    const { err, ...done } = await rollflex(
      ...(command === '' ? [] : [command]),
      ...(writes && !line.includes('--report') ? ['--no-report'] : []),
      ...args,
    );
    expectForgiving(err, says);
    expect(done).toEqual({ code, out: '' });
  });
});

describe('lines to a server', () => {
  test.each(wrongLines.map(([line, code, ...says]) => ({ line, code, says })))(
    '$line',
    async ({ line, code, says }) => {
      const { client } = rpc();
      await client.call('session.open', {
        policy: 'tail-batching',
        config: { promptsPerRound: 2, responsesPerPrompt: 2 },
      });
      const [reply] = (await client.line(line)) as Reply[];
      expect(reply!.error!.code).toBe(code);
      expectForgiving(reply!.error!.message, says);
      expect(JSON.stringify(reply)).not.toMatch(/\n +at /);
    },
  );
});

describe('calls of the library', () => {
  const settings = { promptsPerRound: 2, responsesPerPrompt: 2 };
  const make: Record<string, (id: never, given: never) => unknown> = {
    create: registry.create,
    plan: registry.plan,
    send: (id, given) => (registry.create(id, settings as never) as { send: (event: unknown) => unknown }).send(given),
  };
  const cases = wrongCalls.map(([[what, id, given], code, ...says]) => ({ what, id, given, code, says }));
  test.each(cases)('$what $id $given', ({ what, id, given, code, says }) => {
    let refusal: unknown;
    try {
      make[what]!(id as never, given as never);
    } catch (error) {
      refusal = error;
    }
    if (!isPolicyError(refusal)) throw refusal;
    expect(refusal.code).toBe(code);
    expectForgiving(refusal.message, says);
  });
});
