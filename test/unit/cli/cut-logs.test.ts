/** A log whose last line was cut off, as by a machine that died: what is there is read, and that it was cut is said. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runExplain } from '../../../src/cli/explain/command.ts';
import { openLog, openLogs } from '../../../src/cli/files/logs.ts';
import { create, recordEvents, tailBatching } from '../../../src/index.ts';
import { captured } from '../../support/command-line/in-process.ts';
import { Folders } from '../../support/servers/decision-log.ts';

const folders = new Folders();
afterAll(() => folders.remove());

/** A log of three events, in the form of a host or of a server, without the end of its last line. */
function cutLog(kind: 'event' | 'decision'): string {
  const lines: string[] = [];
  const policy = create(tailBatching, { promptsPerRound: 1, responsesPerPrompt: 1 });
  recordEvents(policy, (line) => void lines.push(line));
  policy.send({ type: 'engine.added', at: 0, engineId: 'e' });
  policy.send({ type: 'round.requested', at: 1, roundId: 'r', weightVersion: 0 });
  policy.send({ type: 'prompts.supplied', at: 2, roundId: 'r', prompts: [{ promptId: 'p' }] });
  const folder = folders.next();
  mkdirSync(folder, { recursive: true });
  if (kind === 'event') return written(join(folder, 'run.jsonl'), lines);
  const [first, ...events] = lines.map((line) => JSON.parse(line));
  const { snapshot } = first;
  const session = {
    session: 's',
    policy: snapshot.policy,
    version: snapshot.version,
    deliver: 'reply',
    timers: 'host',
  };
  const all = [
    { kind: 'log', format: 1, version: '0', run: 'r', file: 1, time: 1 },
    { kind: 'session', time: 1, ...session, shadow: false, seq: 0, snapshot },
    ...events.map((one, index) => ({ kind: 'event', time: 1, session: 's', seq: index + 1, ...one })),
  ];
  return written(
    join(folder, 'decisions-00000001.jsonl'),
    all.map((one) => JSON.stringify(one)),
  );
}

function written(path: string, lines: readonly string[]): string {
  writeFileSync(path, lines.join('\n').slice(0, -10));
  return path;
}

describe.each(['event', 'decision'] as const)('a cut %s log', (kind) => {
  const words =
    'the file ends in the middle of this line, which is left out: it was cut off, or is still being written';

  test('is read without its last line, which is said once', async () => {
    const path = cutLog(kind);
    let whole = 0;
    const { err } = await captured(() => {
      const [log] = openLogs([path]);
      // Commands read a log more than once.
      for (let times = 0; times < 2; times += 1) {
        whole = [...log!.lines()].filter(({ line }) => line !== 'torn' && line.kind === 'event').length;
      }
    });
    expect(whole).toBe(2);
    expect(err.split(words)).toHaveLength(2);
    expect(err).toMatch(/run\.jsonl:4: |decisions-00000001\.jsonl:5: /);
  });

  test('explain says so', async () => {
    const { code, out } = await captured(() => runExplain([cutLog(kind)], { index: folders.next() }));
    expect(code).toBe(0);
    expect(out).toContain('1 file ends in the middle of a line.');
  });
});

test('what replays decisions says so, too', async () => {
  const { err } = await captured(() => {
    const log = openLog([cutLog('decision')]);
    if (log.kind === 'decisions') [...log.lines()];
  });
  expect(err).toContain('ends in the middle of this line');
});
