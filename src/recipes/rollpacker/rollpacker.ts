/**
 * RollPacker (§4.1, steps 1 to 7): tail batching, adaptive parallelism, rewards beside the rollout, and training that
 * begins before the rollout is over, through one stream of events. It adds no scheduling of its own. See README.md.
 */
import type { AnyPolicyDefinition, PolicyDefinition } from '../../core/definition.ts';
import { defineRecipe, type RecipeState, type SavedRecipe } from '../../core/recipe.ts';
import { adaptiveTp, replicasOf } from '../../policies/adaptive-tp/index.ts';
import { gpuScaleDown } from '../../policies/gpu-scale-down/index.ts';
import { groupAssembly } from '../../policies/group-assembly/index.ts';
import { longPromptQueue } from '../../policies/long-prompt-queue/index.ts';
import { rewardDispatch } from '../../policies/reward-dispatch/index.ts';
import { sandboxTimeout } from '../../policies/sandbox-timeout/index.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import { streamTraining } from '../../policies/stream-training/index.ts';
import { roundResumed } from '../../schemas/decisions/rounds.ts';
import { partDecisions, partEvents } from '../part-messages.ts';
import { joinedLedger } from '../tail-batching/joined.ts';
import { judgePlacement } from './judge-placement.ts';
import { arrange, openings, routes } from './routes.ts';
import { partConfigs, rollpackerConfig } from './schema.ts';
import type {
  RollpackerCommand,
  RollpackerConfig,
  RollpackerDecision,
  RollpackerEvent,
  RollpackerInput,
} from './types.ts';

const parts = {
  queue: longPromptQueue,
  tp: adaptiveTp,
  judge: judgePlacement,
  admission: speculativeAdmission,
  timeouts: sandboxTimeout,
  rewards: rewardDispatch,
  assembly: groupAssembly,
  scaleDown: gpuScaleDown,
  training: streamTraining,
} as const satisfies Readonly<Record<string, AnyPolicyDefinition>>;
type PartName = keyof typeof parts;

/** Events that come from within alone, beside the decisions of parts. */
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
const takes = (part: PartName, type: string): boolean =>
  parts[part].events.some((message: { readonly type: string }) => message.type === type);
const events = partEvents<RollpackerEvent>(parts, inside);
// Rounds end in the admission, and the trainer hears of it from there.
const decisions = partDecisions<RollpackerDecision>(parts, [roundResumed.type]);

/** Timers carry the name of the policy that set them. */
function timerPart(timerId: string): PartName {
  const id = timerId.slice(0, timerId.indexOf('/'));
  const found = (Object.keys(parts) as PartName[]).find((name) => parts[name].id === id);
  return found !== undefined && takes(found, 'timer.fired') ? found : 'admission';
}

function deliver(event: RollpackerEvent, _config: RollpackerConfig, recipients: readonly string[]): readonly string[] {
  switch (event.type) {
    case 'timer.fired':
      return [timerPart(event.timerId)];
    // The assembly hears of the failure from the admission, and the trainer from the assembly.
    case 'round.failed':
      return ['rewards', 'admission'];
    // Micro-batches end on GPUs before they go back to the rollout.
    case 'gpus.returned':
      return recipients.toReversed();
    default:
      return recipients;
  }
}

/** The whole of RollPacker; every optimisation can be switched off. */
export const rollpacker: PolicyDefinition<
  RollpackerInput,
  RollpackerConfig,
  RecipeState<RollpackerConfig>,
  RollpackerEvent,
  RollpackerDecision,
  SavedRecipe,
  'rollpacker',
  RollpackerCommand['type']
> = defineRecipe({
  id: 'rollpacker',
  version: 1,
  summary: 'The whole of RollPacker: tail batching, adaptive TP, rewards beside the rollout, stream training.',
  source: 'RollPacker §3, §4',
  config: rollpackerConfig,
  parts,
  configure: partConfigs,
  events,
  decisions,
  // Without streaming, GPUs stay with the rollout.
  off: ({ streamTraining }) => (streamTraining ? [] : ['scaleDown']),
  deliver,
  vouches: {
    // Asked by `expects`, each with the other parts.
    admission: ['round.opened'],
    scaleDown: ['engines.placed', 'round.opened', 'round.completed'],
    training: ['round.opened', 'group.completed', 'round.completed', 'round.failed'],
    // Each prompt counts once, in a round that the admission completes once, with all that count for it.
    assembly: ['prompt.counted', 'round.completed'],
    // There is room for every reward, and each response is accepted once.
    rewards: ['reward.requested'],
    timeouts: ['sandbox.requested'],
  },
  // A round is planned by the queue, but only the other parts know whether one may open.
  expects: (event, config) => {
    if (event.type !== 'round.requested') return [];
    const { minTp: tp } = config;
    // The choice of engines does not matter here, only whether they may change.
    const engines = arrange({ at: event.at, replicas: replicasOf(config.servers, tp), tp }, config);
    return [...engines, ...openings({ ...event, kind: 'long' }, [])];
  },
  routes,
  // Beside its request, a response has a dispatch for its reward.
  ledgers: [joinedLedger('prompts', 2), joinedLedger('responses')],
});
