/** A long run: every policy with every example configuration in turn, and a file from which it goes on. */
import { existsSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { parse } from '../../src/core/machine/validate.ts';
import { PolicyError } from '../../src/errors.ts';
import { packageVersion } from '../../src/logs/index/package.ts';
import { nothingSeen } from './coverage.ts';
import { save } from './file.ts';
import { Lane, type Sampling } from './lane.ts';
import { type LaneRecord, type RunRecord, runRecord } from './record.ts';

/** What to run. */
export interface LongRunOptions {
  readonly definitions: readonly AnyPolicyDefinition[];
  /** Configurations of each, by its id. */
  readonly configs: Readonly<Record<string, readonly unknown[]>>;
  /** Events in all, divided evenly among the configurations. */
  readonly events: number;
  readonly seed: number;
  /** Events after which a policy is begun anew. */
  readonly life: number;
  /** File to go on from, and to write to. */
  readonly state?: string;
}

/** Events between two checkpoints of a lane. */
const slice = 1000;
const sampling: Omit<Sampling, 'life'> = { restoreEvery: 250, malformedEvery: 997, refusalEvery: 16 };

/** Shares of the events that are not 1: a planner that searches for milliseconds a batch would take most of the time. */
const shares: Readonly<Record<string, number>> = { flexrl: 0.02 };

const collect = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

/** A run under way. */
export class LongRun {
  readonly record: RunRecord;
  readonly #lanes: readonly Lane[];
  readonly #targets: readonly number[];
  readonly #state: string | undefined;

  /** @throws PolicyError `invalid_input` where the file is of another run, or of none */
  constructor(options: LongRunOptions) {
    const { definitions, configs, events, seed, life, state } = options;
    const pairs = definitions.flatMap((definition) =>
      (configs[definition.id] ?? []).map((config, configuration) => ({ definition, config, configuration })),
    );
    const of = `rollflex ${packageVersion()}: ${definitions.map(({ id, version }) => `${id} ${version}`).join(', ')}`;
    const lanes = pairs.map(({ definition, configuration }): LaneRecord => emptyLane(definition.id, configuration));
    const empty: RunRecord = {
      format: 'rollflex-long-run',
      version: 1,
      of,
      events,
      seed,
      life,
      lanes,
      heap: [],
      sessions: 0,
    };
    this.#state = state;
    this.record = state !== undefined && existsSync(state) ? readRun(state, empty) : empty;
    this.#targets = targetsOf(
      pairs.map(({ definition }) => shares[definition.id] ?? 1),
      events,
    );
    this.#lanes = pairs.map(
      ({ definition, config }, index) =>
        new Lane(definition, config, (seed * 1000 + index) | 0, { ...sampling, life }, this.record.lanes[index]!),
    );
    this.record.sessions += 1;
    this.#measure();
  }

  /** Events so far. */
  get done(): number {
    return this.record.lanes.reduce((sum, one) => sum + one.done, 0);
  }

  get isDone(): boolean {
    return this.done === this.record.events;
  }

  /** One checkpoint further: the lane that is furthest behind. Throws where a law is broken. */
  advance(): void {
    const left = (index: number): number => this.#targets[index]! - this.record.lanes[index]!.done;
    const behind = (index: number): number => left(index) / this.#targets[index]!;
    const next = this.#lanes.reduce((most, _, index) => (behind(index) > behind(most) ? index : most), 0);
    const lane = this.#lanes[next]!;
    const before = this.done;
    lane.run(Math.min(slice, Math.ceil(this.#targets[next]! / 8), left(next)));
    const { quarters, done, decisions, refused, snapshotBytes } = lane.record;
    while (Math.floor((4 * done) / this.#targets[next]!) > quarters.length)
      quarters.push({ done, decisions, refused, snapshotBytes });
    const quarterOf = (events: number): number => Math.floor((4 * events) / this.record.events);
    if (quarterOf(this.done) > quarterOf(before)) this.#measure();
  }

  /** Writes the file, whole or not at all. */
  save(): void {
    save(this.#state, this.record);
  }

  #measure(): void {
    collect();
    this.record.heap.push({ done: this.done, bytes: process.memoryUsage().heapUsed, session: this.record.sessions });
  }
}

/** Whole numbers that have these shares, and so many in all. */
function targetsOf(parts: readonly number[], events: number): number[] {
  const all = parts.reduce((sum, one) => sum + one, 0);
  let [sum, given] = [0, 0];
  return parts.map((part) => {
    sum += part;
    const target = Math.round((events * sum) / all) - given;
    given += target;
    return target;
  });
}

const emptyLane = (policy: string, configuration: number): LaneRecord => ({
  policy,
  configuration,
  done: 0,
  refused: 0,
  decisions: 0,
  malformed: 0,
  restores: 0,
  lives: 1,
  seconds: 0,
  snapshotBytes: 0,
  digest: '',
  seen: nothingSeen(),
  quarters: [],
});

function readRun(path: string, mine: RunRecord): RunRecord {
  const text = readFileSync(path, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PolicyError('invalid_input', { expected: 'a file of a long run', got: text, path });
  }
  const record = parse(runRecord, value, 'invalid_input', path);
  const essence = ({ of, events, seed, life, lanes }: RunRecord): Record<string, unknown> => ({
    of,
    events,
    seed,
    life,
    lanes: lanes.map(({ policy, configuration }) => `${policy} ${configuration}`).join(', '),
  });
  const theirs = essence(record);
  for (const [key, expected] of Object.entries(essence(mine))) {
    if (theirs[key] === expected) continue;
    throw new PolicyError('invalid_input', {
      expected: `a run with ${key} ${expected}, or no file`,
      got: theirs[key],
      path,
    });
  }
  return record;
}
