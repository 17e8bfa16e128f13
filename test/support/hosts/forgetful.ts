/**
 * A host without memory: whatever state a policy is in, it restarts, and from then on does what it is told and nothing
 * else, until nothing is left. It has its source, its engines and its workers; what it owes it knows from decisions alone.
 */

import type { Choices } from '../../../src/core/choices.ts';
import type { AnyEvent, AnyPolicyDefinition } from '../../../src/core/definition.ts';
import { isPolicyError } from '../../../src/errors.ts';
import type { Prompt, VocabularyDecision } from '../../../src/schemas/index.ts';
import { strayResponses } from './saved-places.ts';

interface Subject {
  readonly at: number;
  send(event: AnyEvent): unknown[];
  snapshot(): { state: unknown };
}
type Duty = { readonly type: string } & Readonly<Record<string, unknown>>;

const mostSteps = 4000;

export class ForgetfulHost {
  readonly #definition: AnyPolicyDefinition;
  readonly #config: { filter?: string; quotas?: Record<string, number>; frontier?: boolean };
  readonly #policy: Subject;
  readonly #choices: Choices;
  readonly #takes: ReadonlySet<string>;
  readonly #name: string;
  /** What is owed, by what it is about. */
  readonly #duties = new Map<string, Duty>();
  readonly #timers = new Map<string, number>();
  /** Prompts that a policy without a queue has handed back. */
  #back: Prompt[] = [];
  #supply: number;
  #supplied = 0;
  #asked = { roundId: '', domains: new Map<string, number>() };
  #rounds = 0;
  #restarts = 0;
  #weightVersion: number;
  #isEmpty = false;
  sent = 0;

  constructor(
    definition: AnyPolicyDefinition,
    config: unknown,
    policy: Subject,
    choices: Choices,
    { weightVersion, name }: { weightVersion: number; name: string },
  ) {
    this.#definition = definition;
    this.#config = config as never;
    this.#policy = policy;
    this.#choices = choices;
    this.#takes = new Set(definition.events.map(({ type }) => type));
    this.#name = name;
    this.#weightVersion = weightVersion;
    this.#supply = choices.below(12);
  }

  /** Restarts, and goes on to the end; throws where something is owed that was not named, or held in the end. */
  finish(): void {
    this.#restart();
    for (let step = 0; step < mostSteps; step += 1) {
      if (this.#isEmpty) return this.#expectEmpty();
      if (this.#restarts < 3 && this.#choices.below(60) === 0) this.#restart();
      this.#step();
    }
    throw new Error(`no end: ${JSON.stringify([...this.#duties.keys()])}`);
  }

  #restart(): void {
    this.#duties.clear();
    this.#timers.clear();
    this.#asked.domains.clear();
    this.#restarts += 1;
    this.#send({ type: 'host.restarted', idPrefix: `${this.#name}${this.#restarts}-` });
    if (this.#takes.has('engine.added') && !this.#takes.has('reward-worker.added')) {
      this.#send({ type: 'engine.added', engineId: 'mine' });
    }
    if (!this.#takes.has('reward-worker.added')) return;
    for (const kind of ['rule', 'sandbox', 'judge']) {
      this.#send({ type: 'reward-worker.added', workerId: `w-${kind}`, kind, slots: 4 });
    }
  }

  #step(): void {
    const choices = this.#choices;
    const keys = [...this.#duties.keys()];
    if (keys.length > 0 && choices.below(12) > 0) return this.#do(keys[choices.below(keys.length)]!);
    const [timer] = [...this.#timers].sort((a, b) => a[1] - b[1]);
    if (timer !== undefined && choices.below(3) === 0) {
      this.#timers.delete(timer[0]);
      return this.#send({ type: 'timer.fired', timerId: timer[0] }, Math.max(timer[1], this.#policy.at));
    }
    this.#begin(keys.length === 0 && timer === undefined);
  }

  /** Does what is owed; what cannot be done yet stays owed. */
  #do(key: string): void {
    const duty = this.#duties.get(key)!;
    this.#duties.delete(key);
    if (key === 'prompts') return this.#supplyPrompts();
    const { requestId } = duty as { requestId?: string };
    if (duty.type === 'response.completed') {
      const turn = this.#choices.below(20);
      if (turn === 0) return this.#send({ type: 'response.failed', requestId, kind: 'infrastructure' });
      if (turn === 1 && this.#takes.has('environment.failed'))
        return this.#send({ type: 'environment.failed', requestId });
    }
    try {
      this.#send(duty);
    } catch (error) {
      if (!isPolicyError(error) || error.code !== 'out_of_order') throw error;
      this.#duties.set(key, duty);
    }
  }

  #begin(isIdle: boolean): void {
    const asks = this.#takes.has('round.requested');
    const roundId = `${this.#name}round-${this.#rounds}`;
    const weightVersion = this.#weightVersion + this.#choices.below(2);
    const prompts = asks ? [] : this.#back;
    const kind = this.#choices.below(2) === 0 ? 'short' : 'long';
    const opened = { type: 'round.opened', roundId, kind, weightVersion, prompts };
    try {
      this.#send(asks ? { type: 'round.requested', roundId, weightVersion } : opened);
    } catch (error) {
      if (!isPolicyError(error) || error.code !== 'out_of_order') throw error;
      if (isIdle) throw new Error(`nothing is owed, and no round may begin: ${error.message}`);
      return;
    }
    this.#rounds += 1;
    this.#weightVersion = weightVersion;
    if (asks) return;
    this.#back = this.#back.filter((one) => !prompts.includes(one));
  }

  #send(event: Duty, at = this.#policy.at + this.#choices.below(3)): void {
    const decisions = this.#policy.send(JSON.parse(JSON.stringify({ at, ...event })) as AnyEvent);
    this.sent += 1;
    for (const decision of decisions as VocabularyDecision[]) this.#hear(decision);
  }

  #owe(key: string, duty: Duty): void {
    if (this.#takes.has(duty.type)) this.#duties.set(key, duty);
  }

  #hear(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'prompts.request':
        return this.#ask(decision.roundId, decision.domains ?? { '': decision.count });
      case 'request.launch':
        if (this.#config.frontier !== true) this.#generate(decision.requestId);
        return;
      case 'request.admit':
      case 'request.resume':
        return this.#generate(decision.requestId);
      case 'request.abort': {
        const { requestId } = decision;
        const isLate = this.#choices.below(8) === 0;
        const done = { type: 'response.completed', requestId, tokens: 7 };
        return this.#owe(`request ${requestId}`, isLate ? done : { type: 'request.aborted', requestId, tokens: 6 });
      }
      case 'timer.set':
        this.#timers.set(decision.timerId, decision.fireAtSeconds);
        return;
      case 'response.accepted':
      case 'reward.request': {
        const { requestId } = decision;
        return this.#owe(`reward ${requestId}`, { type: 'reward.ready', requestId, reward: this.#choices.below(2) });
      }
      case 'reward.dispatch':
      case 'reward.cancel': {
        const { dispatchId } = decision;
        const isOver = decision.type === 'reward.cancel';
        const end = isOver ? { outcome: 'cancelled' } : { outcome: 'scored', reward: this.#choices.below(2) };
        return this.#owe(dispatchId, { type: 'reward.finished', dispatchId, ...end, seconds: 1 });
      }
      case 'prompt.collected':
      case 'judgement.request': {
        if (this.#config.filter !== 'host') return;
        const { promptId, roundId } = decision;
        const keep = this.#choices.below(4) > 0;
        return this.#owe(`judge ${promptId}`, { type: 'prompt.judged', promptId, roundId, keep });
      }
      case 'prompt.filtered':
      case 'prompt.failed':
        this.#duties.delete(`judge ${decision.promptId}`);
        return;
      case 'prompt.deferred':
      case 'prompt.returned':
        this.#forgetJudgement(decision.prompt.promptId, decision);
        if (!this.#takes.has('round.requested')) this.#back.push(decision.prompt);
        return;
      case 'train.dispatch':
        return this.#owe(decision.updateId, {
          type: 'update.consumed',
          updateId: decision.updateId,
          groups: decision.groups,
          seconds: 1,
        });
      case 'optimizer.step': {
        const { roundId, updateId } = decision;
        if (updateId !== undefined) this.#owe(updateId, { type: 'optimizer.stepped', roundId, updateId });
        return;
      }
      case 'weights.publish': {
        const { roundId, publicationId } = decision;
        const weightVersion = decision.weightVersion + 1;
        return this.#owe(`weights ${roundId}`, { type: 'weights.published', roundId, publicationId, weightVersion });
      }
      case 'round.completed':
        for (const { promptId } of decision.prompts) this.#duties.delete(`judge ${promptId}`);
        // Without a queue nobody else says that nothing is left.
        this.#isEmpty ||= !this.#takes.has('round.requested') && decision.prompts.length === 0 && this.#isDrained();
        return;
      case 'source.drained':
        this.#isEmpty = true;
        return;
      default:
    }
  }

  /** What leaves an earlier round may be another copy of a prompt that waits for its judgement. */
  #forgetJudgement(promptId: string, { roundId, reason }: { roundId: string; reason: { code: string } }): void {
    const duty = this.#duties.get(`judge ${promptId}`);
    if (duty?.roundId === roundId || reason.code === 'stale_weights') this.#duties.delete(`judge ${promptId}`);
  }

  #isDrained(): boolean {
    return this.#back.length === 0 && this.#held().length === 0;
  }

  #generate(requestId: string): void {
    this.#owe(`request ${requestId}`, { type: 'response.completed', requestId, tokens: 1 + this.#choices.below(9) });
  }

  /** Prompts are owed, by domain, until as many have come or the source is at its end. */
  #ask(roundId: string, more: Readonly<Record<string, number>>): void {
    if (this.#asked.roundId !== roundId) this.#asked = { roundId, domains: new Map() };
    const { domains } = this.#asked;
    for (const [domain, count] of Object.entries(more)) domains.set(domain, (domains.get(domain) ?? 0) + count);
    this.#owe('prompts', { type: 'prompts.supplied' });
  }

  #supplyPrompts(): void {
    const { roundId, domains } = this.#asked;
    const [first] = domains;
    if (first === undefined) return;
    const [asked, most] = first;
    if (this.#supply <= 0) {
      const domain = asked !== '' && this.#choices.below(3) > 0 ? { domain: asked } : {};
      if (asked !== '' && 'domain' in domain) domains.delete(asked);
      else domains.clear();
      this.#send({ type: 'source.exhausted', ...domain });
    } else {
      const names = Object.keys(this.#config.quotas ?? {});
      const domain = asked === '' ? (names[this.#choices.below(names.length + 1)] ?? names[0]) : asked;
      const prompts = Array.from({ length: 1 + this.#choices.below(most) }, (): Prompt => {
        const promptId = `${this.#name}${this.#supplied++}`;
        return domain === undefined ? { promptId } : { promptId, domain };
      });
      this.#supply -= prompts.length;
      if (prompts.length === most) domains.delete(asked);
      else domains.set(asked, most - prompts.length);
      this.#send({ type: 'prompts.supplied', roundId, prompts });
    }
    if (this.#asked.domains.size > 0) this.#owe('prompts', { type: 'prompts.supplied' });
  }

  #held(): readonly string[] {
    const { state } = this.#policy.snapshot();
    return this.#definition.ledgers.flatMap((ledger) => ledger.held(state));
  }

  #expectEmpty(): void {
    const held = this.#held();
    if (held.length > 0) throw new Error(`drained, and holds ${held.join(' ')}`);
    const { state } = this.#policy.snapshot();
    const { parts } = state as { parts?: { assembly?: unknown } };
    const stray = parts?.assembly === undefined ? [] : strayResponses(state);
    if (stray.length > 0) throw new Error(`drained, and remembers ${stray.join(' ')}`);
  }
}
