/** Maps commands to the events that answer them. */
import type { VocabularyDecision } from './decisions/index.ts';
import type { VocabularyEvent } from './events/index.ts';

/**
 * The events that answer a command, the usual one first; none for a command that needs no answer. An answer has the ids of its
 * command, in fields with the same names.
 */
export const answers: Readonly<Partial<Record<VocabularyDecision['type'], readonly VocabularyEvent['type'][]>>> =
  Object.freeze({
    'batch.run': [],
    'chunk.continue': ['response.completed', 'chunk.finished', 'response.failed', 'request.aborted'],
    'gpus.reclaim': ['gpus.returned'],
    'gpus.release': ['gpus.released', 'gpus.release.failed'],
    'gradient.scale': [],
    'gradients.discard': [],
    'gradients.offload': [],
    'gradients.reload': [],
    'group.drop': [],
    'group.launch': ['group.completed', 'group.rejected'],
    'judge.place': [],
    'judgement.request': ['prompt.judged'],
    'kv.retain': [],
    'migration.cancel': [],
    'optimizer.step': ['optimizer.stepped'],
    'profile.measure': ['profile.measured'],
    'program.pause': [],
    'program.resume': [],
    'progress.query': ['progress.reported'],
    'prompts.request': ['prompts.supplied', 'source.exhausted'],
    'reference.compute': [],
    'request.abort': ['request.aborted', 'response.completed', 'response.failed'],
    'request.admit': ['response.completed', 'response.failed'],
    'request.launch': ['response.completed', 'response.failed'],
    'request.migrate': ['request.migrated', 'migration.failed'],
    'request.resume': ['response.completed', 'response.failed'],
    'reward.cancel': ['reward.finished'],
    'reward.dispatch': ['reward.finished'],
    'reward.request': ['reward.ready'],
    'sample.evict': [],
    'sample.materialize': ['slice.materialized', 'slice.failed'],
    'sample.placeholder': [],
    'sample.prefetch': ['sample.preprocessed', 'preprocess.failed'],
    'sample.preprocess': ['sample.preprocessed', 'preprocess.failed'],
    'sandbox.run': ['sandbox.finished'],
    'slot.assign': ['response.completed', 'response.failed', 'request.aborted', 'program.closed'],
    'slot.prewarm': ['slot.ready', 'slot.failed'],
    'slot.reclaim': ['slot.released', 'slot.ready', 'slot.failed'],
    'timer.set': ['timer.fired'],
    'kind-tp.set': [],
    'round-tp.set': [],
    'train.batch': ['weights.published'],
    'train.dispatch': ['update.consumed', 'update.lost'],
    'train.fetch': ['train.consumed'],
    'train.finish': ['train.finished'],
    'turn.route': ['turn.finished', 'response.completed', 'response.failed', 'request.aborted', 'program.closed'],
    'update.cancel': [],
    'weights.publish': ['weights.published'],
    'weights.swap': [],
  });

/** The events that a host sends unasked after a notice, if it sends such events at all. */
export const unaskedAnswers: Readonly<Partial<Record<VocabularyDecision['type'], readonly VocabularyEvent['type'][]>>> =
  Object.freeze({
    'prompt.collected': ['prompt.judged'],
    'response.accepted': ['reward.ready'],
    'round.drained': ['round.requested'],
  });

const programEnds = ['response.completed', 'response.failed', 'request.aborted', 'program.closed'] as const;

/** The events that end a wait that an event begins, without a command in between. */
export const sequels: Readonly<Partial<Record<VocabularyEvent['type'], readonly VocabularyEvent['type'][]>>> =
  Object.freeze({
    'tool.finished': ['turn.requested', ...programEnds],
    'tool.started': ['tool.finished', 'turn.requested', ...programEnds],
    'turn.finished': ['turn.requested', 'tool.started', ...programEnds],
  });

/** Whether a host sends the answers to a message unasked, if at all: only hosts that ask for turns say which turn is next. */
export function isUnasked(type: string): boolean {
  return Object.hasOwn(unaskedAnswers, type) || type === 'tool.finished' || type === 'turn.finished';
}
