/** The programs as a machine, which runs their loop of turns and tools as a host does. */

import { Heap } from '../../core/collections/heap.ts';
import type { AnyEvent } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Machine } from '../cluster/machines/machine.ts';
import type { EngineTurn, TurnOutcome } from './engine.ts';
import type { TurnSource } from './engines.ts';
import type { ContextNode } from './prefix-cache.ts';
import type { AgenticProgram, AgenticTurn } from './workload.ts';

interface Program {
  readonly requestId: string;
  readonly given: AgenticProgram;
  /** Nodes of the context that other programs may share. */
  readonly shared: readonly ContextNode[];
  turn: number;
  contextTokens: number;
  generatedTokens: number;
  /** Time of the request for a turn, and time of its routing; `undefined` without a turn, or before the routing. */
  requestedAt: number | undefined;
  routedAt: number | undefined;
  pausedAt: number | undefined;
  isOver: boolean;
}

interface Tool {
  readonly program: Program;
  readonly endsAt: number;
  readonly seq: number;
}

/** Measurements of all programs. */
export class ProgramBook {
  /** For every turn: seconds from the request until all tokens were generated. */
  readonly turnSeconds: number[] = [];
  /** Seconds of these in which the policy held turns back. */
  heldSeconds = 0;
  /** Seconds of every pause. */
  readonly pauses: number[] = [];
  contextTokens = 0;
  cachedTokens = 0;
  generatedTokens = 0;
  failedPrograms = 0;
}

/** Runs programs. */
export class Programs implements Machine, TurnSource {
  readonly book = new ProgramBook();
  /** Programs that are not over. */
  open: number;
  readonly #programs = new Map<string, Program>();
  readonly #tools = new Heap<Tool>((a, b) => a.endsAt - b.endsAt || a.seq - b.seq);
  readonly #hasSlots: boolean;
  #events: AnyEvent[] = [];
  #seq = 0;

  /** @param hasSlots - whether a program needs an environment before its first turn */
  constructor(programs: readonly AgenticProgram[], hasSlots: boolean) {
    this.#hasSlots = hasSlots;
    const ofPrompt = new Map<string, number>();
    for (const given of programs) {
      const { promptId, contextTokens, sharedTokens = 0, environment = 'default' } = given;
      const index = ofPrompt.get(promptId) ?? 0;
      ofPrompt.set(promptId, index + 1);
      const requestId = `${promptId}/${index}#0`;
      const shared = [
        { key: `environment ${environment}`, tokens: sharedTokens },
        { key: `prompt ${promptId}`, tokens: contextTokens - sharedTokens },
      ].filter(({ tokens }) => tokens > 0);
      const state = { turn: 0, contextTokens, generatedTokens: 0, isOver: false };
      const times = { requestedAt: undefined, routedAt: undefined, pausedAt: undefined };
      this.#programs.set(requestId, { requestId, given, shared, ...state, ...times });
    }
    this.open = this.#programs.size;
  }

  get size(): number {
    return this.#programs.size;
  }

  /** Returns the events that open all programs. */
  opening(): AnyEvent[] {
    return [...this.#programs.values()].flatMap((program) => {
      const { requestId, given } = program;
      const { promptId, contextTokens: promptTokens, environment = 'default' } = given;
      const opened = { type: 'program.opened', at: 0, requestId, promptId, promptTokens } as AnyEvent;
      const next = this.#hasSlots
        ? ({ type: 'slot.requested', at: 0, requestId, environment } as AnyEvent)
        : this.#ask(program, 0);
      return [opened, next];
    });
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'program.pause':
        this.#programOf(decision.requestId).pausedAt ??= at;
        break;
      case 'program.resume':
        this.#resumed(this.#programOf(decision.requestId), at);
        break;
      case 'slot.assign':
        this.#events.push(this.#ask(this.#programOf(decision.requestId), at));
        break;
      case 'slot.denied':
        // A real host may ask again; this one gives the program up.
        this.#close(this.#programOf(decision.requestId), at);
        break;
      case 'slot.reclaim':
        // A program whose environment ends fails; after `closed` the program is over already.
        if (decision.requestId !== undefined) this.#close(this.#programOf(decision.requestId), at);
        break;
      default:
    }
  }

  nextAt(): number {
    return this.#tools.peek()?.endsAt ?? Infinity;
  }

  advanceTo(at: number): AnyEvent[] {
    const events = this.#events;
    this.#events = [];
    for (let tool = this.#tools.peek(); tool !== undefined && tool.endsAt <= at; tool = this.#tools.peek()) {
      this.#tools.pop();
      const { program } = tool;
      if (program.isOver) continue;
      const { outcome = 'success', toolTokens = 0, tool: name } = program.given.turns[program.turn - 1]!;
      program.contextTokens += toolTokens;
      const { requestId } = program;
      if (name !== undefined) events.push({ type: 'tool.finished', at, requestId, outcome } as AnyEvent);
      events.push(this.#ask(program, at));
    }
    return events;
  }

  route(requestId: string, at: number): EngineTurn {
    const program = this.#programOf(requestId);
    if (program.requestedAt === undefined || program.routedAt !== undefined) {
      refuse('out_of_order', 'turn.route', 'a program that waits for an engine', requestId);
    }
    program.routedAt = at;
    this.book.heldSeconds += at - program.requestedAt;
    const { shared, contextTokens, given } = program;
    const own = { key: requestId, tokens: contextTokens - given.contextTokens };
    return { requestId, context: [...shared, own], generatedTokens: this.#turnOf(program).generatedTokens };
  }

  ended({ requestId, at, cachedTokens }: TurnOutcome): number {
    const program = this.#programOf(requestId);
    const { generatedTokens, tool, toolSeconds = 0 } = this.#turnOf(program);
    this.book.turnSeconds.push(at - program.requestedAt!);
    this.book.contextTokens += program.contextTokens;
    this.book.cachedTokens += cachedTokens;
    this.book.generatedTokens += generatedTokens;
    program.requestedAt = undefined;
    program.routedAt = undefined;
    program.turn += 1;
    program.contextTokens += generatedTokens;
    program.generatedTokens += generatedTokens;
    if (program.turn === program.given.turns.length) this.#close(program, at);
    else {
      if (tool !== undefined) this.#events.push({ type: 'tool.started', at, requestId, tool } as AnyEvent);
      this.#tools.push({ program, endsAt: at + toolSeconds, seq: this.#seq++ });
    }
    return program.generatedTokens;
  }

  /** The engine of a turn is gone, so the policy routes the turn again. */
  lost(requestId: string): void {
    this.#programOf(requestId).routedAt = undefined;
  }

  #programOf(requestId: string): Program {
    const program = this.#programs.get(requestId);
    if (program === undefined) refuse('unknown_id', 'requestId', 'a program of the workload', requestId);
    return program;
  }

  #turnOf({ given, turn }: Program): AgenticTurn {
    return given.turns[turn]!;
  }

  #ask(program: Program, at: number): AnyEvent {
    program.requestedAt = at;
    const { requestId, contextTokens } = program;
    return { type: 'turn.requested', at, requestId, contextTokens } as AnyEvent;
  }

  #close(program: Program, at: number): void {
    if (program.isOver) return;
    program.isOver = true;
    this.#resumed(program, at);
    if (program.turn < program.given.turns.length) this.book.failedPrograms += 1;
    this.open -= 1;
    this.#events.push({ type: 'program.closed', at, requestId: program.requestId } as AnyEvent);
  }

  #resumed(program: Program, at: number): void {
    if (program.pausedAt !== undefined) this.book.pauses.push(at - program.pausedAt);
    program.pausedAt = undefined;
  }
}
