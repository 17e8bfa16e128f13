/** The prompts of a log in order, with the lengths that the log knows; unknown lengths are drawn. */
import { sourceOf, traceFromLog } from '../workload/from-log.ts';
import type { LoggedLengths } from '../workload/log-lengths.ts';
import { type Resampling, tracedWorkload } from '../workload/traced.ts';
import { capped, samplesPerEpoch, type Workload, type WorkloadPrompt } from '../workload/workload.ts';
import type { LoggedJob, SuppliedPrompt } from './logged-job.ts';

/** Options for drawing responses that the log lacks. */
export interface DrawOptions {
  readonly name: string;
  /** The length limit of the job, in tokens. */
  readonly capTokens: number;
  /** Seed of the draws. */
  readonly seed: number;
  /** How responses are drawn that the log lacks; `copula` if absent. */
  readonly resampling?: Resampling;
}

/** Samples from here on are drawn, whatever was recorded. */
const beyondRecorded = samplesPerEpoch / 2;

/** Where to find each response of the log in the lengths. */
interface Placed {
  readonly lengths: LoggedLengths;
  /** By prompt and sample: the row in the lengths, and the number of the response. */
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

/** Gives each epoch of a prompt its own id. */
const rowId = ({ prompt, epoch }: SuppliedPrompt): string =>
  epoch === 0 ? prompt.promptId : `${prompt.promptId} ${epoch}`;

/**
 * Returns the workload of `what-if`, and of `simulate --from-log`: the prompts of the log in the order of supply, then further
 * prompts drawn from these. A response that is complete in the log keeps its length; an aborted response is drawn beyond its
 * abort, and a missing response as `traceFromLog` and the resampling draw it.
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
  /** Prompts without a known response are treated like prompts that were never seen. */
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
