/** `rollflex explain` names what all tries share in outages, collapses and skews, and nothing in runs that look like them and go on. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runExplain } from '../../src/cli/explain/command.ts';
import type { Explanation } from '../../src/logs/explain/explain.ts';
import { answerOf } from '../../src/logs/explain/text.ts';
import { captured } from '../support/command-line/in-process.ts';
import { mended, outages } from './outages.ts';
import { eventLog } from './record.ts';
import type { Scene } from './scene.ts';
import { sharedIncidents } from './shared-incidents.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-zoo-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function explained(name: string, make: () => Scene): Promise<Explanation> {
  const log = join(folder, `${name}.jsonl`);
  writeFileSync(log, eventLog(make()));
  const { code, out, err } = await captured(() => runExplain([log], { json: true }));
  expect(code, err).toBe(0);
  return (JSON.parse(out) as { sessions: [Explanation] }).sessions[0];
}

test('there are ten of them', () => {
  expect(sharedIncidents.map(({ log }) => log).sort()).toEqual(Object.keys(outages).sort());
  expect(Object.keys(outages)).toHaveLength(10);
});

test.each(sharedIncidents)('$log: what all tries share', async ({ log, policy, verdict, names }) => {
  const found = await explained(log, outages[log]!);
  expect([found.policy, found.verdict]).toEqual([policy, verdict]);
  const lines = answerOf(found);
  expect(lines.length).toBeLessThanOrEqual(3);
  expect(lines.join(' ')).toContain(names);
});

test.each(Object.entries(mended))('nothing is named in %s', async (name, make) => {
  const { verdict, owed } = await explained(name, make);
  expect(verdict).toBe('waits');
  expect(owed.filter(({ overdue }) => overdue)).toEqual([]);
});

const page = readFileSync(new URL('../../docs/explain.md', import.meta.url), 'utf8');

test('the page names every thread', () => {
  for (const { project, link, policy, fact, verdict, names } of sharedIncidents) {
    const said = { suspended: 'is held up', stalled: 'gains nothing' }[verdict];
    const thread = `[${project} ${/\d+$/.exec(link)![0]}](${link})`;
    expect(page).toContain(`| ${thread} | \`${policy}\` | ${fact} | ${said}: ${names} |`);
  }
});

test.each(['slime-1148', 'verl-953'])('the page shows what is said of %s', async (log) => {
  const [first] = answerOf(await explained(log, outages[log]!));
  expect(page.replace(/\s+/g, ' ')).toContain(first!.replace(/\s+/g, ' '));
});
