/** Splits the decisions of one answer into pages: the first page is in the answer, and clients get the others by `session.more`. */

import { LruMap } from '../../core/collections/lru.ts';
import type { AnyDecision } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';

/** A page of an answer. */
export interface Page {
  readonly decisions: readonly AnyDecision[];
  /** Name of the next page; absent on the last page. */
  readonly more?: string;
}

/** The long answers of a session, in the form stored on disk. */
export interface SavedAnswers {
  /** Number of long answers so far, which is also the name of the last one. */
  readonly made: number;
  /** Answers from the least to the most recently used. */
  readonly kept: readonly (readonly [name: string, decisions: readonly AnyDecision[]])[];
}

/** Answers of a session that were too long for one message; the least recently used are evicted. */
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

  /** Continues the names of answers from an earlier session with the same id, whose names may still be asked for. */
  follow(earlier: PagedAnswers): void {
    this.#made = Math.max(this.#made, earlier.#made);
  }

  /** Returns the first page, and stores the other pages. */
  first(decisions: readonly AnyDecision[]): Page {
    if (decisions.length <= this.#pageDecisions) return { decisions };
    const name = String(++this.#made);
    this.#answers.set(name, decisions);
    return this.#page(name, decisions, 0);
  }

  /** Stores the pages of a repeated answer again if they were evicted. */
  keep(more: string, decisions: readonly AnyDecision[]): void {
    this.#answers.set(more.slice(0, more.indexOf('-')), decisions);
  }

  /** Returns a page after the first one, any number of times. Throws `unknown_id`. */
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
