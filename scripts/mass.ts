/**
 * Prints hand-written lines and files by folder, beside the budgets in CONTRIBUTING.md: `npm run mass`. Exits with 1 where one is passed
 * by more than 5 %.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Files that people write: code of every language. */
const code = /\.(ts|mts|cts|js|mjs|cjs|py|vue|sh|css)$/;
/** What is generated, recorded, or kept as data. */
const notByHand = /^(src\/generated|python\/src\/rollflex\/models|python\/src\/rollflex\/_typed\.py)/;
const tolerance = 1.05;

export interface Mass {
  readonly folder: string;
  readonly lines: number;
  readonly files: number;
}

/** A row of the table: a folder, the most lines that it may have, and why. */
export interface Budget {
  readonly folder: string;
  readonly lines: number;
}

/** Counts what git knows, by the first of these folders that a file is in. */
export function massOf(folders: readonly string[]): Mass[] {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
    .split('\0')
    .filter((file) => code.test(file) && !notByHand.test(file));
  return folders.map((folder) => {
    const here = files.filter((file) => file.startsWith(`${folder}/`));
    const lines = here.reduce((sum, file) => sum + readFileSync(root + file, 'utf8').split('\n').length - 1, 0);
    return { folder, lines, files: here.length };
  });
}

const row = /^\| `([^`]+)` +\| +([\d,]+) +\|/gm;

/** The table in CONTRIBUTING.md. */
export function budgets(): Budget[] {
  const text = readFileSync(`${root}CONTRIBUTING.md`, 'utf8');
  const table = text.slice(text.indexOf('<!-- mass -->'), text.indexOf('<!-- /mass -->'));
  return [...table.matchAll(row)].map(([, folder, lines]) => ({
    folder: folder!,
    lines: Number(lines!.replaceAll(',', '')),
  }));
}

/** Those that have more than their budget allows. */
export const over = (all: readonly Budget[], masses: readonly Mass[]): readonly Mass[] =>
  masses.filter(({ lines }, index) => lines > tolerance * all[index]!.lines);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const all = budgets();
  const masses = massOf(all.map(({ folder }) => folder));
  for (const [index, { folder, lines, files }] of masses.entries()) {
    const most = all[index]!.lines;
    const share = Math.round((100 * lines) / most);
    console.log(
      `${folder.padEnd(18)} ${String(lines).padStart(7)} lines ${String(files).padStart(5)} files  ${share} % of ${most}`,
    );
  }
  for (const { folder, lines } of over(all, masses)) {
    console.error(`${folder} has ${lines} lines: delete something, or say in CONTRIBUTING.md why it needs more`);
    process.exitCode = 1;
  }
}
