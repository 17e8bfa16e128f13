/**
 * Scale-down of rollout GPUs (RollPacker §4.4, Algorithm 1): while the last responses of a round are generated, half of the GPUs
 * change to training, once the KV cache of the others has room for all requests in flight. See README.md.
 */

import { checkNewPrefix } from '../../core/ids/minted-ids.ts';
import { definePolicy, handlersOf, type Ledger, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import type { GpuScaleDownDecision, GpuScaleDownTypes } from '../../generated/settings/gpu-scale-down.ts';
import { promptCounted } from '../../schemas/decisions/prompts.ts';
import { requestAbort, responseAccepted } from '../../schemas/decisions/requests.ts';
import { roundCompleted } from '../../schemas/decisions/rounds.ts';
import { engineAdded, engineDrained, engineLost, enginesPlaced } from '../../schemas/events/engines.ts';
import {
  gpusReleased,
  gpusReleaseFailed,
  gpusReturned,
  migrationFailed,
  progressReported,
  requestMigrated,
} from '../../schemas/events/gpus.ts';
import { requestAborted, responseCompleted } from '../../schemas/events/requests.ts';
import { roundOpened } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Message } from '../../schemas/messages.ts';
import * as engines from './engines.ts';
import * as release from './release.ts';
import * as rounds from './rounds.ts';
import { scaleDownConfig, scaleDownDecisions } from './schema.ts';
import { begin, link, type SavedScaleDown, type ScaleDownState, scaleDownState } from './state.ts';
import { gates, waits } from './waits.ts';

const on = handlersOf<ScaleDownState, GpuScaleDownDecision>();
const handlers = [
  on(roundOpened, rounds.openRound, rounds.checkOpening),
  on(roundCompleted, rounds.closeRound, rounds.checkClosing),
  on(responseAccepted, rounds.accepted),
  on(promptCounted, rounds.counted),
  on(responseCompleted, release.completed),
  on(requestAbort, release.mustEnd),
  on(requestAborted, release.aborted),
  on(progressReported, rounds.answered, rounds.checkReport),
  on(requestMigrated, release.migrated, release.checkMove),
  on(migrationFailed, release.moveFailed, release.checkMove),
  on(gpusReleased, release.released, release.checkRelease),
  on(gpusReleaseFailed, release.releaseFailed, release.checkFailure),
  on(gpusReturned, release.returned, release.checkRelease),
  on(enginesPlaced, engines.placeEngines, engines.checkPlaced),
  on([engineAdded, engineDrained, engineLost], engines.engineChanged, engines.checkEngine),
  on(hostRestarted, release.restarted, checkNewPrefix),
];

/** Reasons of `gpus.reclaim` for GPUs that had been released. */
const afterRelease: ReadonlySet<string> = new Set([
  'round_completed',
  'round_replaced',
  'engines_lost',
  'host_restarted',
]);

/** Holds GPUs that train: they enter with their release, and leave when the policy asks for them back. */
const lent: Ledger<SavedScaleDown, Message, GpuScaleDownDecision> = {
  name: 'releases',
  entered: (event) => (event.type === 'gpus.released' ? [event.releaseId ?? ''] : []),
  left: (decision) => {
    if (decision.type === 'gpus.reclaim') return afterRelease.has(decision.reason.code) ? [decision.releaseId] : [];
    return decision.type === 'scale-down.late' && decision.reason.code === 'released_late' ? [decision.id] : [];
  },
  held: ({ release }) => (release?.phase === 'released' ? [release.releaseId] : []),
};

/** Releases half of the rollout GPUs for training when the remaining KV cache has room for all requests in flight. */
export const gpuScaleDown: PolicyDefinitionOf<GpuScaleDownTypes, ScaleDownState, SavedScaleDown> = definePolicy({
  id: 'gpu-scale-down',
  version: 2,
  summary: 'Releases half of the rollout GPUs for training once the other half has room for all requests in flight.',
  source: 'RollPacker §4.4',
  config: scaleDownConfig,
  state: scaleDownState,
  begin,
  link,
  handlers,
  decisions: scaleDownDecisions,
  ledgers: [lent],
  waits,
  gates,
});
