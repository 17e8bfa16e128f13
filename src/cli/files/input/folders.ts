/** Finds the dumps in folders as they are, and the files that a pattern means. */
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { refuse } from '../../../errors.ts';
import { FileNotes } from './notes.ts';

/** A file that was found in a folder, or by a pattern. */
export interface Candidate {
  readonly name: string;
  /** The folder from which it was looked for. */
  readonly base: string;
}

/** Kinds of files to look for in a folder: all files of the first kind that the folder contains are read. */
const kinds: readonly (readonly [label: string, name: RegExp])[] = [
  ['*.jsonl', /\.(jsonl|ndjson)(\.(gz|zst|zip))?$/i],
  ['*.parquet', /\.(parquet|pq)$/i],
  ['*.pt', /\.(pt|pth)$/i],
  ['*.csv', /\.(csv|tsv)(\.(gz|zst|zip))?$/i],
  ['*.json', /\.json(\.(gz|zst|zip))?$/i],
];
const looksFor = kinds.map(([label]) => label).join(', ');

/** What trainers write beside their dumps: settings, metrics and results, and the files of models and tokenizers. */
const sidecar = new RegExp(
  [
    '^(readme|license|manifest|requirements|package(-lock)?|schema|index|state|args|params|hparams|settings|run_info)\\.',
    '^(.*[._-])?(config|metadata|metrics|summary|stats|aggregated|aggregated_results|log_history|trainer_state)\\.',
    '^(all|train|eval|test)_results\\.',
    '^(tokenizer.*|special_tokens_map|added_tokens|vocab|dataset_infos?|dataset_dict|adapter_.*|training_args)\\.',
    '\\.index\\.json$',
    '^wandb-',
    '^[._]',
  ].join('|'),
  'i',
);
/** Folders beside dumps. */
const asideFolder = /^(\..*|__pycache__|node_modules|checkpoints?|ckpts?|checkpoint[-_]\d+|wandb|tensorboard)$/i;
/** Files of evaluations in the folder of the training data: NeMo-RL's `val_data_step12.jsonl`, slime's `eval_12.pt`. */
const evaluation = /^val_data_step\d+\.|(^|_)eval_\d+\./;
const evaluationFolder = /^(val|valid|validation|evals?|evaluation|test)$/i;

const deepest = 16;
const mostFiles = 200_000;

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/** Names in a folder: folders, and others. */
function listed(folder: string): { readonly folders: string[]; readonly files: string[] } {
  const [folders, files]: [string[], string[]] = [[], []];
  for (const one of readdirSync(folder, { withFileTypes: true })) {
    const isLink = one.isSymbolicLink();
    if (one.isDirectory() || (isLink && isFolder(join(folder, one.name)))) folders.push(one.name);
    else if (!isLink || existsSync(join(folder, one.name))) files.push(one.name);
  }
  return { folders, files };
}

/** Returns the files in a folder and in the folders below it, without those beside dumps. */
function filesBelow(base: string, notes: FileNotes): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const walk = (folder: string, depth: number): void => {
    const real = realpathSync(folder);
    if (seen.has(real)) return;
    seen.add(real);
    const { folders, files } = listed(folder);
    for (const name of files) found.push(join(folder, name));
    if (found.length > mostFiles) refuse('limit_exceeded', base, `at most ${mostFiles} files in a folder`, 'more');
    for (const name of folders) {
      if (asideFolder.test(name) || depth === deepest) notes.pass('name', `${name}${sep}`);
      else walk(join(folder, name), depth + 1);
    }
  };
  walk(base, 0);
  return found;
}

const isEvaluation = (base: string, name: string): boolean =>
  evaluation.test(basename(name)) ||
  relative(base, name)
    .split(sep)
    .slice(0, -1)
    .some((one) => evaluationFolder.test(one));

/**
 * Chooses the dumps among files: those of the first kind that is there, without what trainers write beside them, empty files, and
 * evaluations beside other dumps.
 */
function chosen(base: string, names: readonly string[], notes: FileNotes): string[] {
  const isDump = (name: string): boolean => kinds.some(([, kind]) => kind.test(name));
  const isAside = (name: string): boolean => sidecar.test(basename(name)) || !isDump(name);
  const dumps = names.filter((name) => !isAside(name));
  const filled = dumps.filter((name) => statSync(name).size > 0);
  const ofKinds = kinds.map(([, kind]) => (filled.length > 0 ? filled : dumps).filter((name) => kind.test(name)));
  const found = ofKinds.find((some) => some.length > 0) ?? [];
  const trained = found.filter((name) => !isEvaluation(base, name));
  const kept = new Set(trained.length > 0 ? trained : found);
  for (const name of names) {
    if (kept.has(name)) continue;
    const shown = relative(base, name);
    if (isAside(name)) notes.pass('name', shown);
    else if (statSync(name).size === 0) notes.pass('empty', shown);
    else notes.pass(found.includes(name) ? 'evaluation' : 'kind', shown);
  }
  return [...kept];
}

const candidates = (base: string, names: readonly string[]): Candidate[] => names.map((name) => ({ name, base }));

function nothingIn(path: string, names: readonly string[], expected: string): never {
  const shown = names.slice(0, 3).map((name) => basename(name));
  const more = names.length > shown.length ? ', …' : '';
  const files = `${names.length} other ${names.length === 1 ? 'file' : 'files'}`;
  const got =
    names.length === 0
      ? 'an empty one'
      : `${files} (${shown.join(', ')}${more}); one that is meant is given by its name`;
  return refuse('invalid_input', path, expected, got);
}

/** Returns the dumps in a folder and below. Throws `invalid_input` if there are none; the system's error. */
export function inFolder(folder: string, notes: FileNotes): Candidate[] {
  const files = filesBelow(folder, notes);
  const names = chosen(folder, files, notes);
  if (names.length > 0) return candidates(folder, names);
  return nothingIn(folder, files, `a folder with dumps: ${looksFor}, and also .gz, .zst`);
}

/** Whether a path that is not there is a pattern. */
export const isPattern = (path: string): boolean => path.includes('*');

const segmentOf = (pattern: string): RegExp => {
  const literal = (text: string): string => text.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('?', '.');
  return new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`);
};

/** Whether a name in a folder is one that a pattern means. */
export const matchesName = (pattern: string, name: string): boolean => segmentOf(pattern).test(name);

/** Returns what the segments of a pattern mean below a folder: files, and folders. */
function found(folder: string, segments: readonly string[]): string[] {
  const [segment, ...rest] = segments;
  if (segment === undefined) return [folder];
  if (!isFolder(folder === '' ? '.' : folder)) return [];
  const at = (name: string): string => (folder === '' ? name : join(folder, name));
  if (!isPattern(segment)) return existsSync(at(segment)) ? found(at(segment), rest) : [];
  const { folders, files } = listed(folder === '' ? '.' : folder);
  const visible = (name: string): boolean => !name.startsWith('.') || segment.startsWith('.');
  if (segment === '**') {
    const below = folders.filter((name) => !asideFolder.test(name)).flatMap((name) => found(at(name), segments));
    return [...found(folder, rest.length > 0 ? rest : ['*']), ...below];
  }
  const fits = segmentOf(segment);
  const names = [...folders, ...(rest.length === 0 ? files : [])].filter((name) => visible(name) && fits.test(name));
  return names.flatMap((name) => found(at(name), rest));
}

/**
 * Returns the files that a pattern means: `*` stands for any text in a name, in any part of the path, and `**` for any folders.
 * A folder that it means stands for the dumps in it.
 *
 * @throws PolicyError `invalid_input` for a pattern that means nothing; the system's error
 */
export function matching(pattern: string, notes: FileNotes): Candidate[] {
  const segments = pattern.split(sep === '/' ? '/' : /[/\\]/);
  const first = segments.findIndex(isPattern);
  const base = segments.slice(0, first).join('/') || (pattern.startsWith('/') ? '/' : '');
  const all = [...new Set(found(base, segments.slice(first)))];
  const root = base === '' ? '.' : base;
  const files = all.filter((name) => !isFolder(name));
  // Files go before folders: `*` of a folder with dumps means these, and not what is below.
  const asides = new FileNotes();
  const isAny = files.length > 0 && chosen(root, files, asides).length === 0;
  const names = files.length > 0 && !isAny ? chosen(root, files, notes) : [];
  if (names.length > 0) return candidates(root, names);
  const below = all.filter(isFolder).flatMap((folder) => filesBelow(folder, notes));
  const nested = chosen(root, below, notes);
  if (nested.length > 0) return candidates(root, nested);
  // Only files that are passed over in a folder: they are what is meant.
  if (isAny) return candidates(root, files);
  if (all.length === 0) return refuse('invalid_input', pattern, 'a pattern of files', 'none');
  return nothingIn(pattern, below, `a pattern of dumps: ${looksFor}, and also .gz, .zst`);
}
