/** Decompression of the pages of parquet files, within the size that a page says. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Compressors } from 'hyparquet';

/** Returns functions that decompress a page of at most so many bytes. */
export async function compressorsFor(mostBytes: number): Promise<Compressors> {
  const [{ decompress }, { snappyUncompressor }] = await Promise.all([import('fzstd'), import('hysnappy')]);
  // In WebAssembly: five times as fast as that of hyparquet.
  const snappy = snappyUncompressor();
  const bounded = (length: number): number => {
    if (length < 0 || length > mostBytes) throw new Error(`a page of ${length} bytes`);
    return length;
  };
  return {
    SNAPPY: (input, length) => snappy(input, bounded(length)),
    GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, bounded(length)) }),
    BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, bounded(length)) }),
    ZSTD: (input, length) => decompress(input, new Uint8Array(bounded(length))),
  };
}
