/** What a law of policies is, and what it is checked on. */
import type { AnyEvent, AnyPolicyDefinition } from '../core/definition.ts';

/** What a law is checked on. */
export interface Case {
  readonly definition: AnyPolicyDefinition;
  readonly config: unknown;
  readonly events: readonly AnyEvent[];
}

/** One law. */
export interface Law {
  /** Its number in the list of laws. */
  readonly number: number;
  readonly title: string;
  /** Throws if the case breaks the law. */
  check(one: Case): void;
}
