/** The invariants of prompt-selection, by their numbers in its README, against a host whose prompts earn known rewards. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import {
  type PromptSelectionDecision,
  type PromptSelectionInput,
  promptSelection,
} from '../../src/policies/prompt-selection/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';

type Choices = ReturnType<typeof choicesFrom>;
type Selected = Extract<PromptSelectionDecision, { type: 'prompts.selected' }>;
type Ended = Extract<PromptSelectionDecision, { type: 'epoch.ended' }>;
interface Saved {
  taken: { prompt: { promptId: string } }[];
  memory: { prompts: { promptId: string; responses: number; sum: number }[] };
  draws: number;
}
const group = 4;

const settings = fc.record({
  promptsPerRound: fc.integer({ min: 1, max: 5 }),
  responsesPerPrompt: fc.constant(group),
  threshold: fc.constantFrom(0, 0.5, 1, 4),
  lengthExponent: fc.constantFrom(0, 0.5, 1),
  explorationShare: fc.constantFrom(0, 0.1),
  maxPasses: fc.integer({ min: 0, max: 3 }),
  maxOffered: fc.integer({ min: 1, max: 4 }),
  domainFloor: fc.constantFrom(0, 0.5, 1),
  fill: fc.constantFrom('prompts' as const, 'kept' as const),
  seed: fc.nat(1000),
});

/** A host with a data set that it offers in epochs, and prompts of three kinds: never, sometimes and always solved. */
class Host {
  readonly rounds: Selected[] = [];
  /** How often in a row each prompt was passed over. */
  readonly passes = new Map<string, number>();
  isDrained = false;
  readonly epochs: Ended[] = [];
  policy;
  readonly #given: PromptSelectionInput;
  readonly #choices: Choices;
  #offered: string[] = [];
  #asked = 0;
  #inRound = 0;
  #requested = 0;
  readonly #rows: number;

  constructor(given: PromptSelectionInput, choices: Choices, rows: number) {
    this.policy = create(promptSelection, given);
    this.#given = given;
    this.#choices = choices;
    this.#rows = rows;
  }

  round(): void {
    this.#inRound = 0;
    const before = this.rounds.length;
    this.#send({
      ...{ type: 'round.requested', at: 0, roundId: `r${this.#requested}`, weightVersion: this.#requested },
    });
    this.#requested += 1;
    while (this.rounds.length === before) {
      const count = 1 + this.#choices.below(this.#asked);
      if (this.#choices.below(8) === 0) this.#send({ type: 'host.restarted', at: 0, idPrefix: `${this.#inRound}-` });
      this.#supply(count);
    }
    this.#earn(this.rounds.at(-1)!);
  }

  drain(): void {
    this.#send({ type: 'source.exhausted', at: 0 });
    for (let left = 50; left > 0 && !this.isDrained; left -= 1) {
      this.#send({
        ...{ type: 'round.requested', at: 0, roundId: `r${this.#requested}`, weightVersion: this.#requested },
      });
      this.#requested += 1;
    }
  }

  saved(): Saved {
    return this.policy.snapshot().state as never;
  }

  #supply(count: number): void {
    if (this.#offered.length === 0) this.#offered = Array.from({ length: this.#rows }, (_, row) => `p${row}`);
    const prompts = Array.from({ length: Math.min(count, this.#offered.length) }, () => {
      const [promptId] = this.#offered.splice(this.#choices.below(this.#offered.length), 1) as [string];
      return { promptId, domain: domainOf(promptId) };
    });
    const { promptsPerRound = 0, maxOffered = 8 } = this.#given;
    const left = maxOffered * promptsPerRound - this.#inRound;
    const decisions = this.#send({
      ...{ type: 'prompts.supplied', at: 0, roundId: `r${this.#requested - 1}`, prompts },
    });
    this.#inRound += prompts.length - decisions.filter(({ type }) => type === 'prompt.merged').length;
    const passed = decisions.flatMap((one) => (one.type === 'prompts.passed' ? one.prompts : []));
    expect(passed.length).toBeLessThanOrEqual(Math.max(0, left)); // invariant 4
    const { maxPasses = 4 } = this.#given;
    for (const { promptId } of prompts) {
      const isPassed = passed.some((one) => one.promptId === promptId);
      const before = this.passes.get(promptId) ?? 0;
      this.passes.set(promptId, isPassed ? before + 1 : 0);
      expect(this.passes.get(promptId)).toBeLessThanOrEqual(maxPasses); // invariant 3
    }
  }

  #send(event: object): readonly PromptSelectionDecision[] {
    const decisions = this.policy.send(event as never);
    for (const one of decisions) {
      if (one.type === 'prompts.request') this.#asked = one.count;
      if (one.type === 'prompts.selected') this.#took(one);
      if (one.type === 'epoch.ended') this.epochs.push(one);
      if (one.type === 'source.drained') this.isDrained = true;
    }
    if (this.#choices.below(10) === 0)
      this.policy = create(promptSelection, { snapshot: JSON.parse(JSON.stringify(this.policy.snapshot())) });
    return decisions;
  }

  #took(one: Selected): void {
    this.rounds.push(one);
    const ids = one.prompts.map(({ promptId }) => promptId);
    expect(new Set(ids).size).toBe(ids.length); // invariant 1
    const { promptsPerRound = 0, fill, explorationShare = 0 } = this.#given;
    for (const { chance } of one.choices) expect(chance).toBeGreaterThanOrEqual(explorationShare);
    if (one.reason.code !== 'filled') return;
    const kept = one.choices.reduce((sum, { keptChance }) => sum + keptChance, 0);
    // Invariant 2.
    if (fill !== 'kept') expect(ids).toHaveLength(promptsPerRound);
    else {
      expect(kept >= promptsPerRound - 1e-6 || ids.length === 4 * promptsPerRound).toBe(true);
      expect(kept - one.choices.at(-1)!.keptChance).toBeLessThan(promptsPerRound);
    }
  }

  #earn({ prompts, roundId }: Selected): void {
    for (const { promptId } of prompts) {
      const responses = Array.from({ length: group }, (_, index) => ({
        ...{ requestId: `${promptId}/${index}#0`, tokens: 10 * (1 + (Number(promptId.slice(1)) % 4)) },
        reward: rewardOf(promptId, this.#choices),
      }));
      const tokens = responses.reduce((sum, one) => sum + one.tokens, 0);
      this.#send({
        ...{ type: 'group.rewarded', at: 0, roundId, promptId, samples: group, tokens, responses },
        reason: { code: 'all_rewarded', responses: group, missing: 0, waitedSeconds: 0 },
      });
    }
  }
}

const domainOf = (promptId: string) => `d${Number(promptId.slice(1)) % 3}`;
const rewardOf = (promptId: string, choices: Choices) =>
  [0, choices.below(2), 1][Math.floor(Number(promptId.slice(1)) / 2) % 3]!;

describe('prompt-selection', () => {
  test('1 to 5: rounds are full and without repeats, and nothing is passed over too often', () => {
    fc.assert(
      fc.property(settings, tapes(), fc.integer({ min: 6, max: 24 }), (given, tape, rows) => {
        const host = new Host(given, choicesFrom(tape), rows);
        for (let round = 0; round < 12; round += 1) host.round();
        host.drain();
        expect(host.isDrained).toBe(true);
        expect(host.saved().taken).toEqual([]); // invariant 5
      }),
      runs(60),
    );
  });

  test('6: a domain has its floor of the tokens in every epoch, short of one prompt', () => {
    fc.assert(
      fc.property(tapes(), fc.constantFrom(0.25, 0.5, 0.9), fc.nat(100), (tape, domainFloor, seed) => {
        const choices = choicesFrom(tape);
        const given = {
          promptsPerRound: 4,
          responsesPerPrompt: group,
          threshold: 2,
          maxPasses: 1000,
          maxOffered: 1000,
        };
        const host = new Host({ ...given, domainFloor, seed, explorationShare: 0.01 }, choices, 60);
        for (let round = 0; round < 40; round += 1) host.round();
        const most = 40 * group;
        for (const { domains } of host.epochs) {
          const offered = domains.reduce((sum, one) => sum + one.offeredTokens, 0);
          const selected = domains.reduce((sum, one) => sum + one.selectedTokens, 0);
          for (const one of domains) {
            const floor = (domainFloor * one.offeredTokens * selected) / offered;
            expect(one.selectedTokens).toBeGreaterThanOrEqual(floor - 2 * most);
          }
        }
        expect(host.epochs.length).toBeGreaterThan(1);
      }),
      runs(20),
    );
  });

  test('7: groups that were cut, and rewards that never come, move no rate; all others do', () => {
    const events = fc.array(
      fc.record({
        kind: fc.constantFrom('rewarded', 'counted', 'filtered'),
        launched: fc.constantFrom(undefined, 2, 5),
        rewards: fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 3 }),
        known: fc.boolean(),
        round: fc.nat(3),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(events, (all) => {
        const policy = create(promptSelection, { promptsPerRound: 1, responsesPerPrompt: group });
        const learnt = { round: -1, responses: 0, sum: 0 };
        for (const { kind, launched, rewards, known, round } of all) {
          const responses = rewards.map((reward, index) => ({
            ...{ requestId: `a/${index}#0`, tokens: 5 },
            ...(known || kind === 'rewarded' ? { reward } : undefined),
          }));
          const more = {
            at: 0,
            promptId: 'a',
            roundId: `r${round}`,
            ...(launched === undefined ? undefined : { launched }),
          };
          const reason = { code: 'all_rewarded', responses: 3, missing: 3 - rewards.length, waitedSeconds: 0 };
          const event =
            kind === 'counted'
              ? { type: 'prompt.counted', ...more, responses, reason: { code: 'no_filter', counted: 1, needed: 1 } }
              : kind === 'filtered'
                ? {
                    ...{ type: 'prompt.filtered', ...more, reason: { code: 'host' } },
                    dropped: responses.map((one) => ({ ...one, cause: 'filtered' })),
                  }
                : { type: 'group.rewarded', ...more, samples: rewards.length, tokens: 5, responses, reason };
          policy.send(event as never);
          if (learnt.round === round) continue;
          const isCut = (launched ?? 0) > (kind === 'rewarded' ? 3 : rewards.length);
          if (!isCut && !known && kind !== 'rewarded') continue;
          learnt.round = round;
          if (isCut) continue;
          learnt.responses += rewards.length;
          learnt.sum += rewards.reduce<number>((sum, one) => sum + one, 0);
        }
        const { memory } = policy.snapshot().state as never as Saved;
        const { responses, sum } = memory.prompts[0] ?? { responses: 0, sum: 0 };
        expect({ responses, sum }).toEqual({ responses: learnt.responses, sum: learnt.sum });
      }),
      runs(300),
    );
  });

  test('8: weighted, the selections add up to all that was offered, over every way in which draws can fall', () => {
    let branches = 0;
    const kinds = fc.array(
      fc.record({ prompt: fc.nat(3), rewards: fc.array(fc.nat(1), { minLength: 2, maxLength: 2 }) }),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(kinds, fc.array(fc.nat(4), { minLength: 1, maxLength: 6 }), (learnt, offered) => {
        const policy = create(promptSelection, {
          ...{ responsesPerPrompt: 2, normalization: 'none', unbiased: true, threshold: 3, explorationShare: 0.1 },
          ...{ maxPasses: 2, domainFloor: 0.5 },
        });
        policy.send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 });
        learnt.forEach(({ prompt, rewards }, n) => {
          const responses = rewards.map((reward, index) => ({
            ...{ requestId: `p${prompt}/${index}#${n}`, tokens: 8 << prompt, reward },
          }));
          policy.send({
            ...{
              type: 'group.rewarded',
              at: 0,
              roundId: `r${n}`,
              promptId: `p${prompt}`,
              samples: 2,
              tokens: 1,
              responses,
            },
            reason: { code: 'all_rewarded', responses: 2, missing: 0, waitedSeconds: 0 },
          });
        });
        const gradientOf = (promptId: number) => 1 + promptId * promptId;
        const full = offered.reduce((sum, one) => sum + gradientOf(one), 0);
        let sum = 0;
        let all = 0;
        // Lengths of a round are learnt when the next one begins.
        policy.send({ type: 'round.requested', at: 0, roundId: 'next', weightVersion: 1 });
        const walk = (snapshot: unknown, at: number, chance: number, weighted: number): void => {
          if (at === offered.length) {
            sum += chance * weighted;
            all += chance;
            return;
          }
          const outcomes = new Set<boolean>();
          // The number of draws so far decides how the next one falls, and nothing else.
          for (let draws = 0; draws < 400; draws += 1) {
            const from = JSON.parse(JSON.stringify(snapshot)) as { state: Saved };
            from.state.draws = draws;
            const here = create(promptSelection, { snapshot: from as never });
            const prompts = [{ promptId: `p${offered[at]}` }];
            const ask = { code: 'filtered', target: 1, admitted: 0 } as const;
            const roundId = `at ${at}`;
            here.send({ type: 'round.requested', at: 0, roundId, weightVersion: 1 });
            here.send({ type: 'prompts.request', at: 0, roundId, count: 1, reason: ask });
            const decisions = here.send({ type: 'prompts.supplied', at: 0, roundId, prompts });
            const taken = decisions.find((one) => one.type === 'prompts.selected');
            const passed = decisions.find((one) => one.type === 'prompts.passed');
            if (outcomes.has(taken !== undefined)) continue;
            outcomes.add(taken !== undefined);
            if (outcomes.size === 2) branches += 1;
            const choice = (taken ?? passed)!.choices[0]!;
            expect(choice.weight).toBeCloseTo(1 / choice.chance, 12);
            const next = weighted + (taken === undefined ? 0 : choice.weight! * gradientOf(offered[at]!));
            walk(here.snapshot(), at + 1, chance * (taken === undefined ? 1 - choice.chance : choice.chance), next);
            if (choice.chance === 1 || outcomes.size === 2) break;
          }
        };
        walk(policy.snapshot(), 0, 1, 0);
        expect(Math.abs(all - 1)).toBeLessThan(1e-9);
        expect(Math.abs(sum - full)).toBeLessThan(1e-9 * full);
      }),
      runs(20),
    );
    expect(branches).toBeGreaterThan(met(20));
  });
});
