/**
 * Shows what divided rollout can reach at most, against which the policy is held: a scheduler that knows all lengths, on the same
 * engines with the same costs of chunks, and a bound. The longest responses begin first, wherever there is room; each gets a chunk
 * that ends when the KV cache is full, or with the response. The oracle is a schedule, and not the best one.
 */
import type { AnyDecision, AnyEvent } from '../../../src/core/machine/definition.ts';
import { create } from '../../../src/core/machine/start.ts';
import { speculativeAdmission } from '../../../src/policies/speculative-admission/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/decisions/index.ts';
import type { VocabularyEvent } from '../../../src/schemas/events/index.ts';
import { clairvoyantLowerBound } from '../../../src/sim/bounds/lower-bound.ts';
import type { DrivenPolicy } from '../../../src/sim/cluster/event-loop.ts';
import { numbered } from '../../../src/sim/cluster/ids.ts';
import type { Job } from '../../../src/sim/colocated/job.ts';
import { type Scheduler, synchronousBaseline } from '../../../src/sim/colocated/scheduler.ts';
import { baseSeconds, type CostModel, secondsOfPrefill } from '../../../src/sim/models/cost-model.ts';
import type { Workload } from '../../../src/sim/workload/workload.ts';
import { contextsOf, leastSeconds } from './bounds.ts';

const chunkSeconds = 0.03;

/** How an oracle schedules. */
export interface DividedVariant {
  /** Fewest tokens of a chunk that does not end its response. */
  readonly least: number;
  /** Where a response is in the order, the largest first; by default its length. */
  readonly rank?: (tokens: number, requestId: string) => number;
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
  /** Most steps in which a chunk that goes on is on its way. */
  readonly #late: number;
  /** Steps so far, at most. */
  progress = 0;
  /** By id: tokens of the context as if it had begun at step 0, the latest step of its end, and how much earlier that may be. */
  readonly running = new Map<string, { readonly context: number; readonly end: number; readonly late: number }>();

  constructor(id: string, cost: CostModel) {
    this.id = id;
    this.#cost = cost;
    this.#late = 1 + Math.ceil(chunkSeconds / baseSeconds(cost, 1));
  }

  /** Tokens that a response can generate until it, or another one, would have to be preempted. */
  room({ promptTokens, tokens, done }: Response): number {
    const { kvCapacityTokens, watermark } = this.#cost;
    if (this.running.size === 0) return tokens - done;
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

/** Chunks of at least so many tokens, of which the best counts: short ones fill KV caches, and each costs a way to the host. */
export const leastChunks = [32, 64, 128, 256];

/** Returns the oracle. It is good for the first 64 rounds of a workload. */
export function dividedOracle(
  job: Job,
  workload: Workload,
  { least, rank = (tokens) => tokens }: DividedVariant,
): Scheduler {
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
      const engines = Array.from({ length: job.engines }, (_, index) => new KnownEngine(ids[index]!, job.cost));
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
            if (best !== undefined && engine.left >= best.left) continue;
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
              const one = { requestId, promptTokens, tokens, done: 0, rank: rank(tokens, requestId) };
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

/** Returns seconds that no schedule of these rounds beats: the longest response alone, or all work on engines that are full. */
export function dividedBound(job: Job, workload: Workload, rounds: number): number {
  const { cost, engines, promptsPerRound, responsesPerPrompt } = job;
  let seconds = rounds * cost.fixedRolloutSeconds;
  for (let round = 0; round < rounds; round += 1) {
    let [tokens, contextTokens, readSeconds] = [0, 0, 0];
    const prompts = Array.from({ length: promptsPerRound }, (_, place) => {
      const { promptTokens, sample } = workload.prompt(round * promptsPerRound + place);
      const responseTokens = Array.from({ length: responsesPerPrompt }, (_one, index) => sample(index).tokens);
      readSeconds += cost.prefillInterference * secondsOfPrefill(cost, promptTokens);
      for (const length of responseTokens) {
        tokens += length;
        contextTokens += contextsOf(promptTokens, length);
      }
      return { promptTokens, responseTokens };
    });
    const work = leastSeconds(cost, { tokens, contextTokens, ownTokens: contextTokens, readSeconds });
    const { stragglerSeconds } = clairvoyantLowerBound(prompts, promptsPerRound, engines, cost);
    seconds += Math.max(stragglerSeconds, work / engines);
  }
  return seconds;
}
