/** What is known of one running session: its policy asked on the spot, with the times that were followed. */
import { given } from '../../core/collections/given.ts';
import type { OpenCommand } from '../../core/why/command-table.ts';
import { isUnasked } from '../../core/why/obligations.ts';
import { lateness } from '../../core/why/overdue.ts';
import { type KnownTimes, mostOwed, type OwedEvent, owedTo, type Why, type WhyAll } from '../../core/why/why.ts';
import { isPolicyError, refuse } from '../../errors.ts';
import { type Explanation, owedAt, verdictOf } from '../../logs/explain/explain.ts';
import { answerOf, chainText } from '../../logs/explain/text.ts';
import { actorName, type JobView } from '../../logs/job/job-view.ts';
import type { SessionLoad } from '../../logs/job/live-answers.ts';
import type { WhyText } from '../../logs/job/log-view.ts';
import type { Actor, Span } from '../../logs/job/spans.ts';
import type { Session } from '../../rpc/session/session.ts';
import type { FeedHost, SessionFeed } from './session-feed.ts';

/** Most of those who owe something that are named. */
const mostActors = 8;

/** The times of a session: those of its watchdog, or else those that were followed for the page. */
export function timesOf(session: Session, { view }: SessionFeed): KnownTimes {
  return { ...(session.times ?? (view && followedTimes(view))), at: session.now };
}

const followedTimes = ({ spans: { commands } }: JobView): KnownTimes => ({
  answeredBy: (event) => commands.answeredBy(event),
  usual: (type) => commands.usual(type),
  usuallyFiltered: () => commands.usuallyFiltered(),
});

/** Lets the time of a session go on since its last event: a job that hangs has none. */
export function upToNow({ view, heardAt }: SessionFeed, host: Pick<FeedHost, 'now'>): void {
  view?.upTo(view.heardTo + Math.max(0, host.now() - heardAt));
}

/** Returns what is owed, at a cost that does not grow with it. */
export function loadOf(view: JobView, times: KnownTimes | undefined): SessionLoad {
  const actors = [...view.spans.actors.values()].filter(({ who, open }) => who !== 'timer' && open.size > 0);
  const oldest = actors.map(({ open }) => open.peek()!);
  const isLate = ({ answer, from }: Span): boolean => {
    const usual = times?.usual?.(answer) ?? view.spans.commands.usual(answer);
    return lateness({ since: from, usual }, view.at) > 1;
  };
  return {
    owed: actors.slice(0, mostActors).map((one) => ({ by: actorName(one), count: one.open.size })),
    longestSeconds: Math.max(0, ...oldest.map(({ from }) => view.at - from)),
    overdue: oldest.some(isLate),
  };
}

/** Most milliseconds of a look at what a policy holds: no event may come in its middle. */
const longestLook = 25;

/**
 * Takes the steps of a look, and gives up before it holds up the events: by what it takes of the processor, since a machine that is
 * busy with something else does not make it longer. Throws `limit_exceeded`.
 */
function soon<T>(steps: Generator<undefined, T>): T {
  const [begun, processor] = [performance.now(), process.cpuUsage()];
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() - begun < longestLook) continue;
    const { user, system } = process.cpuUsage(processor);
    if (user + system < 1000 * longestLook) continue;
    const expected = `what is looked through in ${longestLook} ms: ask for a part of it, or use session.why`;
    refuse('limit_exceeded', 'id', expected, 'one that too much waits for');
  }
}

/** Says why something waits, or the whole session. Throws `unknown_id`, `limit_exceeded`. */
export function whyAnswer(session: Session, heard: SessionFeed, id: string | undefined, what?: string): WhyText {
  const { policy, now: at } = session;
  const times = timesOf(session, heard);
  const actor = id === undefined ? undefined : actorNamed(heard, id);
  const thing = id === undefined ? undefined : thingOf(session, times, id, what, actor);
  const found = thing ?? (actor === undefined ? soon(owedTo(policy.holdings(times))) : owedBy(actor, times));
  const owed = found.owed.map((one) => owedAt(one, at));
  const one: Explanation = {
    ...{ session: session.id, policy: policy.id, seq: policy.seq, at },
    asked: id === undefined ? undefined : { id, word: 'id', ...(thing === undefined ? undefined : { kinds: [] }) },
    verdict: verdictOf({ owed, ...given({ stalled: found.stalled }) }),
    standing: thing ?? (actor && { what: 'others', id: id!, stands: owesText(actor) }),
    through: thing?.through ?? [],
    ...{ owed, more: found.more, chain: [], notes: [], ...given({ stalled: found.stalled }) },
  };
  return { verdict: one.verdict, answer: answerOf(one).join(' '), notes: [], chain: chainText(one) };
}

const actorNamed = ({ view }: SessionFeed, id: string): Actor | undefined =>
  [...(view?.spans.actors.values() ?? [])].find(({ by }) => by === id);

/** Returns why a thing waits; `undefined` for an engine or a worker, which no policy holds. Throws `unknown_id`. */
function thingOf({ policy }: Session, times: KnownTimes, id: string, what: string | undefined, actor?: Actor) {
  try {
    return soon(policy.whyInSteps(id, what, times)) as Why;
  } catch (error) {
    if (actor !== undefined && isPolicyError(error) && error.code === 'unknown_id') return undefined;
    throw error;
  }
}

const owesText = ({ open: { size } }: Actor): string =>
  size === 0 ? 'owes nothing' : size === 1 ? 'owes one answer' : `owes ${size} answers`;

/** What an engine or a worker owes, as far as that was followed. */
function owedBy({ open, who, by }: Actor, times: KnownTimes): Omit<WhyAll, 'rounds'> {
  const owed: OwedEvent[] = [];
  for (let one = open.peek(); one !== undefined && owed.length < mostOwed; one = one.next ?? undefined) {
    const usual = times.usual?.(one.answer);
    const event = { type: one.answer, requestId: one.id };
    const named = by === undefined ? undefined : { by };
    owed.push({ who, ...named, event, since: one.from, ...(usual && { usual }) });
  }
  return { owed, more: open.size - owed.length };
}

/** What was asked for and is not answered, as far as it was followed. What hosts send unasked may not be awaited. */
export const openOf = ({ view }: SessionFeed): readonly OpenCommand[] =>
  view?.spans.commands.open.filter(({ type }) => !isUnasked(type)) ?? [];
