/**
 * The schedulers of agentic rollouts: any policy that answers `turn.requested` with `turn.route`, or a static rule, which
 * is a function.
 */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { PolicyOptions } from '../../core/machine/policy.ts';
import { create } from '../../core/machine/start.ts';
import { refuse } from '../../errors.ts';
import { type ProgramSchedulingInput, programScheduling } from '../../policies/program-scheduling/index.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';
import type { AgenticJob } from './settings.ts';

/** A scheduler that can be simulated. A new policy is made for every run, so that runs share nothing. */
export interface AgenticScheduler {
  /** Id in kebab case, which results carry. */
  readonly id: string;
  /** For people: tables. */
  readonly label: string;
  /** Returns a new policy in its initial state, which is sent only the events that it takes. */
  create(job: AgenticJob, options: PolicyOptions): DrivenPolicy;
}

/** Returns the policy `program-scheduling` as a scheduler. */
export function programScheduler(config: ProgramSchedulingInput = {}): AgenticScheduler {
  const make = (_job: AgenticJob, options: PolicyOptions) =>
    create(programScheduling, config, options) as unknown as DrivenPolicy;
  return Object.freeze({ id: 'program-scheduling', label: 'program-scheduling', create: make });
}

/** A turn that needs an engine, in the view of a static rule. */
export interface RoutedTurn {
  /** Id of the program. */
  readonly requestId: string;
  /** Id of the prompt. */
  readonly promptId: string;
  /** Context tokens at the beginning of the turn. */
  readonly contextTokens: number;
  /** Engine of the program's previous turn; `undefined` for the first turn, and if that engine was lost. */
  readonly last: RuleEngine | undefined;
}

/** An engine in the view of a static rule. */
export interface RuleEngine {
  /** Id of the engine. */
  readonly engineId: string;
  /** Unfinished turns that were routed to the engine. */
  readonly inFlight: number;
  /** Context tokens with which those turns began. */
  readonly contextTokens: number;
}

/** A static rule: returns one of the engines, of which there is at least one. */
export type TurnRule = (turn: RoutedTurn, engines: readonly RuleEngine[]) => RuleEngine;

/**
 * Returns a scheduler that routes each turn by a rule, at once.
 *
 * @param begin - returns the rule for a run; a rule may remember what it was asked
 */
export function ruleScheduler(id: string, label: string, begin: (job: AgenticJob) => TurnRule): AgenticScheduler {
  return Object.freeze({ id, label, create: (job: AgenticJob) => new RuledPolicy(id, begin(job)) });
}

interface Routed {
  engine: Engine | undefined;
  tokens: number;
  runs: boolean;
  readonly promptId: string;
}

type Engine = { -readonly [Key in keyof RuleEngine]: RuleEngine[Key] };

const taken = new Set([
  'engine.added',
  'engine.lost',
  'program.opened',
  'turn.requested',
  'turn.finished',
  'program.closed',
]);

/** Keeps the books that a rule reads. */
class RuledPolicy implements DrivenPolicy {
  readonly id: string;
  readonly #rule: TurnRule;
  readonly #engines: Engine[] = [];
  readonly #programs = new Map<string, Routed>();

  constructor(id: string, rule: TurnRule) {
    this.id = id;
    this.#rule = rule;
  }

  takes(type: string): boolean {
    return taken.has(type);
  }

  send(event: AnyEvent): readonly AnyDecision[] {
    const { type, engineId, requestId, promptId, contextTokens } = event as AnyEvent & {
      readonly engineId: string;
      readonly requestId: string;
      readonly promptId?: string;
      readonly contextTokens: number;
    };
    switch (type) {
      case 'engine.added':
        if (this.#engines.every((one) => one.engineId !== engineId))
          this.#engines.push({ engineId, inFlight: 0, contextTokens: 0 });
        return [];
      case 'engine.lost':
        return this.#lose(engineId, event.at);
      case 'program.opened':
        this.#programs.set(requestId, { engine: undefined, tokens: 0, runs: false, promptId: promptId ?? requestId });
        return [];
      case 'turn.requested':
        return this.#route(requestId, contextTokens, event.at);
      case 'turn.finished':
        this.#leave(this.#programOf(requestId));
        return [];
      case 'program.closed':
        this.#leave(this.#programOf(requestId));
        this.#programs.delete(requestId);
        return [];
      default:
        return [];
    }
  }

  #programOf(requestId: string): Routed {
    const found = this.#programs.get(requestId);
    if (found === undefined) refuse('unknown_id', 'requestId', 'a program that was opened', requestId);
    return found;
  }

  #route(requestId: string, contextTokens: number, at: number): AnyDecision[] {
    const program = this.#programOf(requestId);
    this.#leave(program);
    if (this.#engines.length === 0) refuse('out_of_order', 'turn.requested', 'an engine', 'none');
    const { promptId, engine: last } = program;
    const engine = this.#rule({ requestId, promptId, contextTokens, last }, this.#engines) as Engine;
    engine.inFlight += 1;
    engine.contextTokens += contextTokens;
    Object.assign(program, { engine, tokens: contextTokens, runs: true });
    return [{ type: 'turn.route', at, requestId, engineId: engine.engineId } as unknown as AnyDecision];
  }

  #leave(program: Routed): void {
    if (!program.runs) return;
    program.runs = false;
    program.engine!.inFlight -= 1;
    program.engine!.contextTokens -= program.tokens;
  }

  /** Routes the turns of a lost engine again. */
  #lose(engineId: string, at: number): AnyDecision[] {
    const index = this.#engines.findIndex((one) => one.engineId === engineId);
    if (index < 0) return [];
    const [lost] = this.#engines.splice(index, 1);
    const again: AnyDecision[] = [];
    for (const [requestId, program] of this.#programs) {
      if (program.engine !== lost) continue;
      const { runs } = program;
      this.#leave(program);
      program.engine = undefined;
      if (runs) again.push(...this.#route(requestId, program.tokens, at));
    }
    return again;
  }
}
