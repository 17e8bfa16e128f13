/** The bundled files, unpacked when they are needed. */

import castillo7b from '../../../../examples/traces/castillo-qwen2.5-7b-instruct-1m.jsonl?gzip';
import castillo32b from '../../../../examples/traces/castillo-qwen2.5-32b-instruct.jsonl?gzip';
import videos from '../../../../examples/traces/nextqa-videos.jsonl?gzip';
import sandboxes from '../../../../examples/traces/sandbox-livecodebench.jsonl?gzip';
import deepseek from '../../../../examples/traces/servegen-deepseek-r1.jsonl?gzip';
import images from '../../../../examples/traces/servegen-qwen-vl-images.jsonl?gzip';
import type { FileId } from '../settings/traces.ts';

const packed: Readonly<Record<FileId, string>> = {
  'castillo-7b': castillo7b,
  'castillo-32b': castillo32b,
  'deepseek-r1': deepseek,
  videos,
  images,
  sandboxes,
};

/** The text of a bundled file. */
export async function textOf(id: FileId): Promise<string> {
  const bytes = Uint8Array.from(atob(packed[id]), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}
