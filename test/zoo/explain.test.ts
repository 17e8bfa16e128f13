/** One command names who has to act in each incident, and names nobody where a run is only slow. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Explanation } from '../../src/cli/explain/explain.ts';
import { runExplain } from '../../src/cli/explain-command.ts';
import { captured } from '../support/command-line/in-process.ts';
import { pathOf } from './files.ts';
import { type Incident, incidents } from './incidents.ts';
import { slow } from './slow.ts';

const index = mkdtempSync(join(tmpdir(), 'rollflex-zoo-'));
afterAll(() => rmSync(index, { recursive: true }));

/** What the command prints. */
async function said(log: string, options: Parameters<typeof runExplain>[1] = {}): Promise<string> {
  const { code, out, err } = await captured(() => runExplain([pathOf(log)], { index, ...options }));
  expect(code, err).toBe(0);
  return out;
}

/** The explanation of the session that the log is about. */
async function explained(log: string, options: Parameters<typeof runExplain>[1] = {}): Promise<Explanation> {
  const { sessions } = JSON.parse(await said(log, { ...options, json: true })) as { sessions: Explanation[] };
  return sessions[0]!;
}

/** Expects that what is needed first is the cause. */
function expectCause({ verdict, owed }: Explanation, { event, actor, ids }: Incident['cause']): void {
  const [first] = owed;
  expect(verdict).toBe('stuck');
  expect(first).toMatchObject({ who: actor, overdue: true, event: { type: event } });
  const given: Readonly<Record<string, unknown>> = { ...first!.event, by: first!.by };
  const isNamed = ids.some((one) => Object.entries(one).every(([field, id]) => given[field] === id || given.by === id));
  expect(isNamed, JSON.stringify(first)).toBe(true);
}

describe('an incident', () => {
  test.each(incidents)('$log: who has to act', async ({ log, cause, policy }) => {
    const found = await explained(log);
    expect(found.policy).toBe(policy);
    expectCause(found, cause);
  });

  test.each(incidents)('$log: asked for what waits', async ({ log, ask, cause }) => {
    expectCause(await explained(log, ask), cause);
  });

  test.each(incidents)('$log: in three lines of 80 columns', async ({ log, ask, cause }) => {
    for (const options of [{}, ask]) {
      const lines = (await said(log, options)).split('\n\n')[0]!.trimEnd().split('\n');
      const answer = lines.filter((one) => !one.startsWith('  '));
      expect(answer.length, lines.join('\n')).toBeLessThanOrEqual(3);
      expect(Math.max(...answer.map((one) => one.length))).toBeLessThanOrEqual(80);
      expect(answer.join(' ')).toContain(cause.event);
    }
  });
});

test.each(Object.keys(slow))('nothing is named in %s', async (log) => {
  const { verdict, owed } = await explained(log);
  expect(verdict).toBe('waits');
  expect(owed.filter(({ overdue }) => overdue)).toEqual([]);
});
