/**
 * Handles rounds and their milestones: at a milestone the host reports the progress of the requests in flight, and the policy
 * decides.
 */
import { mintedId } from '../../core/ids/minted-ids.ts';
import { StringHash } from '../../core/ids/string-index.ts';
import { refuse } from '../../errors.ts';
import type { RunningRequest } from '../../schemas/gpus.ts';
import type { Message } from '../../schemas/messages.ts';
import { chooseEngines, wantedGpus } from './choose.ts';
import { groupBits, groupCount, groupOf, Loads, orderByEnd, type Report } from './columns.ts';
import { assertEngine, checkMinted, late, reclaim } from './engines.ts';
import { migrate } from './moves.ts';
import { Outlook } from './outlook.ts';
import { type Plan, planFor } from './plan.ts';
import { type Ctx, targetOf } from './schema.ts';
import { endedSets, type Query, type ScaleDownState } from './state.ts';

// 0.05 · 1,024 is not a whole number, and 0.2 is not exact.
const slack = 1e-9;

export function checkOpening(state: ScaleDownState, { roundId }: Message<'round.opened'>): void {
  if (state.recentRounds.has(roundId)) refuse('duplicate_id', 'roundId', 'a new round id', roundId);
}

/** Opens a round; from now on, the lengths of the round before count. */
export function openRound(state: ScaleDownState, { roundId, kind }: Message<'round.opened'>, ctx: Ctx): void {
  if (state.round !== undefined) endRound(state, 'round_replaced', ctx);
  state[state.kind].close(state.config.historyRetention);
  state.kind = kind;
  state.round = { roundId, finished: 0, evaluated: 0, fixed: false, settled: false };
  state.recentRounds.add(roundId);
  // An abort that was not confirmed within two rounds is forgotten.
  state.abortingBefore = state.aborting;
  state.aborting = new Set();
}

export function checkClosing(state: ScaleDownState, { roundId }: Message<'round.completed'>): void {
  if (!state.recentRounds.has(roundId)) refuse('unknown_id', 'roundId', 'a round that was opened', roundId);
}

export function closeRound(state: ScaleDownState, { roundId }: Message<'round.completed'>, ctx: Ctx): void {
  if (roundId === state.round?.roundId) endRound(state, 'round_completed', ctx);
  else late(roundId, 'round_closed', ctx);
}

/** Ends the round: asks for training GPUs back, and gives up a release under way. */
function endRound(state: ScaleDownState, code: 'round_completed' | 'round_replaced', ctx: Ctx): void {
  state.round = undefined;
  state.query = undefined;
  if (state.release?.phase === 'releasing') reclaim(state, { code: 'ended_before_release' }, ctx);
  else if (state.release?.phase === 'released') reclaim(state, { code }, ctx);
}

export function accepted(state: ScaleDownState, _: Message<'response.accepted'>, ctx: Ctx): void {
  if (state.config.progressUnit === 'responses') advance(state, ctx);
}

export function counted(state: ScaleDownState, { roundId }: Message<'prompt.counted'>, ctx: Ctx): void {
  if (state.config.progressUnit === 'prompts' && roundId === state.round?.roundId) advance(state, ctx);
}

/** Counts one more finished response or prompt; at a milestone, asks the host for the progress of the others. */
function advance(state: ScaleDownState, ctx: Ctx): void {
  const { round, release, topology } = state;
  if (round === undefined) return;
  round.finished += 1;
  if (topology.engines.length === 0) return;
  if (round.settled || state.query !== undefined || (release !== undefined && release.phase !== 'reclaiming')) return;
  const { finished, roundId } = round;
  const target = targetOf(state.config);
  const sinceLast = finished - round.evaluated;
  if (!isMilestone(state.config, finished / target, sinceLast / target)) return;
  round.evaluated = finished;
  round.fixed = true;
  if (state.config.trigger !== 'adaptive') round.settled = true;
  if (release !== undefined) {
    const reason = { code: 'not_returned', releaseId: release.releaseId } as const;
    ctx.emit({ type: 'scale-down.rejected', at: ctx.at, roundId, reason });
    return;
  }
  const queryId = mintedId(state.prefix, 'query-', state.nextId++);
  state.query = { queryId, roundId, finished, ended: new Set() };
  const reason = { code: 'milestone', finished, target, sinceLast } as const;
  ctx.emit({ type: 'progress.query', at: ctx.at, queryId, roundId, reason });
}

function isMilestone(config: ScaleDownState['config'], fraction: number, since: number): boolean {
  const { trigger, firstFraction, lastFraction, fractionStep } = config;
  if (trigger !== 'adaptive') return fraction >= trigger - slack;
  return fraction >= firstFraction - slack && fraction <= lastFraction + slack && since >= fractionStep - slack;
}

/** Refuses a report with an unknown engine. */
export function checkReport(state: ScaleDownState, { queryId, requests }: Message<'progress.reported'>): void {
  if (state.query?.queryId !== queryId) return checkMinted(state, 'queryId', queryId);
  const { engineIndexOf } = state.topology;
  // Reports list requests engine by engine, so most ids are the one before them.
  let known: string | undefined;
  for (let index = 0; index < requests.length; index += 1) {
    const { engineId } = requests[index]!;
    if (engineId === known) continue;
    if (!engineIndexOf.has(engineId)) assertEngine(state, engineId, `requests[${index}].engineId`);
    known = engineId;
  }
}

/** Decides on the report of the host. */
export function answered(state: ScaleDownState, event: Message<'progress.reported'>, ctx: Ctx): void {
  const { query } = state;
  if (query?.queryId !== event.queryId) {
    late(event.queryId, 'query_closed', ctx);
    return;
  }
  decide(state, query, event.requests, ctx);
  state.query = undefined;
}

type RejectReason = Message<'scale-down.rejected'>['reason'];

// So many choices of engines are tried before a milestone is given up.
const mostChoices = 4;

/** Returns the first choice of engines that leaves enough room; if there is none, the reason against the first choice. */
function firstThatFits(
  state: ScaleDownState,
  report: Report,
  progress: { finished: number; target: number },
): Plan | RejectReason {
  const { topology, config, status, columns } = state;
  const { engines } = topology;
  const isUp = (engineIndex: number): boolean => status[engineIndex] !== 'lost';
  const tokens = engines.map((_, engineIndex) => report.loads.kvTokens(engineIndex));
  const choose = (most: number) => chooseEngines(topology, { isUp, tokens }, most);
  const [first] = choose(1);
  if (first === undefined) return { code: 'no_partition', ...wantedGpus(topology, isUp) };
  const size = orderByEnd(columns, report.requests.length);
  const rows = columns.order.subarray(0, size);
  const curve = state[state.kind].curve();
  const outlook = new Outlook(curve, config.maxResponseTokens, report.loads.together(), rows, columns);
  const best = planFor(state, report, outlook, first, progress);
  // The set of targets does not depend on the number of requests.
  if (!('code' in best) || best.code === 'no_target') return best;
  for (const chosen of choose(mostChoices).slice(1)) {
    const plan = planFor(state, report, outlook, chosen, progress);
    if (!('code' in plan)) return plan;
  }
  return best;
}

/** Answers a report with `gpus.release` or `scale-down.rejected`. */
function decide(state: ScaleDownState, query: Query, requests: readonly RunningRequest[], ctx: Ctx): void {
  const { config } = state;
  const { engines } = state.topology;
  const report = readReport(state, requests);
  const progress = { finished: query.finished, target: targetOf(config) };
  const found = firstThatFits(state, report, progress);
  if ('code' in found) {
    ctx.emit({ type: 'scale-down.rejected', at: ctx.at, roundId: query.roundId, reason: found });
    return;
  }
  const { chosen, keep, open, moving, free, fullest } = found;
  const releaseId = mintedId(state.prefix, 'release-', state.nextId++);
  const { moves, migrations } = migrate(state, report, moving, { from: chosen, to: open });
  state.release = { releaseId, phase: 'releasing', engines: chosen, moves, free };
  ctx.emit({
    type: 'gpus.release',
    at: ctx.at,
    releaseId,
    roundId: query.roundId,
    release: chosen.map((engineIndex) => ({
      engineId: engines[engineIndex]!.engineId,
      gpuIds: [...engines[engineIndex]!.gpuIds],
    })),
    keep: keep.map((engineIndex) => engines[engineIndex]!.engineId),
    migrations,
    reason: { code: config.trigger === 'adaptive' ? 'fits' : 'fixed_fraction', ...progress, ...fullest },
  });
}

/**
 * Reads a report into the columns of the previous report, without requests that have ended since the query or whose engine is
 * lost. If only a few have ended, they are read like the others: finding them takes as long as reading all, and they raise the
 * projection only slightly.
 */
function readReport(state: ScaleDownState, requests: readonly RunningRequest[]): Report {
  const { status, columns } = state;
  const { engineIndexOf, engines } = state.topology;
  const { maxResponseTokens } = state.config;
  const { cells, kvTokens, generated } = columns.reserve(requests.length);
  const count = engines.length;
  const loads = new Loads(count, groupCount(maxResponseTokens));
  const ended = manyEnded(state, requests);
  // The very strings of the report are stored, because comparing a string with itself is fast.
  const engineIds: (string | undefined)[] = new Array(count).fill(undefined);
  // Reports list requests engine by engine, or take engines in turn, so the engine that last followed the previous one is tried
  // first.
  const after = new Int32Array(count);
  const lost = Uint8Array.from(status, (one) => (one === 'lost' ? 1 : 0));
  const someGone = ended !== undefined || status.includes('lost');
  let last = 0;
  for (let index = 0; index < requests.length; index += 1) {
    const { requestId, engineId, tokens, promptTokens } = requests[index]!;
    let engineIndex = after[last]!;
    if (engineIds[engineIndex] !== engineId) {
      // The bit operation tells the compiler that the value is always a whole number.
      engineIndex = engineIndexOf.get(engineId)! | 0;
      after[last] = engineIndex;
      engineIds[engineIndex] = engineId;
    }
    last = engineIndex;
    if (someGone && (lost[engineIndex] === 1 || ended?.has(requestId))) {
      cells[index] = -1;
      continue;
    }
    const group = groupOf(tokens, maxResponseTokens);
    const kv = promptTokens + tokens;
    cells[index] = (engineIndex << groupBits) + group;
    kvTokens[index] = kv;
    generated[index] = tokens < maxResponseTokens ? tokens : maxResponseTokens;
    loads.add(engineIndex, group, tokens, kv);
  }
  return { requests, columns, loads };
}

/** Ended requests count as few if they are at most one in so many. */
const few = 50;
const filterSize = 2 ** 16;

/**
 * Requests that have ended, or must end. For most requests, a filter already shows that they have not, without a look into the
 * sets.
 */
class Ended {
  readonly #sets: readonly ReadonlySet<string>[];
  readonly #hash: StringHash;
  readonly #filter = new Uint8Array(filterSize);

  constructor(sets: readonly ReadonlySet<string>[], hash: StringHash) {
    this.#sets = sets;
    this.#hash = hash;
    for (const ids of sets) for (const id of ids) this.#filter[hash.of(id) & (filterSize - 1)] = 1;
  }

  has(id: string): boolean {
    return this.#filter[this.#hash.of(id) & (filterSize - 1)] === 1 && this.#sets.some((ids) => ids.has(id));
  }
}

function manyEnded(state: ScaleDownState, requests: readonly RunningRequest[]): Ended | undefined {
  const sets = endedSets(state);
  let count = 0;
  for (const ids of sets) count += ids.size;
  if (count === 0 || count * few <= requests.length) return undefined;
  const hash = new StringHash(requests.length, (index) => requests[index]!.requestId);
  return new Ended(sets, hash);
}
