/** The logs of the zoo: they replay, they are small, and they do not tell what is wrong. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { registry, replayEvents } from '../../src/index.ts';
import { readDecisionLog } from '../../src/logs/format/decision-log.ts';
import { replayLog } from '../../src/logs/replay/replay-log.ts';
import { filesOf, logs } from './files.ts';
import { incidents } from './incidents.ts';
import { eventLog } from './record.ts';
import { slow } from './slow.ts';
import { stuck } from './stuck.ts';

const textOf = (log: string): string =>
  filesOf(log)
    .map((one) => one.read())
    .join('');
const isServers = (log: string): boolean => filesOf(log)[0]!.name.startsWith('decisions-');

describe('the zoo', () => {
  const names = [...Object.keys(stuck), ...Object.keys(slow)];

  test('has a log for every scene, and an incident for every one with a fault', () => {
    expect(
      readdirSync(logs)
        .map((one) => one.replace('.jsonl', ''))
        .sort(),
    ).toEqual([...names].sort());
    expect(incidents.map(({ log }) => log).sort()).toEqual(Object.keys(stuck).sort());
    expect(incidents.length).toBeGreaterThanOrEqual(20);
    expect(Object.keys(slow)).toHaveLength(10);
  });

  test('every log replays', () => {
    for (const log of names) {
      if (isServers(log)) {
        const { sessions } = replayLog(readDecisionLog(filesOf(log)), registry.restore);
        for (const { difference, events } of sessions)
          expect([log, difference, events > 20]).toEqual([log, undefined, true]);
      } else {
        const replay = replayEvents(textOf(log).split('\n'), registry.restore as never);
        expect([log, replay.difference]).toEqual([log, undefined]);
      }
    }
  });

  test('is small', () => {
    const sizes = names.map((log) => textOf(log).length);
    expect(Math.max(...sizes)).toBeLessThan(150_000);
    expect(sizes.reduce((sum, one) => sum + one)).toBeLessThan(1_550_000);
  });

  test('a log has what is asked for, and no word of the cause', () => {
    for (const { log, policy, ask, cause } of incidents) {
      const text = textOf(log);
      expect(text).toContain(`"policy":"${policy}"`);
      for (const id of [...Object.values(ask), ...cause.ids.flatMap((ids) => Object.values(ids))]) {
        expect([log, text.includes(`"${id}"`) || text.includes(`"${id}/`)]).toEqual([log, true]);
      }
      expect(text).not.toMatch(/\b(hang|hung|stuck|dead|silent|broken)\b/i);
    }
  });

  test('the page names every thread', () => {
    const page = readFileSync(new URL('../../docs/explain.md', import.meta.url), 'utf8');
    for (const { project, link, policy, fact, cause } of incidents) {
      const thread = `[${project} ${/\d+$/.exec(link)![0]}](${link})`;
      expect(page).toContain(`| ${thread} | \`${policy}\` | ${fact} | ${cause.actor}: \`${cause.event}\` |`);
    }
  });

  test('is made again as it is', () => {
    for (const log of ['verl-7155', 'slow-9']) expect(eventLog({ ...stuck, ...slow }[log]!())).toBe(textOf(log));
  });
});
