/**
 * What tests may cost: the share of a run in percent, of the seconds of all its files. Shares, and not seconds, so that they hold on
 * any machine. The table in CONTRIBUTING.md is made of them, and the order of a run.
 */

/** A kind of tests. */
export interface Kind {
  readonly name: string;
  /** What belongs to it, for readers. */
  readonly where: string;
  readonly has: (file: string) => boolean;
  /** Percent of a run that a file may take, unless it is one of {@link dear}. */
  readonly percentEach: number;
  /** Percent of a run that all files of the kind may take. */
  readonly percentInAll: number;
}

const within =
  (...folders: readonly string[]) =>
  (file: string) =>
    folders.some((one) => file.startsWith(`${one}/`));

/** All kinds; a file is of the first that has it. */
export const kinds: readonly Kind[] = [
  {
    name: 'browser',
    where: '`*-browser.test.ts`',
    has: (file) => file.endsWith('-browser.test.ts'),
    percentEach: 3,
    percentInAll: 20,
  },
  { name: 'docs', where: '`docs`', has: within('docs'), percentEach: 1, percentInAll: 16 },
  {
    name: 'product',
    where: '`unit/cli`, `package`',
    has: within('unit/cli', 'package'),
    percentEach: 2,
    percentInAll: 18,
  },
  { name: 'wire', where: '`wire`', has: within('wire'), percentEach: 5, percentInAll: 5 },
  { name: 'law', where: '`laws`', has: within('laws'), percentEach: 2, percentInAll: 11 },
  { name: 'property', where: '`property`', has: within('property'), percentEach: 2, percentInAll: 16 },
  { name: 'unit', where: 'all others', has: () => true, percentEach: 2, percentInAll: 36 },
];

/** Files that may take more than their kind allows to each, with their percent of a run. */
export const dear: Readonly<Record<string, number>> = {
  'docs/commands.test.ts': 5,
  'docs/snippets.test.ts': 3,
  'laws/registry.test.ts': 4,
  'package/dashboard-browser.test.ts': 5,
  'package/playground-browser.test.ts': 4,
  'unit/cli/advise.test.ts': 3,
  'unit/cli/sweep.test.ts': 3,
  'unit/rpc/plans.test.ts': 3,
};

export const kindOf = (file: string): Kind => kinds.find(({ has }) => has(file))!;

/** Percent of a run that a file may take; its path is from `test`. */
export const budgetOf = (file: string): number => dear[file] ?? kindOf(file).percentEach;

/** What is over its budget by so much is a fault. */
const tolerance = 1.5;
const shown = 10;

/** A file, and the seconds that it took. */
export interface Took {
  readonly file: string;
  readonly seconds: number;
}

const sum = (all: readonly Took[]): number => all.reduce((total, { seconds }) => total + seconds, 0);

/** Compares a whole run with the budgets: its dearest files and its kinds as a text, and what is over its budget by half or more. */
export function judged(files: readonly Took[]): { readonly text: string; readonly faults: readonly string[] } {
  const total = Math.max(sum(files), Number.MIN_VALUE);
  const percent = (seconds: number) => (100 * seconds) / total;
  const line = (name: string, seconds: number, budget: number) => {
    const share = percent(seconds).toFixed(1).padStart(5);
    return `${seconds.toFixed(1).padStart(7)} s ${share} % of ${String(budget).padStart(2)} %  ${name}`;
  };
  const dearest = [...files].sort((a, b) => b.seconds - a.seconds).slice(0, shown);
  const byKind = kinds.map((kind) => ({ kind, seconds: sum(files.filter(({ file }) => kindOf(file) === kind)) }));
  const lines = [
    `The ${dearest.length} dearest files of ${total.toFixed(0)} s, with their budgets (test/budgets.ts):`,
    ...dearest.map(({ file, seconds }) => line(file, seconds, budgetOf(file))),
    ...byKind.map(({ kind, seconds }) => line(`${kind.name}, in all`, seconds, kind.percentInAll)),
  ];
  const isOver = (seconds: number, budget: number) => percent(seconds) > tolerance * budget;
  const faults = [
    ...files.filter(({ file, seconds }) => isOver(seconds, budgetOf(file))).map(({ file }) => file),
    ...byKind.filter(({ kind, seconds }) => isOver(seconds, kind.percentInAll)).map(({ kind }) => `kind ${kind.name}`),
  ];
  return { text: lines.join('\n'), faults };
}
