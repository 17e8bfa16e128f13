/** `rollflex replay`: replays a log and compares every decision. */
import { Command } from 'commander';
import { replayEvents } from '../core/event-log.ts';
import { oneLine } from '../core/printable.ts';
import { type LogReplay, replayLog, type SessionReplay } from '../core/replay-log.ts';
import { refuse } from '../errors.ts';
import { registryWith } from './definitions.ts';
import { inLog, type NamedLog, openLog } from './log-files.ts';
import { exitCodes, print, printJson } from './output.ts';

/** Options as the command line gives them. */
export interface ReplayOptions {
  readonly session?: string;
  readonly policies?: string;
  readonly json?: boolean;
}

/** Replays a log and returns the exit code: 1 if a decision differs. */
export async function runReplay(paths: readonly string[], options: ReplayOptions): Promise<number> {
  const { restore } = await registryWith(options.policies);
  const log = openLog(paths);
  if (log.kind === 'events') return inLog(paths[0]!, () => replayOne(log, restore, options));
  const replay = replayLog(log.lines(), restore, options.session);
  if (options.json) printJson(replay);
  else printReplay(replay);
  return replay.sessions.some(({ difference }) => difference !== undefined) ? exitCodes.failed : exitCodes.done;
}

type Restore = Parameters<typeof replayEvents>[1];

function replayOne({ lines }: NamedLog & { kind: 'events' }, restore: Restore, options: ReplayOptions): number {
  if (options.session !== undefined) {
    const expected = 'a decision log of a server with --session: this log has one session';
    refuse('invalid_input', '--session', expected, options.session);
  }
  const { events, decisions, difference, snapshot } = replayEvents(lines, restore);
  if (options.json) printJson({ policy: snapshot.policy, events, decisions, difference: difference ?? null });
  else if (difference === undefined)
    print(`${snapshot.policy}: ${events} events, ${decisions} decisions, all as logged`);
  else printDifference(`${snapshot.policy}: line ${difference.line}`, difference);
  return difference === undefined ? exitCodes.done : exitCodes.failed;
}

interface Difference {
  readonly event: unknown;
  readonly logged: string;
  readonly replayed: string;
}

function printDifference(where: string, { event, logged, replayed }: Difference): void {
  print(oneLine(`${where} differs, at ${JSON.stringify(event)}`));
  print(oneLine(`  logged   ${logged}`));
  print(oneLine(`  replayed ${replayed}`));
}

function printReplay({ sessions, droppedLines, tornFiles }: LogReplay): void {
  for (const one of sessions) printSession(one);
  if (droppedLines > 0) print(`${droppedLines} lines were dropped by the server`);
  if (tornFiles > 0) print(`${tornFiles} ${tornFiles === 1 ? 'file ends' : 'files end'} in the middle of a line`);
}

function printSession({ session, policy, events, decisions, unplayed, gaps, difference }: SessionReplay): void {
  const name = oneLine(`${session}, ${policy}`);
  if (difference !== undefined) printDifference(`${name}: ${difference.where}, event ${difference.seq},`, difference);
  else print(`${name}: ${events} events, ${decisions} decisions, all as logged`);
  for (const { from, to, where } of gaps) {
    print(
      oneLine(`  ${from === to ? `event ${from} is` : `events ${from} to ${to} are`} not in the log (before ${where})`),
    );
  }
  if (unplayed > 0) print(`  ${unplayed} events could not be replayed: no snapshot stands before them`);
}

export function replayCommand(): Command {
  return new Command('replay')
    .argument('<log...>', 'a log written by recordEvents, or the folder (or files) of serve --log-dir')
    .option('--session <id>', 'of a decision log: this session only')
    .option('--policies <file>', 'a module with definitions of your own, each an export or in a list')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
What a decision log does not have (lines that were dropped, files that are gone) is named by
session and event; the replay goes on from the next snapshot.

Examples
  rollflex replay run.jsonl
  rollflex replay ~/rollflex-log --session s1
  rollflex replay ~/rollflex-log --json`,
    )
    .action(async (paths: string[], options: ReplayOptions) => {
      process.exitCode = await runReplay(paths, options);
    });
}
