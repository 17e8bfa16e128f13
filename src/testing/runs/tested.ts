/** Subjects of the laws: definitions, with likely events for them. */
import type { Choices } from '../../core/generators/choices.ts';
import { oneOf } from '../../core/ids/nearest.ts';
import type { AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import { arbitrary as adaptiveTp } from '../../policies/adaptive-tp/arbitrary.ts';
import { arbitrary as completeGroupPipelining } from '../../policies/complete-group-pipelining/arbitrary.ts';
import { arbitrary as dividedRollout } from '../../policies/divided-rollout/arbitrary.ts';
import { arbitrary as environmentSlots } from '../../policies/environment-slots/arbitrary.ts';
import { arbitrary as frontierGroupDispatch } from '../../policies/frontier-group-dispatch/arbitrary.ts';
import { arbitrary as gpuScaleDown } from '../../policies/gpu-scale-down/arbitrary.ts';
import { arbitrary as groupAssembly } from '../../policies/group-assembly/arbitrary.ts';
import { arbitrary as longPromptQueue } from '../../policies/long-prompt-queue/arbitrary.ts';
import { arbitrary as programScheduling } from '../../policies/program-scheduling/arbitrary.ts';
import { arbitrary as promptSelection } from '../../policies/prompt-selection/arbitrary.ts';
import { arbitrary as rewardDispatch } from '../../policies/reward-dispatch/arbitrary.ts';
import { arbitrary as roundComposition } from '../../policies/round-composition/arbitrary.ts';
import { arbitrary as sandboxTimeout } from '../../policies/sandbox-timeout/arbitrary.ts';
import { arbitrary as shadowLoader } from '../../policies/shadow-loader/arbitrary.ts';
import { arbitrary as speculativeAdmission } from '../../policies/speculative-admission/arbitrary.ts';
import { arbitrary as stalenessPacing } from '../../policies/staleness-pacing/arbitrary.ts';
import { arbitrary as streamTraining } from '../../policies/stream-training/arbitrary.ts';
import { arbitrary as watchdog } from '../../policies/watchdog/arbitrary.ts';
import { arbitrary as agenticRollout } from '../../recipes/agentic-rollout/arbitrary.ts';
import { arbitrary as flexrl } from '../../recipes/flexrl/arbitrary.ts';
import { arbitrary as losslessTail } from '../../recipes/lossless-tail/arbitrary.ts';
import { arbitrary as rolloutpipe } from '../../recipes/rolloutpipe/arbitrary.ts';
import { arbitrary as rollpacker } from '../../recipes/rollpacker/arbitrary.ts';
import { arbitrary as tailBatching } from '../../recipes/tail-batching/arbitrary.ts';
import { arbitrary as tailPipelining } from '../../recipes/tail-pipelining/arbitrary.ts';

/** A likely next event for a policy in a state. Late, wrong and repeated events are likely, too. */
// biome-ignore lint/suspicious/noExplicitAny: a registry holds policies of every shape
export type Arbitrary<State = any, E extends AnyEvent = AnyEvent> = (state: State, choices: Choices) => E;

/** A definition with the events for its tests. The laws see only states that these events reach. */
export interface WithEvents {
  /** The definition under test. */
  readonly definition: AnyPolicyDefinition;
  /** Draws a likely next event. */
  readonly arbitrary: Arbitrary;
}

/** A subject of the laws: a built-in policy or recipe, or your own with its likely events. */
export type Tested = AnyPolicyDefinition | WithEvents;

const arbitraries: Readonly<Record<string, Arbitrary>> = Object.freeze({
  'adaptive-tp': adaptiveTp,
  'agentic-rollout': agenticRollout,
  'complete-group-pipelining': completeGroupPipelining,
  'environment-slots': environmentSlots,
  flexrl,
  'frontier-group-dispatch': frontierGroupDispatch,
  'gpu-scale-down': gpuScaleDown,
  'group-assembly': groupAssembly,
  'long-prompt-queue': longPromptQueue,
  'lossless-tail': losslessTail,
  'program-scheduling': programScheduling,
  'divided-rollout': dividedRollout,
  'reward-dispatch': rewardDispatch,
  rolloutpipe,
  rollpacker,
  'prompt-selection': promptSelection,
  'round-composition': roundComposition,
  'sandbox-timeout': sandboxTimeout,
  watchdog,
  'shadow-loader': shadowLoader,
  'speculative-admission': speculativeAdmission,
  'staleness-pacing': stalenessPacing,
  'stream-training': streamTraining,
  'tail-batching': tailBatching,
  'tail-pipelining': tailPipelining,
});

/**
 * Returns the likely events of a built-in definition. Your own definition with the same id gets the same events.
 *
 * @throws PolicyError `unknown_id` for an id that is not built-in
 */
export function arbitraryOf({ id }: AnyPolicyDefinition): Arbitrary {
  const found = arbitraries[id];
  if (found !== undefined) return found;
  const expected = `{ definition, arbitrary } for a definition that is not built in, or ${oneOf(Object.keys(arbitraries), id)}`;
  refuse('unknown_id', 'definition', expected, id);
}

/** Returns the definition alone, for checks that make the events themselves. */
export const definitionOf = (tested: Tested): AnyPolicyDefinition =>
  'definition' in tested ? tested.definition : tested;

/** Returns a definition with its likely events. */
export const withEvents = (tested: Tested): WithEvents =>
  'definition' in tested ? tested : { definition: tested, arbitrary: arbitraryOf(tested) };
