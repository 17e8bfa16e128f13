/** Stores the runs of sweeps in a file, one run a line, so that a stopped sweep can continue. */
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { z } from 'zod';
import { refuse } from '../../errors.ts';
import type { SweepRun } from '../../sim/sweep/run.ts';
import { writing } from '../files/written.ts';

const head = { format: 'rollflex-sweep', version: 2 } as const;
const seconds = z.number().nonnegative();
const count = z.int().nonnegative();
const line = z.strictObject({
  key: z.string().regex(/^[0-9a-f]{64}$/),
  run: z.union([
    z.strictObject({
      secondsPerPrompt: seconds,
      roundVariance: seconds.default(0),
      tokensPerResponse: seconds,
      cappedShare: seconds,
      staleShare: seconds,
      maxLag: count,
      longFixed: count,
      longTrained: count,
    }),
    z.strictObject({ infeasible: z.string() }),
  ]),
});

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The runs in a file. The key of a run contains all its inputs, so that one file may hold the runs of many sweeps. */
export class SweepState {
  readonly #path: string;
  readonly #runs = new Map<string, SweepRun>();

  /**
   * Opens or creates a file. An incomplete last line is removed.
   *
   * @throws PolicyError `invalid_input` for another kind of file, or a line that is broken before the last one; the system's error
   *   if it cannot be read or written
   */
  constructor(path: string) {
    this.#path = path;
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (text === '') this.#append(JSON.stringify(head));
    else this.#read(text);
  }

  /** Returns the run with this key, if the file has it. */
  get(key: string): SweepRun | undefined {
    return this.#runs.get(key);
  }

  /** Adds a run to the file. */
  put(key: string, run: SweepRun): void {
    this.#runs.set(key, run);
    this.#append(JSON.stringify({ key, run }));
  }

  /** Appends a line in one write, which no signal interrupts. */
  #append(line: string): void {
    writing(this.#path, () => appendFileSync(this.#path, `${line}\n`));
  }

  #read(text: string): void {
    const [first = '', ...rest] = text.split('\n');
    if (first !== JSON.stringify(head)) {
      const expected = `a file of rollflex sweep: ${JSON.stringify(head)}`;
      refuse('invalid_input', `${this.#path}:1`, expected, first);
    }
    const last = rest.pop();
    // A killed process may leave an incomplete line, which is no run.
    if (last !== undefined && last !== '') {
      truncateSync(this.#path, Buffer.byteLength(text) - Buffer.byteLength(last));
    } else if (last === undefined) appendFileSync(this.#path, '\n');
    for (const [index, one] of rest.entries()) {
      const parsed = isJson(one) ? line.safeParse(JSON.parse(one)) : undefined;
      if (parsed?.success !== true) {
        const expected = 'a run: {"key":"…","run":{…}}';
        refuse('invalid_input', `${this.#path}:${index + 2}`, expected, one);
      }
      const { key, run } = parsed.data;
      this.#runs.set(key, run as SweepRun);
    }
  }
}
