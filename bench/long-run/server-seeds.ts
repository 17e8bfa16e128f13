/** Seeds of the simulated server, one after the other, and a file from which they go on. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { PolicyError } from '../../src/errors.ts';
import { packageVersion } from '../../src/logs/index/package.ts';
import { playSeed } from '../../test/support/simulated-server/story.ts';
import type { Advancing } from './advance.ts';
import { readRecord, save } from './file.ts';

const whole = z.int().nonnegative();
const record = z.strictObject({
  format: z.literal('rollflex-server-seeds'),
  of: z.string(),
  /** Seeds that were played. */
  done: whole,
  /** What happened in all of them. */
  occurred: whole,
  seen: z.record(z.string(), whole),
  /** Of all traces so far, in order. */
  digest: z.string(),
  seconds: z.number().nonnegative(),
});

/** What to play. */
export interface ServerSeedsOptions {
  /** The first seed. */
  readonly seed: number;
  readonly seeds: number;
  /** File to go on from, and to write to. */
  readonly state?: string;
}

/** Seeds under way. */
export class ServerSeeds implements Advancing {
  readonly record: z.output<typeof record>;
  readonly #options: ServerSeedsOptions;

  /** @throws PolicyError `invalid_input` for a file of other seeds */
  constructor(options: ServerSeedsOptions) {
    const { seed, state } = options;
    this.#options = options;
    const of = `rollflex ${packageVersion()}, from seed ${seed}`;
    const empty = {
      format: 'rollflex-server-seeds' as const,
      of,
      done: 0,
      occurred: 0,
      seen: {},
      digest: '',
      seconds: 0,
    };
    this.record = state !== undefined && existsSync(state) ? recordIn(state, of) : empty;
  }

  get done(): number {
    return this.record.done;
  }

  get isDone(): boolean {
    return this.done >= this.#options.seeds;
  }

  /** One seed further. Throws where a rule is broken. */
  async advance(): Promise<void> {
    const { record } = this;
    const begun = performance.now();
    const { digest, occurred, seen } = await playSeed(this.#options.seed + record.done);
    record.done += 1;
    record.occurred += occurred;
    for (const [what, count] of Object.entries(seen)) record.seen[what] = (record.seen[what] ?? 0) + count;
    record.digest = createHash('sha256').update(record.digest).update(digest).digest('hex').slice(0, 16);
    record.seconds += (performance.now() - begun) / 1000;
  }

  /** Writes the file, whole or not at all. */
  save(): void {
    save(this.#options.state, this.record);
  }

  /** What was played. */
  get text(): string {
    const { done, occurred, seen, digest, seconds } = this.record;
    const counts = Object.entries(seen).sort(([a], [b]) => (a < b ? -1 : 1));
    const lines = counts.map(([what, count]) => `  ${what}: ${count.toLocaleString('en')}`);
    const all = `${done.toLocaleString('en')} seeds, ${occurred.toLocaleString('en')} occurrences, ${Math.round(seconds)} s`;
    return `${all}; no rule was broken; digest ${digest}\n${lines.join('\n')}`;
  }
}

function recordIn(path: string, of: string): z.output<typeof record> {
  const found = readRecord(path, record, 'a file of seeds');
  if (found.of === of) return found;
  throw new PolicyError('invalid_input', { expected: `seeds of ${of}; or no file`, got: found.of, path });
}
