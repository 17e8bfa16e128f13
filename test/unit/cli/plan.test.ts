/** `rollflex plan`, and the schemas of planners. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { registry } from '../../../src/index.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { rollflexOn } from '../../support/command-line/process.ts';
import { exampleInputs } from '../../support/examples/inputs.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const rewards = { groups: [{ rewards: [1, 0, 0] }] };
const nothing = { replicas: [{ samples: 0 }] };

describe('plan', () => {
  test.each(registry.planners.map((one) => one.id))('%s, from a file', async (id) => {
    const input = exampleInputs[id]![0]!;
    const { code, out, err } = await rollflex('plan', id, '--input', file(`${id}.json`, input));
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toEqual(registry.plan(id as never, input as never));
    expect(out).toContain('\n  "');
  });

  test('from standard input, as one line of JSON', async () => {
    const input = `\uFEFF${JSON.stringify(rewards, null, 2)}\n`;
    const { code, out, err } = await rollflexOn(input, 'plan', 'grpo-advantages', '--input', '-', '--json');
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(`${JSON.stringify(registry.plan('grpo-advantages', rewards))}\n`);
    const empty = await rollflexOn('', 'plan', 'grpo-advantages', '--input', '-');
    expect([empty.code, empty.out]).toEqual([2, '']);
    expect(empty.err).toMatch(/standard input: expected the input as JSON, got nothing/);
  });

  test('exit code 1 where the input is right and has no plan', async () => {
    const given = file('nothing.json', nothing);
    const { code, out, err } = await rollflex('plan', 'gradient-renormalization', '--input', given);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^rollflex: \S+nothing\.json:1\.replicas: expected .*skip the step\), got 0 \(infeasible\)\n$/);
  });

  test('teaches by --help', async () => {
    const { code, out } = await rollflex('plan', '--help');
    expect(code).toBe(0);
    for (const part of ['judge-offload', '- reads it from standard input', 'rollflex schema', 'Examples']) {
      expect(out).toContain(part);
    }
  });
});

describe('wrong use of plan: exit code 2, nothing on standard output', () => {
  const right = file('rewards.json', rewards);
  const grpo = ['plan', 'grpo-advantages', '--input'];
  test.each<[string, string[], RegExp]>([
    ['no planner', ['plan', '--input', right], /missing required argument 'planner'/],
    ['no input', ['plan', 'grpo-advantages'], /required option '--input <file>' not specified/],
    [
      'an unknown planner',
      ['plan', 'grpo', '--input', right],
      /planner: expected one of .*, got "grpo" \(unknown_id\)/,
    ],
    ['a recipe', ['plan', 'tail-batching', '--input', right], /got "tail-batching, a recipe" \(unknown_id\)/],
    ['an unknown option', [...grpo, right, '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    ['too many arguments', [...grpo, right, 'more'], /too many arguments/],
    ['a file that is not there', [...grpo, join(folder, 'none.json')], /none\.json: there is no such file/],
    ['a folder', [...grpo, folder], /this is a folder/],
    [
      'a file that is no JSON',
      [...grpo, file('text.json', 'hello')],
      /text\.json:1: expected the input as JSON, got "Unexpected/,
    ],
    [
      'a wrong value, by its path',
      [...grpo, file('wrong.json', { groups: [{ rewards: [1, 'two'] }] })],
      /wrong\.json:1\.groups\[0\]\.rewards\[1\]: expected a number, got "two" \(invalid_input\)$/m,
    ],
    ['an unknown key', [...grpo, file('key.json', { ...rewards, eps: 1 })], /eps: expected no other keys/],
    [
      'the input of another planner',
      ['plan', 'judge-offload', '--input', right],
      /layers: expected a whole number >= 1 and <= 256 \(required\), got nothing/,
    ],
  ])('%s', async (_, args, reason) => {
    const { code, out, err } = await rollflex(...args);
    expect(err).toMatch(reason);
    expect(err).not.toMatch(/^ +at .*\.ts/m);
    expect([code, out]).toEqual([2, '']);
  });
});

describe.concurrent('schema of a planner', () => {
  test('is that of its input, or with --plan of its plan', async () => {
    const [input, output] = await Promise.all([
      rollflex('schema', 'gradient-renormalization', '--json'),
      rollflex('schema', 'gradient-renormalization', '--plan', '--json'),
    ]);
    expect(JSON.parse(input.out)).toMatchObject({
      additionalProperties: false,
      required: ['replicas'],
      properties: { unit: { default: 'samples' } },
    });
    expect(JSON.parse(output.out)).toMatchObject({ additionalProperties: false, required: ['factors', 'total'] });
  });
});
