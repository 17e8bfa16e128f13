/** Routes of events from outside, and of decisions that become events of other parts. */

import type { Delivery, Recipient } from '../../core/recipe/spec.ts';
import { copyFinal } from '../../core/rollout/prompts.ts';
import type { RollpackerConfig } from '../../generated/settings/rollpacker.ts';
import type { Message } from '../../schemas/messages.ts';
import { openings, released } from '../tail-batching/joined.ts';
import { cancelled, scored, to, unscored, wanted, wantedAgain } from './reward-routes.ts';

/** Returns the id of a replica's engine, which is the id of its first GPU. */
const engineIdOf = ({ gpuIds }: { gpuIds: readonly string[] }): string => gpuIds[0]!;

/** Returns the tokens of KV cache that fit on an engine of this degree. */
export function kvCapacityTokens(config: RollpackerConfig, tp: number): number {
  const bytes = config.gpuMemoryBytes * config.memoryUtilization * tp - config.modelBytes;
  return Math.max(1, Math.floor(bytes / config.kvBytesPerToken));
}

/** Returns the events that tell the parts which engines a round has, before its requests are placed. */
export function arrange(
  { at, replicas, tp }: Pick<Message<'round-tp.set'>, 'at' | 'replicas' | 'tp'>,
  config: RollpackerConfig,
): Delivery[] {
  const capacity = kvCapacityTokens(config, tp);
  const engines = replicas.map((replica) => ({
    engineId: engineIdOf(replica),
    serverId: replica.serverId,
    gpuIds: [...replica.gpuIds],
    kvCapacityTokens: capacity,
  }));
  return [
    { ...to('admission', { type: 'engines.changed', at, engineIds: engines.map((one) => one.engineId) }), first: true },
    { ...to('scaleDown', { type: 'engines.placed', at, engines }), first: true },
  ];
}

/** After a restart of the host, the parts already have the engines of the round. */
const rearranged = (decision: Message<'round-tp.set'>, config: RollpackerConfig): Delivery[] =>
  decision.reason.code === 'host_restarted' ? [] : arrange(decision, config);

/** Parts that open rounds, beside the admission. */
export const openIn: readonly string[] = ['training', 'scaleDown'];

function completed(
  decision: Message<'round.completed'>,
  config: RollpackerConfig,
  recipients: readonly string[],
): Recipient[] {
  const requests = config.asyncReward
    ? []
    : decision.prompts.flatMap(({ promptId, domain, responses }) =>
        responses.flatMap(({ requestId }) => wanted({ at: decision.at, requestId, promptId, domain }, config)),
      );
  // The trainer hears of the response later, once the rewards have arrived.
  return [...recipients.filter((name) => name !== 'training'), ...requests];
}

function rewarded(decision: Message<'round.rewarded'>): Delivery[] {
  const { at, roundId, kind, weightVersion, prompts } = decision;
  if (decision.reason.code === 'round_failed') return [to('training', { type: 'round.failed', at, roundId })];
  const counts = { counted: prompts.length, needed: prompts.length };
  const round = { roundId, kind, weightVersion, prompts: prompts.map(copyFinal), openedSeconds: at, deferred: 0 };
  return [to('training', { type: 'round.completed', at, ...round, reason: { code: 'quota_reached', ...counts } })];
}

/** Hands a prompt back. Its kept responses still get rewards while the prompt waits; only dropped responses do not. */
function handedBack(decision: Message<'prompt.deferred' | 'prompt.returned'>): Recipient[] {
  const { kept: _, ...prompt } = decision.prompt;
  return ['composition', 'queue', to('rewards', { ...decision, prompt }), 'assembly'];
}

function accepted(
  decision: Message<'response.accepted'>,
  config: RollpackerConfig,
  recipients: readonly string[],
): Recipient[] {
  // A separate event asks the part `rewards`.
  const others = recipients.filter((name) => name !== 'rewards');
  return config.asyncReward ? [...others, ...wanted(decision, config)] : others;
}

const planned = {
  to: (round: Message<'round.planned'>, _: unknown, recipients: readonly string[]): Recipient[] => [
    ...recipients,
    ...openings(round, openIn),
  ],
};

/** Routes by part, then by decision. */
export const routes = {
  composition: { 'round.planned': planned },
  queue: {
    'round.planned': planned,
    'prompts.released': released,
    // Stays inside: the admission asks for the missing prompts, because only the admission knows the carried prompts.
    'prompts.request': { out: false },
  },
  tp: { 'round-tp.set': { to: rearranged } },
  admission: {
    'response.accepted': { to: accepted },
    'reward.request': { out: false, to: wantedAgain },
    'prompt.deferred': { to: handedBack },
    'prompt.returned': { to: handedBack },
    'round.completed': { to: completed },
  },
  timeouts: {
    'sandbox.run': {
      out: false,
      to: ({ at, runId, testCaseId, timeoutSeconds }: Message<'sandbox.run'>) => [
        to('rewards', {
          type: 'reward.requested',
          at,
          requestId: runId,
          promptId: testCaseId,
          kind: 'sandbox',
          budgetSeconds: timeoutSeconds,
        }),
      ],
    },
  },
  rewards: {
    'reward.scored': { to: scored },
    'reward.failed': { to: unscored },
    'reward.cancelled': { to: cancelled },
  },
  assembly: {
    'reward.request': { out: false, to: wantedAgain },
    'group.rewarded': {
      to: ({ at, roundId, promptId, samples, tokens }: Message<'group.rewarded'>) => [
        to('training', { type: 'group.completed', at, roundId, groupId: promptId, samples, tokens }),
      ],
    },
    'round.rewarded': { to: rewarded },
  },
  scaleDown: {
    // Only the released engines change: an engine that stays and was drained before still takes no new requests.
    'gpus.release': {
      to: ({ at, release }: Message<'gpus.release'>) =>
        release.map(({ engineId }) => ({
          ...to('admission', { type: 'engine.drained', at, engineId }),
          otherwise: [],
        })),
    },
  },
};
