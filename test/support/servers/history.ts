/** A history: what clients called and were told, and whether sessions can have done that. */
import { isDeepStrictEqual } from 'node:util';
import { linearize } from './linearizability.ts';
import { type SessionCall, SessionModel, type SessionState } from './session-model.ts';

/** A call of a connection, with its answer if that came. */
export interface Recorded extends SessionCall {
  /** The connection, if its calls are carried out in order. */
  readonly connection?: string;
}

/** Decisions that a connection was sent. */
export interface Streamed {
  readonly session: string;
  /** When the subscription was asked for, and when the decisions came. */
  readonly from: number;
  readonly to: number;
  /** Number of the first. */
  readonly first: number;
  readonly decisions: readonly unknown[];
}

/** What was checked. */
export interface Checked {
  sessions: number;
  /** Calls, and times when streamed decisions came. */
  calls: number;
  lost: number;
  streamed: number;
  /** Sessions whose order was neither found nor refuted. */
  undecided: number;
  /** States that the searches looked at: of all, and of the largest. */
  looked: number;
  largest: number;
}

export const nothingChecked = (): Checked => ({
  sessions: 0,
  calls: 0,
  lost: 0,
  streamed: 0,
  undecided: 0,
  looked: 0,
  largest: 0,
});

const changing = ['session.open', 'session.send', 'session.close'];
const modelled = [...changing, 'session.snapshot', 'session.subscribe', 'listed'];

/**
 * Checks what there is of one session; adds to the counts. Throws where it cannot have given these answers.
 *
 * @param most - states to look at, each some milliseconds; beyond them the session counts as undecided. Without a number, many more
 *   are looked at, and it throws
 */
export function checkSession(
  session: string,
  recorded: readonly Recorded[],
  streamed: readonly Streamed[],
  counts: Checked,
  most?: number,
): void {
  const decisions = decisionsOf(session, streamed);
  checkAcknowledged(recorded);
  const calls = [
    ...callsOf(recorded),
    ...streamed.map(({ from, to, first, decisions: { length } }): SessionCall => {
      const params = { session, decisionSeq: first + length - 1 };
      return { method: 'seen', params, from, to, result: { isThere: true } };
    }),
  ];
  const ends = calls
    .filter(({ method, params }) => method === 'session.close' || params.onExisting === 'replace')
    .map(({ from }) => from);
  const found = linearize(
    calls,
    new SessionModel(decisions, { sendsAgain: !calls.some(({ isPart }) => isPart), end: Math.min(...ends) }),
    most,
  );
  counts.sessions += 1;
  counts.calls += calls.length;
  counts.lost += calls.filter(({ isLost }) => isLost).length;
  counts.streamed += decisions.size;
  counts.looked += found.looked;
  counts.largest = Math.max(counts.largest, found.looked);
  if (found.result === 'linearizable') return;
  if (found.result === 'undecided' && most !== undefined) {
    counts.undecided += 1;
    return;
  }
  const producers = found.next.map(({ params }) => params.producer);
  const before = found.order.filter(
    (one, at) => at > found.order.length - 9 || producers.includes(one.params.producer),
  );
  throw new Error(
    [
      `session ${session}: ${found.result} after ${found.order.length} of ${calls.length} calls, ${found.looked} states`,
      stateText(found.state),
      ...before.map(textOf),
      'none of these can come next:',
      ...found.next.map(textOf),
    ].join('\n'),
  );
}

/** The calls of a session that say something of it, each after the one before it on its connection. */
function callsOf(recorded: readonly Recorded[]): SessionCall[] {
  const calls: SessionCall[] = [];
  const latest = new Map<string, SessionCall>();
  for (const { connection, ...call } of recorded) {
    const methods = call.isLost ? changing : modelled;
    if (!methods.includes(call.method)) continue;
    const made = { ...call, after: latest.get(connection ?? '') };
    if (connection !== undefined && !call.isLost) latest.set(connection, made);
    calls.push(made);
  }
  return calls;
}

/** What a list of all sessions says of one. */
export function listed(session: string, { params: _, result, ...call }: Recorded): Recorded {
  const found = result?.sessions.find((one: { session: string }) => one.session === session);
  return { ...call, method: 'listed', params: { session }, result: found === undefined ? null : { seq: found.seq } };
}

/** The decisions of a session by their numbers. Throws where one was sent in two forms. */
function decisionsOf(session: string, streamed: readonly Streamed[]): Map<number, unknown> {
  const found = new Map<number, unknown>();
  for (const { first, decisions } of streamed) {
    for (const [at, decision] of decisions.entries()) {
      const known = found.get(first + at);
      if (known === undefined) found.set(first + at, decision);
      else if (!isDeepStrictEqual(known, decision))
        throw new Error(
          `session ${session}: decision ${first + at} was sent as ${JSON.stringify(known)} and as ${JSON.stringify(decision)}`,
        );
    }
  }
  return found;
}

/** What is acknowledged only grows, and never beyond what somebody has acknowledged. */
function checkAcknowledged(calls: readonly Recorded[]): void {
  const said = calls.filter(({ result }) => typeof result?.acknowledged === 'number');
  const asked = calls.flatMap(({ method, params, from }) => {
    const upTo =
      method === 'session.ack' ? params.decisionSeq : method === 'session.subscribe' ? params.after : undefined;
    return upTo === undefined ? [] : [{ upTo, from }];
  });
  for (const { result, from, to } of said) {
    const { acknowledged } = result;
    const earlier = said.filter((one) => one.to < from && one.result.acknowledged > acknowledged);
    if (earlier.length > 0)
      throw new Error(`acknowledged: ${earlier[0]!.result.acknowledged}, and later ${acknowledged}`);
    if (acknowledged === 0 || asked.some((one) => one.from < to && one.upTo >= acknowledged)) continue;
    throw new Error(`acknowledged: ${acknowledged}, which nobody has`);
  }
}

const short = (value: unknown): string => (JSON.stringify(value) ?? '').slice(0, 300);

function textOf({ method, params, from, to, isLost, result, error }: SessionCall): string {
  const { events, session: _, ...rest } = params;
  const what = `${method} ${short(rest)}${events === undefined ? '' : ` ${events.length} events ${short(events)}`}`;
  // Of a snapshot, what says how far the session was: its state is long.
  const { snapshot } = (result ?? {}) as { readonly snapshot?: { readonly seq: number } };
  const told = snapshot === undefined ? (result ?? error) : { ...result, snapshot: { seq: snapshot.seq } };
  return `${from}-${to} ${what} -> ${isLost ? 'lost' : short(told)}`;
}

function stateText(state: SessionState): string {
  if (state === 'none') return 'no session';
  const producers = Object.entries(state.producers).map(([name, { nextSeq }]) => `${name} ${nextSeq}`);
  return `seq ${state.seq}, last decision ${state.last}, producers ${producers.join(', ')}`;
}
