/**
 * The property kit: checks the laws on any policy or planner, a host's own or a built-in one. Needs `fast-check`.
 *
 * @packageDocumentation
 */
import fc from 'fast-check';
import type { AnyPlannerDefinition, AnyPolicyDefinition } from '../core/definition.ts';
import { laws } from './laws.ts';
import { plannerLaws } from './planner-laws.ts';
import { likelyEvents } from './run.ts';

export { type Crowd, checkCost, itemsWalked } from './cost.ts';
export type { Case, Law } from './law.ts';
export { laws } from './laws.ts';
export { type PlannerCase, type PlannerLaw, plannerLaws } from './planner-laws.ts';
export { type Answer, choicesFrom, likelyEvents, type Subject } from './run.ts';
export { withTraps } from './traps.ts';

/** How the laws are checked. */
export interface LawOptions {
  /** Configuration of the policy. */
  readonly config: unknown;
  /** Runs for each law, by default 30. */
  readonly runs?: number;
  /** Events in a run, by default 60. */
  readonly events?: number;
  /** Seed of fast-check; its global one if absent. */
  readonly seed?: number;
  /** Seconds for each law, its search for a small failing run included; by default 60. A law not done by then fails. */
  readonly limitSeconds?: number;
  /** Numbers of the laws to check; all if absent. */
  readonly only?: readonly number[];
}

/** Tapes of choices that make runs of events; they shrink. */
export function tapes(): fc.Arbitrary<number[]> {
  return fc.array(fc.nat({ max: 999_983 }), { minLength: 1, maxLength: 400, size: 'max' });
}

/**
 * Checks that a policy keeps the laws.
 *
 * @throws Error that names the law, with the smallest run that breaks it and the seed to repeat it
 */
export function checkLaws(definition: AnyPolicyDefinition, options: LawOptions): void {
  const { config, runs = 30, events: length = 60, seed, only, limitSeconds = 60 } = options;
  for (const law of laws) {
    if (only !== undefined && !only.includes(law.number)) continue;
    const property = fc.property(tapes(), fc.integer({ min: 1, max: length }), (tape, count) => {
      law.check({ definition, config, events: likelyEvents(definition, config, tape, count) });
    });
    const result = fc.check(property, {
      numRuns: runs,
      interruptAfterTimeLimit: limitSeconds * 1000,
      markInterruptAsFailure: true,
      ...(seed === undefined ? {} : { seed }),
    });
    if (!result.failed) continue;
    const error = result.errorInstance ?? `not done in ${limitSeconds} s, ${result.numRuns} runs`;
    const cause = error instanceof Error ? error.message : String(error);
    throw new Error(`${definition.id} breaks law ${law.number} (${law.title}), seed ${result.seed}: ${cause}`, {
      cause: error,
    });
  }
}

/**
 * Checks that a planner keeps the laws, for one input that it has a plan for.
 *
 * @throws Error that names the planner and the law
 */
export function checkPlannerLaws(definition: AnyPlannerDefinition, input: unknown): void {
  for (const law of plannerLaws) {
    try {
      law.check({ definition, input });
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      throw new Error(`${definition.id} breaks a law of planners (${law.title}): ${cause}`, { cause: error });
    }
  }
}
