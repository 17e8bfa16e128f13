/** Which part gets what: events from outside, and decisions of one part that are events of others. */
import type { AnyDecision } from '../../core/definition.ts';
import type { Delivery, Route } from '../../core/recipe.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import { copyFinal, copyPrompt } from '../../schemas/prompts.ts';
import { type Decision, forScaleDown, to } from './delivery.ts';
import { cancelled, scored, unscored, wanted, wantedAgain } from './reward-routes.ts';
import type { RollpackerConfig } from './schema.ts';

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
/** What a prompt keeps goes on being rewarded while it waits: only what is dropped is not. */
function handedBack(decision: Decision<'prompt.deferred' | 'prompt.returned'>): Delivery[] {
  const { kept: _, ...prompt } = decision.prompt;
  return [to('queue', decision), to('rewards', { ...decision, prompt }), to('assembly', decision)];
}
const gone = (decision: AnyDecision): Delivery[] => [to('queue', decision as VocabularyDecision), ...left(decision)];

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
    'prompt.merged': { out: true, into: left },
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
    'response.dropped': { out: true, into: left },
    'prompt.counted': route<'prompt.counted'>((decision, config) => [
      to('assembly', decision),
      ...forScaleDown(config, decision),
    ]),
    'prompt.carried': route<'prompt.carried'>((decision) => [to('queue', decision)]),
    'prompt.deferred': route<'prompt.deferred'>(handedBack),
    'prompt.returned': route<'prompt.returned'>(handedBack),
    'prompt.filtered': { out: true, into: gone },
    'prompt.quarantined': { out: true, into: gone },
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
    // Rounds end in the admission.
    'round.resumed': { out: false },
  },
  training: { 'round.resumed': { out: false } },
  scaleDown: {
    // Those that stay are as they were: one that was drained before takes nothing new.
    'gpus.release': route<'gpus.release'>(({ at, release }) =>
      release.map(({ engineId }) => ({ ...to('admission', { type: 'engine.drained', at, engineId }), ifTaken: true })),
    ),
  },
};
