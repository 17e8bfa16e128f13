/** Whatever fails in a thread, a child process or by a defect arrives with the text of its cause: failures that are planted. */
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { definePlanner } from '../../../src/core/machine/definition.ts';
import { runPlanner } from '../../../src/core/machine/start.ts';
import { grpoAdvantages } from '../../../src/planners/grpo-advantages/index.ts';
import type * as rpc from '../../../src/rpc/index.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { root } from '../../support/command-line/process.ts';
import { ownLengths } from '../../support/documents/own-files.ts';

const whole = process.env.ROLLFLEX_INSTALLED!;
const built = join(whole, 'dist');
const own = mkdtempSync(join(tmpdir(), 'rollflex-causes-'));
/** What is installed, without the files that it opens beside itself: where Node finds the other packages. */
const incomplete = join(root, '.cache', `incomplete-${process.pid}`);
const lacking = join(incomplete, 'dist');
const beside = /\b(plan-worker|worker|\w+-client)\.c?js$/;
cpSync(built, lacking, { recursive: true, filter: (name) => !beside.test(name) });
cpSync(join(whole, 'package.json'), join(incomplete, 'package.json'));
const file = (name: string, text: string): string => {
  writeFileSync(join(own, name), text);
  return join(own, name);
};
const lengths = file('lengths.jsonl', ownLengths());
const { PATH } = process.env;
afterEach(() => {
  process.env.PATH = PATH;
});
afterAll(() => {
  for (const folder of [incomplete, own]) rmSync(folder, { recursive: true, force: true });
});

describe('threads that compute plans', () => {
  const short = { lengths: [4096, 1024], devices: 2 };
  const failed = async (folder: string, definitions?: string, input: object = short) => {
    const { planThreads }: typeof rpc = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'rpc.js')).href);
    const threads = planThreads({ threads: 1, definitions: definitions && pathToFileURL(definitions).href });
    const plan = (one: object) =>
      threads.plan({ planner: 'flex-ulysses', input: one }).catch((error: unknown) => error);
    try {
      return { error: await plan(input), next: await plan(short) };
    } finally {
      threads.close();
    }
  };

  test('a file of the package is missing', async () => {
    const { error } = await failed(lacking);
    expect(error).toMatchObject({ code: 'internal', expected: 'a plan' });
    expect(String(error)).toMatch(/Cannot find module '.*plan-worker\.js'/);
  });

  test.each([
    ['cannot be parsed', 'export const = 1;', /SyntaxError: Unexpected token '='/],
    [
      'throws when it is loaded',
      `throw new Error('the table of planners is empty');`,
      /the table of planners is empty/,
    ],
    ['lacks a module', `import './no-such-planner.mjs';`, /Cannot find module '.*no-such-planner\.mjs'/],
  ])('the module of own planners %s', async (what, text, cause) => {
    const { error } = await failed(built, file(`${what.replaceAll(' ', '-')}.mjs`, text));
    expect(error).toMatchObject({ code: 'internal', expected: 'a plan' });
    expect(String(error)).toMatch(cause);
  });

  test('an input that cannot be handed to a thread is refused, and the next plan is made', async () => {
    const { error, next } = await failed(built, undefined, { lengths: [1], devices: () => 2 });
    expect(error).toMatchObject({ code: 'invalid_input' });
    expect(String(error)).toContain('could not be cloned');
    expect(next).toHaveProperty('json');
  });
});

describe('a package without a file', () => {
  const of = (...args: string[]): Promise<{ code: unknown; err: string }> =>
    new Promise((resolve) => {
      const command = [join(lacking, 'cli.js'), ...args];
      execFile(process.execPath, command, (error, _, err) => resolve({ code: error?.code ?? 0, err })).stdin!.end();
    });
  const small = ['--steps', '1', '--prompts-per-round', '4', '--effort', 'fast', '--cap', '4096', '--quiet'];

  test('that of the threads of commands', async () => {
    const { code, err } = await of('sweep', lengths, '--workers', '2', ...small);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^rollflex: PolicyError: expected the result of a task, got .*Cannot find module '.*\/worker\.js'/,
    );
  });

  test('the script of a page', async () => {
    const { code, err } = await of('serve', '--stdio', '--dashboard', '0');
    expect(code).toBe(1);
    expect(err).toMatch(/ENOENT: .*dashboard-client\.js/);
  });
});

describe.skipIf(process.platform === 'win32')('Python, which reads pickles', () => {
  const pickle = file('rollout_3.pt', 'PK');
  const python = (text: string): void => {
    mkdirSync(join(own, 'bin'), { recursive: true });
    writeFileSync(join(own, 'bin/python3'), `#!/bin/sh\n${text}\n`);
    chmodSync(join(own, 'bin/python3'), 0o755);
    process.env.PATH = `${join(own, 'bin')}:${PATH}`;
  };
  test.each([
    ['is killed', 'echo reading >&2; kill -KILL $$', 'an end by SIGKILL'],
    ['leaves', 'exit 3', 'exit code 3'],
    ['says why it fails', 'echo "ModuleNotFoundError: no rollflex" >&2; exit 1', 'ModuleNotFoundError: no rollflex'],
  ])('%s', async (_, text, got) => {
    python(text);
    const { code, err } = await rollflex('import', pickle);
    expect([code, err]).toEqual([2, expect.stringContaining(`got ${JSON.stringify(got)}`)]);
  });

  test('is not there', async () => {
    process.env.PATH = join(own, 'none');
    const { code, err } = await rollflex('import', pickle);
    expect([code, err]).toEqual([2, expect.stringContaining('got "no python3 (there is no such file or folder)"')]);
  });
});

describe('the text of a cause', () => {
  const advantages = { groups: [{ groupId: 'p1', rewards: [0, 1] }] };
  const textOf = (thrown: unknown): string => {
    const compute = (): never => {
      throw thrown;
    };
    return refusal(() => runPlanner(definePlanner({ ...grpoAdvantages, compute }), advantages as never)).got;
  };

  test.each([
    ['an error', new TypeError('no sum'), 'TypeError: no sum'],
    ['an error without a message', new Error(), 'Error: without a message'],
    [
      'an error that wraps another',
      new Error('fetch failed', { cause: new Error('ECONNREFUSED') }),
      'Error: fetch failed: Error: ECONNREFUSED',
    ],
    ['an error that quotes the one it wraps', new Error('no: x', { cause: new Error('x') }), 'Error: no: x'],
    ['several errors', new AggregateError([new Error('the first')]), 'AggregateError: Error: the first'],
    ['several lines', new Error('no module\nRequire stack:\n- a.js'), 'Error: no module Require stack: - a.js'],
    ['a string', 'no sum', 'no sum'],
    ['an object', { sum: 1 }, '{"sum":1}'],
    ['nothing', undefined, 'nothing'],
    ['null', null, 'null'],
    ['a long text', new Error('x'.repeat(600)), `Error: ${'x'.repeat(492)}…`],
  ])('%s', (_, thrown, text) => {
    expect(textOf(thrown)).toBe(text);
  });

  test('an error whose fields throw', () => {
    const odd = Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('odd');
      },
    });
    expect(textOf(odd)).toBe('[object Error]');
  });
});

test('no name of an error stands for the error, and no error is without a message', () => {
  const src = join(root, 'src');
  const wrong = readdirSync(src, { recursive: true, encoding: 'utf8' })
    // What is given up in a browser has no other sign.
    .filter((name) => name.endsWith('.ts') && name !== join('pages', 'kit', 'api.ts'))
    .flatMap((name) =>
      readFileSync(join(src, name), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          /(error|cause|failure|thrown|Error\))\.name\b|new \w*Error\(\)/.test(line)
            ? [`${name}:${index + 1}: ${line}`]
            : [],
        ),
    );
  expect(wrong).toEqual([]);
});
