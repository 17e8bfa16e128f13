/** Settings in the hash of the URL: `#v=sync&t=castillo-7b&P=16&…`. */
import { didYouMean } from '../../../../src/core/ids/nearest.ts';
import { type Field, type Settings, schemaOf, usual } from './fields.ts';
import { type ViewId, viewIds, views } from './views.ts';

/** What of an address could not be used. */
export interface Problem {
  /** The field that it is of, if there is one. */
  readonly key?: string;
  readonly text: string;
}

/** What a hash says, and what of it could not be used. */
export interface FromHash {
  readonly view: ViewId;
  readonly settings: Settings;
  readonly problems: readonly Problem[];
}

/** The hash of settings, with its `#`. */
export function toHash(view: ViewId, settings: Settings): string {
  const { fields } = views[view];
  const pairs = Object.keys(fields).map((key) => [key, String(settings[key])]);
  return `#${new URLSearchParams([['v', view], ...pairs])}`;
}

const shown = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

/** Reads a hash. Whatever is wrong or missing in it gets its default; what is wrong is said. */
export function fromHash(hash: string): FromHash {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const problems: Problem[] = [];
  const [named, ...more] = params.getAll('v');
  const view = viewIds.find((id) => id === named) ?? 'sync';
  if (named !== undefined && named !== view) {
    const meant = didYouMean(named, viewIds);
    problems.push({ text: `v=${shown(named)}: expected one of ${viewIds.join(', ')}${meant}; sync is shown.` });
  }
  if (more.length > 0) problems.push({ text: 'v is given twice; the first counts.' });
  const fields: Readonly<Record<string, Field>> = views[view].fields;
  const settings: Record<string, number | string> = { ...usual(fields) };
  const seen = new Set<string>();
  for (const [key, text] of params) {
    if (key === 'v') continue;
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field === undefined) {
      const meant = didYouMean(key, ['v', ...Object.keys(fields)]);
      problems.push({ text: `${shown(key)}: no such setting${meant}; it is left out.` });
      continue;
    }
    if (seen.has(key)) {
      problems.push({ key, text: `${key} is given twice; the first counts.` });
      continue;
    }
    seen.add(key);
    const read = schemaOf(field).safeParse(text);
    if (read.success) settings[key] = read.data;
    else {
      const { message } = read.error.issues[0]!;
      problems.push({ key, text: `${key}=${shown(text)}: ${message}; ${field.usual} is used.` });
    }
  }
  return { view, settings, problems };
}
