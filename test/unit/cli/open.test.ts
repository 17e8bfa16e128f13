/** `--open`: the report comes up in the browser, and a machine without one is no failure. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { rollflex } from '../../support/command-line/in-process.ts';
import { ownLengths } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-open-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
writeFileSync(path('lengths.jsonl'), ownLengths());
mkdirSync(path('bin'));
mkdirSync(path('none'));
const quick = ['--steps', '2', '--prompts-per-round', '8', '--seeds', '2', '--engines', '2', '--quiet'];
const { PATH } = process.env;
afterEach(() => {
  process.env.PATH = PATH;
});

describe.skipIf(process.platform === 'win32')('--open', () => {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const report = path('report.html');
  const args = ['simulate', path('lengths.jsonl'), ...quick, '--report', report, '--open'];
  const say = (text: string): void => {
    writeFileSync(path(`bin/${opener}`), `#!/bin/sh\n${text}\n`);
    chmodSync(path(`bin/${opener}`), 0o755);
    process.env.PATH = `${path('bin')}:${PATH}`;
  };

  test('opens the report when it is written', async () => {
    say(`test -s "$1" && echo "$1" > ${path('opened')}`);
    const { code, err } = await rollflex(...args);
    expect([code, err]).toEqual([0, '']);
    expect(readFileSync(path('opened'), 'utf8')).toBe(`${report}\n`);
  });

  test.each([
    ['there is no such program', 'there is no such file or folder', () => void (process.env.PATH = path('none'))],
    ['it fails', 'left with exit code 3', () => say('exit 3')],
    ['it is killed', 'was ended by SIGKILL', () => say('kill -KILL $$')],
  ])('where %s, the user is told why and the command has not failed', async (_, why, prepare) => {
    prepare();
    const { code, err } = await rollflex(...args);
    expect([code, err]).toEqual([
      0,
      `rollflex: no browser could be opened (${opener}: ${why}): open ${report} yourself\n`,
    ]);
    expect(existsSync(report)).toBe(true);
  });
});
