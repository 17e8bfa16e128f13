/**
 * Compares sandbox-timeout with a host that sets its own timeouts: on the recorded runs, it counts saved seconds and stopped
 * correct runs.
 */
import type { LogLineOf } from '../../logs/format/decision-log.ts';
import type { SandboxTimeoutDecision, SandboxTimeoutEvent } from '../../policies/sandbox-timeout/index.ts';
import type { ShadowBook } from './book.ts';
import { Pairs } from './pairs.ts';

type Finished = Extract<SandboxTimeoutEvent, { type: 'sandbox.finished' }>;
type Run = Extract<SandboxTimeoutDecision, { type: 'sandbox.run' }>;

/** Estimated effect of the policy's timeouts on the recorded runs. */
export interface TimeoutWorth {
  /** Number of finished runs, without failures of the infrastructure. */
  readonly runs: number;
  /** Total seconds of these runs. */
  readonly runSeconds: number;
  /** Number of correct runs among these. */
  readonly correctRuns: number;
  /** Number of runs without a correct result that the policy would have stopped earlier. */
  readonly stoppedEarlier: number;
  /** Seconds that these earlier stops would have saved. */
  readonly savedSeconds: number;
  /** Number of correct runs that the policy would have stopped. */
  readonly correctCut: number;
  /** Seconds of these runs after the policy's timeout. */
  readonly correctCutSeconds: number;
  /** Runs that the host stopped, and that the policy would have continued; their result is unknown. */
  readonly letGoOn: number;
  /** Upper limit on the seconds by which the policy would have extended these runs. */
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
