/**
 * Rewards and training after the rollout of a policy that leaves both to its host. They are those of `rollpacker` with every
 * mechanism switched off, so that the policy's steps compare with its baseline: workers compute the rewards of a round that has
 * drained, and then the replicas of the trainer train on it.
 */
import { given } from '../../core/collections/given.ts';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { create } from '../../core/machine/start.ts';
import { rewardDispatch } from '../../policies/reward-dispatch/index.ts';
import { streamTraining } from '../../policies/stream-training/index.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Message } from '../../schemas/messages.ts';
import type { RewardKind } from '../../schemas/reward-workers.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';
import { rewardedGroup } from '../rewards/model.ts';
import { rollpackerConfigOf, switchedOff } from './ablation.ts';
import type { Job } from './job.ts';

/** What the stages need from the host. */
export interface StagedOptions {
  /** Returns how the reward of a request is computed; `undefined` for a request that nobody has launched. */
  readonly kindOf: (requestId: string) => RewardKind | undefined;
  /** Receives the decisions of the policy that are about rewards or training, which nobody carries out. */
  readonly unheard: (decision: AnyDecision) => void;
}

interface Open {
  readonly completed: Message<'round.completed'>;
  readonly rewards: Map<string, number>;
  /** Responses whose rewards are awaited. */
  left: number;
  isDrained: boolean;
}

const parts: readonly AnyPolicyDefinition[] = [rewardDispatch, streamTraining];
const ofStages = new Set([
  ...parts.flatMap(({ decisions }) => decisions.map(({ type }) => type)),
  ...['group.rewarded', 'round.rewarded'],
]);
ofStages.delete('timer.set');
const toStages = new Set(parts.flatMap(({ events }) => events.map(({ type }) => type)));

/** A policy, and the stages after each of its rounds. */
export class StagedPolicy implements DrivenPolicy {
  readonly id: string;
  readonly #policy: DrivenPolicy;
  readonly #options: StagedOptions;
  readonly #rewards: DrivenPolicy;
  readonly #training: DrivenPolicy;
  /** Rounds that have completed, and are not rewarded. */
  readonly #open = new Map<string, Open>();
  readonly #roundOf = new Map<string, Open>();
  readonly #timers = new Set<string>();

  /** Throws `infeasible` for a job without hardware or rewards. */
  constructor(policy: DrivenPolicy, job: Job, options: StagedOptions) {
    const { rewardBudgetSeconds, trainingReplicas, pace, reference } = rollpackerConfigOf(job, switchedOff);
    // A bound would refuse rewards; the rounds of the policy bound them.
    const rewards = { ...given({ budgetSeconds: rewardBudgetSeconds }), maxQueued: 1_000_000_000 };
    const training = {
      ...{ replicas: trainingReplicas, groupsPerRound: job.promptsPerRound },
      ...given({ pace, reference }),
    };
    this.id = policy.id;
    this.#policy = policy;
    this.#options = options;
    this.#rewards = create(rewardDispatch, rewards, { validate: false });
    this.#training = create(streamTraining, training, { validate: false });
  }

  takes(type: string): boolean {
    return isMachines(type) || (this.#policy.takes?.(type) ?? true);
  }

  send(event: AnyEvent): readonly AnyDecision[] {
    const isTimer = event.type === 'timer.fired';
    if (isTimer && this.#timers.delete((event as Message<'timer.fired'>).timerId)) return this.#reward(event);
    if (!isTimer && isMachines(event.type))
      return event.type.startsWith('reward') ? this.#reward(event) : this.#training.send(event);
    return this.#policy.send(event).flatMap((decision) => this.#after(decision as VocabularyDecision));
  }

  /** Returns a decision of the policy, and what follows from it. */
  #after(decision: VocabularyDecision): AnyDecision[] {
    const { at, type } = decision;
    if (ofStages.has(type)) {
      this.#options.unheard(decision);
      return [];
    }
    if (type === 'round.completed') return [decision, ...this.#complete(decision)];
    const round = type === 'round.drained' ? this.#open.get(decision.roundId) : undefined;
    if (round === undefined) return [decision];
    round.isDrained = true;
    return [decision, ...this.#goOn(round, at)];
  }

  /** Asks for the rewards of a round. */
  #complete(completed: Message<'round.completed'>): AnyDecision[] {
    const { at, roundId, prompts } = completed;
    const wanted = prompts.flatMap(({ promptId, responses }) =>
      responses.flatMap(({ requestId }) => {
        const kind = this.#options.kindOf(requestId);
        return kind === undefined ? [] : [{ requestId, promptId, kind }];
      }),
    );
    const round: Open = { completed, rewards: new Map(), left: wanted.length, isDrained: false };
    this.#open.set(roundId, round);
    for (const { requestId } of wanted) this.#roundOf.set(requestId, round);
    return wanted.flatMap((one) => {
      const event: Message<'reward.requested'> = { type: 'reward.requested', at, ...one };
      return this.#reward(event);
    });
  }

  /** Trains a round that has drained, and has all its rewards. */
  #goOn(round: Open, at: number): AnyDecision[] {
    return round.isDrained && round.left === 0 ? this.#train(round, at) : [];
  }

  /** Sends an event to the part that dispatches rewards, and trains a round that has them all. */
  #reward(event: AnyEvent): AnyDecision[] {
    return this.#rewards.send(event).flatMap((made) => {
      const decision = made as VocabularyDecision;
      if (decision.type === 'timer.set') this.#timers.add(decision.timerId);
      if (decision.type !== 'reward.scored' && decision.type !== 'reward.failed') return [decision];
      const { requestId } = decision;
      const round = this.#roundOf.get(requestId);
      if (round === undefined) return [decision];
      this.#roundOf.delete(requestId);
      if (decision.type === 'reward.scored') round.rewards.set(requestId, decision.reward);
      round.left -= 1;
      return [decision, ...this.#goOn(round, event.at)];
    });
  }

  #train({ completed, rewards }: Open, at: number): AnyDecision[] {
    const { roundId, kind, weightVersion, prompts } = completed;
    this.#open.delete(roundId);
    const groups = prompts.flatMap((prompt) => {
      const responses = prompt.responses.flatMap(({ requestId, tokens }) => {
        const reward = rewards.get(requestId);
        return reward === undefined ? [] : [{ requestId, tokens, reward }];
      });
      return responses.length === 0 ? [] : [{ prompt, responses }];
    });
    const waitedSeconds = at - completed.at;
    const told: VocabularyDecision[] = groups.map(({ prompt: { promptId, responses: all }, responses }) =>
      rewardedGroup({ at, roundId, promptId, responses }, all.length - responses.length, waitedSeconds),
    );
    const trained = groups.map(({ prompt }) => prompt);
    const reason = { code: 'all_groups', groups: groups.length, afterSeconds: waitedSeconds } as const;
    told.push({ type: 'round.rewarded', at, roundId, kind, weightVersion, prompts: trained, reason });
    const events: Message[] = [
      { type: 'round.opened', at, roundId, kind, weightVersion, prompts: [] },
      ...told.flatMap((one): Message[] => {
        if (one.type !== 'group.rewarded') return [];
        const { promptId: groupId, samples, tokens } = one;
        return [{ type: 'group.completed', at, roundId, groupId, samples, tokens }];
      }),
      { ...completed, at, prompts: trained },
    ];
    return [...told, ...events.flatMap((one) => this.#training.send(one))];
  }
}

/** Whether reward workers or the trainer send such events. */
const isMachines = (type: string): boolean => toStages.has(type) && /^(reward|train|optimizer|replica)/.test(type);
