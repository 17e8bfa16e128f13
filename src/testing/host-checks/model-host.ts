/** A host that reports only events that its model allows. The host makes trouble by random choices, or cooperates to the end. */

import type { Choices } from '../../core/generators/choices.ts';
import { pick } from '../../core/generators/choices.ts';
import type { AnyEvent } from '../../core/machine/definition.ts';
import type { Prompt, VocabularyDecision, VocabularyEvent } from '../../schemas/index.ts';
import { HostModel } from './host-model.ts';
import type { HostModelConfig } from './host-rules.ts';

/**
 * A host of a policy with the messages of speculative-admission or of tail-batching: with engines, a data source, rewards and
 * timers. The host knows only the decisions of the policy, and never reads its state.
 */
export class ModelHost {
  /** The model that checks the policy. */
  readonly books: HostModel;
  readonly #config: HostModelConfig;
  readonly #takes: ReadonlySet<string>;
  readonly #domains: readonly string[];
  #supplied = 0;
  #idle = 0;

  /**
   * Makes a host at its start.
   *
   * @param config - the policy's configuration with all defaults
   * @param takes - types of the events that the policy takes; the host reports no others
   */
  constructor(config: HostModelConfig, takes: Iterable<string>) {
    this.books = new HostModel(config);
    this.#config = config;
    this.#takes = new Set(takes);
    this.#domains = Object.keys(config.quotas ?? {}).sort();
  }

  /** Records an accepted event with its decisions, and checks the invariants. */
  heard(event: AnyEvent, decisions: readonly VocabularyDecision[]): void {
    this.books.sent(event as VocabularyEvent);
    for (const decision of decisions) this.books.told(decision);
    this.books.settle();
  }

  /**
   * Returns a possible next event. Most are answers to decisions; some are a failure, a repeated report, a late or missed abort, a
   * lost engine, a restart, or a timer that fires too early.
   */
  trouble(choices: Choices, at: number): VocabularyEvent {
    const event = choices.below(5) === 0 ? this.#rare(choices, at) : this.#usual(choices, at);
    return this.#takes.has(event.type) ? event : this.#begin(choices, at);
  }

  #usual(choices: Choices, at: number): VocabularyEvent {
    const { books } = this;
    if (books.round === undefined && choices.below(2) === 0) return this.#begin(choices, at);
    if (books.isAwaiting && books.round !== undefined && choices.below(2) === 0)
      return { type: 'prompts.supplied', at, roundId: books.round.id, prompts: this.#somePrompts(choices) };
    const requestId = pick([...books.flights.keys()], choices);
    if (requestId === undefined) return this.#begin(choices, at);
    const { phase } = books.flights.get(requestId)!;
    if (phase === 'waiting') return { type: 'tool.finished', at, requestId, outcome: 'success' };
    const tokens = 1 + choices.below(50);
    // A request whose abort came too late may complete.
    if (phase === 'aborting' && choices.below(3) > 0) return { type: 'request.aborted', at, requestId };
    return { type: 'response.completed', at, requestId, tokens };
  }

  #rare(choices: Choices, at: number): VocabularyEvent {
    const { books } = this;
    const engineId = `e${choices.below(3)}`;
    const requestId = pick([...books.flights.keys()], choices);
    const ended = pick(books.over, choices);
    switch (choices.below(12)) {
      case 0:
      case 1:
        // A second report about a finished response.
        if (ended !== undefined) return { type: 'response.completed', at, requestId: ended, tokens: 7 };
        break;
      case 2:
        if (ended !== undefined) return { type: 'request.aborted', at, requestId: ended };
        break;
      case 3:
        if (requestId === undefined) break;
        return { type: 'response.failed', at, requestId, kind: choices.below(4) === 0 ? 'data' : 'infrastructure' };
      case 4:
        if (requestId !== undefined) return { type: 'tool.started', at, requestId, tool: 'bash' };
        break;
      case 5:
        return { type: 'engine.lost', at, engineId };
      case 6: {
        const timer = pick([...books.timers], choices);
        if (timer === undefined) break;
        const [timerId, due] = timer;
        return { type: 'timer.fired', at: choices.below(3) === 0 ? at : Math.max(at, due), timerId };
      }
      case 7: {
        const rewarded = pick([...books.toReward], choices);
        if (rewarded !== undefined) return { type: 'reward.ready', at, requestId: rewarded, reward: choices.below(2) };
        break;
      }
      case 8: {
        const promptId = pick([...books.toJudge], choices);
        if (promptId === undefined || books.rounds === 0) break;
        return { type: 'prompt.judged', at, roundId: `r${books.rounds - 1}`, promptId, keep: choices.below(3) > 0 };
      }
      case 9:
        if (choices.below(4) === 0) return { type: 'host.restarted', at, idPrefix: `h${books.restarts}-` };
        break;
      case 10:
        if (choices.below(4) === 0) return { type: 'source.exhausted', at };
        return { type: 'source.reopened', at };
      default:
    }
    if (requestId !== undefined && choices.below(2) === 0) return { type: 'request.started', at, requestId, engineId };
    return { type: 'engine.added', at, engineId };
  }

  /** Opens a round, or asks for a round, depending on the events of the policy. */
  #begin(choices: Choices, at: number): VocabularyEvent {
    const roundId = `r${this.books.rounds}`;
    const weightVersion = this.books.rounds;
    if (this.#takes.has('round.requested')) return { type: 'round.requested', at, roundId, weightVersion };
    const kind = choices.below(3) === 0 ? 'long' : 'short';
    return { type: 'round.opened', at, roundId, kind, weightVersion, prompts: this.#somePrompts(choices) };
  }

  #somePrompts(choices: Choices): Prompt[] {
    return Array.from({ length: choices.below(2 * this.#config.promptsPerRound + 1) }, () => {
      // The range of ids is small, so that prompts come again.
      const promptId = `p${choices.below(12)}`;
      const domain = pick(this.#domains, choices);
      return domain === undefined ? { promptId } : { promptId, domain };
    });
  }

  /**
   * Returns the next event of a cooperative host; nothing once the open round has ended and drained.
   *
   * @throws Error if nothing is left to do and the round has not ended
   */
  cooperate(at: number): VocabularyEvent | undefined {
    const { flights, round, toReward, toJudge } = this.books;
    for (const [requestId, { phase }] of flights) {
      if (phase === 'aborting') return { type: 'request.aborted', at, requestId };
    }
    if (round === undefined) return undefined;
    const roundId = round.id;
    // Engines and prompts are added only while they are needed.
    if (this.books.isAwaiting && !this.books.isExhausted) return this.#supply(roundId, at);
    for (const [requestId, { phase }] of flights) {
      if (phase === 'waiting') return { type: 'tool.finished', at, requestId, outcome: 'success' };
      if (phase === 'running') return { type: 'response.completed', at, requestId, tokens: 5 };
    }
    for (const requestId of toReward) {
      if (this.#config.filter !== 'zero-variance') break;
      toReward.delete(requestId);
      return { type: 'reward.ready', at, requestId, reward: toReward.size % 2 };
    }
    for (const promptId of toJudge) {
      if (this.#config.filter !== 'host') break;
      toJudge.delete(promptId);
      return { type: 'prompt.judged', at, roundId, promptId, keep: true };
    }
    // A response may wait for the end of a pause.
    const [timer] = [...this.books.timers].sort((a, b) => a[1] - b[1]);
    if (timer !== undefined) return { type: 'timer.fired', at: Math.max(at, timer[1]), timerId: timer[0] };
    this.#idle += 1;
    if (this.#idle === 1 && this.#takes.has('engine.added')) return { type: 'engine.added', at, engineId: 'helper' };
    if (this.#idle <= 2 && !this.books.isExhausted) return { type: 'source.exhausted', at };
    throw new Error(`invariant 6, the round ends: nothing is left to do: ${this.books.describe()}`);
  }

  #supply(roundId: string, at: number): VocabularyEvent {
    this.books.isAwaiting = false;
    this.#supplied += 1;
    if (this.#supplied > 12) return { type: 'source.exhausted', at };
    const names = this.#domains.length > 0 ? this.#domains : [undefined];
    const prompts = names.flatMap((domain) =>
      Array.from({ length: 2 * this.#config.promptsPerRound }, (_, index): Prompt => {
        const promptId = `new-${this.books.restarts}-${this.#supplied}-${domain ?? 'any'}-${index}`;
        return domain === undefined ? { promptId } : { promptId, domain };
      }),
    );
    return { type: 'prompts.supplied', at, roundId, prompts };
  }
}
