/** `rollflex replay LOG --against LOG`: the first event or decision that differs between two logs, and what followed. */

import { oneLine } from '../../core/ids/printable.ts';
import { refuse } from '../../errors.ts';
import { compareLogs, type SessionDiff } from '../../logs/replay/compare.ts';
import type { LogDiff } from '../../logs/replay/diff.ts';
import type { LastWord } from '../../logs/replay/followed.ts';
import { type AnyLog, openLogs } from '../files/logs.ts';
import { exitCodes, look, print, printJson } from '../terminal/output.ts';
import { plainTable, prose } from '../terminal/plain-table.ts';
import { sideBySide } from './side-by-side.ts';

interface AgainstOptions {
  readonly session?: string;
  readonly policies?: readonly string[];
  readonly summary?: boolean;
  readonly baseline?: string;
  readonly json?: boolean;
}

/** Most prompts and requests that are printed; --json contains more of them. */
const shownEnds = 10;

/** Compares two logs, prints how they differ, and returns the exit code: 1 if they differ. */
export function runAgainst(logs: readonly AnyLog[], against: string, options: AgainstOptions): number {
  for (const option of ['summary', 'baseline', 'policies'] as const) {
    if (options[option] === undefined) continue;
    refuse('invalid_input', `--${option}`, 'a replay: --against compares two logs without one', against);
  }
  const [one, second] = logs;
  const [other] = openLogs([against]);
  if (second !== undefined) refuse('invalid_input', '--against', 'one log to compare with it', `${logs.length} logs`);
  if (one!.name === other!.name) refuse('invalid_input', '--against', 'another log', against);
  if (options.session !== undefined && other!.isEventLog)
    refuse('invalid_input', '--session', 'two decision logs of servers', against);
  const { sessions, onlyOne, onlyOther } = compareLogs(one!, other!, options.session);
  if (options.json) printJson({ sessions, onlyOne, onlyOther });
  else {
    print(oneLine(`A is ${one!.name}, B is ${other!.name}`));
    for (const session of sessions) printDiff(session);
    if (onlyOne.length > 0) print(oneLine(`only in A: ${onlyOne.join(', ')}`));
    if (onlyOther.length > 0) print(oneLine(`only in B: ${onlyOther.join(', ')}`));
  }
  const isSame = sessions.every(({ parted, reasons }) => parted === null && reasons === 0);
  return isSame && onlyOne.length + onlyOther.length === 0 ? exitCodes.done : exitCodes.failed;
}

const shown = (value: unknown): string => (value === undefined ? 'not set' : JSON.stringify(value));

function printDiff(diff: SessionDiff): void {
  const { parted, firstReason, unpaired } = diff;
  print(`\n${look('bold', oneLine(`${diff.session}, ${diff.policy}`))}`);
  for (const { path, one, other } of diff.config)
    print(prose(oneLine(`setting ${path}: A ${shown(one)}, B ${shown(other)}`), '  '));
  if (diff.isSameStart === false) print('the logs begin with different states');
  print(`${diff.sameEvents} events and their decisions are the same${parted === null ? '' : ' before the logs part'}`);
  if (diff.timesDifferFrom !== null)
    print(`  times differ from event ${diff.timesDifferFrom} on, and are not compared`);
  if (unpaired.one + unpaired.other > 0)
    print(`  ${unpaired.one} events are only in A, ${unpaired.other} only in B: the other log has a gap there`);
  if (firstReason !== null) {
    const { seq, one, other, difference } = firstReason;
    print(oneLine(`  ${diff.reasons} reasons differ; the first at event ${seq} (A ${one!.where}, B ${other!.where}):`));
    print(`   ${oneLine(difference.one!.type)}`);
    print(sideBySide(['A', 'B'], difference.one, difference.other));
  }
  if (parted === null) return;
  printParting(parted);
  printFollowed(diff.followed);
}

function printParting({ kind, seq, one, other, differences }: NonNullable<LogDiff['parted']>): void {
  const locations = [one === null ? [] : `A ${one.where}`, other === null ? [] : `B ${other.where}`].flat().join(', ');
  const what = {
    event: `event ${seq} is the first that differs`,
    decision: `event ${seq} is the same, and the decisions on it are the first that differ`,
    end: `${one === null ? 'A' : 'B'} ends before event ${seq}`,
  }[kind];
  print(`\n${look('bold', prose(oneLine(`${what} (${locations})`), '  '))}`);
  if (kind !== 'decision') return print(sideBySide(['A', 'B'], one?.event, other?.event));
  print(oneLine(`  ${JSON.stringify(one!.event)}`));
  for (const difference of differences) {
    print(
      `  ${oneLine((difference.one ?? difference.other)!.type)}${difference.kind === 'reordered' ? ' (order)' : ''}`,
    );
    print(sideBySide(['A', 'B'], difference.one, difference.other));
  }
}

const said = (word: LastWord | null): string =>
  word === null ? 'not there' : `${word.type}${word.code === null ? '' : ` (${word.code})`}`;

function printFollowed({ events, decisions, endedOtherwise, ends }: LogDiff['followed']): void {
  const rows = [{ type: 'events', ...events }, ...decisions];
  print('');
  print(
    plainTable(
      [
        ['from there on', ({ type }) => oneLine(type)],
        ['A', ({ one }) => String(one)],
        ['B', ({ other }) => String(other)],
      ],
      rows,
    ),
  );
  for (const what of ['prompt', 'request'] as const) {
    const count = endedOtherwise[`${what}s`];
    if (count === 0) continue;
    print(`\n${count} ${what}s ended otherwise`);
    for (const { id, one, other } of ends.filter((end) => end.what === what).slice(0, shownEnds))
      print(prose(oneLine(`  ${id}: A ${said(one)}, B ${said(other)}`), '    '));
    if (count > shownEnds) print(`  … and ${count - shownEnds} more`);
  }
}
