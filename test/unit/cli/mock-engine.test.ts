/** `rollflex mock-engine` as a user meets it: addresses, exit codes, and what is refused. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { rollflex as runInProcess } from '../../support/command-line/in-process.ts';
import { entry, rollflex, root } from '../../support/command-line/process.ts';
import { ownLengths } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-mock-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const lengths = file('lengths.jsonl', ownLengths());

let child: ChildProcess | undefined;
afterEach(() => void child?.kill('SIGKILL'));

/** Starts the command, and gives what it says first. */
async function start(...args: string[]): Promise<string> {
  child = spawn(process.execPath, [...entry, 'mock-engine', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  return line;
}

async function stop(signal: 'SIGINT' | 'SIGTERM'): Promise<unknown> {
  const exit = once(child!, 'exit');
  child!.kill(signal);
  return (await exit)[0];
}

describe('mock-engine', () => {
  test('says where it listens, answers there, and leaves with 0 at a signal', async () => {
    const line = await start(lengths, '--engines', '2', '--speed', 'max', '--settle-ms', '0', '--json');
    const { api, url, engineUrls } = JSON.parse(line) as { api: string; url: string; engineUrls: string[] };
    expect([api, engineUrls.length]).toEqual(['sglang', 2]);
    const body = JSON.stringify({ text: 'x', sampling_params: { max_new_tokens: 7, ignore_eos: true } });
    for (const address of [url, ...engineUrls]) {
      const answer = await fetch(`${address}/generate`, { method: 'POST', body });
      expect(await answer.json()).toMatchObject({ meta_info: { completion_tokens: 7 } });
    }
    const { engines } = (await (await fetch(`${url}/stats`)).json()) as { engines: { accepted: number }[] };
    expect(engines.map(({ accepted }) => accepted)).toEqual([2, 1]);
    expect(await stop('SIGTERM')).toBe(0);
  });

  test('has a line for each address, and leaves in the middle of a stream', async () => {
    const faults = file('faults.json', '[{"at":1e6,"fault":"crash"}]');
    const line = await start('--api', 'vllm', '--speed', '0', '--faults', faults);
    const [, url] = /^engine 0 {2}(http:\S+) {2}\(vllm\)$/.exec(line)!;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'x' }], stream: true });
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await stop('SIGINT')).toBe(0);
    await expect(answer.text()).rejects.toThrow();
  });

  test('refuses what does not fit with 2, and says what would', async () => {
    const cases: [string[], RegExp][] = [
      [['--speed', 'fast'], /Expected a number from 0 to 1e9, or max\./],
      [['--context', '999999999'], /--context: expected at most the KV cache of \d+ tokens/],
      [['--faults', file('a.json', '[{"fault":"crush"}]')], /a\.json:1\.\[0\]\.fault: .*one of crash/],
      [['--faults', file('b.json', '{')], /a JSON list of faults/],
      [['--faults', file('c.json', '{}')], /c\.json: expected an array/],
      [['--faults', join(folder, 'none.json')], /none\.json: there is no such file/],
      [[join(folder, 'none.jsonl')], /none\.jsonl: there is no such file/],
    ];
    for (const [args, message] of cases) {
      const { code, out, err } = await runInProcess('mock-engine', ...args);
      expect([code, out]).toEqual([2, '']);
      expect(err).toMatch(message);
    }
  });

  test('exits with 1 where it cannot listen', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { code, err } = await rollflex('mock-engine', '--control-port', `${port}`);
    taken.close();
    expect([code, err]).toEqual([1, `rollflex: 127.0.0.1:${port}: another program listens there already\n`]);
  });
});
