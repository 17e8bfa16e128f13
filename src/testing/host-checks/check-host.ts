/** Checks a host adapter against a real policy: the host must carry out every command, and report each once. */
import type { AnyEvent } from '../../core/machine/definition.ts';
import type { CommandHandlers } from '../../core/machine/policy.ts';
import { create } from '../../core/machine/start.ts';
import { refuse } from '../../errors.ts';
import { type TailBatchingCommand, tailBatching } from '../../recipes/tail-batching/index.ts';
import type { VocabularyDecision } from '../../schemas/index.ts';
import { textOfRun } from '../runs/search.ts';
import { HostAudit, type HostReport } from './host-audit.ts';

/** The interface of a host to a policy. */
export interface HostUnderTest {
  /** Carries out one decision; notices are passed too, in order. The host may report the outcome at once, or later. */
  carryOut?(decision: VocabularyDecision): void | Promise<void>;
  /** Instead of `carryOut`: the handlers that the host passes to `policy.handle`. */
  handlers?: CommandHandlers<VocabularyDecision, TailBatchingCommand['type']>;
  /** Stops running requests and timers when the check is over. */
  close?(): void | Promise<void>;
}

/** Options of a check of a host. */
export interface HostCheckOptions {
  /** Configuration of tail-batching. The default has small rounds, much speculation, and an abort grace of 0.1 s. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Number of rounds, by default 3. */
  readonly rounds?: number;
  /** Seconds of real time until all commands must be answered, by default 10. */
  readonly limitSeconds?: number;
  /** Seconds of real time to wait for further reports after the last answer, by default 0.05. */
  readonly quietSeconds?: number;
}

const defaults = {
  promptsPerRound: 2,
  responsesPerPrompt: 2,
  promptSpeculation: 1.5,
  responseSpeculation: 1.5,
  abortGraceSeconds: 0.1,
};

/** Passes events and decisions on one after the other, even if a host reports an event while it receives a decision. */
class Exchange {
  readonly audit = new HostAudit();
  readonly log: AnyEvent[] = [];
  readonly #policy;
  readonly #waiting: HostReport[] = [];
  #host: HostUnderTest | undefined;
  #isBusy = false;
  #rounds: number;
  #asked = 0;
  /** Called after each exchange. */
  changed: () => void = () => undefined;

  constructor(config: unknown, rounds: number) {
    this.#policy = create(tailBatching, config as never);
    this.#rounds = rounds;
  }

  get isDone(): boolean {
    return this.#rounds === 0 && this.audit.debts().length === 0;
  }

  start(host: HostUnderTest): void {
    this.#host = host;
    this.#pump();
  }

  /** Stops the exchange: from now on no message is passed to either side. */
  stop(): void {
    this.#host = undefined;
  }

  report(event: HostReport): void {
    this.#waiting.push(event);
    if (this.#host !== undefined && !this.#isBusy) this.#pump();
  }

  #pump(): void {
    this.#isBusy = true;
    for (let event = this.#next(); event !== undefined; event = this.#next()) {
      this.log.push(event);
      for (const decision of this.#answer(event)) {
        this.log.push(decision);
        this.audit.told(decision);
        this.#tell(decision);
      }
    }
    this.#isBusy = false;
    this.changed();
  }

  /** Returns the next report of the host, or a request for a new round once the last round has drained. */
  #next(): HostReport | undefined {
    const event = this.#waiting.shift();
    if (event !== undefined) {
      this.audit.heard(event);
      return event;
    }
    if (this.#rounds === 0 || this.audit.hasRound) return undefined;
    this.#rounds -= 1;
    this.#asked += 1;
    const roundId = `check-${this.#asked}`;
    return { type: 'round.requested', at: this.#policy.at, roundId, weightVersion: this.#asked };
  }

  #answer(event: HostReport): readonly VocabularyDecision[] {
    try {
      return this.#policy.send(event as never) as readonly VocabularyDecision[];
    } catch (error) {
      this.audit.problems.push(`${JSON.stringify(event)} is refused: ${(error as Error).message}`);
      return [];
    }
  }

  #tell(decision: VocabularyDecision): void {
    const failed = (error: unknown) => {
      this.audit.problems.push(`carryOut fails on ${decision.type}: ${String(error)}`);
      this.changed();
    };
    try {
      Promise.resolve(carryOut(this.#host!, structuredClone(decision))).catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

function carryOut(host: HostUnderTest, decision: VocabularyDecision): unknown {
  if (host.carryOut !== undefined) return host.carryOut(decision);
  const handlers = host.handlers as Readonly<Record<string, (command: VocabularyDecision) => unknown>> | undefined;
  if (handlers === undefined) refuse('invalid_input', 'connect', 'a host with `carryOut` or `handlers`', host);
  return handlers[decision.type]?.(decision);
}

/**
 * Checks a host adapter: plays rounds of tail-batching with it, in real time, and compares its reports with the decisions. The
 * check finds aborts, launches, timers and requests for prompts that are never answered; responses that end twice or were never
 * launched; timers that fire early or unasked; events that the policy refuses; and a `carryOut` that fails. The check cannot find
 * faults that no event shows: wrong tokens, or an engine that continues after its abort.
 *
 * Give the adapter engines that answer in milliseconds, such as those of `rollflex/mock-engine`.
 *
 * @param connect - makes the adapter, which reports events by the given function; `at` of an event is in seconds
 * @throws Error that names all faults, with the last events and decisions
 */
export async function checkHost(
  connect: (report: (event: HostReport) => void) => HostUnderTest | Promise<HostUnderTest>,
  options: HostCheckOptions = {},
): Promise<void> {
  const { config, rounds = 3, limitSeconds = 10, quietSeconds = 0.05 } = options;
  const exchange = new Exchange({ ...defaults, ...config }, rounds);
  const host = await connect((event) => exchange.report(event));
  await new Promise<void>((resolve) => {
    const limit = setTimeout(resolve, limitSeconds * 1000);
    exchange.changed = () => {
      if (!exchange.isDone && exchange.audit.problems.length === 0) return;
      clearTimeout(limit);
      setTimeout(resolve, quietSeconds * 1000);
    };
    exchange.start(host);
  });
  const problems = [...exchange.audit.problems];
  // A problem stops the rounds early; open work is then no fault.
  if (problems.length === 0) problems.push(...exchange.audit.debts());
  exchange.stop();
  await host.close?.();
  if (problems.length === 0) return;
  const listed = problems.map((one) => `\n- ${one}`).join('');
  throw new Error(
    `the host breaks its part of the contract:${listed}${textOfRun(exchange.log, 'events and decisions')}`,
  );
}
