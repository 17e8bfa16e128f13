import type { AnyDecision, AnyEvent } from '../../../src/core/machine/definition.ts';
import { create } from '../../../src/core/machine/start.ts';
import { speculativeAdmission } from '../../../src/policies/speculative-admission/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/decisions/index.ts';
import type { VocabularyEvent } from '../../../src/schemas/events/index.ts';
import { numbered } from '../../../src/sim/cluster/ids.ts';
import type { DrivenPolicy } from '../../../src/sim/cluster/event-loop.ts';
import type { Job } from '../../../src/sim/colocated/job.ts';
import { baseSeconds, type CostModel } from '../../../src/sim/models/cost-model.ts';
import { type Scheduler, synchronousBaseline } from '../../../src/sim/colocated/scheduler.ts';
import type { Workload } from '../../../src/sim/workload/workload.ts';

const chunkSeconds = 0.03;

/** How an oracle schedules. */
export interface DividedVariant {
  /** Fewest tokens of a chunk that does not end its response. */
  readonly least: number;
  /** Most responses on an engine. */
  readonly limit: number;
  /** Where a response of so many tokens is in the order; the largest is first. */
  readonly rank: (tokens: number, promptTokens: number, requestId: string) => number;
}

interface Response {
  readonly requestId: string;
  readonly promptTokens: number;
  readonly tokens: number;
  readonly rank: number;
  done: number;
}

/** An engine whose responses are known: they grow by a token a step together, so that all that it will hold is known. */
class KnownEngine {
  readonly id: string;
  readonly #cost: CostModel;
  readonly #limit: number;
  /** Most steps in which a chunk that goes on is on its way. */
  readonly #late: number;
  /** Steps so far, at most. */
  progress = 0;
  /** By id: tokens of the context as if it had begun at step 0, the step of its end, and whether this step is certain. */
  readonly running = new Map<string, { readonly context: number; readonly end: number; readonly late: number }>();

  constructor(id: string, cost: CostModel, limit: number) {
    this.id = id;
    this.#cost = cost;
    this.#limit = limit;
    this.#late = 1 + Math.ceil(chunkSeconds / baseSeconds(cost, 1));
  }

  /** Tokens that a response can generate until it, or another one, would have to be preempted. */
  room({ promptTokens, tokens, done }: Response): number {
    const { kvCapacityTokens, watermark } = this.#cost;
    if (this.running.size === 0) return tokens - done;
    if (this.running.size >= this.#limit) return 0;
    const now = this.progress;
    const others = [...this.running.values()].sort((one, other) => one.end - other.end);
    const context = promptTokens + done - now;
    let held = others.reduce((sum, one) => sum + one.context, context);
    let size = others.length + 1;
    if (held + size * now + 1 > kvCapacityTokens * (1 - watermark)) return 0;
    const late = done > 0 ? this.#late : 0;
    for (const one of others) {
      const last = Math.floor((kvCapacityTokens - held) / size);
      if (last < one.end) return Math.min(tokens - done, Math.max(0, last - now - late));
      held -= one.context;
      size -= 1;
    }
    return tokens - done;
  }

  begin({ requestId, promptTokens, done }: Response, tokens: number): void {
    const late = done > 0 && this.running.size > 0 ? this.#late : 0;
    const context = promptTokens + done - this.progress;
    this.running.set(requestId, { context, end: this.progress + late + tokens, late });
  }

  end(requestId: string): void {
    const { end, late } = this.running.get(requestId)!;
    this.running.delete(requestId);
    this.progress = this.running.size === 0 ? 0 : Math.max(this.progress, end - late);
  }

  /** Steps that are left, of all its responses. */
  get left(): number {
    let sum = 0;
    for (const { end } of this.running.values()) sum += Math.max(0, end - this.progress);
    return sum;
  }
}

export function dividedOracle(job: Job, workload: Workload, { limit, rank, least }: DividedVariant): Scheduler {
  const { promptsPerRound, responsesPerPrompt } = job;
  const config = { promptsPerRound, responsesPerPrompt, placement: 'host' } as const;
  const known = new Map<string, ReturnType<Workload['prompt']>>();
  for (let index = 0; index < 64 * promptsPerRound; index += 1) {
    const prompt = workload.prompt(index);
    if (!known.has(prompt.promptId)) known.set(prompt.promptId, prompt);
  }
  return {
    ...synchronousBaseline(job),
    id: 'oracle',
    chunks: { chunkSeconds },
    create: (options): DrivenPolicy => {
      const admission = create(speculativeAdmission, config, options) as unknown as DrivenPolicy;
      const ids = numbered('engine', job.engines);
      const engines = Array.from({ length: job.engines }, (_, index) => new KnownEngine(ids[index]!, job.cost, limit));
      const engineOf = new Map<string, KnownEngine>();
      const responses = new Map<string, Response>();
      let waiting: Response[] = [];
      const fill = (among: readonly KnownEngine[], at: number): object[] => {
        const begun: object[] = [];
        waiting = waiting.filter((one) => {
          let best: KnownEngine | undefined;
          let tokens = 0;
          for (const engine of among) {
            const room = engine.room(one);
            if (room < Math.min(least, one.tokens - one.done)) continue;
            if (best !== undefined && (engine.left > best.left)) continue;
            [best, tokens] = [engine, room];
          }
          if (best === undefined) return true;
          best.begin(one, tokens);
          const { requestId, done: fromTokens } = one;
          engineOf.set(requestId, best);
          begun.push({ type: 'chunk.continue', at, requestId, engineId: best.id, fromTokens, tokens });
          return false;
        });
        return begun;
      };
      return {
        id: 'oracle',
        takes: (type) => type === 'chunks.requested' || type === 'chunk.finished' || (admission.takes?.(type) ?? true),
        send: (given: AnyEvent): readonly AnyDecision[] => {
          const event = given as VocabularyEvent;
          const { at } = event;
          if (event.type === 'chunks.requested') {
            for (const { requestId, promptTokens } of event.requests) {
              const { tokens } = responses.get(requestId)!;
              const one = { requestId, promptTokens, tokens, done: 0, rank: rank(tokens, promptTokens, requestId) };
              responses.set(requestId, one);
              waiting.push(one);
            }
            waiting.sort((a, b) => b.rank - a.rank);
            return fill(engines, at) as AnyDecision[];
          }
          if (event.type === 'chunk.finished') {
            const one = responses.get(event.requestId)!;
            one.done = event.tokens;
            const engine = engineOf.get(event.requestId)!;
            engine.end(event.requestId);
            const after = waiting.findIndex((other) => other.rank - other.done <= one.rank - one.done);
            waiting.splice(after < 0 ? waiting.length : after, 0, one);
            return fill([engine], at) as AnyDecision[];
          }
          const decisions = [...admission.send(given)] as VocabularyDecision[];
          for (const one of decisions) {
            if (one.type !== 'request.launch') continue;
            const { requestId, promptId, index } = one;
            const tokens = known.get(promptId)!.sample(index).tokens;
            responses.set(requestId, { requestId, promptTokens: 0, tokens, rank: 0, done: 0 });
          }
          if (event.type === 'response.completed') {
            const engine = engineOf.get(event.requestId)!;
            engine.end(event.requestId);
            decisions.push(...(fill([engine], at) as VocabularyDecision[]));
          }
          return decisions as AnyDecision[];
        },
      };
    },
  };
}
