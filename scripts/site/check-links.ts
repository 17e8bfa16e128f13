/** Follows every link of a built site, anchors included, and finds what would be loaded from elsewhere. Reads files only. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What the pages of a folder lead to. */
export interface LinkReport {
  /** HTML files. */
  readonly pages: number;
  /** Links in them, to other sites included. */
  readonly links: number;
  /** Those that lead nowhere, each with its page. */
  readonly broken: readonly string[];
}

interface Page {
  readonly ids: ReadonlySet<string>;
  readonly links: readonly Link[];
}
interface Link {
  readonly target: string;
  /** It is loaded with the page, not followed by the reader. */
  readonly isLoaded: boolean;
}

const plain = (text: string): string =>
  text.replace(
    /&(amp|quot|lt|gt|#39|#x27);/g,
    (_, name: string) => ({ amp: '&', quot: '"', lt: '<', gt: '>', '#39': "'", '#x27': "'" })[name]!,
  );

/** Machines have written these pages: every attribute is in quotes, and none of their values has a `>` in it. */
export function readPage(html: string): Page {
  const ids = new Set<string>();
  const links: Link[] = [];
  const markup = html.replace(/<!--[\s\S]*?-->/g, '').replace(/(<(script|style)\b[^>]*>)[\s\S]*?<\/\2>/g, '$1');
  for (const [tag, name] of markup.matchAll(/<([a-z][\w-]*)\b[^>]*>/gi)) {
    for (const [, attribute, , double, single] of tag.matchAll(/\s(id|name|href|src)=("([^"]*)"|'([^']*)')/g)) {
      const value = plain(double ?? single ?? '');
      if (attribute === 'id' || (attribute === 'name' && name === 'a')) ids.add(value);
      else if (attribute !== 'name') links.push({ target: value, isLoaded: name !== 'a' });
    }
  }
  return { ids, links };
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

/** `folder` is served under `base`, which begins and ends with a slash. */
export function brokenLinks(folder: string, base: string): LinkReport {
  const names = (readdirSync(folder, { recursive: true, encoding: 'utf8' }) as string[]).sort();
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const pages = new Map(names.filter((name) => name.endsWith('.html')).map((name) => [name, readPage(read(name))]));
  const broken: string[] = [];
  let links = 0;

  const wrong = (from: string, { target, isLoaded }: Link): string | undefined => {
    if (target.startsWith('data:') || target.startsWith('mailto:')) return undefined;
    if (/^([a-z]+:|\/\/)/i.test(target)) {
      if (isLoaded) return 'is loaded from elsewhere';
      return URL.canParse(target) && new URL(target).hostname.includes('.') ? undefined : 'is no address';
    }
    const { pathname, hash } = new URL(target, `http://site${base}${from}`);
    if (!pathname.startsWith(base)) return `is outside ${base}`;
    const path = decodeURIComponent(pathname.slice(base.length));
    const file = [path, `${path}index.html`, `${path}.html`].find((one) => isFile(join(folder, one)));
    if (file === undefined) return 'leads to no file';
    const id = decodeURIComponent(hash.slice(1));
    const page = pages.get(file);
    // A viewer goes to the top where there is no such id by these names.
    if (id === '' || id === 'top' || page === undefined) return undefined;
    return page.ids.has(id) ? undefined : `leads to no anchor of ${file}`;
  };

  for (const [from, page] of pages) {
    for (const link of page.links) {
      links += 1;
      const what = wrong(from, link);
      if (what !== undefined) broken.push(`${from}: ${link.target} ${what}`);
    }
  }
  for (const name of names.filter((one) => one.endsWith('.css'))) {
    for (const [, target] of read(name).matchAll(/(?:url\(|@import )["']?(https?:[^"')\s]+|\/\/[^"')\s]+)/g)) {
      broken.push(`${relative('.', name)}: ${target} is loaded from elsewhere`);
    }
  }
  return { pages: pages.size, links, broken: [...new Set(broken)] };
}
