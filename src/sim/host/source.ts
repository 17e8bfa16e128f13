/** The data source of the simulated job: each prompt is dealt once. */
import type { Prompt } from '../../schemas/prompts.ts';
import type { Sample, Workload, WorkloadPrompt } from '../workload/workload.ts';

/** Samples between two tries of a prompt in different rounds; groups of more than these would see some of them twice. */
const samplesPerTry = 1024;

/** Deals the prompts of a workload in order; those that come back are dealt again first. */
export class PromptSource {
  readonly #workload: Workload;
  readonly #total: number;
  readonly #dealt = new Map<string, WorkloadPrompt>();
  readonly #returned: Prompt[] = [];
  /** How often a prompt was deferred: its next responses are other samples. */
  readonly #deferrals = new Map<string, number>();
  #next = 0;

  constructor(workload: Workload, total: number) {
    this.#workload = workload;
    this.#total = total;
  }

  /** Prompts that are still to be dealt. */
  get left(): number {
    return this.#total - this.#next + this.#returned.length;
  }

  /** Up to so many prompts. */
  take(count: number): Prompt[] {
    const prompts = this.#returned.splice(0, count);
    while (prompts.length < count && this.#next < this.#total) prompts.push(this.#deal(this.#next++));
    return prompts;
  }

  /** Takes a prompt back, to be dealt again before the fresh ones. */
  giveBack(prompt: Prompt): void {
    this.#returned.push(prompt);
  }

  /** Notes that a prompt was deferred. */
  deferred({ promptId, deferral }: Prompt): void {
    this.#deferrals.set(promptId, deferral!.count);
  }

  /** Forgets a prompt that was trained. */
  trained(promptId: string): void {
    this.#dealt.delete(promptId);
    this.#deferrals.delete(promptId);
  }

  /** Tokens of a prompt that was dealt. */
  promptTokens(promptId: string): number {
    return this.#dealt.get(promptId)!.promptTokens;
  }

  /**
   * A response of a prompt that was dealt. It depends on prompt, try and index alone, so that every scheduler gets the
   * same one (common random numbers); another try gives other samples, as a model would with new weights.
   *
   * @param index - which response of the group, from 0
   */
  sample(promptId: string, index: number): Sample {
    const attempt = this.#deferrals.get(promptId) ?? 0;
    return this.#dealt.get(promptId)!.sample(attempt * samplesPerTry + index);
  }

  #deal(index: number): Prompt {
    const prompt = this.#workload.prompt(index);
    this.#dealt.set(prompt.promptId, prompt);
    const { promptId, promptTokens, task } = prompt;
    return task === undefined ? { promptId, promptTokens } : { promptId, promptTokens, domain: task };
  }
}
