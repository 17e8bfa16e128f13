/** Programs and their turns: what the policy is told of them, and what becomes of its decisions. */
import type { ProgramSchedulingDecision, ProgramSchedulingEvent } from 'rollflex/program-scheduling';

/** What decides: the policy, or something to compare it with. */
export interface Policy {
  send(event: ProgramSchedulingEvent): readonly ProgramSchedulingDecision[];
}

/** A turn was held back for so long that the router gives up; the client may come again. */
export class HeldTooLong extends Error {}

/** A program, by the name that its clients use. */
export interface Program {
  readonly name: string;
  /** Its id at the policy: a name that comes again after its end is another program. */
  readonly requestId: string;
  /** Tokens that it has generated. */
  tokens: number;
  turn: Turn | undefined;
  /** Time of its last turn, in seconds. */
  usedAt: number;
}

/** One turn, from its request to its end. */
export class Turn {
  readonly program: Program;
  readonly askedAt: number;
  /** Where it runs; `undefined` while it is held back. */
  engineId: string | undefined;
  #waiting: ((engineId: string | undefined) => void) | undefined;

  constructor(program: Program, askedAt: number) {
    this.program = program;
    this.askedAt = askedAt;
  }

  /** Tells where it runs. */
  route(engineId: string): void {
    this.engineId = engineId;
    this.#waiting?.(engineId);
  }

  /**
   * Waits until the policy has said where it runs.
   *
   * @param seconds - how long it may be held back
   * @throws HeldTooLong; the reason of the signal
   */
  async place(seconds: number, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (this.engineId !== undefined) return this.engineId;
    const give = (): void => this.#waiting?.(undefined);
    const timer = setTimeout(give, seconds * 1000);
    signal.addEventListener('abort', give);
    const engineId = await new Promise<string | undefined>((resolve) => {
      this.#waiting = resolve;
    });
    this.#waiting = undefined;
    clearTimeout(timer);
    signal.removeEventListener('abort', give);
    signal.throwIfAborted();
    if (engineId === undefined) throw new HeldTooLong(`no engine had room for ${seconds} s`);
    return engineId;
  }
}

/** All programs of a router. */
export class Programs {
  readonly #policy: Policy;
  readonly #now: () => number;
  readonly #named = new Map<string, Program>();
  readonly #byId = new Map<string, Program>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #queue: ProgramSchedulingEvent[] = [];
  #isSending = false;
  #minted = 0;
  /** Events that the policy has taken, and the seconds that it took. */
  readonly decided = { events: 0, seconds: 0 };

  constructor(policy: Policy, now: () => number) {
    this.#policy = policy;
    this.#now = now;
  }

  get size(): number {
    return this.#named.size;
  }

  /** Turns that are held back. */
  get held(): number {
    let held = 0;
    for (const { turn } of this.#named.values()) if (turn !== undefined && turn.engineId === undefined) held += 1;
    return held;
  }

  /** Begins a turn; `undefined` if the program has one. */
  begin(name: string, contextTokens: number): Turn | undefined {
    const program = this.#named.get(name) ?? this.#open(name);
    if (program.turn !== undefined) return undefined;
    const turn = new Turn(program, this.#now());
    program.turn = turn;
    this.send({ type: 'turn.requested', at: turn.askedAt, requestId: program.requestId, contextTokens });
    return turn;
  }

  /** The engine has failed the turn and is still there: the turn runs anew. */
  again(turn: Turn, contextTokens: number): void {
    turn.engineId = undefined;
    const { requestId } = turn.program;
    this.send({ type: 'turn.requested', at: this.#now(), requestId, contextTokens });
  }

  /** A turn has ended, however; from now on the program is in its tools. */
  finish({ program, engineId }: Turn, generated: number, cachedTokens?: number): void {
    const { requestId } = program;
    const at = this.#now();
    program.turn = undefined;
    program.usedAt = at;
    program.tokens += generated;
    // A turn that was never placed stays in line: where it is routed later, it ends at once.
    if (engineId === undefined) return;
    const cached = cachedTokens === undefined ? {} : { cachedTokens };
    this.send({ type: 'turn.finished', at, requestId, tokens: program.tokens, ...cached });
    this.send({ type: 'tool.started', at, requestId, tool: 'unnamed' });
  }

  /** A program is over. Returns whether there was one. */
  close(name: string): boolean {
    const program = this.#named.get(name);
    if (program === undefined) return false;
    this.#named.delete(name);
    this.#byId.delete(program.requestId);
    this.send({ type: 'program.closed', at: this.#now(), requestId: program.requestId });
    return true;
  }

  /** Closes programs that have had no turn for so long. */
  closeIdle(seconds: number): void {
    const before = this.#now() - seconds;
    for (const { name, turn, usedAt } of this.#named.values())
      if (turn === undefined && usedAt < before) this.close(name);
  }

  /** An engine is gone: the policy routes its turns again. */
  lose(engineId: string): void {
    for (const { turn } of this.#named.values()) if (turn?.engineId === engineId) turn.engineId = undefined;
    this.send({ type: 'engine.lost', at: this.#now(), engineId });
  }

  /** Tells the policy something, and carries out what it decides; events that follow from that come after it. */
  send(event: ProgramSchedulingEvent): void {
    this.#queue.push(event);
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        const from = performance.now();
        const decisions = this.#policy.send(next);
        this.decided.seconds += (performance.now() - from) / 1000;
        this.decided.events += 1;
        for (const decision of decisions) this.#carryOut(decision);
      }
    } finally {
      this.#isSending = false;
    }
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #open(name: string): Program {
    this.#minted += 1;
    const at = this.#now();
    const program = { name, requestId: `${name}#${this.#minted}`, tokens: 0, turn: undefined, usedAt: at };
    this.#named.set(name, program);
    this.#byId.set(program.requestId, program);
    this.send({ type: 'program.opened', at, requestId: program.requestId });
    return program;
  }

  #carryOut(decision: ProgramSchedulingDecision): void {
    if (decision.type === 'turn.route') {
      const { requestId, engineId } = decision;
      const program = this.#byId.get(requestId);
      if (program?.turn !== undefined) return program.turn.route(engineId);
      // Nobody waits for it any more.
      const tokens = program?.tokens ?? 0;
      return this.send({ type: 'turn.finished', at: this.#now(), requestId, tokens });
    }
    if (decision.type !== 'timer.set') return;
    const { timerId, fireAtSeconds } = decision;
    clearTimeout(this.#timers.get(timerId));
    const fire = (): void => this.send({ type: 'timer.fired', at: Math.max(fireAtSeconds, this.#now()), timerId });
    const waitMs = Math.min(2 ** 31 - 1, Math.max(0, fireAtSeconds - this.#now()) * 1000);
    this.#timers.set(timerId, setTimeout(fire, waitMs).unref());
  }
}
