/** Paths of the user: files, folders, patterns, and `-`. Files are sorted by the numbers in their names. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, relative, sep } from 'node:path';
import { refuse } from '../../../errors.ts';
import { type Candidate, inFolder, isPattern, matching } from './folders.ts';
import { FileNotes } from './notes.ts';

/** A file, or standard input. */
export interface InputFile {
  /** The name that the user gave, for errors. */
  readonly name: string;
  /** The training step, from the name of the file: its lines must have the same, where they have one. */
  readonly step?: number;
  /** The training step, from a name that may mean something else: for rows without a step. */
  readonly likelyStep?: number;
  /** Bytes on the disk, 0 for standard input. */
  readonly bytes: number;
}

const byNumber = new Intl.Collator('en', { numeric: true });
/**
 * `12.jsonl` of verl, `train_data_step12.jsonl` of NeMo-RL, `rollout_dump_data.step_12.jsonl` of ROLL. A number of eight digits is a
 * date.
 */
const stepName = /(?:^|step_?)(\d{1,7})\.jsonl(\.(gz|zst))?$/;
const likelyStepName = /(?:^|[._-])(?:global_?)?(?:step|iter|iteration)[_-]?(\d{1,7})(?=[._-])/i;
/** Folders of AReaL are versions of the weights: `12`; others are `step_12`, `global_step_12_evals`. */
const stepFolder = /^(?:(?:global_?)?(?:step|iter|iteration|version)[_-]?)?(\d{1,7})(?:_evals?)?$/i;

/** Whether a path may mean several files: it is a folder or a pattern. */
export const isMany = (path: string): boolean =>
  path !== '-' && (existsSync(path) ? statSync(path).isDirectory() : isPattern(path));

/**
 * Returns the files at the given paths, in the order of the numbers in their names.
 *
 * @param notes - counts the files that are passed over
 * @throws PolicyError `invalid_input` for a folder or a pattern without dumps; the system's error
 */
export function inputFiles(paths: readonly string[], notes = new FileNotes()): InputFile[] {
  if (paths.filter((path) => path === '-').length > 1) refuse('invalid_input', '-', 'standard input once', 'twice');
  const found = paths.flatMap((path) => filesAt(path, notes));
  const files = [...new Map(found.map((one) => [one.name, one])).values()]
    .sort((a, b) => Number(b.name === '-') - Number(a.name === '-') || byNumber.compare(a.name, b.name))
    .map(fileOf);
  const isSaid = files.length > 1 && files.every((one) => one.step !== undefined || one.likelyStep !== undefined);
  return isSaid ? files : files.map(({ likelyStep: _, ...file }) => file);
}

function filesAt(path: string, notes: FileNotes): Candidate[] {
  if (path === '-') return [{ name: path, base: '.' }];
  if (existsSync(path))
    return statSync(path).isDirectory() ? inFolder(path, notes) : [{ name: path, base: dirname(path) }];
  return isPattern(path) ? matching(path, notes) : [{ name: path, base: dirname(path) }];
}

function likelyStepOf({ name, base }: Candidate): number | undefined {
  const own = likelyStepName.exec(basename(name))?.[1];
  if (own !== undefined) return Number(own);
  for (const folder of relative(base, dirname(name)).split(sep).reverse()) {
    const step = stepFolder.exec(folder)?.[1];
    if (step !== undefined) return Number(step);
  }
  return undefined;
}

function fileOf(file: Candidate): InputFile {
  const { name } = file;
  if (name === '-') return { name, bytes: 0 };
  const step = stepName.exec(basename(name))?.[1];
  const likelyStep = likelyStepOf(file);
  return {
    name,
    bytes: statSync(name).size,
    ...(step === undefined ? undefined : { step: Number(step) }),
    ...(likelyStep === undefined ? undefined : { likelyStep }),
  };
}

/** Returns the paths of these files, to check that no output overwrites an input. */
export const readPaths = (files: readonly InputFile[]): string[] =>
  files.map(({ name }) => (name === '-' ? '/dev/stdin' : name));
