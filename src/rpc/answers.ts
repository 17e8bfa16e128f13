/** Decisions of one answer in pages: the first goes with the answer, the others wait to be asked for. */
import type { AnyDecision } from '../core/definition.ts';
import { LruMap } from '../core/lru.ts';
import { refuse } from '../errors.ts';

/** One page. */
export interface Page {
  readonly decisions: readonly AnyDecision[];
  /** By what the following page is asked for; absent on the last. */
  readonly more?: string;
}

/** The long answers of a session, as they are kept on disk. */
export interface SavedAnswers {
  /** Number of long answers made so far: their names count up. */
  readonly made: number;
  /** From the least to the most recently used. */
  readonly kept: readonly (readonly [name: string, decisions: readonly AnyDecision[]])[];
}

/** Answers of a session that were too long for one message; the oldest leave. */
export class PagedAnswers {
  readonly #pageDecisions: number;
  readonly #answers: LruMap<string, readonly AnyDecision[]>;
  #made = 0;

  constructor(limits: { readonly pageDecisions: number; readonly keptAnswers: number }, saved?: SavedAnswers) {
    this.#pageDecisions = limits.pageDecisions;
    this.#answers = new LruMap(limits.keptAnswers);
    this.#made = saved?.made ?? 0;
    for (const [name, decisions] of saved?.kept ?? []) this.#answers.set(name, decisions);
  }

  save(): SavedAnswers {
    return { made: this.#made, kept: [...this.#answers] };
  }

  /** The first page. */
  first(decisions: readonly AnyDecision[]): Page {
    if (decisions.length <= this.#pageDecisions) return { decisions };
    const name = String(++this.#made);
    this.#answers.set(name, decisions);
    return this.#page(name, decisions, 0);
  }

  /** Keeps the pages of an answer that is given once more, if they have left. */
  keep(more: string, decisions: readonly AnyDecision[]): void {
    this.#answers.set(more.slice(0, more.indexOf('-')), decisions);
  }

  /** A page that follows; it can be asked for again. Throws `unknown_id`. */
  next(more: string): Page {
    const [, name = '', from = ''] = /^(\d{1,15})-(\d{1,15})$/.exec(more) ?? [];
    const decisions = this.#answers.get(name);
    if (decisions === undefined || Number(from) >= decisions.length) {
      refuse('unknown_id', 'more', 'what one of the last long answers gave', more);
    }
    return this.#page(name, decisions, Number(from));
  }

  #page(name: string, decisions: readonly AnyDecision[], from: number): Page {
    const to = from + this.#pageDecisions;
    const page = { decisions: decisions.slice(from, to) };
    return to < decisions.length ? { ...page, more: `${name}-${to}` } : page;
  }
}
