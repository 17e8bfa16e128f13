/// <reference lib="dom" />
/** Shows what a policy holds, and why something waits. */
import type { WhyText } from '../../logs/job/log-view.ts';
import type { StandingGroup } from '../../logs/job/standing.ts';
import { spoken } from './durations.ts';
import { element } from './elements.ts';
import { idList, table } from './tables.ts';

/** A table of waiting things: kind, longest wait, and ids. */
export const waitTable = (rows: readonly HTMLElement[], first: string): HTMLElement =>
  rows.length === 0 ? element('p', 'soft', 'Nothing.') : table([first, 'oldest', ''], rows);

/** The cell with the ids of a group, and the size of the group. */
export const idsCell = (ids: readonly string[], count: number): HTMLElement =>
  element('td', '', idList(ids, count > ids.length ? `+${count - ids.length}` : ''));

/** A table of held things and their standings. */
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
  return waitTable(rows, 'held');
}

/** Why something waits. */
export function whySection({ verdict, answer, notes, chain }: WhyText): HTMLElement {
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

/** Lines of text that the server has escaped. */
function pre(text: string): HTMLPreElement {
  const made = document.createElement('pre');
  made.textContent = text;
  return made;
}
