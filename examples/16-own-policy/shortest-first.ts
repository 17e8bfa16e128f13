/**
 * An admission policy: the prompts of a round start in the order of their predicted lengths, a few more of them than the round
 * needs, and those that finish first are trained on.
 */
// #region state
import { type Context, defineEvent, definePolicy, handlersOf, type Live, mapBy, PolicyError, z } from 'rollflex';
import type { Of, Prompt } from 'rollflex/schemas';
import * as messages from 'rollflex/schemas';

const config = z.strictObject({
  promptsPerRound: z.int().positive().max(10_000).describe('Prompts that a round trains on.'),
  responsesPerPrompt: z.int().positive().max(1000).describe('Responses of each prompt.'),
  promptSpeculation: z.number().min(1).max(4).default(1.25).describe('Prompts that a round begins, per prompt needed.'),
  inFlight: z.int().positive().default(1024).describe('Most requests that the engines have at once.'),
});

const numbers = { index: z.int(), tokens: z.int(), weightVersions: z.array(z.int()) };
const response = z.strictObject({ requestId: z.string(), ...numbers });
const entry = z.strictObject({
  promptId: z.string(),
  prompt: messages.prompt,
  /** How many of its requests were launched. */
  launched: z.int(),
  /** Its requests that run, or are aborted. */
  running: z.array(z.string()),
  held: z.array(response),
});
const ids = { requestId: z.string(), promptId: z.string() };
const request = z.strictObject({ ...ids, index: z.int(), isAborting: z.boolean() });
const round = z.strictObject({
  roundId: z.string(),
  kind: z.enum(['short', 'long']),
  weightVersion: z.int(),
  openedSeconds: z.number(),
  /** Prompts that were asked for, and are not here yet. */
  asked: z.int(),
});
const state = z.strictObject({
  round: round.nullable(),
  /** The round that is complete, while requests of it are still aborted. */
  draining: z.strictObject({ roundId: z.string(), sinceSeconds: z.number() }).nullable(),
  isExhausted: z.boolean(),
  prompts: mapBy('promptId', entry),
  /** Prompts with responses to launch, a heap with the shortest first; one that has left is skipped. */
  waiting: z.array(z.strictObject({ promptId: z.string(), tokens: z.int(), order: z.int() })),
  /** Prompts supplied so far: of equally long ones, the earlier goes first. */
  supplied: z.int(),
  /** Prompts that have all their responses, in the order in which they finished. */
  done: z.array(z.string()),
  requests: mapBy('requestId', request),
  /** Requests launched so far: their ids are numbered. */
  launched: z.int(),
  rounds: z.int(),
});
// #endregion

// #region messages
/** A message of its own: the host, which tries again by itself, gives a prompt up. */
const broken = defineEvent('acme/prompt.broken', 'The host has given a prompt up: it fails whatever runs it.', {
  promptId: z.string(),
  failures: z.int().positive().describe('How often it has failed.'),
});

const decisions = [
  messages.promptsRequest,
  messages.requestLaunch,
  messages.requestAbort,
  messages.responseAccepted,
  messages.responseSurplus,
  messages.responseLate,
  messages.promptDeferred,
  messages.promptReturned,
  messages.promptMerged,
  messages.promptFailed,
  messages.roundCompleted,
  messages.roundDrained,
] as const;

export type State = Live<z.output<typeof state>, z.output<typeof config>>;
type Decision = Of<(typeof decisions)[number]>;
type Entry = z.output<typeof entry>;
type Ctx = Context<Decision>;
// #endregion

// #region rules
/** A copy shares nothing with what a host may change, and has its keys in one order. */
const copyOf = (prompt: Prompt): Prompt => messages.prompt.parse(prompt);

type Waiting = State['waiting'][number];
const isBefore = (one: Waiting, other: Waiting): boolean =>
  one.tokens === other.tokens ? one.order < other.order : one.tokens < other.tokens;

/** Puts a prompt into the heap of those that wait. A sort at every event would walk over all of them, and break law 10. */
function enqueue(state: State, { promptId, expectedTokens: tokens = Number.MAX_SAFE_INTEGER }: Prompt): void {
  const { waiting } = state;
  const one = { promptId, tokens, order: state.supplied };
  state.supplied += 1;
  let at = waiting.push(one) - 1;
  for (let above = (at - 1) >> 1; at > 0 && isBefore(one, waiting[above]!); above = (at - 1) >> 1) {
    waiting[at] = waiting[above]!;
    at = above;
  }
  waiting[at] = one;
}

/** Takes the first one out. */
function dequeue({ waiting }: State): void {
  const last = waiting.pop()!;
  if (waiting.length === 0) return;
  let at = 0;
  for (let below = 1; below < waiting.length; below = 2 * at + 1) {
    if (below + 1 < waiting.length && isBefore(waiting[below + 1]!, waiting[below]!)) below += 1;
    if (!isBefore(waiting[below]!, last)) break;
    waiting[at] = waiting[below]!;
    at = below;
  }
  waiting[at] = last;
}

/** A prompt that is here already is dropped; any other one waits for its turn. */
function take(state: State, roundId: string, prompts: readonly Prompt[], { at, emit }: Ctx): void {
  for (const prompt of prompts) {
    const { promptId } = prompt;
    if (state.prompts.has(promptId)) {
      emit({ type: 'prompt.merged', at, promptId, roundId, dropped: [], reason: { code: 'already_in_round' } });
      continue;
    }
    state.prompts.set(promptId, { promptId, prompt: copyOf(prompt), launched: 0, running: [], held: [] });
    enqueue(state, prompt);
  }
}

/** Launches the responses of the prompts that are expected to be the shortest, as many as there is room for. */
function launch(state: State, { at, emit }: Ctx): void {
  const { round, requests, waiting, prompts, config } = state;
  if (round === null) return;
  const { roundId, weightVersion } = round;
  while (requests.size < config.inFlight && waiting.length > 0) {
    const { promptId } = waiting[0]!;
    const one = prompts.get(promptId);
    if (one === undefined || one.launched === config.responsesPerPrompt) {
      dequeue(state);
      continue;
    }
    const requestId = `${promptId}#${state.launched}`;
    const index = one.launched;
    const reason = { code: 'planned', inFlight: requests.size } as const;
    emit({ type: 'request.launch', at, requestId, promptId, roundId, index, weightVersion, reason });
    requests.set(requestId, { requestId, promptId, index, isAborting: false });
    one.running.push(requestId);
    state.launched += 1;
    one.launched += 1;
  }
}

/** Aborts what runs for a prompt. */
function abort(state: State, one: Entry, reason: Of<typeof messages.requestAbort>['reason'], ctx: Ctx): void {
  for (const requestId of one.running) {
    state.requests.get(requestId)!.isAborting = true;
    ctx.emit({ type: 'request.abort', at: ctx.at, requestId, promptId: one.promptId, reason });
  }
}

/** Forgets a request, which has ended. */
function ended(state: State, requestId: string, promptId: string): void {
  state.requests.delete(requestId);
  const one = state.prompts.get(promptId);
  if (one !== undefined) one.running = one.running.filter((id) => id !== requestId);
}

/** A prompt that is not trained leaves the round: put off if it has begun, returned as it came if not. */
function leave(state: State, one: Entry, code: 'round_completed' | 'round_failed', counted: number, ctx: Ctx): void {
  const { at } = ctx;
  const { roundId } = state.round!;
  const { promptId, prompt, held } = one;
  state.prompts.delete(promptId);
  if (one.launched === 0) {
    const why = code === 'round_failed' ? code : 'not_started';
    return ctx.emit({ type: 'prompt.returned', at, prompt, roundId, dropped: [], reason: { code: why } });
  }
  abort(state, one, code === 'round_failed' ? { code } : { code, counted }, ctx);
  const { count, ...since } = prompt.deferral ?? { count: 0, sinceRound: state.rounds - 1, sinceSeconds: at };
  // By the round in which the prompt is back, the responses that it holds are of older weights.
  const cause = code === 'round_failed' ? code : 'stale_weights';
  const dropped = held.map(({ requestId, tokens }) => ({ requestId, tokens, cause }) as const);
  const reason = { code, held: held.length, needed: state.config.responsesPerPrompt } as const;
  const deferred = copyOf({ ...prompt, deferral: { ...since, count: count + 1 } });
  ctx.emit({ type: 'prompt.deferred', at, prompt: deferred, roundId, dropped, reason });
}

/** Ends the round: nothing of it is open any more, and it has drained once no request runs. */
function close(state: State, ctx: Ctx): void {
  state.draining = { roundId: state.round!.roundId, sinceSeconds: ctx.at };
  state.round = null;
  state.waiting = [];
  state.done = [];
}

/** What follows from any event: more requests, the end of the round, and the end of its last request. */
function settle(state: State, ctx: Ctx): void {
  const { at, emit } = ctx;
  launch(state, ctx);
  const { round, config } = state;
  if (round !== null) {
    const { roundId, kind, weightVersion, openedSeconds, asked } = round;
    const { done } = state;
    const isFull = done.length === config.promptsPerRound;
    const isOver = state.requests.size === 0 && asked === 0;
    if (isFull || isOver) {
      const prompts = done.map((promptId) => {
        const { prompt, held } = state.prompts.get(promptId)!;
        const { ref, domain, deferral } = prompt;
        return {
          promptId,
          ...(ref !== undefined && { ref: structuredClone(ref) }),
          ...(domain !== undefined && { domain }),
          ...(deferral !== undefined && { deferral: { ...deferral } }),
          responses: held.toSorted((a, b) => a.index - b.index),
        };
      });
      const quota = { counted: done.length, needed: config.promptsPerRound };
      const code = isFull ? 'quota_reached' : state.isExhausted ? 'source_exhausted' : 'all_ended';
      const deferred = state.prompts.size - done.length;
      const what = { roundId, kind, weightVersion, prompts, openedSeconds, deferred };
      emit({ type: 'round.completed', at, ...what, reason: { code, ...quota } });
      for (const promptId of done) state.prompts.delete(promptId);
      for (const one of [...state.prompts.values()]) leave(state, one, 'round_completed', done.length, ctx);
      close(state, ctx);
    }
  }
  const { draining } = state;
  if (draining === null || state.requests.size > 0) return;
  const reason = { code: 'all_ended', afterSeconds: Math.max(0, at - draining.sinceSeconds) } as const;
  emit({ type: 'round.drained', at, roundId: draining.roundId, reason });
  state.draining = null;
}
// #endregion

// #region handlers
/** Refuses a request that was never launched: ids end with their number. */
function checkLaunched({ launched }: State, { requestId }: { requestId: string }): void {
  const number = /#(\d+)$/.exec(requestId)?.[1];
  if (number !== undefined && Number(number) < launched) return;
  throw new PolicyError('unknown_id', { path: 'requestId', expected: 'a request that was launched', got: requestId });
}

const on = handlersOf<State, Decision>();
const handlers = [
  on(
    messages.roundOpened,
    (state, { roundId, kind, weightVersion, prompts }, ctx) => {
      const { at } = ctx;
      state.rounds += 1;
      state.round = { roundId, kind, weightVersion, openedSeconds: at, asked: 0 };
      take(state, roundId, prompts, ctx);
      const target = Math.ceil(state.config.promptsPerRound * (kind === 'short' ? state.config.promptSpeculation : 1));
      const known = state.prompts.size;
      if (known >= target || state.isExhausted) return;
      state.round.asked = target - known;
      const reason = { code: 'round_opened', target, known } as const;
      ctx.emit({ type: 'prompts.request', at, roundId, count: target - known, reason });
    },
    ({ round, draining }) => {
      const open = round?.roundId ?? draining?.roundId;
      if (open !== undefined) throw new PolicyError('out_of_order', { expected: 'no open round', got: open });
    },
  ),
  on(messages.promptsSupplied, (state, { roundId, prompts }, ctx) => {
    const { round } = state;
    if (round?.roundId === roundId) {
      round.asked = Math.max(0, round.asked - prompts.length);
      return take(state, roundId, prompts, ctx);
    }
    for (const prompt of prompts.map(copyOf)) {
      const reason = { code: 'round_closed' } as const;
      ctx.emit({ type: 'prompt.returned', at: ctx.at, prompt, roundId, dropped: [], reason });
    }
  }),
  on(messages.sourceExhausted, (state, { domain }) => {
    if (domain !== undefined) return;
    state.isExhausted = true;
    if (state.round !== null) state.round.asked = 0;
  }),
  on(messages.sourceReopened, (state) => void (state.isExhausted = false)),
  on(
    messages.responseCompleted,
    (state, { requestId, tokens, weightVersions }, { at, emit }) => {
      const request = state.requests.get(requestId);
      if (request === undefined)
        return emit({ type: 'response.late', at, requestId, reason: { code: 'completion', tokens } });
      const { promptId, index, isAborting } = request;
      ended(state, requestId, promptId);
      if (isAborting)
        return emit({ type: 'response.surplus', at, requestId, promptId, reason: { code: 'after_abort', tokens } });
      const { weightVersion } = state.round!;
      const versions = weightVersions?.slice() ?? [weightVersion];
      const { held } = state.prompts.get(promptId)!;
      held.push({ requestId, index, tokens, weightVersions: versions });
      // Whatever becomes of the response, its versions are told (law 17).
      const counts = { held: held.length, needed: state.config.responsesPerPrompt };
      const others = { code: 'other_weights', ...counts, weightVersions: versions.slice(), weightVersion } as const;
      const reason = versions.every((one) => one === weightVersion) ? ({ code: 'held', ...counts } as const) : others;
      emit({ type: 'response.accepted', at, requestId, promptId, reason });
      if (held.length === state.config.responsesPerPrompt) state.done.push(promptId);
    },
    checkLaunched,
  ),
  on(
    messages.requestAborted,
    // A prompt whose request ends without an abort of ours lacks a response: it is put off at the end of the round.
    (state, { requestId }, { at, emit }) => {
      const request = state.requests.get(requestId);
      if (request === undefined) return emit({ type: 'response.late', at, requestId, reason: { code: 'report' } });
      ended(state, requestId, request.promptId);
    },
    checkLaunched,
  ),
  on(
    broken,
    (state, { promptId, failures }, ctx) => {
      const one = state.prompts.get(promptId)!;
      const { prompt, held } = one;
      abort(state, one, { code: 'prompt_failed', held: held.length }, ctx);
      state.prompts.delete(promptId);
      state.done = state.done.filter((id) => id !== promptId);
      const dropped = held.map(({ requestId, tokens }) => ({ requestId, tokens, cause: 'failed' }) as const);
      const ref = prompt.ref === undefined ? {} : { ref: prompt.ref };
      const reason = { code: 'data', failures, budget: failures } as const;
      const { roundId } = state.round!;
      ctx.emit({ type: 'prompt.failed', at: ctx.at, promptId, roundId, ...ref, dropped, reason });
    },
    ({ prompts }, { promptId }) => {
      if (prompts.has(promptId)) return;
      throw new PolicyError('unknown_id', { path: 'promptId', expected: 'a prompt of the round', got: promptId });
    },
  ),
  on(
    messages.roundFailed,
    (state, _event, ctx) => {
      for (const one of [...state.prompts.values()]) leave(state, one, 'round_failed', 0, ctx);
      close(state, ctx);
    },
    ({ round }, { roundId }) => {
      if (round?.roundId === roundId) return;
      throw new PolicyError('out_of_order', { path: 'roundId', expected: 'the open round', got: roundId });
    },
  ),
];
// #endregion

// #region definition
export const shortestFirst = definePolicy({
  id: 'acme/shortest-first',
  version: 1,
  summary: 'Starts the prompts that are expected to be the shortest, and trains on those that finish first.',
  source: 'acme',
  config,
  state,
  begin: () => ({
    round: null,
    draining: null,
    isExhausted: false,
    prompts: [],
    waiting: [],
    supplied: 0,
    done: [],
    requests: [],
    launched: 0,
    rounds: 0,
  }),
  handlers,
  after: settle,
  decisions,
  ledgers: [
    {
      name: 'prompts',
      entered: (event) =>
        event.type === 'round.opened' || event.type === 'prompts.supplied'
          ? event.prompts.map(({ promptId }) => promptId)
          : [],
      left: (decision) => {
        switch (decision.type) {
          case 'round.completed':
            return decision.prompts.map(({ promptId }) => promptId);
          case 'prompt.deferred':
          case 'prompt.returned':
            return [decision.prompt.promptId];
          case 'prompt.merged':
          case 'prompt.failed':
            return [decision.promptId];
          default:
            return [];
        }
      },
      held: (saved) => saved.prompts.map(({ promptId }) => promptId),
      mints: ({ responsesPerPrompt }) => responsesPerPrompt,
    },
  ],
});
// #endregion
