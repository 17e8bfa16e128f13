/** The cases of the wire, over a server in this process, over standard input and output, and over a Unix socket. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { policyErrorCodes } from '../../src/errors.ts';
import { errorCodes, methods } from '../../src/rpc/index.ts';
import { root } from '../support/command-line/process.ts';
import {
  type CaseFile,
  difference,
  type Playground,
  play,
  type ServerSetting,
  type WireCase,
} from '../support/wire/cases.ts';
import { inProcess, overSocket, overStdio, type Running } from '../support/wire/grounds.ts';

const cases = join(root, 'test/wire/cases');
const files = readdirSync(cases)
  .sort()
  .map((name): [string, CaseFile] => [name.replace('.json', ''), JSON.parse(readFileSync(join(cases, name), 'utf8'))]);
const folder = mkdtempSync(join(tmpdir(), 'rollflex-wire-'));
const running: Running[] = [];
const kept = <T extends Running>(one: T): T => {
  running.push(one);
  return one;
};
afterAll(async () => {
  await Promise.all(running.map((one) => one.end()));
  rmSync(folder, { recursive: true });
});

const connectionsOf = ({ steps }: WireCase): number => new Set(steps.map((one) => one.on ?? 'main')).size;
const endsIt = ({ steps }: WireCase): boolean => steps.some((one) => one.end || one.closed);
/** Servers that cases with the same setting may share. */
const settings = new Map<string, { setting: ServerSetting; cases: [string, WireCase][] }>();
for (const [name, { server = {}, cases }] of files) {
  const key = JSON.stringify(server);
  const group = settings.get(key) ?? { setting: server, cases: [] };
  settings.set(key, group);
  // A case that needs a server of which nobody has asked anything comes first.
  for (const one of cases) group.cases[one.fresh ? 'unshift' : 'push']([`${name}: ${one.name}`, one]);
}

describe.each(files)('in process: %s', (_, { server = {}, cases }) => {
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_, one) => play(one, inProcess(server)));
});

describe('rollflex serve --socket', () => {
  for (const [index, { setting, cases }] of [...settings.values()].entries()) {
    let shared: Running;
    beforeAll(async () => {
      shared = kept(await overSocket(setting, folder, `shared-${index}`));
    });
    test.each(cases)('%s', (_, one) => play(one, shared));
  }
});

/** Cases that leave the connection open use the same one, one after the other. */
function withoutItsEnd(ground: Playground): Playground {
  const peer = ground.connect();
  return {
    pass: (seconds) => ground.pass(seconds),
    connect: async () => ({ ...(await peer), end: () => undefined, closed: () => Promise.resolve(), lasts: true }),
  };
}

describe('rollflex serve --stdio', () => {
  for (const { setting, cases } of settings.values()) {
    if (setting.token !== undefined) continue;
    const single = cases.filter(([, one]) => connectionsOf(one) === 1);
    let shared: Playground;
    beforeAll(() => {
      shared = withoutItsEnd(kept(overStdio(setting, folder)));
    });
    test.each(single.filter(([, one]) => !endsIt(one)))('%s', (_, one) => play(one, shared));
    test.each(single.filter(([, one]) => endsIt(one)))('%s', (_, one) => play(one, kept(overStdio(setting, folder))));
  }
});

describe('the cases', () => {
  const all = files.flatMap(([, { cases }]) => cases);
  const text = JSON.stringify(all);

  test('have every method, every code of JSON-RPC, and every code of a refusal that a server can give', () => {
    for (const { name } of methods) expect(text, name).toContain(`"call":"${name}"`);
    for (const code of Object.values(errorCodes)) expect(text).toContain(`"code":${code}`);
    // Nothing in a server is used after it was closed.
    for (const code of policyErrorCodes) if (code !== 'closed') expect(text).toContain(`"code":"${code}"`);
  });

  test('say of a public client what it can do: one connection, and calls of its methods', () => {
    const calls = ['session.open', 'session.send', 'session.snapshot', 'session.why', 'session.close', 'plan'];
    const forClients = all.filter((one) => one.api);
    expect(forClients.length).toBeGreaterThan(40);
    for (const { name, steps } of forClients) {
      for (const step of steps) expect(calls, name).toContain(step.call);
      for (const step of steps) expect(step.on ?? 'main', name).toBe('main');
    }
  });

  test('may share a server: none uses the sessions of another, and one at most must come first', () => {
    for (const { cases } of settings.values()) {
      expect(cases.filter(([, one]) => one.fresh).length).toBeLessThanOrEqual(1);
      const seen = new Map<unknown, string>();
      for (const [, { name, steps }] of cases) {
        const opened = steps.filter((one) => one.call === 'session.open' && one.result !== undefined);
        for (const { params } of opened) {
          const { session } = params as { session?: string };
          if (session !== undefined && (seen.get(session) ?? name) !== name) throw new Error(`${session}: ${name}`);
          seen.set(session, name);
        }
      }
    }
  });

  test('can fail', async () => {
    const none = new Map();
    expect(difference({ a: 1 }, { a: 2 }, none)).toMatch(/^.a: expected 1, got 2/);
    expect(difference({ a: 1 }, { a: 1, b: 2 }, none)).toMatch(/^.b: not expected/);
    expect(difference([1], [1, 2], none)).toMatch(/expected/);
    expect(difference({ $any: 'integer' }, 1.5, none)).toMatch(/expected/);
    expect(difference({ $begins: '4, ' }, '5, or', none)).toMatch(/expected/);
    expect(difference({ $has: { a: 1 } }, { b: 1 }, none)).toMatch(/expected 1/);
    expect(difference(null, {}, none)).toMatch(/expected/);
    const wrong: WireCase = { name: 'wrong', steps: [{ call: 'session.list', result: { sessions: [1] } }] };
    await expect(play(wrong, inProcess({}))).rejects.toThrow(/wrong, step 0/);
    const surplus: WireCase = { name: 'surplus', steps: [{ send: { jsonrpc: '2.0', id: 1, method: 'x' } }] };
    await expect(play(surplus, inProcess({}))).rejects.toThrow(/too many/);
  });
});
