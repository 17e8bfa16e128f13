/** Frontier, assembly and pipelining joined by hand. */
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import type { PolicyOptions } from '../../core/policy.ts';
import { startPolicy } from '../../core/registry.ts';
import { completeGroupPipelining } from '../../policies/complete-group-pipelining/index.ts';
import { frontierGroupDispatch } from '../../policies/frontier-group-dispatch/index.ts';
import { groupAssembly } from '../../policies/group-assembly/index.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { DrivenPolicy } from '../host/scheduler.ts';
import type { PoolsJob } from './settings.ts';

interface Group {
  readonly promptId: string;
  readonly responses: { requestId: string; index: number; tokens: number }[];
  done: number;
}

export class JoinedPolicies implements DrivenPolicy {
  readonly id = 'joined';
  readonly #job: PoolsJob;
  readonly #frontier: DrivenPolicy | undefined;
  readonly #assembly: DrivenPolicy;
  readonly #pipelining: DrivenPolicy;
  #groups = new Map<string, Group>();
  #round: { roundId: string; weightVersion: number; at: number; counted: number } | undefined;

  constructor(
    job: PoolsJob,
    { pipelining, width }: { pipelining: boolean; width: number | 'auto' | 'all' },
    options: PolicyOptions,
  ) {
    const { responsesPerPrompt, globalBatchSamples, maxTokensPerGpu } = job;
    this.#job = job;
    const groupsPerUpdate = globalBatchSamples / responsesPerPrompt;
    const frontier = { responsesPerPrompt, width, groupsPerUpdate };
    const updates = { responsesPerPrompt, globalBatchSamples, maxTokensPerGpu, pipelining };
    if (width !== 'all')
      this.#frontier = startPolicy(frontierGroupDispatch, frontier, options) as unknown as DrivenPolicy;
    this.#assembly = startPolicy(groupAssembly, {}, options) as unknown as DrivenPolicy;
    this.#pipelining = startPolicy(completeGroupPipelining, updates, options) as unknown as DrivenPolicy;
  }

  send(given: AnyEvent): readonly AnyDecision[] {
    const event = given as AnyEvent & {
      roundId: string;
      weightVersion: number;
      prompts: { promptId: string }[];
      promptId: string;
      index: number;
      requestId: string;
      tokens: number;
      groups: string[];
      seconds: number;
    };
    const at = event.at;
    switch (event.type) {
      case 'round.opened': {
        const { roundId, weightVersion } = event;
        this.#round = { roundId, weightVersion, at, counted: 0 };
        this.#groups = new Map(
          event.prompts.map(({ promptId }) => [promptId, { promptId, responses: [], done: 0 } as Group]),
        );
        return this.#pipelining.send({ ...given, prompts: [] } as AnyEvent);
      }
      case 'request.arrived': {
        const { requestId, promptId, index, roundId } = event;
        this.#groups.get(promptId)!.responses.push({ requestId, index, tokens: 0 });
        if (this.#frontier === undefined)
          return [{ type: 'request.admit', at, requestId, promptId, roundId, index, reason: {} } as never];
        return this.#frontier.send(given);
      }
      case 'response.completed':
        return this.#completed(given, event);
      case 'reward.ready':
        return this.#rewarded(this.#assembly.send(given));
      case 'update.consumed': {
        const { groups, seconds } = event;
        const consumed = {
          type: 'train.consumed',
          at,
          fetchId: 'f',
          replica: 'r',
          groups,
          samples: 0,
          tokens: 0,
          seconds,
        };
        return [...(this.#frontier?.send(consumed as AnyEvent) ?? []), ...this.#pipelining.send(given)];
      }
      default:
        return this.#pipelining.send(given);
    }
  }

  #completed(
    given: AnyEvent,
    { at, requestId, tokens }: { at: number; requestId: string; tokens: number },
  ): AnyDecision[] {
    const decisions = [...(this.#frontier?.send(given) ?? [])];
    const slash = (requestId as string).lastIndexOf('/');
    const promptId = requestId.slice(0, slash);
    const group = this.#groups.get(promptId)!;
    const index = Number(requestId.slice(slash + 1, requestId.indexOf('#', slash)));
    group.responses[index]!.tokens = tokens;
    group.done += 1;
    const k = this.#job.responsesPerPrompt;
    const held = { code: 'held', held: group.done, needed: k };
    const inward: AnyEvent[] = [{ type: 'response.accepted', at, requestId, promptId, reason: held } as AnyEvent];
    if (group.done === k) {
      const round = this.#round!;
      const { roundId, weightVersion } = round;
      round.counted += 1;
      const needed = this.#job.groupsPerRound;
      const reason = { code: 'no_filter', counted: round.counted, needed };
      const responses = group.responses.map((one) => ({ requestId: one.requestId, tokens: one.tokens }));
      inward.push({ type: 'prompt.counted', at, promptId, roundId, responses, reason } as AnyEvent);
      if (round.counted === needed) {
        const prompts = [...this.#groups.values()].map((one) => ({
          promptId: one.promptId,
          responses: one.responses.map((response) => ({ ...response, weightVersions: [weightVersion] })),
        }));
        inward.push({
          type: 'round.completed',
          at,
          roundId,
          kind: 'long',
          weightVersion,
          prompts,
          openedSeconds: round.at,
          deferred: 0,
          reason: { code: 'quota_reached', counted: needed, needed },
        } as AnyEvent);
      }
    }
    return [...decisions, ...inward.flatMap((event) => this.#rewarded(this.#assembly.send(event)))];
  }

  #rewarded(decisions: readonly AnyDecision[]): AnyDecision[] {
    return decisions.flatMap((decision) => {
      const { type } = decision as VocabularyDecision;
      if (type !== 'group.rewarded' && type !== 'round.rewarded') return [decision];
      return [...this.#pipelining.send(decision as unknown as AnyEvent)];
    });
  }
}
