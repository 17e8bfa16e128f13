/// <reference lib="dom" />
/** The text panels of the page: who has to act, facts, rounds, deferred prompts, and refusals. */

import type { Deferred } from '../../logs/job/deferred.ts';
import type { Missed } from '../../logs/job/job-view.ts';
import type { JobAnswer, OwedGroup, SessionAnswer, SessionItem } from '../../logs/job/live-answers.ts';
import type { Round } from '../../logs/job/rounds.ts';
import { spoken } from '../kit/durations.ts';
import { button, element, idButton, timeText } from '../kit/elements.ts';
import { cells, idList, table } from '../kit/tables.ts';

const soft = (text: string): HTMLElement => element('p', 'soft', text);
const whole = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 0 });
const plural = (count: number, word: string): string => `${whole(count)} ${word}${count === 1 ? '' : 's'}`;

const ids = (some: readonly string[], count: number): HTMLElement =>
  idList(some, count > some.length && some.length > 0 ? `+${whole(count - some.length)}` : '');

/** Names an actor that owes something: `engine e2`, `the trainer`. */
const actor = ({ who, by }: Pick<OwedGroup, 'who' | 'by'>): HTMLElement =>
  by === undefined ? element('b', '', `the ${who}`) : element('b', '', `${who} `, idButton(by));

function waitText({ seconds, who }: OwedGroup): string {
  if (seconds === undefined) return 'since when is not known';
  if (who === 'timer') return seconds < 0 ? `due in ${spoken(-seconds)}` : `due for ${spoken(seconds)}`;
  return spoken(Math.max(0, seconds));
}

/** The sentence that says who has to act, and whether that is urgent. */
export function verdictSection({ owed, policy, shadow }: SessionAnswer): HTMLElement {
  const [first] = owed;
  if (first === undefined) return element('p', 'why idle', `Nobody owes anything to ${policy}.`);
  const late = owed.reduce((sum, one) => sum + one.late, 0);
  const count = first.count === 1 ? first.answer : `${whole(first.count)} ${first.answer}`;
  const words = [
    actor(first),
    ` owes ${count}`,
    first.seconds === undefined ? '' : `, the oldest for ${waitText(first)}`,
  ];
  if (late > 0)
    return element('p', 'why stuck', ...words, `: ${late === 1 ? 'that is' : `${whole(late)} answers are`} overdue.`);
  const isTimer = first.who === 'timer';
  const said = isTimer
    ? [`Only timers run, ${waitText(first)}.`]
    : ['Nothing is overdue. The oldest wait: ', ...words, '.'];
  return element(
    'p',
    'why waits',
    ...said,
    shadow ? ' The host decides by itself (shadow mode): what is asked here is not carried out.' : '',
  );
}

/** Lists the actors that have to act, group by group. */
export function owedTable({ owed, isCut }: SessionAnswer): HTMLElement {
  const rows = owed.map((one) =>
    element(
      'tr',
      one.overdue ? 'overdue' : '',
      element('td', '', actor(one)),
      element('td', '', element('b', '', `${whole(one.count)} `), one.answer),
      element('td', 'time', `${waitText(one)}${one.overdue ? `, ${whole(one.late)} overdue` : ''}`),
      element('td', '', ids(one.ids, one.count)),
    ),
  );
  const note = isCut ? soft('The session holds more than was gone through: these are the first of it.') : undefined;
  return element('div', '', rows.length === 0 ? undefined : table(['who', 'owes', 'the oldest', ''], rows), note);
}

/** A table of all sessions, if there are several. */
export function sessionTable({ sessions, count, next }: JobAnswer, selected: string): HTMLElement {
  const loadText = ({ load }: SessionItem): HTMLElement =>
    load === null
      ? element('span', 'soft', 'not followed: open it')
      : element(
          'span',
          load.overdue ? 'late' : '',
          load.owed.length === 0
            ? 'nothing'
            : load.owed.map(({ by, count: some }) => `${by} ${whole(some)}`).join(', '),
          load.owed.length === 0 ? '' : `; ${spoken(load.longestSeconds)}${load.overdue ? ', overdue' : ''}`,
        );
  const rows = sessions.map((one) => {
    const open = button('', one.session);
    const row = element('tr', '', ...cells(open, one.policy, loadText(one), `${whole(one.seq)}`, whole(one.inFlight)));
    row.dataset.session = one.session;
    row.setAttribute('aria-selected', String(one.session === selected));
    return row;
  });
  const more =
    next === null ? undefined : soft(`The first ${sessions.length} of ${whole(count)} sessions, by their ids.`);
  return element(
    'div',
    '',
    element('h2', '', plural(count, 'session')),
    table(['session', 'policy', 'waits for (followed)', 'events', 'ids in flight'], rows),
    more,
  );
}

/** Rates per second, measured between two answers of the server. */
export interface Rates {
  readonly events: number | undefined;
  readonly decisions: number | undefined;
  readonly completed: number | undefined;
  readonly tokens: number | undefined;
}

/** The most important numbers. */
export function factSections(answer: SessionAnswer, rates: Rates): HTMLElement[] {
  const { seq, inFlight, refused, backlog, followed } = answer;
  const rate = (value: number | undefined): string =>
    value === undefined ? '–' : value >= 100 || value === 0 ? whole(value) : value.toPrecision(2);
  const facts: [string, string, string?][] = [
    [rate(rates.events), `events/s, ${whole(seq)} in all`],
    [rate(rates.decisions), 'decisions/s'],
    [rate(rates.completed), 'completed responses/s'],
    [rate(rates.tokens), 'tokens/s of responses'],
    [whole(inFlight), 'ids in flight'],
    [whole(followed?.deferred.count ?? 0), 'put off'],
    [whole(refused), 'refused events', refused > 0 ? 'late' : ''],
    ...(backlog > 0 ? [[whole(backlog), 'decisions not acknowledged'] as [string, string]] : []),
  ];
  return facts.map(([value, name, look = '']) =>
    element('div', '', element('b', look, value), element('span', '', name)),
  );
}

/** Says what the charts lack, and why. */
export function lacksText({ followed, at }: SessionAnswer, { watch }: JobAnswer): string {
  if (followed === null) return 'No event has come since this session is followed.';
  const { earlier, begun, missed } = followed;
  const lost = missed.reduce((sum, one: Missed) => sum + one.events, 0);
  return [
    earlier > 0
      ? `The charts begin ${spoken(Math.max(0, at - begun))} ago: ${plural(earlier, 'event')} came before, and what these began is not drawn.`
      : '',
    lost > 0
      ? `${plural(lost, 'event')} came too fast to be followed: the charts have a gap there, and what was open in it is not drawn.`
      : '',
    watch ? '' : 'Without --watch, usual times are those since this session is followed.',
  ].join(' ');
}

/** Most rounds in the table of rounds. */
const mostRounds = 8;

/** The rounds, the latest first. */
export function roundTable(rounds: readonly Round[], at: number): HTMLElement {
  if (rounds.length === 0) return element('div', '', element('h2', '', 'Rounds'), soft('No event has named a round.'));
  const rows = rounds
    .slice(-mostRounds)
    .reverse()
    .map(({ id, kind, from, end, marks, launched, ended, tokens, prompts }) => {
      const [last] = Object.entries(marks).sort(([, a], [, b]) => b - a);
      const counts = (some: Readonly<Record<string, number>>) =>
        Object.entries(some)
          .map(([name, count]) => `${whole(count)} ${name}`)
          .join(', ');
      const requests = [launched > 0 ? `${whole(launched)} launched` : '', counts(ended)].filter(Boolean).join('; ');
      return element(
        'tr',
        '',
        ...cells(
          element('span', '', idButton(id), kind === undefined ? '' : ` ${kind}`),
          last === undefined ? '' : `${last[0]}, ${spoken(Math.max(0, at - last[1]))} ago`,
          end === undefined ? `${spoken(Math.max(0, at - from))} so far` : spoken(end - from),
          requests,
          counts(prompts),
          tokens > 0 ? whole(tokens) : '',
        ),
      );
    });
  const names = ['round', 'last step', 'rollout', 'requests', 'prompts', 'tokens'];
  return element('div', '', element('h2', '', 'Rounds as they go'), table(names, rows));
}

/** The prompts that were deferred first. */
export function deferredSection(count: number, oldest: readonly Deferred[], at: number): HTMLElement {
  const title = element('h2', '', `Put off for later: ${whole(count)}`);
  if (count === 0) return element('div', '', title, soft('No prompt or request waits for a later round.'));
  const rows = oldest.map(({ id, what, since, times, roundId }) =>
    element(
      'tr',
      '',
      ...cells(
        element('span', '', `${what} `, idButton(id)),
        spoken(Math.max(0, at - since)),
        times === undefined ? '' : `${times} ×`,
        roundId === undefined ? '' : idButton(roundId),
      ),
    ),
  );
  const more = count > oldest.length ? soft(`… and ${whole(count - oldest.length)} more`) : undefined;
  return element('div', '', title, table(['the oldest', 'waits', 'put off', 'last in'], rows), more);
}

/** Refused events, and refused calls of the whole server. */
export function refusedSection(one: SessionAnswer, job: JobAnswer): HTMLElement {
  const { refused, refusedKinds, refusedLast } = one;
  const title = element('h2', '', `Refused events: ${whole(refused)}`);
  const kinds = refusedKinds.map(({ code, path, count }) =>
    element('tr', '', ...cells(element('span', 'code', code), path, whole(count))),
  );
  const last = [...refusedLast]
    .reverse()
    .map(({ time, code, message, producer }) =>
      element('tr', '', ...cells(timeText(time), element('span', 'code', code), message, producer ?? '')),
    );
  const calls = job.refused.map(
    ({ code, limit, count }) => `${code}${limit === undefined ? '' : ` (${limit})`} ${whole(count)}`,
  );
  const closed = Object.entries(job.closed).flatMap(([why, count]) => (count > 0 ? [`${why} ${whole(count)}`] : []));
  return element(
    'div',
    '',
    title,
    kinds.length === 0 ? soft('None of this session.') : table(['code', 'path', 'count'], kinds),
    last.length === 0 ? undefined : element('h2', 'second', 'The last of them'),
    last.length === 0 ? undefined : table(['when', 'code', 'what was wrong', 'from'], last),
    soft(
      `Refused calls of the whole server: ${calls.length === 0 ? 'none' : calls.join(', ')}.${closed.length === 0 ? '' : ` Closed connections: ${closed.join(', ')}.`}`,
    ),
  );
}
