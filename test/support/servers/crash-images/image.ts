/** Directories as a crash of the machine may have left them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Op } from './trace.ts';

/**
 * What a file system promises besides what is synced. `ordered`: names change in their order; to sync a new file keeps its name; a
 * file that grows has no holes, and its end may be missing (ext4, XFS and Btrfs promise the first two, ext4 by default all).
 * `any`: whatever is not synced, names of synced files included, is there, is missing, or is there in part.
 */
export type FileSystem = 'ordered' | 'any';

type Named = Extract<Op, { kind: 'name' | 'rename' | 'unlink' }>;
type Content = Extract<Op, { kind: 'data' | 'cut' }>;

const sectorBytes = 512;

/** Whether a file, or the directory with its names, was synced after an operation. */
type Synced = (op: Op, file: number | 'directory') => boolean;

/** Writes an image of the directory at a moment: of the operations that began before it. */
export function writeImage(
  directory: string,
  all: readonly Op[],
  before: number,
  files: FileSystem,
  random: () => number,
): void {
  const ops = all.filter(({ begin }) => begin < before);
  const lastSync = new Map<number | 'directory', number>();
  for (const op of ops) if (op.kind === 'sync' && op.end < before) lastSync.set(op.file, op.begin);
  const isSynced: Synced = (op, file) => (lastSync.get(file) ?? -1) > op.end;
  const named = ops.filter((op): op is Named => op.kind === 'name' || op.kind === 'rename' || op.kind === 'unlink');
  const names = new Map<string, number>();
  for (const op of namesThatStay(named, isSynced, files, random)) {
    if (op.kind === 'rename') {
      if (names.get(op.from) !== op.file) continue;
      names.delete(op.from);
    }
    if (op.kind === 'unlink') names.delete(op.name);
    else names.set(op.name, op.file);
  }
  mkdirSync(directory);
  for (const [name, file] of names) {
    const content = ops.filter((op): op is Content => (op.kind === 'data' || op.kind === 'cut') && op.file === file);
    writeFileSync(
      join(directory, name),
      contentOf(content, (op) => isSynced(op, file), files, random),
    );
  }
}

function namesThatStay(
  named: readonly Named[],
  isSynced: Synced,
  files: FileSystem,
  random: () => number,
): readonly Named[] {
  if (files === 'any') return named.filter((op) => isSynced(op, 'directory') || random() < 0.5);
  const synced = named.findLastIndex(
    (op) => isSynced(op, 'directory') || (op.kind !== 'unlink' && isSynced(op, op.file)),
  );
  return named.slice(0, synced + 1 + Math.floor(random() * (named.length - synced)));
}

function contentOf(
  content: readonly Content[],
  isSynced: (op: Op) => boolean,
  files: FileSystem,
  random: () => number,
): Buffer {
  const bytes = new Bytes();
  // How much of what is not synced is there is a property of the crash: often all, often nothing.
  const share = [0, 1, random()][Math.floor(random() * 3)]!;
  for (const op of content) {
    const isThere = isSynced(op) || random() < share;
    if (isThere && !(files === 'ordered' && op.kind === 'data' && op.at > bytes.size)) bytes.write(op);
    else if (op.kind !== 'data' || random() < 0.5) continue;
    else if (files === 'ordered' && op.at >= bytes.size) {
      if (op.at > bytes.size) continue;
      bytes.write({ ...op, bytes: op.bytes.subarray(0, Math.floor(random() * op.bytes.length)) });
    } else for (const part of torn(op, random)) bytes.write(part);
  }
  return bytes.all;
}

/** Some sectors of a write. */
function torn(op: Extract<Op, { kind: 'data' }>, random: () => number): Content[] {
  const parts: Content[] = [];
  for (let at = op.at; at < op.at + op.bytes.length; ) {
    const next = Math.min((Math.floor(at / sectorBytes) + 1) * sectorBytes, op.at + op.bytes.length);
    if (random() < 0.5) parts.push({ ...op, at, bytes: op.bytes.subarray(at - op.at, next - op.at) });
    at = next;
  }
  return parts;
}

/** A file that grows; what was never written is zero. */
class Bytes {
  size = 0;
  #buffer = Buffer.alloc(1 << 12);

  get all(): Buffer {
    return this.#buffer.subarray(0, this.size);
  }

  write(op: Content): void {
    if (op.kind === 'cut') {
      this.#buffer.fill(0, op.size);
      this.size = op.size;
      return;
    }
    const end = op.at + op.bytes.length;
    if (end > this.#buffer.length) this.#buffer = Buffer.concat([this.#buffer, Buffer.alloc(2 * end)]);
    op.bytes.copy(this.#buffer, op.at);
    this.size = Math.max(this.size, end);
  }
}
