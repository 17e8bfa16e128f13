/**
 * The property kit: checks the laws on any policy or planner, your own or a built-in one. Needs `fast-check`.
 *
 * @packageDocumentation
 */
import type { AnyEvent, AnyPlannerDefinition } from '../core/machine/definition.ts';
import { type SimulatorFit, simulatorFit } from '../core/machine/simulator-fit.ts';
import type { HostHints } from './hosts/obedience.ts';
import { laws } from './laws/laws.ts';
import { plannerLaws } from './laws/planner-laws.ts';
import { likelyEvents } from './runs/run.ts';
import { messageOf, type SearchOptions, search, textOfRun, trimmed } from './runs/search.ts';
import { type Tested, withEvents } from './runs/tested.ts';

export type { Choices } from '../core/generators/choices.ts';
export { type SimulatorFit, simulatorFit } from '../core/machine/simulator-fit.ts';
export { checkHost, type HostCheckOptions, type HostUnderTest } from './host-checks/check-host.ts';
export { checkConservation, placesOf } from './host-checks/conservation.ts';
export type { Places } from './host-checks/held-book.ts';
export type { HostReport } from './host-checks/host-audit.ts';
export { HostModel } from './host-checks/host-model.ts';
export type { Flight, HostModelConfig, OpenRound } from './host-checks/host-rules.ts';
export { ModelHost } from './host-checks/model-host.ts';
export type { AnswerRule, Desk, HostHints, Plan, Report } from './hosts/obedience.ts';
export { checkCost, type InFlightLoad, itemsWalked } from './laws/cost.ts';
export type { Case, Law } from './laws/law.ts';
export { laws } from './laws/laws.ts';
export { type PlannerCase, type PlannerLaw, plannerLaws } from './laws/planner-laws.ts';
export {
  type Cluster,
  type ClusterBounds,
  clusterEvents,
  clusters,
  type DefinitionOf,
  eventStreams,
  type LengthBounds,
  type MalformedStream,
  malformedStreams,
  type PromptBounds,
  promptBatches,
  sequenceLengths,
} from './runs/arbitraries.ts';
export { type Malformed, malformedEvents } from './runs/malformed.ts';
export { type Answer, choicesFrom, likelyEvents, type Subject } from './runs/run.ts';
export { type SearchOptions, tapes } from './runs/search.ts';
export { type Arbitrary, arbitraryOf, type Tested, type WithEvents } from './runs/tested.ts';
export { withTraps } from './runs/traps.ts';

/** Options of a check of the laws. */
export interface LawOptions extends SearchOptions {
  /** Numbers of the laws to check; all if absent. */
  readonly only?: readonly number[];
  /** For laws 11 and 12: the answers of a host to your own messages, and the work that the host begins. */
  readonly hints?: HostHints;
}

/** What is known of a policy that keeps the laws. */
export interface LawsKept {
  /** Whether the simulator (`rollflex/sim`) runs it, what it would need for that, and what it would not get there. */
  readonly simulator: SimulatorFit;
}

/**
 * Checks that a policy keeps the laws, and says what the simulator needs of it.
 *
 * @throws Error with the law, the smallest run that breaks the law, and the seed to repeat the run
 */
export function checkLaws(tested: Tested, options: LawOptions): LawsKept {
  const { definition } = withEvents(tested);
  const { config, only, hints, limitSeconds = 60 } = options;
  for (const law of laws) {
    if (only !== undefined && !only.includes(law.number)) continue;
    const check = (events: readonly AnyEvent[]): void => {
      law.check({ definition, config, events, hints });
    };
    search(
      `${definition.id} breaks law ${law.number} (${law.title})`,
      options,
      (tape, length) => check(likelyEvents(tested, config, tape, length)),
      (tape, length) => {
        const own = law.smallest?.({ definition, config, events: likelyEvents(tested, config, tape, length), hints });
        if (own !== undefined) return own;
        const found = trimmed(likelyEvents(tested, config, tape, length), check, limitSeconds);
        // A nondeterministic policy may not break the law the second time.
        return found === undefined ? 'not again, with the same events' : found.message + textOfRun(found.run);
      },
    );
  }
  return { simulator: simulatorFit(definition) };
}

/**
 * Checks that a planner keeps the laws, for one input that has a plan.
 *
 * @throws Error with the planner and the law
 */
export function checkPlannerLaws(definition: AnyPlannerDefinition, input: unknown): void {
  for (const law of plannerLaws) {
    try {
      law.check({ definition, input });
    } catch (error) {
      throw new Error(`${definition.id} breaks a law of planners (${law.title}): ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}
