/**
 * Checks histories that clients of another language have written: `node --import tsx check-histories.ts FOLDER`. Each line
 * of a `.jsonl` file is an object:
 *
 * - a call: `call` (its id), `method`, `params`, `from`;
 * - its answer: `answer` (the id), `to`, and `result` or `error`; none if it was lost;
 * - streamed decisions: `session`, `from`, `to`, `first` (number of the first) and `decisions`.
 *
 * Times are in nanoseconds of the monotonic clock.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkSession, listed, nothingChecked, type Recorded, type Streamed } from './history.ts';

/** The calls of a busy machine overlap more: an order of several hundred can take half an hour to search for. */
const mostStates = 5_000;
const folder = process.argv[2]!;
const calls = new Map<string, Recorded>();
const streamed: Streamed[] = [];
for (const file of readdirSync(folder).filter((one) => one.endsWith('.jsonl'))) {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  // What a client that was killed was about to write may be cut off.
  lines.pop();
  for (const line of lines) {
    const { call, answer, ...rest } = JSON.parse(line);
    if (call !== undefined) calls.set(call, { ...rest, to: Number.POSITIVE_INFINITY, isLost: true, isPart: true });
    else if (answer !== undefined) calls.set(answer, { ...calls.get(answer)!, ...rest, isLost: false });
    else streamed.push(rest);
  }
}
const all = [...calls.values()];
const sessions = new Set(all.flatMap(({ params: { session } }) => (session === undefined ? [] : [session as string])));
const checked = nothingChecked();
for (const session of sessions) {
  const ofSession = all.flatMap((one) => {
    if (one.method === 'session.list') return [listed(session, one)];
    return one.params.session === session ? [one] : [];
  });
  checkSession(
    session,
    ofSession,
    streamed.filter((one) => one.session === session),
    checked,
    mostStates,
  );
}
console.log(JSON.stringify(checked));
