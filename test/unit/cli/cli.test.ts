/** The command line as a user meets it: what it prints where, and with which exit code. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { create, longPromptQueue, recordEvents } from '../../../src/index.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { entry, root } from '../../support/command-line/process.ts';
import { logOfOneRound, ownLengths } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);

writeFileSync(path('lengths.jsonl'), ownLengths());
writeFileSync(path('run.jsonl'), logOfOneRound());
const lengths = path('lengths.jsonl');
const shape = ['--prompts-per-round', '8', '--responses-per-prompt', '4', '--engines', '2'];
const quick = ['--steps', '5', '--seeds', '2', ...shape];

describe('simulate', () => {
  test('prints a table that fits, the verdict, and where the report is: one screen', async () => {
    const report = path('report.html');
    const perfetto = path('trace.json');
    const files = ['--report', report, '--perfetto', perfetto];
    const { code, out, err } = await rollflex('simulate', lengths, ...quick, ...files);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^Assumed: .*\n\nlengths: 40 prompts, simulated responses P50 \d+, P75 \d+, P99 \d+, longest \d+ tokens\n/,
    );
    // The speedup at equal tokens stands directly beside the speedup, with their intervals in the same line.
    expect(out).toMatch(/scheduler .* speedup +at equal +of the +kept +longest/);
    expect(out).toMatch(/synchronous .* 1\.00 +1\.00 +\d+% +1\.00 +100 \/ 100% /);
    expect(out).toMatch(/tail batching .* \d\.\d\d ± \d\.\d\d +\d\.\d\d ± \d\.\d\d +\d+% +0\.\d\d +\d+ \/ \d+% /);
    expect(out).toMatch(/oracle .* \d\.\d\d.* 100% +1\.00 +100 \/ 100% /);
    expect(out).toMatch(
      /\ntail batching: \d\.\d\d ± \d\.\d\dx as fast \(\d+% of the time saved\), \d\.\d\d ± \d\.\d\dx at equal tokens\.\n/,
    );
    expect(out).toMatch(/It costs: kept tokens 0\.\d\d, \d+% of the longest 1%, none stale; oracle \d\.\d\dx\./);
    expect(out).toContain(`report: ${report} (`);
    const lines = out.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    for (const line of lines.filter((one) => !one.includes(folder))) expect(line.length, line).toBeLessThanOrEqual(100);
    expect(readFileSync(report, 'utf8')).toContain('</html>');
    expect(JSON.parse(readFileSync(perfetto, 'utf8')).traceEvents.length).toBeGreaterThan(50);
  });

  test('--json is one object and nothing else, the same for the same seed', async () => {
    const args = ['simulate', lengths, ...quick, '--json', '--no-report'];
    const [one, same, other] = await Promise.all([
      rollflex(...args),
      rollflex(...args),
      rollflex(...args, '--seed', '9'),
    ]);
    expect([one.code, one.err]).toEqual([0, '']);
    const { comparisons, report, perfetto } = JSON.parse(one.out);
    expect([comparisons.length, report, perfetto]).toEqual([1, null, null]);
    expect(comparisons[0].schedulers.map((row: { scheduler: string }) => row.scheduler)).toEqual([
      'baseline',
      'tail-batching',
    ]);
    expect(comparisons[0].settings).toMatchObject({ promptsPerRound: 8, engines: 2, seeds: 2 });
    for (const { runs } of comparisons[0].schedulers) expect(runs[0].trainedPrompts).toBe(40);
    expect(same.out).toBe(one.out);
    expect(other.out).not.toBe(one.out);
  });

  test('options reach the simulation', async () => {
    const factors = ['--prompt-speculation', '1', '--response-speculation', '1.5', '--cap', '700'];
    const shape = ['--preset', 'qwen2.5-7b-8k', '--responses-per-prompt', '4', '--resampling', 'within-prompt'];
    const run = await rollflex('simulate', lengths, ...quick, ...factors, ...shape, '--json', '--no-report');
    const [{ workload, settings, schedulers }] = JSON.parse(run.out).comparisons;
    expect(workload).toMatchObject({ capTokens: 700, quantiles: { max: 700 } });
    expect(workload.resampling).toContain('within');
    expect(settings).toMatchObject({ job: 'Qwen2.5-7B, 8k, 16 × H800', responsesPerPrompt: 4 });
    // Without more prompts than are needed none is deferred.
    expect(schedulers[1].maxQueueAge).toBe(0);
    expect(schedulers[1].keptTokenRatio).toBeLessThan(1);
  });

  test('--verbose prints every column, what it means, and the notes', async () => {
    const { code, out } = await rollflex('simulate', lengths, ...quick, '--verbose', '--no-report');
    expect(code).toBe(0);
    expect(out).toMatch(/scheduler +rollout +rounds\n +speedup +waited/);
    expect(out).toMatch(/tail batching: \d\.\d\d( ± \d\.\d\d)?x as fast \(\d+% of the time saved\), \d\.\d\d/);
    expect(out).toContain('What it costs: kept tokens 0.');
    expect(out).toMatch(/an oracle that knows all lengths is \d\.\d\dx as fast with every response kept/);
    expect(out).toContain('- Every scheduler trains the same 40 prompts once');
  });

  test('--ablation prints verdicts, with what contributes nothing in a word; its tables come with --verbose', async () => {
    const asked = ['simulate', lengths, ...quick, '--preset', 'qwen2.5-32b-32k', '--ablation', '--no-report'];
    const [short, whole] = await Promise.all([rollflex(...asked), rollflex(...asked, '--verbose')]);
    expect([short.code, whole.code]).toEqual([0, 0]);
    expect(short.out).toMatch(
      /^Qwen2\.5-32B, .* Assumed: training and rewards as in RollPacker .*\n\nSimulated on Qwen2\.5-32B, .*\n\nlengths: \d\.\d\d.*x as fast \(/,
    );
    expect(short.out).toMatch(
      /s a step become \d+: tail batching -\d+\.\d, .*adaptive TP -\d+\.\d; streaming contributes\s+nothing here\./,
    );
    expect(whole.out).toMatch(/^\+ tail batching .*\n\+ rewards .*\n\+ adaptive TP /m);
    expect(whole.out).not.toContain('+ streaming');
    expect(whole.out).toContain('Seconds of a step: tail batching -');
  });

  test('--quiet prints the table only; --no-report writes none', async () => {
    const { code, out } = await rollflex('simulate', lengths, ...quick, '--quiet', '--no-report');
    expect(code).toBe(0);
    expect(out).not.toMatch(/saves|report:|What/);
    expect(existsSync(join(root, 'false'))).toBe(false);
  });

  test('--ablation with a judge on GPUs of its own, in a one-step off-policy pipeline', async () => {
    const options = ['--ablation', '--one-step-off', '--judge', 'dedicated', '--engines', '8', '--json', '--no-report'];
    const { code, out } = await rollflex('simulate', lengths, ...quick, ...options);
    expect(code).toBe(0);
    const { schedulers, settings } = JSON.parse(out).comparisons[0];
    expect(schedulers.map((one: { label: string }) => one.label)).toEqual([
      'one-step-off',
      '+ tail batching',
      '+ rewards',
      '+ adaptive TP',
    ]);
    // Half of eight engines roll out, and one of those gives its GPUs to the judge.
    expect(settings.engines).toBe(3);
  });

  test('--from-log takes the lengths of a recorded session', async () => {
    const run = await rollflex('simulate', '--from-log', path('run.jsonl'), ...quick, '--json', '--no-report');
    expect(run.err).toBe('');
    expect(JSON.parse(run.out).comparisons[0].workload).toMatchObject({
      source: expect.stringContaining('log'),
      resampling: 'recorded, then copula',
    });
    const other = ['--resampling', 'within-prompt', '--json', '--no-report'];
    const within = await rollflex('simulate', '--from-log', path('run.jsonl'), ...quick, ...other);
    expect(JSON.parse(within.out).comparisons[0].workload.resampling).toBe('recorded, then within-prompt');
  });
});

describe('wrong use and bad input: exit code 2, nothing on standard output, the reason on standard error', () => {
  writeFileSync(path('broken.jsonl'), '{"responses":[{"tokens":5}]}\n{"responses":[{"tokens":-5}]}\n');
  writeFileSync(path('empty.jsonl'), '\n');
  writeFileSync(path('none-kept.jsonl'), '{"responses":[{"tokens":5}]}\n{"responses":[]}\n');
  writeFileSync(path('text.jsonl'), 'hello\n');
  writeFileSync(path('no-log.jsonl'), '{}\n');
  const simulate = (...args: string[]) => ['simulate', '--no-report', ...args];
  test.each<[string, string[], RegExp]>([
    ['no command', [], /Usage: rollflex/],
    ['an unknown command', ['simulat'], /unknown command 'simulat'\n\(Did you mean simulate\?\)/],
    ['an unknown option', simulate('--etta', '2'), /unknown option '--etta'\n\(Did you mean --eta\?\)/],
    [
      'eta below 1',
      simulate('--eta', '0.9'),
      /'--eta <factor>' argument '0.9' is invalid. Expected a number from 1 to 16/,
    ],
    ['eta that is no number', simulate('--eta', 'NaN'), /Expected a number from 1 to 16/],
    ['a fraction', simulate('--engines', '1.5'), /Expected a whole number from 1 to 4096/],
    ['a negative count', simulate('--steps=-3'), /Expected a whole number from 1 to 100000/],
    ['an empty number', simulate('--seeds', ''), /Expected a whole number from 1 to 1000/],
    ['an unknown preset', simulate('--preset', 'gpt'), /Expected one of qwen2.5-7b-8k/],
    [
      'a method that is not known',
      simulate('--resampling', 'magic'),
      /Expected one of within-prompt, copula, parametric\./,
    ],
    [
      'a round that fits in no memory',
      simulate('--prompts-per-round', '100000'),
      /responses of a round: expected at most 400000/,
    ],
    ['a job without end', simulate('--steps', '100000'), /responses of all steps and seeds: expected at most/],
    ['a trace that is not there', simulate(path('none.jsonl')), /none\.jsonl: there is no such file or folder/],
    ['a folder with a broken trace', simulate(folder), /broken\.jsonl:2\.responses\[0\]\.tokens: expected number > 0/],
    ['a broken line', simulate(path('broken.jsonl')), /broken\.jsonl:2\.responses\[0\]\.tokens: expected .* got -5/],
    ['a prompt without responses', simulate(path('none-kept.jsonl')), /none-kept\.jsonl:2/],
    ['a line that is no JSON', simulate(path('text.jsonl')), /text\.jsonl:1/],
    ['an empty trace', simulate(path('empty.jsonl')), /empty\.jsonl: expected a trace with prompts/],
    [
      'a judge without engines for it',
      simulate('--ablation', '--judge', 'dedicated', '--engines', '1'),
      /two engines or more/,
    ],
    ['a trace and a log', simulate(lengths, '--from-log', path('run.jsonl')), /not both/],
    ['a log that is none', simulate('--from-log', lengths), /invalid_input|snapshot_mismatch/],
    [
      'a report in no folder',
      ['simulate', lengths, '--report', path('no/r.html')],
      /no: there is no such file or folder/,
    ],
    ['a folder as a report', ['simulate', lengths, '--report', folder], /--report: expected a file, not a folder/],
    [
      'an unknown id',
      ['schema', 'request.abrot'],
      /\(did you mean "request.abort"\?\), got "request.abrot" \(unknown_id\)/,
    ],
    [
      'the plan schema of a policy',
      ['schema', 'tail-batching', '--plan'],
      /--plan: expected a planner, got "tail-batching, a recipe"/,
    ],
    ['the plan schema of nothing', ['schema', '--plan'], /--plan: expected a planner, got nothing/],
    ['an id that is like no other', ['schema', 'nothing'], /lists, got "nothing" \(unknown_id\)/],
    ['replay of no log', ['replay', path('no-log.jsonl')], /snapshot/],
    ['replay of a trace', ['replay', lengths], /snapshot_mismatch/],
    ['replay of nothing', ['replay'], /missing required argument 'log'/],
  ])('%s', async (_, args, reason) => {
    const { code, out, err } = await rollflex(...args);
    expect(err).toMatch(reason);
    expect(err).not.toMatch(/^ +at .*\.ts/m);
    expect([code, out]).toEqual([2, '']);
  });
});

describe('schema', () => {
  test('lists policies, planners, events and decisions', async () => {
    const [{ code, out }, json] = await Promise.all([rollflex('schema'), rollflex('schema', '--json')]);
    expect(code).toBe(0);
    expect(out).toMatch(/^recipe +tail-batching +Short rounds/m);
    expect(out).toMatch(/^planner +judge-offload +Which layers/m);
    expect(out).toMatch(/^event +response\.completed /m);
    expect(out).toMatch(/^command +request\.abort /m);
    expect(JSON.parse(json.out).map((one: { id: string }) => one.id)).toContain('round.planned');
  });

  test.each([
    ['tail-batching', 'promptSpeculation'],
    ['response.completed', 'requestId'],
    ['request.abort', 'reason'],
    ['judge-offload', 'pcieBytesPerSecond'],
  ])('of %s is JSON Schema', async (id, field) => {
    const [pretty, line] = await Promise.all([rollflex('schema', id), rollflex('schema', id, '--json')]);
    const schema = JSON.parse(pretty.out);
    expect(schema).toMatchObject({ $schema: expect.stringContaining('json-schema.org'), type: 'object' });
    expect(Object.keys(schema.properties)).toContain(field);
    expect(JSON.parse(line.out)).toEqual(schema);
    expect(line.out.trim()).not.toContain('\n');
  });
});

describe('replay', () => {
  test('of any policy', async () => {
    const lines: string[] = [];
    const queue = create(longPromptQueue, { promptsPerRound: 2 });
    recordEvents(queue, (line) => lines.push(line));
    queue.send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 });
    writeFileSync(path('queue.jsonl'), lines.join('\n'));
    const { code, out } = await rollflex('replay', path('queue.jsonl'));
    expect([code, out]).toEqual([0, expect.stringContaining('long-prompt-queue: 1 events')]);
  });

  test('confirms a log that holds, and names the line that does not, with exit code 1', async () => {
    const good = readFileSync(path('run.jsonl'), 'utf8');
    writeFileSync(path('changed.jsonl'), good.replace('"known":0', '"known":1'));
    const changed = path('changed.jsonl');
    const [same, differs, json] = await Promise.all([
      rollflex('replay', path('run.jsonl')),
      rollflex('replay', changed),
      rollflex('replay', changed, '--json'),
    ]);
    expect(same.code).toBe(0);
    expect(same.out).toMatch(/^tail-batching: 11 events, \d+ decisions, all as logged\n$/);
    expect(differs.code).toBe(1);
    expect(differs.out).toMatch(/^tail-batching: changed\.jsonl:2, event 1, differs, at \{/);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      sessions: [{ session: 'changed.jsonl', policy: 'tail-batching', events: 11, difference: { seq: 1 } }],
    });
  });
});

test('the schema of a configuration has its defaults, and refuses unknown keys', async () => {
  const schema = JSON.parse((await rollflex('schema', 'tail-batching', '--json')).out);
  expect(schema).toMatchObject({ additionalProperties: false, properties: { order: { default: 'fifo' } } });
});

describe('help', () => {
  test('teaches: options with defaults, what the columns mean, examples', async () => {
    const [whole, simulate] = await Promise.all([rollflex('--help'), rollflex('simulate', '--help')]);
    expect([whole.code, simulate.code]).toEqual([0, 0]);
    expect(whole.out).toContain('Exit codes: 0 done, 1 failed, 2 wrong use or bad input.');
    for (const part of ['(default: 1.25)', 'What the columns mean', 'kept tokens', 'Traces', 'Examples']) {
      expect(simulate.out).toContain(part);
    }
  });

  test('--version is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(await rollflex('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  test('a reader that leaves early is no error, and files are written all the same; a full disk is one of a line', () => {
    const command = `"${process.execPath}" ${entry.join(' ')}`;
    const perfetto = path('left.json');
    const simulate = `simulate ${lengths} ${quick.join(' ')} --no-report --perfetto ${perfetto}`;
    const full = existsSync('/dev/full') ? `${command} schema > /dev/full; echo "$?";` : '';
    const script = `${full} ${command} ${simulate} | true; echo "\${PIPESTATUS[0]}"`;
    const said = execFileSync('bash', ['-c', `{ ${script}; } 2>&1`], { cwd: root, encoding: 'utf8' });
    const failure = 'rollflex: standard output: the disk is full\n1\n';
    expect(said).toBe(`${full === '' ? '' : failure}0\n`);
    expect(JSON.parse(readFileSync(perfetto, 'utf8')).traceEvents.length).toBeGreaterThan(10);
  });
});
