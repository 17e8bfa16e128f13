/**
 * What the simulated host of rollouts (`rollflex/sim`) sends and carries out, and whether a policy can be run by it. The table is
 * here because the laws tell it to the author of a policy, and the simulator keeps to it.
 */
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';
import type { AnyPolicyDefinition } from './definition.ts';

type Event = VocabularyEvent['type'];
type Decision = VocabularyDecision['type'];

/** Events that open a round: the simulated host sends the first of them that the policy takes. */
export const opensRounds = ['round.requested', 'round.opened'] as const satisfies readonly Event[];

/** Events that the simulated host sends, beside those that open a round, to a policy that takes them. */
const sends: ReadonlySet<string> = new Set<Event | Decision>([
  'group.rewarded',
  'engine.added',
  'prompts.supplied',
  'source.exhausted',
  'source.reopened',
  'response.completed',
  'request.aborted',
  'timer.fired',
]);

/** Commands that the simulated host carries out. */
const carriesOut: ReadonlySet<string> = new Set<Decision>([
  'prompts.request',
  'request.launch',
  'request.admit',
  'request.abort',
  'timer.set',
]);

/** Reports of what never happens there: nothing fails, stops or comes back in the simulated cluster. */
const neverHappens: ReadonlySet<string> = new Set<Event>([
  'engine.drained',
  'engine.lost',
  'engines.changed',
  'host.restarted',
  'response.failed',
  'round.failed',
]);

/** What the simulated host needs of a policy: one of these messages, and what stops without it. */
const needs: readonly {
  readonly of: 'events' | 'decisions';
  readonly oneOf: readonly (Event | Decision)[];
  /** Needed only by a policy that decides this. */
  readonly after?: Decision;
  readonly why: string;
}[] = [
  { of: 'events', oneOf: opensRounds, why: 'no round begins' },
  { of: 'events', oneOf: ['prompts.supplied'], why: 'no prompt comes' },
  { of: 'decisions', oneOf: ['prompts.request'], why: 'no prompt is asked for' },
  { of: 'decisions', oneOf: ['request.launch', 'request.admit'], why: 'no response is generated' },
  { of: 'events', oneOf: ['response.completed'], why: 'the end of a response is not heard' },
  { of: 'events', oneOf: ['request.aborted'], after: 'request.abort', why: 'no abort is confirmed' },
  { of: 'events', oneOf: ['timer.fired'], after: 'timer.set', why: 'no timer is heard' },
  { of: 'decisions', oneOf: ['round.completed'], why: 'nothing is trained' },
  { of: 'decisions', oneOf: ['round.drained'], why: 'no round ends' },
];

/** Whether the simulator runs a policy, and what the policy would not get there. */
export interface SimulatorFit {
  /** What it would have to take or decide, and does not, each with what stops; the simulator runs it if this is empty. */
  readonly lacks: readonly string[];
  /** Types of events that the policy takes, and that the simulator never sends. Events about failures are not listed. */
  readonly neverSent: readonly string[];
  /** Types of commands that the policy may give, and that the simulator does not carry out. */
  readonly notCarriedOut: readonly string[];
  /** Types of events that the simulator leaves out, because the policy does not take them. */
  readonly leftOut: readonly string[];
}

/** Returns whether the simulator runs a policy, and what the policy would not get there. */
export function simulatorFit(definition: AnyPolicyDefinition): SimulatorFit {
  const names = {
    events: new Set<string>(definition.events.map(({ type }) => type)),
    decisions: new Set<string>(definition.decisions.map(({ type }) => type)),
  };
  const lacks = needs
    .filter(({ of, oneOf, after }) => {
      const isNeeded = after === undefined || names.decisions.has(after);
      return isNeeded && !oneOf.some((type) => names[of].has(type));
    })
    .map(({ of, oneOf, why }) => `${of === 'events' ? 'takes' : 'decides'} ${oneOf.join(' or ')} (else ${why})`);
  const isSent = (type: string): boolean => sends.has(type) || (opensRounds as readonly string[]).includes(type);
  return {
    lacks,
    neverSent: [...names.events].filter((type) => !isSent(type) && !neverHappens.has(type)),
    notCarriedOut: definition.commands.filter((type) => !carriesOut.has(type)),
    leftOut: [...sends].filter((type) => !names.events.has(type)),
  };
}
