/** What commands write: never over what they read, whole or not at all, and after what they print. */
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { writeWhole } from '../../../src/cli/files/written.ts';
import { runImport } from '../../../src/cli/import/run.ts';
import { runPools } from '../../../src/cli/pools/run.ts';
import { runSimulate, type SimulateOptions } from '../../../src/cli/simulate/run.ts';
import { runSweep } from '../../../src/cli/sweep/run.ts';
import { Interrupted, interruptible } from '../../../src/cli/terminal/interrupt.ts';
import { runVlm } from '../../../src/cli/vlm/run.ts';
import { captured } from '../../support/command-line/in-process.ts';
import { logOfOneRound, ownLengths } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-written-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => void vi.restoreAllMocks());
const path = (name: string): string => join(folder, name);
const put = (name: string, text: string): string => {
  writeFileSync(path(name), text);
  return path(name);
};

const trace = put('trace.jsonl', ownLengths());
const link = path('link.html');
symlinkSync(trace, link);
const twin = path('twin.html');
linkSync(trace, twin);
const around = join(folder, '..', folder.split('/').at(-1)!, 'trace.jsonl');
const dump = put('dump.jsonl', `${JSON.stringify({ input: 'a', output: 'b', score: 1, step: 1 })}\n`);
const tokenizer = path('tokenizer.json');
writeFileSync(tokenizer, readFileSync(new URL('../../fixtures/import/tokenizer.json', import.meta.url)));
const rollouts = [
  { trace: 'trace.jsonl', seconds: 10 },
  { prompts: [{ responses: [90] }], seconds: 3 },
];
const measured = put('measured.json', JSON.stringify({ rollouts }));
const log = put('run.jsonl', logOfOneRound());

const usual = { resampling: 'copula', correlation: 0.3, seed: 1, seeds: 1, report: false } as const;
const small = { ...usual, promptsPerRound: 2, responsesPerPrompt: 2, engines: 1, steps: 1 };
const simulated = { ...small, preset: 'qwen2.5-7b-8k', eta: 1.25 } satisfies SimulateOptions;
const swept = { ...small, job: 'synchronous', effort: 'fast' } as const;
const simulate = (options: object, ...paths: string[]) => runSimulate(paths, { ...simulated, ...options });

test.each<[string, () => Promise<unknown>]>([
  ['a report over the trace', () => simulate({ report: trace }, trace)],
  ['a report over the trace, by another path', () => simulate({ report: around }, trace)],
  ['a report over the trace, through a link', () => simulate({ report: link }, trace)],
  ['a report over the trace, by another name', () => simulate({ report: twin }, trace)],
  ['a report over what a link leads to', () => simulate({ report: trace }, link)],
  ['a Perfetto trace over the trace', () => simulate({ perfetto: trace }, trace)],
  ['a Perfetto trace over the calibration', () => simulate({ perfetto: measured, calibrate: measured }, trace)],
  ['a report over a trace of the calibration', () => simulate({ report: trace, calibrate: measured })],
  ['a report over the log', () => simulate({ report: log, fromLog: log })],
  [
    'a report in the place of the Perfetto trace',
    () => simulate({ report: path('new'), perfetto: path('new') }, trace),
  ],
  ['runs over the trace', () => runSweep([trace], { ...swept, resume: trace })],
  ['runs over the calibration', () => runSweep([trace], { ...swept, resume: measured, calibrate: measured })],
  ['a report of pools over the trace', () => runPools([trace], { ...usual, groups: [2], report: link } as never)],
  ['a report of vlm over the sequences', () => runVlm(trace, { ...usual, report: link } as never)],
  ['a trace over the dump', () => runImport([dump], { output: dump })],
  ['a trace over the tokenizer', () => runImport([dump], { output: tokenizer, tokenizer: folder })],
])('is refused before any work: %s', async (_, run) => {
  const files = readdirSync(folder);
  const before = files.map((name) => readFileSync(path(name), 'utf8'));
  const { code, out, err } = await captured(run);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(/^rollflex: --\w+: expected (a file that is not read|another file than that of --report), got /);
  expect(readdirSync(folder)).toEqual(files);
  expect(files.map((name) => readFileSync(path(name), 'utf8'))).toEqual(before);
});

describe.skipIf(!existsSync('/dev/full'))('a full disk', () => {
  const full = '/dev/full was not written: the disk is full';

  test('takes nothing from a reader: the table comes, and an error of one line', async () => {
    const files = { perfetto: '/dev/full' };
    const { code, out, err } = await captured(() => simulate(files, trace));
    expect([code, err]).toEqual([1, `rollflex: ${full}\n`]);
    expect(out).toMatch(/tail batching .*\n.*tail batching: .* oracle \d/s);
    const json = await captured(() => simulate({ ...files, json: true }, trace));
    expect([json.code, json.err]).toEqual([1, `rollflex: ${full}\n`]);
    expect(JSON.parse(json.out).comparisons).toHaveLength(1);
  });

  test('ends an import with a line, too', async () => {
    const options = { output: '/dev/full', tokensPerCharacter: 1, from: 'verl' };
    const imported = await captured(() => runImport([dump], options));
    expect([imported.code, imported.err]).toEqual([1, `rollflex: ${full}\n`]);
    expect(imported.out).toMatch(/^read +verl: 1 file/);
  });
});

describe('a file', () => {
  const kept = mkdtempSync(join(tmpdir(), 'rollflex-kept-'));
  afterAll(() => rmSync(kept, { recursive: true }));
  const file = join(kept, 'report.html');

  test('has what it had where writing fails or Ctrl-C comes, and nothing is left beside it', () => {
    writeFileSync(file, 'before');
    const broken = function* () {
      yield 'half';
      throw new Error('broken');
    };
    expect(() => writeWhole(file, broken())).toThrow('broken');
    const interrupted = function* () {
      yield 'half';
      process.kill(process.pid, 'SIGINT');
      for (;;) yield '';
    };
    expect(() => writeWhole(file, interrupted())).toThrow(Interrupted);
    expect([readFileSync(file, 'utf8'), readdirSync(kept)]).toEqual(['before', ['report.html']]);
  });

  test('is whole when SIGTERM comes while it is written; then the process ends', async () => {
    await turn();
    const listeners = process.listenerCount('SIGTERM');
    const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
    const terminated = function* () {
      yield 'one ';
      process.kill(process.pid, 'SIGTERM');
      yield 'whole';
    };
    writeWhole(file, terminated());
    expect([readFileSync(file, 'utf8'), readdirSync(kept)]).toEqual(['one whole', ['report.html']]);
    await turn();
    await turn();
    expect(exit.mock.calls).toEqual([[143]]);
    expect(process.listenerCount('SIGTERM')).toBe(listeners);
  });

  test('keeps its mode, and a link to it stays one', () => {
    chmodSync(file, 0o640);
    const other = join(kept, 'link');
    symlinkSync(file, other);
    writeWhole(other, ['by the link']);
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['by the link', 0o640]);
    const nowhere = join(kept, 'nowhere');
    symlinkSync(join(kept, 'target'), nowhere);
    writeWhole(nowhere, ['new']);
    expect(readFileSync(join(kept, 'target'), 'utf8')).toBe('new');
    mkdirSync(join(kept, 'folder'));
    linkSync(file, join(kept, 'folder', 'twin'));
    writeWhole(file, ['both']);
    expect(readFileSync(join(kept, 'folder', 'twin'), 'utf8')).toBe('both');
  });
});

test('work that Ctrl-C does not end gives its result, or its own error', () => {
  const listeners = process.listenerCount('SIGINT');
  expect(interruptible(() => interruptible(() => 1) + 1)).toBe(2);
  const error = new RangeError('own');
  const failing = (): never => {
    throw error;
  };
  expect(() => interruptible(failing)).toThrow(error);
  expect(process.listenerCount('SIGINT')).toBe(listeners);
});
