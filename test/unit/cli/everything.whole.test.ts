/** `rollflex simulate` with everything that is bundled, as `npm start` asks for it, around lengths of one's own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { rollflex } from '../../support/command-line/in-process.ts';
import { ownLengths } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-everything-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
writeFileSync(path('lengths.jsonl'), ownLengths());

test('--pools and --vlm have the bundled workloads as well, in the same report', async () => {
  const report = path('all.html');
  const quick = ['--steps', '2', '--prompts-per-round', '4', '--seeds', '1', '--engines', '2', '--json'];
  const asked = ['simulate', path('lengths.jsonl'), ...quick];
  const run = await rollflex(...asked, '--pools', '--vlm', '--report', report);
  expect(run.err).toBe('');
  const { comparisons, pools, vlm } = JSON.parse(run.out);
  expect([comparisons.length, pools.length, vlm.length]).toEqual([1, 6, 4]);
  expect(readFileSync(report, 'utf8').match(/<section /g)).toHaveLength(11);
  const without = JSON.parse((await rollflex(...asked, '--no-report')).out);
  expect([without.pools, without.vlm]).toEqual([undefined, undefined]);
});
