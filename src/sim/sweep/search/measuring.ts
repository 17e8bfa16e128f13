/** Measures candidates: asks for the runs that are missing, and counts them and their responses. */
import { type Book, type Candidate, gain, gainInterval } from '../book.ts';
import type { Spread } from '../interval.ts';
import { responsesOf, type SearchPlan } from '../plan.ts';
import type { SweepProblem, SweepRun, SweepTask } from '../run.ts';
import { labelOf, type SweepSettings } from '../settings/settings.ts';
import type { SweepPart } from '../split.ts';
import type { FoundSettings, SweepBatch, SweepPhase } from './batch.ts';
import type { Rules } from './rules.ts';

/** Options of the measuring of a search. */
export interface MeasuringOptions {
  readonly problem: SweepProblem;
  readonly book: Book;
  readonly rules: Rules;
  readonly plan: SearchPlan;
  /** Spread of an independent run, for what is found so far. */
  readonly spread: Spread;
}

/** What to measure. */
export interface ToMeasure {
  readonly phase: SweepPhase;
  readonly candidates: Iterable<Candidate>;
  readonly seeds: readonly number[];
  /** Candidates that are measured even if no budget is left for them. */
  readonly always: readonly Candidate[];
  /** Estimated number of runs after these; if absent, as many as what is expected of the search leaves. */
  readonly later?: number;
  /** Responses, about, that may be simulated before the end of this batch; the last candidates are left out where it is more. */
  readonly limit?: number;
  /** Steps of a run, if they are not those of the part. */
  readonly steps?: number | undefined;
  /** Runs that are made beside these. */
  readonly more?: readonly SweepTask[];
}

/** The runs of a search. */
export class Measuring {
  readonly #options: MeasuringOptions;
  readonly #seen: Readonly<Record<SweepPart, Set<number>>> = {
    search: new Set<number>(),
    confirmation: new Set<number>(),
  };
  #runs = 0;
  #responses = 0;

  constructor(options: MeasuringOptions) {
    this.#options = options;
  }

  /** Number of runs so far. */
  get runs(): number {
    return this.#runs;
  }

  /** Simulated responses of these runs, about. */
  get responses(): number {
    return this.#responses;
  }

  /** Measures candidates on seeds. */
  *measure({
    phase,
    candidates,
    seeds,
    always,
    later,
    limit = Number.POSITIVE_INFINITY,
    steps,
    more = [],
  }: ToMeasure): Generator<SweepBatch, void, readonly SweepRun[]> {
    const { book, plan } = this.#options;
    const part = phase === 'confirmation' ? phase : 'search';
    const missing = (list: Iterable<Candidate>): SweepTask[] => book.missing(list, seeds, part, steps);
    const within = new Set(always);
    let room = limit - this.#responses - this.#work(missing(always));
    for (const one of candidates) {
      if (within.has(one)) continue;
      room -= this.#work(missing([one]));
      if (room < 0) break;
      within.add(one);
    }
    const tasks = [...missing(within), ...more];
    for (const seed of seeds) this.#seen[part].add(seed);
    if (tasks.length === 0) return;
    const found = this.#found(part);
    const next = this.#work(tasks);
    const left = Math.max(0, plan.expected - this.#responses - next);
    const after = later ?? Math.round((left * tasks.length) / next);
    const results = yield {
      phase,
      tasks,
      doneRuns: this.#runs,
      plannedRuns: this.#runs + tasks.length + after,
      responses: {
        done: this.#responses,
        next,
        planned: Math.max(plan.expected, this.#responses + next),
      },
      ...(found === undefined ? {} : { found }),
    };
    for (const [index, task] of tasks.entries()) book.note(task, results[index]!);
    this.#runs += tasks.length;
    this.#responses += next;
  }

  #work(tasks: readonly SweepTask[]): number {
    return tasks.reduce((sum, task) => sum + responsesOf(this.#options.problem, task), 0);
  }

  /** Returns the best of the settings that have run on most seeds, on two or more. */
  #found(part: SweepPart): FoundSettings | undefined {
    const { book, rules, spread } = this.#options;
    const seeds = [...this.#seen[part]];
    const seen = book.all
      .map((one) => ({ one, pairs: book.pairs(one, book.baseline, seeds) }))
      .filter(({ pairs }) => pairs.length > 1);
    const most = Math.max(...seen.map(({ pairs }) => pairs.length));
    const [best] = seen
      .filter(({ one, pairs }) => pairs.length === most && rules.isWithin(one, seeds, 'search'))
      .sort((a, b) => gain(b.pairs) - gain(a.pairs));
    if (best === undefined) return part === 'confirmation' ? this.#found('search') : undefined;
    const label = labelOf(best.one.settings as SweepSettings);
    return { label, gain: gainInterval(best.pairs, spread), seeds: most };
  }
}
