/**
 * The shared vocabulary: ids, units, events and decisions, each with exactly one schema.
 *
 * @packageDocumentation
 */
export { z } from 'zod';
export type * from '../generated/messages/index.ts';
export * from './decisions/index.ts';
export * from './events/index.ts';
export * from './gpus.ts';
export * from './loading.ts';
export * from './parallelism.ts';
export * from './pipelining.ts';
export * from './prompts.ts';
export * from './reward-workers.ts';
export * from './sandbox.ts';
export * from './training.ts';
export * from './units.ts';
export {
  type DecisionMessage,
  defineDecision,
  defineEvent,
  type EventMessage,
  type Fields,
  type Of,
} from './vocabulary.ts';
