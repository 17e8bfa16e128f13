/** Remembers what prompts have failed that leave for a later round: one that fails in every round is given up all the same. */
import type { Failure } from '../../core/shared-faults.ts';
import { type AdmissionState, type FaultKind, type PromptState, type ResponseState, triesOf } from './state.ts';

/** Prompts whose failures are remembered, about as many as several rounds defer. */
const mostRecalled = 1024;

/** Remembers the failures of a prompt that leaves and may come back. */
export function rememberFailures(state: AdmissionState, { spec, responses }: PromptState): void {
  const { promptId } = spec;
  const failed = responses.filter(
    ({ failures, status, cause }) => status !== 'held' && cause !== 'control' && triesOf(failures) > failures.uncharged,
  );
  if (failed.length === 0) return;
  const { recalled, faults } = state;
  recalled.delete(promptId);
  recalled.set(promptId, { promptId, responses: failed.map(({ index, failures }) => ({ index, failures })) });
  if (recalled.size <= mostRecalled) return;
  const oldest = recalled.keys().next().value!;
  recalled.delete(oldest);
  faults.forget(oldest);
}

/** Returns the failures of a response without one that was none of its own. */
export function forgiven(
  failures: ResponseState['failures'],
  { kind }: Pick<Failure, 'kind'>,
): ResponseState['failures'] {
  return { ...failures, [kind]: failures[kind as FaultKind] - 1, uncharged: failures.uncharged + 1 };
}

/** Takes a failure off a prompt that is not here, since it was none of its own. */
export function forgiveRecalled({ recalled }: AdmissionState, failure: Failure): void {
  const prompt = recalled.get(failure.item);
  const response = prompt?.responses.find(({ index }) => index === failure.place);
  if (response !== undefined) response.failures = forgiven(response.failures, failure);
}
