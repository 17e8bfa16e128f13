/** Follows a policy, so that its answers to `why` include start times, reasons and usual durations. */
import type { AnyDecision, AnyEvent } from '../machine/definition.ts';
import type { Policy } from '../machine/policy.ts';
import { OpenCommands } from './open-commands.ts';
import type { KnownTimes } from './why.ts';

/** Times of a policy that is followed. */
export interface Watch extends Required<Omit<KnownTimes, 'at'>> {
  /** Stops following the policy. */
  stop(): void;
}

/**
 * Follows a policy from now on, for the third argument of {@link Policy.why}. Each event and decision costs about two microseconds. What
 * was asked for before has no times; after a restore, follow the new policy.
 *
 * @example
 * ```ts
 * const times = watch(tail);
 * tail.why('p17', 'prompts', times); // with `since`, `asked` and `usual`
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: times do not depend on the shape of the policy
export function watch(policy: Policy<any, any, any, any, any>): Watch {
  const commands = new OpenCommands(policy.definition);
  const stop = policy.observe((event: AnyEvent, decisions: readonly AnyDecision[]) =>
    commands.follow(event, decisions, policy.at),
  );
  return {
    answeredBy: (event) => commands.answeredBy(event),
    usual: (type) => commands.usual(type),
    usuallyFiltered: () => commands.usuallyFiltered(),
    stop,
  };
}
