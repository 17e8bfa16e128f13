/**
 * Shows what program-scheduling can reach at most, against which the policy is held: a scheduler that knows all turns and the times of all
 * tools, in the same simulator, and a bound. Programs that need most time alone are first, and those that need least make room.
 */
import type { AnyDecision, AnyEvent } from '../../../src/core/machine/definition.ts';
import type { VocabularyEvent } from '../../../src/schemas/events/index.ts';
import type { DrivenPolicy } from '../../../src/sim/cluster/event-loop.ts';
import type { AgenticJob, AgenticProgram, AgenticScheduler, AgenticWorkload } from '../../../src/sim/index.ts';
import { baseSeconds, type CostModel } from '../../../src/sim/models/cost-model.ts';
import { contextsOf, leastSeconds } from './bounds.ts';

/** How an oracle schedules. */
export interface ProgramVariant {
  /** Part of its growth to come for which a program that is let in has room kept: with 1, none has to make room again. */
  readonly growth: number;
  /** Most programs on an engine. */
  readonly limit: number;
}
/** The variants of which the best counts. */
export const programVariants: readonly ProgramVariant[] = [Infinity, 24].flatMap((limit) =>
  [0, 0.5, 1].map((growth) => ({ growth, limit })),
);

interface Known {
  readonly requestId: string;
  readonly promptId: string;
  readonly promptTokens: number;
  /** By turn: seconds from its beginning to the end of the program alone. */
  readonly secondsLeft: readonly number[];
  /** Own tokens at the end. */
  readonly lastTokens: number;
  turn: number;
  ownTokens: number;
  engine: Engine | undefined;
  /** Engine that has run its latest turn. */
  home: Engine | undefined;
  runs: boolean;
}

interface Engine {
  readonly id: string;
  readonly members: Set<Known>;
}

/** Tokens of a turn, for the choice between an engine that has a context and one with less to do. */
const usualTokens = 200;

/** Seconds that a program needs alone, from each of its turns on, without the context with which it begins. */
function aloneSeconds({ turns, contextTokens }: AgenticProgram, cost: CostModel): number[] {
  let context = contextTokens;
  const each = turns.map(({ generatedTokens, toolSeconds = 0, toolTokens = 0 }, index) => {
    const reading = cost.secondsPerContextToken * contextsOf(context, generatedTokens);
    const decoding = generatedTokens * baseSeconds(cost, 1) + reading;
    context += generatedTokens + toolTokens;
    if (index === turns.length - 1) return decoding;
    return decoding + toolSeconds + Math.max(1, toolTokens) * cost.prefillSecondsPerToken;
  });
  for (let index = each.length - 2; index >= 0; index -= 1) each[index]! += each[index + 1]!;
  return each;
}

/** Returns seconds that no schedule beats: the longest program alone, or all work on engines that are full. */
export function programBound({ engines, cost }: AgenticJob, { programs }: AgenticWorkload): number {
  const read = new Map<string, number>();
  let [tokens, contextTokens, ownTokens, readTokens, longest] = [0, 0, 0, 0, 0];
  for (const program of programs) {
    const { promptId, environment = 'default', sharedTokens = 0, turns } = program;
    read.set(`environment ${environment}`, Math.max(sharedTokens, read.get(`environment ${environment}`) ?? 0));
    read.set(`prompt ${promptId}`, program.contextTokens - sharedTokens);
    longest = Math.max(longest, aloneSeconds(program, cost)[0]!);
    let own = 0;
    for (const [index, { generatedTokens, toolTokens = 0 }] of turns.entries()) {
      tokens += generatedTokens;
      ownTokens += contextsOf(own, generatedTokens);
      contextTokens += contextsOf(program.contextTokens + own, generatedTokens);
      own += generatedTokens + toolTokens;
      if (index < turns.length - 1) readTokens += Math.max(1, toolTokens);
    }
  }
  for (const one of read.values()) readTokens += one;
  const readSeconds = readTokens * cost.prefillSecondsPerToken;
  return Math.max(longest, leastSeconds(cost, { tokens, contextTokens, ownTokens, readSeconds }) / engines);
}

/** Returns the oracle for a workload. */
export function programOracle(workload: AgenticWorkload, variant: ProgramVariant): AgenticScheduler {
  return { id: 'oracle', label: 'oracle', create: (job) => new Oracle(job, workload, variant) };
}

/** Waiting programs that may pass one that has no room. */
const mostPassing = 8;
const left = ({ secondsLeft, turn }: Known): number => secondsLeft[turn] ?? 0;
const heard = new Set(['engine.added', 'turn.requested', 'turn.finished', 'program.closed']);

class Oracle implements DrivenPolicy {
  readonly id = 'oracle';
  readonly #cost: CostModel;
  readonly #variant: ProgramVariant;
  readonly #budget: number;
  readonly #engines: Engine[] = [];
  readonly #programs = new Map<string, Known>();
  #line: Known[] = [];

  constructor({ cost }: AgenticJob, { programs }: AgenticWorkload, variant: ProgramVariant) {
    this.#cost = cost;
    this.#variant = variant;
    this.#budget = 0.95 * cost.kvCapacityTokens;
    const ofPrompt = new Map<string, number>();
    for (const given of programs) {
      const { promptId, contextTokens: promptTokens, turns } = given;
      const index = ofPrompt.get(promptId) ?? 0;
      ofPrompt.set(promptId, index + 1);
      const requestId = `${promptId}/${index}#0`;
      const lastTokens = turns.reduce((sum, one) => sum + one.generatedTokens + (one.toolTokens ?? 0), 0);
      const known = { requestId, promptId, promptTokens, secondsLeft: aloneSeconds(given, cost), lastTokens };
      const state = { turn: 0, ownTokens: 0, engine: undefined, home: undefined, runs: false };
      this.#programs.set(requestId, { ...known, ...state });
    }
  }

  takes(type: string): boolean {
    return heard.has(type);
  }

  send(given: AnyEvent): readonly AnyDecision[] {
    const event = given as VocabularyEvent;
    const routes: object[] = [];
    if (event.type === 'engine.added') this.#engines.push({ id: event.engineId, members: new Set() });
    const one = 'requestId' in event ? this.#programs.get(event.requestId!) : undefined;
    if (one === undefined) return [];
    if (event.type === 'turn.requested') {
      one.ownTokens = event.contextTokens - one.promptTokens;
      if (one.engine === undefined) this.#wait(one);
      else {
        routes.push(this.#run(one, one.engine, event.at));
        this.#makeRoom(one.engine);
      }
    } else if (event.type === 'turn.finished') {
      one.runs = false;
      one.turn += 1;
      this.#makeRoom(one.engine!);
    } else {
      one.engine?.members.delete(one);
      one.engine = undefined;
    }
    this.#letIn(event.at, routes);
    return routes as AnyDecision[];
  }

  #wait(one: Known): void {
    const place = this.#line.findIndex((other) => left(other) < left(one));
    this.#line.splice(place < 0 ? this.#line.length : place, 0, one);
  }

  #run(one: Known, engine: Engine, at: number): object {
    Object.assign(one, { runs: true, engine, home: engine });
    engine.members.add(one);
    return { type: 'turn.route', at, requestId: one.requestId, engineId: engine.id };
  }

  #tokensOf({ ownTokens, lastTokens }: Known, growth: number): number {
    return ownTokens + growth * (lastTokens - ownTokens);
  }

  #held({ members }: Engine, growth: number): { tokens: number; prompts: Set<string> } {
    const prompts = new Set<string>();
    let tokens = 0;
    for (const one of members) {
      tokens += this.#tokensOf(one, growth) + (prompts.has(one.promptId) ? 0 : one.promptTokens);
      prompts.add(one.promptId);
    }
    return { tokens, prompts };
  }

  /** Programs between turns that need least time leave where contexts outgrow the KV cache. */
  #makeRoom(engine: Engine): void {
    while (engine.members.size > 1 && this.#held(engine, 0).tokens > this.#budget) {
      const resting = [...engine.members].filter(({ runs }) => !runs);
      if (resting.length === 0) return;
      const last = resting.reduce((one, other) => (left(other) < left(one) ? other : one));
      engine.members.delete(last);
      last.engine = undefined;
    }
  }

  #letIn(at: number, routes: object[]): void {
    const { growth, limit } = this.#variant;
    const { prefillSecondsPerToken, secondsPerContextToken } = this.#cost;
    const held = this.#line.length === 0 ? [] : this.#engines.map((engine) => this.#held(engine, growth));
    let passed = 0;
    for (let place = 0; place < this.#line.length && passed < mostPassing; ) {
      const one = this.#line[place]!;
      let [best, least] = [-1, Infinity];
      for (const [index, engine] of this.#engines.entries()) {
        const { tokens, prompts } = held[index]!;
        const { size } = engine.members;
        const prompt = prompts.has(one.promptId) ? 0 : one.promptTokens;
        const added = this.#tokensOf(one, growth) + prompt;
        if (size >= limit || (size > 0 && tokens + added > this.#budget)) continue;
        const reading = (prompt + (one.home === engine ? 0 : one.ownTokens)) * (1 + size) * prefillSecondsPerToken;
        const seconds =
          reading + usualTokens * (size * this.#cost.secondsPerSequence + tokens * secondsPerContextToken);
        if (seconds < least) [best, least] = [index, seconds];
      }
      if (best < 0) {
        place += 1;
        passed += 1;
        continue;
      }
      this.#line.splice(place, 1);
      routes.push(this.#run(one, this.#engines[best]!, at));
      held[best] = this.#held(this.#engines[best]!, growth);
    }
  }
}
