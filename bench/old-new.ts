/**
 * Shows the policies of this checkout, against those of another: likely events, made by the other checkout, go to both.
 * Decisions and errors are compared, with a snapshot and a restore in each about every 200 events; with `--speed`
 * ratios are printed instead, new ÷ old, each of the shortest of 40 runs that alternate, best with `node --single-threaded`.
 * Exit code 1 where an answer differs that is not meant to.
 * `npx tsx bench/old-new.ts OTHER [--events 100000] [--only id,id] [--seed 1] [--speed]`
 */
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { registry } from '../src/registry.ts';
import { uniform } from '../src/sim/workload/random.ts';
import { exampleConfigs } from '../test/support/examples/configs.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    events: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    speed: { type: 'boolean', default: false },
  },
});
const [other] = positionals;
if (other === undefined) throw new Error('name the folder of the other checkout');
const found = (await import(`${other}/src/registry.ts`)).registry;
// Before version 0.1 these had other names.
const before = { create: found.createPolicy, restore: found.restorePolicy, ...found } as typeof registry;
const testing = (await import(`${other}/src/testing/index.ts`)) as typeof import('../src/testing/index.ts');
const [wanted, seed] = [Number(values.events), Number(values.seed)];

interface Running {
  send(event: unknown): readonly unknown[];
  snapshot(): unknown;
}
interface Factory {
  create(id: string, config: unknown): Running;
  restore(snapshot: unknown): Running;
}
const [theirs, ours] = [before, registry] as unknown as [Factory, Factory];

function answer(policy: Running, event: unknown): unknown {
  try {
    return policy.send(event);
  } catch (error) {
    const { code, path, expected, got } = error as Record<string, unknown>;
    if (code === undefined) throw error;
    return { code, path, expected, got };
  }
}

/** What is meant to differ; what comes after it in the same run follows from it, and is left out. */
type Meant = (event: { readonly type: string }, before: unknown, after: unknown) => boolean;
const meant: Readonly<Record<string, Meant>> = {
  // It remembers prefixes now: one that was used is refused, and late ids under it are known.
  'gpu-scale-down': ({ type }, before, after) =>
    (type === 'host.restarted' && (after as { code?: string }).code === 'duplicate_id') ||
    (before as { code?: string }).code === 'unknown_id',
};

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function* runs(id: string): Generator<{ config: unknown; events: readonly unknown[] }> {
  const configs: readonly unknown[] = exampleConfigs[id] ?? [{}];
  const definition = before.get(id);
  for (let turn = 0; ; turn += 1) {
    const config = configs[turn % configs.length];
    const tape = Array.from({ length: 397 }, (_, at) => Math.floor(uniform(seed, turn, at) * 999_983));
    yield { config, events: testing.likelyEvents(definition as never, config as never, tape, 800) };
  }
}

function compare(id: string): number {
  let [sent, refused, different, restores, asMeant] = [0, 0, 0, 0, 0];
  for (const { config, events } of runs(id)) {
    let [old, now] = [theirs.create(id, config), ours.create(id, config)];
    for (const event of events) {
      const [expected, got] = [json(answer(old, event)), json(answer(now, event))];
      sent += 1;
      if (!Array.isArray(expected)) refused += 1;
      if (!isDeepStrictEqual(expected, got)) {
        if (meant[id]?.(event as { type: string }, expected, got)) {
          asMeant += 1;
          break;
        }
        different += 1;
        if (different <= 5) {
          console.log(
            `  ${JSON.stringify(event)}\n    old ${JSON.stringify(expected)}\n    new ${JSON.stringify(got)}`,
          );
        }
      }
      if (sent % 197 !== 0) continue;
      old = theirs.restore(json(old.snapshot()));
      now = ours.restore(json(now.snapshot()));
      restores += 1;
    }
    if (sent >= wanted) break;
  }
  console.log(
    `${id}: ${sent} events, ${refused} refused, ${restores} restores, ${different} answers differ, ${asMeant} as they are meant to`,
  );
  return different;
}

/** Time on the processor, so that what else runs there counts less. */
const timed = (work: () => void): number => {
  const from = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(from);
  return user + system;
};

/** What both do alternates, so that the machine's moods meet both. */
function speed(id: string): void {
  const tapes: { config: unknown; events: unknown[] }[] = [];
  let total = 0;
  for (const { config, events } of runs(id)) {
    const policy = theirs.create(id, config);
    const taken = events.filter((event) => Array.isArray(answer(policy, event)));
    tapes.push({ config, events: taken });
    total += taken.length;
    if (total >= wanted) break;
  }
  const replay = (factory: Factory): number => {
    const policies = tapes.map(({ config }) => factory.create(id, config));
    return timed(() => {
      tapes.forEach(({ events }, index) => {
        for (const event of events) policies[index]!.send(event);
      });
    });
  };
  const ends = (factory: Factory): Running[] =>
    tapes.map(({ config, events }) => {
      const policy = factory.create(id, config);
      for (const event of events) policy.send(event);
      return policy;
    });
  const [oldEnds, newEnds] = [ends(theirs), ends(ours)];
  const snapshots = (all: readonly Running[]): number =>
    timed(() => {
      for (let turn = 0; turn < 10; turn += 1) for (const one of all) one.snapshot();
    });
  const saved = (all: readonly Running[]): unknown[] => all.map((one) => json(one.snapshot()));
  const [oldSaved, newSaved] = [saved(oldEnds), saved(newEnds)];
  const restores = (factory: Factory, all: readonly unknown[]): number =>
    timed(() => {
      for (let turn = 0; turn < 10; turn += 1) for (const one of all) factory.restore(one);
    });
  // What else runs on the machine only adds, and so do the first turns, in which code is compiled.
  const ratio = (old: () => number, now: () => number): string => {
    const [before, after]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < 40; turn += 1) {
      for (const [work, times] of turn % 2 === 0
        ? ([
            [old, before],
            [now, after],
          ] as const)
        : ([
            [now, after],
            [old, before],
          ] as const))
        times.push(work());
    }
    return (Math.min(...after) / Math.min(...before)).toFixed(3);
  };
  const events = ratio(
    () => replay(theirs),
    () => replay(ours),
  );
  const snapshot = ratio(
    () => snapshots(oldEnds),
    () => snapshots(newEnds),
  );
  const restore = ratio(
    () => restores(theirs, oldSaved),
    () => restores(ours, newSaved),
  );
  console.log(`${id}: time of events ${events}, snapshots ${snapshot}, restores ${restore} of what they were`);
}

let different = 0;
for (const { id } of registry.policies) {
  if (values.only !== undefined && !values.only.split(',').includes(id)) continue;
  if (values.speed) speed(id);
  else different += compare(id);
}
process.exitCode = different === 0 ? 0 : 1;
