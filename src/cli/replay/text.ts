/** `rollflex replay --summary`: what differs, grouped and counted, with the first example of each group. */

import { oneLine } from '../../core/ids/printable.ts';
import { refuse } from '../../errors.ts';
import { packageVersion } from '../../logs/index/package.ts';
import { type DifferenceGroup, groupKey } from '../../logs/replay/difference-groups.ts';
import type { SessionReplay } from '../../logs/replay/replay-log.ts';
import { readJson } from '../files/json-file.ts';
import { look, print } from '../terminal/output.ts';
import { plainTable, prose } from '../terminal/plain-table.ts';
import { sideBySide } from './side-by-side.ts';

/** A session, with the log that has it. */
export type LoggedSession = SessionReplay & { readonly log: string; readonly isEventLog: boolean };

/** What the replay of several logs has found. */
export interface ReplayedLogs {
  readonly logs: number;
  readonly sessions: readonly LoggedSession[];
  readonly groups: readonly DifferenceGroup[];
  /** Versions of the package that wrote the logs; an event log does not name it. */
  readonly loggedBy: readonly string[];
  readonly droppedLines: number;
  readonly tornFiles: number;
}

const kindTexts: Readonly<Record<DifferenceGroup['kind'], string>> = {
  changed: 'decided otherwise',
  explained: 'only the reason',
  missing: 'only in the log',
  added: 'only in the replay',
  reordered: 'another order',
  'event refused': 'event refused',
  'snapshot refused': 'snapshot refused',
};

function reasonsOf({ logged, replayed }: DifferenceGroup): string {
  const codes = new Set([logged, replayed].filter((one) => one !== null));
  return codes.size === 0 ? '' : `: ${[...codes].join(' → ')}`;
}

/**
 * Reads the groups of a baseline: what `replay --json` has printed before.
 *
 * @throws PolicyError `invalid_input` for another file; the system's error
 */
export function expectedGroups(path: string): ReadonlySet<string> {
  const expected = 'what `rollflex replay --json` has printed';
  const groups = (readJson(path, expected).value as { groups?: unknown } | null)?.groups;
  if (!Array.isArray(groups) || groups.some((one) => typeof one?.kind !== 'string'))
    refuse('invalid_input', path, expected, groups);
  return new Set((groups as DifferenceGroup[]).map(groupKey));
}

/** Prints the summary of all logs. */
export function printSummary({ logs, sessions, groups, loggedBy }: ReplayedLogs, expected: ReadonlySet<string>): void {
  const sum = (of: (one: (typeof sessions)[number]) => number): number =>
    sessions.reduce((all, one) => all + of(one), 0);
  const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
  const differing = sum((one) => one.differing);
  const counts = [
    `${many(
      sum((one) => one.events),
      'event',
    )} of ${many(sessions.length, 'session')} in ${many(logs, 'log')} replayed`,
    `${many(
      sum((one) => one.decisions),
      'decision',
    )}, ${differing === 0 ? 'all as logged' : `${many(differing, 'event')} ${differing === 1 ? 'differs' : 'differ'}`}`,
  ];
  print(
    `${counts.join(': ')}${sum((one) => one.unplayed) === 0 ? '' : `; ${sum((one) => one.unplayed)} not replayed`}`,
  );
  if (loggedBy.length > 0) print(oneLine(`logged by rollflex ${loggedBy.join(', ')}, replayed by ${packageVersion()}`));
  if (groups.length === 0) return;
  const rows = groups.map((group, index) => ({
    ...group,
    title: oneLine(`${index + 1} ${group.type}${reasonsOf(group)}`),
    isExpected: expected.has(groupKey(group)),
  }));
  print('');
  print(
    plainTable(
      [
        ['decision: reason', ({ title }) => title],
        ['differs', ({ kind, isExpected }) => `${kindTexts[kind]}${isExpected ? ', expected' : ''}`],
        ['own', ({ own }) => String(own)],
        ['following', ({ following }) => String(following)],
      ],
      rows,
    ),
  );
  print('');
  print(
    prose(
      'own: no changed decision stands before it since the last snapshot of the log. following: after a changed decision, until the next snapshot; it may be a consequence.',
    ),
  );
  for (const row of rows) print(`\n${exampleOf(row)}`);
}

const longestEvent = 300;

function exampleOf({ title, kind, first, fields }: DifferenceGroup & { readonly title: string }): string {
  const { where, session, seq, event, logged, replayed, refusal } = first;
  const text = event === undefined ? '' : JSON.stringify(event);
  const often = Object.entries(fields).map(([field, count]) => `${field} (${count})`);
  return [
    look('bold', `${title}: ${kindTexts[kind]}`),
    oneLine(`  ${where}, session ${session}, event ${seq}`),
    ...(text === '' ? [] : [oneLine(`  ${text.length > longestEvent ? `${text.slice(0, longestEvent)}…` : text}`)]),
    ...(often.length === 0 ? [] : [prose(oneLine(`  fields that differ: ${often.join(', ')}`), '    ')]),
    refusal === undefined ? sideBySide(['logged', 'replayed'], logged, replayed) : `  ${oneLine(refusal)}`,
  ].join('\n');
}
