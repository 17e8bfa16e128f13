/**
 * Counts failures of responses, including those of prompts that leave for a later round: a prompt that fails in every round is
 * given up even so.
 */
import type { Failure } from '../../core/rollout/shared-faults.ts';
import { type AdmissionState, type FaultKind, noFailures, type PromptState, type ResponseState } from './state.ts';

type Failures = ResponseState['failures'];

/** Number of prompts whose failures are remembered; about as many as several rounds defer. */
const mostRecalled = 1024;

/** Returns the number of a response's failures of one kind: its own failures, and unjudged ones. */
export function failuresOf(
  { faults }: AdmissionState,
  { prompt, index, failures }: ResponseState,
  kind: FaultKind,
): number {
  let all = failures[kind];
  for (const one of faults.openOf(prompt.spec.promptId)) if (one.place === index && one.kind === kind) all += 1;
  return all;
}

/** Returns the failures of a response after a failure that was not charged has proven to be its own. */
export function charged(failures: Failures, { kind }: Pick<Failure, 'kind'>): Failures {
  const own = failures[kind as FaultKind] + 1;
  return { ...failures, [kind]: own, uncharged: Math.max(0, failures.uncharged - 1) };
}

/** Remembers the own failures of a prompt that leaves and may come back. */
export function rememberFailures(state: AdmissionState, { spec, responses }: PromptState): void {
  const own = responses.flatMap(({ index, failures, status, cause }) => {
    const { uncharged, ...kinds } = failures;
    const hasFailed = Object.values(kinds).some((one) => one > 0);
    return hasFailed && status !== 'held' && cause !== 'control' ? [{ index, failures }] : [];
  });
  if (own.length > 0) remember(state, spec.promptId, own);
}

/** Charges a failure to a prompt that is not here, or is not started yet. */
export function chargeRecalled(state: AdmissionState, failure: Failure): void {
  const { item, place: index } = failure;
  const before = state.recalled.get(item)?.responses ?? [];
  const failures = before.find((one) => one.index === index)?.failures ?? noFailures;
  const others = before.filter((one) => one.index !== index);
  remember(state, item, [...others, { index, failures: charged(failures, failure) }]);
}

function remember(state: AdmissionState, promptId: string, responses: { index: number; failures: Failures }[]): void {
  const { recalled, faults } = state;
  recalled.delete(promptId);
  recalled.set(promptId, { promptId, responses });
  if (recalled.size <= mostRecalled) return;
  const oldest = recalled.keys().next().value!;
  recalled.delete(oldest);
  faults.forget(oldest);
}
