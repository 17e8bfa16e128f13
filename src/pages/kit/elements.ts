/// <reference lib="dom" />
/** Elements of the page. Whatever comes from the log becomes text, with its control characters escaped. */
import { oneLine } from '../../core/ids/printable.ts';

type Child = Node | string | undefined;

/** Makes an element. Texts are escaped. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  name: string,
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (name !== '') made.className = name;
  for (const one of children) if (one !== undefined) made.append(typeof one === 'string' ? oneLine(one) : one);
  return made;
}

/** Returns the page element with this id. */
export const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

/** Asks for the key in place of the page, or shows the page. */
export function lock(isLocked: boolean): void {
  byId('locked').hidden = !isLocked;
  byId('view').hidden = isLocked;
}

/** A button that sends no form. */
export function button(name: string, text: string): HTMLButtonElement {
  const made = element('button', name, text);
  made.type = 'button';
  return made;
}

/** An option of a selection: its value and its label. */
export function option(value: string, label: string): HTMLOptionElement {
  const made = element('option', '', label);
  made.value = value;
  return made;
}

/** Fills an element again; unfolded elements in it stay unfolded. */
export function refill(element: HTMLElement, fill: () => void): void {
  const isOpen = element.querySelector('details')?.open === true;
  fill();
  const details = element.querySelector('details');
  if (details !== null) details.open = isOpen;
}

/** An id that can be asked about. */
export function idButton(id: string): HTMLButtonElement {
  const made = button('id', id);
  made.title = 'Why does it wait?';
  // The shown text is escaped; this attribute has the id itself.
  made.dataset.id = id;
  return made;
}

/** Writes a time of the session's clock; Unix time is shown as a date. */
export const timeText = (at: number): string =>
  at > 1e9 ? new Date(at * 1000).toISOString().replace('T', ' ').replace('Z', ' UTC') : `${Number(at.toFixed(3))} s`;

/** Most list values shown at once, and list length from which a list is folded. */
const [mostValues, foldedFrom] = [100, 5];

/** Shows a value of an event or a decision. Long lists are folded. */
export function shownValue(name: string, value: unknown): Node {
  if (typeof value === 'string') return isId(name) ? idButton(value) : element('span', 'text', value);
  if (typeof value !== 'object' || value === null) return element('span', 'number', String(value));
  const entries = Object.entries(value);
  const shown = (): Node[] => [
    ...entries.slice(0, mostValues).map(([key, one]) => {
      const item = element('li', '');
      if (!Array.isArray(value)) item.append(element('b', '', `${key} `));
      // The values of a list are named as the list.
      item.append(shownValue(Array.isArray(value) ? name.replace(/s$/, '') : key, one));
      return item;
    }),
    ...(entries.length > mostValues ? [element('li', 'more', `… and ${entries.length - mostValues} more`)] : []),
  ];
  if (!Array.isArray(value)) return element('ul', 'object', ...shown());
  if (entries.length === 0) return element('span', 'number', 'none');
  if (entries.length < foldedFrom) return element('ul', 'list', ...shown());
  const folded = element('details', 'list', element('summary', '', `${entries.length} of them`));
  folded.addEventListener(
    'toggle',
    () => folded.children.length === 1 && folded.append(element('ul', 'list', ...shown())),
  );
  return folded;
}

const isId = (name: string): boolean => /Ids?$/.test(name);
