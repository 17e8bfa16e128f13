/** `import text from './trace.jsonl?gzip'`: a file as gzip in base64, so that traces travel inside the page. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const mark = '?gzip';

/** The plugin. */
export function gzipped(): Plugin {
  return {
    name: 'rollflex:gzip',
    enforce: 'pre',
    load(id) {
      if (!id.endsWith(mark)) return null;
      const path = id.slice(0, -mark.length);
      this.addWatchFile(path);
      const packed = gzipSync(readFileSync(path), { level: 9 }).toString('base64');
      return `export default ${JSON.stringify(packed)};`;
    },
  };
}
