/** Whatever one line of a log is changed to, the replay and the comparison of two logs find exactly this line. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnyDecision } from '../../src/core/machine/definition.ts';
import { registry } from '../../src/index.ts';
import { readEventLog } from '../../src/logs/format/read-event-log.ts';
import { diffLogs } from '../../src/logs/replay/diff.ts';
import { replayLog } from '../../src/logs/replay/replay-log.ts';
import { runs } from '../support/basics/runs.ts';
import { root } from '../support/command-line/process.ts';

const folder = join(root, 'test/golden');
const logs = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => [name, readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')] as const);
/** Events of a golden trace that are played: the beginning of each, since the whole takes long. */
const events = 60;

type Entry = { event: { type: string; at: number }; decisions: AnyDecision[] };
const linesOf = (lines: readonly string[]) =>
  readEventLog({ name: 'log', read: () => `${lines.slice(0, events + 1).join('\n')}\n` });

/** Changes of one line: its kind of difference, and the line after it; nothing if the line has nothing to change. */
const changes: Readonly<Record<string, (entry: Entry) => Entry | undefined>> = {
  explained: ({ event, decisions: [first, ...rest] }) =>
    first && { event, decisions: [{ ...first, reason: { ...first.reason, other: 1 } as never }, ...rest] },
  added: ({ event, decisions: [first, ...rest] }) => first && { event, decisions: rest },
  missing: ({ event, decisions }) => ({
    event,
    decisions: [...decisions, { type: 'acme/x', at: 0, reason: { code: 'x' } }],
  }),
  changed: ({ event, decisions: [first, ...rest] }) =>
    first && { event, decisions: [{ ...first, other: 1 } as AnyDecision, ...rest] },
};

describe.each(logs)('%s', (_, lines) => {
  test('replays as logged, and is the same as itself', () => {
    const { groups, sessions } = replayLog(linesOf(lines), registry.restore);
    expect([groups, sessions[0]!.events]).toEqual([[], Math.min(events, lines.length - 1)]);
    const { parted, reasons, config, isSameStart } = diffLogs(linesOf(lines), linesOf(lines));
    expect([parted, reasons, config, isSameStart]).toEqual([null, 0, [], true]);
  });

  test('a line that is changed is found, and nothing else', () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(...Object.keys(changes)), (victim, kind) => {
        const at = 1 + (victim % Math.min(events, lines.length - 1));
        const changed = changes[kind]!(JSON.parse(lines[at]!));
        if (changed === undefined) return;
        const edited = lines.with(at, JSON.stringify(changed));
        const { groups, sessions } = replayLog(linesOf(edited), registry.restore);
        expect(groups).toMatchObject([
          { kind, own: 1, following: 0, first: { where: `log:${at + 1}`, seq: sessions[0]!.difference!.seq } },
        ]);
        expect(sessions[0]!.differing).toBe(1);
        const { parted, firstReason } = diffLogs(linesOf(edited), linesOf(lines));
        const found = kind === 'explained' ? firstReason : parted;
        expect([found?.one?.where, found?.other?.where]).toEqual([`log:${at + 1}`, `log:${at + 1}`]);
        if (kind === 'explained') expect(parted).toBeNull();
        else expect(parted).toMatchObject({ kind: 'decision', differences: [{ kind }] });
      }),
      runs(30),
    );
  });
});
