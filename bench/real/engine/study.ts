/** What was measured on a real engine, as it is kept: `measured.json`. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { DecodePointInput } from '../../../src/sim/calibration/decode-point.ts';
import type { MeasuredRollout } from './rollouts.ts';

const file = new URL('measured.json', import.meta.url);

/** What was measured. */
export interface EngineStudy {
  readonly date: string;
  readonly vllm: string;
  readonly processor: string;
  /** The `config.json` of the model. */
  readonly config: unknown;
  /** From the metrics, in a load that came before the rollouts. */
  readonly points: readonly DecodePointInput[];
  /** That load. */
  readonly before: readonly MeasuredRollout[];
  /** Rollouts that calibrate nothing, with the load average of the machine when each began. */
  readonly rollouts: readonly (MeasuredRollout & { readonly loadAverage: number })[];
  /** Points of the rollouts themselves, every 20 s, which nothing is calibrated by. */
  readonly during: readonly (readonly DecodePointInput[])[];
}

/** The study that was kept. */
export const keptEngineStudy = (): EngineStudy => JSON.parse(readFileSync(file, 'utf8')) as EngineStudy;

/** Keeps a study, with a size in a line. */
export function keepEngineStudy(study: EngineStudy): void {
  const digits = (_: string, one: unknown) => (typeof one === 'number' ? Number(one.toPrecision(5)) : one);
  const text = JSON.stringify(study, digits, 1).replace(
    /\{\s+"promptTokens": (\d+),\s+"responseTokens": (\d+)\s+\}/g,
    '{ "promptTokens": $1, "responseTokens": $2 }',
  );
  writeFileSync(file, `${text}\n`);
}
