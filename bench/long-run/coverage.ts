/** What a run has seen of the messages of a policy: random events may leave a policy in a dull state, and this shows it. */
import type { AnyDecision, AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import type { DecisionMessage } from '../../src/schemas/vocabulary.ts';

/** How often each was seen. */
export interface Seen {
  /** Accepted events, by type. */
  events: Record<string, number>;
  /** Refused events, by type and code: `response.completed unknown_id`. */
  refusals: Record<string, number>;
  /** Decisions, by type and code of their reason: `request.abort surplus`. */
  reasons: Record<string, number>;
}

/** Nothing seen yet. */
export const nothingSeen = (): Seen => ({ events: {}, refusals: {}, reasons: {} });

export function count(into: Record<string, number>, key: string, by = 1): void {
  into[key] = (into[key] ?? 0) + by;
}

/** Counts a decision. */
export function countDecision(seen: Seen, { type, reason }: AnyDecision): void {
  count(seen.reasons, `${type} ${reason.code}`);
}

/** Adds what another lane has seen. */
export function addSeen(into: Seen, more: Seen): void {
  for (const part of ['events', 'refusals', 'reasons'] as const)
    for (const [key, times] of Object.entries(more[part])) count(into[part], key, times);
}

/** What of a kind of message was seen. */
export interface Share {
  readonly seen: number;
  readonly declared: number;
  readonly missing: readonly string[];
}

/** What was seen of all that a policy declares. */
export interface Coverage {
  readonly events: Share;
  readonly decisions: Share;
  /** Of every decision with every code of its closed set. */
  readonly reasons: Share;
}

function shareOf(declared: readonly string[], has: (one: string) => boolean): Share {
  const missing = declared.filter((one) => !has(one));
  return { seen: declared.length - missing.length, declared: declared.length, missing };
}

/** Holds what was seen against what is declared. */
export function coverageOf(definition: AnyPolicyDefinition, { events, reasons }: Seen): Coverage {
  const messages = definition.decisions as readonly DecisionMessage[];
  const types = new Set(Object.keys(reasons).map((key) => key.slice(0, key.indexOf(' '))));
  return {
    events: shareOf(
      definition.events.map((message) => message.type),
      (type) => type in events,
    ),
    decisions: shareOf(
      messages.map((message) => message.type),
      (type) => types.has(type),
    ),
    reasons: shareOf(
      messages.flatMap((message) => message.reasons.map((code) => `${message.type} ${code}`)),
      (key) => key in reasons,
    ),
  };
}
