/** The policy of a log, run by the simulator with its settings from the beginning. */
import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { create } from '../../core/machine/start.ts';
import { refuse } from '../../errors.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';
import type { BatchShape, Scheduler } from '../colocated/scheduler.ts';
import { instead, keepsTokens, type LoggedJob } from './logged-job.ts';

const served = ['tail-batching', 'lossless-tail'];

/**
 * Refuses a policy, or settings of it, that the host of `what-if` cannot run.
 *
 * @throws PolicyError `infeasible`
 */
export function checkSimulated(policy: string, config: unknown): void {
  if (!served.includes(policy)) {
    const expected = `a log of ${served.join(' or ')}, whose rounds can be simulated; ${instead}`;
    refuse('infeasible', 'policy of the log', expected, policy);
  }
  const { maxStaleness = 0, dividedRollout, filter = 'none' } = config as Readonly<Record<string, unknown>>;
  if (Number(maxStaleness) > 0 && !keepsTokens({ policy, config })) {
    const expected = `\`partialRollout\`, or 0: requests that go on into the next round are not simulated; ${instead}`;
    refuse('infeasible', 'maxStaleness', expected, maxStaleness);
  }
  if (dividedRollout !== undefined) {
    const expected = `none: responses in chunks are not simulated from a log; ${instead}`;
    refuse('infeasible', 'dividedRollout', expected, dividedRollout);
  }
  if (filter === 'none') return;
  refuse(
    'infeasible',
    'filter',
    `none: which prompts a filter would reject is not known of other lengths; ${instead}`,
    filter,
  );
}

/**
 * Returns the scheduler for a shape of the batch.
 *
 * @throws PolicyError as {@link checkSimulated}; `invalid_config` for a shape that the policy cannot have
 */
export function loggedScheduler(
  definition: AnyPolicyDefinition,
  { snapshot }: LoggedJob,
  shape: BatchShape,
): Scheduler {
  checkSimulated(definition.id, snapshot.config);
  const { promptsPerRound, responsesPerPrompt } = shape;
  const config = { ...(snapshot.config as object), promptsPerRound, responsesPerPrompt };
  create(definition, config);
  return {
    id: 'as-logged',
    label: 'as logged',
    holdsDeferred: true,
    keepsTokens: keepsTokens(snapshot),
    create: (options) => create(definition, config, options) as unknown as DrivenPolicy,
    openRound: (round) => ({ type: 'round.requested', ...round }),
  };
}
