/** The prompts of a log in its order, with the lengths that it knows; what it does not know is drawn. */
import { sourceOf, traceFromLog } from '../workload/from-log.ts';
import type { LoggedLengths } from '../workload/log-lengths.ts';
import { type Resampling, tracedWorkload } from '../workload/traced.ts';
import { capped, samplesPerEpoch, type Workload, type WorkloadPrompt } from '../workload/workload.ts';
import type { LoggedJob, SuppliedPrompt } from './logged-job.ts';

/** What is drawn, and up to which length. */
export interface DrawOptions {
  readonly name: string;
  /** The length limit of the job, in tokens. */
  readonly capTokens: number;
  /** Seed of the draws. */
  readonly seed: number;
  /** How responses are drawn that the log does not have; `copula` if absent. */
  readonly resampling?: Resampling;
}

/** Samples from here on are drawn, whatever was recorded. */
const beyondRecorded = samplesPerEpoch / 2;

/** Where each response of the log is in the lengths. */
interface Placed {
  readonly lengths: LoggedLengths;
  /** Row of the lengths and number of the response, by prompt and sample. */
  readonly responseIndexOf: ReadonlyMap<SuppliedPrompt, ReadonlyMap<number, number>>;
}

function placed({ supplied, requests }: LoggedJob): Placed {
  const responseIndexOf = new Map<SuppliedPrompt, ReadonlyMap<number, number>>();
  let [completed, censored] = [0, 0];
  const prompts = supplied.flatMap((one) => {
    // An abort before the first token says nothing.
    const known = [...one.samples].filter(([, { tokens }]) => tokens > 0).sort(([a], [b]) => a - b);
    responseIndexOf.set(one, new Map(known.map(([sample], index) => [sample, index])));
    for (const [, sample] of known) sample.censored ? (censored += 1) : (completed += 1);
    if (known.length === 0) return [];
    const { promptTokens, domain } = one.prompt;
    const rest = {
      ...(promptTokens === undefined ? {} : { promptTokens }),
      ...(domain === undefined ? {} : { domain }),
    };
    return [{ promptId: rowId(one), ...rest, responses: known.map(([, response]) => response) }];
  });
  let unknown = 0;
  for (const { tokens } of requests.values()) if (tokens === undefined) unknown += 1;
  return { lengths: { prompts, completed, censored, unknown }, responseIndexOf };
}

/** An id of its own for each epoch of a prompt. */
const rowId = ({ prompt, epoch }: SuppliedPrompt): string =>
  epoch === 0 ? prompt.promptId : `${prompt.promptId} ${epoch}`;

/**
 * Returns the workload of `what-if`, and of `simulate --from-log`: the prompts of the log in the order of their supply, then others
 * drawn from them. A response that the log has in full is as long as there; an aborted one is drawn beyond its abort, and one that
 * it does not have as `traceFromLog` and the resampling draw it.
 *
 * @throws PolicyError `invalid_input` for a log without a response that has a token
 */
export function loggedWorkload(job: LoggedJob, options: DrawOptions): Workload {
  const { supplied } = job;
  const { lengths, responseIndexOf } = placed(job);
  const prompts = traceFromLog(lengths, { ...options, resamplesPrompts: true });
  const source = `${sourceOf(lengths)}; its prompts in their order`;
  const drawn = tracedWorkload({ ...options, source, prompts, resampling: options.resampling ?? 'copula' });
  const rowOf = new Map(prompts.map(({ prompt }, row) => [prompt, row]));
  const indexOf = new Map(prompts.map((_, index) => [drawn.prompt(index).promptId, index]));
  const { capTokens } = options;
  /** Prompts without a known response are as others that were never seen. */
  const unseen = new Map<SuppliedPrompt, number>();
  for (const one of supplied) if (!rowOf.has(rowId(one))) unseen.set(one, prompts.length + unseen.size);
  return {
    ...drawn,
    distinctPrompts: supplied.length,
    prompt: (index): WorkloadPrompt => {
      const one = supplied[index];
      if (one === undefined) return drawn.prompt(prompts.length + unseen.size + index - supplied.length);
      const { promptId, promptTokens, domain } = one.prompt;
      const like = drawn.prompt(unseen.get(one) ?? indexOf.get(rowId(one))!);
      const known = prompts[rowOf.get(rowId(one)) ?? -1]?.responses;
      const responseIndices = responseIndexOf.get(one)!;
      return {
        promptId: rowId(one),
        ...(one.epoch === 0
          ? {}
          : { comesBack: promptId, firstId: promptId, firstSample: one.epoch * samplesPerEpoch }),
        promptTokens: promptTokens ?? like.promptTokens,
        ...(domain === undefined ? {} : { task: domain }),
        sample: (k) => {
          const index = responseIndices.get(k);
          return index === undefined ? like.sample(k + beyondRecorded) : capped(known![index]!.tokens, capTokens);
        },
      };
    },
  };
}
