/** The data source of the simulated job, which deals each prompt once per epoch. */
import { given } from '../../core/collections/given.ts';
import { refuse } from '../../errors.ts';
import type { Prompt } from '../../schemas/prompts.ts';
import type { Workload, WorkloadPrompt } from '../workload/workload.ts';

/** Samples between two tries of a prompt in different rounds; larger groups would share some samples. */
export const samplesPerTry = 1024;

interface Dealt {
  readonly prompt: WorkloadPrompt;
  readonly index: number;
  readonly requests: string[];
  /** By index: tries of a response that was dropped although its prompt keeps tokens; the first try is not counted. */
  readonly tries: number[];
  /** Lengths of the first try, by index. */
  readonly firstTokens: number[];
}

/** The sample that was drawn for a request. */
export interface Drawn {
  readonly promptId: string;
  readonly promptIndex: number;
  readonly promptTokens: number;
  readonly task: string | undefined;
  /** Number of the prompt's sample. */
  readonly sample: number;
  /** The same, without the samples of earlier epochs. */
  readonly sampleOfEpoch: number;
  readonly tokens: number;
  /** Tokens of the response that earlier requests have generated. */
  readonly keptTokens: number;
  readonly capped: boolean;
  /** Whether the response is correct, if the trace says so. */
  readonly correct?: boolean;
}

/** Deals the prompts of a workload in order, returned prompts first. */
export class PromptSource {
  readonly #workload: Workload;
  readonly #total: number;
  readonly #domainOf: (index: number, task: string | undefined) => string | undefined;
  readonly #dealt = new Map<string, Dealt>();
  readonly #drawn = new Map<string, Drawn>();
  /** Requests of trained or deferred prompts, whose rewards and aborts may still be on the way. */
  #over: string[] = [];
  /** The same for the previous step, whose rewards may still come. */
  #before: string[] = [];
  readonly #returned: Prompt[] = [];
  /** By id: places of prompts from a later epoch whose earlier turn is not over. */
  readonly #early = new Map<string, number[]>();
  /** By prompt: number of deferrals, since each deferral leads to other samples. */
  readonly #deferrals = new Map<string, number>();
  #keepsTokens: boolean;
  #next = 0;
  #passed = 0;

  /**
   * @param domainOf - the domain of a prompt, for the policy; its task if absent
   * @param keepsTokens - whether responses of deferred prompts continue where they were, so that they are not drawn again
   */
  constructor(
    workload: Workload,
    total: number,
    domainOf: (index: number, task: string | undefined) => string | undefined = (_, task) => task,
    keepsTokens = false,
  ) {
    this.#domainOf = domainOf;
    this.#keepsTokens = keepsTokens;
    this.#workload = workload;
    this.#total = total;
  }

  /** Prompts that are still to be dealt. */
  get left(): number {
    return this.#total - this.#next + this.#returned.length;
  }

  /** Deals up to so many prompts. */
  take(count: number): Prompt[] {
    const prompts = this.#returned.splice(0, count);
    while (prompts.length < count && this.#next < this.#total) prompts.push(...this.#deal(this.#next++));
    return prompts;
  }

  /** Returns a prompt to the source, which deals it again before fresh prompts. */
  giveBack(prompt: Prompt): void {
    this.#returned.push(prompt);
  }

  /** Forgets a prompt that a policy passes over. */
  passedOver({ promptId }: Prompt): void {
    this.#passed += 1;
    this.trained(promptId);
  }

  /** Prompts that were passed over. */
  get passed(): number {
    return this.#passed;
  }

  /** Returns the prompts of the data set, each once. */
  data(): { readonly promptIndex: number; readonly task: string | undefined }[] {
    const count = Math.min(this.#workload.distinctPrompts, this.#total);
    return Array.from({ length: count }, (_, index) => {
      const { place = index, task } = this.#workload.prompt(index);
      return { promptIndex: place, task };
    });
  }

  /** Records that a prompt was deferred; deferrals are counted here where the policy does not count them. */
  deferred({ promptId, deferral }: Prompt): void {
    if (this.#keepsTokens) return;
    this.#deferrals.set(promptId, deferral?.count ?? (this.#deferrals.get(promptId) ?? 0) + 1);
    this.#forget(promptId);
  }

  /** Whether responses of deferred prompts continue where they were, from now on. */
  set keepsTokens(value: boolean) {
    this.#keepsTokens = value;
  }

  /** Gives back all dealt prompts that are not trained, as if they had never been dealt. */
  giveAllBack(): void {
    const back = [...this.#dealt].map(([promptId, { prompt, index }]) =>
      promptOf(promptId, prompt, this.#domainOf(index, prompt.task)),
    );
    this.#returned.splice(0, Infinity, ...back);
    this.#deferrals.clear();
  }

  /** Records that the kept part of a response is dropped, so that the response is drawn again. */
  dropped(requestId: string): void {
    const drawn = this.#drawn.get(requestId);
    const tries = drawn && this.#dealt.get(drawn.promptId)?.tries;
    if (drawn === undefined || tries === undefined) return;
    const index = drawn.sampleOfEpoch % samplesPerTry;
    tries[index] = (tries[index] ?? 0) + 1;
  }

  /** Forgets a prompt that was trained. */
  trained(promptId: string): void {
    this.#forget(promptId);
    this.#dealt.delete(promptId);
    this.#deferrals.delete(promptId);
    const early = this.#early.get(promptId);
    if (early === undefined) return;
    this.#returned.push(...this.#deal(early.shift()!));
    if (early.length === 0) this.#early.delete(promptId);
  }

  /**
   * Draws the response of a dealt prompt for a request. The response depends only on prompt, try and index, so that every
   * scheduler gets the same response (common random numbers); another try gives other samples, as a model would with new weights.
   *
   * @param index - index of the response in the group, from 0
   * @param keptTokens - tokens from which the response continues
   * @throws PolicyError `unknown_id` for a prompt that was not dealt, or is trained already
   */
  draw(requestId: string, promptId: string, index: number, keptTokens = 0): Drawn {
    const dealt = this.#dealt.get(promptId);
    if (dealt === undefined) {
      const expected = 'a prompt that was supplied and is not trained';
      refuse('unknown_id', 'promptId', expected, promptId);
    }
    const tries = (this.#deferrals.get(promptId) ?? 0) + (dealt.tries[index] ?? 0);
    const sample = tries * samplesPerTry + index;
    const { prompt, index: promptIndex } = dealt;
    const { promptTokens, task, firstSample = 0 } = prompt;
    const drawn = {
      promptId,
      promptIndex,
      promptTokens,
      task,
      sample: firstSample + sample,
      sampleOfEpoch: sample,
      keptTokens,
      ...prompt.sample(sample),
    };
    if (sample < samplesPerTry) dealt.firstTokens[sample] = drawn.tokens;
    dealt.requests.push(requestId);
    this.#drawn.set(requestId, drawn);
    return drawn;
  }

  /**
   * Returns the tokens of a prompt's first responses in its first try, whatever became of them; an empty list once the prompt is
   * trained.
   */
  firstTokens(promptId: string, count: number): number[] {
    const dealt = this.#dealt.get(promptId);
    if (dealt === undefined) return [];
    const tokens: number[] = [];
    for (let index = 0; index < count; index += 1) {
      tokens.push(dealt.firstTokens[index] ?? dealt.prompt.sample(index).tokens);
    }
    return tokens;
  }

  /**
   * Ends a step: forgets the samples of prompts that were trained or deferred in it.
   *
   * @param late - whether rewards of this step may still be needed: then only earlier samples are dropped
   */
  endStep(late = false): void {
    for (const requestId of this.#before) this.#drawn.delete(requestId);
    this.#before = this.#over;
    this.#over = [];
    if (!late) this.endStep(true);
  }

  /** Returns the sample of a request, until the end of the step in which its prompt was trained or deferred. */
  drawn(requestId: string): Drawn | undefined {
    return this.#drawn.get(requestId);
  }

  #forget(promptId: string): void {
    this.#over.push(...(this.#dealt.get(promptId)?.requests.splice(0) ?? []));
  }

  /** Deals a prompt; or nothing if the prompt is still out since an earlier epoch, after which it is dealt. */
  #deal(index: number): [Prompt] | [] {
    const prompt = this.#workload.prompt(index);
    const { promptId: own, comesBack: promptId = own, task, place = index } = prompt;
    if (this.#dealt.has(promptId)) {
      const early = this.#early.get(promptId) ?? [];
      early.push(index);
      this.#early.set(promptId, early);
      return [];
    }
    this.#dealt.set(promptId, { prompt, index: place, requests: [], tries: [], firstTokens: [] });
    return [promptOf(promptId, prompt, this.#domainOf(place, task))];
  }
}

function promptOf(
  promptId: string,
  { promptTokens, expectedTokens }: WorkloadPrompt,
  domain: string | undefined,
): Prompt {
  return { promptId, promptTokens, ...given({ domain, expectedTokens }) };
}
