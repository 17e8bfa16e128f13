/** Zip archives: what is in them, and the bytes of the one file that is text. */
import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { refuse } from '../../../errors.ts';
import { inflatedRaw, type Unpacking } from './unpacked.ts';

/** A file in an archive. */
export interface ZipEntry {
  readonly name: string;
  /** 0 stored, 8 deflated. */
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly packedBytes: number;
  /** Place of its local header in the archive. */
  readonly at: number;
}

const endBytes = 22;
/** A comment at the end may have so many bytes. */
const longestComment = 0xffff;
const most = { directoryBytes: 2 ** 24, names: 5 };
const signature = { local: 0x04034b50, entry: 0x02014b50, end: 0x06054b50 };
const chunkBytes = 1 << 20;

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, at);
  return buffer.subarray(0, bytesRead);
}

/** Returns the entries of the list at the end of an archive; undefined if the archive has none, because its end is missing. */
async function entriesOf(name: string, file: FileHandle): Promise<ZipEntry[] | undefined> {
  const { size } = await file.stat();
  const tail = await bytesAt(file, Math.max(0, size - endBytes - longestComment), endBytes + longestComment);
  let end = tail.length - endBytes;
  while (end >= 0 && tail.readUInt32LE(end) !== signature.end) end -= 1;
  if (end < 0) return undefined;
  const [length, from] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  // Zip64 has these numbers elsewhere, for archives of 4 GB and more.
  if (from === 0xffffffff || length > most.directoryBytes)
    refuse(
      'limit_exceeded',
      name,
      'a zip archive of less than 4 GB (unzip -p it into rollflex import -)',
      'a larger one',
    );
  const list = await bytesAt(file, from, length);
  const entries: ZipEntry[] = [];
  for (let at = 0; at + 46 <= list.length && list.readUInt32LE(at) === signature.entry; ) {
    const [nameBytes, extra, comment] = [28, 30, 32].map((place) => list.readUInt16LE(at + place)) as [
      number,
      number,
      number,
    ];
    entries.push({
      name: list.toString('utf8', at + 46, at + 46 + nameBytes),
      method: list.readUInt16LE(at + 10),
      isEncrypted: (list.readUInt16LE(at + 8) & 1) === 1,
      packedBytes: list.readUInt32LE(at + 20),
      at: list.readUInt32LE(at + 42),
    });
    at += 46 + nameBytes + extra + comment;
  }
  return entries;
}

/** The entry at the beginning of an archive whose end is missing. */
async function firstOf(file: FileHandle): Promise<ZipEntry> {
  const head = await bytesAt(file, 0, 1 << 16);
  return {
    name: head.toString('utf8', 30, 30 + head.readUInt16LE(26)),
    method: head.readUInt16LE(8),
    isEncrypted: (head.readUInt16LE(6) & 1) === 1,
    packedBytes: Number.POSITIVE_INFINITY,
    at: 0,
  };
}

const isAside = ({ name }: ZipEntry): boolean =>
  name.endsWith('/') || name.startsWith('__MACOSX/') || basename(name).startsWith('.');

/** Whether an archive is a file of `torch.save`. Throws the system's error. */
export async function isTorchFile(name: string): Promise<boolean> {
  const file = await open(name);
  try {
    return (await entriesOf(name, file))?.some((one) => basename(one.name) === 'data.pkl') === true;
  } finally {
    await file.close();
  }
}

function theFile(name: string, entries: readonly ZipEntry[]): ZipEntry {
  const files = entries.filter((one) => !isAside(one));
  if (files.some((one) => /^xl\/workbook\.(xml|bin)$/.test(one.name)))
    refuse('invalid_input', `${name}:1`, 'CSV: open it, and save the sheet as "CSV UTF-8"', 'an Excel workbook');
  if (files.some((one) => one.name === 'content.xml'))
    refuse('invalid_input', `${name}:1`, 'CSV: open it, and save the sheet as CSV', 'an OpenDocument file');
  const [file, ...more] = files;
  if (file === undefined) refuse('invalid_input', `${name}:1`, 'a zip archive with one file', 'an empty one');
  if (more.length > 0) {
    const names = files.slice(0, most.names).map((one) => one.name);
    const rest = files.length > names.length ? `, and ${files.length - names.length} more` : '';
    const expected = 'a zip archive with one file: unzip it, and give the folder or a pattern';
    refuse('invalid_input', `${name}:1`, expected, `${files.length} files: ${names.join(', ')}${rest}`);
  }
  if (file.isEncrypted) refuse('invalid_input', `${name}:1`, 'a zip archive without a password', 'one with a password');
  if (file.method !== 0 && file.method !== 8)
    refuse('invalid_input', `${name}:1`, 'a zip archive with deflate (zip, the default)', `method ${file.method}`);
  return file;
}

async function* packed(file: FileHandle, { at, packedBytes }: ZipEntry): AsyncGenerator<Uint8Array> {
  const head = await bytesAt(file, at, 30);
  let place = at + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
  for (let left = packedBytes; left > 0; ) {
    const chunk = await bytesAt(file, place, Math.min(chunkBytes, left));
    if (chunk.length === 0) return;
    yield chunk;
    place += chunk.length;
    left -= chunk.length;
  }
}

/**
 * Yields the bytes of the one file in an archive.
 *
 * @throws PolicyError `invalid_input` for several files, with their names, and for a workbook; as `gunzipped`
 */
export async function* unzipped(unpacking: Unpacking, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  const { name } = unpacking;
  const file = await open(name);
  try {
    const entries = await entriesOf(name, file);
    const entry = theFile(name, entries ?? [await firstOf(file)]);
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const chunk of packed(file, entry)) {
        onBytes(chunk.length);
        yield chunk;
      }
    }
    let isCut = entries === undefined;
    const onCut = (): void => {
      isCut = true;
    };
    yield* entry.method === 0 ? counted() : inflatedRaw(counted(), { ...unpacking, onCut });
    if (isCut) unpacking.onCut();
  } finally {
    await file.close();
  }
}
