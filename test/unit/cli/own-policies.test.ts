/** Policies of the user on the command line: compared, swept, put into a log, and refused with what to do. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import { tailBatchingScheduler } from '../../../src/sim/colocated/scheduler.ts';
import { rollflex as inProcess } from '../../support/command-line/in-process.ts';
import { asUsersModule, rollflex, root } from '../../support/command-line/process.ts';
import { plainJob, plainWorkload } from '../../support/simulator/host.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-own-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const source = join(root, 'examples/16-own-policy/longest-first.ts');
/** As whoever has `mine.ts` only, in a project without a loader of TypeScript. */
const mine = asUsersModule(folder, source);
const withLoader = at('with-loader');
const loaded = join(withLoader, 'mine.ts');
const script = at('mine.mjs');
const lengths = at('lengths.jsonl');

beforeAll(async () => {
  const text = readFileSync(source, 'utf8');
  mkdirSync(join(withLoader, 'node_modules'), { recursive: true });
  const tsx = dirname(fileURLToPath(import.meta.resolve('tsx/package.json')));
  symlinkSync(tsx, join(withLoader, 'node_modules', 'tsx'));
  writeFileSync(join(withLoader, 'package.json'), '{ "type": "module" }');
  writeFileSync(loaded, text);
  const { transform } = await import('esbuild');
  const { code: own } = await transform(text, { loader: 'ts', format: 'esm' });
  // It takes a message of its own, which the simulator does not know.
  const broken = "on(rollflex.defineEvent('acme/prompt.broken', 'It is broken.', {}), () => undefined)";
  const code = own.replace('on(messages.promptsSupplied', (supplied) => `${broken}, ${supplied}`);
  writeFileSync(script, code);
  writeFileSync(at('taken.mjs'), code.replaceAll('acme/longest-first', 'tail-batching'));
  writeFileSync(at('unnamed.mjs'), code.replaceAll('acme/prompt.broken', 'prompt.broken'));
  writeFileSync(at('bare.mjs'), 'export const gate = { id: "acme/gate", handlers: [] };\n');
  writeFileSync(at('nothing.mjs'), 'const gate = 1;\n');
  writeFileSync(at('typo.mjs'), 'export const a = 1;\nexport const b = ;\n');
  const lines = Array.from({ length: 32 }, (_, prompt) => {
    const responses = Array.from({ length: 4 }, (_, k) => ({ tokens: 20 + ((prompt * 37 + k * 11) % 300) }));
    return JSON.stringify({ prompt: `q${prompt}`, promptTokens: 20, responses });
  });
  writeFileSync(lengths, `${lines.join('\n')}\n`);
});

const small = ['--prompts-per-round', '8', '--responses-per-prompt', '4', '--engines', '2'];
const simulated = [...small, '--steps', '2', '--seeds', '1', '--json'];

describe('policies of the user', () => {
  test('are compared, with the report, and with predicted lengths', async () => {
    const report = at('report.html');
    const asked = ['simulate', lengths, '--policies', script, ...simulated, '--report', report];
    const { code, out, err } = await inProcess(...asked, '--predict', 'noisy', '--set', 'inFlight=8,16');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [comparison] = JSON.parse(out).comparisons;
    const ids = comparison.schedulers.map(({ scheduler }: { scheduler: string }) => scheduler);
    const own = ['acme/longest-first inFlight=8', 'acme/longest-first inFlight=16'];
    expect(ids).toEqual(['baseline', 'tail-batching', ...own]);
    expect(comparison.workload.predict).toBe('noisy (lognormal, sigma 0.5)');
    expect(comparison.schedulers[2].runs[0].unmet).toEqual([{ what: 'event', name: 'acme/prompt.broken' }]);
    expect(readFileSync(report, 'utf8')).toContain('acme/longest-first');
  });

  test('leave the rows of what rollflex ships as they are', async () => {
    const rows = async (...more: string[]) => {
      const { out } = await inProcess('simulate', lengths, ...simulated, '--no-report', ...more);
      const [{ schedulers, oracle, settings }] = JSON.parse(out).comparisons;
      return { rows: schedulers.slice(0, 2), oracle, settings };
    };
    expect(await rows('--policies', script)).toEqual(await rows());
  });

  test('are said what they ask for in vain, and are swept', async () => {
    const args = ['sweep', lengths, '--policies', script, ...small, '--steps', '2', '--set', 'inFlight=8,64'];
    const { code, out } = await inProcess(...args, '--min-kept', '0.99');
    expect(code).toBe(0);
    const said = out.replace(/\s+/g, ' ');
    expect(said).toMatch(/inFlight=64: takes acme\/prompt\.broken/);
    expect(said).toMatch(/decides by expectedTokens of prompts, and gets none/);
    expect(said).toMatch(
      /among those that keep 0\.99 of the tokens or more, none of yours is faster on average than baseline/,
    );
    // With all lengths known, the longest first lose nothing by fewer requests in flight.
    const known = [...args.slice(0, -1), 'inFlight=16,28', '--predict', 'oracle', '--min-kept', '0.99'];
    expect((await inProcess(...known)).out.replace(/\s+/g, ' ')).toMatch(/take acme\/longest-first inFlight=28/);
  });

  test('take over in a log', async () => {
    const lines: string[] = [];
    const job = plainJob({ engines: 2, promptsPerRound: 8, responsesPerPrompt: 4 });
    const workload = plainWorkload((prompt, k) => 20 + ((prompt * 37 + k * 11) % 300));
    const log = (line: string): void => void lines.push(line);
    simulate(job, tailBatchingScheduler(job), workload, { prompts: 32, seed: 1, timeline: false, log });
    writeFileSync(at('run.jsonl'), `${lines.join('\n')}\n`);
    const { code, out, err } = await inProcess(
      'what-if',
      at('run.jsonl'),
      '--policies',
      script,
      '--seeds',
      '2',
      '--json',
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toMatchObject({ otherPolicy: 'acme/longest-first', changed: [{}, {}] });
    const wrong = await inProcess('what-if', at('run.jsonl'), '--policies', script, '--policy', 'acme/longest-frist');
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain('did you mean "acme/longest-first"?');
  });

  test('are TypeScript, through the loader of the project, or a sentence says what to do', async () => {
    const { code, out, err } = await rollflex('simulate', lengths, '--policies', loaded, ...simulated, '--no-report');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out).comparisons[0].schedulers[2].scheduler).toBe('acme/longest-first');
    const without = await rollflex('simulate', lengths, '--policies', mine, ...simulated, '--no-report');
    // Newer versions of Node load it by themselves.
    if ('typescript' in process.features && process.features.typescript) return expect(without.code).toBe(0);
    expect(without.code).toBe(2);
    expect(without.err).toMatch(/npm install --save-dev tsx\), Node 22\.18 or newer, or longest-first\.js/);
  });

  test.each([
    ['min.mjs', 'there is no such file or folder (did you mean "mine.mjs"?)'],
    ['bare.mjs', 'gate = definePolicy({…}), not the object alone'],
    ['nothing.mjs', 'export const mine = definePolicy({…})'],
    ['typo.mjs', 'typo.mjs:2: expected a module that loads'],
    ['taken.mjs', 'an id that rollflex does not have, such as acme/tail-batching'],
    ['unnamed.mjs', 'a message of the vocabulary, or one with a namespace'],
    ['mine.mjs --set inFligth=8', 'did you mean "inFlight"?'],
    ['mine.mjs --set inFlight=0', 'inFlight: expected', '(--set inFlight=VALUE)'],
    ['mine.mjs --ablation', '--policies without --ablation'],
    ['mine.mjs --predict orcale', 'did you mean "oracle"?'],
    ['mine.mjs --predict-sigma 1', '--predict noisy beside it'],
  ])('%s is refused', async (line, ...says) => {
    const [name = '', ...rest] = line.split(' ');
    const done = await inProcess('simulate', lengths, '--policies', at(name), ...simulated, '--no-report', ...rest);
    expect({ code: done.code, out: done.out }).toEqual({ code: 2, out: '' });
    for (const one of says) expect(done.err).toContain(one);
    expect(done.err).not.toMatch(/^ +at /m);
  });
});
