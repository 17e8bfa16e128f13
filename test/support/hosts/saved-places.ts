/** Where the built-in policies keep prompts and responses: read from their saved states, not from their ledgers. */
import type { Prompt } from '../../../src/schemas/index.ts';
import type { Places } from '../../../src/testing/index.ts';

/** States of policies, of which only what each holds is read. */
interface SavedParts {
  parts?: {
    queue?: { state: { entries: { prompt: Prompt }[]; unused: Prompt[] } };
    composition?: { state: { due: Prompt[]; window: { prompt: Prompt }[]; copies: Prompt[]; later: Prompt[] } };
    admission: { state: SavedAdmission };
    selection?: { state: { taken: { prompt: Prompt }[]; last: { prompt: Prompt }[] } };
    assembly?: { state: { open: { members: { requestId: string }[] }[] } };
  };
}
interface SavedAdmission {
  prompts: { spec: Prompt; status: string; responses: { status: string; requestId: string }[] }[];
  settling: SavedAdmission['prompts'];
}

/** What speculative-admission, or a recipe with it and the queue or the composition, holds. */
export function savedPlaces(state: unknown): Places {
  const saved = state as SavedAdmission & SavedParts;
  const admission = saved.parts?.admission.state ?? saved;
  const queue = saved.parts?.queue?.state;
  const composition = saved.parts?.composition?.state;
  const selection = saved.parts?.selection?.state;
  const prompts: string[] = [];
  const responses: string[] = [];
  const kept = (prompt: Prompt) => {
    for (const one of prompt.kept ?? []) if (one.finished) responses.push(one.requestId);
  };
  const waiting = [
    ...(queue?.entries.map((one) => one.prompt) ?? []),
    ...(queue?.unused ?? []),
    ...(composition?.window.map((one) => one.prompt) ?? []),
    ...(composition?.due ?? []),
    ...(composition?.copies ?? []),
    ...(composition?.later ?? []),
    ...(selection?.taken.map((one) => one.prompt) ?? []),
    ...(selection?.last.map((one) => one.prompt) ?? []),
  ];
  for (const prompt of waiting) {
    prompts.push(prompt.promptId);
    kept(prompt);
  }
  for (const one of [...admission.prompts, ...admission.settling]) {
    prompts.push(one.spec.promptId);
    if (one.status === 'standby') kept(one.spec);
    else for (const { status, requestId } of one.responses) if (status === 'held') responses.push(requestId);
  }
  return { prompts, responses };
}

/**
 * What group-assembly keeps of prompts that do not count, and no prompt of the admission or of the queue holds. There must be none: nobody
 * will ever name it again.
 */
export function strayResponses(state: unknown): string[] {
  const { assembly } = (state as SavedParts).parts!;
  const held = new Set(savedPlaces(state).responses);
  return assembly!.state.open
    .flatMap(({ members }) => members.map((one) => one.requestId))
    .filter((id) => !held.has(id));
}
