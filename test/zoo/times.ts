/** How long the parts of a host take, and what they lose. */
import type { AnyDecision } from '../../src/core/machine/definition.ts';
import { normal } from '../../src/sim/workload/random.ts';
import type { Report } from '../../src/testing/hosts/obedience.ts';
import type { ZooHost } from './host.ts';

/** What distinguishes one host from another. */
export interface Manner {
  readonly seed: number;
  /** Ids of its engines. */
  readonly engines: readonly string[];
  /** Median seconds of a response (default 60). */
  readonly responseSeconds?: number;
  /** Standard deviation of the logarithm of these seconds (default 0.6). */
  readonly tail?: number;
  /** Share of requests that wait for their environment once (default 0). */
  readonly turns?: number;
  /** How often its source supplies prompts; always if absent. */
  readonly supplies?: number;
  /** Median seconds of reports, in place of the usual ones. */
  readonly medians?: Readonly<Record<string, number>>;
  /** What becomes of a report: nothing where it gets lost, or is never made. */
  readonly fault?: (report: Report, cause: AnyDecision | undefined, host: ZooHost) => Report | undefined;
}

const usual: Readonly<Record<string, number>> = {
  'prompts.supplied': 1.5,
  'request.started': 0.05,
  'request.aborted': 0.4,
  'tool.started': 12,
  'tool.finished': 30,
  'reward.ready': 2,
  'reward.finished': 6,
  'prompt.judged': 1.2,
  'update.consumed': 25,
  'train.consumed': 18,
  'train.finished': 18,
  'optimizer.stepped': 3,
  'weights.published': 11,
  'progress.reported': 0.6,
  'request.migrated': 2,
  'gpus.released': 5,
  'gpus.returned': 8,
  'sample.preprocessed': 4,
  'slice.materialized': 0.5,
  'sandbox.finished': 5,
};

/** Seconds until a report comes. */
export function secondsOf(report: Report, cause: AnyDecision, host: ZooHost): number {
  const { manner } = host;
  const requestId = report.requestId as string;
  if (report.type === 'response.completed') return host.running.get(requestId)?.seconds ?? 1;
  const median = manner.medians?.[report.type] ?? usual[report.type] ?? 0.1;
  const seconds = median * Math.exp(0.35 * normal(manner.seed, 7919, Math.floor(host.draw() * 1e9)));
  // It resumes after it has waited.
  if (report.type === 'tool.finished') return 30 + seconds;
  const { budgetSeconds, timeoutSeconds } = cause as { budgetSeconds?: number; timeoutSeconds?: number };
  return Math.min(seconds, 0.9 * (budgetSeconds ?? timeoutSeconds ?? Number.POSITIVE_INFINITY));
}
