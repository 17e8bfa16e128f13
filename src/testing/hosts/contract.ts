/**
 * What a host owes, by the contract: written by hand from the vocabulary and the pages of the policies, and never made from
 * `src/core/why/obligations.ts`, with which a test compares it. A wrong entry in either is found.
 */
import type { Sender } from '../../schemas/senders.ts';

/** What a host owes after a message. */
export interface Due {
  /** Who has to act. */
  readonly who: Sender;
  /** Fields by which the answer names what it is about, as the message does. */
  readonly ids: readonly string[];
  /** The event that a host sends, and then those that may come in its place. */
  readonly events: readonly [usual: string, ...others: string[]];
  /** Events that are not awaited any more once the message is there, because the host owes this one now. */
  readonly instead: readonly string[];
}

const due = (who: Sender, ids: string, events: string, instead = ''): Due => ({
  who,
  ids: words(ids),
  events: words(events) as [string, ...string[]],
  instead: words(instead),
});
const words = (text: string): string[] => text.split(' ').filter((one) => one !== '');

const over = 'response.completed response.failed';
const closed = `${over} request.aborted program.closed`;
/** Of a program that has gone on, neither the end nor that of an abort before is awaited directly. */
const goneOn = 'response.completed request.aborted';

/** Commands that are answered. */
export const commands: Readonly<Record<string, Due>> = {
  'chunk.continue': due(
    'engine',
    'requestId',
    'response.completed chunk.finished response.failed request.aborted',
    'request.aborted',
  ),
  'gpus.reclaim': due('host', 'releaseId', 'gpus.returned'),
  'gpus.release': due('host', 'releaseId roundId', 'gpus.released gpus.release.failed'),
  'group.launch': due('host', 'roundId groupId launchId', 'group.completed group.rejected'),
  'judgement.request': due('host', 'promptId roundId', 'prompt.judged'),
  'optimizer.step': due('trainer', 'roundId updateId', 'optimizer.stepped'),
  'profile.measure': due('engine', '', 'profile.measured'),
  'progress.query': due('engine', 'queryId', 'progress.reported'),
  'prompts.request': due('data source', 'roundId', 'prompts.supplied source.exhausted'),
  'request.abort': due('engine', 'requestId', `request.aborted ${over}`, 'response.completed'),
  'request.admit': due('engine', 'requestId', over),
  'request.launch': due('engine', 'requestId', over),
  'request.migrate': due('engine', 'releaseId requestId', 'request.migrated migration.failed'),
  'request.resume': due('engine', 'requestId', over),
  'reward.cancel': due('reward worker', 'dispatchId', 'reward.finished'),
  'reward.dispatch': due('reward worker', 'dispatchId', 'reward.finished'),
  'reward.request': due('host', 'requestId', 'reward.ready'),
  'sample.materialize': due('loader', 'sliceId', 'slice.materialized slice.failed'),
  'sample.prefetch': due('loader', 'preprocessId nodeId', 'sample.preprocessed preprocess.failed'),
  'sample.preprocess': due('loader', 'preprocessId nodeId', 'sample.preprocessed preprocess.failed'),
  'sandbox.run': due('sandbox', 'runId', 'sandbox.finished'),
  'slot.assign': due('engine', 'requestId', closed, 'request.aborted'),
  'slot.prewarm': due('environment', 'slotId', 'slot.ready slot.failed'),
  'slot.reclaim': due('environment', 'slotId', 'slot.released slot.ready slot.failed', 'slot.ready'),
  'timer.set': due('timer', 'timerId', 'timer.fired'),
  'train.batch': due('trainer', 'roundId publicationId', 'weights.published'),
  'train.dispatch': due('trainer', 'updateId', 'update.consumed update.lost'),
  'train.fetch': due('trainer', 'fetchId', 'train.consumed'),
  // Of each share.
  'train.finish': due('trainer', 'fetchId', 'train.finished'),
  'turn.route': due('engine', 'requestId', `turn.finished ${closed}`, goneOn),
  'weights.publish': due('trainer', 'roundId publicationId', 'weights.published'),
};

/** What is answered for each item of a list in a command, besides the command itself. */
export const forItems: Readonly<Record<string, Due>> = {
  'gpus.release': due('engine', 'releaseId requestId', 'request.migrated migration.failed'),
};

/** Commands that a host carries out without an answer. */
export const unanswered: ReadonlySet<string> = new Set(
  words(
    `batch.run gradient.scale gradients.discard gradients.offload gradients.reload group.drop judge.place kind-tp.set kv.retain
    migration.cancel program.pause program.resume reference.compute round-tp.set sample.evict sample.placeholder update.cancel
    weights.swap`.replaceAll('\n', ' '),
  ),
);

/** What a host may send of its own accord after a notice, or never sends. */
export const notices: Readonly<Record<string, Due>> = {
  'prompt.collected': due('host', 'promptId roundId', 'prompt.judged'),
  'response.accepted': due('host', 'requestId', 'reward.ready'),
  'round.drained': due('host', '', 'round.requested'),
};

/** How a program goes on after what the host itself has reported of it. */
export const reports: Readonly<Record<string, Due>> = {
  'tool.finished': due('host', 'requestId', `turn.requested ${closed}`, goneOn),
  'tool.started': due('environment', 'requestId', `tool.finished turn.requested ${closed}`, `turn.requested ${goneOn}`),
  'turn.finished': due('host', 'requestId', `turn.requested tool.started ${closed}`, goneOn),
};

/** The events that answer a command, the usual one first; `undefined` if the contract does not know it. */
export const answersTo = (type: string): readonly string[] | undefined =>
  unanswered.has(type) ? [] : Object.hasOwn(commands, type) ? commands[type]!.events : undefined;
