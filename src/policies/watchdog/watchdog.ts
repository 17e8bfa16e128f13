/**
 * A watchdog: follows what other policies ask for, learns how long the answers take, and says who owes an answer that is overdue.
 * See README.md.
 */

import {
  type AnyDecision,
  type Context,
  definePolicy,
  handlersOf,
  type Ledger,
  type PolicyDefinitionOf,
} from '../../core/machine/definition.ts';
import { Deadlines } from '../../core/rollout/deadlines.ts';
import type { WatchdogDecision, WatchdogTypes } from '../../generated/settings/watchdog.ts';
import { hostOwes, roundStalled, timerSet } from '../../schemas/decisions/session.ts';
import { engineLost } from '../../schemas/events/engines.ts';
import { rewardWorkerLost } from '../../schemas/events/reward-workers.ts';
import { roundFailed } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Message } from '../../schemas/messages.ts';
import { commandsOf } from './causes.ts';
import { check, leastSeconds } from './check.ts';
import {
  answering,
  asked,
  dropping,
  groupDrop,
  programEnded,
  programLate,
  programPause,
  requestExpired,
  roundCompleted,
  slotDenied,
  slotExpired,
  timerFired,
  unrewarded,
} from './messages.ts';
import { forgetLate, forgetProgram, heard, told } from './programs.ts';
import { watchdogConfig } from './schema.ts';
import { nothingOwed, type SavedWatchdog, type WatchdogState, watchdogState } from './state.ts';

type Ctx = Context<WatchdogDecision>;

/** The next check. It waits for its timer: between an event and its decisions, what these answer is still owed. */
const deadlines = new Deadlines<WatchdogState>({
  timerId: 'watchdog/check',
  patienceSeconds: leastSeconds,
  timerAt: ({ armedAt, isTimerGone }) => (isTimerGone ? null : armedAt),
  setTimerAt: (state, at) => {
    state.armedAt = at;
    state.isTimerGone = false;
  },
  // A lost timer is not set again if nothing is owed.
  first: ({ armedAt, owed }) => (owed.size === 0 ? undefined : (armedAt ?? undefined)),
  reason: ({ owed }) => ({ code: 'owed', owed: owed.size }),
});

/** Fields of the {@link dropping} decisions. */
interface Dropping {
  readonly roundId?: string;
  readonly promptId?: string;
  readonly prompt?: { readonly promptId: string };
  readonly dropped?: readonly { readonly requestId: string }[];
}

const on = handlersOf<WatchdogState, WatchdogDecision>();
const handlers = [
  on(asked, (state, decision, ctx) => told(state.owed, decision, ctx.at)),
  on(timerSet, (state, decision, ctx) => {
    if (decision.timerId === deadlines.timerId) return;
    if (decision.reason.code === 'response_timeout') state.owed.timeoutSeconds = decision.reason.limitSeconds;
    state.owed.told(decision, ctx.at);
  }),
  on(answering, (state, event, ctx) => {
    heard(state.owed, event, ctx.at);
    nameStalled(state, event as Dropping, ctx);
  }),
  on(timerFired, fired),
  on([...dropping], (state, decision, ctx) => {
    follow(state, decision, ctx);
    const { roundId, prompt, promptId = prompt?.promptId, dropped = [] } = decision as Dropping;
    state.owed.forget(
      { type: 'prompt.judged', promptId, roundId } as never,
      ...dropped.map(({ requestId }) => ({ type: 'reward.ready', requestId })),
    );
  }),
  on([...unrewarded], (state, { requestId }) => state.owed.forget({ type: 'reward.ready', requestId } as never)),
  on(requestExpired, (state, { requestId }) => state.owed.forget({ type: 'request.aborted', requestId } as never)),
  on(groupDrop, (state, { roundId, groupId, launchId }) =>
    state.owed.forget({ type: 'group.completed', roundId, groupId, launchId } as never),
  ),
  on([programEnded, slotDenied], (state, { requestId }) => forgetProgram(state.owed, requestId)),
  on(programPause, (state, { requestId }) => state.owed.forgetAwaited(requestId, ['turn.requested'])),
  on(programLate, (state, notice) => forgetLate(state.owed, notice)),
  on(slotExpired, (state, { slotId }) => state.owed.forget({ type: 'slot.released', slotId } as never)),
  on([roundCompleted, roundFailed], (state, { roundId }) =>
    state.owed.forget({ type: 'prompts.supplied', roundId } as never),
  ),
  on(engineLost, (state, { engineId }, ctx) => lose(state, `engine\n${engineId}`, ctx)),
  on(rewardWorkerLost, (state, { workerId }, ctx) => lose(state, `reward worker\n${workerId}`, ctx)),
  on(hostRestarted, (state, event, ctx) => {
    state.owed.heard(event, ctx.at);
    deadlines.forget(state);
  }),
];

/** Follows a decision that ends what is awaited of a prompt. */
function follow(state: WatchdogState, decision: Dropping & AnyDecision, ctx: Ctx): void {
  state.owed.commands.futile.follow(decision, ctx.at);
  nameStalled(state, decision, ctx);
}

/** Reports that work goes on without gain, once more has been filtered than usual. */
function nameStalled({ owed }: WatchdogState, { roundId }: Dropping, ctx: Ctx): void {
  const { futile } = owed.commands;
  if (roundId === undefined || futile.isNamed || !futile.isTooMuch) return;
  futile.isNamed = true;
  const { filtered, since: sinceSeconds, most: mostFiltered, usual } = futile;
  const { highFiltered, counted = 0 } = usual ?? {};
  const learnt = highFiltered === undefined ? { counted: 0 } : { highFiltered, counted: Math.round(counted) };
  const reason = { code: 'filtered', mostFiltered, ...learnt } as const;
  ctx.emit({ type: 'round.stalled', at: ctx.at, roundId, filtered, sinceSeconds, reason });
}

/** Sets the time of the next check, for which there is no timer yet; without a time, nothing is overdue before something happens. */
function plan(state: WatchdogState, at: number | undefined): void {
  state.armedAt = at ?? null;
  state.isTimerGone = true;
  state.owed.isResting = at === undefined;
}

function fired(state: WatchdogState, event: Message<'timer.fired'>, ctx: Ctx): void {
  if (event.timerId !== deadlines.timerId) state.owed.heard(event, ctx.at);
  else if (state.armedAt !== null) plan(state, check(state, ctx));
}

/** Forgets what an engine or a worker owes that is gone: the policy asks others. */
function lose({ owed }: WatchdogState, key: string, { at }: Ctx): void {
  owed.isAlive(at);
  const cause = owed.causes.get(key);
  if (cause === undefined) return;
  owed.forget(...commandsOf(cause).map(({ answer, ids }) => ({ type: answer, ...ids })));
}

/** A watchdog only observes: everything it follows is held by other policies, so nothing can be lost here. */
const nothing: Ledger<SavedWatchdog> = { name: 'nothing', entered: () => [], left: () => [], held: () => [] };

/**
 * Says who owes an overdue answer.
 *
 * It takes the events and the decisions of other policies as its events: `if (dog.takes(message)) dog.send(message)`.
 */
export const watchdog: PolicyDefinitionOf<WatchdogTypes, WatchdogState, SavedWatchdog> = definePolicy({
  id: 'watchdog',
  version: 2,
  summary: 'Says who owes an answer that is overdue, and where work gains nothing, by what is usual.',
  source: 'rollflex',
  config: watchdogConfig,
  state: watchdogState,
  begin: () => ({ owed: nothingOwed, armedAt: null }),
  link: (state) => {
    state.owed.config = state.config;
  },
  handlers,
  after: (state, ctx) => {
    const { armedAt, owed, config } = state;
    // Requests from now on cannot be overdue before this check.
    if (armedAt === null && owed.size > 0 && !owed.isResting) plan(state, ctx.at + config.floorSeconds);
    deadlines.arm(state, ctx);
  },
  decisions: [hostOwes, roundStalled, timerSet],
  ledgers: [nothing],
  waits: { nothing: { ids: () => [], of: () => undefined } },
});
