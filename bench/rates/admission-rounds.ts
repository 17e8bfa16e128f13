/** Rounds of speculative-admission with a host that does no more than it must. */
import { create, type PolicyOf, speculativeAdmission } from '../../src/index.ts';

type Policy = PolicyOf<typeof speculativeAdmission>;

/** One round: completions in an order that has nothing to do with prompts. Gives the completions sent. */
function round(policy: Policy, roundId: string, at: number, ids: readonly string[]): number {
  const prompts = ids.map((promptId) => ({ promptId }));
  const opened = policy.send({ type: 'round.opened', at, roundId, kind: 'short', weightVersion: 0, prompts });
  const launched: string[] = [];
  for (const decision of opened) if (decision.type === 'request.launch') launched.push(decision.requestId);
  const aborted = new Set<string>();
  let completions = 0;
  let open = true;
  for (let step = 0; open; step += 1) {
    const requestId = launched[(step * 7919) % launched.length]!;
    if (aborted.has(requestId)) continue;
    completions += 1;
    for (const decision of policy.send({ type: 'response.completed', at, requestId, tokens: 800 })) {
      if (decision.type === 'request.abort') aborted.add(decision.requestId);
      else if (decision.type === 'round.completed') open = false;
    }
  }
  for (const requestId of aborted) policy.send({ type: 'request.aborted', at, requestId });
  return completions;
}

/** A policy and its host, warmed up by one pass; each call measures another pass, of some rounds, on the same policy. */
export function completionsPerSecond(validate: boolean, rounds: number, promptsPerRound = 128): () => number {
  const policy = create(speculativeAdmission, { promptsPerRound, responsesPerPrompt: 8 }, { validate });
  const ids = Array.from({ length: Math.ceil(promptsPerRound * 1.25) }, (_, index) => `prompt-${index}`);
  let opened = 0;
  const pass = () => {
    let completions = 0;
    const start = performance.now();
    for (let index = 0; index < rounds; index += 1) {
      completions += round(policy, `r${opened}`, opened, ids);
      opened += 1;
    }
    return completions / ((performance.now() - start) / 1000);
  };
  pass();
  return pass;
}
