/** Answers that need more than one event with the ids of the decision. */

import type { AnyDecision } from '../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Message } from '../../schemas/messages.ts';
import type { FinalPrompt } from '../../schemas/prompts.ts';
import type { AnswerRule, Desk, Plan, Report } from './obedience.ts';

type Rules = { [T in VocabularyDecision['type']]?: (decision: Message<T>, desk: Desk) => readonly Report[] };

/** Reports that a request runs, and completes. */
function run(decision: Message<'request.launch' | 'request.resume'>, desk: Desk): Report[] {
  const { requestId, engineId } = decision;
  if (engineId !== undefined) desk.engines.set(requestId, engineId);
  return [desk.answer('response.completed', decision)];
}

/** Supplies new prompts on request, until the source is exhausted. */
function supply({ roundId, count, domains = {} }: Message<'prompts.request'>, desk: Desk): Report[] {
  desk.supplies -= 1;
  if (desk.supplies < 0) return [{ type: 'source.exhausted' }];
  const named = Object.entries(domains).flatMap(([domain, number]) => Array<string>(number).fill(domain));
  const all = Object.keys(desk.config.quotas ?? {});
  const prompts = Array.from({ length: count }, (_, index) => {
    const domain = named[index] ?? all[index % all.length];
    return { promptId: desk.mint('p'), ...(domain === undefined ? undefined : { domain }) };
  });
  return [{ type: 'prompts.supplied', roundId, prompts }];
}

/** Returns prompts in the form that a completed round reports. */
export function finalPrompts(promptIds: readonly string[], weightVersion: number): FinalPrompt[] {
  return promptIds.map((promptId) => ({
    promptId,
    responses: [{ requestId: `${promptId}/0#0`, index: 0, tokens: 1, weightVersions: [weightVersion] }],
  }));
}

/** Ends a round with its known prompts, or, by chance, fails the round. */
function endRound(
  { roundId, weightVersion, promptIds }: { roundId: string; weightVersion?: number; promptIds: readonly string[] },
  desk: Desk,
): Report[] {
  const version = weightVersion ?? desk.weightVersion;
  const prompts = finalPrompts(promptIds, version);
  const round = { roundId, kind: 'short', weightVersion: version, prompts };
  const numbers = { counted: prompts.length, needed: prompts.length };
  if (desk.takes.has('round.failed') && desk.choices.below(3) === 0) {
    desk.later([[{ type: 'round.failed', roundId }]]);
  } else if (desk.takes.has('round.rewarded')) {
    const reason = { code: 'all_groups', groups: prompts.length, afterSeconds: 0 };
    desk.later([[{ type: 'round.rewarded', ...round, reason }]]);
  } else {
    const reason = { code: 'quota_reached', ...numbers };
    desk.later([[{ type: 'round.completed', ...round, deferred: 0, reason }]]);
  }
  return [];
}

/**
 * Plans a batch with the remaining samples of a step, and then the end of the step. A batch that has not run by then is not needed.
 *
 * @param before - reports before the batch
 */
export function batchOf(
  stepId: string,
  sampleIds: readonly string[],
  desk: Desk,
  before: readonly Report[] = [],
): Plan {
  const batchId = desk.mint('b');
  const batch = (): Report[] => {
    const here = sampleIds.filter((one) => !desk.gone.has(one));
    const assignments = here.map((sampleId, sequence) => ({ sequence, sampleId, degree: 1, ranks: [0] }));
    // Different lengths make planning fast.
    const sequences = here.map((sampleId, index) => ({ sampleId, tokens: 10 * 2 ** (index % 8) }));
    return [
      ...before,
      { type: 'batch.run', batchId, stepId, assignments, reason: { code: 'host' } },
      { type: 'batch.ready', batchId, stepId, sequences },
    ];
  };
  return [batch, [{ type: 'step.completed', stepId }], [{ type: 'batch.withdrawn', batchId }]];
}

/** Reports that a request for an awaited response has arrived. */
const bring = ({ promptId, roundId, index }: { promptId: string; roundId: string; index: number }, desk: Desk) => [
  { type: 'request.arrived', requestId: desk.mint('q'), promptId, roundId, index },
];

/**
 * Adds the engines of the replicas; the id of an engine is that of its first GPU. The engines of a round replace all other
 * engines.
 */
function arrange({ type, replicas }: Message<'kind-tp.set' | 'round-tp.set'>, { arranged }: Desk): Report[] {
  if (type === 'round-tp.set') arranged.clear();
  for (const { gpuIds } of replicas) arranged.add(gpuIds[0]!);
  return [];
}

const rules: Rules & Readonly<Record<string, unknown>> = {
  'prompts.request': supply,
  'request.launch': run,
  'request.resume': run,
  'request.dropped': (one, desk) => (one.reason.code === 'host_restarted' ? bring(one, desk) : []),
  'response.accepted': (one, { answer }) => [answer('reward.ready', one)],
  'prompt.collected': (one, { config, answer }) => (config.filter === 'host' ? [answer('prompt.judged', one)] : []),
  'progress.query': (one, { engines, answer }) => {
    const requests = [...engines].map(([requestId, engineId]) => ({ requestId, engineId, tokens: 1, promptTokens: 1 }));
    return [answer('progress.reported', one, { requests })];
  },
  'gpus.release': (one, { answer }) => [
    ...one.migrations.flatMap(({ requestIds }) =>
      requestIds.map((requestId) => answer('request.migrated', one, { requestId })),
    ),
    answer('gpus.released', one, { gpuIds: one.release.flatMap(({ gpuIds }) => gpuIds) }),
  ],
  'gpus.reclaim': (one, { answer, arranged }) => {
    for (const engineId of one.engineIds) arranged.delete(engineId);
    return [answer('gpus.returned', one), ...one.engineIds.map((engineId) => ({ type: 'engine.added', engineId }))];
  },
  'migration.abandoned': ({ requestId }) => [{ type: 'response.failed', requestId, kind: 'infrastructure' }],
  'profile.measure': (one, { answer }) => {
    const measured = { decodeStepSeconds: 0.01, prefillSeconds: 0.01, bytes: 1 };
    return [answer('profile.measured', one, { rows: one.configurations.map((each) => ({ ...each, ...measured })) })];
  },
  'reward.dispatch': (one, { answer, choices }) => [
    answer('reward.finished', one, { outcome: 'scored', reward: choices.below(2) }),
  ],
  'reward.cancel': (one, { answer }) => [answer('reward.finished', one, { outcome: 'cancelled' })],
  // The turn is the last one of its program unless something else ends the program.
  'turn.route': (one, { answer, takes }) =>
    takes.has('program.closed')
      ? [answer('turn.finished', one), answer('program.closed', one)]
      : [answer('response.completed', one)],
  'program.awaited': (one, { answer, takes }) => [
    answer(takes.has('program.closed') ? 'program.closed' : 'response.completed', one),
  ],
  'chunk.awaited': ({ requestId }) => [{ type: 'chunks.requested', requests: [{ requestId, promptTokens: 1 }] }],
  'sample.dropped': ({ sampleId }, { gone }) => {
    gone.add(sampleId);
    return [];
  },
  'sample.released': ({ sampleId }, { gone }) => {
    gone.add(sampleId);
    return [];
  },
  'kind-tp.set': arrange,
  'round-tp.set': arrange,
  'train.finish': (one, { answer }) => one.shares.map((share) => answer('train.finished', share)),
  'train.batch': (one, desk) => {
    desk.weightVersion = Math.max(desk.weightVersion, one.weightVersion);
    return [desk.answer('weights.published', one)];
  },
  'weights.publish': (one, desk) => {
    desk.weightVersion = Math.max(desk.weightVersion, one.weightVersion + 1);
    return [desk.answer('weights.published', one, { weightVersion: desk.weightVersion })];
  },
  // After a restart of the host, a policy repeats the work that is still open.
  'request.awaited': bring as never,
  'round.resumed': endRound as never,
  'step.resumed': ({ stepId, samples }: { stepId: string; samples: readonly string[] }, desk: Desk) => {
    desk.later(batchOf(stepId, samples, desk));
    return [];
  },
};

/** Rules by type of decision. The contract gives the event for every other decision. */
export const specialAnswers = rules as unknown as Readonly<Record<string, AnswerRule & ((one: AnyDecision) => void)>>;
