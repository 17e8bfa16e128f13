/** The records of one session in shadow mode. */
import type { LogLineOf } from '../../logs/format/decision-log.ts';
import { Pairs, type ShadowCounts } from './pairs.ts';

/** Reads the lines of a session; the findings are complete after the last line. */
export interface ShadowBook {
  event(line: LogLineOf<'event'>, where: string): void;
  decided(line: LogLineOf<'decided'>): void;
  counts(): ShadowCounts[];
  /** Returns the estimated value of the differences; null for a policy without such an estimate. */
  worth(): object | null;
}

type Loose = Readonly<Record<string, unknown>>;

/** Splits a decision into its ids and its other fields. */
function split(decision: Loose): { id: string; value: Loose } {
  const ids: string[] = [];
  const value: Record<string, unknown> = {};
  for (const [field, one] of Object.entries(decision)) {
    if (field === 'type' || field === 'at' || field === 'reason') continue;
    if (typeof one === 'string' && field.endsWith('Id')) ids.push(one);
    else value[field] = one;
  }
  return { id: ids.join(' '), value };
}

/** Compares the decisions of any policy by type and ids, without further knowledge of the policy. */
export class AnyBook implements ShadowBook {
  readonly #pairs = new Map<string, Pairs>();
  /** Types of decisions that the host has reported; for other types, the host's choice is unknown. */
  readonly #spoken = new Set<string>();

  event({ decisions }: LogLineOf<'event'>, where: string): void {
    for (const decision of decisions) {
      const { id, value } = split(decision);
      const reason = decision.reason as { code: string };
      this.#of(decision.type).ofPolicy(id, value, reason, where);
    }
  }

  decided({ decision }: LogLineOf<'decided'>): void {
    const { id, value } = split(decision);
    this.#spoken.add(decision.type);
    this.#of(decision.type).ofHost(id, value);
  }

  counts(): ShadowCounts[] {
    return [...this.#pairs.values()].filter(({ decision }) => this.#spoken.has(decision)).map((one) => one.counts());
  }

  worth(): null {
    return null;
  }

  #of(type: string): Pairs {
    let pairs = this.#pairs.get(type);
    if (pairs === undefined) this.#pairs.set(type, (pairs = new Pairs(type)));
    return pairs;
  }
}
