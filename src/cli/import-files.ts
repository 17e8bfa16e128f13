/** Dumps that the user names: files, folders and patterns in the order of their numbers, `-`, and their lines. */
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { PolicyError } from '../errors.ts';
import { type Line, LineReader } from '../rpc/framing.ts';

/** A file of a dump, or standard input. */
export interface DumpFile {
  /** As the user names it, for errors. */
  readonly name: string;
  /** The training step that its name says. */
  readonly step?: number;
  /** Bytes on the disk, 0 for standard input. */
  readonly bytes: number;
}

/** A line, by its number in the file, from 1. */
export interface DumpLine {
  readonly text: string;
  readonly number: number;
}

/** V8 has no longer strings than this, give or take a few bytes. */
const longestLine = 2 ** 29 - 64;

const byNumber = new Intl.Collator('en', { numeric: true });
const dumpName = /\.jsonl(\.gz)?$/;
/** `12.jsonl` of verl, `train_data_step12.jsonl` of NeMo-RL, `rollout_dump_data.step_12.jsonl` of ROLL. */
const stepName = /(?:^|step_?)(\d+)\.jsonl(\.gz)?$/;
const pickled = /\.(pt|pth|pkl|pickle)$/;

const refuse = (path: string, expected: string, got: string): never => {
  throw new PolicyError('invalid_input', { expected, got, path });
};

/**
 * The files of some paths, in the order of the numbers in their names.
 *
 * @throws PolicyError `invalid_input` for a folder or a pattern without dumps, and for pickles; the system's error
 */
export function dumpFiles(paths: readonly string[]): DumpFile[] {
  if (paths.filter((path) => path === '-').length > 1) refuse('-', 'standard input once', 'twice');
  const names = paths.flatMap((path) => (path === '-' ? [path] : filesAt(path)));
  return [...new Set(names)]
    .sort((a, b) => Number(b === '-') - Number(a === '-') || byNumber.compare(a, b))
    .map(fileOf);
}

function filesAt(path: string): string[] {
  if (existsSync(path)) return statSync(path).isDirectory() ? inFolder(path) : [path];
  if (!basename(path).includes('*')) return [path];
  const parts = basename(path).split('*');
  const pattern = parts.map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*');
  const names = filesIn(dirname(path)).filter((name) => new RegExp(`^${pattern}$`).test(name));
  return names.length > 0 ? names.map((name) => join(dirname(path), name)) : refuse(path, 'a pattern of files', 'none');
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [] : one.name));

function inFolder(folder: string): string[] {
  const files = filesIn(folder);
  const names = files.filter((name) => dumpName.test(name));
  if (names.length > 0) return names.map((name) => join(folder, name));
  if (files.some((name) => pickled.test(name))) return refusePickle(join(folder, '*.pt'));
  return refuse(folder, 'a folder with dumps, *.jsonl or *.jsonl.gz', `${files.length} other files`);
}

function fileOf(name: string): DumpFile {
  if (name === '-') return { name, bytes: 0 };
  if (pickled.test(name)) refusePickle(name);
  const step = stepName.exec(basename(name))?.[1];
  return { name, bytes: statSync(name).size, ...(step === undefined ? undefined : { step: Number(step) }) };
}

function refusePickle(path: string): never {
  const command = `python -m rollflex.importing ${path} | rollflex import -`;
  return refuse(path, `JSON lines; a pickle of slime is read by Python: ${command}`, 'a pickle');
}

/** The lines of a file, one at a time. Throws `limit_exceeded` for a line that no string can hold. */
export async function* dumpLines({ name }: DumpFile): AsyncGenerator<DumpLine> {
  const reader = new LineReader(longestLine);
  let number = 0;
  const line = (bytes: Line): DumpLine => {
    number += 1;
    if (typeof bytes === 'symbol') {
      const expected = `a line of at most ${longestLine} bytes`;
      throw new PolicyError('limit_exceeded', { expected, got: 'a longer one', path: `${name}:${number}` });
    }
    return { text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'), number };
  };
  for await (const chunk of bytesOf(name)) {
    for (const bytes of reader.read(chunk)) yield line(bytes);
  }
  const rest = reader.rest();
  if (rest !== undefined) yield line(rest);
}

async function* bytesOf(name: string): AsyncGenerator<Uint8Array> {
  if (name === '-') return yield* process.stdin;
  const file = createReadStream(name, { highWaterMark: 1 << 20 });
  if (!name.endsWith('.gz')) return yield* file;
  const unzipped = createGunzip();
  file.on('error', (error) => unzipped.destroy(error));
  try {
    yield* file.pipe(unzipped);
  } catch (error) {
    if (!String((error as { code?: string }).code).startsWith('Z_')) throw error;
    throw new PolicyError('invalid_input', {
      expected: 'a whole gzip file',
      got: (error as Error).message,
      path: name,
    });
  } finally {
    file.destroy();
  }
}
