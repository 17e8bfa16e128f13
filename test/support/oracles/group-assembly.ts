/**
 * What group-assembly must know and say, by every rule once more, as naively as can be: no counters and no index, but lists
 * that are searched. The reward of a response is the first report of it in the history since it has been known,
 * but for one that had failed and comes with the prompt as it counts.
 */
import type { groupAssembly } from '../../../src/policies/group-assembly/index.ts';

type Definition = typeof groupAssembly;
export type GroupAssemblyEvent = Parameters<Definition['check']>[1];
export type GroupAssemblyDecision = Parameters<Parameters<Definition['apply']>[2]['emit']>[0];
export type SavedAssembly = ReturnType<Definition['save']>;
type EventOf<T extends GroupAssemblyEvent['type']> = Extract<GroupAssemblyEvent, { type: T }>;
type Counting = EventOf<'prompt.counted'>;
type Completion = EventOf<'round.completed'>;

interface Open {
  readonly promptId: string;
  readonly domain: string | undefined;
  /** Ids, and the number of the event by which each was known. */
  held: { readonly requestId: string; readonly since: number }[];
}
interface Counted extends Open {
  readonly event: Counting;
  readonly at: number;
}
interface Round {
  readonly roundId: string;
  readonly groups: Counted[];
  readonly unrewarded: string[];
  completion?: { readonly event: Completion; readonly at: number };
}
interface Report {
  readonly index: number;
  readonly requestId: string;
  readonly reward: number | null;
}
export interface Refusal {
  readonly code: string;
  readonly path: string;
}

export class AssemblyModel {
  readonly #askAgain: boolean;
  readonly #reports: Report[] = [];
  #open: Open[] = [];
  #rounds: Round[] = [];
  #index = 0;

  constructor(config: { readonly askAgain: boolean }) {
    this.#askAgain = config.askAgain;
  }

  get open(): readonly { readonly promptId: string; readonly held: readonly { readonly requestId: string }[] }[] {
    return this.#open;
  }

  /** Rounds that are not complete, with the prompts that count for them. */
  get incomplete(): { roundId: string; promptIds: string[] }[] {
    return this.#rounds
      .filter((one) => one.completion === undefined)
      .map(({ roundId, groups, unrewarded }) => {
        return { roundId, promptIds: [...groups.map((one) => one.promptId), ...unrewarded] };
      });
  }

  /** Responses whose reward is awaited. */
  get awaited(): string[] {
    return this.#all()
      .flatMap(({ held }) => held)
      .filter((one) => this.#rewardOf(one) === undefined)
      .map((one) => one.requestId);
  }

  #all(): Open[] {
    return [...this.#open, ...this.#rounds.flatMap((one) => one.groups)];
  }

  #rewardOf({ requestId, since }: { requestId: string; since: number }): number | null | undefined {
    return this.#reports.find((one) => one.requestId === requestId && one.index >= since)?.reward;
  }

  #waits({ held }: Open): boolean {
    return held.some((one) => this.#rewardOf(one) === undefined);
  }

  /** How an event is refused, if it is. */
  refusal(event: GroupAssemblyEvent): Refusal | undefined {
    if (event.type !== 'prompt.counted' && event.type !== 'round.completed') return undefined;
    const round = this.#rounds.find((one) => one.roundId === event.roundId);
    const names = [...(round?.groups.map((one) => one.promptId) ?? []), ...(round?.unrewarded ?? [])];
    const isComplete = round?.completion !== undefined;
    if (event.type === 'prompt.counted') {
      const { promptId, responses } = event;
      if (names.includes(promptId)) return { code: 'duplicate_id', path: 'promptId' };
      if (isComplete) return { code: 'out_of_order', path: 'roundId' };
      if (responses.length === 0) return { code: 'invalid_event', path: 'responses' };
      const ids = responses.map((one) => one.requestId);
      const others = this.#all().filter((one) => one.promptId !== promptId || !this.#open.includes(one));
      const taken = others.flatMap((one) => one.held.map(({ requestId }) => requestId));
      const wrong = ids.findIndex((id, index) => ids.indexOf(id) < index || taken.includes(id));
      return wrong < 0 ? undefined : { code: 'duplicate_id', path: `responses[${wrong}].requestId` };
    }
    if (isComplete) return { code: 'duplicate_id', path: 'roundId' };
    const given = event.prompts.map((one) => one.promptId);
    const wrong = given.findIndex((id, index) => given.indexOf(id) < index || !names.includes(id));
    if (wrong >= 0) return { code: 'unknown_id', path: `prompts[${wrong}].promptId` };
    const isShort = event.reason.code !== 'round_failed' && given.length < names.length;
    return isShort ? { code: 'invalid_event', path: 'prompts' } : undefined;
  }

  /** What must be said to an event that is not refused. */
  step(event: GroupAssemblyEvent, at: number): GroupAssemblyDecision[] {
    this.#index += 1;
    const waiting = this.#rounds.flatMap((one) => one.groups).filter((one) => this.#waits(one));
    const said = this.#take(event, at, waiting);
    for (const round of this.#rounds) said.push(...this.#groupsOf(round, waiting, at));
    for (const round of [...this.#rounds]) said.push(...this.#readyRound(round, at));
    return said;
  }

  #take(event: GroupAssemblyEvent, at: number, waiting: Counted[]): GroupAssemblyDecision[] {
    switch (event.type) {
      case 'response.accepted': {
        const { requestId, promptId, domain } = event;
        if (this.#all().some(({ held }) => held.some((one) => one.requestId === requestId))) return [];
        if (!this.#open.some((one) => one.promptId === promptId)) this.#open.push({ promptId, domain, held: [] });
        this.#open.find((one) => one.promptId === promptId)!.held.push({ requestId, since: this.#index });
        return [];
      }
      case 'prompt.counted':
        return this.#count(event, at, waiting);
      case 'prompt.merged':
      case 'prompt.filtered':
      case 'prompt.failed':
        return this.#forget(event.dropped);
      case 'response.dropped':
        return this.#forget([event]);
      case 'prompt.deferred':
        return this.#forget(event.dropped);
      case 'prompt.returned':
        // A copy that came after its round; the prompt that is open runs on.
        if (event.reason.code === 'round_closed') return [];
        return this.#forget(event.dropped);
      case 'round.completed':
        if (!this.#rounds.some((one) => one.roundId === event.roundId)) this.#begin(event.roundId);
        this.#rounds.find((one) => one.roundId === event.roundId)!.completion = { event, at };
        return event.reason.code === 'round_failed' ? this.#fail(event.roundId, at) : [];
      case 'round.failed':
        return this.#fail(event.roundId, at);
      case 'reward.ready':
      case 'reward.failed': {
        const { requestId } = event;
        const isAwaited = this.awaited.includes(requestId);
        const reward = event.type === 'reward.ready' ? event.reward : null;
        this.#reports.push({ index: this.#index, requestId, reward });
        return isAwaited ? [] : [{ type: 'reward.unused', at, requestId, reason: { code: 'not_awaited' } }];
      }
      case 'host.restarted':
        return [...(this.#askAgain ? this.#askedAgain(at) : []), ...this.#resumed(at)];
    }
  }

  #askedAgain(at: number): GroupAssemblyDecision[] {
    return this.#all().flatMap((one) =>
      one.held
        .filter((response) => this.#rewardOf(response) === undefined)
        .map(({ requestId }) => this.#request(one, requestId, 'host_restarted', at)),
    );
  }

  #resumed(at: number): GroupAssemblyDecision[] {
    return this.#rounds
      .filter((one) => one.completion === undefined)
      .map(({ roundId, groups, unrewarded }) => {
        const promptIds = [...groups.map((one) => one.promptId), ...unrewarded];
        const reason = { code: 'host_restarted', prompts: promptIds.length } as const;
        return { type: 'round.resumed', at, roundId, promptIds, reason };
      });
  }

  #request(
    { promptId, domain }: Open,
    requestId: string,
    code: 'host_restarted' | 'kept_without_reward',
    at: number,
  ): GroupAssemblyDecision {
    const own = domain === undefined ? {} : { domain };
    return { type: 'reward.request', at, requestId, promptId, ...own, reason: { code } };
  }

  #begin(roundId: string): Round {
    const round = { roundId, groups: [], unrewarded: [] };
    this.#rounds.push(round);
    return round;
  }

  #forget(named: readonly { readonly requestId: string }[]): [] {
    const ids = named.map((one) => one.requestId);
    for (const one of this.#open) one.held = one.held.filter(({ requestId }) => !ids.includes(requestId));
    this.#open = this.#open.filter((one) => one.held.length > 0);
    return [];
  }

  #count(event: Counting, at: number, waiting: Counted[]): GroupAssemblyDecision[] {
    const { promptId, roundId, domain, responses } = event;
    const before = this.#open.find((one) => one.promptId === promptId)?.held ?? [];
    const held = responses.map(({ requestId }) => {
      return before.find((one) => one.requestId === requestId) ?? { requestId, since: this.#index };
    });
    this.#forget(responses);
    const group: Counted = { promptId, domain, held, event, at };
    (this.#rounds.find((one) => one.roundId === roundId) ?? this.#begin(roundId)).groups.push(group);
    waiting.push(group);
    responses.forEach(({ requestId, reward }, index) => {
      if (reward === undefined) return;
      const report = { index: this.#index, requestId, reward };
      // What failed while its prompt was away may have a reward by now.
      if (this.#rewardOf(held[index]!) === null) this.#reports.unshift(report);
      else this.#reports.push(report);
    });
    return held
      .filter((one) => !before.includes(one) && this.#rewardOf(one) === undefined)
      .map(({ requestId }) => this.#request(group, requestId, 'kept_without_reward', at));
  }

  #fail(roundId: string, at: number): GroupAssemblyDecision[] {
    const round = this.#rounds.find((one) => one.roundId === roundId);
    if (round === undefined) return [];
    const withdrawn = round.groups.map(({ promptId }): GroupAssemblyDecision => {
      return { type: 'group.withdrawn', at, roundId, promptId, reason: { code: 'round_failed' } };
    });
    this.#rounds = this.#rounds.filter((one) => one !== round);
    if (round.completion === undefined) return withdrawn;
    const { kind, weightVersion } = round.completion.event;
    const rest = { kind, weightVersion, prompts: [], reason: { code: 'round_failed' } } as const;
    return [...withdrawn, { type: 'round.rewarded', at, roundId, ...rest, prompts: [] }];
  }

  #samplesOf({ event, held }: Counted) {
    return event.responses.flatMap(({ requestId, tokens, weightVersions }, index) => {
      const reward = this.#rewardOf(held[index]!);
      const other = weightVersions === undefined ? {} : { weightVersions };
      return typeof reward === 'number' ? [{ requestId, tokens, ...other, reward }] : [];
    });
  }

  /** Groups that waited before this event, and wait no more. */
  #groupsOf(round: Round, waiting: readonly Counted[], at: number): GroupAssemblyDecision[] {
    const { roundId } = round;
    return round.groups
      .filter((one) => waiting.includes(one) && !this.#waits(one))
      .map((group): GroupAssemblyDecision => {
        const { promptId, held, event } = group;
        const samples = this.#samplesOf(group);
        if (samples.length === 0) {
          round.groups.splice(round.groups.indexOf(group), 1);
          round.unrewarded.push(promptId);
          const reason = { code: 'no_reward', responses: held.length } as const;
          return { type: 'group.unrewarded', at, roundId, promptId, reason };
        }
        return {
          type: 'group.rewarded',
          at,
          roundId,
          promptId,
          ...(event.promptTokens === undefined ? {} : { promptTokens: event.promptTokens }),
          samples: samples.length,
          tokens: samples.reduce((sum, one) => sum + one.tokens, 0),
          responses: samples,
          reason: {
            code: 'all_rewarded',
            responses: held.length,
            missing: held.length - samples.length,
            waitedSeconds: at - group.at,
          },
        };
      });
  }

  #readyRound(round: Round, at: number): GroupAssemblyDecision[] {
    const { roundId, groups, completion } = round;
    if (completion === undefined || groups.some((one) => this.#waits(one))) return [];
    this.#rounds = this.#rounds.filter((one) => one !== round);
    const { kind, weightVersion, prompts: named } = completion.event;
    const prompts = named.flatMap((prompt) => {
      const group = groups.find((one) => one.promptId === prompt.promptId);
      if (group === undefined) return [];
      const samples = this.#samplesOf(group);
      const responses = prompt.responses.flatMap((response) => {
        const reward = samples.find((one) => one.requestId === response.requestId)?.reward;
        return reward === undefined ? [] : [{ ...response, reward }];
      });
      return [{ ...prompt, responses }];
    });
    const reason = { code: 'all_groups', groups: prompts.length, afterSeconds: at - completion.at } as const;
    return [{ type: 'round.rewarded', at, roundId, kind, weightVersion, prompts, reason }];
  }

  /** All that must be known: what a snapshot shows. */
  state(): SavedAssembly {
    const member = (one: { requestId: string; since: number }) => {
      const reward = this.#rewardOf(one);
      return { requestId: one.requestId, ...(reward === undefined ? {} : { reward }) };
    };
    const domainOf = ({ domain }: Open) => (domain === undefined ? {} : { domain });
    const open = this.#open.map((one) => {
      const members = one.held.map((response) => ({ ...member(response), tokens: 0 }));
      return { promptId: one.promptId, members, ...domainOf(one), since: 0 };
    });
    const counted = (one: Counted) => {
      const { promptId, promptTokens, responses } = one.event;
      const members = responses.map(({ tokens, weightVersions }, index) => {
        const other = weightVersions === undefined ? {} : { weightVersions };
        return { ...member(one.held[index]!), tokens, ...other };
      });
      const own = promptTokens === undefined ? {} : { promptTokens };
      return { promptId, members, ...own, ...domainOf(one), since: one.at };
    };
    const rounds = this.#rounds.map(({ roundId, groups, unrewarded, completion }) => {
      const round = { roundId, groups: groups.map(counted), unrewarded };
      if (completion === undefined) return { ...round, completed: null };
      const { kind, weightVersion, prompts } = completion.event;
      return { ...round, completed: { kind, weightVersion, prompts, at: completion.at } };
    });
    return { rounds, open };
  }
}
