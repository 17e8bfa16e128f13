/// <reference lib="dom" />
/** Settings and the hash of the page's address, in step with each other. */
import { type Field, type Settings, usual } from './settings/fields.ts';
import { type FromHash, fromHash, toHash } from './settings/hash.ts';
import { type ViewId, views } from './settings/views.ts';

/** Browsers allow few changes of the address a second. */
const quietMilliseconds = 300;
let pending: ReturnType<typeof setTimeout> | undefined;

/** Puts settings into the address, once they have come to rest. */
export function writeAddress(view: ViewId, settings: Settings): void {
  clearTimeout(pending);
  pending = setTimeout(() => {
    const hash = toHash(view, settings);
    if (hash !== location.hash) history.replaceState(null, '', hash);
  }, quietMilliseconds);
}

/** The address of these settings. */
export const addressOf = (view: ViewId, settings: Settings): string =>
  `${location.href.replace(/#.*$/, '')}${toHash(view, settings)}`;

/** What the address says. A trace of one's own is not in it: where it is named and not loaded, the default is shown. */
export function readAddress(isLoaded: boolean): FromHash {
  const read = fromHash(location.hash);
  // Links of other tools have settings there: whoever writes one by hand may, too.
  const misplaced = { text: `${location.search}: settings stand behind #, not behind ?; these are left out.` };
  const found = location.search === '' ? read : { ...read, problems: [misplaced, ...read.problems] };
  if (found.settings.t !== 'own' || isLoaded) return found;
  const fields: Readonly<Record<string, Field>> = views[found.view].fields;
  const { t } = usual(fields);
  const text = `t=own: a trace of one's own is not part of a link. Load it below; until then ${t} is shown.`;
  return { ...found, settings: { ...found.settings, t: t! }, problems: [...found.problems, { key: 't', text }] };
}
