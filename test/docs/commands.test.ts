/** Every command of the documentation works on the reader's own files, and prints what stands below it. */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { documentedSnippets } from '../../scripts/site/snippets.ts';
import { scale } from '../support/basics/runs.ts';
import { rollflexIn } from '../support/command-line/in-process.ts';
import { asUsersModule, commandOf, type Done, root } from '../support/command-line/process.ts';
import { ownMeasurements, writeOwnFiles } from '../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-docs-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeOwnFiles(folder);
// A policy of the reader's own, in a project with a loader of TypeScript.
asUsersModule(folder, join(root, 'examples/16-own-policy/longest-first.ts'));
copyFileSync(join(root, 'examples/16-own-policy/longest-first.ts'), join(folder, 'longest-first.ts'));
mkdirSync(join(folder, 'node_modules'), { recursive: true });
symlinkSync(join(root, 'node_modules/tsx'), join(folder, 'node_modules/tsx'));

/** Where each command stands first; one that is shown on several pages is run once. */
const places = new Map<string, string>();
for (const { file, line, language, code } of documentedSnippets()) {
  if (language !== 'sh') continue;
  for (const one of code.replaceAll('\\\n', ' ').split('\n')) {
    const command = one
      .replace(/\s+#.*$/, '')
      .trim()
      .replace(/^npx (?=rollflex )/, '')
      .replace(/\s+/g, ' ');
    if (command !== '' && !command.startsWith('#') && !places.has(command)) places.set(command, `${file}:${line}`);
  }
}
const commands = [...places].map(([command, place]) => [place, command] as const);
const isOurs = (command: string): boolean => command.startsWith('rollflex ');

const printed = new Map<string, string>();
/** A server, or a terminal, which ends with its input, has a process of its own. */
const served = (parts: readonly string[]): Promise<Done> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, commandOf(parts), { cwd: folder }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
    child.stdin!.end();
  });
/** Threads change nothing, and would compile all that they run anew. */
const threaded = ['advise', 'sweep'];
const rollflexWith = (parts: readonly string[]): Promise<Done> => {
  if (parts[0] === 'serve' || parts.includes('--terminal')) return served(parts);
  const own = threaded.includes(parts[0]!) ? ['--workers', '1'] : [];
  // Searches of the same job share their runs.
  if (parts[0] === 'sweep' && !parts.includes('--resume')) own.push('--resume', 'searched.jsonl');
  // Where a page names no batch or steps, those of the job are meant: the same on a larger scale, and for half a minute on a core.
  if (parts[0] === 'simulate' && parts.includes('--policies')) own.push('--prompts-per-round', '8', '--steps', '4');
  if (parts[0] === 'pools' && parts.includes('--task')) own.push('--seeds', '1');
  if (parts[0] === 'vlm' && !parts.includes('--steps')) own.push('--steps', '1');
  if (parts[0] === 'vlm' && !parts.includes('--batch')) own.push('--gpus', '8', '--batch', '16');
  return rollflexIn(folder, ...parts, ...own);
};

const pageAt = (path: string): string => readFileSync(join(root, path), 'utf8');
const shownIn = (page: string) =>
  [...page.matchAll(/```sh\n(rollflex [^\n]*)\n```\n\n```text\n(.*?)\n```/gs)].map(
    ([, command, output]) => [command!, output!] as const,
  );
const cli = shownIn(pageAt('docs/cli.md'));
/** What is said of searches is shown by docs/cli.md, too. */
const yourJob = shownIn(pageAt('docs/your-job.md')).filter(([command]) => !/ (advise|sweep) /.test(command));
const tail = shownIn(pageAt('docs/which-tail-policy.md'));
const explain = shownIn(pageAt('docs/explain.md'));
const withOutput = new Set([...cli, ...yourJob, ...tail, ...explain].map(([command]) => command));
/** Another product than the npm package is given. */
const isOther = process.env.ROLLFLEX_PRODUCT !== undefined;
/**
 * A search takes ten seconds: all come with `npm run test:all`. Of those whose output is shown, another product makes the sweeps,
 * and the npm package the rest.
 */
const isForAll = (command: string): boolean =>
  / (sweep|advise) /.test(command) && scale < 1 && !(withOutput.has(command) && / sweep /.test(command) === isOther);

/** What docs/cli.md says that only the npm package has; a product that is given may be another. */
const needsNpm = (parts: readonly string[]): boolean => isOther && parts.includes('--state-dir');

/** Commands run one after the other: what one of them takes too long for, the next would wait for. */
const timeout = 300_000;

describe('what is shown', () => {
  const shown = commands.filter(([, command]) => isOurs(command));
  test.each(shown)('%s: %s', { timeout }, async (_, command) => {
    const [, ...parts] = command.split(' ');
    if (parts.at(-1) !== '&' && !isForAll(command)) {
      const run = await rollflexWith(parts);
      if (needsNpm(parts) && run.code !== 0) return expect(run.err).toContain('npm install classic-level');
      expect(run.code, run.err).toBe(0);
      printed.set(command, run.out);
      return;
    }
    // It runs on beside the reader's own program, or for long: here its options are looked up instead.
    const help = await rollflexWith([parts[0]!, '--help']);
    expect(help.code, help.err).toBe(0);
    for (const option of parts.filter((one) => one.startsWith('--'))) expect(help.out).toContain(` ${option} `);
  });

  // What CI itself runs, or the reader's own tools: it must at least be there.
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const ofNpm = ['ci', 'install', 'test', 'start'];
  test.each(commands.filter(([, command]) => !isOurs(command)))('%s: %s', (_, command) => {
    for (const part of command.split(' && ')) {
      // Settings of the environment stand before the command.
      const [name, ...parts] = part.replace(/^([A-Z_]+=\S+ )+/, '').split(/\s+/) as [string, ...string[]];
      if (name === 'npm')
        expect(parts[0] === 'run' ? Object.keys(scripts) : ofNpm).toContain(parts.filter((one) => one !== 'run')[0]);
      else if (name === 'npx') expect(existsSync(join(root, parts[1]!)), part).toBe(parts[0] === 'tsx');
      else if (name === 'python' && parts[0]!.includes('/')) expect(existsSync(join(root, parts[0]!)), part).toBe(true);
      else expect(['git', 'cd', 'pip', 'uv', 'python', 'vllm']).toContain(name);
    }
  });
});

describe('what is printed, but for its numbers', () => {
  const names = (shown: typeof cli) => shown.map(([command]) => command.split(' ')[1]);
  /** Lines without their numbers, which may move with the cost model, and padding; a sentence of advice wraps by its numbers. */
  const shape = (text: string): string[] =>
    text
      .replace(/\n {9}(?=\S)/g, ' ')
      .split('\n')
      .map((line) => line.replace(/[\d., ]+/g, ' ').trim());

  test('every command is shown with its output', () => {
    expect(names(cli)).toEqual([
      'advise',
      'simulate',
      'import',
      'sweep',
      'pools',
      'vlm',
      'plan',
      'schema',
      'schema',
      'explain',
      'debug',
      'what-if',
      'replay',
    ]);
  });

  test('which tail policy is shown by a sweep', () => expect(names(tail)).toEqual(['sweep']));

  test('why it is stuck is shown for a session and a prompt, event by event, of five incidents and of a slow run', () =>
    expect(names(explain)).toEqual(['explain', 'explain', 'debug', ...Array(7).fill('explain')]));

  test('the guide goes from a dump to a table, with the measurements that it shows', () => {
    expect(names(yourJob)).toEqual(['simulate', 'import', 'simulate', 'simulate', 'simulate']);
    expect(JSON.parse(/```json\n(.*?)\n```/s.exec(pageAt('docs/your-job.md'))![1]!)).toEqual(
      JSON.parse(ownMeasurements()),
    );
  });

  const shown = [...cli, ...yourJob, ...tail, ...explain].filter(([command]) => !isForAll(command));
  test.each(shown)('%s', (command, output) => {
    const lines = shape(printed.get(command)!.trimEnd());
    // What stands between two … lines is there in one piece and in this order.
    let from = 0;
    for (const part of output.split('\n…').map((one) => shape(one.replace(/^\n/, '')).join('\n'))) {
      const at = lines.slice(from).join('\n').indexOf(part);
      expect(at, part).toBeGreaterThanOrEqual(0);
      from += lines.slice(from).join('\n').slice(0, at).split('\n').length - 1;
    }
    if (!output.includes('…')) expect(lines).toEqual(shape(output));
  });
});
