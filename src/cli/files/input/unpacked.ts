/** Bytes out of gzip, zstd and zip: in bounded memory, and as far as they are whole. */
import { createGunzip, createInflateRaw, type Gunzip } from 'node:zlib';
import { caused, type PolicyError, refuse } from '../../../errors.ts';

type Bytes = AsyncIterable<Uint8Array>;

/** Compressed bytes that are taken at once: 16 MB come out of them at most in gzip. */
const pieceBytes = 1 << 14;
/** From this many bytes on, what comes out may be at most so many times what goes in. */
const bomb = { fromBytes: 2 ** 26, most: 500 };
/** Largest window of zstd, as of the program zstd without an option. */
const largestWindow = 2 ** 27;

/** What unpacking reports. */
export interface Unpacking {
  readonly name: string;
  /** Called once if the compressed bytes end early; what came out before is whole. */
  readonly onCut: () => void;
}

/** Refuses bytes that expand as only those do that were made to fill a memory. */
class Expansion {
  readonly #name: string;
  #packed = 0;
  #unpacked = 0;

  constructor(name: string) {
    this.#name = name;
  }

  took(bytes: number): void {
    this.#packed += bytes;
  }

  /** Throws `limit_exceeded`. */
  gave(bytes: number): void {
    this.#unpacked += bytes;
    if (this.#unpacked < bomb.fromBytes || this.#unpacked < bomb.most * this.#packed) return;
    const got = `more than ${Math.floor(this.#unpacked / this.#packed)} times the size`;
    refuse(
      'limit_exceeded',
      this.#name,
      `text that is at most ${bomb.most} times as large as its compressed file`,
      got,
    );
  }
}

async function* pieces(source: Bytes): AsyncGenerator<Uint8Array> {
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes);
}

const isCutError = (error: Error | undefined): boolean =>
  (error as { readonly code?: string } | undefined)?.code === 'Z_BUF_ERROR';

function broken(name: string, what: string, error: unknown): never {
  refuse('invalid_input', name, `a whole ${what} file`, caused(error));
}

async function* inflated(
  source: Bytes,
  stream: Gunzip,
  what: string,
  { name, onCut }: Unpacking,
): AsyncGenerator<Uint8Array> {
  const expansion = new Expansion(name);
  let out: Uint8Array[] = [];
  let failed: Error | PolicyError | undefined;
  const taken = (): Uint8Array[] => {
    const now = out;
    out = [];
    for (const { length } of now) expansion.gave(length);
    return now;
  };
  stream.on('data', (chunk: Uint8Array) => void out.push(chunk));
  const over = new Promise<void>((resolve) => stream.on('close', resolve));
  stream.on('error', (error) => {
    failed = error;
  });
  try {
    for await (const piece of pieces(source)) {
      expansion.took(piece.length);
      await Promise.race([new Promise<void>((resolve) => stream.write(piece, () => resolve())), over]);
      yield* taken();
      if (failed !== undefined) break;
    }
    if (failed === undefined) {
      stream.end();
      await over;
    }
    yield* taken();
    if (isCutError(failed)) onCut();
    else if (failed !== undefined) broken(name, what, failed);
  } finally {
    stream.destroy();
  }
}

/** Yields the bytes of a gzip file. Throws `invalid_input` for a broken one, `limit_exceeded` for one made to fill a memory. */
export const gunzipped = (source: Bytes, unpacking: Unpacking): AsyncGenerator<Uint8Array> =>
  inflated(source, createGunzip(), 'gzip', unpacking);

/** Yields the bytes of a member of a zip archive. Throws as {@link gunzipped} does. */
export const inflatedRaw = (source: Bytes, unpacking: Unpacking): AsyncGenerator<Uint8Array> =>
  inflated(source, createInflateRaw(), 'zip', unpacking);

/** Bytes of the window that a frame of zstd asks for; 0 for a frame that has none. */
function windowOf(head: Uint8Array): number {
  const [flags = 0, window = 0] = head.subarray(4);
  if ((flags & 0x20) !== 0) return 0;
  const base = 2 ** (10 + (window >> 3));
  return base + (base / 8) * (window & 7);
}

/** Yields the bytes of a zstd file. Throws as {@link gunzipped} does. */
export async function* unzstd(source: Bytes, { name, onCut }: Unpacking): AsyncGenerator<Uint8Array> {
  const { Decompress, ZstdErrorCode } = await import('fzstd');
  const expansion = new Expansion(name);
  let out: Uint8Array[] = [];
  const stream = new Decompress((block) => {
    expansion.gave(block.length);
    out.push(block);
  });
  const push = (piece: Uint8Array, isLast: boolean): boolean => {
    try {
      stream.push(piece, isLast);
      return true;
    } catch (error) {
      const code = (error as { readonly code?: unknown }).code;
      if (typeof code === 'string') throw error;
      if (isLast && code === ZstdErrorCode.UnexpectedEOF) return false;
      broken(name, 'zstd', error);
    }
  };
  let isFirst = true;
  for await (const piece of pieces(source)) {
    if (isFirst && windowOf(piece) > largestWindow)
      refuse(
        'limit_exceeded',
        name,
        `zstd with a window of at most ${largestWindow} bytes (without --long=31)`,
        windowOf(piece),
      );
    isFirst = false;
    expansion.took(piece.length);
    push(piece, false);
    yield* out;
    out = [];
  }
  const isWhole = push(new Uint8Array(0), true);
  yield* out;
  if (!isWhole) onCut();
}
