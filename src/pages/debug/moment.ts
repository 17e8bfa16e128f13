/// <reference lib="dom" />
/** Shows what is known after an event. */

import type { Moment, WhyText } from '../../logs/job/log-view.ts';
import type { AskedGroup, StandingGroup } from '../../logs/job/standing.ts';
import { spoken } from '../kit/durations.ts';
import { element, idButton, shownValue, timeText } from '../kit/elements.ts';

/** The fields of a message, but for those that are shown elsewhere. */
function fields(message: object, without: readonly string[]): HTMLElement {
  const entries = Object.entries(message).filter(([name]) => !without.includes(name));
  return element(
    'dl',
    'fields',
    ...entries.flatMap(([name, value]) => [element('dt', '', name), element('dd', '', shownValue(name, value))]),
  );
}

/** The event, and what it led to. */
export function eventPart({ seq, at, sinceSeconds, event, decisions, producer }: Moment): HTMLElement {
  const when = `${timeText(at)}${sinceSeconds > 0 ? `, ${spoken(sinceSeconds)} after the event before it` : ''}`;
  const title = event === null ? (seq === 0 ? 'Before the first event' : 'The event is not in the log') : event.type;
  const head = element('h2', '', `${seq} `, element('span', 'type', title));
  const led = decisions.map(({ type, reason, ...rest }) => {
    const { code, ...numbers } = reason;
    return element(
      'li',
      '',
      element('h3', '', element('span', 'type', type), ' because of ', element('span', 'code', code)),
      fields(rest, ['at']),
      Object.keys(numbers).length === 0 ? undefined : fields(numbers, []),
    );
  });
  return element(
    'section',
    'panel',
    head,
    element('p', 'soft', `${when}${producer === null ? '' : `, from ${producer}`}`),
    event === null ? undefined : fields(event, ['type', 'at']),
    element(
      'h2',
      'second',
      decisions.length === 0
        ? 'It led to no decision'
        : decisions.length === 1
          ? 'It led to'
          : `It led to ${decisions.length} decisions`,
    ),
    decisions.length === 0 ? undefined : element('ol', 'decisions', ...led.slice(0, mostDecisions)),
    led.length > mostDecisions ? element('p', 'soft', `… and ${led.length - mostDecisions} more`) : undefined,
  );
}
const mostDecisions = 50;

const idsCell = (ids: readonly string[], count: number): HTMLElement => {
  const more = count > ids.length ? element('span', 'soft', `+${count - ids.length}`) : undefined;
  return element('td', '', element('div', 'ids', ...ids.map(idButton), more));
};

const nothing = (): HTMLElement => element('p', 'soft', 'Nothing.');
const tableOf = (rows: readonly HTMLElement[], first: string): HTMLElement => {
  const names = [first, 'oldest', ''].map((name) => element('th', '', name));
  const table = element('table', '', element('thead', '', element('tr', '', ...names)), element('tbody', '', ...rows));
  return element('div', 'scroll', table);
};

/** What is held, and where it stands. */
export function heldTable(standing: readonly StandingGroup[]): HTMLElement {
  const rows = standing.map(({ what, stands, count, ids, seconds }) =>
    element(
      'tr',
      '',
      element(
        'td',
        '',
        element('b', '', `${count} `),
        what,
        element('span', 'soft', `${count === 1 ? '' : ', each'} ${stands}`),
      ),
      element('td', 'time', seconds === undefined ? '' : spoken(seconds)),
      idsCell(ids, count),
    ),
  );
  return rows.length === 0 ? nothing() : tableOf(rows, 'held');
}

/** What was asked for, by who has to answer. */
export function askedTable(asked: readonly AskedGroup[]): HTMLElement {
  const rows = asked.map(({ answer, by, count, ids, seconds, overdue }) => {
    const isTimer = answer === 'timer.fired';
    const time = isTimer && seconds < 0 ? `in ${spoken(-seconds)}` : spoken(Math.max(0, seconds));
    return element(
      'tr',
      overdue ? 'overdue' : '',
      element(
        'td',
        '',
        element('b', '', `${count} `),
        answer,
        element('span', 'soft', by === undefined ? '' : ` of ${by}`),
      ),
      element('td', 'time', overdue ? `${time}, overdue` : time),
      idsCell(ids, count),
    );
  });
  return rows.length === 0 ? nothing() : tableOf(rows, 'awaited');
}

/** Where things stand, and what was asked for. */
export function standingPart({ standing, asked, notes }: Moment): HTMLElement {
  return element(
    'section',
    'panel',
    ...notes.map((note) => element('p', 'note', note)),
    element('h2', '', 'Asked for, not answered yet'),
    askedTable(asked),
    element('h2', 'second', 'What is held, and where it stands'),
    heldTable(standing),
  );
}

/** Why something waits. */
export function whyPart({ verdict, answer, notes, chain }: WhyText): HTMLElement {
  const lines = chain.join('\n').trim();
  const more =
    lines === ''
      ? undefined
      : element('details', '', element('summary', '', 'what is owed, and what led there'), pre(lines));
  return element(
    'div',
    `why ${verdict}`,
    element('p', 'answer', answer),
    ...notes.map((note) => element('p', 'note', note)),
    more,
  );
}

/** Lines whose texts the server has escaped. */
function pre(text: string): HTMLPreElement {
  const made = document.createElement('pre');
  made.textContent = text;
  return made;
}
