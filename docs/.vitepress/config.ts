/** The site: every Markdown file stays where it is, and is a page. See `scripts/site` for which, where, and the sidebar. */
import { cpSync, existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress';
import { hasPlayground } from '../../scripts/site/apart.ts';
import { anchorOf, pageFiles, pageOf, root } from '../../scripts/site/pages.ts';
import { searchOptions } from '../../scripts/site/search.ts';
import { linkOf, sidebar } from '../../scripts/site/sidebar.ts';

/** Three engines, of which two have nothing to run any more. */
const icon =
  "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M1 2h14v3H1zM1 6.5h9v3H1zM1 11h5v3H1z' fill='%233874c8'/%3E%3C/svg%3E";
const files = new Set(pageFiles());
const base = process.env.ROLLFLEX_SITE_BASE ?? '/';
const apart = ['/api/', ...(hasPlayground() ? ['/playground/'] : [])];

/** Files that pages show to their readers, and that are no pages themselves: the site has copies. */
const copies = new Set<string>();
function copyOf(file: string, from: string): string {
  if (!existsSync(root + file)) throw new Error(`${from} leads to ${file}, which does not exist`);
  copies.add(file);
  return `/files/${file}.txt`;
}

/** Links between files are those of the repository; here they become those of pages. */
function pageLink(href: string, from: string): string {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const [path, anchor] = href.split('#') as [string, string?];
  const file = relative(root, join(dirname(from), path)).replaceAll('\\', '/');
  if (!files.has(file)) return copyOf(file, relative(root, from));
  return linkOf(file) + (anchor === undefined ? '' : `#${anchor}`);
}

const markdown: MarkdownOptions = {
  anchor: { slugify: anchorOf },
  config(md) {
    md.core.ruler.after('inline', 'rollflex-links', ({ tokens, env }) => {
      for (const token of tokens.flatMap((one) => one.children ?? [])) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null;
        if (href !== null) token.attrSet('href', pageLink(href, env.realPath ?? env.path));
      }
    });
  },
};

/** Parts that are made by others are no pages: their links must not be routed by this one. */
const theme: DefaultTheme.Config = {
  nav: [
    { text: 'Simulate', link: linkOf('docs/simulator.md') },
    { text: 'Embed', link: linkOf('docs/embedding.md') },
    { text: 'Python', link: linkOf('docs/python.md') },
    { text: 'Examples', link: linkOf('examples/README.md') },
    ...apart.map((link) => ({ text: link === '/api/' ? 'API' : 'Playground', link, target: '_self' })),
  ],
  sidebar: sidebar(apart).map((section) => ({
    ...section,
    items: section.items.map((one) =>
      apart.includes(one.link) ? { ...one, link: one.link, target: '_self' } : { ...one },
    ),
  })),
  outline: { level: [2, 3] },
  search: { provider: 'local', options: { miniSearch: searchOptions } },
  docFooter: { prev: 'Before', next: 'Next' },
  externalLinkIcon: true,
};

export default defineConfig({
  title: 'rollflex',
  description: 'Scheduling policies that make the reinforcement-learning phase of LLM training fast, and a simulator.',
  lang: 'en',
  base,
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${icon}` }]],
  srcDir: '..',
  srcExclude: [
    'docs/.vitepress/**',
    'README.md',
    // What a folder of the sources holds is read there.
    'src/!(mock-engine)/README.md',
    'test/!(wire)/**',
    'bench/**',
    'python/tests/**',
    'docs/api/**',
    'docs/playground/**',
    '.ci/**',
    'dist/**',
  ],
  rewrites: (file) => pageOf(file),
  outDir: './.vitepress/dist',
  cacheDir: './.vitepress/cache',
  // The index of the search is one chunk.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  lastUpdated: false,
  metaChunk: true,
  // Dead ones are an error; `check-links.ts` looks at anchors and at the parts that are not made of Markdown.
  ignoreDeadLinks: [/^\/(api|playground|files)\//],
  markdown,
  buildEnd({ outDir }) {
    for (const file of copies) cpSync(root + file, `${outDir}/files/${file}.txt`);
  },
  themeConfig: theme,
});
