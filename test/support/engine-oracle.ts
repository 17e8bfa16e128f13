/** The engine of `src/sim/engine`, step by step and as simply as can be: the oracle that it must equal. */
import { baseSeconds, type CostModel } from '../../src/sim/cost-model.ts';
import type { EngineRequest, Outcome } from '../../src/sim/engine/decode-engine.ts';

/** What happens to the engine from outside. */
export type Input =
  | { readonly at: number; readonly kind: 'add'; readonly request: EngineRequest }
  | { readonly at: number; readonly kind: 'abort'; readonly requestId: string };

interface Sequence {
  readonly request: EngineRequest;
  readonly arrival: number;
  generated: number;
}

/** Runs all inputs, which are in order of time, to the end. */
export function runOracle(
  cost: CostModel,
  inputs: readonly Input[],
): { outcomes: Outcome[]; preemptions: number; busySeconds: number; steps: number } {
  const waiting: Sequence[] = [];
  const running: Sequence[] = [];
  const outcomes: Outcome[] = [];
  let [now, next, preemptions, busySeconds, steps, arrivals] = [0, 0, 0, 0, 0, 0];

  const context = () => running.reduce((sum, one) => sum + one.request.promptTokens + one.generated, 0);
  const end = (one: Sequence, kind: Outcome['kind']) =>
    outcomes.push({ requestId: one.request.requestId, kind, at: now, tokens: one.generated });
  const takeInputs = () => {
    for (; next < inputs.length && inputs[next]!.at <= now; next += 1) {
      const input = inputs[next]!;
      if (input.kind === 'add') {
        waiting.push({ request: input.request, arrival: arrivals++, generated: input.request.generatedTokens ?? 0 });
        continue;
      }
      for (const list of [running, waiting]) {
        const index = list.findIndex((one) => one.request.requestId === input.requestId);
        if (index >= 0) end(list.splice(index, 1)[0]!, 'aborted');
      }
    }
  };
  const pass = (seconds: number) => {
    now += seconds;
    busySeconds += seconds;
  };

  for (;;) {
    takeInputs();
    let preempted = false;
    while (running.length > 1 && context() + running.length > cost.kvCapacityTokens) {
      waiting.unshift(running.pop()!);
      preemptions += 1;
      preempted = true;
    }
    let prefill = 0;
    while (!preempted && waiting.length > 0 && running.length < cost.maxRunningSequences) {
      const tokens = waiting[0]!.request.promptTokens + waiting[0]!.generated;
      const limit = cost.kvCapacityTokens * (running.length === 0 ? 1 : 1 - cost.watermark);
      if (context() + tokens + 1 > limit) break;
      running.push(waiting.shift()!);
      prefill += tokens;
    }
    if (prefill > 0) {
      pass(prefill * cost.prefillSecondsPerToken);
      continue;
    }
    if (running.length === 0) {
      if (next === inputs.length) return { outcomes, preemptions, busySeconds, steps };
      now = Math.max(now, inputs[next]!.at);
      continue;
    }
    pass(baseSeconds(cost, running.length) + cost.secondsPerContextToken * context());
    steps += 1;
    for (const one of running) one.generated += 1;
    const done = running.filter((one) => one.generated >= one.request.responseTokens);
    for (const one of done.sort((a, b) => a.arrival - b.arrival)) {
      running.splice(running.indexOf(one), 1);
      end(one, 'completed');
    }
  }
}
