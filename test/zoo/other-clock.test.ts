/** Whatever reads a log gives the same answers on the same log by another clock, with other names. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, test, vi } from 'vitest';
import { runExplain } from '../../src/cli/explain/command.ts';
import { jobOfLog } from '../../src/cli/job/lengths.ts';
import { runReplay } from '../../src/cli/replay/command.ts';
import { runSimulate } from '../../src/cli/simulate/run.ts';
import { answered } from '../../src/cli/what-if/question.ts';
import { isPolicyError } from '../../src/errors.ts';
import { LogView } from '../../src/logs/job/log-view.ts';
import type { JobWindow } from '../../src/logs/job/window.ts';
import { openLog } from '../../src/logs/node.ts';
import { registry } from '../../src/registry.ts';
import { lengthsFromLog } from '../../src/sim/workload/log-lengths.ts';
import { some } from '../support/basics/runs.ts';
import { captured } from '../support/command-line/in-process.ts';
import { again, back, begin, type Clocked, expectSame, type Json } from './another-clock.ts';
import { pathOf } from './files.ts';
import { incidents } from './incidents.ts';
import { served } from './served-log.ts';
import { slow } from './slow.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-clock-'));
afterAll(() => rmSync(folder, { recursive: true }));

const json = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json;
const printed = async (run: () => unknown): Promise<Json> => {
  const { code, out, err } = await captured(run);
  return { code, out: out.startsWith('{') ? (JSON.parse(out) as Json) : out, err };
};
const found = <T>(steps: Generator<undefined, T>): T => {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};

/** The columns of a chart are counted from the beginning of the clock: here they are times. */
function inSeconds(job: JobWindow | null): unknown {
  const timeline = job?.timeline ?? null;
  return timeline === null
    ? job
    : { ...job, timeline: { ...timeline, from: timeline.from * timeline.width, to: timeline.to * timeline.width } };
}

const orRefusal = async (read: () => unknown): Promise<Json> => {
  try {
    return json(await read());
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    return error.message;
  }
};

const simulated = {
  resampling: 'within-prompt',
  correlation: 0.5,
  eta: 1.25,
  steps: 2,
  seeds: 1,
  seed: 1,
  report: false,
  json: true,
} as const;

/** Everything that reads a log, or the decision log of a server. */
const readers: Readonly<Record<string, (path: string) => Promise<Json> | Json>> = {
  replay: (path) => printed(() => runReplay([path], { json: true })),
  explain: (path) => printed(() => runExplain([path], { index: join(folder, 'index'), json: true })),
  'explain, in words': (path) => printed(() => runExplain([path], { index: join(folder, 'index') })),
  'the pages of debug': (path) => {
    const view = new LogView(openLog([path]), { registry });
    try {
      const [{ session, first, seq }] = view.sessions as [(typeof view.sessions)[number]];
      const moments = [0.25, 0.5, 1].map((share) => Math.round(first + share * (seq - first)));
      return json({
        sessions: view.sessions,
        moments: moments.map((one) => [view.moment(session, one), view.why(session, one)]),
        job: inSeconds(found(view.job(session, seq))),
        trace: JSON.parse([...view.trace()].join('')),
      });
    } finally {
      view.close();
    }
  },
  'simulate --from-log': (path) => {
    const shape =
      jobOfLog(path, undefined) === undefined ? { promptsPerRound: 8, responsesPerPrompt: 4, engines: 2 } : {};
    return printed(() => runSimulate([], { ...simulated, ...shape, fromLog: path }));
  },
  'what-if': (path) => orRefusal(() => answered([path], { set: [['maxInFlight', 64]], seeds: 1, seed: 1 })),
};

const names = [...new Set([...incidents.map(({ log }) => log), ...Object.keys(slow)])];
const files = some(names.filter((name) => pathOf(name).endsWith('.jsonl')).map((name) => pathOf(name)));

describe.each(files.map((path) => [basename(path), path] as const))('%s, 1.8e9 s later', (_, path) => {
  const first = again(path, 0, { prefix: 'a-', folder });
  const moved = again(path, begin, { prefix: 'b-', folder });
  const expectAlike = (one: Json, other: Json): void => expectSame(back(one, first, 0), back(other, moved, begin));

  test.each(Object.entries(readers))('%s', async (_name, read) => {
    expectAlike(await read(first.path), await read(moved.path));
  });
  test('the lengths of its responses', () => {
    const read = ({ path: file }: Clocked) => orRefusal(() => lengthsFromLog(readFileSync(file, 'utf8').split('\n')));
    return Promise.all([read(first), read(moved)]).then(([one, other]) => expectAlike(one, other));
  });
  test('served: the page of the job, and the decision log', async () => {
    // A look gives up on a machine that is busy with something else.
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const [one, other] = [await served(first, 0), await served(moved, begin)];
    vi.restoreAllMocks();
    expectAlike(json(one.shown), json(other.shown));
    for (const name of ['replay', 'explain', 'simulate --from-log', 'what-if']) {
      const read = readers[name]!;
      expectAlike(await read(one.folder), await read(other.folder));
    }
  });
});
