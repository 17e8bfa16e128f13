/**
 * What a page pays for what it imports from the built package, minified and gzipped. Writes the table of `docs/package.md`;
 * with `--check` it changes nothing, and fails where the table is off by more than 5 %. Either way it fails where
 * something is over its budget, uses Node, or brings along another policy, planner or recipe than is said here.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import * as rollflex from '../src/index.ts';
import { registry } from '../src/registry.ts';
import { table } from './tables/schema-table.ts';

interface Entry {
  /** What is imported from `rollflex`, where it is no definition. */
  readonly names?: string;
  /** The definition that it is about, with `create` or `runPlanner`, or what it is called. */
  readonly id?: string;
  readonly title?: string;
  /** In KB of 1024 bytes, gzipped, without zod and eventemitter3: raised by hand, where it is worth it. */
  readonly budget: number;
  /** Other definitions that come along, all of them. */
  readonly brings?: readonly string[];
}
const own = 'definePolicy, definePlanner, defineRecipe, defineEvent, defineDecision, create, PolicyError';
const tail = ['long-prompt-queue', 'speculative-admission'];
const pools = ['complete-group-pipelining', 'frontier-group-dispatch', 'group-assembly'];
const rollpackerParts =
  'adaptive-tp gpu-scale-down group-assembly judge-offload reward-dispatch round-composition sandbox-timeout stream-training';
const entries: readonly Entry[] = [
  {
    names: '*',
    title: 'everything, or the `registry`',
    budget: 228,
    brings: registry.definitions.map((one) => one.id),
  },
  { names: own, title: 'for a policy of your own: `definePolicy`, `create`, …', budget: 13.1 },
  { names: `${own}, createRegistry`, title: 'the same with `createRegistry`', budget: 42 },
  { id: 'long-prompt-queue', budget: 18 },
  { id: 'sandbox-timeout', budget: 15 },
  { id: 'round-composition', budget: 22 },
  { id: 'prompt-selection', budget: 27 },
  { id: 'group-assembly', budget: 18 },
  { id: 'reward-dispatch', budget: 29 },
  { id: 'staleness-pacing', budget: 21 },
  { id: 'program-scheduling', budget: 27 },
  { id: 'divided-rollout', budget: 23 },
  { id: 'complete-group-pipelining', budget: 22 },
  { id: 'adaptive-tp', budget: 23 },
  { id: 'frontier-group-dispatch', budget: 24 },
  { id: 'stream-training', budget: 24 },
  { id: 'shadow-loader', budget: 32 },
  { id: 'speculative-admission', budget: 43 },
  { id: 'gpu-scale-down', budget: 25 },
  { id: 'environment-slots', budget: 21 },
  { id: 'watchdog', budget: 35 },
  { id: 'grpo-advantages', budget: 6 },
  { id: 'gradient-renormalization', budget: 6 },
  { id: 'judge-offload', budget: 7 },
  { id: 'draft-budget', budget: 6 },
  { id: 'micro-batches', budget: 11 },
  { id: 'flex-ulysses', budget: 31 },
  { id: 'tail-batching', budget: 62, brings: [...tail, 'prompt-selection'] },
  {
    id: 'lossless-tail',
    budget: 68,
    brings: ['prompt-selection', 'round-composition', 'speculative-admission', 'divided-rollout'],
  },
  {
    id: 'agentic-rollout',
    budget: 73,
    brings: [...tail, 'round-composition', 'program-scheduling', 'environment-slots'],
  },
  { id: 'rolloutpipe', budget: 43, brings: pools },
  { id: 'flexrl', budget: 64, brings: ['flex-ulysses', 'shadow-loader'] },
  {
    id: 'tail-pipelining',
    budget: 70,
    brings: [...pools, ...tail],
  },
  { id: 'rollpacker', budget: 108, brings: [...tail, ...rollpackerParts.split(' ')] },
];

const root = fileURLToPath(new URL('..', import.meta.url));
const problems: string[] = [];
const kb = (bytes: number): string => (bytes / 1024).toFixed(1);

/** Definitions that are in a bundle: each says its id. */
const idsIn = (code: string): string[] =>
  registry.definitions.map(({ id }) => id).filter((id) => new RegExp(`\\bid:["'\`]${id}["'\`]`).test(code));

/** The constant of a definition, which the entry `rollflex/<id>` and the root export. */
const constantOf = (id: string): string => Object.entries(rollflex).find(([, one]) => one === registry.get(id))![0];

/** What a page of a user would say. */
function imports({ id, names }: Entry): string {
  if (id === undefined) return `export ${names === '*' ? names : `{ ${names} }`} from './dist/index.js';`;
  const start = registry.get(id).kind === 'planner' ? 'runPlanner' : 'create';
  return `export { ${start} } from './dist/index.js'; export { ${constantOf(id)} } from './dist/definitions/${id}.js';`;
}

interface Measured {
  readonly code: string;
  readonly gzipped: number;
  readonly ids: readonly string[];
}

/** Measures every page, each bundled by itself: one build parses what they share once. */
async function measure(external: string[]): Promise<readonly Measured[]> {
  const { outputFiles } = await build({
    entryPoints: Object.fromEntries(entries.map((_, index) => [String(index), `page:${index}`])),
    plugins: [pages],
    outdir: root,
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    external,
    logLevel: 'error',
  });
  const codes = new Map(outputFiles.map(({ path, text }) => [basename(path, '.js'), text]));
  return entries.map((_, index) => {
    const code = codes.get(String(index))!;
    return { code, gzipped: gzipSync(code, { level: 9 }).length, ids: idsIn(code).sort() };
  });
}
/** The pages, by their places in the list. */
const pages: Plugin = {
  name: 'pages',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^page:/ }, ({ path }) => ({ path: path.replace('page:', ''), namespace: 'page' }));
    onLoad({ filter: /.*/, namespace: 'page' }, ({ path }) => ({
      contents: imports(entries[Number(path)]!),
      resolveDir: root,
    }));
  },
};

const folders = { policy: 'policies', planner: 'planners', recipe: 'recipes' } as const;
function titled({ id, title = '' }: Entry): string {
  return id === undefined ? title : `[\`${id}\`](../src/${folders[registry.get(id).kind]}/${id}/README.md)`;
}

const rows: (readonly [title: string, alone: string, withAll: string, budget: string])[] = [];
const alone = await measure(['zod', 'eventemitter3']);
const withAll = await measure([]);
for (const [index, entry] of entries.entries()) {
  const { id, budget, brings = [] } = entry;
  const { code, gzipped, ids } = alone[index]!;
  const all = withAll[index]!;
  const title = titled(entry);
  const expected = [...(id === undefined ? [] : [id]), ...brings].sort();
  if (ids.join() !== expected.join()) problems.push(`${title} brings [${ids}]; expected [${expected}]`);
  if (gzipped > budget * 1024) problems.push(`${title} has ${kb(gzipped)} KB; its budget is ${budget} KB`);
  // In quotes: `node:` is also a field of some events.
  for (const [found] of code.matchAll(/["'`]node:[a-z_/]+/g)) problems.push(`${title} uses ${found.slice(1)}`);
  rows.push([title, kb(gzipped), kb(all.gzipped), String(budget)]);
}
for (const { id } of registry.definitions) {
  if (!entries.some((entry) => entry.id === id)) problems.push(`${id} has no budget`);
}

const page = join(root, 'docs/package.md');
const text = readFileSync(page, 'utf8');
const isNear = (one: string, other: string | undefined): boolean =>
  Math.abs(Number(one) / Number(other?.trim()) - 1) <= 0.05;
/** The row as it is written there, where it is near enough. */
function kept([title, alone, withAll, budget]: (typeof rows)[number]): readonly string[] {
  const [, , before, beforeAll] =
    text
      .split('\n')
      .find((line) => line.startsWith(`| ${title} `))
      ?.split('|') ?? [];
  const isKept = isNear(alone, before) && isNear(withAll, beforeAll);
  return isKept ? [title, before!.trim(), beforeAll!.trim(), budget] : [title, alone, withAll, budget];
}
const head = ['Import', 'KB gzipped', 'KB with zod', 'Budget'];
const marks = /(?<=<!-- sizes -->\n)[\s\S]*(?=\n<!-- \/sizes -->)/;
const renewed = text.replace(marks, () => `\n${table(head, rows.map(kept))}\n`);
if (!marks.test(text)) problems.push('docs/package.md has no place for the table');
if (process.argv.includes('--check')) {
  if (renewed !== text) problems.push('docs/package.md is off by more than 5 % (npm run sizes)');
} else {
  writeFileSync(page, renewed);
}
console.log(table(head, rows));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
