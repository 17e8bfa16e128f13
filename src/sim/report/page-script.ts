/** Reads the script of a page, from what was built or from its sources. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PolicyError } from '../../errors.ts';

/** Pages with a script. */
export const pageNames = ['report', 'debug', 'dashboard'] as const;
export type PageName = (typeof pageNames)[number];
/** Path of the source of the script of a page; what is built of it has the same name. */
export const pageSource = (page: PageName): string => `src/pages/${page}/${page}-client.ts`;

/**
 * Returns the script of a page. What was built has the file beside it; TypeScript sources need a bundler each time.
 *
 * @param caller - `import.meta.url` of the caller
 * @throws PolicyError `internal` if the package lacks the file
 */
export async function pageScript(page: PageName, caller: string): Promise<string> {
  if (caller.endsWith('.ts')) {
    const { build } = await import('esbuild');
    const root = caller.slice(0, caller.lastIndexOf('/src/') + 1);
    const entryPoints = [fileURLToPath(new URL(pageSource(page), root))];
    const options = { bundle: true, minify: true, write: false, format: 'iife', target: 'es2020' } as const;
    return (await build({ entryPoints, ...options })).outputFiles[0]!.text;
  }
  const file = fileURLToPath(new URL(`./${page}-client.js`, caller));
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
