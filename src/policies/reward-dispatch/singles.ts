/** Which response is dispatched next, and where, while dispatches fail on a worker or on all of a kind: single tries, in turn. */
import { beginTry, type FaultDomain, mustWait } from '../../core/rollout/shared-faults.ts';
import { hasRoom, isSuspect, type Pool, type RewardState, type Sample, type Worker } from './state.ts';

/** With more suspects than this the workers are at fault, and not the responses. */
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

/** Whether a response is the only suspected one that was being computed, so that the loss of its worker is its own fault. */
export function runsAlone({ suspects }: Pool, sample: Sample): boolean {
  if (!isSuspect(sample) || suspects.size > mostSuspects) return false;
  for (const one of suspects) if (one !== sample && one.dispatch !== null) return false;
  return true;
}

const wholeOf = ({ faults }: Pool): FaultDomain | undefined => faults.find({ scope: 'reward', id: null });
const domainOf = ({ pool: { faults }, id }: Worker): FaultDomain | undefined => faults.find({ scope: 'reward', id });
const isLessThan = (a: Sample, b: Sample | undefined): boolean => b === undefined || a.seq < b.seq;

/** Returns the next response to dispatch, and its worker, if there is one. */
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

/** Returns the responses that may be next: one to dispatch again, in the order of requests, and one that is new. */
function inLine({ again, doubtful, fresh }: Pool, hasSuspect: boolean): (Sample | undefined)[] {
  const suspect = hasSuspect ? undefined : doubtful.peek();
  const other = again.peek();
  const first = suspect !== undefined && isLessThan(suspect, other) ? suspect : other;
  const all = [first, first === suspect ? other : suspect, fresh.peek()];
  // Another tells more than one that was set aside.
  return all.sort((a, b) => Number(a?.asideAt != null) - Number(b?.asideAt != null));
}

/** Returns a worker: one that is suspended and due for a single try, or the least loaded one; never, if others are free, the one of the last failure. */
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
  // One that was set aside is tried again, lest it waits for others on a worker that no other needs.
  if (sample.asideAt === null) return undefined;
  const where = { scope: 'reward', id: sample.failedOn } as const;
  const failures = pool.faults.find(where)?.failures ?? 0;
  return { code: 'probe', ...pool.faults.named(where), failures, pauseSeconds: at - sample.failedAt! } as const;
}
