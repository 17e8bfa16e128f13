import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createLongPromptQueue, recordEvents } from '../../../src/index.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rollflex-cli-'));

function run(...args: string[]) {
  const command = [join(root, 'node_modules/tsx/dist/cli.mjs'), join(root, 'src/cli/main.ts'), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
}

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const small = [
  '--prompts-per-round',
  '4',
  '--responses-per-prompt',
  '2',
  '--engines',
  '2',
  '--steps',
  '5',
  '--seeds',
  '2',
];
const lengths = file(
  'lengths.jsonl',
  Array.from({ length: 30 }, (_, index) =>
    JSON.stringify({ responses: [{ tokens: 50 + index }, { tokens: 900 }] }),
  ).join('\n'),
);

describe('rollflex', () => {
  test('simulates a trace of the user, and writes report and Perfetto trace', () => {
    const { status, stdout } = run(
      'simulate',
      lengths,
      ...small,
      '--json',
      '--report',
      'out.html',
      '--perfetto',
      'out.json',
    );
    expect(status).toBe(0);
    const [comparison] = JSON.parse(stdout).comparisons;
    expect(comparison.schedulers.map((one: { scheduler: string }) => one.scheduler)).toEqual([
      'synchronous',
      'tail-batching',
    ]);
    expect(comparison.schedulers[1].runs[0].trainedPrompts).toBe(20);
    expect(readFileSync(join(folder, 'out.html'), 'utf8')).toContain('</html>');
    const { traceEvents } = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8'));
    expect(new Set(traceEvents.map((one: { ph: string }) => one.ph))).toEqual(new Set(['M', 'X', 'C']));
    for (const event of traceEvents) if (event.ph === 'X') expect(event.dur).toBeGreaterThanOrEqual(0);
  });

  test('the same seed gives the same output', () => {
    const args = ['simulate', lengths, ...small, '--json', '--no-report'];
    expect(run(...args).stdout).toBe(run(...args).stdout);
  });

  test.each([
    ['an unknown option', ['simulate', '--etta', '2'], 'etta'],
    ['a factor below 1', ['simulate', '--eta', '0.5'], 'from 1 to 16'],
    ['a count that is no whole number', ['simulate', '--steps', '1.5'], 'whole number'],
    ['an unknown command', ['simulat'], 'simulate'],
    ['an unknown preset', ['simulate', '--preset', 'x'], 'qwen2.5-7b-8k'],
    ['a file that is not there', ['simulate', 'nowhere.jsonl'], 'nowhere.jsonl'],
    [
      'a broken line',
      ['simulate', file('broken.jsonl', '{"responses":[{"tokens":5}]}\n{"responses":[]}\n')],
      'broken.jsonl:2',
    ],
    ['a line that is no JSON', ['simulate', file('text.jsonl', 'hello\n')], 'text.jsonl:1'],
    ['an unknown schema', ['schema', 'nothing'], 'unknown_id'],
    ['a log that is none', ['replay', file('no.jsonl', '{}\n')], 'snapshot'],
  ])('exit code 2 for %s', (_name, args, message) => {
    const { status, stderr } = run(...args);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  test('replays a log, and exits with 1 when a decision differs', () => {
    const lines: string[] = [];
    const queue = createLongPromptQueue({ promptsPerRound: 2 });
    recordEvents(queue, (line) => lines.push(line));
    queue.send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 });
    expect(run('replay', file('log.jsonl', lines.join('\n')))).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('all as logged'),
    });
    const changed = lines.join('\n').replace('"count":3', '"count":4');
    expect(run('replay', file('changed.jsonl', changed))).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('line 2 differs'),
    });
  });

  test('help teaches, and schema prints JSON Schema', () => {
    expect(run('simulate', '--help').stdout).toContain('What the columns mean');
    const schema = JSON.parse(run('schema', 'tail-batching', '--json').stdout);
    expect(schema).toMatchObject({ additionalProperties: false, properties: { order: { default: 'fifo' } } });
  });
});
