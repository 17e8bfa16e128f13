/** `rollflex what-if` of each log: an answer, or a refusal that says what is missing and what to do. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openLogs } from '../../src/cli/files/logs.ts';
import { sessionsOf } from '../../src/cli/job/lengths.ts';
import { answered } from '../../src/cli/what-if/question.ts';
import { isPolicyError } from '../../src/errors.ts';
import { logs } from './files.ts';

const ask = (path: string, session: string | undefined) =>
  answered([path], { set: [['maxInFlight', 64]], seeds: 1, seed: 1, ...(session === undefined ? {} : { session }) });

/** Returns the refusal of a question, or nothing if it is answered. */
async function refusalOf(path: string, session?: string): Promise<{ code: string; message: string } | undefined> {
  try {
    expect((await ask(path, session)).answer).toBeDefined();
    return undefined;
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    return error;
  }
}

/** Sessions of the logs; that of an event log has no name. */
const asked: readonly { name: string; path: string; session: string | undefined }[] = readdirSync(logs)
  .sort()
  .flatMap((name): { name: string; path: string; session: string | undefined }[] => {
    const path = join(logs, name);
    const [log] = openLogs([path]);
    return log!.isEventLog
      ? [{ name, path, session: undefined }]
      : [...sessionsOf(log!)].map((session) => ({ name, path, session }));
  });

describe('what would have been', () => {
  const seen = { answered: 0, refused: 0 };

  test.each(asked)('$name $session', async ({ path, session }) => {
    const refusal = await refusalOf(path, session);
    seen[refusal === undefined ? 'answered' : 'refused'] += 1;
    if (refusal === undefined) return;
    expect(refusal.code).toBe('infeasible');
    // What is missing, and two commands that answer in its place.
    expect(refusal.message).toMatch(
      /expected .+; `rollflex simulate --from-log` compares .+, and `rollflex explain` says .+, got /s,
    );
  });

  test('both were met', () => {
    expect(seen.answered).toBeGreaterThan(5);
    expect(seen.refused).toBeGreaterThan(5);
  });

  test('a log of several sessions names them', async () => {
    const several = asked.filter(
      ({ name, session }) => session !== undefined && session !== asked.find((one) => one.name === name)!.session,
    );
    expect(several.length).toBeGreaterThan(0);
    for (const { path, session } of several) {
      const { message } = (await refusalOf(path))!;
      expect(message).toContain('--session: expected one of');
      expect(message).toContain(session);
    }
  });
});
