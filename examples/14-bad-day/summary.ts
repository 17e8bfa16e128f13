/** The decisions that a good day does not have, in the order of their first time. */
import type { AnyDecision } from 'rollflex';

const always = new Set(['request.launch planned', 'prompts.request round_opened', 'timer.set abort_grace']);
const telling =
  /^(request\.launch|prompts\.request|prompts\.released|response\.(dropped|abandoned)|prompt\.(failed|filtered)|request\.(expired|abort)|tries\.|slots?\.(suspended|resumed|denied)|rewards?\.(failed|saturated|resumed)|round\.completed|source\.drained|timer\.set)/;
const usual =
  /^(request\.launch planned|prompts\.request round_opened|timer\.set (abort_grace|response_timeout|environment_due)|request\.abort (prompt_collected|round_completed)|round\.completed quota_reached)$/;

export function summary(decisions: readonly AnyDecision[]): string[] {
  const seen = new Map<string, { count: number; from: number; to: number }>();
  for (const { type, reason, at } of decisions) {
    const name = `${type} ${reason.code}`;
    if (!telling.test(type) || usual.test(name) || always.has(name)) continue;
    const one = seen.get(name) ?? { count: 0, from: at, to: at };
    seen.set(name, { count: one.count + 1, from: one.from, to: at });
  }
  return [...seen].map(([name, { count, from, to }]) =>
    count === 1 ? `${name}, ${from.toFixed()} s` : `${name} × ${count}, ${from.toFixed()} to ${to.toFixed()} s`,
  );
}

/** How many decisions are of this type. */
export const countOf = (decisions: readonly AnyDecision[], type: string): number =>
  decisions.filter((one) => one.type === type).length;
