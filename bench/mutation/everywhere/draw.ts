/** Mutants that all tests of `npm test` are tried on: drawn from some parts of the package, and found again in other versions of it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant as Made } from '@stryker-mutator/api/core';
import { type File, Instrumenter } from '@stryker-mutator/instrumenter';
// @ts-expect-error Stryker loads this file as it is: it has no types.
import { strykerPlugins } from '../plugins.mjs';

/** What is mutated; a file belongs to the first that it matches. */
export const areas: Readonly<Record<string, RegExp>> = {
  'speculative-admission': /^src\/policies\/speculative-admission\//,
  'long-prompt-queue': /^src\/policies\/long-prompt-queue\//,
  'reward-dispatch': /^src\/policies\/reward-dispatch\//,
  'gpu-scale-down': /^src\/policies\/gpu-scale-down\//,
  'sim/sweep': /^src\/sim\/sweep\//,
  'sim/advise': /^src\/sim\/advise\//,
  pages: /^src\/(sim\/report\/(report-)?client|cli\/(debug|dashboard)\/client\/)/,
  cli: /^src\/cli\//,
  rpc: /^src\/rpc\//,
};
const areaOf = (file: string): string | undefined => Object.keys(areas).find((name) => areas[name]!.test(file));

/** A change in one place, known by what stands there, whatever stands before it. */
export interface Mutant {
  readonly id: string;
  readonly area: string;
  readonly file: string;
  readonly line: number;
  readonly mutator: string;
  readonly before: string;
  readonly after: string;
  /** How many in this file are the same in all this, and come before it. */
  readonly nth: number;
}
type Described = Omit<Mutant, 'id' | 'area'>;

const flat = (code: string): string => code.replace(/\s+/g, ' ').trim();
const keyOf = ({ file, mutator, before, after, nth }: Described): string =>
  JSON.stringify([file, mutator, flat(before), flat(after), nth]);

const [prose] = strykerPlugins as readonly { readonly value: unknown }[];
const options = { plugins: null, excludedMutations: [], ignorers: [prose!.value], noHeader: true } as never;
const logger = { isDebugEnabled: () => false, debug() {}, info() {}, warn() {} } as never;

/** Has Stryker make its mutants, and place those that get an id. */
async function instrument(files: readonly File[], idOf: (made: Made) => string | undefined): Promise<readonly File[]> {
  const { _transform: transform } = new Instrumenter(logger) as unknown as { _transform: Transform };
  const placing: Transform = (ast, collector, context) => {
    const { collect } = collector;
    collector.collect = (...args) => {
      const mutant = collect.apply(collector, args);
      if (mutant.ignoreReason !== undefined) return mutant;
      const id = idOf(mutant.toApiMutant());
      if (id === undefined) mutant.ignoreReason = 'not drawn';
      else mutant.id = id;
      return mutant;
    };
    transform(ast, collector, context);
    collector.collect = collect;
  };
  const chosen = new Instrumenter(logger, undefined, undefined, placing as never);
  return (await chosen.instrument(files, options)).files;
}
/** What Stryker does with a file, as far as it is needed here; it says nothing of it in public. */
type Transform = (ast: unknown, collector: { collect: (...args: unknown[]) => Collected }, context: unknown) => void;
interface Collected {
  id: string;
  ignoreReason?: string;
  toApiMutant(): Made;
}

/** Lines and columns of Stryker are counted from 0 here. */
function codeAt(content: string, { start, end }: Made['location']): string {
  const lines = content.split('\n').slice(start.line, end.line + 1);
  // The end first: it may be in the line of the start.
  lines.push((lines.pop() ?? '').slice(0, end.column));
  lines.unshift((lines.shift() ?? '').slice(start.column));
  return lines.join('\n');
}

/** Describes the mutants of files in the order in which Stryker makes them. */
function describer(files: readonly File[]): (made: Made) => Described {
  const contents = new Map(files.map(({ name, content }) => [name, content]));
  const counts = new Map<string, number>();
  return ({ fileName: file, location, mutatorName: mutator, replacement: after }) => {
    const before = codeAt(contents.get(file) ?? '', location);
    const mutant = { file, line: location.start.line + 1, mutator, before, after };
    const same = keyOf({ ...mutant, nth: 0 });
    const nth = counts.get(same) ?? 0;
    counts.set(same, nth + 1);
    return { ...mutant, nth };
  };
}

/** The files of a clone that have mutants. */
export function sources(clone: string): File[] {
  const names = readdirSync(join(clone, 'src'), { recursive: true, encoding: 'utf8' }).map((name) => `src/${name}`);
  return names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('/arbitrary.ts') && areaOf(name) !== undefined)
    .sort()
    .map((name) => ({ name, content: readFileSync(join(clone, name), 'utf8'), mutate: true }));
}

/** Draws so many mutants of each area by a hash: the same for the same seed. */
export async function draw(files: readonly File[], each: number, seed: number): Promise<Mutant[]> {
  const describe = describer(files);
  const all: Described[] = [];
  await instrument(files, (made) => {
    all.push(describe(made));
    return undefined;
  });
  const rank = (one: Described): string =>
    createHash('sha256')
      .update(seed + keyOf(one))
      .digest('hex');
  const ranked = all.map((one) => [rank(one), one] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.keys(areas).flatMap((area) =>
    ranked
      .filter(([, { file }]) => areaOf(file) === area)
      .slice(0, each)
      .map(([, one], at) => ({ id: `${area}-${at + 1}`, area, ...one })),
  );
}

/** Puts mutants into the code. Returns the files that have some, and the ids of those that stand in it. */
export async function place(files: readonly File[], mutants: readonly Mutant[]) {
  const ids = new Map(mutants.map((one) => [keyOf(one), one.id]));
  const describe = describer(files);
  const placed = new Set<string>();
  const touched = new Set<string>();
  const result = await instrument(files, (made) => {
    const id = ids.get(keyOf(describe(made)));
    if (id !== undefined) {
      placed.add(id);
      touched.add(made.fileName);
    }
    return id;
  });
  return { files: result.filter(({ name }) => touched.has(name)), placed };
}
