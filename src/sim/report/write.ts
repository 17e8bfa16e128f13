/** Writes a report to a file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PoolsComparison } from '../pools/result.ts';
import type { ComparisonResult } from '../result.ts';
import type { VlmComparison } from '../vlm-formulas/result.ts';
import { renderReport } from './html.ts';

/** Returns the script that draws the charts: a file of the built package, or built now from the sources. */
export async function reportClient(): Promise<string> {
  const built = fileURLToPath(new URL('./report-client.js', import.meta.url));
  if (existsSync(built)) return readFileSync(built, 'utf8');
  const { build } = await import('esbuild');
  const entry = fileURLToPath(new URL('./client.ts', import.meta.url));
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2020',
  });
  return result.outputFiles[0]!.text;
}

/** Writes the report, and returns its size in bytes. */
export async function writeReport(
  path: string,
  comparisons: readonly ComparisonResult[],
  vlm: readonly VlmComparison[] = [],
  pools: readonly PoolsComparison[] = [],
): Promise<number> {
  const html = renderReport(comparisons, await reportClient(), vlm, pools);
  writeFileSync(path, html);
  return Buffer.byteLength(html);
}
