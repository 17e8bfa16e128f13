/**
 * A host of rolloutpipe: it mints requests, has engines, rewards and a trainer, makes trouble now and then, and holds
 * every decision against what it knows. The numbers are those of the invariants in the recipe's README; the trainer's
 * side is checked by PipeliningHost.
 */
import { expect } from 'vitest';
import { resumePolicy, startPolicy } from '../../src/core/registry.ts';
import { completeGroupPipelining } from '../../src/index.ts';
import { type RolloutPipeConfig, type RolloutPipeInput, rolloutPipe } from '../../src/recipes/rolloutpipe/index.ts';
import { partConfigs } from '../../src/recipes/rolloutpipe/schema.ts';
import type { VocabularyDecision, VocabularyEvent } from '../../src/schemas/index.ts';
import { choicesFrom } from '../../src/testing/index.ts';
import { PipeliningHost } from './pipelining-host.ts';

type Report = { readonly type: VocabularyEvent['type'] | VocabularyDecision['type'] } & Readonly<
  Record<string, unknown>
>;

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

const fromTrainer: ReadonlySet<string> = new Set(completeGroupPipelining.events.map((word) => word.type));
const ofTrainer: ReadonlySet<string> = new Set(completeGroupPipelining.decisions.map((word) => word.type));
/** Reports that may come again: they are late then. */
const repeatable: ReadonlySet<string> = new Set([
  'response.completed',
  'response.failed',
  'request.aborted',
  'reward.ready',
  'update.consumed',
  'optimizer.stepped',
]);

export class RolloutPipeHost {
  readonly config: RolloutPipeConfig;
  readonly trainer: PipeliningHost;
  readonly choices: ReturnType<typeof choicesFrom>;
  readonly tally = new Map<string, number>();
  policy: ReturnType<typeof startPolicy<typeof rolloutPipe>>;
  readonly requests = new Map<string, Request>();
  readonly groups = new Map<string, HostGroup>();
  /** Responses that wait for a reward. */
  readonly unrewarded = new Map<string, HostGroup>();
  /** Where each prompt of a round is, until it has left. */
  readonly places = new Map<string, 'rollout' | 'trainer'>();
  readonly inService = new Set<string>();
  readonly admitted = new Set<string>();
  readonly taken: Report[] = [];
  /** Prompts that were handed back. */
  returned: string[] = [];
  rounds = 0;
  minted = 0;
  prompts = 0;
  restarts = 0;
  prefix: string;
  width: number;
  at = 0;

  constructor(input: RolloutPipeInput, tape: readonly number[]) {
    this.policy = startPolicy(rolloutPipe, input);
    this.config = this.policy.config;
    const { pipelining, frontier } = partConfigs(this.config);
    this.trainer = new PipeliningHost(pipelining as never);
    this.choices = choicesFrom(tape);
    this.prefix = this.config.idPrefix;
    const { width } = frontier as { width: number | 'auto' };
    this.width = width === 'auto' ? this.snapshotWidth : width;
  }

  get snapshotWidth(): number {
    return (this.policy.snapshot() as never as { state: { parts: { frontier: { state: { width: number } } } } }).state
      .parts.frontier.state.width;
  }

  send(report: Report): VocabularyDecision[] {
    this.at += this.choices.below(4) === 0 ? 0 : this.choices.below(30) / 10;
    const event = { at: this.at, ...report } as never as VocabularyEvent;
    const decisions = this.policy.send(event as never) as VocabularyDecision[];
    this.taken.push(event);
    if (fromTrainer.has(event.type)) this.trainer.sent(event as never);
    this.told(decisions);
    if (this.choices.below(12) === 0)
      this.policy = resumePolicy(rolloutPipe, JSON.parse(JSON.stringify(this.policy.snapshot())));
    return decisions;
  }

  told(decisions: readonly VocabularyDecision[]): void {
    let closing: VocabularyDecision | undefined;
    for (const decision of decisions) {
      const name = `${decision.type} ${(decision.reason as { code: string }).code}`;
      this.tally.set(name, (this.tally.get(name) ?? 0) + 1);
      this.rollout(decision);
      // The trainer hears of the end of a round after it has heard of its last groups.
      if (decision.type === 'round.rewarded' && decision.reason.code === 'all_groups') closing = decision;
      if (decision.type === 'group.rewarded') this.trainer.sent(decision as never);
      if (!ofTrainer.has(decision.type)) continue;
      const isOfGroup =
        decision.type === 'group.trainable' ||
        decision.type === 'groups.dropped' ||
        (decision.type === 'train.dispatch' && decision.reason.code === 'batch_ready' && this.config.pipelining);
      if (closing !== undefined && !isOfGroup) {
        this.trainer.sent(closing as never);
        closing = undefined;
      }
      this.trainer.told(decision as never);
    }
    if (closing !== undefined) this.trainer.sent(closing as never);
    this.trainer.settle();
    const waits = [...this.requests.values()].filter((one) => one.status === 'waiting');
    for (const { group } of waits) expect(this.inService.has(group.promptId)).toBe(false); // invariant 3
    if (!this.config.frontier) expect(waits).toEqual([]); // invariant 7
  }

  rollout(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'request.admit': {
        const { requestId, promptId } = decision;
        expect(this.admitted.has(requestId)).toBe(false); // invariant 3
        this.admitted.add(requestId);
        this.requests.get(requestId)!.status = 'running';
        this.inService.add(promptId);
        // Invariant 3; with `auto` a width that shrinks leaves those in service that are.
        if (this.config.width !== 'auto' || decision.reason.code === 'group_admitted')
          expect(this.inService.size).toBeLessThanOrEqual(this.width);
        return;
      }
      case 'frontier.resized':
        this.width = decision.width;
        return;
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
        return this.move(decision, 'rollout', 'trainer');
      case 'group.unrewarded':
        return this.move(decision, 'rollout', undefined);
      case 'prompt.returned': {
        const { promptId } = decision.prompt;
        this.move({ roundId: decision.roundId, promptId }, 'rollout', undefined);
        this.returned.push(promptId);
        return;
      }
      case 'groups.dropped':
      case 'round.trained':
        for (const promptId of decision.groups)
          this.move({ roundId: decision.roundId, promptId }, 'trainer', undefined);
        return;
      case 'group.late':
        throw new Error('a group comes once');
      default:
    }
  }

  /** Invariant 1: a group is in one place, and goes on from there. */
  move(
    { roundId, promptId }: { roundId: string; promptId: string },
    from: 'rollout' | 'trainer',
    to: 'trainer' | undefined,
  ): void {
    const key = `${roundId} ${promptId}`;
    expect([key, this.places.get(key)]).toEqual([key, from]);
    if (to === undefined) this.places.delete(key);
    else this.places.set(key, to);
  }

  openRound(): void {
    const roundId = `r${this.rounds++}`;
    const again = this.returned.splice(0, this.choices.below(3));
    const isFree = (id: string): boolean => this.groups.get(id)?.hasLeft !== false;
    const fresh = Array.from({ length: this.choices.below(6) }, () => `p${this.prompts++}`);
    const ids = [...new Set([...again.filter(isFree), ...fresh])];
    const weightVersion = this.trainer.version + this.choices.below(2);
    for (const promptId of ids) {
      this.places.set(`${roundId} ${promptId}`, 'rollout');
      const toMint = Array.from({ length: this.config.responsesPerPrompt }, (_, index) => index);
      const group = { promptId, roundId, toMint, completed: new Map(), rewarded: new Set<string>(), hasLeft: false };
      this.groups.set(promptId, group);
    }
    const prompts = ids.map((promptId) => ({ promptId, promptTokens: 3 }));
    this.send({ type: 'round.opened', roundId, kind: 'long', weightVersion, prompts });
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
    this.unrewarded.delete(requestId);
    group.rewarded.add(requestId);
    if (this.choices.below(9) === 0) {
      const reason = { code: 'timeout', timeouts: 1, budget: 0 };
      this.send({ type: 'reward.failed', requestId, kind: 'rule', reason });
    } else this.send({ type: 'reward.ready', requestId, reward: this.choices.below(3) });
  }

  /** What a host that plays along may do next. */
  doings(): (() => void)[] {
    const { choices, trainer } = this;
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
    const { head, current } = trainer;
    if (head === undefined) return list;
    const { roundId } = head;
    if (head.isAsked)
      list.push(() => this.send({ type: 'weights.published', roundId, weightVersion: head.weightVersion + 1 }));
    if (current === undefined) return list;
    const { updateId } = current;
    if (trainer.stepping !== undefined) list.push(() => this.send({ type: 'optimizer.stepped', roundId, updateId }));
    else {
      const left = current.groups.filter((id) => !trainer.consumed.get(updateId)!.has(id));
      const groups = choices.below(3) === 0 ? left.slice(0, 1 + choices.below(left.length)) : left;
      list.push(() => this.send({ type: 'update.consumed', updateId, groups, seconds: choices.below(20) / 10 }));
    }
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

  restart(): void {
    this.prefix = `h${this.restarts++}-`;
    this.unrewarded.clear();
    this.send({ type: 'host.restarted', idPrefix: this.prefix });
    for (const [requestId, { status }] of this.requests)
      if (status !== 'failed') throw new Error(`${requestId} is still here`);
  }

  trouble(): void {
    const { choices, trainer } = this;
    const { head } = trainer;
    switch (choices.below(8)) {
      case 0: {
        const [...ids] = trainer.live.keys();
        if (ids.length > 0) this.send({ type: 'update.lost', updateId: ids[choices.below(ids.length)]! });
        return;
      }
      case 1: {
        if (head === undefined) return;
        const updates = choices.below(head.inWeights + (trainer.stepping === undefined ? 1 : 2));
        this.send({ type: 'trainer.restarted', roundId: head.roundId, updates });
        return;
      }
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

  /** A report that comes again is late: nothing changes. */
  repeat(): void {
    const event = this.taken[this.choices.below(Math.max(1, this.taken.length))];
    if (event === undefined || !repeatable.has(event.type)) return;
    if (event.type === 'reward.ready' && this.unrewarded.has(event.requestId as string)) return;
    const { state } = this.policy.snapshot();
    const decisions = this.policy.send({ ...event, at: this.at } as never) as VocabularyDecision[];
    expect(decisions.map((one) => one.type)).toEqual([expect.stringMatching(/late$|unused$/)]); // invariant 8
    expect(this.policy.snapshot().state).toEqual(state);
    this.tally.set('repeated', (this.tally.get('repeated') ?? 0) + 1);
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
