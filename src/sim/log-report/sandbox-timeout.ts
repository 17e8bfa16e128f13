/** sandbox-timeout beside a host with timeouts of its own: seconds saved, and correct runs cut, on the runs as they were. */
import type { LogLineOf } from '../../core/decision-log.ts';
import type { SandboxTimeoutDecision, SandboxTimeoutEvent } from '../../policies/sandbox-timeout/index.ts';
import type { ShadowBook } from './book.ts';
import { Pairs } from './pairs.ts';

type Finished = Extract<SandboxTimeoutEvent, { type: 'sandbox.finished' }>;
type Run = Extract<SandboxTimeoutDecision, { type: 'sandbox.run' }>;

/** Estimated effect of the policy's timeouts on the runs of the host. */
export interface TimeoutWorth {
  /** Runs that ended and scored. */
  readonly runs: number;
  /** Seconds that they took. */
  readonly runSeconds: number;
  /** Runs among them that were correct. */
  readonly correctRuns: number;
  /** Doomed runs that would have been stopped earlier, and the seconds that this would have saved. */
  readonly stoppedEarlier: number;
  /** Seconds that this would have saved. */
  readonly savedSeconds: number;
  /** Correct runs that would have been stopped, and the rest of their seconds. */
  readonly correctCut: number;
  /** Seconds that these runs took after the policy would have stopped them. */
  readonly correctCutSeconds: number;
  /** Runs that the host stopped and the policy would have continued; their outcome is not known. */
  readonly letGoOn: number;
  /** Most seconds that these runs would have taken. */
  readonly letGoOnSeconds: number;
}

export class TimeoutBook implements ShadowBook {
  readonly #pairs = new Pairs('sandbox.run');
  readonly #timeouts = new Map<string, number>();
  readonly #ends: (Pick<Finished, 'outcome' | 'seconds'> & { readonly timeoutSeconds: number })[] = [];

  event({ event, decisions }: LogLineOf<'event'>, where: string): void {
    for (const decision of decisions as unknown as SandboxTimeoutDecision[]) {
      if (decision.type === 'sandbox.run') this.#run(decision, where);
    }
    const { type, runId, outcome, seconds } = event as unknown as Finished;
    if (type !== 'sandbox.finished') return;
    const timeoutSeconds = this.#timeouts.get(runId);
    this.#timeouts.delete(runId);
    if (timeoutSeconds === undefined || outcome === 'infrastructure') return;
    this.#ends.push({ outcome, seconds, timeoutSeconds });
  }

  decided({ decision }: LogLineOf<'decided'>): void {
    const { type, runId, timeoutSeconds } = decision as unknown as Run;
    if (type === 'sandbox.run' && timeoutSeconds !== undefined) this.#pairs.ofHost(runId, { timeoutSeconds });
  }

  counts() {
    return [this.#pairs.counts()];
  }

  worth(): TimeoutWorth {
    const worth = { runs: 0, runSeconds: 0, correctRuns: 0, stoppedEarlier: 0, savedSeconds: 0 };
    const unsure = { correctCut: 0, correctCutSeconds: 0, letGoOn: 0, letGoOnSeconds: 0 };
    for (const { outcome, seconds, timeoutSeconds } of this.#ends) {
      worth.runs += 1;
      worth.runSeconds += seconds;
      if (outcome === 'correct') worth.correctRuns += 1;
      const more = seconds - timeoutSeconds;
      if (more > 0 && outcome === 'correct') {
        unsure.correctCut += 1;
        unsure.correctCutSeconds += more;
      } else if (more > 0) {
        worth.stoppedEarlier += 1;
        worth.savedSeconds += more;
      } else if (more < 0 && outcome === 'timeout') {
        unsure.letGoOn += 1;
        unsure.letGoOnSeconds -= more;
      }
    }
    return { ...worth, ...unsure };
  }

  #run({ runId, timeoutSeconds, reason }: Run, where: string): void {
    this.#pairs.ofPolicy(runId, { timeoutSeconds }, reason, where);
    this.#timeouts.set(runId, timeoutSeconds);
  }
}
