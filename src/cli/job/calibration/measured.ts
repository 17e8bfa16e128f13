/** `--calibrate`: what a user has measured of engines, from where he has it. */
import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { parse } from '../../../core/machine/validate.ts';
import { refuse } from '../../../errors.ts';
import { isLog } from '../../../logs/index/open.ts';
import type { DecodePoint, DecodePointInput } from '../../../sim/calibration/decode-point.ts';
import { calibrationPointsSchema } from '../../../sim/calibration/decode-point.ts';
import { timedLog } from '../../../sim/calibration/from-log.ts';
import { pointsOfRequests } from '../../../sim/calibration/from-requests.ts';
import type { MeasuredStep } from '../../../sim/calibration/measured.ts';
import { calibrateOnSite, type OnSiteCalibration } from '../../../sim/calibration/on-site.ts';
import type { Calibration } from '../../../sim/calibration/result.ts';
import type { Job } from '../../../sim/colocated/job.ts';
import type { ReadOptions } from '../../files/input/read.ts';
import { readJson } from '../../files/json-file.ts';
import { openLogs } from '../../files/logs.ts';
import { say } from '../../terminal/output.ts';
import { livePoints } from './live.ts';
import { calibrated, calibrationFiles, readMeasuredFile } from './rollouts.ts';

/** What was measured, and where. */
export type Measured =
  | { readonly kind: 'rollouts'; readonly from: string; readonly steps: readonly MeasuredStep[] }
  | { readonly kind: 'points'; readonly from: string; readonly points: readonly DecodePointInput[] }
  | { readonly kind: 'log'; readonly from: string; readonly log: ReturnType<typeof timedLog> };

/** A job that was fitted to what was measured. */
export type Calibrated =
  | ({ readonly kind: 'rollouts' } & Calibration)
  | ({ readonly kind: 'engines' } & OnSiteCalibration);

/** Returns the option of the command line. */
export const calibrateOption = (): Option =>
  new Option(
    '--calibrate <measured>',
    'as fast as your engines: the URL of one, a log, measured rollouts (JSON), or RUNNING:CONTEXT:MS',
  );

const isUrl = (text: string): boolean => /^https?:\/\//.test(text);
const typed = /^[\d.]+:[\d.]+:[\d.]+(,[\d.]+:[\d.]+:[\d.]+)*$/;

/** Returns points that were typed in: `64:3000:21.4`, several with commas between them. */
function typedPoints(text: string): DecodePointInput[] {
  return text.split(',').map((one) => {
    const [running, contextTokens, milliseconds] = one.split(':').map(Number) as [number, number, number];
    return { running, contextTokens, secondsPerToken: milliseconds / 1000 };
  });
}

/** Whether a file is JSON with measured rollouts or points, and not a log of many lines. */
function jsonKind(path: string): 'rollouts' | 'points' | undefined {
  if (existsSync(path) && isLog(path)) return undefined;
  const { value } = readJson(path, 'measured rollouts as JSON');
  const isPoints = typeof value === 'object' && value !== null && 'points' in value;
  return isPoints ? 'points' : 'rollouts';
}

/**
 * Reads what `--calibrate` names; `undefined` without it.
 *
 * @throws PolicyError `invalid_input` with the field for a file or a server without measurements; the errors of reading a trace; the
 *   system's error
 */
export async function readMeasured(from: string | undefined, options: ReadOptions): Promise<Measured | undefined> {
  if (from === undefined) return undefined;
  if (typed.test(from)) return { kind: 'points', from, points: typedPoints(from) };
  if (/^[\d.:,]+:[\d.:,]*$/.test(from)) {
    const expected = 'sequences that run, tokens of context of each, and milliseconds per token: 64:3000:21.4';
    refuse('invalid_input', '--calibrate', expected, from);
  }
  if (isUrl(from)) return { kind: 'points', from, points: await livePoints(from, undefined, say) };
  const kind = jsonKind(from);
  if (kind === 'rollouts') return { kind, from, steps: await readMeasuredFile(from, options) };
  if (kind === 'points') {
    const file = readJson(from, 'measured points as JSON');
    return {
      kind,
      from,
      points: file.within(() => parse(calibrationPointsSchema, file.value, 'invalid_input').points),
    };
  }
  return { kind: 'log', from, log: timedLog(openLogs([from])[0]!.lines()) };
}

/** Returns the files that a calibration reads, so that none of them is written over. */
export const filesOfCalibration = (from: string): string[] =>
  typed.test(from) || isUrl(from) ? [] : jsonKind(from) === 'rollouts' ? calibrationFiles(from) : [from];

function pointsOf(measured: Exclude<Measured, { kind: 'rollouts' }>, job: Job): readonly DecodePointInput[] {
  if (measured.kind === 'points') return measured.points;
  const { requests, engines = job.engines } = measured.log;
  const points: DecodePoint[] = pointsOfRequests(requests, engines, job.cost.maxRunningSequences);
  if (points.length > 0) return points;
  const got = `${requests.length} requests that ended${requests.length === 0 ? '' : ', too few of one size of batch'}`;
  return refuse('invalid_input', measured.from, 'a log in which responses have run to their ends', got);
}

/** Returns the job with costs that fit what was measured. Throws as `calibrate` and `calibrateOnSite` do. */
export function calibratedBy(job: Job, measured: Measured): Calibrated {
  if (measured.kind === 'rollouts') return { kind: 'rollouts', ...calibrated(job, measured.from, measured.steps) };
  return { kind: 'engines', ...calibrateOnSite(job, pointsOf(measured, job)) };
}
