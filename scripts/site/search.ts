/** How the search of the site reads pages and queries, and whether it finds what it must. */
import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import MiniSearch, { type Options } from 'minisearch';

/**
 * Options that vitepress takes. It sends these functions to the browser as text, so that they may name nothing outside
 * themselves.
 */
export const searchOptions = {
  options: {
    /** Identifiers such as `out_of_order` and `request.abort` are found as a whole and by their parts. */
    tokenize: (text: string): string[] => {
      const words = text.split(/[^\p{L}\p{N}_.-]+/u).map((one) => one.replace(/^[.-]+|[.-]+$/g, ''));
      return words.flatMap((word) => {
        const parts = word.split(/[_.-]+/).filter((part) => part !== '');
        return parts.length > 1 ? [word, ...parts] : parts;
      });
    },
    /** Words without meaning of their own, and the endings of English. */
    processTerm: (term: string): string | null => {
      const lower = term.toLowerCase();
      const empty =
        'a an and are as at be by do does for from how i in is it my of on or that the to what when which with';
      if (empty.split(' ').includes(lower)) return null;
      return lower.length > 4 ? lower.replace(/(ing|ed|es|s)$/, '') : lower;
    },
  },
  searchOptions: {
    combineWith: 'AND' as const,
    fuzzy: (term: string): number => (term.length > 5 ? 0.15 : 0),
    prefix: true,
    boost: { title: 6, titles: 2, text: 1 },
    /** Guides before lists, and lists before the history. */
    boostDocument: (id: string): number => {
      if (/\/(changelog|contributing|package|tested)\./.test(id)) return 0.2;
      return /\/(embedding|python|errors|metrics|your-job|cli)\./.test(id) ? 3 : 1;
    },
  },
};

/** What a reader asks, and the page that answers. */
export const questions: readonly (readonly [query: string, page: string])[] = [
  ['how to abort requests', '/embedding.html'],
  ['out_of_order', '/errors.html'],
  ['install', '/embedding.html'],
  ['install python', '/python.html'],
  ['restore a snapshot', '/embedding.html'],
  ['kept tokens', '/metrics.html'],
  ['simulate my dump', '/your-job.html'],
  ['request.abort', '/vocabulary.html'],
  ['verl', '/adapters/verl.html'],
];

interface Found {
  readonly id: string;
}

/** The questions whose page is not among the first three results, each with what was found instead. */
export async function notFound(site: string): Promise<string[]> {
  const chunks = `${site}/assets/chunks/`;
  const chunk = readdirSync(chunks).find((one) => one.includes('localSearchIndex'));
  if (chunk === undefined) return [`${chunks} has no index of the search`];
  const { default: json } = (await import(pathToFileURL(chunks + chunk).href)) as { default: string };
  const index = MiniSearch.loadJSON<Found>(json, {
    fields: ['title', 'titles', 'text'],
    ...searchOptions.options,
    searchOptions: searchOptions.searchOptions as unknown as Options['searchOptions'],
  } as Options<Found>);
  return questions.flatMap(([query, page]) => {
    const pages = [...new Set(index.search(query).map(({ id }) => String(id).replace(/#.*/, '')))].slice(0, 3);
    return pages.some((one) => one.endsWith(page)) ? [] : [`"${query}" finds ${pages.join(', ')}, not ${page}`];
  });
}
