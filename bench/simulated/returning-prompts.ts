/** Jobs whose prompts come back, for the benchmarks of policies that learn from that: traces of prompts, and ServeGen. */
import { basename } from 'node:path';
import { readTraceFile } from '../../src/cli/files/traces.ts';
import type { Job } from '../../src/sim/colocated/job.ts';
import type { SchedulerResult } from '../../src/sim/comparison/result.ts';
import { type JobPresetId, jobPreset } from '../../src/sim/models/presets.ts';
import type { TracePrompt } from '../../src/sim/trace/format.ts';
import { inEpochs } from '../../src/sim/workload/epochs.ts';
import { marginalWorkload, pooledQuantile } from '../../src/sim/workload/marginal.ts';
import { tracedWorkload } from '../../src/sim/workload/traced.ts';
import { capped, type Workload } from '../../src/sim/workload/workload.ts';

const shipped = ['castillo-qwen2.5-7b-instruct-1m', 'castillo-qwen2.5-32b-instruct'];
/** A preset without reward workers; its engines are as many as the smaller batch needs. */
function jobOf(id: JobPresetId, promptsPerRound: number, responsesPerPrompt: number): { job: Job; capTokens: number } {
  const { job, capTokens } = jobPreset(id);
  const { hardware: _, rewards: _rewards, ...plain } = job;
  const share = (promptsPerRound * responsesPerPrompt) / (job.promptsPerRound * job.responsesPerPrompt);
  const engines = Math.max(1, Math.round(job.engines * share));
  return { job: { ...plain, promptsPerRound, responsesPerPrompt, engines }, capTokens };
}

/** Seconds for each prompt that is trained after the first `from`, and before `to`. */
export function secondsPerPrompt({ runs }: SchedulerResult, from: number, to = Number.POSITIVE_INFINITY): number {
  let [seconds, prompts] = [0, 0];
  for (const { steps } of runs) {
    let trained = 0;
    for (const step of steps) {
      if (trained >= from && trained < to) {
        seconds += step.endSeconds - step.startSeconds;
        prompts += step.prompts;
      }
      trained += step.prompts;
    }
  }
  return seconds / prompts;
}

/** A trace of prompts. */
export interface Trace {
  readonly name: string;
  readonly prompts: readonly TracePrompt[];
}
/** Reads traces of prompts; those that are shipped if no paths are given. */
export function tracesOf(paths: readonly string[]): Trace[] {
  const all = paths.length > 0 ? paths : shipped.map((name) => `examples/traces/${name}.jsonl`);
  return all.map((path) => {
    const { trace } = readTraceFile(path);
    if (trace.kind !== 'prompts') throw new Error(`${path}: expected a trace of prompts`);
    return { name: basename(path, '.jsonl'), prompts: trace.prompts };
  });
}

/** The preset for the longest response, and a batch of which the data set has many. */
export function shapeOf({ prompts }: Trace, responsesPerPrompt: number): { job: Job; capTokens: number } {
  const longest = Math.max(...prompts.flatMap(({ responses }) => responses.map(({ tokens }) => tokens)));
  const id = longest > 16_384 ? 'qwen2.5-32b-32k' : 'qwen2.5-14b-16k';
  return jobOf(id, prompts.length > 2000 ? 128 : 16, responsesPerPrompt);
}

/** Every recorded response is drawn at most once: each epoch has responses of its own. */
function heldOutWorkload({ name, prompts }: Trace, responses: number, capTokens: number, seed: number): Workload {
  const order = tracedWorkload({ name, prompts, capTokens, seed });
  const byId = new Map(prompts.map((one) => [one.prompt, one.responses]));
  return {
    ...order,
    prompt: (index) => {
      const epoch = Math.floor(index / prompts.length);
      const one = order.prompt(index);
      const id = one.firstId ?? one.promptId;
      const sample = (k: number) => {
        const recorded = byId.get(id)!;
        // Only tail batching draws more than its epoch has.
        return capped(recorded[(epoch * responses + k) % recorded.length]!.tokens, capTokens);
      };
      return { ...one, ...(epoch === 0 ? {} : { comesBack: id }), sample };
    },
  };
}

/** A job whose epochs, two at least, have recorded responses of their own; nothing for a trace with too few. */
export function heldOut(
  trace: Trace,
): { readonly job: Job; readonly steps: number; readonly workload: (seed: number) => Workload } | undefined {
  const least = Math.min(...trace.prompts.map(({ responses }) => responses.length));
  const responses = Math.max(1, Math.floor(least / 2));
  const epochs = Math.floor(least / responses);
  if (epochs < 2) return undefined;
  const { job, capTokens } = shapeOf(trace, responses);
  const steps = Math.floor((epochs * trace.prompts.length) / job.promptsPerRound);
  return { job, steps, workload: (seed) => heldOutWorkload(trace, responses, capTokens, seed) };
}

/** ServeGen's DeepSeek-R1, which has lengths and no prompts: responses of a prompt correlate as assumed. */
export function serveGenOf(): {
  readonly job: Job;
  readonly dataSet: number;
  readonly workload: (correlation: number, seed: number) => Workload;
} {
  const { trace } = readTraceFile('examples/traces/servegen-deepseek-r1.jsonl');
  if (trace.kind !== 'quantiles') throw new Error('expected quantiles');
  const { job, capTokens } = jobOf('qwen2.5-14b-16k', 128, 8);
  const lengths = {
    name: 'ServeGen R1',
    responseTokens: pooledQuantile(trace.rows, 'outputTokens'),
    promptTokens: pooledQuantile(trace.rows, 'inputTokens'),
    capTokens,
  };
  const dataSet = 25 * job.promptsPerRound;
  const workload = (correlation: number, seed: number): Workload =>
    inEpochs(marginalWorkload({ ...lengths, correlation, seed }), dataSet, seed);
  return { job, dataSet, workload };
}
