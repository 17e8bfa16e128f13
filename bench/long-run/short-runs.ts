/**
 * Laws that look at how a run ends, or at what could come next, on many short runs: each begins anew, with likely
 * events, and is then in the hands of the law. A run that breaks a law is made as small as it gets.
 */
import { existsSync } from 'node:fs';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { z } from 'zod';
import { fixed, plainTable } from '../../src/cli/terminal/plain-table.ts';
import type { AnyEvent, AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { PolicyError } from '../../src/errors.ts';
import type { Law } from '../../src/testing/laws/law.ts';
import { laws } from '../../src/testing/laws/laws.ts';
import { likelyEvents } from '../../src/testing/runs/run.ts';
import { messageOf, textOfRun, trimmed } from '../../src/testing/runs/search.ts';
import { withEvents } from '../../src/testing/runs/tested.ts';
import { mayForget } from '../../test/support/examples/configs.ts';
import { contradicting } from '../../test/support/hosts/contradicting.ts';
import { readRecord, save } from './file.ts';

/** What to run. */
export interface ShortRunsOptions {
  readonly definitions: readonly AnyPolicyDefinition[];
  /** Configurations of each, by its id. */
  readonly configs: Readonly<Record<string, readonly unknown[]>>;
  /** Numbers of the laws. */
  readonly laws: readonly number[];
  /** Events in all, those of hosts included, divided evenly among the definitions. */
  readonly events: number;
  readonly seed: number;
  /** File to go on from, and to write to. */
  readonly state?: string;
}

const whole = z.int().nonnegative();
const lane = z.strictObject({
  policy: z.string(),
  runs: whole,
  /** Events that were sent: by the run, and by the hosts of the laws. */
  events: whole,
  seconds: z.number().nonnegative(),
});
const record = z.strictObject({
  format: z.literal('rollflex-short-runs'),
  of: z.string(),
  events: whole,
  lanes: z.array(lane),
});
type Lane = z.output<typeof lane>;

/** Most events of a run before a law takes it over. */
const longest = 120;

/** Short runs under way. */
export class ShortRuns {
  readonly record: z.output<typeof record>;
  readonly #options: ShortRunsOptions;
  readonly #laws: readonly Law[];

  /** @throws PolicyError `invalid_input` for laws that there are not, or a file of another run */
  constructor(options: ShortRunsOptions) {
    const { definitions, events, seed, state } = options;
    this.#options = options;
    this.#laws = options.laws.map((number) => {
      const law = laws.find((one) => one.number === number);
      if (law !== undefined) return law;
      const expected = `laws among ${laws.map((one) => one.number).join(', ')}`;
      throw new PolicyError('invalid_input', { expected, got: number, path: '--laws' });
    });
    const of = `laws ${options.laws.join(', ')}, seed ${seed}: ${definitions.map(({ id, version }) => `${id} ${version}`).join(', ')}`;
    const lanes = definitions.map(({ id: policy }) => ({ policy, runs: 0, events: 0, seconds: 0 }));
    const empty = { format: 'rollflex-short-runs' as const, of, events, lanes };
    this.record = state !== undefined && existsSync(state) ? recordIn(state, empty) : empty;
  }

  /** Events so far, as far as they count. */
  get done(): number {
    const share = this.#share;
    const shares = this.record.lanes.map((one, at) => (this.#isSilent(one, at) ? share : Math.min(share, one.events)));
    return Math.round(shares.reduce((sum, one) => sum + one, 0));
  }

  get isDone(): boolean {
    return this.record.lanes.every((one, index) => one.events >= this.#share || this.#isSilent(one, index));
  }

  /** Whether the laws say nothing of a policy, after a run with each of its configurations. */
  #isSilent({ events, runs }: Lane, index: number): boolean {
    return events === 0 && runs >= this.#configs(index).length;
  }

  #configs(index: number): readonly unknown[] {
    return this.#options.configs[this.#options.definitions[index]!.id]!.filter(mayForget);
  }

  get #share(): number {
    return this.record.events / this.record.lanes.length;
  }

  /** One run further, of the policy that is furthest behind. Throws where a law is broken. */
  advance(): void {
    const { lanes } = this.record;
    const left = [...lanes.keys()].filter((at) => !this.#isSilent(lanes[at]!, at));
    const index = left.reduce((least, at) => (lanes[at]!.events < lanes[least]!.events ? at : least), left[0]!);
    this.#run(this.#options.definitions[index]!, lanes[index]!, index);
  }

  #run(definition: AnyPolicyDefinition, mine: Lane, index: number): void {
    const begun = performance.now();
    const all = this.#configs(index);
    const config = all[mine.runs % all.length];
    const generator = xoroshiro128plus((this.#options.seed * 7919 + index * 1_000_003 + mine.runs) | 0);
    const below = (n: number): number => uniformInt(generator, 0, n - 1);
    const tape = Array.from({ length: 1 + below(400) }, () => below(999_983));
    const events = likelyEvents(contradicting(withEvents(definition)), config, tape, 1 + below(longest));
    for (const law of this.#laws) {
      const check = (run: readonly AnyEvent[]): unknown => law.check({ definition, config, events: run });
      try {
        const sent = check(events);
        mine.events += typeof sent === 'number' ? sent : events.length;
      } catch (error) {
        const which = `${definition.id}, configuration ${mine.runs % all.length}, run ${mine.runs}`;
        const own = law.smallest?.({ definition, config, events });
        const found = own === undefined ? trimmed(events, (run) => void check(run), 60) : undefined;
        const what = own ?? `${found?.message ?? messageOf(error)}${textOfRun(found?.run ?? events)}`;
        const says = `${which}: law ${law.number} (${law.title}): ${what}`;
        throw new Error(says, { cause: error });
      }
    }
    mine.runs += 1;
    mine.seconds += (performance.now() - begun) / 1000;
  }

  /** Writes the file, whole or not at all. */
  save(): void {
    save(this.#options.state, this.record);
  }

  /** What was run, as a table. */
  get text(): string {
    const table = plainTable<Lane>(
      [
        ['policy', (one) => one.policy],
        ['runs', (one) => one.runs.toLocaleString('en')],
        ['events', (one) => one.events.toLocaleString('en')],
        ['a second', (one) => fixed(one.events / Math.max(1e-9, one.seconds), 0)],
      ],
      this.record.lanes,
    );
    const sum = (of: (one: Lane) => number): number => this.record.lanes.reduce((all, one) => all + of(one), 0);
    const [events, runs] = [sum((one) => one.events), sum((one) => one.runs)].map((one) => one.toLocaleString('en'));
    const spoken = this.record.lanes.filter((one) => one.events > 0).length;
    const silent =
      spoken < this.record.lanes.length
        ? `\nthe laws say something of ${spoken} of ${this.record.lanes.length} policies`
        : '';
    return `${table}\n\n${this.record.of.split(':')[0]}\n${events} events in ${runs} runs, ${fixed(
      sum((one) => one.seconds),
      0,
    )} s of work; no law was broken${silent}`;
  }
}

function recordIn(path: string, mine: z.output<typeof record>): z.output<typeof record> {
  const theirs = readRecord(path, record, 'a file of short runs');
  if (theirs.of === mine.of && theirs.events === mine.events) return theirs;
  const expected = `a run of ${mine.events} events, ${mine.of}; or no file`;
  throw new PolicyError('invalid_input', { expected, got: `${theirs.events} events, ${theirs.of}`, path });
}
