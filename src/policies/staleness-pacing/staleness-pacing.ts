/**
 * Limits how many groups are in flight while the trainer works, so that no group is too old when it is trained; and chooses the
 * complete groups of a batch: any from a window of the oldest groups, none from outside. See README.md.
 */

import { checkNewPrefix } from '../../core/ids/minted-ids.ts';
import { definePolicy, type Ledger, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { olderVersion } from '../../core/rollout/restart-versions.ts';
import { refuse } from '../../errors.ts';
import type { StalenessPacingDecision, StalenessPacingTypes } from '../../generated/settings/staleness-pacing.ts';
import { weightsPublished } from '../../schemas/events/pipelining.ts';
import { promptsSupplied, roundRequested, sourceExhausted, sourceReopened } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import { groupCompleted, groupRejected } from '../../schemas/events/training.ts';
import type { Message } from '../../schemas/messages.ts';
import { checkPublished, publish } from './batches.ts';
import { checkReport, checkSupply, finish, reject, restart, settle, supply } from './groups.ts';
import { type Ctx, on, pacingDecisions } from './messages.ts';
import { stalenessPacingConfig } from './schema.ts';
import {
  askAgain,
  begin,
  link,
  migrateFromOne,
  migrateFromTwo,
  type PacingState,
  pacingState,
  type SavedPacing,
} from './state.ts';
import { waits } from './waits.ts';

const handlers = [
  on(roundRequested, open, checkOpening),
  on(promptsSupplied, supply, checkSupply),
  on(sourceExhausted, (state, { domain }) => {
    if (domain !== undefined) return;
    state.isExhausted = true;
    if (state.round !== null) state.round.asked = 0;
  }),
  on(sourceReopened, (state) => {
    state.isExhausted = false;
    if (state.round !== null) askAgain(state.round);
  }),
  on(groupCompleted, finish, checkReport),
  on(groupRejected, reject, checkReport),
  on(weightsPublished, publish, checkPublished),
  on(hostRestarted, restart, checkNewPrefix),
];

function checkOpening(state: PacingState, { roundId, weightVersion }: Message<'round.requested'>): void {
  const { round, recentRounds } = state;
  if (round !== null) refuse('out_of_order', 'roundId', `the end of round ${round.roundId} first`, roundId);
  if (recentRounds.has(roundId)) refuse('duplicate_id', 'roundId', 'a new round id', roundId);
  if (weightVersion < state.weightVersion)
    refuse('out_of_order', 'weightVersion', olderVersion(state.weightVersion), weightVersion);
}

/** Opens a round, which lasts until the source has no more prompts. */
function open(state: PacingState, { roundId, weightVersion }: Message<'round.requested'>, ctx: Ctx): void {
  state.recentRounds.add(roundId);
  state.weightVersion = weightVersion;
  if (state.isExhausted) {
    ctx.emit({ type: 'source.drained', at: ctx.at, roundId, reason: { code: 'source_exhausted' } });
    return;
  }
  state.round = { roundId, asked: 0, duplicates: 0, onlyDuplicates: false, lastBatchAt: null };
}

/** Prompts enter when they are supplied. They leave in a batch, or named by the decision that gives them up or back. */
const prompts: Ledger<SavedPacing, Message, StalenessPacingDecision> = {
  name: 'prompts',
  entered: (event) => (event.type === 'prompts.supplied' ? event.prompts.map(({ promptId }) => promptId) : []),
  left: (decision) => {
    switch (decision.type) {
      case 'train.batch':
        return decision.reason.code === 'host_restarted' ? [] : decision.groups.map(({ groupId }) => groupId);
      case 'group.drop':
        return [decision.groupId];
      case 'group.withdrawn':
      case 'prompt.merged':
        return [decision.promptId];
      case 'prompt.returned':
        return [decision.prompt.promptId];
      default:
        return [];
    }
  },
  held: ({ waiting, groups }) => [...waiting, ...groups].map(({ groupId }) => groupId),
};

/** Paces the rollout of an asynchronous trainer, so that no group is ever too old to be trained. */
export const stalenessPacing: PolicyDefinitionOf<StalenessPacingTypes, PacingState, SavedPacing> = definePolicy({
  id: 'staleness-pacing',
  version: 3,
  migrations: { 1: migrateFromOne, 2: migrateFromTwo },
  summary:
    'Paces the rollout beside an asynchronous trainer: no group is ever too old to be trained, and none is discarded.',
  source: 'rollflex; windowed FIFO: Forge',
  config: stalenessPacingConfig,
  state: pacingState,
  begin,
  link,
  handlers,
  after: settle,
  decisions: pacingDecisions,
  ledgers: [prompts],
  waits,
});
