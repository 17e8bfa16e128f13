/** One command names who has to act in each incident, and names nobody where a run is only slow. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runExplain } from '../../src/cli/explain/command.ts';
import type { Explanation } from '../../src/logs/explain/explain.ts';
import { answerOf } from '../../src/logs/explain/text.ts';
import { captured } from '../support/command-line/in-process.ts';
import { pathOf } from './files.ts';
import { type Incident, incidents } from './incidents.ts';
import { slow } from './slow.ts';

const index = mkdtempSync(join(tmpdir(), 'rollflex-zoo-'));
afterAll(() => rmSync(index, { recursive: true }));

/** What `rollflex explain` finds out about the session that a log is about. */
async function explained(log: string, options: Parameters<typeof runExplain>[1] = {}): Promise<Explanation> {
  const { code, out, err } = await captured(() => runExplain([pathOf(log)], { index, json: true, ...options }));
  expect(code, err).toBe(0);
  return (JSON.parse(out) as { sessions: [Explanation] }).sessions[0];
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

/** Expects an answer of three lines of 80 columns that says which event is missing. */
function expectShort(found: Explanation, event: string): void {
  const lines = answerOf(found);
  expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(3);
  expect(Math.max(...lines.map((one) => one.length))).toBeLessThanOrEqual(80);
  expect(lines.join(' ')).toContain(event);
}

describe('an incident', () => {
  test.each(incidents)('$log: who has to act', async ({ log, cause, policy }) => {
    const found = await explained(log);
    expect(found.policy).toBe(policy);
    expectCause(found, cause);
    expectShort(found, cause.event);
  });

  test.each(incidents)('$log: asked for what waits', async ({ log, ask, cause }) => {
    const found = await explained(log, ask);
    expectCause(found, cause);
    expectShort(found, cause.event);
  });
});

test.each(Object.keys(slow))('nothing is named in %s', async (log) => {
  const { verdict, owed } = await explained(log);
  expect(verdict).toBe('waits');
  expect(owed.filter(({ overdue }) => overdue)).toEqual([]);
});
