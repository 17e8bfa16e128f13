/** Types of the laws of policies, and of the cases on which they are checked. */
import type { AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import type { HostHints } from '../hosts/obedience.ts';

/** A case on which a law is checked. */
export interface Case {
  /** The policy. */
  readonly definition: AnyPolicyDefinition;
  /** The configuration of the policy. */
  readonly config: unknown;
  /** Events of the run, in order. */
  readonly events: readonly AnyEvent[];
  /** Hints for a host about messages outside of the vocabulary. */
  readonly hints?: HostHints | undefined;
}

/** One law. */
export interface Law {
  /** Number of the law. */
  readonly number: number;
  /** The law in a few words. */
  readonly title: string;
  /** Throws if the case breaks the law. */
  check(one: Case): unknown;
  /** Returns the message of the smallest failing case that it finds; for a law that makes its own runs. */
  smallest?(one: Case): string | undefined;
}
