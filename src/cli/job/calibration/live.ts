/** Measured points from an engine that runs: its metrics, read once a second while it generates. */
import { setTimeout as pause } from 'node:timers/promises';
import { oneLine } from '../../../core/ids/printable.ts';
import { refuse } from '../../../errors.ts';
import type { DecodePoint } from '../../../sim/calibration/decode-point.ts';
import { pointsOfReadings, type Readings, readingsOfLoads, readingsOfMetrics } from '../../../sim/calibration/live.ts';

/** How long an engine is watched. */
const watchSeconds = 20;
const everySeconds = 1;
/** A server that does not answer in this time is not there. */
const patienceSeconds = 10;

async function textOf(url: URL, again = true): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(1000 * patienceSeconds) });
    return answer.ok ? await answer.text() : undefined;
  } catch (error) {
    // A server that closes an idle connection may do so as a request comes.
    if (again) return textOf(url, false);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
    return refuse(
      'invalid_input',
      '--calibrate',
      'the URL of an engine that answers',
      `${url}: ${oneLine(cause.message)}`,
    );
  }
}

const json = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
};

const at = (base: string, path: string): URL => new URL(path, base.endsWith('/') ? base : `${base}/`);

/** SGLang's `/v1/loads` has sums over all steps without an option; metrics need `--enable-metrics` there. */
async function readingsOf(base: string): Promise<Readings> {
  const loads = readingsOfLoads(json(await textOf(at(base, 'v1/loads?include=core'))));
  return loads.size > 0 ? loads : readingsOfMetrics((await textOf(at(base, 'metrics'))) ?? '');
}

/**
 * Watches an engine for some seconds while it generates.
 *
 * @param base - the URL of a server of vLLM or SGLang, without a path
 * @param watching - told that it begins
 * @throws PolicyError `invalid_input` for a server that does not answer, has no metrics, or generates nothing
 */
export async function livePoints(
  base: string,
  seconds = watchSeconds,
  watching?: (text: string) => void,
): Promise<DecodePoint[]> {
  const readings = [await readingsOf(base)];
  if (readings[0]!.size === 0) {
    const expected = 'vLLM (/metrics) or SGLang (/v1/loads with decode_moments, or /metrics by --enable-metrics)';
    refuse('invalid_input', '--calibrate', expected, base);
  }
  watching?.(`${base}: watching what its engines generate for ${seconds} s`);
  for (let passed = 0; passed < seconds; passed += everySeconds) {
    await pause(1000 * everySeconds);
    readings.push(await readingsOf(base));
  }
  const points = pointsOfReadings(readings);
  if (points.length > 0) return points;
  return refuse('invalid_input', '--calibrate', 'an engine that generates, for example in a rollout', `${base}: idle`);
}
