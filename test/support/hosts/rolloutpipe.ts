/**
 * A host of rolloutpipe: it mints requests, has engines, rewards and a trainer, makes trouble now and then, and holds
 * every decision against what it knows. The numbers are those of the invariants in the recipe's README; the trainer's
 * side is checked by PipeliningHost.
 */
import { expect } from 'vitest';
import { type RolloutPipeConfig, type RolloutPipeInput, rolloutPipe } from '../../../src/recipes/rolloutpipe/index.ts';
import { partConfigs } from '../../../src/recipes/rolloutpipe/schema.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { PipeliningRecipeHost } from './pipelining-recipe.ts';

interface HostGroup {
  readonly promptId: string;
  readonly roundId: string;
  /** Responses that have no request. */
  readonly toMint: number[];
  readonly completed: Map<string, number>;
  readonly rewarded: Set<string>;
  hasLeft: boolean;
}
interface Request {
  readonly group: HostGroup;
  readonly index: number;
  status: 'waiting' | 'running' | 'failed';
}

export class RolloutPipeHost extends PipeliningRecipeHost<RolloutPipeConfig> {
  readonly requests = new Map<string, Request>();
  readonly groups = new Map<string, HostGroup>();
  readonly unrewarded = new Map<string, HostGroup>();
  /** Prompts that were handed back. */
  returned: string[] = [];
  minted = 0;

  constructor(input: RolloutPipeInput, tape: readonly number[]) {
    super(rolloutPipe, input, tape, (config) => partConfigs(config).pipelining);
    const { width } = partConfigs(this.config).frontier as { width: number | 'auto' };
    this.width = width === 'auto' ? this.snapshotWidth : width;
  }

  get snapshotWidth(): number {
    return (this.policy.snapshot() as never as { state: { parts: { frontier: { state: { width: number } } } } }).state
      .parts.frontier.state.width;
  }

  settled(): void {
    const waits = [...this.requests.values()].filter((one) => one.status === 'waiting');
    for (const { group } of waits) expect(this.inService.has(group.promptId)).toBe(false); // invariant 3
    if (!this.config.frontier) expect(waits).toEqual([]); // invariant 7
  }

  override rollout(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'request.admit': {
        const { requestId } = decision;
        // Invariant 3.
        this.startOnce(requestId);
        this.requests.get(requestId)!.status = 'running';
        return this.takeIntoService(decision);
      }
      case 'request.dropped': {
        const { group, index } = this.requests.get(decision.requestId) ?? {};
        if (group !== undefined && decision.reason.code === 'host_restarted') group.toMint.push(index!);
        this.requests.delete(decision.requestId);
        return;
      }
      case 'request.abort': {
        const request = this.requests.get(decision.requestId)!;
        expect(request.status).toBe('running');
        this.requests.delete(decision.requestId);
        return;
      }
      case 'response.accepted': {
        const group = this.groups.get(decision.promptId)!;
        expect(group.completed.has(decision.requestId)).toBe(true);
        this.unrewarded.set(decision.requestId, group);
        return;
      }
      case 'reward.request': {
        const { requestId, promptId } = decision;
        const group = this.groups.get(promptId)!;
        expect(group.rewarded.has(requestId)).toBe(false);
        this.unrewarded.set(requestId, group);
        return;
      }
      case 'group.left': {
        this.inService.delete(decision.promptId);
        const group = this.groups.get(decision.promptId);
        if (group === undefined || group.roundId !== decision.roundId) return;
        expect(group.completed.size).toBe(decision.reason.completed);
        group.hasLeft = true;
        return;
      }
      case 'prompt.counted': {
        const group = this.groups.get(decision.promptId)!;
        expect(group.hasLeft).toBe(true);
        const own = decision.responses.map((one) => [one.requestId, one.tokens]);
        expect(new Map(own as never)).toEqual(group.completed);
        return;
      }
      case 'group.rewarded':
        expect(this.groups.get(decision.promptId)!.completed.size).toBeGreaterThanOrEqual(decision.samples);
        return super.rollout(decision);
      case 'prompt.returned': {
        const { promptId } = decision.prompt;
        this.move({ roundId: decision.roundId, promptId }, 'collection', undefined); // invariant 1
        this.returned.push(promptId);
        return;
      }
      default:
        // Invariant 1.
        super.rollout(decision);
    }
  }

  openRound(): void {
    const roundId = `r${this.rounds++}`;
    const again = this.returned.splice(0, this.choices.below(3));
    const isFree = (id: string): boolean => this.groups.get(id)?.hasLeft !== false;
    const fresh = Array.from({ length: this.choices.below(6) }, () => `p${this.prompts++}`);
    const ids = [...new Set([...again.filter(isFree), ...fresh])];
    const weightVersion = this.trainer.version + this.choices.below(2);
    for (const promptId of ids) {
      this.places.set(`${roundId} ${promptId}`, 'collection');
      const toMint = Array.from({ length: this.config.responsesPerPrompt }, (_, index) => index);
      const group = { promptId, roundId, toMint, completed: new Map(), rewarded: new Set<string>(), hasLeft: false };
      this.groups.set(promptId, group);
    }
    const prompts = ids.map((promptId) => ({ promptId, promptTokens: 3 }));
    this.send({ type: 'round.opened', roundId, kind: 'long', weightVersion, prompts });
  }

  runs(promptId: string): boolean {
    return [...this.requests.values()].some((one) => one.group.promptId === promptId && one.status === 'running');
  }

  mint(group: HostGroup): void {
    const index = group.toMint.shift()!;
    const { promptId, roundId } = group;
    const requestId = `${this.prefix}${promptId}/${index}#${this.minted++}`;
    this.requests.set(requestId, { group, index, status: 'waiting' });
    const types = this.send({ type: 'request.arrived', requestId, promptId, roundId, index }).map((one) => one.type);
    expect(types.some((type) => type === 'request.admit' || type === 'request.deferred')).toBe(true);
  }

  complete(requestId: string, { group }: Request): void {
    const tokens = this.choices.below(50);
    const { weightVersion } = this.trainer.round(group.roundId)!;
    if (this.choices.below(15) === 0) {
      const weightVersions = [weightVersion, weightVersion + 1];
      if (this.config.otherVersions === 'refuse') {
        const { state } = this.policy.snapshot();
        const event = { type: 'response.completed', at: this.at, requestId, tokens, weightVersions } as const;
        expect(() => this.policy.send(event)).toThrow('weightVersions'); // invariant 5
        expect(this.policy.snapshot().state).toEqual(state);
      } else {
        this.requests.delete(requestId);
        group.completed.set(requestId, tokens);
        this.send({ type: 'response.completed', requestId, tokens, weightVersions });
        return;
      }
    }
    this.requests.delete(requestId);
    group.completed.set(requestId, tokens);
    this.send({ type: 'response.completed', requestId, tokens, weightVersions: [weightVersion] });
  }

  fail(requestId: string, request: Request): void {
    const { group, index } = request;
    if (this.config.awaitRetries) request.status = 'failed';
    else this.requests.delete(requestId);
    this.send({ type: 'response.failed', requestId, kind: 'infrastructure' });
    if (!this.config.awaitRetries) return;
    // Another try, or none.
    this.requests.delete(requestId);
    if (this.choices.below(3) > 0) group.toMint.push(index);
    else {
      const reason = { code: 'infrastructure', failures: 1, budget: 0 };
      this.send({ type: 'response.abandoned', requestId, promptId: group.promptId, reason });
    }
  }

  reward(requestId: string, group: HostGroup): void {
    group.rewarded.add(requestId);
    this.judge(requestId, 9);
  }

  /** What a host that plays along may do next. */
  doings(): (() => void)[] {
    const { choices } = this;
    const list: (() => void)[] = [];
    for (const group of this.groups.values()) {
      if (!group.hasLeft && group.toMint.length > 0) list.push(() => this.mint(group));
    }
    for (const [requestId, request] of this.requests) {
      if (request.status !== 'running') continue;
      if (choices.below(8) === 0) list.push(() => this.fail(requestId, request));
      else list.push(() => this.complete(requestId, request));
    }
    for (const [requestId, group] of this.unrewarded) list.push(() => this.reward(requestId, group));
    list.push(...this.trainings());
    return list;
  }

  failRound(roundId: string): void {
    for (const [requestId, group] of [...this.unrewarded])
      if (group.roundId === roundId) this.unrewarded.delete(requestId);
    for (const group of this.groups.values()) if (group.roundId === roundId) group.toMint.length = 0;
    this.send({ type: 'round.failed', roundId });
    for (const [promptId, group] of [...this.groups]) if (group.roundId === roundId) this.groups.delete(promptId);
    for (const [requestId, { group }] of [...this.requests])
      if (group.roundId === roundId) throw new Error(`${requestId} is still here`);
  }

  override restart(): void {
    super.restart();
    for (const [requestId, { status }] of this.requests)
      if (status !== 'failed') throw new Error(`${requestId} is still here`);
  }

  trouble(): void {
    const { choices, trainer } = this;
    switch (choices.below(8)) {
      case 0:
        return this.loseUpdate();
      case 1:
        return this.restartTrainer();
      case 2:
        return this.restart();
      case 3: {
        const round = trainer.open[choices.below(trainer.open.length)];
        if (round !== undefined && choices.below(2) === 0) this.failRound(round.roundId);
        return;
      }
      default:
        return this.repeat();
    }
  }

  checkLate(types: readonly string[]): void {
    expect(types).toEqual([expect.stringMatching(/late$|unused$/)]); // invariant 8
  }

  step(): void {
    const { choices } = this;
    if (this.trainer.open.length === 0 || (this.trainer.open.length < 3 && choices.below(15) === 0))
      return this.openRound();
    if (choices.below(9) === 0) return this.trouble();
    const doings = this.doings();
    if (doings.length === 0) throw new Error('nothing to do, and a round is open');
    doings[choices.below(doings.length)]!();
  }

  /** Invariant 6: with a host that plays along every round ends. */
  finish(): void {
    for (let steps = 0; this.trainer.open.length > 0; steps += 1) {
      const doings = this.doings();
      if (steps > 2000 || doings.length === 0) throw new Error(`${this.trainer.open[0]!.roundId} does not end`);
      doings[this.choices.below(doings.length)]!();
    }
    expect([...this.places]).toEqual([]); // invariant 1
    expect(this.trainer.over.size).toBe(this.rounds);
  }
}
