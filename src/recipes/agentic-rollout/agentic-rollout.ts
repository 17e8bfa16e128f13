/**
 * Rollouts of many turns with tools: which trajectories run for a round, on which engine each turn runs, and which program gets
 * an environment, all through one stream of events. The recipe adds no scheduling of its own. See README.md.
 */
import type { AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { defineRecipe } from '../../core/recipe/recipe.ts';
import type { Delivery, RecipeDefinition, Recipient } from '../../core/recipe/spec.ts';
import type {
  AgenticRolloutConfig,
  AgenticRolloutDecision,
  AgenticRolloutEvent,
  AgenticRolloutTypes,
} from '../../generated/settings/agentic-rollout.ts';
import { environmentSlots } from '../../policies/environment-slots/index.ts';
import { longPromptQueue } from '../../policies/long-prompt-queue/index.ts';
import { programScheduling } from '../../policies/program-scheduling/index.ts';
import { roundComposition } from '../../policies/round-composition/index.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import type { Message } from '../../schemas/messages.ts';
import { partDecisions, partEvents, timerPart } from '../part-messages.ts';
import { expectedOpenings, joinedLedger, planned, released, rewardTo, suppliedTo } from '../tail-batching/joined.ts';
import { agenticRolloutConfig, partConfigs } from './schema.ts';

const parts = {
  queue: longPromptQueue,
  composition: roundComposition,
  admission: speculativeAdmission,
  programs: programScheduling,
  slots: environmentSlots,
} as const satisfies Readonly<Record<string, AnyPolicyDefinition>>;
const holders = { queue: longPromptQueue, composition: roundComposition };

// The host places nothing but turns, and programs are the trajectories of requests.
const inside: ReadonlySet<string> = new Set([
  ...['round.opened', 'program.opened', 'program.closed', 'request.started'],
  ...partDecisions(parts).map((message) => message.type),
]);
const events = partEvents<AgenticRolloutEvent>(parts, inside);
const decisions = partDecisions<AgenticRolloutDecision>(parts);

/** An event for a part that may refuse it; a refused event is skipped. */
const offer = (part: keyof typeof parts, event: Message): Delivery => ({
  part,
  event: event as AnyEvent,
  otherwise: [],
});

/** Ends the program of a request in any state; the environment of the program goes back. */
function closing({ at, requestId }: { readonly at: number; readonly requestId: string }): Delivery[] {
  const closed = { type: 'program.closed', at, requestId } as const;
  return [offer('programs', closed), offer('slots', { ...closed })];
}

function deliver(event: AgenticRolloutEvent, _: unknown, recipients: readonly string[]): readonly Recipient[] {
  switch (event.type) {
    case 'timer.fired':
      return [timerPart(parts, event.timerId)];
    case 'prompts.supplied':
    case 'round.failed':
      return [suppliedTo(event)];
    case 'reward.ready':
      return [rewardTo(event)];
    // Programs learn the results of their engines before they end. The next try, which the admission launches, finds the room
    // that they leave.
    case 'response.completed':
    case 'response.failed':
      return [offer('programs', event), ...closing(event), ...recipients.filter((name) => name !== 'programs')];
    case 'request.aborted':
      return [...closing(event), ...recipients];
    // A request keeps its place in the admission while its tools run; the part `programs` decides which programs need engines.
    case 'tool.started':
    case 'tool.finished':
      return ['programs', 'slots'];
    // A tool has answered if the next turn is requested, even if nobody reported the answer.
    case 'turn.requested': {
      const { at, requestId } = event;
      return [...recipients, offer('slots', { type: 'tool.finished', at, requestId, outcome: 'success' })];
    }
    // Turns are routed again, and no request fails.
    case 'engine.added':
    case 'engine.drained':
    case 'engine.lost':
    case 'engines.changed':
      return ['programs'];
    default:
      return recipients;
  }
}

/** Opens a program for a launched request, and asks for an environment. */
function launched(
  { at, requestId, promptId, promptTokens }: Message<'request.launch'>,
  { environment }: AgenticRolloutConfig,
): Delivery[] {
  const program: Message<'program.opened'> = { type: 'program.opened', at, requestId, promptId };
  if (promptTokens !== undefined) program.promptTokens = promptTokens;
  const opened: Delivery = { part: 'programs', event: program };
  if (environment === undefined) return [opened];
  return [opened, offer('slots', { type: 'slot.requested', at, requestId, environment })];
}

/**
 * Fails the trajectory of a program that has lost its environment, or got none: the trajectory has no reward, and is tried again
 * as another request. The failed request gets no environment any more, because nobody would give the environment back.
 */
function failed({ at, requestId }: { readonly at: number; readonly requestId: string }): Delivery[] {
  const ended = offer('admission', { type: 'response.failed', at, requestId, kind: 'environment' });
  return [...closing({ at, requestId }), ended];
}

/**
 * Runs rounds of agentic trajectories.
 *
 * A session begins with `engine.added` for each engine and `round.requested`. The host supplies prompts, and runs the loop of each
 * request that is launched: `turn.requested` → `turn.route` → `turn.finished` → `tool.started` → `tool.finished` → …, up to
 * `response.completed`. It trains the prompts that `round.completed` names, and requests the next round after `round.drained`.
 */
export const agenticRollout: RecipeDefinition<AgenticRolloutTypes> = defineRecipe({
  id: 'agentic-rollout',
  version: 1,
  summary: 'Rounds of trajectories with tools: tail batching, programs on engines turn by turn, and environments.',
  source: 'rollflex',
  config: agenticRolloutConfig,
  parts,
  configure: partConfigs,
  events,
  decisions,
  // Either the queue plans rounds, or the composition.
  off: ({ composition }) => [composition ? 'queue' : 'composition'],
  deliver,
  origins: {
    'round.opened': { event: 'round.requested' },
    'program.closed': { event: 'response.completed' },
  },
  expects: (event, _, parts) => {
    if (event.type !== 'slot.requested') return expectedOpenings(event, parts);
    // Whether the id belongs to a request: an environment for another id would never come back.
    const { at, requestId } = event;
    return [{ part: 'admission', event: { type: 'response.failed', at, requestId, kind: 'environment' } as AnyEvent }];
  },
  routes: {
    queue: {
      'round.planned': planned,
      'prompts.released': released,
      // Stays inside: the admission asks for the missing prompts, because only the admission knows the carried prompts.
      'prompts.request': { out: false },
    },
    composition: { 'round.planned': planned },
    admission: {
      'request.launch': { to: launched },
      // A request that is being aborted needs no engine and no environment any more, whenever the abort is confirmed.
      'request.abort': { to: closing },
    },
    slots: {
      'slot.reclaim': {
        to: ({ at, requestId, reason }) =>
          requestId === undefined || reason.code !== 'tool_timeout' ? [] : failed({ at, requestId }),
      },
      'slot.denied': {
        to: ({ reason, ...denied }) => (reason.code === 'closed' ? [] : failed(denied)),
      },
    },
  },
  // A request has an id, and so has its environment, which may be started again.
  ledgers: [joinedLedger('prompts', holders, 3), joinedLedger('responses', holders)],
});
