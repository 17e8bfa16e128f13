/** Paths of the user: files, folders, patterns, and `-`. Files are sorted by the numbers in their names. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { refuse } from '../../../errors.ts';

/** A file, or standard input. */
export interface InputFile {
  /** The name that the user gave, for errors. */
  readonly name: string;
  /** The training step, from the name of the file. */
  readonly step?: number;
  /** Bytes on the disk, 0 for standard input. */
  readonly bytes: number;
}

const byNumber = new Intl.Collator('en', { numeric: true });
/** `12.jsonl` of verl, `train_data_step12.jsonl` of NeMo-RL, `rollout_dump_data.step_12.jsonl` of ROLL. */
const stepName = /(?:^|step_?)(\d+)\.jsonl(\.gz)?$/;
/** Kinds of files to look for in a folder: all files of the first kind that the folder contains are read. */
const kinds = [/\.(jsonl|ndjson)(\.gz)?$/i, /\.(pt|pth)$/i, /\.(csv|tsv)(\.gz)?$/i, /\.json(\.gz)?$/i];
/** Files of evaluations in the folder of the training data: NeMo-RL's `val_data_step12.jsonl`, slime's `eval_12.pt`. */
const evaluation = /^val_data_step\d+\.|(^|_)eval_\d+\./;

/** Whether a path may mean several files: it is a folder or a pattern. */
export const isMany = (path: string): boolean =>
  path !== '-' && (existsSync(path) ? statSync(path).isDirectory() : basename(path).includes('*'));

/**
 * Returns the files at the given paths, in the order of the numbers in their names.
 *
 * @throws PolicyError `invalid_input` for a folder or a pattern without dumps; the system's error
 */
export function inputFiles(paths: readonly string[]): InputFile[] {
  if (paths.filter((path) => path === '-').length > 1) refuse('invalid_input', '-', 'standard input once', 'twice');
  const names = paths.flatMap((path) => (path === '-' ? [path] : filesAt(path)));
  return [...new Set(names)]
    .sort((a, b) => Number(b === '-') - Number(a === '-') || byNumber.compare(a, b))
    .map(fileOf);
}

function filesAt(path: string): string[] {
  if (existsSync(path)) return statSync(path).isDirectory() ? inFolder(path) : [path];
  if (!basename(path).includes('*')) return [path];
  const literals = basename(path).split('*');
  const pattern = literals.map((literal) => literal.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*');
  const names = filesIn(dirname(path)).filter((name) => new RegExp(`^${pattern}$`).test(name));
  return names.length > 0
    ? names.map((name) => join(dirname(path), name))
    : refuse('invalid_input', path, 'a pattern of files', 'none');
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [] : one.name));

/** Returns the dumps in a folder; dumps of evaluations only if there are no other dumps. */
function dumpsIn(folder: string): string[] {
  const files = filesIn(folder);
  const found = kinds.map((kind) => files.filter((name) => kind.test(name))).find((names) => names.length > 0) ?? [];
  const trained = found.filter((name) => !evaluation.test(name));
  return trained.length > 0 ? trained : found;
}

function inFolder(folder: string): string[] {
  const names = dumpsIn(folder);
  if (names.length > 0) return names.map((name) => join(folder, name));
  const others = filesIn(folder).length;
  const below = readdirSync(folder, { withFileTypes: true })
    .filter((one) => one.isDirectory() && dumpsIn(join(folder, one.name)).length > 0)
    .map(({ name }) => name);
  const got = below.length > 0 ? `none, but some in ${below.join(', ')}` : `${others} other files`;
  return refuse('invalid_input', folder, 'a folder with dumps: *.jsonl, *.pt, *.csv, *.json, each also as .gz', got);
}

function fileOf(name: string): InputFile {
  if (name === '-') return { name, bytes: 0 };
  const step = stepName.exec(basename(name))?.[1];
  return { name, bytes: statSync(name).size, ...(step === undefined ? undefined : { step: Number(step) }) };
}

/** Returns the paths of these files, to check that no output overwrites an input. */
export const readPaths = (files: readonly InputFile[]): string[] =>
  files.map(({ name }) => (name === '-' ? '/dev/stdin' : name));
