/** What a law of policies is, and what it is checked on. */
import type { AnyEvent, AnyPolicyDefinition } from '../core/definition.ts';
import type { HostHints } from './obedience.ts';

/** What a law is checked on. */
export interface Case {
  /** The policy. */
  readonly definition: AnyPolicyDefinition;
  /** Its configuration. */
  readonly config: unknown;
  /** The run, event by event. */
  readonly events: readonly AnyEvent[];
  /** What a host needs to know of words that are not the vocabulary's. */
  readonly hints?: HostHints | undefined;
}

/** One law. */
export interface Law {
  /** Its number in the list of laws. */
  readonly number: number;
  /** What it says, in a few words. */
  readonly title: string;
  /** Throws if the case breaks the law. */
  check(one: Case): unknown;
}
