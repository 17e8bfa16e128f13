/** Reads the script of a page, from what was built or from its sources. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PolicyError } from '../../errors.ts';

/** Pages with a script. */
export const pageNames = ['report', 'debug', 'dashboard'] as const;
export type PageName = (typeof pageNames)[number];
/** The chart library as a script of its own, which is built once for all pages. */
export const charts = { name: 'page-charts', source: 'src/pages/kit/echarts.ts' } as const;
/** Path of the source of a page's script; the built file, without the chart library, has the same name. */
export const pageSource = (page: PageName): string => `src/pages/${page}/${page}-client.ts`;

/**
 * Returns the script of a page. A built package has the script in a file; TypeScript sources are bundled each time.
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
  const [own, library] = [`${page}-client`, charts.name].map((name) => builtScript(name, caller));
  return `${library}${own}`;
}

function builtScript(name: string, caller: string): string {
  const file = fileURLToPath(new URL(`./${name}.js`, caller));
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
