/** The index of a log answers as a replay from the beginning does, whether it was made at once, extended or found. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { job } from '../../../bench/explain/job.ts';
import { recordEvents, registry } from '../../../src/index.ts';
import { LogIndex } from '../../../src/logs/index/log-index.ts';
import { Folders } from '../../support/servers/decision-log.ts';

const folders = new Folders();
afterAll(() => folders.remove());

const restore = (snapshot: unknown) => registry.restore(snapshot, { validate: false });
const grain = { segment: 60_000, block: 4000, state: 20_000 };
const events = 1200;

/** A log of some events, as lines without line breaks, and the snapshots after some of them. */
const lines: string[] = [];
const snapshots = new Map<number, unknown>();
beforeAll(() => {
  const one = job({ promptsPerRound: 4, responsesPerPrompt: 2 });
  recordEvents(one.policy as never, (line) => lines.push(line));
  for (let seq = 0; seq < events; seq += 100) {
    snapshots.set(one.policy.seq, one.policy.snapshot());
    one.play(100);
  }
  snapshots.set(one.policy.seq, one.policy.snapshot());
});

function open(
  path: string | readonly string[],
  more: Partial<ConstructorParameters<typeof LogIndex>[1]> = {},
): LogIndex {
  return new LogIndex([path].flat(), { restore, writer: 'test', leastBytes: 0, grain, ...more });
}

function inFolder(name: string, text: string): string {
  const folder = folders.next();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
const eventLog = (count = lines.length): string => inFolder('run.jsonl', `${lines.slice(0, count).join('\n')}\n`);

/** What an index says, with the states at some events. */
function answers(index: LogIndex, session = index.sessions[0]!.session) {
  const states = [...snapshots.keys()].map((seq) => index.stateAt(session, { seq }).save());
  const found = [...index.linesOf(session, 'prompt-3')].map(({ seq }) => seq);
  return { states, found, sessions: index.sessions, lacks: index.lacks };
}

/** The same lines in files of a server, split before these events; the state stands before each of `states`. */
function serverLog(
  splits: readonly number[],
  states: readonly number[],
  without: readonly (readonly [number, number])[] = [],
) {
  const folder = folders.next();
  mkdirSync(folder, { recursive: true });
  const files: string[][] = [];
  const opened = (seq: number, snapshot: unknown) =>
    JSON.stringify({
      kind: 'session',
      time: 1,
      session: 's',
      policy: 'tail-batching',
      version: 1,
      deliver: 'reply',
      timers: 'host',
      shadow: false,
      seq,
      snapshot,
    });
  for (let seq = 0; seq < events; seq += 1) {
    if (seq === 0 || splits.includes(seq)) {
      files.push([JSON.stringify({ kind: 'log', format: 1, version: '0', run: 'r', file: files.length + 1, time: 1 })]);
      files.at(-1)!.push(opened(seq, states.includes(seq) ? snapshots.get(seq) : null));
    } else if (states.includes(seq)) files.at(-1)!.push(opened(seq, snapshots.get(seq)));
    if (without.some(([from, to]) => from <= seq + 1 && seq + 1 <= to)) continue;
    const { event, decisions } = JSON.parse(lines[seq + 1]!) as { event: { at: number }; decisions: unknown[] };
    files.at(-1)!.push(JSON.stringify({ kind: 'event', time: event.at, session: 's', seq: seq + 1, event, decisions }));
  }
  for (const [index, file] of files.entries())
    writeFileSync(join(folder, `decisions-0000000${index + 1}.jsonl`), `${file.join('\n')}\n`);
  return folder;
}

const segmentsOf = (path: string): string[] => readdirSync(join(path, '..', '.rollflex-index')).sort();

describe('an index', () => {
  test('has the state after every event that was asked for, and the lines that mention an id', () => {
    const index = open(eventLog());
    const { states, found, sessions } = answers(index);
    expect(states.map((one) => one!.snapshot)).toEqual([...snapshots.values()]);
    const naive = lines.flatMap((line, seq) => (seq > 0 && line.includes('"prompt-3"') ? [seq] : []));
    expect(found.reverse()).toEqual(naive);
    expect(sessions).toMatchObject([{ seq: events, first: 0, gaps: [] }]);
    expect([...index.linesOf('', 'nobody')]).toEqual([]);
    expect(index.nearestId('prompt_3x')).toBe('prompt-3');
  });

  test('steps on, back and far away to the same states as from the beginning', () => {
    const path = eventLog();
    const index = open(path);
    const steps = [700, 701, 702, 701, 700, 699, 698, 640, 639, 1, 0, 300, 299, 298, 1200, 1199, 1200, 63, 62];
    const policy = restore(JSON.parse(lines[0]!).snapshot);
    const wanted = new Map(steps.map((seq) => [seq, policy.snapshot()]));
    for (const line of lines.slice(1)) {
      policy.send(JSON.parse(line).event);
      if (wanted.has(policy.seq)) wanted.set(policy.seq, policy.snapshot());
    }
    for (const seq of steps) expect(index.stateAt('', { seq }).save()!.snapshot, String(seq)).toEqual(wanted.get(seq));
    // The state that is stepped on is that of the questions, and none that others go on with.
    appendFileSync(
      path,
      `${JSON.stringify({ event: { type: 'engine.added', at: 1e6, engineId: 'one-more' }, decisions: [] })}\n`,
    );
    expect(index.refresh()).toBe(true);
    expect(index.sessions).toMatchObject([{ seq: events + 1 }]);
    expect(index.stateAt('', { seq: events }).save()!.snapshot).toEqual(snapshots.get(events));
    expect(index.stateAt('', { seq: events + 1 }).policy!.seq).toBe(events + 1);
  });

  test('saves a state where playing takes long, whatever the lines weigh', () => {
    const coarse = { ...grain, state: 1 << 20 };
    /** States in the index of a machine whose clock says that each look at it took so long. */
    const pointsOf = (milliseconds: number): number => {
      let user = 0;
      vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: (user += 1000 * milliseconds), system: 0 }));
      const path = eventLog(400);
      open(path, { grain: coarse });
      const texts = segmentsOf(path).map((name) => readFileSync(join(path, '..', '.rollflex-index', name), 'latin1'));
      return texts.reduce(
        (sum, text) => sum + JSON.parse(text.slice(0, text.indexOf('\n'))).sessions[0].points.length,
        0,
      );
    };
    expect(pointsOf(0)).toBe(0);
    expect(pointsOf(10)).toBeGreaterThan(5);
  });

  test('is found again, and then nothing is read', () => {
    const path = eventLog();
    const first = answers(open(path));
    expect(segmentsOf(path).length).toBeGreaterThan(2);
    const again = open(path);
    expect(again.built).toBe(0);
    expect(answers(again)).toEqual(first);
  });

  test('is extended where the log has grown, and made anew where it is another one', () => {
    const path = eventLog(700);
    open(path);
    const before = segmentsOf(path).length;
    appendFileSync(path, `${lines.slice(700).join('\n')}\n`);
    const grown = open(path);
    expect(grown.built).toBeLessThan(0.75 * grown.sizes.log);
    expect(segmentsOf(path).length).toBeGreaterThan(before);
    expect(answers(grown)).toEqual(answers(open(eventLog())));
    // As long as before, with another time: it may be another log.
    utimesSync(path, 1, 1);
    expect(open(path).built).toBe(grown.sizes.log);
    expect(open(path, { writer: 'another version' }).built).toBe(grown.sizes.log);
    truncateSync(path, Buffer.byteLength(`${lines.slice(0, 300).join('\n')}\n`));
    expect(open(path).sessions).toMatchObject([{ seq: 299 }]);
  });

  test('is damaged: it is made anew', () => {
    const path = eventLog();
    const first = answers(open(path));
    const [one, two] = segmentsOf(path).map((name) => join(path, '..', '.rollflex-index', name));
    writeFileSync(one!, readFileSync(one!).subarray(0, 500));
    writeFileSync(two!, 'nothing');
    expect(answers(open(path))).toEqual(first);
  });

  test('of a log that is being written: a line without its end waits', () => {
    const path = eventLog(500);
    appendFileSync(path, lines[500]!.slice(0, 40));
    expect(open(path)).toMatchObject({ sessions: [{ seq: 499 }], lacks: { tornFiles: 1 } });
    appendFileSync(path, lines[500]!.slice(40));
    expect(open(path)).toMatchObject({ sessions: [{ seq: 500 }], lacks: { tornFiles: 0 } });
    appendFileSync(path, `\n${lines[501]!}\n`);
    expect(open(path)).toMatchObject({ sessions: [{ seq: 501 }], lacks: { tornFiles: 0 } });
  });

  test('of a log that is cut off anywhere: the event is not played', () => {
    const path = eventLog(500);
    const line = lines.slice(500).find((one) => /\]\}.*\]\}/.test(one))!;
    const before = open(path).stateAt('', { seq: 499 }).save();
    const cuts = [...line.matchAll(/[\]}]/g)].map(({ index }) => index + 1).filter((one) => one < line.length);
    expect(cuts.length).toBeGreaterThan(3);
    for (const cut of cuts) {
      writeFileSync(path, `${lines.slice(0, 500).join('\n')}\n${line.slice(0, cut)}`);
      const index = open(path);
      expect(index.sessions[0]).toMatchObject({ seq: 499, problem: undefined });
      expect(index.stateAt('', { seq: 500 }).save()).toEqual(before);
      index.close();
    }
  });

  test('where the policy decides otherwise: from which event on, and with the ids of the log', () => {
    const number = lines.findIndex((one) => one.includes('"type":"prompt.collected"'));
    const added = lines[number]!.replace(
      '"decisions":[',
      '"decisions":[{"type":"acme/other","promptId":"p\\"\\u0041"},',
    );
    const log = (text: string) => inFolder('run.jsonl', `${lines.with(number, text).join('\n')}\n`);
    expect(open(log(lines[number]!)).sessions[0]!.differs).toBeUndefined();
    // Other spaces are no difference.
    expect(
      open(log(JSON.stringify(JSON.parse(lines[number]!), null, ' ').replaceAll('\n', ''))).sessions[0]!.differs,
    ).toBeUndefined();
    const index = open(log(added));
    expect(index.sessions[0]!.differs).toBe(number);
    expect([...index.linesOf('', 'p"A')].map(({ seq }) => seq)).toEqual([number]);
  });

  test('where the folder of the log cannot be written is in a temporary one, or where the user says', () => {
    const path = eventLog();
    writeFileSync(join(path, '..', '.rollflex-index'), 'a file');
    const first = answers(open(path));
    expect(open(path).built).toBe(0);
    expect(answers(open(path))).toEqual(first);
    const cache = folders.next();
    expect(open(path, { cache }).built).toBeGreaterThan(0);
    expect(open(path, { cache }).built).toBe(0);
    for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith('rollflex-index-')))
      rmSync(join(tmpdir(), name), { recursive: true });
  });
});

describe('an index of a decision log', () => {
  test('goes on from file to file, with snapshots and without', () => {
    const plain = answers(open(eventLog()));
    for (const states of [[0], [0, 400, 800]]) {
      const index = open(serverLog([400, 800], states), { cache: folders.next() });
      const { states: found, found: lines } = answers(index);
      expect(found.map((one) => one!.snapshot)).toEqual([...snapshots.values()]);
      expect(lines).toEqual(plain.found);
    }
  });

  test('of which a file is added, and another one deleted', () => {
    const folder = serverLog([400, 800], [0, 400, 800]);
    const [one, two] = [1, 2].map((number) => join(folder, `decisions-0000000${number}.jsonl`));
    open([one!]);
    const more = open([one!, two!]);
    expect(more.built).toBeLessThan(0.8 * more.sizes.log);
    rmSync(one!);
    const rest = open(folder);
    expect(rest.sessions).toMatchObject([{ first: 400, seq: events }]);
    expect(rest.stateAt('s', { seq: 700 }).policy!.snapshot()).toEqual(snapshots.get(700));
  });

  test('knows its gaps, and goes on from the next snapshot', () => {
    const index = open(serverLog([], [0, 900], [[301, 900]]));
    expect(index.sessions).toMatchObject([{ gaps: [{ from: 301, to: 900 }] }]);
    expect(index.stateAt('s', { seq: 300 }).policy!.snapshot()).toEqual(snapshots.get(300));
    expect(index.stateAt('s', { seq: 900 }).policy!.snapshot()).toEqual(snapshots.get(900));
    expect(index.stateAt('s', { seq: 1200 }).policy!.snapshot()).toEqual(snapshots.get(1200));
    const lost = open(serverLog([], [0], [[301, 900]]));
    expect(lost.stateAt('s', { seq: 1200 }).policy).toBeUndefined();
  });
});
