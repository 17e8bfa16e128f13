/**
 * RollPacker (§4.1, steps 1 to 7): tail batching, adaptive parallelism, rewards beside the rollout, and training that begins before
 * the rollout is over, through one stream of events. The recipe adds no scheduling of its own. See README.md.
 */
import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { defineRecipe } from '../../core/recipe/recipe.ts';
import type { RecipeDefinition, Recipient } from '../../core/recipe/spec.ts';
import type { RollpackerDecision, RollpackerEvent, RollpackerTypes } from '../../generated/settings/rollpacker.ts';
import { adaptiveTp, replicasOf } from '../../policies/adaptive-tp/index.ts';
import { gpuScaleDown } from '../../policies/gpu-scale-down/index.ts';
import { groupAssembly } from '../../policies/group-assembly/index.ts';
import { longPromptQueue } from '../../policies/long-prompt-queue/index.ts';
import { rewardDispatch } from '../../policies/reward-dispatch/index.ts';
import { roundComposition } from '../../policies/round-composition/index.ts';
import { sandboxTimeout } from '../../policies/sandbox-timeout/index.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import { streamTraining } from '../../policies/stream-training/index.ts';
import { roundResumed } from '../../schemas/decisions/rounds.ts';
import { partDecisions, partEvents, timerPart } from '../part-messages.ts';
import { expectedOpenings, joinedLedger, suppliedTo } from '../tail-batching/joined.ts';
import { judgePlacement } from './judge-placement.ts';
import { arrange, openIn, routes } from './routes.ts';
import { partConfigs, rollpackerConfig } from './schema.ts';

const parts = {
  queue: longPromptQueue,
  composition: roundComposition,
  tp: adaptiveTp,
  judge: judgePlacement,
  admission: speculativeAdmission,
  timeouts: sandboxTimeout,
  rewards: rewardDispatch,
  assembly: groupAssembly,
  scaleDown: gpuScaleDown,
  training: streamTraining,
} as const satisfies Readonly<Record<string, AnyPolicyDefinition>>;
const holders = { queue: longPromptQueue, composition: roundComposition };

/**
 * Events that only the recipe itself sends to its parts, never the host: the routed ones listed here, and all decisions of parts.
 */
const inside: ReadonlySet<string> = new Set([
  'reward.ready',
  'round.opened',
  'engines.changed',
  'engines.placed',
  'sandbox.requested',
  'sandbox.finished',
  'sandbox.cancelled',
  'reward.requested',
  'reward.withdrawn',
  'group.completed',
  ...partDecisions(parts).map((message) => message.type),
]);
const events = partEvents<RollpackerEvent>(parts, inside);
// All decisions of the parts except `round.resumed`: it would ask the host to end the round, but here the admission ends rounds
// and tells the trainer.
const decisions = partDecisions<RollpackerDecision>(parts, [roundResumed.type]);

function deliver(event: RollpackerEvent, _: unknown, recipients: readonly string[]): readonly Recipient[] {
  switch (event.type) {
    case 'timer.fired':
      return [timerPart(parts, event.timerId)];
    // The admission tells the assembly of the failure, and the assembly tells the trainer.
    case 'round.failed':
      return ['rewards', suppliedTo(event)];
    case 'prompts.supplied':
      return [suppliedTo(event)];
    // Micro-batches on these GPUs end before the GPUs go back to the rollout.
    case 'gpus.returned':
      return recipients.toReversed();
    default:
      return recipients;
  }
}

/** The whole of RollPacker; every optimisation can be switched off. */
export const rollpacker: RecipeDefinition<RollpackerTypes> = defineRecipe({
  id: 'rollpacker',
  version: 2,
  summary: 'The whole of RollPacker: tail batching, adaptive TP, rewards beside the rollout, stream training.',
  source: 'RollPacker §3, §4',
  config: rollpackerConfig,
  parts,
  configure: partConfigs,
  events,
  decisions,
  // Without stream training, all GPUs stay with the rollout. Either the queue plans rounds, or the composition.
  off: ({ streamTraining, composition, judgeOffload }) => [
    ...(streamTraining ? [] : ['scaleDown']),
    ...(judgeOffload ? [] : ['judge']),
    composition ? 'queue' : 'composition',
  ],
  deliver,
  origins: {
    'round.opened': { event: 'round.requested' },
    'engines.placed': { event: 'round.requested' },
    // Rewards that are not requested yet wait, like their responses, for the end of the round.
    'reward.ready': { parts: ['rewards', 'admission'] },
    'sandbox.finished': { parts: ['rewards'] },
    'group.completed': { parts: ['assembly', 'admission'] },
    'training/round.completed': { parts: ['assembly', 'admission'] },
  },
  // The queue plans a round, but only the other parts know whether a round may open.
  expects: (event, config, parts) => {
    if (event.type !== 'round.requested') return [];
    const { minTp: tp } = config;
    // The choice of engines does not matter here, only whether the engines may change.
    const engines = arrange({ at: event.at, replicas: replicasOf(config.servers, tp), tp }, config);
    return [...engines, ...expectedOpenings(event, parts, openIn)];
  },
  routes,
  // A response has two ids: the id of its request, and the id of the dispatch for its reward.
  ledgers: [joinedLedger('prompts', holders, 2), joinedLedger('responses', holders)],
});
