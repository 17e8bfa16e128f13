/// <reference lib="dom" />
/** Shows the state of knowledge after an event. */

import type { Moment } from '../../logs/job/log-view.ts';
import type { AskedGroup } from '../../logs/job/standing.ts';
import { spoken } from '../kit/durations.ts';
import { element, shownValue, timeText } from '../kit/elements.ts';
import { heldTable, idsCell, waitTable } from '../kit/held.ts';

/** The fields of a message, without those that are shown elsewhere. */
function fields(message: object, without: readonly string[]): HTMLElement {
  const entries = Object.entries(message).filter(([name]) => !without.includes(name));
  return element(
    'dl',
    'fields',
    ...entries.flatMap(([name, value]) => [element('dt', '', name), element('dd', '', shownValue(name, value))]),
  );
}

/** Shows the event and its decisions. */
export function eventSection({ seq, at, sinceSeconds, event, decisions, producer }: Moment): HTMLElement {
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

/** Shows unanswered commands by actor. */
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
  return waitTable(rows, 'awaited');
}

/** Shows standings and unanswered commands. */
export function standingSection({ standing, asked, notes }: Moment): HTMLElement {
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
