/** What the page of a running job may ask for. Each answer is bounded, however large the job is. */
import { randomUUID } from 'node:crypto';
import { refuse } from '../../errors.ts';
import { binSeconds } from '../../logs/job/bins.ts';
import type {
  Census,
  JobAnswer,
  RequestsAnswer,
  SessionAnswer,
  SessionItem,
  TimelineAnswer,
} from '../../logs/job/live-answers.ts';
import type { RpcServer } from '../../rpc/server.ts';
import type { Session } from '../../rpc/session/session.ts';
import type { Answer } from '../page-server.ts';
import { census } from './census.ts';
import type { Feed } from './feed.ts';
import type { SessionFeed } from './session-feed.ts';
import { loadOf, openOf, timesOf, upToNow, whyAnswer } from './session-view.ts';

/** Most sessions, rounds, deferred things, bars of requests, and characters of an id. */
const most = { sessions: 100, rounds: 64, deferred: 20, bars: 40, id: 2048 };
/**
 * A census is taken anew when it is this old, in seconds, and when so many times the time has passed that the processor took for it:
 * a machine that is busy with something else does not make it older.
 */
const censusAge = { least: 0.5, times: 100 };

function numberIn(query: URLSearchParams, name: string, usual: number, largest: number): number {
  const text = query.get(name);
  if (text === null) return usual;
  if (!/^\d{1,15}$/.test(text) || Number(text) > largest)
    refuse('invalid_input', name, `a whole number, at most ${largest}`, text);
  return Number(text);
}

function textIn(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name) ?? '';
  if (text.length > most.id) refuse('limit_exceeded', name, `at most ${most.id} characters`, text.length);
  return text === '' ? undefined : text;
}

/** Returns the answers, by their names. */
export function answersOf(server: RpcServer, feed: Feed, { watch }: { readonly watch: boolean }) {
  const [instance, startedAt] = [randomUUID(), feed.now()];
  const taken = new WeakMap<Session, { readonly census: Census; readonly at: number; readonly seconds: number }>();

  const found = (query: URLSearchParams): { session: Session; heard: SessionFeed } => {
    const session = server.sessions.get(textIn(query, 'session') ?? '');
    const heard = feed.heard(session)!;
    feed.watched(heard);
    upToNow(heard, feed);
    return { session, heard };
  };
  const itemOf = (session: Session): SessionItem => {
    const { id, policy, shadow, inFlight, backlog } = session;
    const heard = feed.heard(session)!;
    upToNow(heard, feed);
    const load = heard.view === undefined ? null : loadOf(heard.view, session.times);
    const { seq } = policy;
    return { session: id, policy: policy.id, seq, shadow, inFlight, backlog, refused: heard.refusedCount, load };
  };
  function* censusOf(session: Session, heard: SessionFeed): Generator<undefined, Census> {
    const before = taken.get(session);
    const age = before === undefined ? -1 : feed.now() - before.at;
    if (before !== undefined && age >= 0 && age < before.seconds) return before.census;
    const begun = process.cpuUsage();
    const { policy } = session;
    const asked = policy.definition.waits === undefined ? openOf(heard) : [];
    const made = yield* census(policy.holdings(), asked, timesOf(session, heard), session.now);
    const { user, system } = process.cpuUsage(begun);
    const took = (user + system) / 1e6;
    taken.set(session, { census: made, at: feed.now(), seconds: Math.max(censusAge.least, censusAge.times * took) });
    return made;
  }

  const job = (query: URLSearchParams): JobAnswer => {
    feed.watched();
    const { sessions: listed, next } = server.sessions.list(textIn(query, 'after'));
    const shown = listed.slice(0, most.sessions);
    return {
      ...{ version: server.version, server: instance, startedAt, now: feed.now(), watch },
      sessions: shown.flatMap(({ session, aside }) => (aside ? [] : [itemOf(server.sessions.get(session))])),
      count: server.sessions.size,
      next: shown.length < listed.length ? shown.at(-1)!.session : (next ?? null),
      connections: server.connections,
      refused: server.refusals.calls,
      closed: server.refusals.closed,
    };
  };
  function* session(query: URLSearchParams): Generator<undefined, SessionAnswer> {
    const { session, heard } = found(query);
    const { view, run, openedAt, earlier = 0, refusedKinds, refusedLast, notices } = heard;
    const { deliver, timers } = session;
    const one = yield* censusOf(session, heard);
    return {
      ...itemOf(session),
      ...one,
      ...{ run, deliver, timers, at: session.now, openedAt },
      followed:
        view?.begun === undefined
          ? null
          : {
              ...{ earlier, begun: view.begun, missed: view.missed, totals: view.totals },
              rounds: view.rounds.slice(-most.rounds),
              deferred: { count: view.deferred.all.size, oldest: view.deferred.oldest(most.deferred) },
            },
      refusedKinds: [...refusedKinds.values()],
      ...{ refusedLast, notices },
    };
  }
  const timeline = (query: URLSearchParams): TimelineAnswer => {
    const { heard } = found(query);
    const { view, run } = heard;
    const level = numberIn(query, 'level', 1, binSeconds.length - 1);
    const since = numberIn(query, 'since', 0, Number.MAX_SAFE_INTEGER);
    return view?.begun === undefined ? null : { ...view.timeline(level, since), run, missed: view.missed };
  };
  const requests = (query: URLSearchParams): RequestsAnswer => {
    const { view } = found(query).heard;
    return view?.begun === undefined ? null : { ...view.requests(most.bars, textIn(query, 'round')), at: view.at };
  };
  const why = (query: URLSearchParams) => {
    const { session, heard } = found(query);
    return whyAnswer(session, heard, textIn(query, 'id'), textIn(query, 'what'));
  };
  return { job, session, timeline, requests, why } satisfies Record<string, Answer>;
}
