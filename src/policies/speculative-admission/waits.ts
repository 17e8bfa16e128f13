/** What blocks what in speculative-admission. */

import type { AwaitedEvent, Gates, HeldThing, Standing, Waits } from '../../core/why/waits.ts';
import { finishedIds, requestIds } from '../../schemas/moves.ts';
import { pauses } from './faults.ts';
import { timeouts } from './launch.ts';
import { findRequest, grace, heldResponse, inFlight } from './requests.ts';
import { targetOf } from './rounds.ts';
import {
  type AdmissionState,
  currentRoundId,
  engineOf,
  heldOf,
  isAborting,
  isLive,
  type PromptState,
  type ResponseState,
  type Round,
} from './state.ts';

const prompt = (id: string): HeldThing => ({ what: 'prompts', id });
const request = ({ requestId: id }: ResponseState): HeldThing => ({ what: 'requests', id });
const rounds = (all: readonly Round[]): HeldThing[] => all.map(({ id }) => ({ what: 'rounds', id }));
const pauseEnds = (dueAt: number): AwaitedEvent => ({
  event: { type: 'timer.fired', timerId: pauses.timerId },
  dueAt,
});
type For = HeldThing | AwaitedEvent;

// A prompt that came again may have been deferred before another prompt with its id, so it is searched for.
const settlingPrompt = ({ settling, settlingOf }: AdmissionState, id: string): PromptState | undefined =>
  settlingOf.size === 0 ? undefined : (settlingOf.get(id) ?? [...settling].find(({ spec }) => spec.promptId === id));

/** The engine slots for which queued responses wait. */
const slots: readonly HeldThing[] = Object.freeze([{ what: 'slots', id: 'engines' }]);

/** What a slot waits for: an engine, or the end of any request that takes a slot. */
function* room(state: AdmissionState): Iterable<For> {
  const { config, engines } = state;
  if (config.placement === 'policy' && ![...engines.values()].some(({ active }) => active)) {
    // A drained engine may come back; without engines, any engine may come.
    for (const engineId of engines.keys()) yield { event: { type: 'engine.added', engineId } };
    if (engines.size === 0) yield { event: { type: 'engine.added' } };
    return;
  }
  for (const one of inFlight(state)) if (one.holdsSlot) yield request(one);
  // Every engine may be suspended.
  const { pause } = state.timers;
  if (pause !== null) yield pauseEnds(pause);
}

/** What a prompt waits for if its responses do not suffice yet. */
function* responses(state: AdmissionState, { responses }: PromptState): Iterable<For> {
  let isQueued = false;
  let isHeldBack = false;
  for (const one of responses) {
    const { status } = one;
    if (status === 'pending') isQueued = true;
    else if (status === 'paused') yield pauseEnds(one.since);
    else if (status === 'parked' || status === 'aside') isHeldBack = true;
    else if (isLive(one) || isAborting(one)) yield request(one);
  }
  if (isQueued) yield* state.round === null ? newRound(state) : slots;
  else if (isHeldBack) yield* state.round === null ? newRound(state) : comparison(state);
}

/** What ends the wait of parked or set-aside responses: a successful try, or the host, which ends the round. */
function* comparison(state: AdmissionState): Iterable<For> {
  const { timers, round, live } = state;
  let isAlone = true;
  for (const { responses } of live.keys()) {
    for (const one of responses) {
      if (!isLive(one)) continue;
      isAlone = false;
      yield request(one);
    }
  }
  if (timers.pause !== null) yield pauseEnds(timers.pause);
  else if (isAlone) yield { event: { type: 'round.failed', roundId: round!.id } };
}

/** Says where tries fail, if a prompt has to wait for this reason. */
function failingWhere({ faults }: AdmissionState, { responses }: PromptState): string {
  if (responses.some(({ status }) => status === 'parked')) {
    for (const { scope, id, suspension, failures } of faults.domains) {
      if (suspension === null) continue;
      return `, and tries fail on ${id === null ? `every ${scope}` : `${scope} ${id}`} (${failures} in a row)`;
    }
  }
  return responses.some(({ status }) => status === 'aside') ? ', and failures that nothing can be compared with' : '';
}

/** What a prompt waits for if nothing can happen to it before a round opens. */
function newRound(state: AdmissionState): readonly For[] {
  const before = beforeOpening(state);
  return before.length > 0 ? before : [{ event: { type: 'round.opened' } }];
}

/** What has to end before a round opens. */
const beforeOpening = ({ round, draining, config }: AdmissionState): readonly HeldThing[] =>
  rounds([...(round === null ? [] : [round]), ...(config.allowOverlap ? [] : draining)]);

/** Time since which the response of a running request is awaited, in seconds. */
const awaitedSince = ({ since, resumedAt = since }: ResponseState): number => resumedAt;

/** What has to end before events are accepted; a response is awaited since the launch or resumption of its request. */
export const gates: Gates<AdmissionState> = {
  'round.opened': beforeOpening,
  'response.completed': (state, event) => {
    const found = findRequest(state, event.requestId as string);
    return found?.status === 'running' ? [{ event, since: awaitedSince(found) }] : [];
  },
};

function verdict(state: AdmissionState, one: PromptState): readonly AwaitedEvent[] {
  if (state.config.filter === 'none') return [];
  if (state.config.filter === 'host') {
    return [{ event: { type: 'prompt.judged', promptId: one.spec.promptId, roundId: currentRoundId(state) } }];
  }
  const missing = heldOf(one).filter(({ reward }) => reward === null);
  return missing.map(({ requestId }) => ({ event: { type: 'reward.ready', requestId } }));
}

function promptStanding(state: AdmissionState, one: PromptState): Standing {
  const { round, config } = state;
  const { held, status } = one;
  const openRound = (): readonly For[] => (round === null ? newRound(state) : rounds([round]));
  switch (status) {
    case 'standby':
      return { stands: 'is not started: its round has enough prompts for now', for: openRound() };
    case 'active': {
      const stands = `has ${held} of ${config.responsesPerPrompt} responses${failingWhere(state, one)}`;
      return { stands, for: responses(state, one) };
    }
    case 'collected': {
      const missing = verdict(state, one);
      if (missing.length > 0) return { stands: 'has its responses, and is not judged yet', for: missing };
      return { stands: 'has its responses, and its round is full', for: openRound() };
    }
    case 'settling': {
      const awaited = one.responses.filter((each) => each.awaited);
      return { stands: 'is deferred, and its aborts are not confirmed', for: awaited.map(request) };
    }
    default:
      return { stands: status === 'passed' ? 'is accepted, and its round is full' : 'counts', for: openRound() };
  }
}

function* heldIds({ prompts, settling }: AdmissionState): Iterable<string> {
  for (const all of [prompts.values(), settling]) {
    for (const one of all) {
      if (one.status === 'standby') yield* finishedIds(one.spec);
      yield* requestIds(heldOf(one));
    }
  }
}

/** Returns the id of the prompt with a complete response, which a prompt that is not started may have brought along. */
function holderOf(state: AdmissionState, id: string): string | undefined {
  const held = heldResponse(state, id);
  if (held !== undefined) return held.prompt.spec.promptId;
  for (const { status, spec } of state.prompts.values()) {
    if (status === 'standby' && finishedIds(spec).includes(id)) return spec.promptId;
  }
  return undefined;
}

function* promptIds({ prompts, settling }: AdmissionState): Iterable<string> {
  yield* prompts.keys();
  for (const { spec } of settling) yield spec.promptId;
}

function* runningIds(state: AdmissionState): Iterable<string> {
  for (const { requestId } of inFlight(state)) yield requestId;
}

function* roundWaits(state: AdmissionState, round: Round): Iterable<For> {
  if (round !== state.round) {
    for (const one of inFlight(state)) if (one.round === round) yield request(one);
    return;
  }
  for (const quota of round.quotas) {
    if (quota.counted === quota.prompts) continue;
    for (const { spec } of quota.members) yield prompt(spec.promptId);
    if (quota.awaiting > 0) yield { event: { type: 'prompts.supplied', roundId: round.id }, since: round.askedAt };
  }
}

function roundStanding(state: AdmissionState, id: string): Standing | undefined {
  const { round, draining } = state;
  const found = round?.id === id ? round : draining.find((one) => one.id === id);
  if (found === undefined) return undefined;
  const isOpen = found === round;
  const { futile, config } = state;
  const { filtered } = futile;
  const inVain = filtered === 0 ? '' : `, and ${filtered === 1 ? '1 was' : `${filtered} in a row were`} filtered`;
  const stands = isOpen
    ? `has ${found.counted} of ${config.promptsPerRound} prompts${inVain}`
    : `is over, with ${found.inFlight} requests in flight`;
  const { kind, inFlight } = found;
  const waiting = roundWaits(state, found);
  if (!isOpen) return { stands, since: found.completedAt, for: waiting, kind, inFlight, isCompleted: true };
  const vain = { ...futile, target: targetOf(found) };
  return { stands, since: found.openedAt, for: waiting, kind, inFlight, futile: vain };
}

/** The timer that would end a request without its engine, at the request's time limit. */
function* timer({ config, timers }: AdmissionState, one: ResponseState): Iterable<AwaitedEvent> {
  const { abortGraceSeconds, responseTimeoutSeconds } = config;
  const [timerId, firesAt, seconds] = isAborting(one)
    ? ([grace.timerId, timers.abortGrace, abortGraceSeconds] as const)
    : ([timeouts.timerId, timers.responseTimeout, responseTimeoutSeconds] as const);
  if (firesAt === null || seconds === undefined) return;
  yield { event: { type: 'timer.fired', timerId }, dueAt: Math.max(firesAt, one.since + seconds) };
}

function requestStanding(state: AdmissionState, one: ResponseState): Standing {
  const { requestId, since, status } = one;
  const by = engineOf(one)?.id;
  switch (status) {
    case 'waiting':
      return {
        stands: 'waits for a tool',
        for: [{ event: { type: 'tool.finished', requestId } }, ...timer(state, one)],
      };
    case 'resuming':
      return { stands: 'is queued for an engine', for: [...slots, ...timer(state, one)] };
    case 'aborting':
      return {
        stands: by === undefined ? 'is being aborted' : `is being aborted on engine ${by}`,
        since,
        for: [{ event: { type: 'request.aborted', requestId }, since, by }, ...timer(state, one)],
      };
    default:
      return {
        stands: by === undefined ? 'is in flight' : `runs on engine ${by}`,
        since,
        for: [{ event: { type: 'response.completed', requestId }, since: awaitedSince(one), by }, ...timer(state, one)],
      };
  }
}

/** What blocks what: rounds wait for prompts, prompts for requests, and requests for engines. */
export const waits: Waits<AdmissionState> = {
  prompts: {
    ids: promptIds,
    of: (state, id) => {
      const found = state.prompts.get(id) ?? settlingPrompt(state, id);
      return found && promptStanding(state, found);
    },
  },
  requests: {
    ids: runningIds,
    of: (state, id) => {
      const found = findRequest(state, id);
      return found && requestStanding(state, found);
    },
  },
  responses: {
    ids: heldIds,
    of: (state, id) => {
      const holder = holderOf(state, id);
      return holder === undefined ? undefined : { stands: 'is complete', for: [prompt(holder)] };
    },
  },
  slots: {
    ids: ({ round, resumes, retries, launches }) =>
      resumes.size > 0 || (round !== null && retries.size + launches.size > 0) ? ['engines'] : [],
    of: (state, id) => (id === 'engines' ? { stands: 'have no free slot', for: room(state) } : undefined),
  },
  rounds: {
    ids: ({ round, draining }) => [...(round === null ? [] : [round.id]), ...draining.map(({ id }) => id)],
    of: roundStanding,
  },
};
