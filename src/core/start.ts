/** Policies and plans from their definitions. It knows no other definition, so that one policy alone stays small. */
import { isPolicyError, refuse } from '../errors.ts';
import type { AnyEvent, AnyPlannerDefinition, AnyPolicyDefinition, PlanOf, PolicyDefinition } from './definition.ts';
import { Policy, type PolicyOptions } from './policy.ts';
import { openSnapshot } from './snapshot.ts';
import { parse } from './validate.ts';

/** The running policy that a definition makes. */
export type PolicyOf<P> =
  P extends PolicyDefinition<infer _Input, infer C, infer S, infer E, infer D, infer V> ? Policy<C, S, E, D, V> : never;

/** A new policy from its definition. Throws `invalid_config`. */
export function startPolicy<P extends AnyPolicyDefinition>(
  definition: P,
  config: unknown,
  options?: PolicyOptions,
): PolicyOf<P> {
  const parsed = parse(definition.config, config, 'invalid_config');
  const start = { config: parsed, state: definition.init(parsed), seq: 0, at: 0 };
  return new Policy(definition, start, options) as PolicyOf<P>;
}

/** A policy that goes on from a snapshot. Throws `snapshot_mismatch`. */
export function resumePolicy<P extends AnyPolicyDefinition>(
  definition: P,
  snapshot: unknown,
  options?: PolicyOptions,
): PolicyOf<P> {
  return new Policy(definition, openSnapshot(definition, snapshot), options) as PolicyOf<P>;
}

/**
 * A plan from its definition.
 *
 * @throws PolicyError `invalid_input` for an input that does not fit the schema, `infeasible` where there is no plan
 */
export function runPlanner<P extends AnyPlannerDefinition>(definition: P, input: unknown): PlanOf<P> {
  const parsed = parse(definition.input, input, 'invalid_input');
  try {
    return definition.compute(parsed) as PlanOf<P>;
  } catch (error) {
    if (isPolicyError(error)) throw error;
    refuse('internal', '', `${definition.id} to plan for an input that fits its schema`, String(error), error);
  }
}

/** An event of a policy whose type is known only when it runs. */
// biome-ignore lint/suspicious/noExplicitAny: of `unknown`, an event that an interface describes would be none
export type LooseEvent = AnyEvent & Readonly<Record<string, any>>;
