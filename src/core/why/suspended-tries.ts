/**
 * Follows where tries fail in a row, as policies report by `tries.suspended` and `tries.recovered`: everything waits for these
 * tries then.
 */
import { z } from 'zod';
import type { AnyDecision, AnyEvent } from '../machine/definition.ts';

const suspendedTries = z.strictObject({
  scope: z.string(),
  id: z.string().optional(),
  since: z.number(),
  failures: z.int().nonnegative(),
});
export const savedSuspendedTries = z.strictObject({
  all: z.array(suspendedTries),
  gains: z.record(z.string(), z.number()).optional(),
  stale: suspendedTries.optional(),
});
type Saved = z.output<typeof savedSuspendedTries>;

/** A part of a cluster that is suspended, so that only single tries run there. */
export interface SuspendedTries {
  /**
   * What fails: `engine`, `environment`, `reward`, `loader` or `prompt`; with `weights`, all results come from weights that are
   * too old.
   */
  readonly scope: string;
  /** Id of the suspended part; absent if the whole scope is suspended. */
  readonly id?: string | undefined;
  /** Time of the suspension, in seconds. */
  readonly since: number;
  /** Tries in a row that had failed before the suspension. */
  readonly failures: number;
}

/** A shorter suspension may end with the next try. */
const hiccupSeconds = 30;

/** So many repeated tries because of old weights are not chance, since other engines are asked first. */
const mostStale = 3;

/** Notices that show progress after all, and the kind of progress. */
const gains: Readonly<Record<string, 'work' | 'rewards'>> = {
  'response.accepted': 'work',
  'sample.registered': 'work',
  'reward.scored': 'rewards',
  'reward.ready': 'rewards',
};
const gainOf = ({ scope }: SuspendedTries): string => (scope === 'reward' ? 'rewards' : 'work');

type Notice = AnyDecision & {
  readonly scope: string;
  readonly id?: string;
  readonly reason: { readonly failures?: number };
};
const keyOf = ({ scope, id }: { readonly scope: string; readonly id?: string | undefined }): string =>
  id === undefined ? scope : `${scope}/${id}`;

/** Follows notices of suspensions. */
export class SuspensionNotices {
  readonly #all: Map<string, SuspendedTries>;
  /** Times of the latest work and the latest reward while tries were suspended. */
  readonly #gains: Record<string, number>;
  /** Tries again after weights that were too old, since work was done last. */
  #stale: SuspendedTries | undefined;

  constructor({ all, gains: saved = {}, stale }: Saved = { all: [] }) {
    this.#all = new Map(all.map((one) => [keyOf(one), one]));
    this.#gains = { ...saved };
    this.#stale = stale;
  }

  follow(message: AnyDecision | AnyEvent, at: number): void {
    const { type } = message;
    if (type === 'tries.suspended') {
      const { scope, id, reason } = message as Notice;
      const failures = reason.failures ?? 0;
      this.#all.set(keyOf({ scope, id }), {
        ...{ scope, since: at, failures },
        ...(id === undefined ? undefined : { id }),
      });
    } else if (type === 'tries.recovered') this.#all.delete(keyOf(message as Notice));
    else if (type === 'request.launch') this.#launched(message as AnyDecision, at);
    else if (Object.hasOwn(gains, type)) {
      const gain = gains[type]!;
      if (this.#all.size > 0) this.#gains[gain] = at;
      if (gain === 'work') this.#stale = undefined;
    }
  }

  /** Suspended parts, in the order of their suspension. */
  get all(): SuspendedTries[] {
    const all = [...this.#all.values()];
    // A suspension of the whole scope stands for its parts.
    const outermost = all.filter(({ scope, id }) => id === undefined || !this.#all.has(scope));
    return this.#stale === undefined ? outermost : [...outermost, this.#stale];
  }

  /** The same suspensions, if they hold everything up: no work was done since the last of them, for more than half a minute. */
  holdingUp(at: number): SuspendedTries[] {
    const { all } = this;
    return all.filter((one) => {
      const gain = gainOf(one);
      const since = Math.max(...all.filter((other) => gainOf(other) === gain).map((other) => other.since));
      return at - since > hiccupSeconds && (this.#gains[gain] ?? -1) < since;
    });
  }

  /** Returns the state to save; `undefined` if nothing is suspended. */
  save(): Saved | undefined {
    if (this.#all.size === 0 && this.#stale === undefined) return undefined;
    return {
      all: [...this.#all.values()],
      gains: { ...this.#gains },
      ...(this.#stale === undefined ? undefined : { stale: this.#stale }),
    };
  }

  #launched({ reason }: AnyDecision, at: number): void {
    const { code, attempt = 0 } = reason as { readonly code: string; readonly attempt?: number };
    if (code !== 'retry_stale_weights' || attempt < mostStale) return;
    const { since = at, failures = 0 } = this.#stale ?? {};
    this.#stale = { scope: 'weights', since, failures: failures + 1 };
  }
}
