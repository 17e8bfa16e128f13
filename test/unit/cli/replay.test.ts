/** `rollflex replay` as a guard: what differs is grouped, over several logs; and two logs are compared. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { create, longPromptQueue, recordEvents, tailBatching } from '../../../src/index.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { logOfOneRound } from '../../support/documents/own-files.ts';
import { completed, openingEvents, tail } from '../../support/servers/clocked.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-replay-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
const written = (name: string, text: string): string => {
  writeFileSync(path(name), text);
  return path(name);
};

const round = (index: number) => ({ type: 'round.requested', at: index, roundId: `r${index}`, weightVersion: 0 });
const header = { kind: 'log', format: 1, version: '0.0.9', run: 'x', file: 1, time: 0 };
const opened = (session: string, snapshot: { policy: string; version: number; seq: number }) => ({
  kind: 'session',
  time: 0,
  session,
  policy: snapshot.policy,
  version: snapshot.version,
  deliver: 'reply',
  timers: 'host',
  shadow: false,
  seq: snapshot.seq,
  snapshot,
});

/** A decision log of a queue with `count` rounds, and a snapshot after every `each` of them. */
function queueLog(
  count: number,
  each: number,
  edit: (line: Record<string, unknown>) => object = (line) => line,
): string {
  const queue = create(longPromptQueue, { promptsPerRound: 2 });
  const lines: object[] = [header];
  for (let index = 0; index < count; index += 1) {
    if (index % each === 0) lines.push(opened('q', queue.snapshot()));
    const event = round(index);
    const decisions = queue.send(event as never);
    lines.push({ kind: 'event', time: 0, session: 'q', seq: queue.seq, event, decisions });
  }
  return lines.map((line) => `${JSON.stringify(edit(line as Record<string, unknown>))}\n`).join('');
}

const changed = (code: string) => (line: Record<string, unknown>) =>
  [2, 3, 6].includes(line.seq as number) && line.kind === 'event'
    ? { ...line, decisions: [{ type: 'round.planned', at: 0, roundId: `r${Number(line.seq) - 1}`, reason: { code } }] }
    : line;

const json = async (...args: string[]) => {
  const { code, out, err } = await rollflex('replay', ...args, '--json');
  return { code, err, found: JSON.parse(out) };
};

beforeAll(() => {
  mkdirSync(path('job'));
  written('job/decisions-00000001.jsonl', queueLog(8, 4, changed('old')));
  written('run.jsonl', logOfOneRound());
  written('good.jsonl', queueLog(8, 4));
});

describe('--summary', () => {
  test('groups what differs, and counts apart what follows a changed decision, until the next snapshot', async () => {
    const { code, found } = await json(path('job'));
    expect(code).toBe(1);
    expect(found.sessions).toMatchObject([{ session: 'q', events: 8, differing: 3, unplayed: 0 }]);
    expect(found.loggedBy).toEqual(['0.0.9']);
    // Events 2 and 3 stand between the same snapshots; event 6 after the next one.
    expect(found.groups).toMatchObject([
      { kind: 'changed', type: 'round.planned', own: 2, following: 1 },
      { kind: 'added', type: 'prompts.request', own: 2, following: 1 },
    ]);
    const [group] = found.groups;
    expect(group.logged).toBe('old');
    expect(group.first).toMatchObject({ where: 'decisions-00000001.jsonl:4', session: 'q', seq: 2, event: round(1) });
    expect(Object.keys(group.fields)).toContain('reason.code');
  });

  test('in words: a table, then the first example of each group, with marks where it differs', async () => {
    const { code, out } = await rollflex('replay', path('job'), path('run.jsonl'), path('good.jsonl'), '--summary');
    expect(code).toBe(1);
    expect(out).toMatch(
      /^27 events of 3 sessions in 3 logs replayed: \d+ decisions, 3 events differ\nlogged by rollflex 0.0.9/,
    );
    expect(out).toMatch(/^1 round\.planned: old → \S+ +decided otherwise +2 +1$/m);
    expect(out).toContain('job/decisions-00000001.jsonl:4, session q, event 2');
    expect(out).toMatch(/^ {3}\* reason\.code +old +\S+$/m);
    expect(out).toMatch(/^ {5}roundId +r1 +r1$/m);
  });

  test('--baseline: what it has is expected; what is new fails', async () => {
    const { found } = await json(path('job'));
    const baseline = written('expected.json', JSON.stringify(found));
    expect((await json(path('job'), '--baseline', baseline)).code).toBe(0);
    const other = written('new.jsonl', queueLog(8, 4, changed('new')));
    expect((await json(path('job'), other, '--baseline', baseline)).code).toBe(1);
    const { code, out } = await rollflex('replay', path('job'), '--summary', '--baseline', baseline);
    expect([code, out]).toEqual([0, expect.stringContaining('decided otherwise, expected')]);
  });

  test('a refused event, and a refused snapshot, are differences; the replay goes on from the next snapshot', async () => {
    const refused = written(
      'refused.jsonl',
      queueLog(12, 4, (line) => {
        if (line.kind === 'event' && line.seq === 2) return { ...line, event: { ...round(1), roundId: 'r0' } };
        if (line.kind === 'session' && line.seq === 4) {
          return { ...line, version: 99, snapshot: { ...(line.snapshot as object), version: 99 } };
        }
        return line;
      }),
    );
    const { code, found } = await json(refused);
    expect(code).toBe(1);
    expect(found.sessions).toMatchObject([{ events: 5, differing: 1, unplayed: 6, refused: 2, otherVersions: [99] }]);
    expect(found.groups).toMatchObject([
      { kind: 'event refused', type: 'round.requested', own: 1, first: { seq: 2 } },
      { kind: 'snapshot refused', type: 'long-prompt-queue', replayed: 'snapshot_mismatch', own: 1, first: { seq: 4 } },
    ]);
    const { out } = await rollflex('replay', refused, '--summary');
    expect(out).toContain(
      '6 events could not be replayed: this version refuses the snapshot, or an event, before them',
    );
    expect(out).toContain('logged by another version of the policy: 99');
    expect(out).toContain('or one that can be migrated to it, got 99');
  });
});

describe('what a log may be', () => {
  test('an event log that is cut off, lines of many pieces, and an empty file beside others', async () => {
    const long = { ...round(0), roundId: 'r'.repeat(500) };
    const queue = create(longPromptQueue, { promptsPerRound: 2 });
    const lines: string[] = [];
    recordEvents(queue, (line) => lines.push(line));
    for (let index = 0; index < 4000; index += 1) queue.send({ ...long, roundId: `${long.roundId}${index}` } as never);
    const cut = written('cut.jsonl', `${lines.join('\n')}\n{"event":{"ty`);
    mkdirSync(path('begun'));
    written('begun/decisions-00000001.jsonl', queueLog(2, 4));
    written('begun/decisions-00000002.jsonl', '');
    const { code, found } = await json(cut, path('begun'));
    expect([code, found.tornFiles, found.sessions[0].events, found.sessions[1].events]).toEqual([0, 1, 4000, 2]);
  });

  test('a log of which nothing can be replayed does not pass', async () => {
    const empty = written('empty.jsonl', '');
    const later = written('later.jsonl', queueLog(2, 4).replace(/"snapshot":\{.*\}/, '"snapshot":null}'));
    for (const log of [empty, later]) {
      const { code, err } = await rollflex('replay', log, '--summary');
      expect([code, err]).toEqual([1, 'rollflex: no event was replayed, so nothing was compared\n']);
    }
  });

  test.each<[string, () => string[], string]>([
    ['a baseline that is none', () => [path('job'), '--baseline', written('none.json', '{"groups":3}')], 'none.json: '],
    ['a session of an event log', () => [path('job'), path('run.jsonl'), '--session', 'q'], '--session: expected'],
    [
      'a policy that is unknown',
      () => [written('acme.jsonl', queueLog(1, 1).replaceAll('long-prompt-queue', 'acme'))],
      'acme.jsonl:2',
    ],
    [
      'two logs against one',
      () => [path('job'), path('run.jsonl'), '--against', path('good.jsonl')],
      '--against: expected one log',
    ],
    ['a log against itself', () => [path('job'), '--against', path('job')], '--against: expected another log'],
    [
      'a summary of a comparison',
      () => [path('job'), '--against', path('good.jsonl'), '--summary'],
      '--summary: expected',
    ],
    [
      'a log of another policy',
      () => [path('good.jsonl'), '--against', path('run.jsonl')],
      'a session of long-prompt-queue',
    ],
  ])('%s: exit code 2', async (_, args, reason) => {
    const { code, out, err } = await rollflex('replay', ...args());
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(reason)]);
  });
});

describe('--against', () => {
  /** A run of tail batching, whose clock begins at `at`. */
  function run(name: string, config: object, ends: readonly string[], at = 0): string {
    const policy = create(tailBatching, { ...tail.config, ...config } as never);
    const lines: string[] = [];
    recordEvents(policy, (line) => lines.push(line));
    const events = [...openingEvents(), ...ends.map((id, index) => completed(id, index + 1))];
    for (const event of events) policy.send({ ...event, at: (event as { at: number }).at + at } as never);
    return written(name, `${lines.join('\n')}\n`);
  }
  const ends = ['a/0#0', 'a/1#0', 'b/0#0', 'b/1#0'];

  test('the same but for the clock', async () => {
    const { code, out } = await rollflex('replay', run('one', {}, ends), '--against', run('late', {}, ends, 1e6));
    expect(code).toBe(0);
    expect(out).toContain('6 events and their decisions are the same\n  times differ from event 1 on');
  });

  test('the first decision that differs, the settings behind it, and what followed', async () => {
    const [one, other] = [run('a', {}, ends), run('b', { promptSpeculation: 1 }, ends)];
    const { code, found } = await json(one, '--against', other);
    expect(code).toBe(1);
    const [{ config, parted, sameEvents, followed }] = found.sessions;
    expect(config).toMatchObject([{ path: 'promptSpeculation', other: 1 }]);
    expect(parted).toMatchObject({ kind: 'decision', seq: sameEvents + 1, one: { where: `a:${sameEvents + 2}` } });
    expect(parted.differences[0].fields).toContain('count');
    expect(followed.events).toEqual({ one: 6, other: 6 });
    const { out } = await rollflex('replay', one, '--against', other);
    expect(out).toMatch(/^setting promptSpeculation: A not set, B 1$/m);
    expect(out).toMatch(/^ {3}\* count +3 +2$/m);
    expect(out).toMatch(/^request\.launch +\d+ +\d+$/m);
  });

  test('the first event that differs, and the end of a log', async () => {
    const [one, other] = [run('c', {}, ends), run('d', {}, ['a/1#0', 'a/0#0', 'c/0#0'])];
    const { found } = await json(one, '--against', other);
    expect(found.sessions[0].parted).toMatchObject({
      kind: 'event',
      one: { event: { requestId: 'a/0#0' } },
      other: { event: { requestId: 'a/1#0' } },
    });
    expect(found.sessions[0].followed.ends).toContainEqual(
      expect.objectContaining({
        what: 'request',
        id: 'c/0#0',
        other: expect.objectContaining({ type: 'response.accepted' }),
      }),
    );
    const short = run('e', {}, ends.slice(0, 2));
    const { code, out } = await rollflex('replay', one, '--against', short);
    expect([code, out]).toEqual([1, expect.stringContaining('B ends before event 5')]);
  });

  test('sessions by their ids; a gap in one of the logs', async () => {
    const gap = written('gap.jsonl', queueLog(8, 4).split('\n').toSpliced(3, 1).join('\n'));
    const { found } = await json(path('good.jsonl'), '--against', gap);
    expect(found.sessions[0]).toMatchObject({ sameEvents: 7, unpaired: { one: 1, other: 0 }, parted: null });
    const two = `${queueLog(8, 4)}${queueLog(1, 1).split('\n').slice(1).join('\n').replaceAll('"q"', '"z"')}`;
    const both = await json(written('two.jsonl', two), '--against', path('good.jsonl'));
    expect([both.code, both.found.sessions.length, both.found.onlyOne]).toEqual([1, 1, ['z']]);
  });
});
