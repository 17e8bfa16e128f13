/** What must never be lost: prompts, and responses that were generated. */
import type { Ledger } from '../../core/definition.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import type { AdmissionDecision, AdmissionEvent } from './decisions.ts';
import { type AdmissionConfig, mostResponses } from './schema.ts';
import type { SavedAdmission } from './snapshot.ts';

/** One for all: most events bring nothing in, and most decisions let nothing out. */
const none: readonly string[] = Object.freeze([]);

type AdmissionLedger = Ledger<SavedAdmission, AdmissionEvent, AdmissionDecision, AdmissionConfig>;

const finishedIds = (prompt: Prompt): string[] =>
  (prompt.kept ?? []).filter((one) => one.finished).map((one) => one.requestId);
const ids = (list: readonly { requestId: string }[]): string[] => list.map((one) => one.requestId);

/** Prompts enter with a round or a supply, and leave final, deferred, returned, filtered, quarantined or merged. */
export const promptLedger: AdmissionLedger = {
  name: 'prompts',
  entered: (event) =>
    event.type === 'round.opened' || event.type === 'prompts.supplied'
      ? event.prompts.map((one) => one.promptId)
      : none,
  left: (decision) => {
    switch (decision.type) {
      case 'round.completed':
        return decision.prompts.map((one) => one.promptId);
      case 'prompt.deferred':
      case 'prompt.returned':
        return [decision.prompt.promptId];
      case 'prompt.filtered':
      case 'prompt.quarantined':
      case 'prompt.merged':
        return [decision.promptId];
      default:
        return none;
    }
  },
  held: (saved) => [...saved.prompts, ...saved.settling].map((one) => one.spec.promptId),
  mints: mostResponses,
};

/** Responses enter complete, or kept inside a prompt, and leave final, dropped by name, surplus, or kept again. */
export const responseLedger: AdmissionLedger = {
  name: 'responses',
  entered: (event) => {
    if (event.type === 'response.completed') return [event.requestId];
    if (event.type === 'round.opened' || event.type === 'prompts.supplied') return event.prompts.flatMap(finishedIds);
    return none;
  },
  left: (decision) => {
    switch (decision.type) {
      case 'round.completed':
        return decision.prompts.flatMap((one) => ids(one.responses));
      case 'prompt.deferred':
      case 'prompt.returned':
        return [...ids(decision.dropped), ...finishedIds(decision.prompt)];
      case 'prompt.filtered':
      case 'prompt.quarantined':
      case 'prompt.merged':
        return ids(decision.dropped);
      case 'response.surplus':
        return [decision.requestId];
      case 'response.late':
        return decision.reason.code === 'completion' ? [decision.requestId] : none;
      case 'response.dropped':
        return decision.finished ? [decision.requestId] : none;
      default:
        return none;
    }
  },
  held: (saved) =>
    [...saved.prompts, ...saved.settling].flatMap((prompt) =>
      prompt.status === 'standby'
        ? finishedIds(prompt.spec)
        : ids(prompt.responses.filter((one) => one.status === 'held')),
    ),
};
