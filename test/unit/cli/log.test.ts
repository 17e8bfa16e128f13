/** A decision log from end to end: `serve --log-dir`, then `replay`, `shadow` and `simulate --from-log` on what it wrote. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { logFilesIn } from '../../../src/logs/write/files.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { entry, rollflexOn, root } from '../../support/command-line/process.ts';
import { logOfOneRound, ownLengths } from '../../support/documents/own-files.ts';
import { completed, openingEvents, tail } from '../../support/servers/clocked.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-cli-log-'));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});
const path = (name: string): string => join(folder, name);
const log = path('log');

let calls = 0;
const call = (method: string, params: object): string => {
  calls += 1;
  return `${JSON.stringify({ jsonrpc: '2.0', id: calls, method, params })}\n`;
};
const send = (session: string, ...events: object[]): string => call('session.send', { session, events });

/** A job with tail batching, and a policy of timeouts beside a host with one timeout for all. */
function conversation(): string {
  const ids = ['a', 'b', 'c'].flatMap((prompt) => [0, 1, 2].map((index) => `${prompt}/${index}#0`));
  const ends = ids.slice(0, 4).map((id, at) => completed(id, at + 1));
  const aborted = ids.slice(4).map((requestId) => ({ type: 'request.aborted', at: 5, requestId, tokens: 8 }));
  const run = (runId: string, outcome: string, seconds: number) =>
    send(
      'timeouts',
      { type: 'sandbox.requested', at: 1, runId, testCaseId: 'case' },
      { type: 'host.decided', at: 1, decision: { type: 'sandbox.run', runId, timeoutSeconds: 30 } },
      { type: 'sandbox.finished', at: 2, runId, outcome, seconds },
    );
  return [
    call('session.open', { ...tail, session: 'job' }),
    send('job', ...openingEvents(), ...ends),
    ...aborted.map((one) => send('job', one)),
    call('session.open', { policy: 'sandbox-timeout', config: {}, session: 'timeouts', shadow: true }),
    run('first', 'correct', 1),
    run('second', 'timeout', 30),
  ].join('');
}

beforeAll(async () => {
  const { code, err } = await rollflexOn(conversation(), 'serve', '--stdio', '--log-dir', log);
  expect([code, err]).toEqual([0, '']);
});

/** The log with its only file changed. */
function changed(name: string, edit: (text: string) => string): string {
  const [file] = logFilesIn(log) as [string];
  mkdirSync(path(name));
  writeFileSync(join(path(name), file), edit(readFileSync(join(log, file), 'utf8')));
  return path(name);
}

test('serve --log-dir: for its owner only', () => {
  expect(statSync(log).mode & 0o777).toBe(0o700);
  expect(logFilesIn(log)).toEqual(['decisions-00000001.jsonl']);
  expect(statSync(join(log, 'decisions-00000001.jsonl')).mode & 0o777).toBe(0o600);
});

describe('replay', () => {
  test('of all sessions, of one, of a file, as JSON', async () => {
    const [all, one, file, json] = await Promise.all([
      rollflex('replay', log),
      rollflex('replay', log, '--session', 'timeouts'),
      rollflex('replay', join(log, 'decisions-00000001.jsonl')),
      rollflex('replay', log, '--json'),
    ]);
    expect(all.code).toBe(0);
    expect(all.out).toMatch(
      /^job, tail-batching: 11 events, \d+ decisions, all as logged\ntimeouts, sandbox-timeout: 4 events, 4 decisions, all as logged\n$/,
    );
    expect([one.code, one.out.split('\n')[0]]).toEqual([0, all.out.split('\n')[1]]);
    expect(file.out).toBe(all.out);
    expect(JSON.parse(json.out)).toMatchObject({
      sessions: [{ session: 'job', events: 11, gaps: [] }, { session: 'timeouts' }],
      droppedLines: 0,
      tornFiles: 0,
    });
  });

  test('a decision that differs is shown, with exit code 1', async () => {
    const { code, out } = await rollflex(
      'replay',
      changed('differs', (text) => text.replace('"known":0', '"known":1')),
    );
    expect(code).toBe(1);
    expect(out).toMatch(
      /^job, tail-batching: decisions-00000001\.jsonl:3, event 1, differs, at \{"type":"round\.requested"/,
    );
    expect(out).toContain('timeouts, sandbox-timeout: 4 events');
  });

  test('what is missing is named', async () => {
    const without = changed('gap', (text) =>
      text
        .split('\n')
        .filter((_, at) => at !== 3)
        .join('\n')
        .slice(0, -30),
    );
    const { code, out } = await rollflex('replay', without);
    expect(code).toBe(0);
    expect(out).toContain('event 2 is not in the log (before decisions-00000001.jsonl:4)');
    expect(out).toContain('events could not be replayed: no snapshot stands before them');
    expect(out).toContain('1 file ends in the middle of a line');
  });
});

test('simulate --from-log: an estimate, and it says so', async () => {
  const quick = [
    '--prompts-per-round',
    '2',
    '--responses-per-prompt',
    '2',
    '--steps',
    '2',
    '--seeds',
    '2',
    '--no-report',
  ];
  const [all, one, json] = await Promise.all([
    rollflex('simulate', '--from-log', log, ...quick),
    rollflex('simulate', '--from-log', log, '--session', 'job', ...quick),
    rollflex('simulate', '--from-log', log, ...quick, '--json'),
  ]);
  expect([all.code, all.err]).toEqual([0, '']);
  expect(all.out).toMatch(
    /^Assumed: .*\n\nestimate from a log: 4 responses complete, 5 aborted and drawn beyond their abort/,
  );
  // Of one session from its beginning, prompts come in their order, and its policy with its settings is beside the others.
  expect(one.out.replace(/\s+/g, ' ')).toContain('left out; its prompts in their order');
  expect([all.out, one.out].map((out) => out.includes('as logged'))).toEqual([false, true]);
  expect(JSON.parse(json.out).comparisons[0].workload.source).toMatch(/^estimate from a log: /);
});

test('shadow: what differed, why, and what it is worth', async () => {
  const [{ code, out }, json] = await Promise.all([
    rollflex('shadow', log),
    rollflex('shadow', log, '--session', 'timeouts', '--json'),
  ]);
  expect(code).toBe(0);
  expect(out).toMatch(/^timeouts, sandbox-timeout: 4 events\n/);
  expect(out).toMatch(/^sandbox\.run +1 +1 +0 +0$/m);
  expect(out).toContain(
    'second: host timeoutSeconds 30; policy timeoutSeconds 4\n  anchored: anchorSeconds 1, timeoutFactor 4',
  );
  expect(out).toContain('- 1 doomed runs stopped earlier: 26.0 s saved (83.9%).');
  expect(out).toContain('- 0 of 1 correct runs cut');
  expect(JSON.parse(json.out).sessions).toMatchObject([{ worth: { savedSeconds: 26, correctCut: 0 } }]);
});

test('a server that is killed: what it has written replays, and the next one begins a file', async () => {
  const directory = path('killed');
  for (let run = 0; run < 2; run += 1) {
    const child = spawn(process.execPath, [...entry, 'serve', '--stdio', '--log-dir', directory], { cwd: root });
    children.push(child);
    let answers = 0;
    child.stdout.on('data', (text: Buffer) => {
      answers += text.toString().split('\n').length - 1;
    });
    const file = join(directory, `decisions-0000000${run + 1}.jsonl`);
    const until = async (holds: () => boolean): Promise<void> => {
      while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
    };
    const round = (at: number): string =>
      send('q', { type: 'round.requested', at, roundId: `r${at}`, weightVersion: 0 });
    const rounds = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, index) => round(from + index)).join('');
    const open = { policy: 'long-prompt-queue', config: { promptsPerRound: 2 }, session: 'q' };
    child.stdin.write(call('session.open', open) + rounds(0, 100));
    await until(() => answers > 100 && existsSync(file) && statSync(file).size > 0);
    child.stdin.write(rounds(100, 900));
    await until(() => answers > 300);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
  expect(logFilesIn(directory)).toHaveLength(2);
  const { code, out } = await rollflex('replay', directory, '--json');
  expect(code).toBe(0);
  const [{ events, gaps, unplayed }] = JSON.parse(out).sessions;
  // A log is no journal: of the last moment before a crash something may be missing.
  expect([gaps, unplayed]).toEqual([[], 0]);
  expect(events).toBeGreaterThan(2);
  expect(events).toBeLessThanOrEqual(1800);
});

describe('wrong use, with exit code 2', () => {
  const others = path('others');
  beforeAll(() => {
    mkdirSync(others);
    mkdirSync(path('empty'));
    writeFileSync(path('lengths.jsonl'), ownLengths());
    writeFileSync(path('run.jsonl'), logOfOneRound());
    copyFileSync(path('run.jsonl'), join(others, 'decisions-00000001.jsonl'));
  });
  const stdio = ['serve', '--stdio'];
  test.each<[string, () => string[], RegExp]>([
    [
      'a file as a log directory',
      () => [...stdio, '--log-dir', path('run.jsonl')],
      /--log-dir: expected a directory that can be written/,
    ],
    ['a size without a directory', () => [...stdio, '--log-files', '3'], /--log-dir beside them/],
    ['files that are too small', () => [...stdio, '--log-dir', log, '--log-file-bytes', '9'], /from 65536 to/],
    ['a folder without a log', () => ['replay', path('empty')], /a folder with a decision log/],
    ['a session that is not there', () => ['replay', log, '--session', 'no'], /session: expected a session of the log/],
    [
      'a session of an event log',
      () => ['replay', path('run.jsonl'), '--session', 'x'],
      /--session: expected a decision log/,
    ],
    ['simulate with a session, without a log', () => ['simulate', '--session', 'x'], /--session: expected --from-log/],
    [
      'simulate from a session without lengths',
      () => ['simulate', '--from-log', log, '--session', 'timeouts'],
      /a completed response/,
    ],
    ['shadow of a session that decides', () => ['shadow', log, '--session', 'job'], /opened with shadow: true/],
    ['shadow of another log', () => ['shadow', path('run.jsonl')], /a decision log of a server/],
    ['a file of the same name that is none', () => ['shadow', others], /a decision log of a server/],
    ['shadow of nothing', () => ['shadow'], /missing required argument 'log'/],
    ['shadow of no path', () => ['shadow', path('nowhere')], /nowhere: there is no such file or folder/],
  ])('%s', async (_, args, reason) => {
    const { code, out, err } = await rollflex(...args());
    expect(err).toMatch(reason);
    expect(err).not.toMatch(/^ +at .*\.ts/m);
    expect([code, out]).toEqual([2, '']);
  });
});
