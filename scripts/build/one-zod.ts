/**
 * esbuild keeps the import of zod that each source file has, under a name of its own: a chunk has up to a hundred. All but the first
 * are left out, and what they name is named by the first.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Options } from 'tsup';

const imported = /^import \* as (z\d*) from ["']zod["'];\n/gm;

/** Returns the code with one import of zod. */
export function withOneZod(code: string): string {
  const [first, ...others] = [...code.matchAll(imported)].map(([, name]) => name!);
  if (first === undefined || others.length === 0) return code;
  const isOther = new Set(others);
  let isKept = false;
  return (
    code
      .replace(imported, (line) => {
        if (isKept) return '';
        isKept = true;
        return line;
      })
      // A name stands alone and before a dot; `one.z2` and `$z2` are others.
      .replace(/(?<![\w$.])z\d+(?=\.)/g, (name) => (isOther.has(name) ? first : name))
  );
}

/** Leaves one import of zod in each file of an ES build. */
export const oneZod: NonNullable<Options['plugins']>[number] = {
  name: 'one-zod',
  buildEnd({ writtenFiles }) {
    for (const { name } of writtenFiles) {
      if (!name.endsWith('.js')) continue;
      const code = readFileSync(name, 'utf8');
      const one = withOneZod(code);
      if (one !== code) writeFileSync(name, one);
    }
  },
};
