/** The host of examples/10-frontier-http: killed at every moment at which it touches the world, it loses nothing. */
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { Durable, readSaved } from '../../../examples/10-frontier-http/durable.ts';
import { Host } from '../../../examples/10-frontier-http/host.ts';
import {
  bootAfter,
  type HostOptions,
  type HostState,
  prefixOf,
} from '../../../examples/10-frontier-http/host-state.ts';
import { Records, readRecords } from '../../../examples/10-frontier-http/records.ts';
import { filesOf } from '../../../examples/10-frontier-http/run-host.ts';
import type { Generated } from '../../../examples/10-frontier-http/sglang-client.ts';
import type { Body, Outside, Task } from '../../../examples/10-frontier-http/tasks.ts';
import { type Step, Trainer } from '../../../examples/10-frontier-http/trainer.ts';

const root = mkdtempSync(join(tmpdir(), 'rollflex-host-'));
afterAll(() => rmSync(root, { recursive: true }));
const folderOf = (): string => mkdtempSync(join(root, 'run-'));

/** An engine that runs what it is given until it is aborted, and ends some of it whenever it is asked. */
class FakeEngine {
  readonly running = new Map<string, (ending: 'stop' | 'abort') => void>();
  readonly seen = new Set<string>();
  readonly repeated: string[] = [];
  weights = '1';
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  generate({ requestId, text, samplingSeed }: Parameters<Outside['engine']['generate']>[0]): Promise<Generated> {
    if (this.seen.has(requestId)) this.repeated.push(requestId);
    this.seen.add(requestId);
    if (this.#random() < 0.1) return Promise.reject(new Error('the engine is not in the mood'));
    const weightVersion = this.weights;
    return new Promise((resolve) => {
      this.running.set(requestId, (ending) => {
        this.running.delete(requestId);
        resolve({ ending, text: `${text} ${samplingSeed}`, tokens: 10 + samplingSeed, weightVersion });
      });
    });
  }

  /** Ends one of the requests of a host that is alive; those of others run until they are aborted. */
  endOne(prefix: string): void {
    const own = [...this.running].filter(([requestId]) => requestId.startsWith(prefix));
    own[Math.floor(this.#random() * own.length)]?.[1]('stop');
  }
}

function randomOf(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

const copy = (from: string, to: string): void => {
  if (existsSync(from)) copyFileSync(from, to);
};

const options: HostOptions = {
  rounds: 2,
  groups: 2,
  responses: 2,
  groupsPerUpdate: 1,
  width: 1,
  frontier: true,
  pipelining: true,
  tries: 8,
  prompts: ['a', 'b', 'c', 'd'],
};

/** Hosts are killed after so many touches, calls that begin or that are answered; or, if below 0, milliseconds. */
async function runKilled(kills: readonly number[], seed: number): Promise<{ touches: number; steps: Step[] }> {
  const random = randomOf(seed);
  const engine = new FakeEngine(random);
  let folder = folderOf();
  const record = join(folder, 'steps.jsonl');
  const speed = { secondsPerToken: 0, timeScale: 1 };
  let trainer = await Trainer.open(record, speed);
  let touches = 0;
  const files: { close(): Promise<void> }[] = [];
  for (let boot = 0; ; boot += 1) {
    const paths = filesOf(folder);
    let isAlive = true;
    touches = 0;
    let killed = (): void => {};
    const death = new Promise<void>((resolve) => {
      killed = resolve;
    });
    const never = new Promise<never>(() => {});
    const left = folderOf();
    const die = (): void => {
      if (!isAlive) return;
      // What is on disk now is all that the next one finds.
      for (const file of ['host.json', 'responses.jsonl']) copy(join(folder, file), join(left, file));
      isAlive = false;
      killed();
    };
    const step = (): void => {
      if (touches++ === kills[boot]) die();
    };
    /** What the host asks of the world: it takes a while, arrives even if the host is dead, and is answered if not. */
    const touch = async <T>(call: () => Promise<T>): Promise<T> => {
      step();
      if (!isAlive) return never;
      await sleep(random() * 3);
      const result = await call();
      if (random() < 0.5) await sleep(random() * 3);
      if (isAlive) step();
      return isAlive ? result : never;
    };
    const timer = setTimeout(die, kills[boot]! < 0 ? -kills[boot]! : 1e6);
    const saved = readSaved<HostState, Task>(paths.state);
    const epoch = bootAfter(saved);
    const earlier = readRecords<Body>(paths.bodies);
    const texts = new Map(earlier.map((one) => [one.requestId, one.text]));
    const bodies = await Records.open<Body>(paths.bodies);
    files.push(bodies);
    const outside: Outside = {
      engine: {
        // A request whose connection is closed is not begun.
        generate: (request) => touch(() => (isAlive ? engine.generate(request) : never)),
        abort: (requestId) => touch(async () => engine.running.get(requestId)?.('abort')),
        updateWeights: (version) =>
          touch(async () => {
            engine.weights = String(version);
          }),
      },
      trainer: {
        attach: () => touch(() => trainer.attach(epoch)),
        accumulate: (update) => touch(() => trainer.accumulate(update, epoch)),
        step: (roundId, update) => touch(() => trainer.step(roundId, update, epoch)),
      },
      bodies: {
        append: (body) =>
          touch(() => {
            texts.set(body.requestId, body.text);
            return isAlive ? bodies.append(body) : never;
          }),
      },
      textOf: (requestId) => texts.get(requestId)!,
      maxNewTokens: 100,
      retrySeconds: 0.001,
    };
    const host = new Host(options, paths.state, outside, saved);
    const driver = setInterval(() => isAlive && random() < 0.5 && engine.endOne(prefixOf(epoch)), 1);
    const ended = host.run().then(() => true);
    // What becomes of one that is dead is of no interest.
    ended.catch(() => {});
    const isOver = await Promise.race([ended, death.then(() => false)]);
    clearInterval(driver);
    clearTimeout(timer);
    if (isOver) break;
    folder = left;
    if (random() < 0.5) continue;
    // The trainer dies with it: what has no step in the record is gone.
    await trainer.attach(epoch + 1);
    await trainer.close();
    trainer = await Trainer.open(record, speed);
  }
  expect([...engine.running.keys()], 'nothing of any host runs any more').toEqual([]);
  expect(engine.repeated, 'no id is used twice').toEqual([]);
  for (const file of [trainer, ...files]) await file.close();
  const bodies = new Map(readRecords<Body>(filesOf(folder).bodies).map((one) => [one.requestId, one]));
  const steps = readRecords<Step>(record);
  for (const [index, roundId] of ['round-1', 'round-2'].entries()) {
    const own = steps.filter((one) => one.roundId === roundId);
    expect(own.map((one) => one.update)).toEqual([0, 1]);
    const groups = own.flatMap((one) => one.groups);
    expect(groups.map((one) => one.order)).toEqual([0, 1]);
    expect(groups.map((one) => one.groupId).sort()).toEqual(options.prompts.slice(index * 2, index * 2 + 2));
    for (const { groupId, requestIds } of groups) {
      const responses = requestIds.map((requestId) => bodies.get(requestId)!);
      expect(responses.map((one) => [one.promptId, one.index, one.weightVersion])).toEqual([
        [groupId, 0, index + 1],
        [groupId, 1, index + 1],
      ]);
    }
  }
  return { touches, steps };
}

/** Mostly they wait for the disk. */
async function sideBySide(runs: readonly (readonly number[])[]): Promise<void> {
  for (let from = 0; from < runs.length; from += 8)
    await Promise.all(runs.slice(from, from + 8).map((kills, index) => runKilled(kills, from + index)));
}

describe('a host that is killed', () => {
  test('at any touch of the world', async () => {
    const { touches } = await runKilled([], 1);
    expect(touches).toBeGreaterThan(50);
    await sideBySide(Array.from({ length: touches }, (_, kill) => [kill]));
  });

  test('and again, and again', async () => {
    const random = randomOf(5);
    await sideBySide(
      Array.from({ length: 30 }, () =>
        Array.from({ length: 4 }, () => Math.floor(random() < 0.5 ? random() * 30 : -150 * random())),
      ),
    );
  });
});

describe('what is durable', () => {
  test('a task begins after the write that names it, and not if it was done or replaced meanwhile', async () => {
    const path = join(folderOf(), 'state.json');
    const begun: string[] = [];
    let state = 0;
    const settled = new Promise<void>((resolve, reject) => {
      const durable = new Durable<number, string>(path, {
        capture: () => state,
        begin: (key, task) => {
          expect(readSaved<number, string>(path)!.tasks).toContainEqual([key, task]);
          begun.push(`${key} ${task}`);
          if (task !== 'first') return;
          state = 2;
          durable.take('c', 'second');
        },
        settled: resolve,
        failed: reject,
      });
      state = 1;
      durable.take('a', 'first');
      durable.take('b', 'old');
      durable.take('b', 'new');
      durable.take('x', 'never');
      durable.done('x');
    });
    await settled;
    expect(begun).toEqual(['a first', 'b new', 'c second']);
    expect(readSaved(path)).toEqual({
      state: 2,
      tasks: [
        ['a', 'first'],
        ['b', 'new'],
        ['c', 'second'],
      ],
    });
  });

  test('a disk that fails is said', async () => {
    const failure = await new Promise((resolve) => {
      const durable = new Durable<number, string>(join(root, 'nowhere', 'state.json'), {
        capture: () => 0,
        begin: () => resolve('begun'),
        settled: () => resolve('settled'),
        failed: resolve,
      });
      durable.take('a', 'first');
    });
    expect(failure).toMatchObject({ code: 'ENOENT' });
  });

  test('a half line is passed over, and what is appended behind it is not lost', async () => {
    const path = join(folderOf(), 'records.jsonl');
    writeFileSync(path, '{"a":1}\n{"a":');
    const records = await Records.open<{ a: number }>(path);
    await Promise.all([records.append({ a: 2 }), records.append({ a: 3 })]);
    await records.close();
    expect(readRecords(path)).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
    expect(readRecords(join(root, 'nothing'))).toEqual([]);
  });
});

describe('the trainer', () => {
  const groups = [{ groupId: 'a', order: 0, requestIds: ['a/0#0'], advantages: [0] }];
  const update = (number: number) => ({ roundId: 'r', update: number, tokens: 10, groups });

  test('takes updates in order, each once, and goes on behind its record', async () => {
    const path = join(folderOf(), 'steps.jsonl');
    const speed = { secondsPerToken: 0.001, timeScale: 1 };
    const first = await Trainer.open(path, speed);
    const later = first.accumulate(update(1), 1);
    expect(await first.accumulate(update(0), 1)).toBe(0.01);
    await first.accumulate(update(0), 1);
    expect(first.repeats).toBe(1);
    await expect(first.step('r', 1, 1)).rejects.toThrow(/no gradients/);
    await first.step('r', 0, 1);
    expect(readRecords<Step>(path)).toHaveLength(1);
    await first.step('r', 0, 1);
    await later;
    await first.close();

    const second = await Trainer.open(path, speed);
    expect(await second.attach(1)).toEqual({ r: 1 });
    expect(() => second.accumulate(update(0), 1)).toThrow(/in the weights/);
    await expect(second.step('r', 1, 1)).rejects.toThrow(/no gradients/);
    await second.accumulate(update(1), 1);
    await second.step('r', 1, 1);
    await second.close();
    expect(readRecords<Step>(path).map((one) => one.update)).toEqual([0, 1]);
  });

  test('a new host is told of steps that were under way, and the one before is refused', async () => {
    const trainer = await Trainer.open(join(folderOf(), 'steps.jsonl'), { secondsPerToken: 0, timeScale: 1 });
    expect(await trainer.attach(1)).toEqual({});
    await trainer.accumulate(update(0), 1);
    const underWay = trainer.step('r', 0, 1);
    expect(await trainer.attach(2)).toEqual({ r: 1 });
    await underWay;
    expect(() => trainer.accumulate(update(1), 1)).toThrow(/host 1 is over/);
    expect(() => trainer.step('r', 1, 1)).toThrow(/host 1 is over/);
    await expect(trainer.attach(1)).rejects.toThrow(/host 2 is at work/);
    await trainer.close();
  });
});
