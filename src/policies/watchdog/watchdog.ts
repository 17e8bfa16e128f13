/**
 * A watchdog: follows what other policies ask for, learns how long the answers take, and says who owes an answer that is overdue.
 * See README.md.
 */

import {
  type AnyEvent,
  type Context,
  definePolicy,
  handlersOf,
  type Ledger,
  type PolicyDefinitionOf,
} from '../../core/machine/definition.ts';
import { Deadlines } from '../../core/rollout/deadlines.ts';
import type { WatchdogDecision, WatchdogTypes } from '../../generated/settings/watchdog.ts';
import { hostOwes, roundStalled, timerSet } from '../../schemas/decisions/session.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Message } from '../../schemas/messages.ts';
import { check, leastSeconds } from './check.ts';
import { decided, reported, timerFired } from './messages.ts';
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

const on = handlersOf<WatchdogState, WatchdogDecision>();
const handlers = [
  on(decided, (state, message, ctx) => {
    state.owed.told(message, ctx.at);
    nameStalled(state, message, ctx);
  }),
  on(timerSet, (state, decision, ctx) => {
    if (decision.timerId === deadlines.timerId) return;
    if (decision.reason.code === 'response_timeout') state.owed.timeoutSeconds = decision.reason.limitSeconds;
    state.owed.told(decision, ctx.at);
  }),
  on(reported, (state, event, ctx) => {
    state.owed.heard(event, ctx.at);
    nameStalled(state, event, ctx);
  }),
  on(timerFired, fired),
  on(hostRestarted, (state, event, ctx) => {
    state.owed.heard(event, ctx.at);
    deadlines.forget(state);
  }),
];

/** Reports that work goes on without gain, once more has been filtered than usual. */
function nameStalled({ owed }: WatchdogState, { roundId }: AnyEvent & { readonly roundId?: string }, ctx: Ctx): void {
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
