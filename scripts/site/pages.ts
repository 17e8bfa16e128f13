/** Which Markdown files are pages of the site, where each of them stands there, and how its headings are called. */
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The repository, with a slash at the end. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

const folders = ['docs', 'docs/adapters', 'src/mock-engine', 'python', 'examples', 'examples/traces', 'test/wire'];
const foldersOfFolders = ['src/policies', 'src/planners', 'src/recipes', 'examples'];
const outside = new Set(['docs/README.md']);

function markdownIn(folder: string): string[] {
  if (!existsSync(root + folder)) return [];
  const names = readdirSync(root + folder).filter((name) => name.endsWith('.md'));
  return names.map((name) => `${folder}/${name}`);
}

function subfolders(folder: string): string[] {
  const entries = readdirSync(root + folder, { withFileTypes: true });
  return entries.filter((one) => one.isDirectory()).map((one) => `${folder}/${one.name}`);
}

/** Every Markdown file that is a page, from the root of the repository, in order of their names. */
export function pageFiles(): string[] {
  const all = new Set([...folders, ...foldersOfFolders.flatMap(subfolders)].flatMap(markdownIn));
  return [...all, 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].filter((file) => !outside.has(file)).sort();
}

/** Where a file stands in the site: `src/policies/adaptive-tp/README.md` as `policies/adaptive-tp.md`. */
export function pageOf(file: string): string {
  if (file === 'python/README.md') return 'python-package.md';
  if (file === 'src/mock-engine/README.md') return 'mock-engine-source.md';
  if (file === 'test/wire/README.md') return 'wire-cases.md';
  if (file === 'examples/README.md') return 'examples/index.md';
  return file
    .replace(/^(docs|src)\//, '')
    .replace(/\/README\.md$/, '.md')
    .replace(/^(CHANGELOG|CONTRIBUTING|SECURITY|examples\/traces\/PROVENANCE)\.md$/, (path) => path.toLowerCase());
}

/** The anchor of a heading, as GitHub makes it, so that a link with one is right in both places. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}
