/** Pairs of decisions on the same subject: one from the policy and one from its host. */
/** A subject on which the decisions of host and policy differ. */
export interface ShadowDifference {
  /** The subject: the ids in the decision. */
  readonly id: string;
  /** The host's decision. */
  readonly host: Readonly<Record<string, unknown>>;
  /** The policy's decision. */
  readonly policy: Readonly<Record<string, unknown>>;
  /** The reason of the policy's decision, with its numbers. */
  readonly reason: { readonly code: string };
  /** File and line of the policy's decision. */
  readonly where: string;
}

/** Counts of agreements and differences between a policy and its host, for one type of decision. */
export interface ShadowCounts {
  /** Name of the decision. */
  readonly decision: string;
  /** Number of subjects on which host and policy agree. */
  readonly agreed: number;
  /** Number of subjects on which host and policy differ. */
  readonly differed: number;
  /** Subjects that only the host has decided on. */
  readonly onlyHost: number;
  /** Subjects that only the policy has decided on. */
  readonly onlyPolicy: number;
  /** The first differences, in order. */
  readonly differences: readonly ShadowDifference[];
}

type Value = Readonly<Record<string, unknown>>;
interface OfPolicy {
  readonly value: Value;
  readonly reason: ShadowDifference['reason'];
  readonly where: string;
}
/** A pair with both decisions. */
export interface Pair extends OfPolicy {
  readonly id: string;
  readonly host: Value;
}

/** Most differences in a report. */
const shownDifferences = 20;

/** Pairs for one type of decision. The latest decision of each side counts. */
export class Pairs {
  readonly decision: string;
  readonly #host = new Map<string, Value>();
  readonly #policy = new Map<string, OfPolicy>();

  constructor(decision: string) {
    this.decision = decision;
  }

  ofHost(id: string, value: Value): void {
    this.#host.set(id, value);
  }

  ofPolicy(id: string, value: Value, reason: { readonly code: string }, where: string): void {
    this.#policy.set(id, { value, reason: { ...reason }, where });
  }

  hostValue(id: string): Value | undefined {
    return this.#host.get(id);
  }

  /** Pairs, in the order of the policy's first decisions. */
  *[Symbol.iterator](): Generator<Pair> {
    for (const [id, one] of this.#policy) {
      const host = this.#host.get(id);
      if (host !== undefined) yield { id, host, ...one };
    }
  }

  counts(): ShadowCounts {
    let [agreed, both] = [0, 0];
    const differences: ShadowDifference[] = [];
    for (const pair of this) {
      both += 1;
      if (isSame(pair)) agreed += 1;
      else if (differences.length < shownDifferences) {
        const { id, host, value, reason, where } = pair;
        differences.push({ id, host, policy: value, reason, where });
      }
    }
    return {
      decision: this.decision,
      agreed,
      differed: both - agreed,
      onlyHost: this.#host.size - both,
      onlyPolicy: this.#policy.size - both,
      differences,
    };
  }
}

/** Whether the policy's decision agrees with the host's decision in all fields that the host has given. */
export function isSame({ host, value: policy }: Pair): boolean {
  return Object.entries(host).every(([field, one]) => JSON.stringify(one) === JSON.stringify(policy[field]));
}
