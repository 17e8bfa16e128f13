/** Runs of sweeps in a file, one a line, so that a sweep that was stopped goes on where it was. */
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { z } from 'zod';
import { refuse } from '../errors.ts';
import type { SweepRun } from '../sim/sweep/run.ts';
import { writing } from './written-files.ts';

const head = { format: 'rollflex-sweep', version: 2 } as const;
const seconds = z.number().nonnegative();
const count = z.int().nonnegative();
const line = z.strictObject({
  key: z.string().regex(/^[0-9a-f]{64}$/),
  run: z.union([
    z.strictObject({
      secondsPerPrompt: seconds,
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

/** The runs of a file. Their keys contain all their inputs: a file may hold the runs of many sweeps. */
export class SweepState {
  readonly #path: string;
  readonly #runs = new Map<string, SweepRun>();

  /**
   * Opens a file, or begins one. A last line that was not written to its end is taken away.
   *
   * @throws PolicyError `invalid_input` for a file that is something else, or is broken before its end; the system's error
   *   where it cannot be read or written
   */
  constructor(path: string) {
    this.#path = path;
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (text === '') this.#append(JSON.stringify(head));
    else this.#read(text);
  }

  /** Returns a run by its key, if the file has it. */
  get(key: string): SweepRun | undefined {
    return this.#runs.get(key);
  }

  /** Adds a run to the file. */
  put(key: string, run: SweepRun): void {
    this.#runs.set(key, run);
    this.#append(JSON.stringify({ key, run }));
  }

  /** Appends a line in one write, which no signal cuts in two. */
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
    // A process that is killed may leave part of a line, which is no run.
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
