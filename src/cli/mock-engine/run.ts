/** `rollflex mock-engine`: runs engines without a GPU until a signal comes. */
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';
import { sglangDraftTokens, vllmDraftTokens } from '../../mock-engine/drafts.ts';
import { type MockEngineInput, type RunningMockEngine, type Speed, startMockEngine } from '../../mock-engine/index.ts';
import { mockEngineOptionsSchema } from '../../mock-engine/options.ts';
import { eagleDrafts } from '../../sim/models/draft-settings.ts';
import { type JobPresetId, jobPreset } from '../../sim/models/presets.ts';
import { type TraceWorkloadOptions, traceWorkload } from '../../sim/workload/of-trace.ts';
import { readingOf, readTraces, type TextOptions } from '../files/input/read.ts';
import { readJson } from '../files/json-file.ts';
import { bundledTraces, readTraceFile } from '../files/traces.ts';
import { print, printJson } from '../terminal/output.ts';
import { stopSignal } from '../terminal/stop-signal.ts';

/** Options as the command line gives them. */
export interface MockEngineCommandOptions
  extends TextOptions,
    Pick<TraceWorkloadOptions, 'resampling' | 'correlation'> {
  readonly api: 'sglang' | 'vllm';
  readonly engines: number;
  readonly port: number;
  readonly controlPort: number;
  readonly host: string;
  readonly speed: Speed;
  readonly settleMs: number;
  readonly preset: JobPresetId;
  readonly kvTokens?: number;
  readonly maxRunning?: number;
  readonly context: number;
  readonly cap: number;
  readonly scheduling: 'fcfs' | 'priority';
  readonly streamInterval: number;
  readonly incrementalStreaming?: boolean;
  readonly prefixCaching: boolean;
  readonly promptTokensDetails?: boolean;
  readonly tokenizeSeconds: number;
  readonly abortLagSeconds: number;
  readonly disconnectSeconds?: number;
  readonly updateSeconds?: number;
  readonly model: string;
  readonly apiKey?: string;
  readonly faults?: string;
  readonly speculativeConfig?: string;
  readonly speculativeNumSteps?: number;
  readonly speculativeNumDraftTokens?: number;
  readonly speculativeAdaptiveConfig?: string;
  readonly draftAcceptance: number;
  readonly seed: number;
  readonly json?: boolean;
}

function readFaults(path: string | undefined): MockEngineInput['faults'] {
  if (path === undefined) return [];
  const { value, within } = readJson(path, 'a JSON list of faults');
  return within(() => parse(mockEngineOptionsSchema.shape.faults, value, 'invalid_input'));
}

/** Returns the tokens that are drafted, by the options of the engine; nothing without these. */
function draftTokens(options: MockEngineCommandOptions): ReturnType<typeof vllmDraftTokens> | undefined {
  const { api, speculativeConfig, speculativeNumSteps: numSteps, speculativeNumDraftTokens: numDraftTokens } = options;
  const path = options.speculativeAdaptiveConfig;
  const [others, flag] =
    api === 'vllm'
      ? [numSteps ?? numDraftTokens ?? path, '--speculative-config']
      : [speculativeConfig, '--speculative-num-steps'];
  if (others !== undefined) refuse('invalid_input', flag, `this option with --api ${api}`, undefined);
  if (speculativeConfig !== undefined) {
    const value = parseJson(speculativeConfig);
    return vllmDraftTokens(value);
  }
  if (numSteps === undefined) {
    if ((numDraftTokens ?? path) !== undefined)
      refuse('invalid_input', flag, 'a number beside the other options of drafts', undefined);
    return undefined;
  }
  const more = numDraftTokens === undefined ? {} : { numDraftTokens };
  if (path === undefined) return sglangDraftTokens({ numSteps, ...more });
  const { value, within } = readJson(path, 'a JSON object');
  return within(() => sglangDraftTokens({ numSteps, ...more, adaptiveConfig: value }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    refuse('invalid_input', '--speculative-config', `JSON (${(error as Error).message})`, text);
  }
}

function optionsOf(options: MockEngineCommandOptions): MockEngineInput {
  const { api, engines, speed, settleMs, model, scheduling, streamInterval, tokenizeSeconds, abortLagSeconds } =
    options;
  const { disconnectSeconds, updateSeconds, apiKey } = options;
  return {
    api,
    engines,
    speed,
    settleMs,
    model,
    scheduling,
    streamInterval,
    tokenizeSeconds,
    abortLagSeconds,
    contextTokens: options.context,
    incrementalStreaming: options.incrementalStreaming ?? false,
    prefixCaching: options.prefixCaching,
    promptTokensDetails: options.promptTokensDetails ?? false,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(disconnectSeconds === undefined ? {} : { disconnectSeconds }),
    ...(updateSeconds === undefined ? {} : { updateSeconds }),
    faults: readFaults(options.faults),
  };
}

/**
 * Runs engines until a signal comes.
 *
 * @throws PolicyError for a trace, for faults or for options that are invalid; the system's error if it cannot listen
 */
export async function runMockEngine(path: string | undefined, options: MockEngineCommandOptions): Promise<void> {
  const { cost } = jobPreset(options.preset).job;
  const { kvTokens, maxRunning, port, controlPort, host, api, resampling, correlation, cap } = options;
  const [trace] =
    path === undefined ? [readTraceFile(bundledTraces().at(-1)!)] : await readTraces([path], readingOf(options), true);
  const workload = traceWorkload(trace!, { resampling, correlation, capTokens: cap })(options.seed);
  const tokens = draftTokens(options);
  const acceptance = options.draftAcceptance;
  const running = await startMockEngine({
    cost: {
      ...cost,
      ...(tokens === undefined ? {} : { drafts: eagleDrafts(cost, { ...tokens, acceptance }) }),
      ...(kvTokens === undefined ? {} : { kvCapacityTokens: kvTokens }),
      ...(maxRunning === undefined ? {} : { maxRunningSequences: maxRunning }),
    },
    workload,
    options: optionsOf(options),
    port,
    controlPort,
    host,
  });
  const stopped = stopSignal();
  if (options.json) printJson({ api, url: running.url, engineUrls: running.engineUrls, pid: process.pid });
  else say(running, api);
  await stopped;
  await running.stop();
}

function say({ url, engineUrls }: RunningMockEngine, api: string): void {
  for (const [number, engineUrl] of engineUrls.entries()) print(`engine ${number}  ${engineUrl}  (${api})`);
  print(`router    ${url}  (/workers, /clock, /fault, /stats)`);
}
