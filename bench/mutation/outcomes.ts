/** What became of the mutants of a definition, kept in `reports/mutation`, so that a stopped run goes on with the next one. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Where a definition lives. */
export type Kind = 'policies' | 'planners' | 'recipes';

/** What decides which mutants are drawn. */
export interface Draw {
  readonly mutants: number;
  readonly seed: number;
}

/** A mutant that no test failed for. */
export interface Survivor {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly mutator: string;
  /** The code that was there, and what stood in its place. */
  readonly before: string;
  readonly after: string;
  /** Whether any test runs this code. */
  readonly isCovered: boolean;
}

/** What became of those that were drawn. */
export interface Outcome {
  readonly id: string;
  readonly kind: Kind;
  /** All mutants of the definition. */
  readonly all: number;
  readonly drawn: number;
  readonly killed: number;
  /** Of those, by the recorded trace and by nothing else. */
  readonly byTraceAlone: number;
  /** Of those, since a test did not come to its end. */
  readonly endless: number;
  readonly survivors: readonly Survivor[];
  readonly seconds: number;
}

const folder = 'reports/mutation';
const fileOf = (id: string, { mutants, seed }: Draw): string => `${folder}/${id}-${mutants}-${seed}.json`;

/** What was kept of a definition for this draw. */
export function load(id: string, draw: Draw): Outcome | undefined {
  const file = fileOf(id, draw);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Outcome) : undefined;
}

/** Keeps it. */
export function save(outcome: Outcome, draw: Draw): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(outcome.id, draw), `${JSON.stringify(outcome, null, 2)}\n`);
}

/** Code as a line of a list. */
export const inOneLine = (code: string): string => {
  const line = code.replace(/\s+/g, ' ').trim();
  return line.length > 90 ? `${line.slice(0, 87)}...` : line;
};

/** The survivors, one a line. */
export function survivorsOf({ id, survivors }: Outcome): string {
  const lines = survivors.map(
    ({ file, line, column, before, after, isCovered }) =>
      `  ${file}:${line}:${column} ${inOneLine(before)} → ${inOneLine(after)}${isCovered ? '' : ' (no test runs it)'}`,
  );
  return [`${id}: ${survivors.length} survived`, ...lines].join('\n');
}
