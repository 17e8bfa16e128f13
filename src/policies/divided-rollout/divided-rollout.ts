/**
 * Divided rollout: responses are generated in chunks, and at the end of each chunk the policy decides anew where the response
 * continues. So KV caches are full and never overflow, and the longest responses begin early. See README.md.
 */

import { definePolicy, type HeldLedger, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { changeEngines, checkEngine, withoutGone } from '../../core/rollout/engines.ts';
import type { DividedRolloutDecision, DividedRolloutTypes } from '../../generated/settings/divided-rollout.ts';
import { chunkAwaited, chunkContinue, chunkLate, requestEnded } from '../../schemas/decisions/chunks.ts';
import * as chunks from '../../schemas/events/chunks.ts';
import {
  engineAdded,
  engineDrained,
  engineLost,
  enginesChanged,
  engineReported as reported,
} from '../../schemas/events/engines.ts';
import { requestAborted, responseCompleted, responseFailed } from '../../schemas/events/requests.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import { settle } from './placing.ts';
import {
  addEngine,
  asked,
  checkAsked,
  checkFinished,
  checkNew,
  checkRequest,
  chunkFinished,
  drainEngine,
  end,
  engineReported,
  loseEngine,
  open,
  restart,
} from './requests.ts';
import { dividedConfig } from './schema.ts';
import { begin, type DividedState, dividedState, link, type SavedDivided } from './state.ts';
import { waits } from './waits.ts';

const on = handlersOf<DividedState, DividedRolloutDecision>();
const handlers = [
  on(chunks.requestOpened, open, checkNew),
  on(chunks.chunksRequested, asked, checkAsked),
  on(chunks.chunkFinished, chunkFinished, checkFinished),
  on(responseCompleted, end, checkRequest),
  on(responseFailed, end, checkRequest),
  on(requestAborted, end, checkRequest),
  on(engineAdded, addEngine),
  on(engineDrained, drainEngine, checkEngine),
  on(engineLost, loseEngine, checkEngine),
  on(enginesChanged, changeEngines(addEngine, drainEngine)),
  on(reported, engineReported),
  on(hostRestarted, restart),
];

/** Holds requests: a request enters when it is opened, and leaves when it is over. */
const requests: HeldLedger<SavedDivided> = {
  name: 'requests',
  held: (saved) => saved.requests.map((one) => one.requestId),
};

/**
 * Decides where each chunk of a response is generated, and how long the chunk is.
 *
 * `request.opened` announces a request, and `chunks.requested` asks for its engine. `chunk.continue` names the engine, at once or
 * when there is room; `chunk.finished` ends a chunk, and `response.completed`, `response.failed` or `request.aborted` the
 * request.
 */
export const dividedRollout: PolicyDefinitionOf<DividedRolloutTypes, DividedState, SavedDivided> = definePolicy({
  id: 'divided-rollout',
  version: 2,
  migrations: { 1: withoutGone },
  summary: 'Generates responses in chunks, each where its engine has room for it: full KV caches without preemptions.',
  source: 'Seer',
  config: dividedConfig,
  state: dividedState,
  begin,
  link,
  handlers,
  after: settle,
  decisions: [chunkContinue, chunkAwaited, requestEnded, chunkLate],
  ledgers: [requests],
  waits,
});
