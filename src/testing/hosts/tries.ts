/** Commands for tries that may fail, through a fault of the machine or of the item itself. */

import type { AnyDecision } from '../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Report } from './obedience.ts';

/** Scopes in which all tries may fail at once. */
export type FaultScope = 'engine' | 'environment' | 'reward' | 'loader';

/** A try that a decision begins. */
export interface Try {
  /** Ids of the tried thing, as a prompt, a response, a sample or a program; the policy keeps one of them. */
  readonly items: readonly string[];
  /** Ids of the machines that run the try, as far as the decision names them. */
  readonly where: readonly string[];
  /** Returns the report of a failure by a fault of the scope or of the data. */
  readonly fails: (scope: FaultScope | 'data') => Report;
}

interface Rule {
  /** Scopes whose faults may make the try fail. */
  readonly scopes: readonly FaultScope[];
  /** Type of the event that reports a failure. */
  readonly failsBy: string;
  /** Whether the policy makes the try. Tries that the host makes are not counted. */
  readonly isMade: boolean;
  readonly of: (decision: never) => Try;
}

/** Decisions that start a launched request which has waited for a place. */
export const begins: ReadonlySet<string> = new Set(['request.admit', 'slot.assign']);

const rule = <T extends VocabularyDecision['type']>(
  scopes: readonly FaultScope[],
  failsBy: string,
  of: (decision: Message<T>) => Try,
  isMade = true,
): Rule => ({ scopes, failsBy, of: of as never, isMade });

/** Kind of a failed response, by the scope of the fault. */
const kinds = { engine: 'infrastructure', environment: 'environment', data: 'data' } as Record<string, string>;

const request = rule<'request.launch' | 'request.resume' | 'request.admit' | 'slot.assign'>(
  ['engine', 'environment'],
  'response.failed',
  (one) => ({
    items: [...('promptId' in one ? [one.promptId] : []), one.requestId],
    where: 'engineId' in one && one.engineId !== undefined ? [one.engineId] : [],
    fails: (scope) => ({ type: 'response.failed', requestId: one.requestId, kind: kinds[scope] }),
  }),
);
const preprocess = rule<'sample.preprocess' | 'sample.prefetch'>(['loader'], 'preprocess.failed', (one) => ({
  items: [one.sampleId],
  where: [one.nodeId],
  fails: (scope) => ({
    type: 'preprocess.failed',
    preprocessId: one.preprocessId,
    nodeId: one.nodeId,
    kind: scope === 'data' ? 'data' : 'infrastructure',
  }),
}));
/** Rewards that the host computes. */
const reward = rule<'reward.request'>(
  ['reward'],
  'reward.failed',
  (one) => ({
    items: [one.promptId],
    where: [],
    fails: () => ({ type: 'reward.failed', requestId: one.requestId, kind: 'judge' }),
  }),
  false,
);

/** The tries that decisions of the vocabulary ask for. */
export const tries: Readonly<Record<string, Rule>> = {
  'request.launch': request,
  'request.resume': request,
  'reward.dispatch': rule<'reward.dispatch'>(['reward'], 'reward.finished', (one) => ({
    items: [one.requestId, ...(one.promptId === undefined ? [] : [one.promptId])],
    where: [one.workerId, one.kind],
    fails: () => ({ type: 'reward.finished', dispatchId: one.dispatchId, outcome: 'infrastructure', seconds: 0 }),
  })),
  'response.accepted': reward,
  'request.admit': request,
  'slot.assign': request,
  'reward.request': reward,
  'sample.preprocess': preprocess,
  'sample.prefetch': preprocess,
  'sample.materialize': rule<'sample.materialize'>(['loader'], 'slice.failed', (one) => ({
    items: [one.sampleId],
    where: [one.from],
    fails: () => ({
      type: 'slice.failed',
      sliceId: one.sliceId,
      rank: one.rank,
      attempt: one.attempt,
      kind: 'transfer',
    }),
  })),
  'slot.prewarm': rule<'slot.prewarm'>(['environment'], 'slot.failed', (one) => ({
    items: [],
    where: [one.environment],
    fails: () => ({ type: 'slot.failed', slotId: one.slotId }),
  })),
};

/** Notices that give up an item, or a part of it, for failures, and the field with the id. */
const givenUp: Readonly<Record<string, string>> = {
  'prompt.failed': 'promptId',
  'response.abandoned': 'promptId',
  'reward.failed': 'requestId',
  'sample.dropped': 'sampleId',
};

/** Returns the item that a decision gives up for failures, if any. */
export function givenUpBy(decision: AnyDecision): string | undefined {
  const field = givenUp[decision.type];
  return field === undefined ? undefined : (decision as AnyDecision & Record<string, string>)[field];
}

/** So many failed tries of different items in a row show a shared fault. */
const triesToTell = 8;
/** The longest pause between single tries, in seconds. */
const longestPauseSeconds = 60;
/** Single tries before the pause between them reaches this length: the pause begins at a second, and doubles. */
const triesUntilLongest = Math.ceil(Math.log2(longestPauseSeconds));

/**
 * Returns how many tries suffice in an outage: the tries in flight, twice; for each domain the tries that show the outage, the
 * tries with growing pauses, and one try per minute; and after each success all of these again, except the tries per minute.
 */
export function triesEnough(inFlight: number, domains: number, seconds: number, successes = 0): number {
  const until = 2 * inFlight + domains * (triesToTell + triesUntilLongest);
  return (1 + successes) * until + (domains * seconds) / longestPauseSeconds;
}
