/** Chooses the next response and worker while dispatches fail on a worker or on all of a kind: single tries, in turn. */
import { beginTry, type FaultDomain, mustWait } from '../../core/rollout/shared-faults.ts';
import { hasRoom, isSuspect, type Pool, type RewardState, type Sample, type Worker } from './state.ts';

/** With more suspects than this, the fault is in the workers and not in the responses. */
const mostSuspects = 8;

/** Whether no dispatch of a kind has failed lately, and no response is suspected. */
export const isUntroubled = ({ faults, suspects }: Pool): boolean => faults.isQuiet && suspects.size === 0;

/** Returns how many failures of a response are not judged yet. */
export const openFailures = ({ faults }: Pool, { requestId }: Sample): number => faults.countOpen(requestId);

/** Whether a suspected response is being computed. */
function suspectRuns({ suspects }: Pool): boolean {
  if (suspects.size > mostSuspects) return false;
  for (const { dispatch } of suspects) if (dispatch !== null) return true;
  return false;
}

/** Whether no other suspected response was being computed, so that the loss of the worker is this response's own fault. */
export function runsAlone({ suspects }: Pool, sample: Sample): boolean {
  if (!isSuspect(sample) || suspects.size > mostSuspects) return false;
  for (const one of suspects) if (one !== sample && one.dispatch !== null) return false;
  return true;
}

const wholeOf = ({ faults }: Pool): FaultDomain | undefined => faults.find({ scope: 'reward', id: null });
const domainOf = ({ pool: { faults }, id }: Worker): FaultDomain | undefined => faults.find({ scope: 'reward', id });
const isLessThan = (a: Sample, b: Sample | undefined): boolean => b === undefined || a.seq < b.seq;

/** Returns the next response to dispatch and its worker, if both exist. */
export function nextTry(state: RewardState, pool: Pool, at: number): { sample: Sample; worker: Worker } | undefined {
  const whole = wholeOf(pool);
  const isSuspended = whole?.suspension != null;
  const hasSuspect = suspectRuns(pool);
  for (const sample of isSuspended ? [pool.fresh.peek(), pool.parked.peek()] : inLine(pool, hasSuspect)) {
    if (sample === undefined || (isSuspect(sample) && hasSuspect)) continue;
    if (isSuspended && mustWait(whole, sample.requestId, at)) continue;
    const worker = workerFor(state, pool, sample, isSuspended, at);
    if (worker !== undefined) return { sample, worker };
  }
  return undefined;
}

/** Returns the candidates for the next dispatch: one response to dispatch again, in the order of requests, and one new response. */
function inLine({ again, doubtful, fresh }: Pool, hasSuspect: boolean): (Sample | undefined)[] {
  const suspect = hasSuspect ? undefined : doubtful.peek();
  const other = again.peek();
  const first = suspect !== undefined && isLessThan(suspect, other) ? suspect : other;
  const all = [first, first === suspect ? other : suspect, fresh.peek()];
  // A response that was not set aside tells more than one that was.
  return all.sort((a, b) => Number(a?.asideAt != null) - Number(b?.asideAt != null));
}

/**
 * Returns a worker: a suspended worker that is due for a single try, or the least loaded one; never the worker of the last
 * failure if others are free.
 */
function workerFor(
  state: RewardState,
  pool: Pool,
  sample: Sample,
  isSuspended: boolean,
  at: number,
): Worker | undefined {
  const open = leastLoaded(pool, sample);
  if (open !== undefined && isSuspended) return open;
  let due: Worker | undefined;
  for (const { id, suspension, tries } of pool.faults.domains) {
    if (id === null || suspension === null || tries.size > 0 || suspension.retryAt > at) continue;
    const worker = state.workers.get(id);
    if (worker === undefined || !hasRoom(worker)) continue;
    due ??= worker;
    if (worker.id !== sample.failedOn) return worker;
  }
  return open ?? due;
}

function leastLoaded({ open }: Pool, { failedOn }: Sample): Worker | undefined {
  const first = open.peek();
  if (first === undefined || first.id !== failedOn || open.size === 1) return first;
  open.remove(first);
  const second = open.peek();
  open.update(first);
  return second;
}

/** Notes that a response is dispatched. Returns the reason, if this is a single try, but for how long the response has waited. */
export function beginSingle(pool: Pool, sample: Sample, worker: Worker, dispatchId: string, at: number) {
  const domains = [wholeOf(pool), domainOf(worker)].filter((one) => one?.suspension != null) as FaultDomain[];
  const pauses = domains.map((one) => beginTry(one, dispatchId, sample.requestId, at));
  const [first] = domains;
  if (first !== undefined) {
    const { failures } = first;
    return { code: 'probe', ...pool.faults.named(first), failures, pauseSeconds: pauses[0]! } as const;
  }
  // A response that was set aside is tried again; otherwise it could wait for comparison on a worker that no other response
  // needs.
  if (sample.asideAt === null) return undefined;
  const where = { scope: 'reward', id: sample.failedOn } as const;
  const failures = pool.faults.find(where)?.failures ?? 0;
  return { code: 'probe', ...pool.faults.named(where), failures, pauseSeconds: at - sample.failedAt! } as const;
}
