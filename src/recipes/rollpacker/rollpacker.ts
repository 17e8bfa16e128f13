/**
 * RollPacker (§4.1, steps 1 to 7): tail batching, adaptive parallelism, rewards beside the rollout, and training that
 * begins before the rollout is over, through one stream of events. It adds no scheduling of its own. See README.md.
 */
import type { Choices } from '../../core/definition.ts';
import { type Delivery, defineRecipe, type RecipeState } from '../../core/recipe.ts';
import { adaptiveTp, replicasOf } from '../../policies/adaptive-tp/index.ts';
import { gpuScaleDown } from '../../policies/gpu-scale-down/index.ts';
import { groupAssembly } from '../../policies/group-assembly/index.ts';
import { longPromptQueue } from '../../policies/long-prompt-queue/index.ts';
import { rewardDispatch } from '../../policies/reward-dispatch/index.ts';
import { sandboxTimeout } from '../../policies/sandbox-timeout/index.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import { streamTraining } from '../../policies/stream-training/index.ts';
import { roundResumed } from '../../schemas/decisions/rounds.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';
import { partDecisions, partEvents } from '../part-words.ts';
import { joinedLedger } from '../tail-batching/joined-ledger.ts';
import { judgePlacement } from './judge-placement.ts';
import { arrange, openings, routes } from './routes.ts';
import { partConfigs, type RollpackerConfig, rollpackerConfig } from './schema.ts';

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
} as const;
type PartName = keyof typeof parts;

/** Events from outside, by the parts that want them. */
const wantedBy: Readonly<Record<string, readonly PartName[]>> = Object.freeze({
  'round.requested': ['queue'],
  'source.exhausted': ['queue', 'admission'],
  'source.reopened': ['queue', 'admission'],
  'round.failed': ['rewards', 'admission'],
  'prompts.supplied': ['admission'],
  'engine.drained': ['admission', 'scaleDown'],
  'engine.lost': ['admission', 'scaleDown'],
  'engine.added': ['admission', 'scaleDown'],
  'request.started': ['admission'],
  'request.aborted': ['admission', 'scaleDown'],
  // The judge is laid out before a reward is asked for.
  'response.completed': ['judge', 'admission', 'scaleDown'],
  'response.failed': ['admission'],
  'prompt.judged': ['admission'],
  'turn.finished': ['admission'],
  'environment.waiting': ['admission'],
  'environment.resumed': ['admission'],
  'environment.failed': ['admission'],
  'step.finished': ['tp'],
  'tp.failed': ['tp'],
  'profile.observed': ['tp'],
  'profile.measured': ['tp'],
  'sandbox.report.requested': ['timeouts'],
  'reward-worker.added': ['rewards'],
  'reward-worker.drained': ['rewards'],
  'reward-worker.lost': ['rewards'],
  'reward.started': ['rewards'],
  'reward.finished': ['rewards'],
  'progress.reported': ['scaleDown'],
  'request.migrated': ['scaleDown'],
  'migration.failed': ['scaleDown'],
  'gpus.released': ['scaleDown', 'training'],
  'gpus.release.failed': ['scaleDown'],
  'gpus.returned': ['training', 'scaleDown'],
  'train.consumed': ['training'],
  'train.finished': ['training'],
  'optimizer.stepped': ['training'],
  'replica.lost': ['training'],
  'replica.added': ['training'],
  'timer.fired': [],
  'host.restarted': ['tp', 'judge', 'admission', 'timeouts', 'rewards', 'assembly', 'scaleDown', 'training'],
});
/** The same where GPUs stay with the rollout. */
const wantedWithoutScaleDown: typeof wantedBy = Object.freeze(
  Object.fromEntries(
    Object.entries(wantedBy).map(([type, names]) => [type, names.filter((name) => name !== 'scaleDown')]),
  ),
);
const takes = (part: PartName, type: string): boolean =>
  parts[part].events.some((word: { readonly type: string }) => word.type === type);
const events = partEvents(parts).filter((word) => word.type in wantedBy);
// Rounds end in the admission, and the trainer hears of it from there.
const decisions = partDecisions(parts).filter((word) => word.type !== roundResumed.type);

type RollpackerEvent = VocabularyEvent;

/** Timers carry the name of the policy that set them. */
function timerPart(timerId: string): PartName {
  const id = timerId.slice(0, timerId.indexOf('/'));
  const found = (Object.keys(parts) as PartName[]).find((name) => parts[name].id === id);
  return found !== undefined && takes(found, 'timer.fired') ? found : 'admission';
}

function deliver(event: RollpackerEvent, config: RollpackerConfig): readonly (string | Delivery)[] {
  if (event.type === 'timer.fired') return [timerPart(event.timerId)];
  return (config.streamTraining ? wantedBy : wantedWithoutScaleDown)[event.type]!;
}

/** What a part would have said next, where the recipe takes that from outside; most often the admission. */
function arbitrary({ parts: states, config }: RecipeState<RollpackerConfig>, choices: Choices): RollpackerEvent {
  const names: PartName[] = ['rewards', 'training', 'scaleDown', 'tp'];
  const name = choices.below(2) === 0 ? 'admission' : names[choices.below(names.length)]!;
  const event = parts[name].arbitrary(states[name] as never, choices) as RollpackerEvent;
  if (event.type === 'round.opened') {
    const { at, roundId, weightVersion } = event;
    return { type: 'round.requested', at, roundId, weightVersion };
  }
  const isOutside = event.type in wantedBy && (config.streamTraining || name !== 'scaleDown');
  return isOutside ? event : { type: 'source.reopened', at: event.at };
}

/** The whole of RollPacker; every optimisation can be switched off. */
export const rollpacker = defineRecipe({
  id: 'rollpacker',
  version: 1,
  summary: 'The whole of RollPacker: tail batching, adaptive TP, rewards beside the rollout, stream training.',
  source: 'RollPacker §3, §4',
  config: rollpackerConfig,
  parts,
  configure: partConfigs,
  events,
  decisions,
  deliver,
  // A round is planned by the queue, but only the other parts know whether one may open.
  expects: (event, config) => {
    if (event.type !== 'round.requested') return [];
    const { minTp: tp } = config;
    // Which engines does not matter here, but whether they may change.
    const engines = arrange({ at: event.at, replicas: replicasOf(config.servers, tp), tp }, config);
    return [...engines, ...openings({ ...event, kind: 'long' }, [], config)];
  },
  routes,
  // Beside its request, a response has a dispatch for its reward.
  ledgers: [joinedLedger('prompts', 2), joinedLedger('responses')],
  arbitrary,
});
