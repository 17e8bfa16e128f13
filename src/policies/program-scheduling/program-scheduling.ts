/**
 * Scheduling of programs, which are trajectories of turns with tools between them: which programs run at all, by a budget of
 * tokens for each engine, and on which engine each turn runs, by expected time. See README.md.
 */

import { definePolicy, type HeldLedger, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { checkTimer, timerFired as noteFired } from '../../core/rollout/deadlines.ts';
import { changeEngines, checkEngine, withoutGone } from '../../core/rollout/engines.ts';
import type { ProgramSchedulingDecision, ProgramSchedulingTypes } from '../../generated/settings/program-scheduling.ts';
import {
  engineFreed,
  kvRetain,
  programAwaited,
  programEnded,
  programLate,
  programPause,
  programResume,
  turnRoute,
} from '../../schemas/decisions/programs.ts';
import { timerSet } from '../../schemas/decisions/session.ts';
import { triesRecovered, triesSuspended } from '../../schemas/decisions/tries.ts';
import {
  engineAdded,
  engineDrained,
  engineLost,
  enginesChanged,
  engineReported as reported,
} from '../../schemas/events/engines.ts';
import * as events from '../../schemas/events/programs.ts';
import {
  responseCompleted as completedResponse,
  responseFailed as failedResponse,
} from '../../schemas/events/requests.ts';
import { hostRestarted, timerFired } from '../../schemas/events/session.ts';
import { deadlines, settle } from './admission.ts';
import { link } from './cost.ts';
import {
  addEngine,
  checkNew,
  checkProgram,
  checkRunning,
  close,
  drainEngine,
  engineReported,
  loseEngine,
  open,
  responseCompleted,
  responseFailed,
  restart,
  toolFinished,
  toolStarted,
  turnFinished,
  turnRequested,
} from './programs.ts';
import { programConfig } from './schema.ts';
import { begin, migrateFromThree, type ProgramState, programState, type SavedPrograms } from './state.ts';
import { gates, waits } from './waits.ts';

const on = handlersOf<ProgramState, ProgramSchedulingDecision>();
const handlers = [
  on(events.programOpened, open, checkNew),
  on(events.programClosed, close, checkProgram),
  on(events.turnRequested, turnRequested, checkProgram),
  on(events.turnFinished, turnFinished, checkProgram),
  on(events.toolStarted, toolStarted, checkProgram),
  on(events.toolFinished, toolFinished, checkProgram),
  on(completedResponse, responseCompleted, checkRunning),
  on(failedResponse, responseFailed, checkRunning),
  on(engineAdded, addEngine),
  on(engineDrained, drainEngine, checkEngine),
  on(engineLost, loseEngine, checkEngine),
  on(enginesChanged, changeEngines(addEngine, drainEngine)),
  on(reported, engineReported),
  on(timerFired, noteFired(deadlines), checkTimer(deadlines)),
  on(hostRestarted, restart),
];

/** Holds programs: a program enters when it is opened, and leaves when it is closed. */
const programs: HeldLedger<SavedPrograms> = {
  name: 'programs',
  held: (saved) => saved.programs.map((one) => one.requestId),
};

/**
 * Decides which programs run, and on which engine each of their turns.
 *
 * `turn.requested` asks for an engine, and `turn.route` names the engine, at once or when there is room. The turn ends with
 * `turn.finished`, and the program with `program.closed`.
 */
export const programScheduling: PolicyDefinitionOf<ProgramSchedulingTypes, ProgramState, SavedPrograms> = definePolicy({
  id: 'program-scheduling',
  version: 4,
  migrations: { 2: withoutGone, 3: migrateFromThree },
  summary:
    'Decides which multi-turn programs run, by a token budget of each engine, and where each turn runs, by expected time.',
  source: 'rollflex',
  config: programConfig,
  state: programState,
  begin,
  link,
  handlers,
  after: settle,
  dueAt: (state) => deadlines.first(state),
  decisions: [
    turnRoute,
    programPause,
    programResume,
    kvRetain,
    engineFreed,
    programAwaited,
    programEnded,
    programLate,
    triesSuspended,
    triesRecovered,
    timerSet,
  ],
  ledgers: [programs],
  waits,
  gates,
});
