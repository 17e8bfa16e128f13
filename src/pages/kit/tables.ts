/// <reference lib="dom" />
/** Tables and the content of their cells. */
import { element, idButton } from './elements.ts';

/** A table that scrolls separately if it is too wide. */
export function table(names: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  const head = element('thead', '', element('tr', '', ...names.map((name) => element('th', '', name))));
  return element('div', 'scroll', element('table', '', head, element('tbody', '', ...rows)));
}

/** Makes one cell per content. */
export const cells = (...contents: readonly (Node | string)[]): HTMLElement[] =>
  contents.map((one) => element('td', '', one));

/** Some of many ids, and the number of the others in words. */
export const idList = (ids: readonly string[], more = ''): HTMLElement =>
  element('div', 'ids', ...ids.map(idButton), more === '' ? undefined : element('span', 'soft', more));
