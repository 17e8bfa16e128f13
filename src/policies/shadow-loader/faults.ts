/** Handles failed and successful tries: charges failures to samples or forgets them, and suspends nodes. */
import { Deadlines, onlyTimer } from '../../core/rollout/deadlines.ts';
import {
  type FaultDomain,
  itemsToSuspend,
  longestPauseSeconds,
  mustWait,
  type Verdict,
  type Where,
} from '../../core/rollout/shared-faults.ts';
import {
  type Account,
  afterFailure,
  afterVerdict,
  isSpent,
  isUncompared,
  notCompared,
  suspendFailing,
  type TriesOf,
} from '../../core/rollout/tries.ts';
import { reheap } from './memory.ts';
import { drop, requeue } from './samples.ts';
import type { Ctx } from './schema.ts';
import { whole } from './slices.ts';
import type { LoaderState, Node, Sample } from './state.ts';
import { activeDomains, forgetTransfers, nextTransferAt, settleTransfers } from './transfers.ts';

/** A sample under which so many nodes were lost is suspected; further losses count as its own. */
const lossesToSuspect = 3;
const domainOf = ({ id }: Node): Where => ({ scope: 'loader', id });

/** The place of a failed try. With a single node there is nothing to compare, so the node is not named. */
const whereOf = ({ nodes, faults }: LoaderState, node: Node): Where =>
  node.active ? faults.placeIn(domainOf(node), nodes.size > 1) : whole;

/** The failures of a sample on nodes, beside its budget. */
const accountOf = ({ faults, config: { retry } }: LoaderState, sample: Sample): Account => ({
  failures: sample.infrastructureFailures,
  open: faults.countOpen(sample.id),
  budget: retry.infrastructure,
  asideAt: sample.asideAt,
  giveUpSeconds: retry.giveUpSeconds,
});

/**
 * Handles a failed try on a node that holds nothing of the sample any more. The failure stays open until other tries show whose
 * it is.
 */
export function fault(
  state: LoaderState,
  sample: Sample,
  by: { readonly node: Node; readonly task: string; readonly cause: Sample['cause'] },
  ctx: Ctx,
): void {
  const { faults, config, nextTask: order } = state;
  const { id: item } = sample;
  sample.failed += 1;
  sample.failedAt = ctx.at;
  const failure = { ...whereOf(state, by.node), item, place: 0, kind: 'infrastructure', order, isGood: false };
  faults.failed(failure, by.task, ctx.at);
  faults.keepLatest(failure, config.retry.infrastructure + 1);
  goOn(state, sample, by.cause, ctx);
}

/** Charges a failure to its sample, which must hold no memory, and tries the sample again within its budget. */
export function charge(state: LoaderState, sample: Sample, cause: Sample['cause'], ctx: Ctx): void {
  sample.infrastructureFailures += 1;
  sample.status = 'waiting';
  if (isSpent(accountOf(state, sample))) dropOver(state, sample, ctx);
  else requeue(state, sample, cause);
}

/** Drops a sample whose proven failures exceed its budget. */
function dropOver(state: LoaderState, sample: Sample, ctx: Ctx): void {
  const { infrastructureFailures: failures } = sample;
  drop(state, sample, { code: 'infrastructure', failures, budget: state.config.retry.infrastructure }, ctx);
}

/**
 * Tries a sample again after a failure, within its budget. A sample beyond its budget is set aside until its failures are judged.
 */
function goOn(state: LoaderState, sample: Sample, cause: Sample['cause'], ctx: Ctx): void {
  sample.status = 'waiting';
  const account = accountOf(state, sample);
  const next = afterFailure(account, ctx.at);
  if (next === 'over') return dropOver(state, sample, ctx);
  if (next === 'not_compared') return drop(state, sample, notCompared(account, ctx.at), ctx);
  const { asideAt } = next;
  sample.asideAt = asideAt;
  const { giveUpSeconds = Number.POSITIVE_INFINITY } = state.config.retry;
  const seconds =
    asideAt === null
      ? state.faults.pauseBefore('loader', sample.failed)
      : Math.min(longestPauseSeconds, giveUpSeconds - (ctx.at - asideAt));
  requeue(state, sample, cause);
  if (seconds === 0) return;
  state.waiting.remove(sample);
  sample.status = 'paused';
  sample.pausedUntil = ctx.at + seconds;
  state.pauses.update(sample);
}

/** Notes that a node has preprocessed a sample, and charges or forgets earlier failures of other samples. */
export function succeeded(state: LoaderState, sample: Sample, node: Node, ctx: Ctx): void {
  const { faults } = state;
  sample.losses = 0;
  if (faults.isQuiet) return;
  const { verdicts, hasRecovered } = faults.succeeded(domainOf(node), sample.id, sample.lastTry, ctx);
  if (hasRecovered) {
    reheap(state, node);
    resume(state);
  }
  for (const one of verdicts) judge(state, one, ctx);
  faults.forget(sample.id);
  sample.asideAt = null;
}

function judge(state: LoaderState, { failure, isOwn }: Verdict, ctx: Ctx): void {
  const sample = state.samples.get(failure.item);
  if (sample === undefined) return;
  if (isOwn) sample.infrastructureFailures += 1;
  else sample.failed = Math.max(0, sample.failed - 1);
  // A sample that is being preprocessed is judged by the end of this try.
  if (sample.status !== 'waiting' && sample.status !== 'paused') return;
  const next = afterVerdict(accountOf(state, sample), isOwn);
  if (next === 'over') dropOver(state, sample, ctx);
  if (next !== 'again') return;
  sample.asideAt = null;
  if (sample.status === 'paused') endPause(state, sample);
  else state.waiting.update(sample);
}

/**
 * Tries samples again that a lost node has preprocessed. The loss costs a sample nothing, unless it was the only suspect and had
 * lost three nodes.
 */
export function nodeLostUnder(state: LoaderState, samples: readonly Sample[], ctx: Ctx): void {
  const suspects = samples.filter(({ losses }) => losses >= lossesToSuspect);
  for (const sample of samples) {
    sample.losses += 1;
    if (suspects.length === 1 && suspects[0] === sample) charge(state, sample, 'node_lost', ctx);
    else requeue(state, sample, 'node_lost');
  }
}

/** Forgets failures on a node that has left, because nothing can be compared with them. */
export function forgetNode(state: LoaderState, node: Node, ctx: Ctx): void {
  for (const one of state.faults.removeDomain(domainOf(node), ctx)) judge(state, one, ctx);
  forgetTransfers(state, node, ctx);
}

/** Whether a sample has to wait, since only single tries are made. */
export function waitsForSingle({ faults }: LoaderState, { id }: Sample, at: number): boolean {
  const domain = faults.isQuiet ? undefined : faults.find(whole);
  return domain !== undefined && mustWait(domain, id, at);
}

/** Returns a suspended node that is due for a single try, if the sample has room there. */
export function dueNode(
  state: LoaderState,
  sample: Sample,
  at: number,
  hasRoom: (node: Node) => boolean,
): Node | undefined {
  if (state.faults.isQuiet) return undefined;
  for (const id of state.faults.dueParts('loader', at)) {
    const node = state.nodes.get(id);
    if (node === undefined || (node === sample.avoid && state.open.size > 0)) continue;
    if ((node.slots === null || node.queued < node.slots) && hasRoom(node)) return node;
  }
  return undefined;
}

/** Notes that a try begins. Returns the reason if the try is a single one. */
export const beginSingle = ({ faults }: LoaderState, { task, id }: Sample, node: Node, at: number) =>
  faults.begin([whole, domainOf(node)], task!, id, at);

function endPause(state: LoaderState, sample: Sample): void {
  state.pauses.remove(sample);
  sample.pausedUntil = null;
  sample.status = 'waiting';
  state.waiting.update(sample);
  state.dirty = true;
}

/** Lets the retries of samples continue, except samples whose failures are not judged yet. */
function resume(state: LoaderState): void {
  const asides: Sample[] = [];
  for (let next = state.pauses.peek(); next !== undefined; next = state.pauses.peek()) {
    if (next.asideAt === null) endPause(state, next);
    else {
      state.pauses.remove(next);
      asides.push(next);
    }
  }
  for (const one of asides) state.pauses.update(one);
}

/** Ends pauses whose time is over, and drops samples that were set aside for as long as the configuration allows. */
function takePauses(state: LoaderState, ctx: Ctx): void {
  const { pauses } = state;
  for (let next = pauses.peek(); next !== undefined && next.pausedUntil! <= ctx.at; next = pauses.peek()) {
    endPause(state, next);
    const account = accountOf(state, next);
    if (isUncompared(account, ctx.at)) drop(state, next, notCompared(account, ctx.at), ctx);
  }
}

/** Follows every event: suspends nodes and ends what is due. */
export function settleFaults(state: LoaderState, ctx: Ctx): void {
  const { faults } = state;
  if (!faults.isQuiet) {
    state.dirty = true;
    faults.dropTries(ctx.at, (_, id) => !state.tasks.has(id));
    suspendNodes(state, ctx);
  }
  takePauses(state, ctx);
  settleTransfers(state, ctx);
}

/**
 * Suspends nodes, or all nodes, on which different samples fail in a row. Returns whether any were suspended, because the next
 * tries may then show other failures.
 */
export function suspendNodes(state: LoaderState, ctx: Ctx): boolean {
  const isAny = suspendFailing(state.faults, sampleTries, state, ctx);
  if (isAny) state.dirty = true;
  return isAny;
}

/** What is being tried on nodes. */
const sampleTries: TriesOf<LoaderState, Ctx> = {
  order: ({ nextTask }) => nextTask,
  inFlight: inFlightIn,
  hasOther,
  parts: (state) => activeDomains(state, domainOf),
  suspended(state, { id }) {
    const node = id === null ? undefined : state.nodes.get(id);
    if (node !== undefined) reheap(state, node);
  },
  judge,
};

function inFlightIn({ tasks, nodes }: LoaderState, { id }: FaultDomain): number {
  return id === null ? tasks.size : (nodes.get(id)?.queued ?? 0);
}

/** Whether a sample that has not failed in a domain is being preprocessed there, or is next in line. */
function hasOther(state: LoaderState, domain: FaultDomain): boolean {
  const { id, failing } = domain;
  if (failing.size >= itemsToSuspend) return false;
  let others = inFlightIn(state, domain);
  for (const item of failing.keys()) {
    const sample = state.samples.get(item);
    if (sample !== undefined && sample.task !== null && (id === null || sample.node!.id === id)) others -= 1;
  }
  const next = state.waiting.peek();
  if (others > 0 || next === undefined || failing.has(next.id)) return others > 0;
  return next.demands.length > 0 || next.step.order <= state.lastAhead;
}

/** Returns the time of the next single try, in seconds, if a sample waits for it. */
export function nextSingleAt({ faults, waiting }: LoaderState): number | undefined {
  return waiting.size === 0 ? undefined : faults.nextTryAt();
}

/** Single tries that were due, and could not be made, wait for the next event instead of a timer. */
export function dropDue({ faults, transfers }: LoaderState, at: number): void {
  faults.dropDue(at);
  transfers.dropDue(at);
}

/** Two kinds of deadlines: the ends of pauses before retries, and of pauses between single tries. */
export const pauses = new Deadlines<LoaderState>({
  ...onlyTimer,
  timerId: 'shadow-loader/pause',
  first: (state) => {
    const all = [state.pauses.peek()?.pausedUntil, nextTransferAt(state), nextSingleAt(state)];
    let first: number | undefined;
    for (const one of all) if (one != null && (first === undefined || one < first)) first = one;
    return first;
  },
  reason: () => ({ code: 'retry_pause', longestPauseSeconds }),
});
