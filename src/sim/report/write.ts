/** Writes a report to a file. */
import { writeFileSync } from 'node:fs';
import type { ComparisonResult } from '../comparison/result.ts';
import type { PoolsComparison } from '../pools/result.ts';
import type { VlmComparison } from '../vlm-formulas/result.ts';
import { renderReport } from './html.ts';
import { pageScript } from './page-script.ts';

/** Returns the script that draws the charts: a file of the built package, or built now from the sources. */
export const reportClient = (): Promise<string> => pageScript('report', import.meta.url);

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
