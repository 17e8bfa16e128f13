/** Which part gets what: events from outside, and decisions of one part that are events of others. */
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import type { Delivery, Route } from '../../core/recipe.ts';
import { kindOfDomain } from '../../policies/reward-dispatch/index.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';
import { copyFinal, copyPrompt } from '../../schemas/prompts.ts';
import type { RollpackerConfig } from './schema.ts';

type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;

const to = (part: string, event: VocabularyEvent | VocabularyDecision): Delivery => ({
  part,
  event: event as AnyEvent,
});
const forScaleDown = ({ streamTraining }: RollpackerConfig, event: VocabularyEvent | VocabularyDecision): Delivery[] =>
  streamTraining ? [to('scaleDown', event)] : [];

/** The engine of a replica is named by its first GPU. */
const engineIdOf = ({ gpuIds }: { gpuIds: readonly string[] }): string => gpuIds[0]!;

/** Tokens of KV cache that fit on an engine of this degree. */
export function kvCapacityTokens(config: RollpackerConfig, tp: number): number {
  const bytes = config.gpuMemoryBytes * config.memoryUtilization * tp - config.modelBytes;
  return Math.max(1, Math.floor(bytes / config.kvBytesPerToken));
}

/** The engines of a round, for the parts that must know them before its requests are placed. */
export function arrange(
  { at, replicas, tp }: Pick<Decision<'tp.use'>, 'at' | 'replicas' | 'tp'>,
  config: RollpackerConfig,
): Delivery[] {
  const capacity = kvCapacityTokens(config, tp);
  const engines = replicas.map((replica) => ({
    engineId: engineIdOf(replica),
    serverId: replica.serverId,
    gpuIds: [...replica.gpuIds],
    kvCapacityTokens: capacity,
  }));
  const changed = to('admission', { type: 'engines.changed', at, engineIds: engines.map((one) => one.engineId) });
  const placed = forScaleDown(config, { type: 'engines.placed', at, engines });
  return [changed, ...placed].map((one) => ({ ...one, first: true }));
}

/** The events that open a round in every part: asked of all of them before a round is planned. */
export function openings(
  { at, roundId, kind, weightVersion }: Pick<Decision<'round.planned'>, 'at' | 'roundId' | 'kind' | 'weightVersion'>,
  queued: Decision<'round.planned'>['queued'],
  config: RollpackerConfig,
): Delivery[] {
  const opened = { type: 'round.opened', at, roundId, kind, weightVersion } as const;
  return [
    // Parts share nothing with the host, nor with each other.
    to('training', { ...opened, prompts: [] }),
    ...forScaleDown(config, { ...opened, prompts: [] }),
    to('admission', { ...opened, prompts: queued.map(copyPrompt) }),
  ];
}

/** Asks for a reward: of code in a sandbox after its timeout is known. */
function wanted(
  { at, requestId, promptId, domain }: { at: number; requestId: string; promptId: string; domain?: string | undefined },
  config: RollpackerConfig,
): Delivery[] {
  const { rewardKindByDomain: kindByDomain, defaultRewardKind: defaultKind } = config;
  const kind = kindOfDomain({ kindByDomain, defaultKind }, domain);
  if (kind === 'sandbox' && config.adaptiveTimeout) {
    return [to('timeouts', { type: 'sandbox.requested', at, runId: requestId, testCaseId: promptId })];
  }
  return [to('rewards', { type: 'reward.requested', at, requestId, promptId, kind })];
}

/** Rewards that are asked for again; the run of the first time may still be remembered. */
function wantedAgain(decision: Decision<'reward.request'>, config: RollpackerConfig): Delivery[] {
  return wanted(decision, { ...config, adaptiveTimeout: false });
}

/** How the run of a reward ended; nothing, where it had no adaptive timeout. */
function ran(
  { at, requestId, kind }: { at: number; requestId: string; kind: string },
  end: { outcome: 'correct' | 'wrong' | 'timeout' | 'infrastructure'; seconds: number },
  config: RollpackerConfig,
): Delivery[] {
  if (kind !== 'sandbox' || !config.adaptiveTimeout) return [];
  return [{ ...to('timeouts', { type: 'sandbox.finished', at, runId: requestId, ...end }), ifTaken: true }];
}

function scored(decision: Decision<'reward.scored'>, config: RollpackerConfig): Delivery[] {
  const { at, requestId, reward, reason } = decision;
  const solved = reward > 0 ? 'correct' : 'wrong';
  const outcome = reason.code === 'timeout' ? 'timeout' : solved;
  const ready = { type: 'reward.ready', at, requestId, reward } as const;
  return [
    to('assembly', ready),
    ...(config.filter === 'zero-variance' ? [to('admission', { ...ready })] : []),
    ...ran(decision, { outcome, seconds: reason.seconds }, config),
  ];
}

function unscored(decision: Decision<'reward.failed'>, config: RollpackerConfig): Delivery[] {
  return [
    to('assembly', decision),
    ...(config.filter === 'zero-variance' ? [to('admission', decision)] : []),
    ...ran(decision, { outcome: 'infrastructure', seconds: 0 }, config),
  ];
}

function cancelled({ at, requestId, kind }: Decision<'reward.cancelled'>, config: RollpackerConfig): Delivery[] {
  if (kind !== 'sandbox' || !config.adaptiveTimeout) return [];
  return [{ ...to('timeouts', { type: 'sandbox.cancelled', at, runId: requestId }), ifTaken: true }];
}

function completed(decision: Decision<'round.completed'>, config: RollpackerConfig): Delivery[] {
  const requests = config.asyncReward
    ? []
    : decision.prompts.flatMap(({ promptId, domain, responses }) =>
        responses.flatMap(({ requestId }) => wanted({ at: decision.at, requestId, promptId, domain }, config)),
      );
  return [to('rewards', decision), to('assembly', decision), ...forScaleDown(config, decision), ...requests];
}

function rewarded(decision: Decision<'round.rewarded'>): Delivery[] {
  const { at, roundId, kind, weightVersion, prompts } = decision;
  if (decision.reason.code === 'round_failed') return [to('training', { type: 'round.failed', at, roundId })];
  const counts = { counted: prompts.length, needed: prompts.length };
  const round = { roundId, kind, weightVersion, prompts: prompts.map(copyFinal), openedSeconds: at, deferred: 0 };
  return [to('training', { type: 'round.completed', at, ...round, reason: { code: 'quota_reached', ...counts } })];
}

const left = (decision: AnyDecision): Delivery[] => [
  to('rewards', decision as VocabularyDecision),
  to('assembly', decision as VocabularyDecision),
];
const handedBack = (decision: AnyDecision): Delivery[] => [
  to('queue', decision as VocabularyDecision),
  ...left(decision),
];

type Into<T extends VocabularyDecision['type']> = (decision: Decision<T>, config: RollpackerConfig) => Delivery[];
type AnyRoute = Route<AnyDecision, RollpackerConfig>;
const route = <T extends VocabularyDecision['type']>(into: Into<T>): AnyRoute => ({ out: true, into: into as never });
const inside = <T extends VocabularyDecision['type']>(into: Into<T>): AnyRoute => ({ out: false, into: into as never });

/** By part, then by decision. */
export const routes: Readonly<Record<string, Readonly<Record<string, AnyRoute>>>> = {
  queue: {
    'round.planned': route<'round.planned'>((decision, config) => [
      to('tp', decision),
      to('judge', decision),
      ...openings(decision, decision.queued, config),
    ]),
    // The admission asks for what is missing: it knows what is carried over.
    'prompts.request': { out: false },
  },
  tp: { 'tp.use': route<'tp.use'>(arrange) },
  admission: {
    'response.accepted': route<'response.accepted'>((decision, config) => [
      to('assembly', decision),
      ...forScaleDown(config, decision),
      ...(config.asyncReward ? wanted(decision, config) : []),
    ]),
    'reward.request': inside<'reward.request'>(wantedAgain),
    'request.abort': route<'request.abort'>((decision, config) => forScaleDown(config, decision)),
    'response.dropped': route<'response.dropped'>((decision) => [to('rewards', decision)]),
    'prompt.counted': route<'prompt.counted'>((decision, config) => [
      to('assembly', decision),
      ...forScaleDown(config, decision),
    ]),
    'prompt.deferred': { out: true, into: handedBack },
    'prompt.returned': { out: true, into: handedBack },
    'prompt.filtered': { out: true, into: left },
    'prompt.quarantined': { out: true, into: left },
    'prompt.merged': { out: true, into: left },
    'round.completed': route<'round.completed'>(completed),
  },
  timeouts: {
    'sandbox.run': inside<'sandbox.run'>(({ at, runId, testCaseId, timeoutSeconds }) => [
      to('rewards', {
        type: 'reward.requested',
        at,
        requestId: runId,
        promptId: testCaseId,
        kind: 'sandbox',
        budgetSeconds: timeoutSeconds,
      }),
    ]),
  },
  rewards: {
    'reward.scored': route<'reward.scored'>(scored),
    'reward.failed': route<'reward.failed'>(unscored),
    'reward.cancelled': route<'reward.cancelled'>(cancelled),
  },
  assembly: {
    'reward.request': inside<'reward.request'>(wantedAgain),
    'group.rewarded': route<'group.rewarded'>(({ at, roundId, promptId, samples, tokens }) => [
      to('training', { type: 'group.completed', at, roundId, groupId: promptId, samples, tokens }),
    ]),
    'round.rewarded': route<'round.rewarded'>(rewarded),
  },
  scaleDown: {
    // Those that stay are as they were: one that was drained before takes nothing new.
    'gpus.release': route<'gpus.release'>(({ at, release }) =>
      release.map(({ engineId }) => ({ ...to('admission', { type: 'engine.drained', at, engineId }), ifTaken: true })),
    ),
  },
};
