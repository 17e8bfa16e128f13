/** An admission policy: the prompts of a round start in the order of their predicted lengths, the longest first. */
// #region state
import * as rollflex from 'rollflex';
import { definePolicy, handlersOf, type Live, z } from 'rollflex';
import * as messages from 'rollflex/schemas';

const config = z.strictObject({
  promptsPerRound: z.int().positive().max(10_000).describe('Prompts that a round trains on.'),
  responsesPerPrompt: z.int().positive().max(1000).describe('Responses of each prompt.'),
  inFlight: z.int().positive().default(1024).describe('Most requests that the engines have at once.'),
});

const { prompt, finalResponse } = messages;
/** A prompt of the round: its place, the number of its requests that were launched, and its responses. */
const entry = z.strictObject({ prompt, place: z.int(), launched: z.int(), held: z.array(finalResponse) });
type Entry = z.output<typeof entry>;
const tokensOf = ({ prompt }: Entry): number => prompt.expectedTokens ?? 0;

const round = messages.roundOpened.schema.pick({ roundId: true, kind: true, weightVersion: true });
const request = z.strictObject({ requestId: z.string(), promptId: z.string(), index: z.int() });
const state = z.strictObject({
  /** The open round, and how many of its prompts are to come. */
  round: round.extend({ openedSeconds: z.number(), asked: z.int() }).nullable(),
  prompts: rollflex.mapBy(({ prompt }) => prompt.promptId, entry),
  /** Prompts with responses to launch, the longest on top. They are not saved: `link` finds them again. */
  waiting: rollflex.derived(() => new rollflex.Heap<Entry>((a, b) => tokensOf(b) - tokensOf(a) || a.place - b.place)),
  requests: rollflex.mapBy('requestId', request),
  /** Requests launched so far: their ids are numbered. */
  launched: z.int(),
});
export type State = Live<z.output<typeof state>, z.output<typeof config>>;

const { promptsRequest, requestLaunch, responseAccepted, responseLate } = messages;
const { promptReturned, promptMerged, roundCompleted, roundDrained } = messages;
const ends = [promptReturned, promptMerged, roundCompleted, roundDrained] as const;
const decisions = [promptsRequest, requestLaunch, responseAccepted, responseLate, ...ends] as const;
type Decision = messages.Of<(typeof decisions)[number]>;
type Ctx = rollflex.Context<Decision>;
// #endregion

// #region rules
/** Takes the prompts that the round needs; others go back. */
function take({ round, prompts, waiting, config }: State, roundId: string, all: readonly messages.Prompt[], ctx: Ctx) {
  const { at, emit } = ctx;
  for (const prompt of all.map(rollflex.copyPrompt)) {
    const { promptId } = prompt;
    const isClosed = round?.roundId !== roundId;
    if (isClosed || prompts.size === config.promptsPerRound) {
      const reason = { code: isClosed ? 'round_closed' : 'not_started' } as const;
      emit({ type: 'prompt.returned', at, prompt, roundId, dropped: [], reason });
    } else if (prompts.has(promptId)) {
      emit({ type: 'prompt.merged', at, promptId, roundId, dropped: [], reason: { code: 'already_in_round' } });
    } else {
      const one: Entry = { prompt, place: prompts.size, launched: 0, held: [] };
      prompts.set(promptId, one);
      waiting.push(one);
    }
  }
}

/** What follows from any event: more requests, and the end of the round once none of them runs. */
function settle(state: State, { at, emit }: Ctx): void {
  const { round, requests, prompts, waiting, config } = state;
  if (round === null) return;
  const { asked, ...about } = round;
  const { roundId, weightVersion } = round;
  for (let one = waiting.peek(); one !== undefined && requests.size < config.inFlight; one = waiting.peek()) {
    const { promptId } = one.prompt;
    const launched = { requestId: `${promptId}#${state.launched++}`, promptId, index: one.launched++ };
    const reason = { code: 'planned', inFlight: requests.size } as const;
    emit({ type: 'request.launch', at, ...launched, roundId, weightVersion, reason });
    requests.set(launched.requestId, launched);
    if (one.launched === config.responsesPerPrompt) waiting.pop();
  }
  if (requests.size > 0 || asked > 0) return;
  const isFinal = ({ held }: Entry): boolean => held.length === config.responsesPerPrompt;
  const final = [...prompts.values()].filter(isFinal).map(({ prompt, held }) => ({ ...prompt, responses: held }));
  const quota = { counted: final.length, needed: config.promptsPerRound };
  const reason = { code: quota.counted === quota.needed ? 'quota_reached' : 'all_ended', ...quota } as const;
  emit({ type: 'round.completed', at, ...about, prompts: final.map(rollflex.copyFinal), deferred: 0, reason });
  for (const one of prompts.values()) {
    if (isFinal(one)) continue;
    // The host has given a request up: the prompt goes back as it came.
    const dropped = one.held.map(({ requestId, tokens }) => ({ requestId, tokens, cause: 'failed' }) as const);
    emit({ type: 'prompt.returned', at, prompt: one.prompt, roundId, dropped, reason: { code: 'round_closed' } });
  }
  emit({ type: 'round.drained', at, roundId, reason: { code: 'all_ended', afterSeconds: 0 } });
  prompts.clear();
  state.round = null;
}
// #endregion

// #region handlers
/** Ids of requests end with their number: one that was never launched is refused, and any other one is late. */
const checkLaunched = ({ launched }: State, { requestId }: { readonly requestId: string }): void =>
  rollflex.checkMinted('requestId', requestId, launched);

const on = handlersOf<State, Decision>();
const handlers = [
  on(
    messages.roundOpened,
    (state, { roundId, kind, weightVersion, prompts }, ctx) => {
      const { at, emit } = ctx;
      state.round = { roundId, kind, weightVersion, openedSeconds: at, asked: 0 };
      take(state, roundId, prompts, ctx);
      const [target, known] = [state.config.promptsPerRound, state.prompts.size];
      const count = target - known;
      state.round.asked = count;
      if (count > 0)
        emit({ type: 'prompts.request', at, roundId, count, reason: { code: 'round_opened', target, known } });
    },
    ({ round }) => round === null || rollflex.refuse('out_of_order', '', 'no open round', round.roundId),
  ),
  on(messages.promptsSupplied, (state, { roundId, prompts }, ctx) => {
    take(state, roundId, prompts, ctx);
    if (state.round?.roundId === roundId) state.round.asked = Math.max(0, state.round.asked - prompts.length);
  }),
  on(messages.sourceExhausted, ({ round }, { domain }) => {
    if (round !== null && domain === undefined) round.asked = 0;
  }),
  on(
    messages.responseCompleted,
    ({ requests, prompts, round, config }, { requestId, tokens, weightVersions }, { at, emit }) => {
      const one = requests.get(requestId);
      if (one === undefined)
        return emit({ type: 'response.late', at, requestId, reason: { code: 'completion', tokens } });
      requests.delete(requestId);
      const { promptId, index } = one;
      const { weightVersion } = round!;
      const said = weightVersions?.slice() ?? [weightVersion];
      const { held } = prompts.get(promptId)!;
      held.push({ requestId, index, tokens, weightVersions: said });
      const counts = { held: held.length, needed: config.responsesPerPrompt };
      emit({
        type: 'response.accepted',
        at,
        requestId,
        promptId,
        reason: rollflex.acceptedReason(counts, said, weightVersion),
      });
    },
    checkLaunched,
  ),
  on(
    messages.requestAborted,
    ({ requests }, { requestId }, { at, emit }) => {
      if (!requests.delete(requestId)) emit({ type: 'response.late', at, requestId, reason: { code: 'report' } });
    },
    checkLaunched,
  ),
];

/** Requests that a prompt may bring: a server bounds what an event may bring by this. */
const mints = ({ responsesPerPrompt }: z.output<typeof config>): number => responsesPerPrompt;

export const longestFirst = definePolicy({
  id: 'acme/longest-first',
  version: 1,
  summary: 'Starts the prompts that are expected to be the longest first, and trains on all of them.',
  source: 'acme',
  config,
  state,
  link({ prompts, waiting, config }) {
    for (const one of prompts.values()) if (one.launched < config.responsesPerPrompt) waiting.push(one);
  },
  handlers,
  after: settle,
  decisions,
  ledgers: [
    { name: 'prompts', held: ({ prompts }) => prompts.map(({ prompt }) => prompt.promptId), mints },
    { name: 'responses', held: ({ prompts }) => prompts.flatMap(({ held }) => held.map((one) => one.requestId)) },
  ],
});
// #endregion
