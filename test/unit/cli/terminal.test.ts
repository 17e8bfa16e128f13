/** Ctrl-C and Ctrl-Z in a terminal that has a size, and a shell in it. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { entry, root } from '../../support/command-line/process.ts';
import { ownLengths } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-terminal-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'lengths.jsonl'), ownLengths());
if (process.platform !== 'win32') execFileSync('mkfifo', [join(folder, 'pipe.jsonl')]);

const hasPython = process.platform !== 'win32' && spawnSync('python3', ['-c', 'import pty']).status === 0;
if (!hasPython) console.warn('Ctrl-C and Ctrl-Z are not tested: there is no python3 with a pty.');

/** What comes takes a moment, more on a machine that has other work; what would not come takes minutes. */
const soon = 120;
const [interrupt, suspend] = ['\u0003', '\u001a'];
type Step = readonly ['send', string] | readonly ['wait', number] | readonly ['expect', string, number];
const line = (text: string): Step => ['send', `${text}\n`];
const expectSoon = (pattern: string): Step => ['expect', pattern, soon];
const code = [expectSoon('ready> '), line('echo "code=$?"'), expectSoon('code=[0-9]+')];

/** What was seen up to the end of each pattern, and the seconds until then. */
const inTerminal = (...steps: Step[]) => inTerminalOf(120, ...steps);

/** The same with so many columns. */
async function inTerminalOf(columns: number, ...steps: Step[]): Promise<{ seen: string; seconds: number }[]> {
  const command = [process.execPath, ...entry].map((one) => `"${one}"`).join(' ');
  const begin = line(`cd "${folder}"; rollflex() { ${command} "$@"; }; clear`);
  const script = join(root, 'test/support/command-line/terminal.py');
  // What is asked for around the tests is not asked for in the terminal.
  const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...env } = process.env;
  const seen = promisify(execFile)('python3', [script, `${columns}`], { env });
  seen.child.stdin!.end(JSON.stringify([begin, ...steps]));
  return JSON.parse((await seen).stdout);
}

test.skipIf(!hasPython).concurrent('simulate: Ctrl-Z suspends it, fg goes on, and Ctrl-C ends it', async () => {
  const [started, stopped, again, prompt, ended] = await inTerminal(
    line('rollflex simulate lengths.jsonl --prompts-per-round 8 --steps 10 --seeds 1000 --no-report'),
    expectSoon('simulating .* [0-9]+%'),
    ['send', suspend],
    expectSoon('Stopped.*ready> '),
    line('fg'),
    expectSoon('simulating [^%]* [1-9][0-9]*%'),
    ['send', interrupt],
    ...code,
  );
  expect([started, stopped, again].every((one) => one !== undefined)).toBe(true);
  expect(prompt!.seconds).toBeLessThan(soon / 2);
  // What there is, is printed.
  const said = stripVTControlCharacters(prompt!.seen);
  expect(said).toMatch(/Partial, since it was stopped: [1-9]\d* of 1000 seeds\.\r\n.*tail batching.* as fast \(/s);
  expect(said).toMatch(/rollflex: stopped after [1-9]\d* of 3000 runs: the result is partial, and no file was written/);
  expect(ended!.seen).toMatch(/code=130$/);
});

test.skipIf(!hasPython).concurrent('what-if: Ctrl-C prints the answer by the seeds so far', async () => {
  const log = join(root, 'test/zoo/logs/verl-7155.jsonl');
  const stoppedAfter = (seconds: number) =>
    inTerminal(
      line(`rollflex what-if ${log} --set promptSpeculation=1.5 --seeds 1000`),
      expectSoon('simulating what'),
      ['wait', seconds],
      ['send', interrupt],
      ...code,
    );
  let [, prompt, ended] = await stoppedAfter(1);
  // The first seed takes that long on a machine that is busy.
  if (prompt!.seen.includes('before the first result')) [, prompt, ended] = await stoppedAfter(6);
  const said = stripVTControlCharacters(prompt!.seen);
  const [, seeds] = /Partial, since it was stopped: ([1-9]\d*) of 1000 seeds\.\r\n/.exec(said) ?? [];
  expect(said).toContain(`rollflex: stopped after ${seeds} of 1000 seeds: the result is partial`);
  expect(said).toMatch(/with the change +\d/);
  expect(ended!.seen).toMatch(/code=130$/);
});

// One run takes much longer than a second, and nothing else is done meanwhile.
const long = '--workers 1 --prompts-per-round 250 --responses-per-prompt 8 --steps 500';

test
  .skipIf(!hasPython)
  .concurrent('sweep: Ctrl-C ends it in the middle of a run, and it says how to go on', async () => {
    const [, prompt, ended] = await inTerminal(
      line(`rollflex sweep lengths.jsonl ${long} --resume runs.jsonl`),
      expectSoon('sweeping lengths'),
      ['wait', 0.3],
      ['send', interrupt],
      ...code,
    );
    expect(prompt!.seconds).toBeLessThan(soon / 2);
    expect(prompt!.seen).toMatch(
      /rollflex: stopped: the same command, with --resume runs\.jsonl, goes on from here\r\n/,
    );
    expect(ended!.seen).toMatch(/code=130$/);
    expect(readFileSync(join(folder, 'runs.jsonl'), 'utf8')).toMatch(/^\{"format":"rollflex-sweep".*\}\n$/s);
  });

test.skipIf(!hasPython).concurrent('import: the same while it reads', async () => {
  const row = JSON.stringify({ input: 'a', output: 'b', score: 1, step: 1 });
  const [, , , prompt, ended] = await inTerminal(
    line(`yes '${row}' > pipe.jsonl &`),
    line('rollflex import pipe.jsonl --output out.jsonl --tokens-per-character 0.3'),
    expectSoon('reading pipe.jsonl: line'),
    ['send', suspend],
    expectSoon('Stopped.*ready> '),
    line('fg'),
    expectSoon('reading pipe.jsonl: line'),
    ['send', interrupt],
    ...code,
    line('kill %1'),
  );
  expect(prompt!.seconds).toBeLessThan(soon / 2);
  expect(ended!.seen).toMatch(/code=130$/);
  expect(existsSync(join(folder, 'out.jsonl'))).toBe(false);
});

/** What stays on the screen: without colours, and without what the spinner has written over. */
function linesOf(seen: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of a terminal begin with one
  const plain = seen.replace(/\u001b\[[0-9?;]*[A-Za-z]/g, '\r');
  return plain.split('\n').map((one) =>
    one
      .split('\r')
      .filter((part) => part !== '')
      .join('')
      .trimEnd(),
  );
}

const quick = '--prompts-per-round 4 --responses-per-prompt 4 --steps 5 --seeds 2';
const bar = [expectSoon('simulating █*░+ [0-9]+%'), expectSoon('simulating █+░* [5-9][0-9]%')];
const told = [
  line(`FORCE_COLOR=0 rollflex simulate lengths.jsonl ${quick} --ablation --no-report --verbose`),
  ...bar,
  expectSoon('whatever\\s+their\\s+length\\..*ready> '),
];
const short = [
  line(`rollflex simulate lengths.jsonl ${quick} --ablation --report r.html`),
  ...bar,
  expectSoon('prints every column and note.*ready> '),
];

test.skipIf(!hasPython).concurrent.each([
  [80, [...told, ...short]],
  [120, told],
] as const)(
  'simulate --ablation with %d columns: the bar moves, and nothing wraps inside a word',
  async (columns, steps) => {
    const [first, later, whole, ...more] = await inTerminalOf(columns, ...steps);
    expect([first, later].every((one) => one !== undefined)).toBe(true);
    // A gain is green.
    if (more.length > 0) expect(more.at(-1)!.seen).toContain('\u001b[32m');
    const said = linesOf(whole!.seen).filter((one) => !/simulating|ready>|rollflex/.test(one));
    expect(said.length).toBeGreaterThan(20);
    for (const one of said) expect(one.length, one).toBeLessThanOrEqual(columns);
    // The terminal has wrapped nothing, so that each line ends where the command has ended it: at a word.
    const words = new Set(whole!.seen.match(/[A-Za-z]+/g));
    for (const word of ['responses', 'synchronous', 'baseline', 'groups']) expect(words).toContain(word);
  },
);
