/** Reads the script of a page, from what was built or from its sources. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PolicyError } from '../../errors.ts';

/**
 * Returns the script of a page. What was built has the file beside it; TypeScript sources need a bundler each time.
 *
 * @param source - URL of the TypeScript file of the script
 * @param caller - `import.meta.url` of the caller
 * @throws PolicyError `internal` if the package lacks the file
 */
export async function pageScript(source: string, caller: string): Promise<string> {
  if (caller.endsWith('.ts')) {
    const { build } = await import('esbuild');
    const entryPoints = [fileURLToPath(new URL(source, caller))];
    const options = { bundle: true, minify: true, write: false, format: 'iife', target: 'es2020' } as const;
    return (await build({ entryPoints, ...options })).outputFiles[0]!.text;
  }
  const file = fileURLToPath(new URL(`./${basename(source, '.ts')}.js`, caller));
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PolicyError('internal', {
      expected: `the script of a page in ${file}`,
      got: (cause as Error).message,
      cause,
    });
  }
}
