/** `rollflex debug`: what it says after each event of a log, searches, logs that grow, and the terminal. */
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { create, createRegistry, recordEvents, tailBatching } from '../../../src/index.ts';
import { LogIndex } from '../../../src/logs/index/log-index.ts';
import { LogView } from '../../../src/logs/job/log-view.ts';
import { jobWindow } from '../../../src/logs/job/window.ts';
import { registry } from '../../../src/registry.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { rollflexOn } from '../../support/command-line/process.ts';
import { logOfAStuckRound } from '../../support/documents/own-files.ts';
import { Folders } from '../../support/servers/decision-log.ts';
import { pathOf } from '../../zoo/files.ts';

const folders = new Folders();
const views: LogView[] = [];
afterAll(() => {
  for (const one of views) one.close();
  folders.remove();
});

function viewOf(path: string, isLive = false): LogView {
  const view = new LogView(
    new LogIndex([path], { restore: (one) => registry.restore(one, { validate: false }), writer: 'test' }),
    {
      registry,
      isLive,
    },
  );
  views.push(view);
  return view;
}
function inFolder(name: string, text: string): string {
  const folder = folders.next();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
const stuck = logOfAStuckRound();
/** Looks for something to the end. */
function found(view: LogView, from: number, back: boolean, wanted: Parameters<LogView['find']>[3], session = '') {
  const steps = view.find(session, from, back, wanted);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

describe('a log of the zoo', () => {
  test('after an event: the event, its decisions with reasons, what is held and what is awaited', async () => {
    const view = viewOf(pathOf('nemo-rl-3938'));
    const { event, decisions, standing, asked } = view.moment('', 111);
    expect(event).toMatchObject({ type: 'response.failed', requestId: 'p14/0#4', kind: 'data' });
    expect(decisions.map(({ type, reason }) => [type, reason.code])).toEqual([
      ['request.abort', 'prompt_failed'],
      ['timer.set', 'abort_grace'],
      ['prompt.failed', 'data'],
      ['prompts.request', 'failed'],
    ]);
    expect(standing).toContainEqual({ what: 'prompt', stands: 'counts', count: 1, ids: ['p12'] });
    expect(standing).toContainEqual(
      expect.objectContaining({ what: 'requests', stands: 'runs on engine e2', count: 2, ids: ['p13/0#3', 'p15/0#3'] }),
    );
    expect(asked).toContainEqual({ answer: 'prompts.supplied', count: 1, ids: ['r3'], seconds: 0, overdue: false });
    expect(view.moment('', 153).asked).toContainEqual(expect.objectContaining({ ids: ['r3'], overdue: true }));
    expect(view.why('', 153).answer).toMatch(/^tail-batching is stuck: the data source owes prompts\.supplied of r3/);
    expect(view.why('', 111).verdict).toBe('waits');
    expect(view.why('', 111, 'p13').answer).toMatch(/^Prompt p13 has 0 of 2 responses/);
    expect(() => view.why('', 111, 'p_13')).toThrow('id: expected an id of the log (did you mean "p13"?)');
  });

  test('deferred prompts are shown with their age, requests by engine', async () => {
    const view = viewOf(pathOf('skyrl-1691'));
    const { standing, asked } = view.moment('job-0', 128);
    expect(asked[0]).toMatchObject({ answer: 'response.completed', by: 'e2', count: 2, overdue: true });
    expect(standing.find(({ what }) => what === 'round')?.seconds).toBeGreaterThan(2000);
  });

  test('finds ids, reasons and types, and events that led to something else, both ways', async () => {
    const view = viewOf(pathOf('nemo-rl-3938'));
    expect(found(view, 0, false, { text: 'prompt_failed' })).toEqual({ seq: 111 });
    expect(found(view, 111, false, { text: 'prompt_failed' })).toEqual({});
    expect(found(view, 153, true, { text: 'prompt.failed' })).toEqual({ seq: 111 });
    expect(found(view, 111, true, { text: 'p14' }).seq).toBeLessThan(111);
    expect(found(view, 0, false, { text: 'p_14' })).toEqual({ meant: 'p14' });
    // No part of a word, and no name of a field.
    expect(found(view, 0, false, { text: 'promptId' })).toEqual({});
    const all: number[] = [];
    for (let seq = 0; ; ) {
      const next = found(view, seq, false, { change: true }).seq;
      if (next === undefined) break;
      all.push((seq = next));
    }
    expect(all.length).toBeGreaterThan(10);
    const outcome = (seq: number) =>
      JSON.stringify(
        [...new Set(view.moment('', seq).decisions.map((one) => `${one.type}:${one.reason.code}`))].sort(),
      );
    for (const [place, seq] of all.entries()) if (place > 0) expect(outcome(seq)).not.toBe(outcome(all[place - 1]!));
    expect(found(view, 153, true, { change: true }).seq).toBeLessThan(153);
  });

  test('a state is opened node by node', async () => {
    const view = viewOf(pathOf('nemo-rl-3938'));
    expect(view.state('', 111, [])).toMatchObject({
      size: 6,
      nodes: [{ key: 'policy', value: 'tail-batching' }, {}, { key: 'config' }, {}, {}, {}],
    });
    const path = ['state', 'parts', 'admission', 'state', 'prompts'];
    expect(view.state('', 111, path).nodes).toContainEqual(expect.objectContaining({ label: 'p13' }));
    expect(view.state('', 111, [...path, '0', 'spec', 'promptId'])).toEqual({ nodes: [], size: 0 });
    for (const wrong of [['nothing'], ['__proto__'], ['state', 'constructor']])
      expect(() => view.state('', 111, wrong)).toThrow('path: expected a path of the state');
  });

  test.each([
    ['', 154, 'seq: expected an event of the log, from 0 to 153, got 154'],
    ['s', 1, 'session: expected no session: this log has one'],
  ])('refuses what is not there: %s %i', async (session, seq, expected) => {
    const view = viewOf(pathOf('nemo-rl-3938'));
    expect(() => view.moment(session, seq)).toThrow(expected);
    expect(() => view.state(session, seq, [])).toThrow(expected);
    expect(() => view.why(session, seq)).toThrow(expected);
  });
});

test('of several sessions with one id each can be looked at, and explained', async () => {
  const [first, ...events] = stuck
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const session = { kind: 'session', time: 1, session: 's', policy: 'tail-batching', version: 1, seq: 0 };
  const opened = { ...session, deliver: 'reply', timers: 'host', shadow: false, snapshot: first.snapshot };
  const told = (count: number) =>
    events.slice(0, count).map((one, index) => ({ kind: 'event', time: 1, session: 's', seq: index + 1, ...one }));
  const closed = { kind: 'closed', time: 1, session: 's', reason: 'closed', seq: 50 };
  const path = inFolder(
    'decisions-00000001.jsonl',
    [
      { kind: 'log', format: 1, version: '0', run: 'r', file: 1, time: 1 },
      ...[opened, ...told(50), closed, opened, ...told(71), opened, ...told(9)],
    ]
      .map((one) => `${JSON.stringify(one)}\n`)
      .join(''),
  );
  const [view, whole] = [viewOf(path), viewOf(inFolder('run.jsonl', stuck))];
  expect(view.sessions).toMatchObject([
    { session: 's@1', isLast: false, first: 0, seq: 50, closed: 'closed' },
    { session: 's@2', isLast: false, first: 0, seq: 71, closed: 'replaced' },
    { session: 's', isLast: true, first: 0, seq: 9, closed: null },
  ]);
  for (const [name, seq] of [
    ['s@2', 71],
    ['s@1', 50],
    ['s', 9],
    ['s@2', 8],
    ['s@1', 49],
    ['s', 0],
  ] as const) {
    expect(view.moment(name, seq)).toMatchObject({ ...whole.moment('', seq), notes: expect.anything() });
    expect(view.state(name, seq, ['state'])).toEqual(whole.state('', seq, ['state']));
  }
  const q15 = found(whole, 0, false, { text: 'q15' });
  expect(found(view, 0, false, { text: 'q15' }, 's@2')).toEqual(q15);
  expect(found(view, 0, false, { text: 'q15' }, 's').seq).toBeUndefined();
  expect(() => view.moment('s@1', 51)).toThrow('from 0 to 50');
  expect(() => view.moment('s@4', 1)).toThrow('expected one of s@1, s@2, s');
  const { code, out } = await rollflexOn('', 'debug', path, '--terminal', '--session', 's@2', '--at', '71');
  expect([code, out]).toEqual([0, expect.stringContaining('71 of 71')]);
});

test('charts have the rounds and loads up to an event, from a window of bounded length', async () => {
  const view = viewOf(inFolder('run.jsonl', stuck));
  const end = <T>(steps: Generator<undefined, T>): T => {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  };
  const whole = end(view.job('', 71))!;
  expect(whole).toMatchObject({ at: view.moment('', 71).at, events: 71, earlier: 0, missed: [] });
  expect(whole.rounds.length).toBeGreaterThan(3);
  expect(whole.timeline.actors.map(({ by }) => by)).toContain('vllm-1');
  const part = end(view.job('', 40))!;
  expect(part.events).toBe(40);
  expect(part.rounds.length).toBeLessThan(whole.rounds.length);
  expect(end(view.job('', 0))).toBeNull();
  const index = new LogIndex([inFolder('run.jsonl', stuck)], {
    restore: (one) => createRegistry([tailBatching]).restore(one),
    writer: 't',
  });
  const short = end(jobWindow(index, index.sessions[0]!, 71, tailBatching, 20))!;
  expect(short).toMatchObject({ events: 20, earlier: 51 });
  expect(short.rounds.at(-1)!.id).toBe(whole.rounds.at(-1)!.id);
  index.close();
});

describe('a log that grows', () => {
  test('is read on, also from the middle of a line, and says at each event what a whole one says', async () => {
    const whole = viewOf(inFolder('run.jsonl', stuck));
    const cut = stuck.indexOf('"q15"');
    const path = inFolder('run.jsonl', stuck.slice(0, cut));
    const view = viewOf(path);
    const seq = view.sessions[0]!.seq;
    expect(seq).toBeLessThan(60);
    view.moment('', seq);
    expect(view.refresh()).toBe(false);
    appendFileSync(path, stuck.slice(cut, cut + 30));
    expect(view.refresh()).toBe(true);
    expect(view.sessions).toMatchObject([{ seq }]);
    appendFileSync(path, stuck.slice(cut + 30));
    expect(view.refresh()).toBe(true);
    expect(view.sessions).toEqual(whole.sessions);
    for (const one of [seq + 1, seq, 71, 3, 70]) {
      expect(view.moment('', one)).toEqual(whole.moment('', one));
      expect(view.state('', one, ['state', 'parts', 'admission', 'state'])).toEqual(
        whole.state('', one, ['state', 'parts', 'admission', 'state']),
      );
    }
    expect(view.why('', 71)).toEqual(whole.why('', 71));
  });

  test('is older at its end where it is being written, though a job that hangs writes nothing', async () => {
    const begun = Date.now() / 1000 - 7200;
    const lines: string[] = [];
    const tail = create(tailBatching, { promptsPerRound: 1, responsesPerPrompt: 1 });
    recordEvents(tail, (line) => lines.push(line));
    tail.send({ type: 'round.requested', at: begun, roundId: 'r1', weightVersion: 1 });
    const path = inFolder('run.jsonl', `${lines.join('\n')}\n`);
    const [still, live] = [viewOf(path), viewOf(path, true)];
    expect([still.why('', 1).verdict, live.why('', 1).verdict]).toEqual(['waits', 'stuck']);
    expect(still.moment('', 1).asked).toMatchObject([{ answer: 'prompts.supplied', seconds: 0, overdue: false }]);
    expect(live.moment('', 1).asked[0]!.seconds).toBeGreaterThan(7100);
    expect(live.moment('', 1)).toMatchObject({ at: begun, asked: [{ overdue: true }] });
    expect(live.moment('', 0).standing).toEqual([]);
  });

  test('goes on in a new file; a file that is deleted stays known; another log under its name is opened anew', async () => {
    const lines = (seqs: number[], first: boolean) =>
      [
        { kind: 'log', format: 1, version: '0', run: 'r', file: 1, time: 1 },
        ...(first
          ? [
              {
                kind: 'session',
                time: 1,
                session: 's',
                policy: 'tail-batching',
                version: 1,
                deliver: 'reply',
                timers: 'host',
                shadow: false,
                seq: 0,
                snapshot: JSON.parse(stuck.split('\n')[0]!).snapshot,
              },
            ]
          : []),
        ...seqs.map((seq) => ({ kind: 'event', time: 1, session: 's', seq, ...JSON.parse(stuck.split('\n')[seq]!) })),
      ]
        .map((one) => `${JSON.stringify(one)}\n`)
        .join('');
    const folder = folders.next();
    mkdirSync(folder);
    const file = (number: number) => join(folder, `decisions-0000000${number}.jsonl`);
    writeFileSync(file(1), lines([1, 2, 3], true));
    const view = viewOf(folder);
    writeFileSync(file(2), lines([4, 5], false));
    expect(view.refresh()).toBe(true);
    expect(view.sessions).toMatchObject([{ session: 's', seq: 5 }]);
    rmSync(file(1));
    appendFileSync(file(2), lines([6], false).split('\n')[1]!);
    expect(view.refresh()).toBe(true);
    expect(view.moment('s', 6).seq).toBe(6);
    expect(view.moment('s', 2).event?.type).toBe('engine.added');
    writeFileSync(file(3), lines([1], true));
    renameSync(file(3), file(2));
    expect(view.refresh()).toBe(true);
    expect(view.sessions).toMatchObject([{ session: 's', seq: 1 }]);
  });
});

describe('the terminal', () => {
  const ask = async (input: string, ...args: string[]) =>
    rollflexOn(input, 'debug', pathOf('nemo-rl-3938'), '--terminal', ...args);

  test('steps, searches and explains, one command a line', async () => {
    const { code, out, err } = await ask(
      [
        'find failed back',
        'why',
        'held',
        'why p13',
        'state state parts',
        'back 2',
        '',
        'goto x',
        'hello',
        'sessions',
        'quit',
        'next',
      ].join('\n'),
    );
    expect([code, err]).toEqual([0, '']);
    const seen = out.split('\n');
    expect(seen[0]).toBe('153 of 153  engine.added  at 2200 s');
    for (const line of [
      '111 of 153  response.failed  at 792.307 s, 14 s after the one before',
      '  → prompt.failed  data',
      '  held     2 requests, each runs on engine e2, 59 s: p13/0#3, p15/0#3',
      '  queue  {3}',
      'number: expected a whole number, got "x"',
      'command: expected one that help lists, got "hello"',
      '* tail-batching, 153 events',
    ])
      expect(seen).toContain(line);
    expect(out).toMatch(/^109 of 153 [\s\S]*^107 of 153 /m);
    expect(out).toMatch(/^Nothing is stuck in tail-batching at event 111\. The oldest wait: /m);
    expect(out).not.toMatch(/^110 of 153/m);
  });

  test('begins where it is told to', async () => {
    expect((await ask('', '--at', '2')).out).toMatch(/^2 of 153 {2}engine\.added/);
  });
});

describe('a trace', () => {
  interface Entry {
    readonly ph: string;
    readonly name: string;
    readonly id?: number;
    readonly tid: number;
    readonly ts: number;
    readonly dur?: number;
    readonly args?: { readonly outcome?: string };
  }

  test.each([
    ['skyrl-1691', ['request.launch p13/0#3', 'request.launch p15/0#3']],
    ['nemo-rl-3938', ['prompts.request r3']],
  ])('of %s: flows from cause to effect, spans that do not overlap, what nobody has answered', async (log, open) => {
    const path = join(folders.next(), 'trace.json');
    mkdirSync(dirname(path), { recursive: true });
    const done = await rollflex('debug', pathOf(log), '--perfetto', path);
    expect(done).toEqual({ code: 0, out: `trace: ${path} (open it in ui.perfetto.dev)\n`, err: '' });
    const { traceEvents } = JSON.parse(readFileSync(path, 'utf8')) as { traceEvents: Entry[] };
    const spans = traceEvents.filter(({ ph }) => ph === 'X');
    const sorted = [...spans].sort((a, b) => a.tid - b.tid || a.ts - b.ts);
    for (const [place, { tid, ts }] of sorted.entries()) {
      const before = sorted[place - 1];
      if (before?.tid === tid) expect(ts).toBeGreaterThanOrEqual(before.ts + before.dur!);
    }
    const flows = traceEvents.filter(({ ph }) => ph === 's' || ph === 'f');
    expect(flows.length).toBeGreaterThan(50);
    for (const [place, { ph, id, tid, ts }] of flows.entries()) {
      expect([ph, id]).toEqual([place % 2 === 0 ? 's' : 'f', (place >> 1) + 1]);
      // A flow is tied to the span that it is in.
      expect(spans.some((one) => one.tid === tid && one.ts <= ts && ts < one.ts + one.dur!)).toBe(true);
    }
    expect(spans.filter(({ args }) => args?.outcome === 'not answered').map(({ name }) => name)).toEqual(open);
  });

  test('never replaces the log', async () => {
    const log = inFolder('run.jsonl', stuck);
    const done = await rollflex('debug', log, '--perfetto', log);
    expect(done).toMatchObject({
      code: 2,
      err: expect.stringContaining('--perfetto: expected a file that is not read'),
    });
  });
});

test.each([
  [['--session', 's'], 2, '--session: expected no --session: this log has one, got "s"'],
  [['--at', '154'], 2, '--at: expected an event of the log, from 0 to 153, got 154'],
  [['--at', 'noon'], 2, 'Expected a whole number'],
  [['--host', '0.0.0.0'], 2, '--token-file: expected --token-file beside --host: others can reach this address'],
  [['--host', '0.0.0.0', '--token-file', 'no-such-file'], 2, 'there is no such file or folder'],
  [
    ['--host', '203.0.113.9', '--token-file', 'x', '--terminal'],
    2,
    '--terminal: expected no --host, --port or --token-file beside it',
  ],
])('wrong use: %s', async (args, code, expected) => {
  const done = await rollflex('debug', pathOf('nemo-rl-3938'), ...args);
  expect(done).toMatchObject({ code, out: '' });
  expect(done.err).toContain(expected);
});

test.each([
  ['no such file', 'no-such-log.jsonl', 'there is no such file or folder'],
  ['no log', inFolder('notes.txt', 'hello\n'), 'expected a JSON object, got "hello"'],
  ['an empty one', inFolder('empty.jsonl', ''), 'expected a log with a session in it'],
])('wrong input: %s', async (_, path, expected) => {
  const done = await rollflex('debug', path);
  expect(done).toMatchObject({ code: 2, out: '' });
  expect(done.err).toContain(expected);
});
