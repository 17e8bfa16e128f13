/** Remembers what prompts have failed that leave for a later round: one that fails in every round is given up all the same. */
import type { Failure } from '../../core/shared-faults.ts';
import { forgiven, giveUpProven, isBeyond, setAside } from './faults.ts';
import { enqueue } from './launch.ts';
import type { Ctx } from './schema.ts';
import { type AdmissionState, type PromptState, triesOf } from './state.ts';

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

/** Queues the responses of a prompt that is started, with what they have failed before. */
export function enqueueAll(state: AdmissionState, prompt: PromptState, ctx: Ctx): void {
  const { promptId } = prompt.spec;
  const before = state.recalled.get(promptId);
  state.recalled.delete(promptId);
  for (const response of [...prompt.responses]) {
    if (response.status !== 'pending') continue;
    const failures = before?.responses.find(({ index }) => index === response.index)?.failures;
    if (failures !== undefined) response.failures = failures;
    if (failures === undefined || !isBeyond(state, response)) enqueue(state, response, 'planned');
    else {
      response.lastFault = { scope: 'engine', id: null, at: ctx.at };
      setAside(state, response, ctx.at);
    }
  }
  if (before === undefined) return;
  for (const response of [...prompt.responses]) if (response.status === 'aside') giveUpProven(state, response, ctx);
}

/** Takes a failure off a prompt that is not here, since it was none of its own. */
export function forgiveRecalled({ recalled }: AdmissionState, failure: Failure): void {
  const prompt = recalled.get(failure.item);
  const response = prompt?.responses.find(({ index }) => index === failure.place);
  if (response !== undefined) response.failures = forgiven(response.failures, failure);
}
