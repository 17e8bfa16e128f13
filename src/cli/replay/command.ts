/** `rollflex replay`: replays logs and compares every decision, or compares two logs. */
import { Command } from 'commander';
import { oneLine } from '../../core/ids/printable.ts';
import { refuse } from '../../errors.ts';
import type { ReadLine } from '../../logs/format/decision-log.ts';
import { type DifferenceGroup, DifferenceGroups, groupKey } from '../../logs/replay/difference-groups.ts';
import { differencesOf } from '../../logs/replay/differences.ts';
import { replayInto } from '../../logs/replay/replay-log.ts';
import { registryWith } from '../files/definitions.ts';
import { type AnyLog, openLogs } from '../files/logs.ts';
import { option } from '../terminal/options.ts';
import { exitCodes, print, printJson, say } from '../terminal/output.ts';
import { isSilent, Progress } from '../terminal/progress.ts';
import { runAgainst } from './against.ts';
import { sideBySide } from './side-by-side.ts';
import { expectedGroups, type LoggedSession, printSummary, type ReplayedLogs } from './text.ts';

/** Options as the command line gives them. */
export interface ReplayOptions {
  readonly session?: string;
  readonly policies?: readonly string[];
  readonly summary?: boolean;
  readonly baseline?: string;
  readonly against?: string;
  readonly json?: boolean;
}

/** Replays logs and returns the exit code: 1 if a decision differs that is not expected, or if nothing was replayed. */
export async function runReplay(paths: readonly string[], options: ReplayOptions): Promise<number> {
  const logs = openLogs(paths);
  if (options.session !== undefined && logs.some(({ isEventLog }) => isEventLog)) {
    const expected = 'a decision log of a server with --session: an event log has one session';
    refuse('invalid_input', '--session', expected, options.session);
  }
  if (options.against !== undefined) return runAgainst(logs, options.against, options);
  const expected = options.baseline === undefined ? new Set<string>() : expectedGroups(options.baseline);
  const { restore } = await registryWith(options.policies);
  const progress = new Progress({ text: 'replaying', isQuiet: isSilent(options) });
  const replayed = await replayAll(logs, restore, options.session, progress).finally(() => progress.stop());
  if (options.json) {
    const sessions = replayed.sessions.map(({ isEventLog: _, ...one }) => one);
    printJson({ ...replayed, sessions });
  } else printReplay(replayed, options.summary ? expected : undefined);
  if (replayed.sessions.every(({ events, differing }) => events + differing === 0)) {
    say('no event was replayed, so nothing was compared');
    return exitCodes.failed;
  }
  // What follows an expected difference may differ in any way.
  const isExpected = (one: DifferenceGroup): boolean =>
    expected.has(groupKey(one)) || (expected.size > 0 && one.own === 0);
  return replayed.groups.every(isExpected) ? exitCodes.done : exitCodes.failed;
}

type Restore = Parameters<typeof replayInto>[2];

async function replayAll(
  logs: readonly AnyLog[],
  restore: Restore,
  only: string | undefined,
  progress: Progress,
): Promise<ReplayedLogs> {
  const groups = new DifferenceGroups();
  const loggedBy = new Set<string>();
  const sessions: LoggedSession[] = [];
  let [droppedLines, tornFiles] = [0, 0];
  for (const log of logs) {
    const lines = counted(noting(loggedBy, log.lines()), (count) => {
      progress.text = `replaying ${log.name}: ${count} lines`;
    });
    const found = await progress.step(() => replayInto(groups, lines, restore, only));
    for (const one of found.sessions) sessions.push({ log: log.name, isEventLog: log.isEventLog, ...one });
    droppedLines += found.droppedLines;
    tornFiles += found.tornFiles;
  }
  if (only !== undefined && sessions.length === 0) refuse('unknown_id', 'session', 'a session of the log', only);
  return { logs: logs.length, sessions, groups: groups.inOrder(), loggedBy: [...loggedBy], droppedLines, tornFiles };
}

/** Lines between two looks at the clock. */
const linesBetween = 1000;

function* counted(lines: Iterable<ReadLine>, tell: (count: number) => void): Generator<ReadLine> {
  let count = 0;
  for (const one of lines) {
    count += 1;
    if (count % linesBetween === 0) tell(count);
    yield one;
  }
}

function* noting(versions: Set<string>, lines: Iterable<ReadLine>): Generator<ReadLine> {
  for (const one of lines) {
    if (one.line !== 'torn' && one.line.kind === 'log') versions.add(one.line.version);
    yield one;
  }
}

/** Names a session: by its policy alone if it is an event log and the only log. */
function nameOf({ log, isEventLog, session, policy }: LoggedSession, areSeveral: boolean): string {
  if (isEventLog) return areSeveral ? `${session}, ${policy}` : policy;
  return `${areSeveral ? `${log}: ` : ''}${session}, ${policy}`;
}

function printReplay(replayed: ReplayedLogs, expected: ReadonlySet<string> | undefined): void {
  const { logs, sessions, droppedLines, tornFiles } = replayed;
  if (expected !== undefined) printSummary(replayed, expected);
  for (const one of sessions) {
    const name = oneLine(nameOf(one, logs > 1));
    const missing = missingOf(one);
    if (expected === undefined) printSession(one, name);
    else if (missing.length > 0) print(name);
    for (const line of missing) print(oneLine(line));
  }
  if (droppedLines > 0) print(`${droppedLines} lines were dropped by the server`);
  if (tornFiles > 0) print(`${tornFiles} ${tornFiles === 1 ? 'file ends' : 'files end'} in the middle of a line`);
}

function printSession({ events, decisions, differing, difference }: LoggedSession, name: string): void {
  if (difference === undefined) return print(`${name}: ${events} events, ${decisions} decisions, all as logged`);
  const { where, seq, event, logged, replayed } = difference;
  print(oneLine(`${name}: ${where}, event ${seq}, differs, at ${JSON.stringify(event)}`));
  if (replayed.startsWith('[')) {
    for (const { one, other, kind } of differencesOf(JSON.parse(logged), JSON.parse(replayed))) {
      print(oneLine(`  ${(one ?? other)!.type}${kind === 'reordered' ? ', in another order' : ''}`));
      print(sideBySide(['logged', 'replayed'], one, other));
    }
  } else print(oneLine(`  ${replayed}`));
  if (differing > 1) print(`  ${differing - 1} later events differ, too (--summary groups them)`);
}

/** Says what of a session was not compared, and why. */
function missingOf({ gaps, unplayed, refused, otherVersions }: LoggedSession): string[] {
  const why =
    refused > 0 ? 'this version refuses the snapshot, or an event, before them' : 'no snapshot stands before them';
  return [
    ...gaps.map(({ from, to, where }) => {
      const which = from === to ? `event ${from} is` : `events ${from} to ${to} are`;
      return `  ${which} not in the log (before ${where})`;
    }),
    ...(unplayed === 0 ? [] : [`  ${unplayed} events could not be replayed: ${why}`]),
    ...(otherVersions.length === 0 ? [] : [`  logged by another version of the policy: ${otherVersions.join(', ')}`]),
  ];
}

export function replayCommand(): Command {
  return new Command('replay')
    .argument('<log...>', 'logs written by recordEvents, and folders (or files) of serve --log-dir')
    .addOption(option('session'))
    .addOption(option('policies'))
    .option('--summary', 'group what differs by decision and reason, with the first example of each group')
    .option('--baseline <file>', 'what --json printed before: these groups are expected, and do not fail')
    .option('--against <log>', 'replay nothing: compare with this log, up to the first difference, and what followed')
    .addOption(option('json'))
    .addHelpText(
      'after',
      `
What a decision log does not have (lines that were dropped, files that are gone) is named by
session and event; the replay goes on from the next snapshot. After a decision that differs it
goes on, too, and counts what follows apart, up to the next snapshot.

Examples
  rollflex replay run.jsonl
  rollflex replay ~/rollflex-log --session s1
  rollflex replay logs/* --summary
  rollflex replay logs/* --json > expected.json; rollflex replay logs/* --baseline expected.json
  rollflex replay old-run.jsonl --against new-run.jsonl`,
    )
    .action(async (paths: string[], options: ReplayOptions) => {
      process.exitCode = await runReplay(paths, options);
    });
}
