/** The engine of `src/sim/engine`, step by step and as simply as can be: the oracle that it must equal. */

import type { EngineRequest, LostRequest, Outcome } from '../../../src/sim/engine/decode-engine.ts';
import { Drafting } from '../../../src/sim/engine/drafting.ts';
import { baseSeconds, type CostModel, secondsOfPrefill } from '../../../src/sim/models/cost-model.ts';

/** What happens to the engine from outside. */
export type Input =
  | { readonly at: number; readonly kind: 'add'; readonly request: EngineRequest }
  | { readonly at: number; readonly kind: 'abort'; readonly requestId: string }
  | { readonly at: number; readonly kind: 'lose' };

/** The counters of an engine. */
export interface Counters {
  busySeconds: number;
  prefillSeconds: number;
  decodeSeconds: number;
  decodeSteps: number;
  preemptions: number;
  recomputedTokens: number;
  generatedTokens: number;
}

/** All that can be seen of an engine. */
export interface EngineRun {
  readonly outcomes: Outcome[];
  /** What each loss gave back. */
  readonly losses: LostRequest[][];
  readonly counters: Counters;
}

interface Sequence {
  readonly request: EngineRequest;
  readonly arrival: number;
  generated: number;
}

/** Runs all inputs, which are in order of time, to the end. */
export function runOracle(
  cost: CostModel,
  inputs: readonly Input[],
  scheduling: 'fcfs' | 'priority' = 'fcfs',
): EngineRun {
  const waiting: Sequence[] = [];
  const running: Sequence[] = [];
  const outcomes: Outcome[] = [];
  const losses: LostRequest[][] = [];
  const counters: Counters = {
    busySeconds: 0,
    prefillSeconds: 0,
    decodeSeconds: 0,
    decodeSteps: 0,
    preemptions: 0,
    recomputedTokens: 0,
    generatedTokens: 0,
  };
  let [now, next, arrivals] = [0, 0, 0];

  // What is drafted for a batch is asked before every step, and what was accepted is counted after it.
  const drafting = cost.drafts === undefined ? undefined : new Drafting(cost, cost.drafts);
  const draftedOf = (size: number) => (drafting === undefined ? 0 : drafting.tokensFor(size, context()));
  const whole = (one: Sequence) => Math.min(one.request.responseTokens, Math.floor(one.generated + 1e-6));
  const tokensOf = (one: Sequence) => one.request.promptTokens + one.generated;
  const context = () => running.reduce((sum, one) => sum + tokensOf(one), 0);
  const byPriority = (a: Sequence, b: Sequence) =>
    (a.request.priority ?? 0) - (b.request.priority ?? 0) || a.arrival - b.arrival;
  const inOrder = () => {
    if (scheduling === 'priority') waiting.sort(byPriority);
  };
  const byArrival = (list: Sequence[]) => list.sort((a, b) => a.arrival - b.arrival);
  const end = (one: Sequence, kind: Outcome['kind']) =>
    outcomes.push({ requestId: one.request.requestId, kind, at: now, tokens: whole(one) });
  const add = (request: EngineRequest) =>
    waiting.push({ request, arrival: arrivals++, generated: request.generatedTokens ?? 0 });
  const lose = () => {
    const lost = byArrival([...running.splice(0), ...waiting.splice(0)]);
    losses.push(lost.map((one) => ({ requestId: one.request.requestId, tokens: whole(one) })));
  };
  const takeInputs = () => {
    for (; next < inputs.length && inputs[next]!.at <= now; next += 1) {
      const input = inputs[next]!;
      if (input.kind === 'add') add(input.request);
      else if (input.kind === 'lose') lose();
      else {
        for (const list of [running, waiting]) {
          const index = list.findIndex((one) => one.request.requestId === input.requestId);
          if (index >= 0) end(list.splice(index, 1)[0]!, 'aborted');
        }
      }
    }
  };
  /** Lets a prefill or a step pass; false if the engine is lost before its end. */
  const pass = (kind: 'prefillSeconds' | 'decodeSeconds', seconds: number): boolean => {
    const loss = inputs.findIndex((input, index) => index >= next && input.kind === 'lose');
    const isCut = loss >= 0 && inputs[loss]!.at < now + seconds;
    const until = isCut ? inputs[loss]!.at : now + seconds;
    counters[kind] += until - now;
    counters.busySeconds += until - now;
    now = until;
    if (!isCut) return true;
    for (; next < loss; next += 1) {
      const input = inputs[next]!;
      if (input.kind === 'add') add(input.request);
    }
    lose();
    next = loss + 1;
    return false;
  };

  for (;;) {
    takeInputs();
    let preempted = false;
    const needed = () => context() + running.length * (1 + draftedOf(running.length));
    while (running.length > 1 && needed() > cost.kvCapacityTokens) {
      const victim = scheduling === 'priority' ? [...running].sort(byPriority).at(-1)! : running.at(-1)!;
      running.splice(running.indexOf(victim), 1);
      waiting.unshift(victim);
      counters.preemptions += 1;
      victim.generated = whole(victim);
      counters.recomputedTokens += tokensOf(victim);
      preempted = true;
    }
    inOrder();
    let [admitted, prefill] = [0, 0];
    const share = running.length > 0 ? cost.prefillInterference : 1;
    while (!preempted && waiting.length > 0 && running.length < cost.maxRunningSequences) {
      const tokens = tokensOf(waiting[0]!);
      const limit = running.length === 0 ? cost.kvCapacityTokens : cost.kvCapacityTokens * (1 - cost.watermark);
      const drafted = running.length === 0 ? 0 : (running.length + 1) * draftedOf(running.length + 1);
      if (context() + tokens + 1 + drafted > limit) break;
      const { promptKey, promptTokens } = waiting[0]!.request;
      const isShared = promptKey !== undefined && running.some((one) => one.request.promptKey === promptKey);
      const computed = isShared ? Math.max(0, Math.min(promptTokens, tokens - 1)) : 0;
      running.push(waiting.shift()!);
      prefill += secondsOfPrefill(cost, tokens) - secondsOfPrefill(cost, computed);
      admitted += 1;
    }
    if (admitted > 0) {
      pass('prefillSeconds', share * prefill);
      continue;
    }
    if (running.length === 0) {
      if (next === inputs.length) return { outcomes, losses, counters };
      now = Math.max(now, inputs[next]!.at);
      continue;
    }
    const drafted = draftedOf(running.length);
    const seconds = drafting?.secondsOf(running.length, drafted) ?? baseSeconds(cost, running.length);
    if (!pass('decodeSeconds', seconds + cost.secondsPerContextToken * context())) continue;
    const tokens = drafting?.yieldOf(drafted) ?? 1;
    drafting?.observe(1, running.length, drafted);
    counters.decodeSteps += 1;
    counters.generatedTokens += running.length * tokens;
    for (const one of running) one.generated += tokens;
    const done = running.filter((one) => whole(one) >= one.request.responseTokens);
    for (const one of byArrival(done)) {
      running.splice(running.indexOf(one), 1);
      end(one, 'completed');
    }
  }
}
