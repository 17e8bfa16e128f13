/** What the decisions of a bad day come to. */
import type { AnyDecision } from 'rollflex';

/** Decisions that say how a policy sees its day. */
const telling = [
  ...[
    'tries.suspended',
    'tries.recovered',
    'slots.suspended',
    'slots.resumed',
    'request.launch',
    'request.abort',
    'reward.dispatch',
  ],
  ...['request.expired', 'response.dropped', 'response.abandoned', 'response.late', 'reward.failed', 'prompt.failed'],
  ...['prompt.filtered', 'prompts.request', 'prompts.released', 'round.completed', 'source.drained'],
];
/** Reasons that every day has. */
const usual = ['planned', 'requested', 'round_opened', 'prompt_collected', 'round_completed', 'quota_reached'];

/** The telling decisions by their reasons, in the order in which they came first. */
export function summary(decisions: readonly AnyDecision[]): string[] {
  const seen = new Map<string, number[]>();
  for (const { type, at, reason, ...fields } of decisions) {
    if (!telling.includes(type) || usual.includes(reason.code)) continue;
    const { scope = '', id = '' } = { ...reason, ...fields } as { scope?: string; id?: string };
    const name = [type, reason.code, scope, id].filter((one) => one !== '').join(' ');
    seen.set(name, [...(seen.get(name) ?? []), at]);
  }
  return [...seen].map(([name, times]) => {
    const [from, to] = [times[0]!, times.at(-1)!].map((at) => at.toFixed());
    const when = from === to ? `at ${from} s` : `${from} to ${to} s`;
    return `${name}${times.length === 1 ? '' : ` × ${times.length}`}, ${when}`;
  });
}

/** How many decisions are of this type. */
export const countOf = (decisions: readonly AnyDecision[], type: string): number =>
  decisions.filter((one) => one.type === type).length;
