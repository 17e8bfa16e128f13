/**
 * The rule of ThunderAgent (arXiv 2602.13692, section 4.3), written from the paper; where the paper is silent, as its authors'
 * documentation says.
 *
 * Every `intervalSeconds`, first paused programs are resumed, then programs of each engine over its capacity are paused. A program
 * counts with its tokens while it reasons, and with its tokens times 2^−t after t seconds in a tool. Pausing takes programs in
 * tools first, then marks those that reason, which pause at the end of their turn; the shortest first. Resuming takes programs that
 * wait for a turn, then new ones, then those in tools, the shortest first, as many as fit all engines together; then places the
 * longest first, each on the engine with the most room. A new program begins at once if none is paused and an engine has room.
 * Nothing waits for longer than `longestPauseSeconds`.
 */
import type { AnyDecision, AnyEvent } from '../../../core/machine/definition.ts';
import type { DrivenPolicy } from '../../cluster/event-loop.ts';
import type { AgenticScheduler } from '../scheduler.ts';

/** Settings of the rule. */
export interface ThunderAgentSettings {
  /** Δt: seconds between checks. */
  readonly intervalSeconds: number;
  /** Whether programs in tools count less and less, by f(t) = 2^−t; otherwise they count fully. */
  readonly decays: boolean;
  /** Tokens for the next outputs that every program reserves. */
  readonly reservedTokens: number;
  /** Longest pause in seconds, after which a program runs in any case. */
  readonly longestPauseSeconds: number;
}

/** The settings of the paper, or of its implementation where the paper gives none. */
const thunderAgentDefaults: ThunderAgentSettings = Object.freeze({
  intervalSeconds: 5,
  decays: true,
  reservedTokens: 100,
  longestPauseSeconds: 1800,
});

/** Returns the rule as a scheduler. */
export function thunderAgent(settings: Partial<ThunderAgentSettings> = {}): AgenticScheduler {
  const all = { ...thunderAgentDefaults, ...settings };
  const [id, label] = all.decays ? ['thunder-agent', 'ThunderAgent'] : ['thunder-agent-full', 'ThunderAgent, no decay'];
  return Object.freeze({
    id,
    label,
    create: ({ cost }: Parameters<AgenticScheduler['create']>[0]) => new ThunderAgent(id, cost.kvCapacityTokens, all),
  });
}

interface Program {
  readonly requestId: string;
  /** Place in the order of programs, which decides ties. */
  readonly seq: number;
  /** Engine of the program; `undefined` for a paused or new program. */
  engine: Engine | undefined;
  /** The engine on which the program was paused. */
  origin: Engine | undefined;
  tokens: number;
  /** Tokens that all turns of the program have generated. */
  generated: number;
  turns: number;
  /** Whether the program reasons, that is, runs a turn or waits for one. */
  reasons: boolean;
  runs: boolean;
  isMarked: boolean;
  /** Time at which the tool began. */
  actingSince: number;
  /** Time at which the wait for a turn began. */
  waitsSince: number;
}

interface Engine {
  readonly engineId: string;
  readonly programs: Set<Program>;
}

const shortest = (a: Program, b: Program): number => a.tokens - b.tokens || a.seq - b.seq;
const timerId = 'thunder-agent';
const taken = new Set([
  'engine.added',
  'engine.lost',
  'program.opened',
  'turn.requested',
  'turn.finished',
  'tool.started',
  'program.closed',
  'timer.fired',
]);

type Report = AnyEvent & {
  readonly engineId: string;
  readonly requestId: string;
  readonly contextTokens: number;
  readonly tokens: number;
};

class ThunderAgent implements DrivenPolicy {
  readonly id: string;
  readonly #capacity: number;
  readonly #settings: ThunderAgentSettings;
  readonly #engines: Engine[] = [];
  readonly #programs = new Map<string, Program>();
  /** Programs without an engine that have asked for a turn, or were paused. */
  readonly #paused = new Set<Program>();
  #decisions: AnyDecision[] = [];
  #seq = 0;
  #hasTimer = false;

  constructor(id: string, capacity: number, settings: ThunderAgentSettings) {
    this.id = id;
    this.#capacity = capacity;
    this.#settings = settings;
  }

  takes(type: string): boolean {
    return taken.has(type);
  }

  send(event: AnyEvent): readonly AnyDecision[] {
    this.#decisions = [];
    this.#apply(event as Report);
    return this.#decisions;
  }

  #apply({ type, at, engineId, requestId, contextTokens, tokens }: Report): void {
    if (type === 'timer.fired') return this.#check(at);
    if (type === 'engine.added') {
      if (this.#engines.every((one) => one.engineId !== engineId))
        this.#engines.push({ engineId, programs: new Set() });
      return;
    }
    if (type === 'engine.lost') return this.#lose(engineId, at);
    if (type === 'program.opened') return this.#open(requestId, at);
    const program = this.#programs.get(requestId);
    if (program === undefined) return;
    if (type === 'turn.requested') this.#request(program, contextTokens, at);
    else if (type === 'turn.finished') this.#finish(program, tokens, at);
    else if (type === 'tool.started') program.actingSince = at;
    else if (type === 'program.closed') this.#close(program);
  }

  #open(requestId: string, at: number): void {
    this.#programs.set(requestId, {
      requestId,
      seq: this.#seq++,
      engine: undefined,
      origin: undefined,
      tokens: 0,
      generated: 0,
      turns: 0,
      reasons: true,
      runs: false,
      isMarked: false,
      actingSince: at,
      waitsSince: at,
    });
    this.#setTimer(at);
  }

  #request(program: Program, contextTokens: number, at: number): void {
    if (!program.runs) program.turns += 1;
    Object.assign(program, { tokens: contextTokens, reasons: true, waitsSince: at });
    if (program.engine !== undefined) return this.#route(program, at);
    if (program.turns === 1 && this.#paused.size === 0) {
      const needed = contextTokens + this.#settings.reservedTokens;
      const engine = this.#least(this.#engines.filter((one) => this.#room(one, at) >= needed));
      if (engine !== undefined) return this.#place(program, engine, at);
    }
    this.#paused.add(program);
  }

  #finish(program: Program, tokens: number, at: number): void {
    program.tokens += tokens - program.generated;
    Object.assign(program, { generated: tokens, reasons: false, runs: false, actingSince: at });
    if (program.isMarked) this.#pause(program, at);
  }

  #close(program: Program): void {
    program.engine?.programs.delete(program);
    this.#paused.delete(program);
    this.#programs.delete(program.requestId);
  }

  #check(at: number): void {
    this.#hasTimer = false;
    for (const program of this.#paused) {
      if (!program.reasons || at - program.waitsSince < this.#settings.longestPauseSeconds) continue;
      const engine = program.origin ?? this.#least(this.#engines);
      if (engine !== undefined) this.#place(program, engine, at);
    }
    this.#resume(at);
    for (const engine of this.#engines) this.#relieve(engine, at);
    if (this.#programs.size > 0) this.#setTimer(at);
  }

  /** Resumes as many paused programs as fit, and places the longest first. */
  #resume(at: number): void {
    const { reservedTokens } = this.#settings;
    const rooms = this.#engines
      .map((engine) => ({ engine, room: this.#room(engine, at) }))
      .filter(({ room }) => room > reservedTokens);
    let left = rooms.reduce((sum, { room }) => sum + room, 0);
    const rank = ({ turns, reasons }: Program): number => (turns <= 1 ? 1 : reasons ? 0 : 2);
    const chosen = [...this.#paused]
      .sort((a, b) => rank(a) - rank(b) || shortest(a, b))
      .filter(({ tokens }) => {
        const fits = tokens + reservedTokens <= left;
        if (fits) left -= tokens + reservedTokens;
        return fits;
      });
    for (const program of chosen.sort((a, b) => shortest(b, a))) {
      const widest = rooms.reduce((best, one) => (one.room > best.room ? one : best));
      const needed = program.tokens + reservedTokens;
      if (needed > widest.room) continue;
      widest.room -= needed;
      this.#place(program, widest.engine, at);
    }
  }

  /** Pauses programs of an engine until the others fit. */
  #relieve(engine: Engine, at: number): void {
    const { reservedTokens } = this.#settings;
    let over = -this.#room(engine, at);
    const all = [...engine.programs].sort(shortest);
    for (const program of [...all.filter(({ runs }) => !runs), ...all.filter(({ runs }) => runs)]) {
      if (over <= 0) return;
      if (program.isMarked) continue;
      over -= this.#weight(program, at) + reservedTokens;
      if (program.runs) program.isMarked = true;
      else this.#pause(program, at);
    }
  }

  #pause(program: Program, at: number): void {
    program.engine!.programs.delete(program);
    Object.assign(program, { origin: program.engine, engine: undefined, isMarked: false });
    this.#paused.add(program);
    this.#decide('program.pause', program, at);
  }

  #place(program: Program, engine: Engine, at: number): void {
    if (program.origin !== undefined) this.#decide('program.resume', program, at);
    this.#paused.delete(program);
    Object.assign(program, { engine, origin: undefined });
    engine.programs.add(program);
    if (program.reasons) this.#route(program, at);
  }

  #route(program: Program, at: number): void {
    program.runs = true;
    this.#decide('turn.route', program, at, { engineId: program.engine!.engineId });
  }

  #lose(engineId: string, at: number): void {
    const index = this.#engines.findIndex((one) => one.engineId === engineId);
    if (index < 0) return;
    const [lost] = this.#engines.splice(index, 1);
    for (const program of this.#programs.values()) if (program.origin === lost) program.origin = undefined;
    for (const program of lost!.programs) {
      Object.assign(program, { engine: undefined, isMarked: false, runs: false, waitsSince: at });
      this.#paused.add(program);
    }
  }

  /** The engine with the fewest tokens, the first of several. */
  #least(engines: readonly Engine[]): Engine | undefined {
    const tokens = ({ programs }: Engine): number => [...programs].reduce((sum, one) => sum + one.tokens, 0);
    return engines.reduce<Engine | undefined>(
      (best, one) => (best === undefined || tokens(one) < tokens(best) ? one : best),
      undefined,
    );
  }

  /** Free tokens on an engine; negative if it exceeds its capacity. Marked programs count as gone. */
  #room({ programs }: Engine, at: number): number {
    let used = 0;
    for (const one of programs) if (!one.isMarked) used += this.#weight(one, at) + this.#settings.reservedTokens;
    return this.#capacity - used;
  }

  #weight({ tokens, reasons, actingSince }: Program, at: number): number {
    return reasons || !this.#settings.decays ? tokens : tokens * 2 ** -(at - actingSince);
  }

  #setTimer(at: number): void {
    if (this.#hasTimer) return;
    this.#hasTimer = true;
    const fireAtSeconds = at + this.#settings.intervalSeconds;
    this.#decisions.push({ type: 'timer.set', at, timerId, fireAtSeconds } as unknown as AnyDecision);
  }

  #decide(type: string, { requestId }: Program, at: number, more: object = {}): void {
    this.#decisions.push({ type, at, requestId, ...more } as unknown as AnyDecision);
  }
}
