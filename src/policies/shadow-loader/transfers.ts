/** Handles transfers that have failed or succeeded: what is charged to a slice, and from which nodes there are single tries only. */

import {
  type FaultDomain,
  itemsToSuspend,
  longestPauseSeconds,
  pauseAfter,
  takesTry,
  type Verdict,
  type Where,
} from '../../core/rollout/shared-faults.ts';
import { type Account, isBeyond, isSpent, suspendFailing, type TriesOf } from '../../core/rollout/tries.ts';
import { drop } from './samples.ts';
import type { Ctx } from './schema.ts';
import { endSlicePause, putOffSlice, sendAgain, transfersFrom, waitsInTurn, whole } from './slices.ts';
import type { LoaderState, Node, Slice } from './state.ts';

/** The place of a failed transfer. With a single node there is nothing to compare, so the node is not named. */
const whereOf = ({ nodes, transfers }: LoaderState, node: Node): Where =>
  node.active ? transfers.placeIn(transfersFrom(node), nodes.size > 1) : whole;

/** The domains of the nodes that take work. */
export function* activeDomains({ nodes }: LoaderState, domainOf: (node: Node) => Where): Generator<Where> {
  for (const node of nodes.values()) if (node.active) yield domainOf(node);
}

/** The failures of a slice, beside its budget; a slice is aside while they exceed it. */
const accountOf = ({ transfers, config }: LoaderState, { id, failures }: Slice): Account => ({
  failures,
  open: transfers.countOpen(id),
  budget: config.retry.transfer,
  asideAt: null,
});
const isAside = (state: LoaderState, slice: Slice): boolean => isBeyond(accountOf(state, slice));

/** Handles a rank that could not fetch a slice: the rank tries again after a pause. */
export function transferFault(state: LoaderState, slice: Slice, ctx: Ctx): void {
  const { transfers, config } = state;
  const node = slice.demand.sample.node!;
  slice.failed += 1;
  const failure = { item: slice.id, place: 0, kind: 'transfer', order: state.nextSend, isGood: false };
  transfers.failed({ ...whereOf(state, node), ...failure }, slice.id, ctx.at);
  transfers.keepLatest(failure, config.retry.transfer + 1);
  if (isOver(state, slice, ctx)) return;
  const seconds = isAside(state, slice) ? longestPauseSeconds : pauseAfter(slice.failed);
  if (transfers.find(whole)?.suspension != null) putOffSlice(state, slice, 0);
  else if (seconds === 0) sendAgain(state, slice, ctx);
  else putOffSlice(state, slice, ctx.at + seconds);
}

/** Notes that a rank has fetched a slice. */
export function transferred(state: LoaderState, slice: Slice, node: Node | null, ctx: Ctx): void {
  const { transfers, parked } = state;
  if (transfers.isQuiet) return;
  const where = node === null ? whole : transfersFrom(node);
  const { verdicts, hasRecovered } = transfers.succeeded(where, slice.id, slice.lastSend, ctx);
  transfers.forget(slice.id);
  for (const one of verdicts) judge(state, one, ctx);
  if (!hasRecovered) return;
  // Slices that are set aside are judged first, by this success or by later ones.
  for (const one of [...parked].filter((each) => isAside(state, each))) {
    endSlicePause(state, one);
    putOffSlice(state, one, ctx.at + longestPauseSeconds);
  }
}

/** Forgets the failures of transfers from a node that has left, because nothing can be compared with them. */
export function forgetTransfers(state: LoaderState, node: Node, ctx: Ctx): void {
  for (const one of state.transfers.removeDomain(transfersFrom(node), ctx)) judge(state, one, ctx);
}

function judge(state: LoaderState, { failure, isOwn }: Verdict, ctx: Ctx): void {
  const slice = state.slices.get(failure.item);
  if (slice === undefined) return;
  if (isOwn) slice.failures += 1;
  else slice.failed = Math.max(0, slice.failed - 1);
  // A slice in transit is judged by the end of its transfer.
  if (slice.pausedUntil === null || isOver(state, slice, ctx) || isOwn || isAside(state, slice)) return;
  endSlicePause(state, slice);
  putOffSlice(state, slice, 0);
}

function isOver(state: LoaderState, slice: Slice, ctx: Ctx): boolean {
  const { failures, demand } = slice;
  if (!isSpent(accountOf(state, slice))) return false;
  const { transfer: budget } = state.config.retry;
  drop(state, demand.sample, { code: 'transfer', failures, budget }, ctx);
  return true;
}

/** Follows every event: ends pauses, suspends transfers that fail in a row, and makes single tries in turn. */
export function settleTransfers(state: LoaderState, ctx: Ctx): void {
  const { transfers, slicePauses, parked } = state;
  if (!transfers.isQuiet) {
    transfers.dropTries(ctx.at, (_, id) => state.slices.get(id)?.sent !== true);
    suspendFailing(transfers, sliceTries, state, ctx);
  }
  for (let next = slicePauses.peek(); next !== undefined && next.pausedUntil! <= ctx.at; next = slicePauses.peek()) {
    endSlicePause(state, next);
    sendAgain(state, next, ctx);
  }
  const all = transfers.find(whole);
  if (all?.suspension != null && !takesTry(all, ctx.at)) return;
  for (let next = nextInTurn(parked, state, ctx.at); next !== undefined; next = nextInTurn(parked, state, ctx.at)) {
    endSlicePause(state, next);
    sendAgain(state, next, ctx);
  }
}

/** Returns the slice that was tried longest ago, among slices that need not wait. */
function nextInTurn(parked: ReadonlySet<Slice>, state: LoaderState, at: number): Slice | undefined {
  let first: Slice | undefined;
  for (const one of parked) {
    if (first !== undefined && (one.lastSend - first.lastSend || (one.id < first.id ? -1 : 1)) > 0) continue;
    if (!waitsInTurn(state, one, at)) first = one;
  }
  return first;
}

/** What is in transit. */
const sliceTries: TriesOf<LoaderState, Ctx> = {
  order: ({ nextSend }) => nextSend,
  inFlight,
  hasOther: (state, domain) => inFlight(state, domain) > 0,
  parts: (state) => activeDomains(state, transfersFrom),
  suspended(state, { id }) {
    if (id !== null) return;
    const { slicePauses } = state;
    for (let next = slicePauses.peek(); next !== undefined; next = slicePauses.peek()) {
      endSlicePause(state, next);
      putOffSlice(state, next, 0);
    }
  },
  judge,
};

/** Counts the slices in transit in a domain that have not failed there, up to the number that shows a shared fault. */
function inFlight({ slices }: LoaderState, { id, failing }: FaultDomain): number {
  let count = 0;
  for (const one of slices.values()) {
    const { node } = one.demand.sample;
    if (!one.sent || one.pausedUntil !== null || failing.has(one.id)) continue;
    if (id !== null && (node === null || transfersFrom(node).id !== id)) continue;
    if (++count === itemsToSuspend) break;
  }
  return count;
}

/** Returns the earliest time at which a put-off slice is fetched, in seconds. */
export function nextTransferAt({ transfers, slicePauses, parked }: LoaderState): number | undefined {
  const paused = slicePauses.peek()?.pausedUntil ?? undefined;
  const single = parked.size === 0 ? undefined : transfers.nextTryAt();
  return paused === undefined || single === undefined ? (paused ?? single) : Math.min(paused, single);
}
