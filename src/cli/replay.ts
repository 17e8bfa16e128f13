/** `rollflex replay`: plays an event log again and compares every decision. */
import { readFileSync } from 'node:fs';
import { replayEvents } from '../core/event-log.ts';
import { registry } from '../registry.ts';
import { exitCodes, print, printJson } from './output.ts';

/** Replays a log and gives the exit code: 1 if a decision differs. */
export function runReplay(path: string, options: { json?: boolean }): number {
  const replay = replayEvents(readFileSync(path, 'utf8').split('\n'), registry.restorePolicy);
  const { events, decisions, difference, snapshot } = replay;
  if (options.json) printJson({ policy: snapshot.policy, events, decisions, difference: difference ?? null });
  else if (difference === undefined)
    print(`${snapshot.policy}: ${events} events, ${decisions} decisions, all as logged`);
  else {
    print(`${snapshot.policy}: line ${difference.line} differs, at ${JSON.stringify(difference.event)}`);
    print(`  logged   ${difference.logged}`);
    print(`  replayed ${difference.replayed}`);
  }
  return difference === undefined ? exitCodes.done : exitCodes.failed;
}
