/** What a watchdog says of the logs of the zoo: nothing in healthy but slow runs, and who owes what in the hangs. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLogs } from '../../src/cli/files/logs.ts';
import { root } from '../support/command-line/process.ts';
import { incidents } from './incidents.ts';
import { type HeardLine, noticesOf } from './watched.ts';

const folder = join(root, 'test/zoo/logs');
const names = readdirSync(folder);

/** The events of a log. */
function* linesOf(name: string): Generator<HeardLine> {
  for (const { line } of openLogs([join(folder, name)])[0]!.lines())
    if (line !== 'torn' && line.kind === 'event') yield line as HeardLine;
}

test('nothing is named in healthy but slow runs', () => {
  const slow = names.filter((name) => name.startsWith('slow-'));
  expect(slow).toHaveLength(10);
  expect(slow.filter((name) => noticesOf(linesOf(name), 0).length > 0)).toEqual([]);
});

test('of every hang something is named within an hour, and first the event that is missing', () => {
  const first = incidents.map(({ log, cause }) => {
    const name = names.find((one) => one === log || one === `${log}.jsonl`)!;
    const { event, ids = {}, by } = noticesOf(linesOf(name), 3600)[0] ?? {};
    const given: Readonly<Record<string, string | undefined>> = { ...ids, engineId: by, workerId: by };
    const isOne = cause.ids.some((one) =>
      Object.entries(one).every(([field, id]) => given[field] === undefined || given[field] === id),
    );
    return { log, isMissing: event === cause.event && isOne };
  });
  expect(first).toHaveLength(26);
  expect(first.filter(({ isMissing }) => !isMissing)).toEqual([]);
});
