/** The output that docs/cli.md and docs/your-job.md show is what the commands print; numbers may move with the cost model. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commandOf, root } from '../../support/command-line.ts';
import {
  logOfOneRound,
  ownLengths,
  ownMeasurements,
  ownSequences,
  rewardsOfOneGroup,
  writeOwnJob,
} from '../../support/documented-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-cli-docs-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'my-lengths.jsonl'), ownLengths());
writeFileSync(join(folder, 'my-sequences.jsonl'), ownSequences());
writeFileSync(join(folder, 'run.jsonl'), logOfOneRound());
writeFileSync(join(folder, 'rewards.json'), rewardsOfOneGroup());
writeOwnJob(folder);

const pageAt = (path: string): string => readFileSync(join(root, path), 'utf8');
const shownIn = (page: string) =>
  [...page.matchAll(/```sh\nrollflex ([^\n]*)\n```\n\n```text\n(.*?)\n```/gs)].map(
    ([, command, output]) => [command!, output!] as const,
  );
const shown = shownIn(pageAt('docs/cli.md'));
const yourJob = pageAt('docs/your-job.md');

/** Lines without their numbers and padding. */
const shape = (text: string): string[] => text.split('\n').map((line) => line.replace(/[\d., ]+/g, ' ').trim());

test('every command is shown with its output', () => {
  expect(shown.map(([command]) => command.split(' ')[0])).toEqual([
    'simulate',
    'import',
    'sweep',
    'pools',
    'vlm',
    'plan',
    'schema',
    'schema',
    'replay',
  ]);
});

test('the guide goes from a dump to a table, with the measurements that it shows', () => {
  expect(shownIn(yourJob).map(([command]) => command.split(' ')[0])).toEqual(['import', 'simulate', 'simulate']);
  expect(JSON.parse(/```json\n(.*?)\n```/s.exec(yourJob)![1]!)).toEqual(JSON.parse(ownMeasurements()));
});

// In this order: the guide simulates what it has imported.
test.each([...shown, ...shownIn(yourJob)])('rollflex %s', (command, output) => {
  const args = commandOf(command.split(' '));
  const printed = shape(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).trimEnd());
  // What stands between two … lines is there in one piece and in this order.
  let from = 0;
  for (const part of output.split('\n…').map((one) => shape(one.replace(/^\n/, '')).join('\n'))) {
    const at = printed.slice(from).join('\n').indexOf(part);
    expect(at, part).toBeGreaterThanOrEqual(0);
    from += printed.slice(from).join('\n').slice(0, at).split('\n').length - 1;
  }
  if (!output.includes('…')) expect(printed).toEqual(shape(output));
});
