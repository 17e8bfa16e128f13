/** Says who sends an event: the sender has to act where something waits for the event. */
import type { VocabularyEvent } from './events/index.ts';

/** Possible senders of events to the host, and the host itself. */
export const senders = [
  'host',
  'data source',
  'engine',
  'environment',
  'loader',
  'reward worker',
  'sandbox',
  'timer',
  'trainer',
] as const;
/** One of {@link senders}. */
export type Sender = (typeof senders)[number];

/** Senders of the events that a host does not send of its own accord. */
const others: Readonly<Partial<Record<VocabularyEvent['type'], Sender>>> = Object.freeze({
  'chunk.finished': 'engine',
  'engine.reported': 'engine',
  'migration.failed': 'engine',
  'optimizer.stepped': 'trainer',
  'preprocess.failed': 'loader',
  'profile.measured': 'engine',
  'progress.reported': 'engine',
  'prompts.supplied': 'data source',
  'request.aborted': 'engine',
  'request.migrated': 'engine',
  'request.started': 'engine',
  'response.completed': 'engine',
  'response.failed': 'engine',
  'reward.finished': 'reward worker',
  'sample.preprocessed': 'loader',
  'sandbox.finished': 'sandbox',
  'slot.failed': 'environment',
  'slot.ready': 'environment',
  'slot.released': 'environment',
  'slice.failed': 'loader',
  'slice.materialized': 'loader',
  'source.exhausted': 'data source',
  'timer.fired': 'timer',
  'tool.finished': 'environment',
  'tool.started': 'environment',
  'train.consumed': 'trainer',
  'train.finished': 'trainer',
  'turn.finished': 'engine',
  'update.consumed': 'trainer',
  'update.lost': 'trainer',
  'weights.published': 'trainer',
});

/** Returns who sends events of a type; `host` for events that the host sends of its own accord, and for other vocabularies. */
export function senderOf(type: string): Sender {
  return Object.hasOwn(others, type) ? others[type as keyof typeof others]! : 'host';
}
