/** Names, keys and values that would drive a terminal, thrown at every command: nothing of them reaches it as it is. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runImport } from '../../../src/cli/import/run.ts';
import { runMockEngine } from '../../../src/cli/mock-engine/run.ts';
import { runPlan } from '../../../src/cli/plan/command.ts';
import { runPools } from '../../../src/cli/pools/run.ts';
import { runReplay } from '../../../src/cli/replay/command.ts';
import { runSchema } from '../../../src/cli/schema/command.ts';
import { runServe } from '../../../src/cli/serve/run.ts';
import { shadowCommand } from '../../../src/cli/shadow/command.ts';
import { runSimulate, type SimulateOptions } from '../../../src/cli/simulate/run.ts';
import { runSweep } from '../../../src/cli/sweep/run.ts';
import { runVlm } from '../../../src/cli/vlm/run.ts';
import { oneLine, printable } from '../../../src/core/ids/printable.ts';
import { logFilesIn } from '../../../src/logs/write/files.ts';
import { FileDecisionLog } from '../../../src/rpc/index.ts';
import { captured } from '../../support/command-line/in-process.ts';
import { type Done, rollflex } from '../../support/command-line/process.ts';
import { logOfOneRound } from '../../support/documents/own-files.ts';
import { rpc } from '../../support/servers/clocked.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-names-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Sets a title, clears the screen in both ways, turns text around, and says something in our name. */
const evil =
  'e\u001b]0;v\u0007\u001b[2J\u009b2J\u202eil\u2066\u061c\u200f\u007f\u0085\u2028\r\nrollflex: all is well\t!';
const raw = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
const withoutLayout = (text: string): string => text.replaceAll(/[\n\t]/g, '');

let files = 0;
/** A file with a name that means harm, in a folder with one. */
function evilFile(content: string, ending = '.jsonl'): string {
  files += 1;
  const inside = join(folder, `${files}${evil}`);
  mkdirSync(inside);
  writeFileSync(join(inside, `${evil}${ending}`), content);
  return join(inside, `${evil}${ending}`);
}

/** What a command printed, of which nothing drives a terminal, but something of the name is there. */
function harmless({ code, out, err }: Done): Done {
  for (const text of [out, err]) {
    expect(withoutLayout(text)).not.toMatch(raw);
    expect(text).not.toMatch(/^(rollflex: all is well|!)/m);
    expect(text).not.toContain('well\t!');
  }
  expect(out + err).toContain('\\u001b[2J\\u009b2J\\u202eil');
  return { code, out, err };
}

const prompt = (id: string, tokens: unknown = 90) => ({ prompt: id, responses: [{ tokens }, { tokens: 400 }] });
const trace = [prompt('a'), prompt(evil), prompt('c', 700)].map((one) => JSON.stringify(one)).join('\n');
const broken = JSON.stringify(prompt(evil, -1));
const usual = { resampling: 'copula', correlation: 0.3, seed: 1, seeds: 1, report: false } as const;
const small = { ...usual, promptsPerRound: 2, responsesPerPrompt: 2, engines: 1, steps: 1 };
const simulated = { ...small, preset: 'qwen2.5-7b-8k', eta: 1.25 } satisfies SimulateOptions;

test('the printer: all controls but our own line breaks, as JSON writes them', () => {
  const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('');
  expect(withoutLayout(printable(all))).not.toMatch(raw);
  expect(oneLine(all)).not.toMatch(raw);
  expect(printable('a\n\tb\u001b')).toBe('a\n\tb\\u001b');
  expect(oneLine('a\n\tb')).toBe('a\\u000a\\u0009b');
  expect(printable('Größe “x” 多 😀')).toBe('Größe “x” 多 😀');
  const value = { [evil]: all };
  expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value);
});

test('simulate: tables and the report, in a process of its own; JSON', async () => {
  const path = evilFile(trace);
  const report = join(folder, `${evil}.html`);
  const options = ['--steps', '1', '--seeds', '1', '--engines', '1', '--prompts-per-round', '2', '--report', report];
  const { code, out } = harmless(await rollflex('simulate', path, ...options));
  expect([code, out.includes(`report: ${oneLine(report)}`)]).toEqual([0, true]);
  const html = readFileSync(report, 'utf8');
  const page = html.slice(0, html.lastIndexOf('<script>'));
  expect(withoutLayout(page)).not.toMatch(raw);
  expect(page).toContain('\\u202eil');
  const json = harmless(await captured(() => runSimulate([path], { ...simulated, json: true })));
  expect(JSON.parse(json.out)).toMatchObject({ comparisons: [{ workload: { name: evil } }] });
});

test('import: the trace on standard output has the same values', async () => {
  const dump = evilFile([1, 2].map((n) => JSON.stringify({ input: evil, output: evil, score: n, step: 1 })).join('\n'));
  const options = { tokensPerCharacter: 1, skipBroken: true } as const;
  const { code, out, err } = await captured(() => runImport([dump], { ...options, from: 'verl' }));
  expect([code, withoutLayout(out + err).match(raw)]).toEqual([0, null]);
  expect(JSON.parse(out).responses).toHaveLength(2);
  const output = join(folder, `${evil}.out`);
  harmless(await captured(() => runImport([dump], { ...options, from: 'verl', output })));
  expect(readFileSync(output, 'utf8')).toBe(out);
});

test('pools and vlm', async () => {
  const pools = { ...usual, groups: [2], responsesPerPrompt: 2, width: 1, engines: 1, cap: 4096, rounds: 1 } as const;
  harmless(await captured(() => runPools([evilFile(trace)], pools)));
  const sequences = `{"promptTokens":9,"responseTokens":30}\n{"responseTokens":40}\n`;
  const vlm = { model: 'mimo-vl-7b', gpu: 'h800', gpus: 8, gpusPerNode: 8, batch: 8, frames: 8, steps: 1 } as const;
  const memory = { controllerMemory: 1024, nodeMemory: 1024 };
  harmless(await captured(() => runVlm(evilFile(sequences), { ...usual, ...vlm, ...memory })));
});

test('logs: their lines, replay, shadow and simulate --from-log', async () => {
  const logDir = join(folder, `log${evil}`);
  const decisionLog = new FileDecisionLog({ logDir });
  const { server, client } = rpc({ decisionLog });
  await client.call('session.open', { policy: 'sandbox-timeout', config: {}, session: evil, shadow: true });
  const of = { at: 1, runId: evil };
  const decision = { type: 'sandbox.run', runId: evil, timeoutSeconds: 30 };
  const events = [
    { type: 'sandbox.requested', ...of, testCaseId: evil },
    { type: 'host.decided', at: 1, decision },
    { type: 'sandbox.finished', at: 2, runId: evil, outcome: 'correct', seconds: 1 },
  ];
  await client.call('session.send', { session: evil, events, producer: evil });
  server.close();
  await decisionLog.close();
  const text = logFilesIn(logDir).map((name) => readFileSync(join(logDir, name), 'utf8'));
  expect(withoutLayout(text.join(''))).not.toMatch(raw);
  expect(JSON.parse(text[0]!.split('\n')[1]!).session).toBe(evil);

  expect(harmless(await captured(() => runReplay([logDir], {}))).code).toBe(0);
  const shadow = harmless(await captured(() => shadowCommand().parseAsync([logDir], { from: 'user' })));
  expect(shadow.out).toMatch(/sandbox\.run +/);
  const json = await captured(() => shadowCommand().parseAsync([logDir, '--json'], { from: 'user' }));
  expect(JSON.parse(json.out).sessions[0].session).toBe(evil);
  const events1 = logOfOneRound().replaceAll('"a"', JSON.stringify(evil)).replace('"known":0', '"known":1');
  expect(withoutLayout((await captured(() => runReplay([evilFile(events1)], {}))).out)).not.toMatch(raw);
  harmless(await captured(() => runSimulate([], { ...simulated, fromLog: evilFile(logOfOneRound()) })));
});

test.each<[string, () => unknown]>([
  ['simulate', () => runSimulate([evilFile(broken)], simulated)],
  ['simulate --calibrate', () => runSimulate([], { ...simulated, calibrate: evilFile('{') })],
  ['sweep', () => runSweep([evilFile(broken)], { ...small, job: 'synchronous', effort: 'fast' })],
  ['import', () => runImport([evilFile(`{"input":${JSON.stringify(evil)}`)], {})],
  ['plan', () => runPlan('grpo-advantages', { input: evilFile(JSON.stringify({ groups: [{ rewards: [evil] }] })) })],
  ['schema', () => runSchema(evil, {})],
  ['replay', () => runReplay([evilFile(`"${evil}"`)], {})],
  ['serve', () => runServe({ port: 0, tokenFile: evilFile('short') } as never)],
  [
    'mock-engine',
    () => runMockEngine(undefined, { preset: 'qwen2.5-7b-8k', cap: 900, ...usual, faults: evilFile('{') } as never),
  ],
  ['a path that is not there', () => runSimulate([join(folder, evil, 'none')], simulated)],
])('what %s refuses is one line', async (_, run) => {
  const { code, out, err } = harmless(await captured(run));
  expect([code, out, err.split('\n').length]).toEqual([2, '', 2]);
});

test('arguments that the parser repeats', async () => {
  const { code, out, err } = harmless(await rollflex('simulate', `--${evil}`));
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(/^error: unknown option '--e\\u001b/);
});
